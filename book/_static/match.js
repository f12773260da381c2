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
const GAP = 4000;       // letters that may lie between two parts of a message
const SIGNALS = {
  SIGSEGV: /segmentation fault|sigsegv|signal 11\b|\b(?:exit|return)\w* (?:code|status) (?:139|-11)\b|access violation|0xc0000005/i,
  SIGABRT: /\baborted\b|sigabrt|signal 6\b|\b(?:exit|return)\w* (?:code|status) (?:134|-6)\b/i,
  SIGBUS: /bus error|sigbus/i, SIGFPE: /floating point exception|sigfpe/i, SIGILL: /illegal instruction|sigill/i, SIGALRM: /sigalrm/i,
};

function bare(line) {
  for (let before = null; before !== line;) {
    before = line;
    for (const prefix of PREFIXES) line = line.replace(prefix, "").trimStart();
  }
  return line;
}

function clean(text) {
  return text.replace(/\r/g, "").replace(COLOURS, "").replace(/&(#?\w+);/g, (all, name) => ENTITIES[name] ?? all).split("\n").map(bare);
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

// How a paste supports that one of some libraries raised it: by a `frame`, by a `mention` in words, by a `related` library;
// `unknown` where it shows none, `foreign` where it shows others only.
function support(book, wanted, paste) {
  if (!wanted.length) return "frame";
  const framed = Object.keys(book.libraries).filter(name => new RegExp(book.libraries[name].frame).test(paste.frames));
  if (framed.some(name => wanted.includes(name))) return "frame";
  if (framed.some(name => book.libraries[name].beside?.some(other => wanted.includes(other)))) return "related";
  if (framed.length) return "foreign";
  if (wanted.some(name => book.libraries[name].mention && new RegExp(book.libraries[name].mention).test(paste.shown))) return "mention";
  return "unknown";
}

// The library whose frame comes last: it raised the exception.
function raiser(book, paste) {
  const places = Object.entries(book.libraries).map(([name, library]) => [last(library.frame, paste.shown), name]);
  const [place, name] = places.reduce((one, other) => other[0] > one[0] ? other : one);
  return place >= 0 ? name : null;
}

// "sure", "perhaps" or null for a message that a paste has the words of.
function judge(message, by) {
  const { level, own, needs } = message;
  if (by === "foreign") return null;
  if (message.signal) return by === "frame" ? "perhaps" : null;
  if (by === "related") return level && !needs ? "perhaps" : null;
  if (by === "frame") return level && own ? "sure" : "perhaps";
  if (needs) return by === "mention" && level === 2 ? "perhaps" : null;
  if (level === 2) return own ? "sure" : "perhaps";
  return own && level ? "perhaps" : null;
}

// Whether a paste has the words of a message, and how they are to be taken.
function check(book, message, paste) {
  const words = [letters(message.text), letters(message.said)];
  const by = support(book, message.libraries, paste);
  if (message.compiler && message.libraries.some(name => new RegExp(book.libraries[name].authored ?? "(?!)").test(paste.shown))) return null;
  let found = null;
  if (message.level === 0) {
    const alone = paste.lines.some(line => words.includes(letters(line.replace(/^(?:\w+\.)+/, ""))));
    if (alone && message.libraries.includes(raiser(book, paste))) found = "perhaps";
  } else if (message.signal ? SIGNALS[message.signal]?.test(paste.shown) : follows(message.said, paste.letters) || breaksOff(message.said, paste.lines)) {
    found = judge(message, by);
  }
  const whole = paste.lines.join(" ").trim() === message.text && (message.signal || !message.cells.length);    // a card's words, and nothing else
  if (!found && whole) found = "perhaps";
  return found && [message.condition ? "perhaps" : found, by];
}

// The cases that a text fits: `[{ case, sure, messages: [{ message, by }] }]`, those that are sure if there are any.
function match(book, text) {
  if (!text.trim()) return [];
  const paste = read(text);
  const findings = book.cases.flatMap(one => {
    const messages = one.messages.flatMap(message => {
      const found = check(book, message, paste);
      return found ? [{ message, sure: found[0] === "sure", by: found[1] }] : [];
    });
    const sure = messages.some(found => found.sure);
    return messages.length ? [{ case: one, sure, messages: messages.filter(found => found.sure === sure) }] : [];
  });
  return findings.some(found => found.sure) ? findings.filter(found => found.sure) : findings;
}

// The libraries that a text shows frames of, the last one first.
function shown(book, text) {
  const paste = read(text);
  const places = Object.entries(book.libraries).map(([name, library]) => [last(library.frame, paste.shown), name]);
  return places.filter(([place]) => place >= 0).sort((one, other) => other[0] - one[0]).map(([, name]) => name);
}
