// Which faults a text is most like, where no message decides. No page is touched here.
// A fault is indexed by its words: what is seen, the title of its case, what people call it
// (`heard`), its messages and its cure. Each field has a weight of its own.

const FIELDS = { heard: 1, see: 1, title: 0.9, said: 0.6, act: 0.4 };
const BESIDE = 0.4; // a pair of neighbours, against a word alone
const NAME = 0.6; // a name from code, beside its parts
const HALF = 0.7; // a frequent word
const UNKNOWN = 4; // faults that a word of no fault counts for
const UNLIKE = 0.7; // for a case about other libraries than the text
const FAINT = 2; // what the words that a fault has, too, must weigh to be a guess
const FUSED = 60; // as in the paper by Cormack, Clarke and Büttcher (2009)
const LONGEST = 400; // terms of a text that are looked at

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
  const all = asked.reduce((sum, term) => sum + weight(term), 0);
  return faults
    .map(one => {
      const both = asked.filter(term => one.terms.has(term));
      const sum = both.reduce((sum, term) => sum + weight(term) * one.terms.get(term), 0);
      const { libraries } = one.case;
      const unlike =
        named.length && libraries.length && !libraries.some(name => named.includes(name));
      const score = sum * (unlike ? UNLIKE : 1);
      const plain = both.filter(term => !/[ )]/.test(term) && !LIBRARY.has(term)).length;
      return {
        case: one.case,
        fault: one.fault,
        size: one.terms.size,
        plain,
        score,
        share: score / all || 0,
      };
    })
    .sort((one, other) => other.score - one.score || one.size - other.size);
}

// Those of some faults whose case stands in none before.
const once = found =>
  found.filter((one, n) => found.findIndex(other => other.case === one.case) === n);

// The terms of a text, each once.
const terms = text => [...new Set(wordsOf(text.replace(/https?:\/\/\S+/g, " ")))].slice(0, LONGEST);

// How often each run of four letters stands in a text.
function grams(text) {
  const count = new Map();
  const plain = ` ${text.toLowerCase().replace(/[^a-z0-9_.\u3400-\u9fff]+/g, " ").trim()} `;
  for (let n = 0; n + 4 <= plain.length; n += 1) {
    const gram = plain.slice(n, n + 4);
    count.set(gram, (count.get(gram) ?? 0) + 1);
  }
  return count;
}

const spelled = new WeakMap();

// The faults of the book as vectors over their runs of letters (TF-IDF), which see names, misspelt
// words and endings that `ranked` does not know.
function spelling(book) {
  if (spelled.has(book)) return spelled.get(book);
  const faults = indexed(book).faults.map(({ case: one, fault }) => {
    const said = one.messages.filter(message => one.faults[message.fault] === fault);
    const texts = [one.title, fault.see, ...(fault.heard ?? []), fault.do];
    const count = grams([...texts, ...said.map(({ text }) => text)].join("\n"));
    return { case: one, fault, count };
  });
  const common = new Map();
  for (const { count } of faults)
    for (const gram of count.keys()) common.set(gram, (common.get(gram) ?? 0) + 1);
  const vector = count => {
    const known = [...count].filter(([gram]) => common.has(gram));
    const weights = known.map(([gram, times]) => [
      gram,
      (1 + Math.log(times)) * Math.log(1 + faults.length / common.get(gram)),
    ]);
    const length = Math.hypot(...weights.map(([, weight]) => weight)) || 1;
    return new Map(weights.map(([gram, weight]) => [gram, weight / length]));
  };
  const made = { vector, faults: faults.map(one => ({ ...one, vector: vector(one.count) })) };
  spelled.set(book, made);
  return made;
}

// All faults, those that are spelled most like a text first.
function spelledLike(book, text) {
  const { faults, vector } = spelling(book);
  const asked = vector(grams(text));
  const alike = one =>
    [...asked].reduce((sum, [gram, weight]) => sum + weight * (one.vector.get(gram) ?? 0), 0);
  return faults
    .map(one => ({ ...one, score: alike(one) }))
    .sort((one, other) => other.score - one.score);
}

// All faults, those that a text is most like first, as `ranked` gives them. Two rankings are fused
// by their places (reciprocal rank fusion), that of words and that of letters.
function rank(book, text) {
  const byWords = ranked(book, terms(text), namedIn(book, text));
  const places = [byWords, spelledLike(book, text)].map(
    found => new Map(found.map(({ fault }, place) => [fault, place])),
  );
  const fused = ({ fault }) =>
    places.reduce((sum, place) => sum + 1 / (FUSED + place.get(fault)), 0);
  return byWords.sort((one, other) => fused(other) - fused(one));
}

// How much each case is like a text, {href: part of its words' weight}, for the site's search.
function liken(book, text) {
  const found = once(ranked(book, terms(text), namedIn(book, text)));
  return Object.fromEntries(found.map(one => [one.case.href, one.share]));
}

// The three cases that come first in a rank, where nothing fits. None if no word is known.
const guesses = found =>
  found.some(({ plain, score }) => plain && score >= FAINT) ? once(found).slice(0, 3) : [];

const nearest = (book, paste) => guesses(rank(book, paste.text));
