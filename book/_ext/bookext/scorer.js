// Sphinx's search, with the book's own order: a case whose message has the words that are searched,
// then cases that people describe in these words, then other pages. A case shows its number.
const searched = () => new URLSearchParams(location.search).get("q") ?? "";
const OWN = 100;
const LIKE = 60;
const ASIDE = -20; // pages about the book
let alike;

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: result => {
    const [docname, title, , , score] = result;
    const one = BOOK.cases.find(({ href }) => href === `../${docname}.html`);
    if (!one) return score + ASIDE;
    result[1] = `${one.number} ${title}`;
    const words = letters(searched());
    const says = ({ text }) => letters(text).includes(words);
    alike ??= liken(BOOK, searched());
    const own = words.length > 5 && one.messages.some(says);
    return score + LIKE * (alike[one.href] ?? 0) + (own ? OWN : 0);
  },
};
