// Sphinx's search, with its own weights; a case whose own message holds the words that are searched comes first.
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0, title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([docname, , , , score]) => {
    const words = letters(new URLSearchParams(location.search).get("q") ?? "");
    const one = BOOK.cases.find(({ href }) => href === `../${docname}.html`);
    return score + (words.length > 5 && one?.messages.some(({ own, text }) => own && letters(text).includes(words)) ? 100 : 0);
  },
};
