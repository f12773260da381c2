// Which faults a text is most like, where no message decides: MiniSearch over runs of letters,
// which see endings, misspelt words and parts of names alike. No page is touched here.

const FIELDS = { heard: 0.8, see: 1.5, title: 1, said: 0.6, act: 0.4 }; // weights
const FEW = 6; // runs that a text needs to say something: "Killed" has 5
const SHARE = 0.25; // of a text's runs that the first fault must have to be a guess
const LONGEST = 2000; // runs of a text that are looked at

const runs = (text, size) => [...text].slice(size - 1).map((_, n) => text.slice(n, n + size));

// The runs of a text, each once: two letters of Chinese, four of others.
function runsOf(text) {
  const said = text.toLowerCase().replace(/https?:\/\/\S+/g, " ");
  const chinese = said.match(/[\u3400-\u9fff]+/g) ?? [];
  const others = ` ${said.replace(/[^a-z\d]+/g, " ").trim()} `;
  const found = [...chinese.flatMap(part => runs(part, 2)), ...runs(others, 4)];
  return [...new Set(found)].slice(0, LONGEST);
}

// The faults of the book by their words: what people call them, what is seen, the title of the
// case, its messages and its cure.
const documents = book =>
  book.cases.flatMap(one =>
    Object.entries(one.faults).map(([id, fault]) => ({
      id: `${one.number}-${id}`,
      case: one,
      fault,
      heard: fault.heard.join("\n"),
      see: `${fault.see} ${one.kind}`,
      title: one.title,
      said: one.messages.map(message => (message.fault === id ? message.text : "")).join("\n"),
      act: fault.do,
    })),
  );

let index; // a page has one book

function indexed(book) {
  if (index) return index;
  index = new MiniSearch({
    fields: Object.keys(FIELDS),
    storeFields: ["case", "fault"],
    tokenize: runsOf,
    searchOptions: { boost: FIELDS, bm25: { k: 1.2, b: 0.7, d: 0 } },
  });
  index.addAll(documents(book));
  return index;
}

// The faults that a text is like, the most like it first, with how many runs were `asked` for and
// the `share` of them that they have.
function rank(book, text) {
  const asked = runsOf(text).length;
  const found = indexed(book).search(text);
  return found.map(one => ({ ...one, asked, share: one.queryTerms.length / asked }));
}

// Those of some faults whose case stands in none before.
const once = found =>
  found.filter((one, n) => found.findIndex(other => other.case === one.case) === n);

// How much each case is like a text, {href: up to 1}, for the site's search: the first as much as
// it has of the text, the others less.
function liken(book, text) {
  const found = once(rank(book, text));
  const best = ({ score }) => (found[0].share * score) / found[0].score;
  return Object.fromEntries(found.map(one => [one.case.href, best(one)]));
}

// The three cases that come first in a rank, where nothing fits. None if the text is too short, or
// the first too unlike.
const guesses = found =>
  found[0]?.asked >= FEW && found[0].share >= SHARE ? once(found).slice(0, 3) : [];

const nearest = (book, paste) => guesses(rank(book, paste.text));
