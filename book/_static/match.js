// Which cases of the book a pasted text fits. No page is touched here: `match(BOOK, text)` gives a list of findings.
// BOOK (cases.js, written by the build) holds the libraries and, for each case, its messages: see messages.py for their fields.

// What stands before a line and is none of it: quoting, pytest, times, log levels, names of processes. Taken off until nothing is left to take.
const PREFIXES = [
  /^[>|│┃#*\s]+/, /^E(?=\s|$)/, /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/, /^\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?/,
  /^\[\d{4}-\d\d-\d\d[^\]]*\]/, /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+\[\d+\]:/, /^\{[\w./]+:\d+\}/, /^##\[\w+\]/,
  /^\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|STDERR|STDOUT)\]?(?:\s*[:|\]-]|\s+\d+\])/i,
  /^\[?rank\d+\]?:/i, /^\[\d+\]:/, /^\((?:\w+ )?pid=\d+[^)]*\)/, /^[\w.-]+-\d+\s*\|/, /^-+>/, /^\d+\s*\|/,
];
const COLOURS = /(?:\x1b|\\x1b|\\033|\\u001b|\^\[|\u241b|\u2190)?\[[\d;]*m|\x1b\[[\d;?]*[A-Za-z]/g;
const EXTENSIONS = /extension modules:[^]*?(?:\(total: \d+\)|\n\s*\n|$)/gi;      // faulthandler lists everything that is imported
const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', "#39": "'", apos: "'", nbsp: " " };
const TYPE = /^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning): /;
const FRAME = /file "[^"]+", line \d|(?:site|dist)-packages\//;     // in a text that was read
const LONGEST = 200_000, LONG_LINE = 2000, LINES = /[^\n]{2001,}/g;
const GAP = 4000;       // letters that may lie between two parts of a message
const SIGNALS = {
  SIGSEGV: /segmentation fault|sigsegv|signal 11\b|\b(?:exit|return)\w* (?:code|status) (?:139|-11)\b|access violation|0xc0000005/i,
  SIGABRT: /\baborted\b|sigabrt|signal 6\b|\b(?:exit|return)\w* (?:code|status) (?:134|-6)\b/i,
  SIGBUS: /bus error|sigbus/i, SIGFPE: /floating point exception|sigfpe/i, SIGILL: /illegal instruction|sigill/i, SIGALRM: /sigalrm/i,
};

// Plain words: other ways to say the same, words that say nothing, and what only programs print.
const SAME = {
  hang: /\b(?:(?:never|n't|not) (?:ends?|returns?|stops?|finish(?:es)?|terminates?|comes? back)|hang(?:s|ing)?|hung|stuck|froze|frozen|freez\w+|deadlock\w*|forever|infinite)\b/g,
  wrong: /\b(?:wrong|incorrect|other|different|bad|false)(?= (?:\w+ )?(?:numbers?|results?|values?|outputs?|answers?|sums?))|(?<=(?:numbers?|results?|values?|outputs?|answers?|sums?) (?:is|are|comes? out|looks?) )(?:off|different|incorrect|bad)\b/g,
  slow: /\b(?:slow(?:er|ly|ness)?|takes (?:\w+ ){0,4}long(?:er)?)\b/g, crash: /\b(?:crash\w*|segfault\w*|dies|killed)\b/g,
  sum: /\b(?:reduc(?:e|es|ing|tions?)|summ?(?:s|ed|ing))\b/g, barrier: /_*sync_?threads\w*/g, "raw kernel": /rawkernel/g, loop: /\bwhile\b/g, device: /\bgpus?\b/g, uint8: /\bu?int(?:8|16)\b/g,
};
const IDLE = new Set(`about after all along and any are because but can cannot code come comes cuda did does doesn doing don error fail fails few find first for found from function
 get gets give given gives got had has have her how into its just like make makes many more most much new not now off one only other out over problem program python result results return returned returns
 run runs same say says see seem seems should since some such than that the their them then there these they this too two use used uses using very want was were what when where
 which who why will with without work works would you your`.split(/\s+/));
const UNKNOWN = 4;     // faults that a word of no fault counts for
const CLEAR = 6.5, SHARE = 0.45, MOST_LINES = 40;
const PRINTED = /\w(?:error|exception|warning|interrupt)s?\b|\b(?:error|fatal|warning|failed|traceback)[^\w\n]*[:(]|cuda_|_error|\bfile "|\bline \d|\.(?:pyx|so|cuh?|cpp|h|dll)\b|::|\b0x[\da-f]|\w\\\w|\w\.\w+\.\w|segmentation fault|core dumped|kernel panic|cudaerror|allocating [\d,]+ bytes|^\W*[\w.]+: |->|^\s*(?:return|import|def|class|\w+ =) /im;

function bare(line) {
  for (let before = null; before !== line;) {
    before = line;
    for (const prefix of PREFIXES) line = line.replace(prefix, "").trimStart();
  }
  return line;
}

// Of a long text its beginning and its end, of a long line its beginning: no message is longer.
function shortened(text) {
  const cut = `${text.slice(0, LONGEST / 4)}\n${text.slice(-LONGEST * 3 / 4)}`;
  return (text.length > LONGEST ? cut : text).replace(LINES, line => line.slice(0, LONG_LINE));
}

function clean(text) {
  return shortened(text).replace(/\r/g, "").replace(COLOURS, "").replace(/&(#?\w+);/g, (all, name) => ENTITIES[name] ?? all).split("\n").map(bare);
}

// Letters alone, in lower case: no quote mark, number, space or line end makes a difference.
const letters = text => text.toLowerCase().replace(/[^a-z]+/g, "");

// What a paste says, in the forms that are searched.
function read(text) {
  const lines = clean(text);
  const shown = lines.join("\n").replace(EXTENSIONS, "").replace(/\\+/g, "/").toLowerCase();
  return { lines, letters: letters(lines.join("\n")), frames: `${shown}\n${shown.replace(/\s*\n\s*/g, "")}`, shown };
}

// The last place of a pattern in a text, or -1.
function last(pattern, text) {
  let place = -1;
  for (const found of text.matchAll(new RegExp(pattern, "g"))) place = found.index;
  return place;
}

// Whether a line of a paste breaks off with dots inside of a message, of which it has the beginning.
function breaksOff(message, lines) {
  const whole = letters(message.split("…")[0]);
  return whole.length > 30 && lines.filter(line => /(?:\.\.\.|…)$/.test(line.trim())).map(letters).some(line => {
    const place = line.lastIndexOf(whole.slice(0, 20));
    return place >= 0 && whole.startsWith(line.slice(place));
  });
}

// Whether the parts of a message, between its gaps, follow each other in a text.
function follows(message, text) {
  const parts = clean(message).flatMap(line => line.split("…")).map(letters).filter(part => part.length > 2);
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

// The libraries that have frames in a paste. A line of the message itself is no frame, unless there are no others.
function framed(book, message, paste) {
  const words = [letters(message.text), letters(message.said)];
  const own = line => words.some(one => letters(line) && (one.includes(letters(line)) || letters(line).includes(one)));
  const around = read(paste.lines.filter(line => !own(line)).join("\n"));
  const within = text => Object.keys(book.libraries).filter(name => new RegExp(book.libraries[name].frame).test(text));
  const others = within(around.frames);
  return others.length ? others : FRAME.test(around.shown) ? [] : within(paste.frames);
}

// How a paste supports that one of some libraries raised it: by a `frame`, by a `mention` in words, by a `related` library;
// `strange` where it shows frames of packages that the book does not know, `foreign` where of others that it knows, `unknown` where none.
function support(book, message, paste) {
  const wanted = message.libraries;
  if (!wanted.length) return "frame";
  const found = framed(book, message, paste);
  if (found.some(name => wanted.includes(name))) return "frame";
  if (found.some(name => message.wider?.includes(name) || book.libraries[name].beside?.some(other => wanted.includes(other)))) return "related";
  if (found.length) return "foreign";
  if (FRAME.test(paste.shown)) return "strange";
  return wanted.some(name => book.libraries[name].mention && new RegExp(book.libraries[name].mention).test(paste.shown)) ? "mention" : "unknown";
}

// "sure", "perhaps" or null for a message that a paste has the words of. Sure needs a frame of the library, or words that nothing else says:
// those on a card, of weight, that no other library and no compiler passes on.
function judge({ level, own, needs, borrowed, signal, wider, link, compiler, condition }, by, alone) {
  if (by === "foreign") return null;
  if (by === "frame" && level && own && !signal && !condition) return "sure";
  if (by === "unknown" && level === 2 && own && !needs && !borrowed && !wider?.length && !link && !compiler && !condition) return "sure";
  if (alone || by === "frame") return "perhaps";
  if (signal || !level || (compiler && by !== "mention")) return null;
  if (needs) return by === "mention" && level === 2 ? "perhaps" : null;
  return by === "related" || own || level === 2 ? "perhaps" : null;
}

// Whether a paste is one line, which has the words of the last line of a message; its type may be missing.
function isLast(message, paste) {
  const [line, ...more] = paste.lines.filter(one => one.trim());
  if (!line) return false;
  const same = other => other === line.trim() || (letters(other).length >= 10 && letters(other) === letters(line));
  const end = message.text.split("\n").at(-1);
  return !more.length && (message.level > 0 || /\s/.test(end)) && [end, end.replace(TYPE, ""), message.said].some(other => same(other) || same(line.match(TYPE)?.[0] + other));
}

// Whether a paste has the words of a message, and how they are to be taken: `[sure or perhaps, by what support]`.
function check(book, message, paste) {
  if (message.compiler && message.libraries.some(name => new RegExp(book.libraries[name].authored ?? "(?!)").test(paste.shown))) return null;
  const said = message.signal ? SIGNALS[message.signal]?.test(paste.shown)
    : message.level > 0 && (follows(message.said, paste.letters) || breaksOff(message.said, paste.lines));
  const last = isLast(message, paste);
  if (!said && !last) return null;
  const by = support(book, message, paste);
  const line = paste.lines.filter(one => one.trim()).length === 1;
  const found = last && by === "foreign" ? "perhaps" : judge(message, by, last || (line && message.level > 0 && !message.needs));
  return found && [found, by];
}

// The general error that a text ends in, or undefined.
function general(book, text) {
  const { shown } = read(text);
  return book.general.find(({ words, seen }) => new RegExp(seen || words, "i").test(shown));
}

// The cases that a text fits: `[{ case, sure, messages: [{ message, by }] }]`: the sure one alone, or candidates, those by a card first,
// and for a general error those alone, and one of which the text is the last line.
// What says no more than a general error is never sure.
function match(book, text) {
  if (!text.trim()) return [];
  const paste = read(text);
  const error = general(book, text)?.id;
  const findings = book.cases.flatMap(one => {
    const messages = one.messages.flatMap(message => {
      const many = error && message.general === error;
      const by = many && !message.signal && support(book, message, paste);
      const found = by ? (by === "frame" || isLast(message, paste) || (message.own && by !== "foreign")) && ["perhaps", by] : check(book, message, paste);
      return found ? [{ message, sure: found[0] === "sure" && !many, by: found[1] }] : [];
    });
    const sure = messages.some(found => found.sure);
    return messages.length ? [{ case: one, sure, messages: messages.filter(found => found.sure === sure) }] : [];
  });
  const certain = findings.filter(found => found.sure);
  if (certain.length === 1) return certain;
  const candidates = certain.length ? certain : findings;
  const carded = candidates.filter(({ messages }) => messages.some(({ message }) => message.fault));
  const others = candidates.filter(found => !carded.includes(found))
    .filter(({ messages }) => !error || !carded.length || messages.some(({ message }) => isLast(message, paste)));
  return [...carded, ...others].map(found => ({ ...found, sure: false }));
}

// The words of a text in plain language that say something, without their endings; of Chinese, each
// pair of characters.
function terms(text) {
  let said = text.toLowerCase();
  for (const [word, same] of Object.entries(SAME)) said = said.replace(same, word);
  const found = said.match(/[a-z]+(?:8|16|32|64)?(?![a-z\d])|[a-z]+/g) ?? [];
  const words = found.filter(word => word.length > 2 && !IDLE.has(word))
    .map(word => word.length > 3 ? word.replace(/(?:ings?|ed|ers?|es|s|e)$/, "") : word);
  const chinese = (said.match(/[\u4e00-\u9fff]+/g) ?? [])
    .flatMap(run => [...run].slice(1).map((character, n) => run[n] + character));
  return new Set([...words, ...chinese]);
}

// The faults of the book with their words: those of title, card and kind, and those people use.
let indexed;
function index(book) {
  if (indexed?.book === book) return indexed;
  const faults = book.cases.flatMap(one => Object.values(one.faults).map(fault => ({
    case: one, fault,
    terms: terms([one.title, fault.see, one.kind, ...fault.heard ?? []].join(" ")),
  })));
  const counts = new Map();
  for (const one of faults) {
    for (const term of one.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  const weight = term => Math.log(faults.length / (counts.get(term) ?? UNKNOWN));
  const weigh = list => list.reduce((sum, term) => sum + weight(term), 0);
  return indexed = { book, faults, weigh };
}

// The faults by what their words share with some text, best first, each case once.
function ranked(book, text) {
  const { faults, weigh } = index(book);
  const asked = [...terms(text)], all = weigh(asked);
  return faults.map(one => ({ ...one, all, both: asked.filter(term => one.terms.has(term)) }))
    .map(one => ({ ...one, score: weigh(one.both) }))
    .sort((one, other) => other.score - one.score || one.terms.size - other.terms.size)
    .filter((one, n, list) => list.findIndex(other => other.case === one.case) === n);
}

// What a person wrote in a text: without code between fences and what a program printed.
function told(text) {
  const lines = shortened(text).replace(/```[^]*?(?:```|$)/g, "").split("\n");
  return lines.filter(line => line.trim() && !PRINTED.test(line));
}

// Whether a case can be meant by a text: one that names libraries names one of the case's.
function concerns(book, one, text) {
  const said = text.toLowerCase();
  const named = Object.keys(book.libraries)
    .filter(name => book.libraries[name].mention && new RegExp(book.libraries[name].mention).test(said));
  return !named.length || one.libraries.some(name => named.includes(name));
}

// The faults that a description in plain words sounds like: `[{ case, fault }]`, at most three, best
// first. A word weighs more the fewer faults have it. Two words must be the fault's, and half of the
// weight of what was said, or so much that no other fault comes near. Each line counts by itself.
function sounds(book, text) {
  const lines = told(text);
  const said = lines.length > 1 ? [...lines.slice(0, MOST_LINES), lines.join(" ")] : lines;
  const best = new Map();
  for (const line of said) {
    const [first, second, ...rest] = ranked(book, line);
    if (!first || first.both.length < 2) continue;
    const enough = one => (one.both.length > 1 && one.score >= Math.max(2.7, one.all * SHARE))
      || (one.both.length > 2 && one.score >= one.all * 0.9);
    const alone = first.both.length > 2 && first.score >= CLEAR && first.score >= 1.2 * (second?.score ?? 0);
    for (const one of alone ? [first] : [first, second, ...rest].filter(one => one && enough(one))) {
      if (one.score > (best.get(one.case)?.score ?? 0)) best.set(one.case, one);
    }
  }
  const found = [...best.values()].filter(({ case: one }) => concerns(book, one, text))
    .sort((one, other) => other.score - one.score);
  return found.filter(one => one.score > found[0].score / 2).slice(0, 3);
}

// The two faults that come nearest to a text of which nothing is sure; fewer if no word is shared.
function nearest(book, text) {
  const words = told(text).join(" ") || shortened(text);
  return ranked(book, words).filter(one => one.score > 0).slice(0, 2);
}

// The libraries that a text shows frames of, the last one first.
function shown(book, text) {
  const paste = read(text);
  const places = Object.entries(book.libraries).map(([name, library]) => [last(library.frame, paste.shown), name]);
  return places.filter(([place]) => place >= 0).sort((one, other) => other[0] - one[0]).map(([, name]) => name);
}
