// Which cases of the book a pasted text fits. No page is touched here: `read(BOOK, text)` gives a
// paste, which is parsed once (`reading` in steps), and `match(BOOK, paste)` a list of findings.
// BOOK (cases.js, written by the build) holds the libraries and, for each case, its messages:
// see messages.py for their fields.

// What stands before a line and is none of it: quoting, pytest, times, log levels, names of
// processes. Taken off until nothing is left to take.
const PREFIXES = [
  /^[>|│┃#*\s]+/,
  /^E(?=\s|$)/,
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/,
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?/,
  /^\[\d{4}-\d\d-\d\d[^\]]*\]/,
  /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+\[\d+\]:/,
  /^\{[\w./]+:\d+\}/,
  /^##\[\w+\]/,
  /^\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|STDERR|STDOUT)\]?(?:\s*[:|\]-]|\s+\d+\])/i,
  /^\[?rank\d+\]?:/i,
  /^\[\d+\]:/,
  /^\((?:\w+ )?pid=\d+[^)]*\)/,
  /^[\w.-]+-\d+\s*\|/,
  /^-+>/,
  /^\d+\s*\|/,
];
const COLOURS = /(?:\x1b|\\x1b|\\033|\\u001b|\^\[|\u241b|\u2190)?\[[\d;]*m|\x1b\[[\d;?]*[A-Za-z]/g;
// faulthandler lists everything that is imported.
const EXTENSIONS = /extension modules:[^]*?(?:\(total: \d+\)|\n\s*\n|$)/gi;
const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'", apos: "'", nbsp: " " };
const TYPE = /^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning): /;
const FRAME = /file "[^"]+", line \d|(?:site|dist)-packages\//; // in a text that was read
const LONG = { text: 40_000, line: 3000, lines: 700, searched: 10_000_000, marks: 60 };
const CONTEXT = { before: 60, after: 20 }; // lines beside words of the book that are read
const GAP = 4000; // letters that may lie between two parts of a message
const SIGNALS = {
  SIGSEGV: new RegExp(
    String.raw`segmentation fault|sigsegv|signal 11\b|access violation|0xc0000005|` +
      String.raw`\b(?:exit|return)\w* (?:code|status) (?:139|-11)\b`,
    "i",
  ),
  SIGABRT: /\baborted\b|sigabrt|signal 6\b|\b(?:exit|return)\w* (?:code|status) (?:134|-6)\b/i,
  SIGBUS: /bus error|sigbus/i,
  SIGFPE: /floating point exception|sigfpe/i,
  SIGILL: /illegal instruction|sigill/i,
  SIGALRM: /sigalrm/i,
};

// Names that NVIDIA's libraries have on Windows, and their release: nvrtc64_120_0.dll is
// libnvrtc.so.12.
const DLL = /\b([a-z][a-z_]*?)64_(\d+)(?:_\d+)*\.dll\b/gi;
const major = digits => (digits.length > 2 ? digits.slice(0, -1) : digits);

function bare(line) {
  for (let before = null; before !== line;) {
    before = line;
    for (const prefix of PREFIXES) line = line.replace(prefix, "").trimStart();
  }
  return line;
}

function clean(text) {
  return text
    .replace(/\r/g, "")
    .replace(COLOURS, "")
    .replace(DLL, (all, name, digits) => `lib${name}.so.${major(digits)}`)
    .replace(/&(#?\w+);/g, (all, name) => ENTITIES[name] ?? all)
    .split("\n")
    .map(bare);
}

// A long line without its middle.
const cutLine = line =>
  line.length > LONG.line
    ? `${line.slice(0, LONG.line / 2)} … ${line.slice(-LONG.line / 2)}`
    : line;

// The words that are searched in the whole of a long text: the longest part of each message, and
// the patterns of errors with many causes and of those without a case.
function wanted(book) {
  const longest = ({ said }) =>
    clean(said)
      .flatMap(line => line.split("…"))
      .map(letters)
      .reduce((one, other) => (other.length > one.length ? other : one), "");
  const parts = book.cases.flatMap(({ messages }) => messages.map(longest));
  const entries = [...book.general, ...(book.answers ?? [])];
  const patterns = entries.map(({ seen, words }) => seen || words);
  return {
    parts: [...new Set(parts)].filter(part => part.length > 11),
    pattern: new RegExp(patterns.join("|"), "i"),
  };
}

// The line, among those that begin at some places, in which a place lies.
function lineAt(starts, place) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= place) low = middle;
    else high = middle;
  }
  return low;
}

// The lines of a long text that have words of the book: the last ones with a message, and the last
// ones with a pattern, so that a log full of one error hides no message. Yields what part of the
// work is done.
function* marked(book, lines) {
  const { parts, pattern } = wanted(book);
  const [starts, literal, patterned] = [[], [], []];
  let joined = "";
  for (const [n, line] of lines.entries()) {
    starts.push(joined.length);
    joined += letters(bare(line));
    if (pattern.test(line)) patterned.push(n);
    if (n % 100 === 0) yield n / lines.length / 2;
  }
  for (const [n, part] of parts.entries()) {
    const place = joined.lastIndexOf(part);
    if (place >= 0) literal.push(lineAt(starts, place));
    yield (1 + n / parts.length) / 2;
  }
  return [literal, patterned].flatMap(found => found.slice(-LONG.marks));
}

// How many of some lines, from the first on, fit into half of what is read; at least one.
function fitting(lines) {
  let size = 0;
  const over = lines.findIndex(
    line => (size += Math.min(line.length, LONG.line) + 1) > LONG.text / 2,
  );
  return over < 0 ? lines.length : Math.max(over, 1);
}

// What is read of a text: all of it, or of a long one the beginning, the end, and what stands
// around the words of the book. `skipped` counts the lines that are not read.
function* shorten(book, text) {
  const all = text.slice(-LONG.searched).split("\n");
  if (text.length <= LONG.text && all.length <= LONG.lines)
    return { text: all.map(cutLine).join("\n"), skipped: 0 };
  const kept = new Set();
  const keep = (from, to) => {
    for (let n = Math.max(from, 0); n < Math.min(to, all.length); n += 1) kept.add(n);
  };
  keep(0, fitting(all.slice(0, LONG.lines / 2)));
  keep(all.length - fitting(all.slice(-LONG.lines / 2).reverse()), all.length);
  for (const n of yield* marked(book, all)) keep(n - CONTEXT.before, n + CONTEXT.after);
  const places = [...kept].sort((one, other) => one - other);
  const read = places.flatMap((n, at) =>
    at && places[at - 1] !== n - 1 ? ["…", cutLine(all[n])] : [cutLine(all[n])],
  );
  return { text: read.join("\n"), skipped: all.length - kept.size };
}

// Whether nothing is left of a paste besides what stands before lines.
const empty = paste => !paste.lines.some(line => line.trim());

// Letters alone, in lower case: no quote mark, number, space or line end makes a difference.
const letters = text => text.toLowerCase().replace(/[^a-z]+/g, "");

// Lines in the forms that are searched: `letters` for messages, `frames` for the places of
// libraries, also where a terminal has wrapped them, `shown` for patterns.
function forms(lines) {
  const shown = lines.join("\n").replace(EXTENSIONS, "").replace(/\\+/g, "/").toLowerCase();
  return {
    lines,
    letters: letters(lines.join("\n")),
    frames: `${shown}\n${shown.replace(/\s*\n\s*/g, "")}`,
    shown,
  };
}

// What somebody pasted, parsed: its `text` as it stands, the forms of its lines, and how many lines
// were `skipped`. Yields what part of the work is done.
function* reading(book, text) {
  const short = yield* shorten(book, text);
  return { ...short, ...forms(clean(short.text)) };
}

// The same without a pause.
function read(book, text) {
  for (const steps = reading(book, text); ; ) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

// The last place of a pattern in a text, or -1.
function last(pattern, text) {
  let place = -1;
  for (const found of text.matchAll(new RegExp(pattern, "g"))) place = found.index;
  return place;
}

// Whether a line of a paste breaks off with dots inside of a message, of which it has the
// beginning.
function breaksOff(message, lines) {
  const whole = letters(message.split("…")[0]);
  return (
    whole.length > 30 &&
    lines
      .filter(line => /(?:\.\.\.|…)$/.test(line.trim()))
      .map(letters)
      .some(line => {
        const place = line.lastIndexOf(whole.slice(0, 20));
        return place >= 0 && whole.startsWith(line.slice(place));
      })
  );
}

// Whether the parts of a message, between its gaps, follow each other in a text.
function follows(message, text) {
  const parts = clean(message)
    .flatMap(line => line.split("…"))
    .map(letters)
    .filter(part => part.length > 2);
  if (parts.join("").length < 10) return false;
  for (let start = text.indexOf(parts[0]); start >= 0; start = text.indexOf(parts[0], start + 1)) {
    let end = start + parts[0].length;
    const whole = parts.slice(1).every(part => {
      const place = text.indexOf(part, end);
      if (place < 0 || place - end > GAP) return false;
      end = place + part.length;
      return true;
    });
    if (whole) return true;
  }
  return false;
}

// The libraries that have frames in a paste. A line of the message itself is no frame, unless
// there are no others.
function framed(book, message, paste) {
  const words = [letters(message.text), letters(message.said)];
  const own = line =>
    words.some(
      one => letters(line) && (one.includes(letters(line)) || letters(line).includes(one)),
    );
  const around = forms(paste.lines.filter(line => !own(line)));
  const within = text =>
    Object.keys(book.libraries).filter(name => new RegExp(book.libraries[name].frame).test(text));
  const others = within(around.frames);
  return others.length ? others : FRAME.test(around.shown) ? [] : within(paste.frames);
}

// How a paste supports that one of some libraries raised it: by a `frame`, by a `mention` in words,
// by a `related` library; `strange` where it shows frames of packages that the book does not know,
// `foreign` where of others that it knows, `unknown` where none.
function support(book, message, paste) {
  const wanted = message.libraries;
  if (!wanted.length) return "frame";
  const found = framed(book, message, paste);
  if (found.some(name => wanted.includes(name))) return "frame";
  if (
    found.some(
      name =>
        message.wider?.includes(name) ||
        book.libraries[name].beside?.some(other => wanted.includes(other)),
    )
  )
    return "related";
  if (found.length) return "foreign";
  if (FRAME.test(paste.shown)) return "strange";
  return wanted.some(
    name =>
      book.libraries[name].mention && new RegExp(book.libraries[name].mention).test(paste.shown),
  )
    ? "mention"
    : "unknown";
}

// "sure", "perhaps" or null for a message that a paste has the words of. Sure needs a frame of the
// library, or words that tell the fault from others and that neither another library nor a
// compiler passes on.
function judge({ level, needs, signal, wider, compiler, condition }, by, alone) {
  if (by === "foreign") return null;
  const plain = by === "unknown" && level === 2 && !needs && !wider?.length && !compiler;
  if (!signal && !condition && (plain || (by === "frame" && level))) return "sure";
  if (alone || by === "frame") return "perhaps";
  if (signal || !level || (compiler && by !== "mention")) return null;
  return !needs || (by === "mention" && level === 2) ? "perhaps" : null;
}

// Whether a paste is one line, which has the words of the last line of a message; its type may
// be missing.
function isLast(message, paste) {
  const [line, ...more] = paste.lines.filter(one => one.trim());
  const same = other =>
    other === line.trim() || (letters(other).length >= 10 && letters(other) === letters(line));
  const end = message.text.split("\n").at(-1);
  return (
    line !== undefined &&
    !more.length &&
    (message.level > 0 || /\s/.test(end)) &&
    [end, end.replace(TYPE, ""), message.said].some(
      other => same(other) || same(line.match(TYPE)?.[0] + other),
    )
  );
}

// Whether a paste is about another major version of a shared library than a message.
const otherVersion = (message, paste) =>
  (message.said.toLowerCase().match(/\blib\w+\.so\.\d+/g) ?? []).some(
    name =>
      !paste.shown.includes(name) &&
      new RegExp(`\\b${name.replace(/\d+$/, "").replaceAll(".", "\\.")}\\d`).test(paste.shown),
  );

// Whether a paste has the words of a message, and how they are to be taken: `[sure or perhaps,
// by what support, whether all of them are there]`.
function check(book, message, paste) {
  if (
    message.compiler &&
    message.libraries.some(name =>
      new RegExp(book.libraries[name].authored ?? "(?!)").test(paste.shown),
    )
  )
    return null;
  const said = message.signal
    ? SIGNALS[message.signal]?.test(paste.shown)
    : message.level > 0 &&
      (follows(message.said, paste.letters) || breaksOff(message.said, paste.lines));
  const last = isLast(message, paste);
  if ((!said && !last) || otherVersion(message, paste)) return null;
  const by = support(book, message, paste);
  const line = paste.lines.filter(one => one.trim()).length === 1;
  const found =
    last && (by === "foreign" || !said)
      ? "perhaps"
      : judge(
          message,
          by,
          last || (line && message.level > 0 && !message.needs && !message.compiler),
        );
  return found && [found, by, said];
}

// The general error that a paste ends in, or undefined.
const general = (book, paste) =>
  book.general.find(({ words, seen }) => new RegExp(seen || words, "i").test(paste.shown));

// The answer to a message that no case is about, or undefined.
const answered = (book, paste) =>
  book.answers?.find(({ seen }) => new RegExp(seen, "i").test(paste.shown));

// Whether a finding is a warning in a paste: it may stand above an error that it did not cause.
const warns = ({ messages }, paste) =>
  messages.every(({ message }) =>
    paste.lines.some(
      line => /Warning: /.test(line) && letters(line).includes(letters(message.said)),
    ),
  );

// Whether the whole words of a fault tell it from others, and stand on the card or in a cell of the
// case itself: then one case alone that has them is certain.
const unmistakable = ({ message, by, whole }, error) =>
  whole &&
  message.level === 2 &&
  !message.condition &&
  !message.signal &&
  !message.needs &&
  !message.beside &&
  !(error && message.general === error) &&
  by !== "foreign" &&
  !(by === "unknown" && (message.compiler || message.wider?.length)) &&
  by !== "strange" &&
  by !== "related";

// Whether a message of the card is among those of a case.
const onCard = ({ messages }) => messages.some(({ message }) => message.fault);

// Whether words have other causes, too, unless a frame of the library stands above them.
const vague = ({ message, by }) => message.condition && message.level < 2 && by !== "frame";

// The cases that a paste fits: `[{ case, sure, messages: [{ message, by }] }]`. That is the sure
// one alone, or candidates: those by a card first, and for a general error only those, one that
// says more, and one of which the paste is the last line. What says no more than a general error is
// never sure, and neither is a warning beside something else, or words that stand beside a case.
function match(book, paste) {
  if (!paste.shown.trim()) return [];
  const error = general(book, paste)?.id;
  const findings = book.cases.flatMap(one => {
    const messages = one.messages.flatMap(message => {
      const many = error && message.general === error;
      const by = many && !message.signal && support(book, message, paste);
      const found = by
        ? (by !== "foreign" || isLast(message, paste)) && ["perhaps", by]
        : check(book, message, paste);
      const sure = found && found[0] === "sure" && !many && !message.beside;
      return found ? [{ message, sure, by: found[1], whole: found[2] }] : [];
    });
    const sure = messages.some(found => found.sure);
    return messages.length
      ? [{ case: one, sure, messages: messages.filter(found => found.sure === sure) }]
      : [];
  });
  const certain = findings.filter(
    found => found.sure && (findings.length === 1 || !warns(found, paste)),
  );
  if (certain.length === 1) return certain;
  const carding = findings.filter(onCard);
  const titled = carding.filter(({ case: one, messages }) =>
    messages.some(({ message }) => letters(one.title).includes(letters(message.said))),
  );
  const [alone, ...more] = [certain, titled, carding, findings].find(found => found.length) ?? [];
  if (
    alone &&
    !more.length &&
    !warns(alone, paste) &&
    alone.messages.some(found => unmistakable(found, error))
  )
    return [{ ...alone, sure: true }];
  const candidates = certain.length ? certain : findings;
  const carded = candidates.filter(onCard);
  const others = candidates
    .filter(found => !carded.includes(found))
    .filter(
      ({ messages }) =>
        !error ||
        !carded.length ||
        messages.some(({ message }) => message.general !== error || isLast(message, paste)),
    );
  return [...carded, ...others].map(found => ({ ...found, sure: false }));
}

// The libraries that a paste shows frames of, the last one first.
const libraries = (book, paste) =>
  Object.entries(book.libraries)
    .map(([name, library]) => [last(library.frame, paste.shown), name])
    .filter(([place]) => place >= 0)
    .sort((one, other) => other[0] - one[0])
    .map(([, name]) => name);
