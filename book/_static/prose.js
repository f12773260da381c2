// Which faults a text in plain words describes. No page is touched here.
// A fault is indexed by its words: what is seen, the title of its case, what people call it
// (`heard`), its messages and its cure. Each field has a weight of its own.

const FIELDS = { heard: 1, see: 1, title: 0.9, said: 0.6, act: 0.4 };
const BESIDE = 0.4; // a pair of neighbours, against a word alone
const NAME = 0.6; // a name from code, beside its parts
const HALF = 0.7; // a frequent word
const UNKNOWN = 4; // faults that a word of no fault counts for
// What must be the fault's: which share of the weight of what is said, and what weight.
const WHOLE = { share: 0.5, score: 4, clear: 0.25 }; // of a text
const PART = { share: 0.6, score: 8, clear: 0.45 }; // of a sentence of it
const UNSAID = { share: 0.7, score: 3.8 }; // where nothing says that it is about a GPU
const STRANGE = { share: 0.7, score: 6 }; // where it is about another library
const UNLIKE = 0.7; // for a case about other libraries than the text
const FAINT = 2;
const CLEAR = 8.5; // what words must weigh that are less than half of it
const AHEAD = 1.5; // how far the first must be ahead then
const LONGEST = 400; // words of a sentence, and sentences of a text, that are looked at

const FENCE = /^\s*(?:```|~~~)[^\n]*\n[^]*?(?:^\s*(?:```|~~~)\s*$|$(?![^]))/gm;
const CHINESE = /[\u3400-\u9fff]+/g;

const pairs = text => [...text].slice(1).map((letter, n) => [...text][n] + letter);

// The words of a text that say something, without their endings, in their order; after them names
// from code as they stand, and pairs of neighbours.
function wordsOf(text) {
  let said = text.toLowerCase();
  const names =
    said.match(/\b[a-z]\w*(?:\.[a-z]\w*)+\b|\b[a-z]+\d*(?:[_-]\w+)+\b|\b\d+\.\d+/g) ?? [];
  for (const [word, same] of SAME) said = said.replace(same, ` ${word} `);
  const latin = (said.match(/[a-z]+(?:8|16|32|64)?(?![a-z\d])|[a-z]+/g) ?? [])
    .filter(word => word.length > 2 && !IDLE.has(word))
    .map(stem);
  const beside = latin.slice(1).map((word, n) => `${latin[n]} ${word}`);
  const chinese = (said.match(CHINESE) ?? []).flatMap(pairs);
  return [...latin, ...chinese, ...names.map(name => `${name}()`), ...beside];
}

const indexes = new WeakMap();

// The faults of the book, each with the weight of its words.
function indexed(book) {
  if (indexes.has(book)) return indexes.get(book);
  const faults = book.cases.flatMap(one =>
    Object.entries(one.faults).map(([id, fault]) => {
      const said = one.messages.filter(({ fault }) => fault === id).map(({ text }) => text);
      const fields = {
        heard: (fault.heard ?? []).join("\n"),
        see: `${fault.see} ${one.kind}`,
        title: one.title,
        said: said.join("\n"),
        act: fault.do,
      };
      const terms = new Map();
      for (const [field, weight] of Object.entries(FIELDS)) {
        for (const term of wordsOf(fields[field]))
          terms.set(term, Math.max(terms.get(term) ?? 0, weight));
      }
      return { case: one, fault, terms };
    }),
  );
  const count = new Map();
  for (const { terms } of faults)
    for (const term of terms.keys()) count.set(term, (count.get(term) ?? 0) + 1);
  const kind = term => (term.includes(" ") ? BESIDE : term.endsWith(")") ? NAME : 1);
  const weight = term =>
    kind(term) < 1 && !count.has(term)
      ? 0
      : (COMMON.has(term) || LIBRARY.has(term) ? HALF : 1) *
        kind(term) *
        Math.log(faults.length / (count.get(term) ?? UNKNOWN));
  indexes.set(book, { faults, weight });
  return indexes.get(book);
}

// The sentences of a text that somebody wrote: neither code nor what a program printed.
function sentences(text) {
  const told = text
    .replace(FENCE, "\n")
    .replace(/https?:\/\/\S+/g, " ")
    .split("\n");
  return told
    .filter(line => !PRINTED.test(line))
    .flatMap(line => line.split(/(?<=[.!?;。！？；])\s*(?=\s|[\u3400-\u9fff])/))
    .map(line => line.trim())
    .filter(Boolean)
    .slice(0, LONGEST);
}

// The libraries of the book that a text names.
function namedIn(book, text) {
  const shown = text.toLowerCase();
  return Object.keys(book.libraries).filter(name => {
    const { mention } = book.libraries[name];
    return mention && new RegExp(mention).test(shown);
  });
}

// How much each fault is like some words, best first: by the weight of the words that it has too,
// less where the text names libraries and the case is about others.
function ranked(book, asked, named) {
  const { faults, weight } = indexed(book);
  const plainly = asked.filter(term => !/[ )]/.test(term));
  const all = asked.reduce((sum, term) => sum + weight(term), 0);
  return faults
    .map(one => {
      const both = asked.filter(term => one.terms.has(term));
      const sum = both.reduce((sum, term) => sum + weight(term) * one.terms.get(term), 0);
      const { libraries } = one.case;
      const unlike =
        named.length && libraries.length && !libraries.some(name => named.includes(name));
      const whole = plainly.length > 2 && plainly.every(term => one.terms.has(term));
      const score = sum * (unlike ? UNLIKE : 1);
      const plain = both.filter(term => !/[ )]/.test(term) && !LIBRARY.has(term)).length;
      return {
        case: one.case,
        fault: one.fault,
        size: one.terms.size,
        plain,
        whole,
        score,
        share: score / all || 0,
      };
    })
    .sort((one, other) => other.score - one.score || one.size - other.size);
}

// Those of some faults whose case stands in none before.
const once = found =>
  found.filter((one, n) => found.findIndex(other => other.case === one.case) === n);

// The faults that a description in plain words sounds like: `[{ case, fault }]`, at most three,
// best
// first; none for what a program printed. Two words must be the fault's, and half of the weight
// of what was said, or so much weight that no other case comes near. The text is judged as a whole,
// then each of its sentences on its own.
function sounds(book, text) {
  const told = sentences(text);
  const shown = told.join("\n").toLowerCase();
  const named = namedIn(book, text);
  const own = named.length || ABOUT.test(shown);
  const strange = !named.length && (OTHERS.test(shown) || libraries(book, text).length > 0);
  const judge = (line, part) => {
    const found = once(ranked(book, [...new Set(wordsOf(line))].slice(0, LONGEST), named));
    const [first, second] = found;
    const needs = strange ? STRANGE : own ? (part ? PART : WHOLE) : UNSAID;
    const fits = one =>
      (one.whole && own && !strange) ||
      (one.plain > 1 && one.share >= needs.share && one.score >= needs.score);
    const clear =
      own &&
      !strange &&
      first.plain > 1 &&
      first.score >= CLEAR &&
      first.share >= (part ? PART.clear : WHOLE.clear) &&
      first.score >= AHEAD * second.score;
    return found.filter((one, n) => fits(one) || (clear && !n));
  };
  let found = judge(told.join("\n"), false);
  if (!found.length && told.length > 1) {
    found = once(
      told.flatMap(line => judge(line, true)).sort((one, other) => other.score - one.score),
    );
  }
  return found.filter(one => one.score > found[0].score / 2).slice(0, 3);
}

// All faults, those that a text is most like first.
function rank(book, text) {
  const asked = [...new Set(wordsOf(text))].slice(0, LONGEST);
  return ranked(book, asked, namedIn(book, text)).map(({ fault }) => fault);
}

// How much each case is like a text, {href: part of its words' weight}, for the site's search.
function liken(book, text) {
  const asked = [...new Set(wordsOf(text))].slice(0, LONGEST);
  const found = once(ranked(book, asked, namedIn(book, text)));
  return Object.fromEntries(found.map(one => [one.case.href, one.share]));
}

// The faults that come nearest to a text: a guess, where nothing fits. None if no word of it is
// known.
function nearest(book, text) {
  const asked = [...new Set(wordsOf(text.replace(/https?:\/\/\S+/g, " ")))].slice(0, LONGEST);
  return once(
    ranked(book, asked, namedIn(book, text)).filter(one => one.plain && one.score >= FAINT),
  ).slice(0, 2);
}
