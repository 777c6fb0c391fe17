/* Rank pages higher if their titles contain words from the query, or if they answer questions
   instead of listing names. */
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const plain = (text) => (text.toLowerCase().match(/[a-z0-9]+/g) || []).map((word) => word.replace(/s$/, ""));
    const asked = plain(new URLSearchParams(window.location.search).get("q") || "");
    const words = new Set(plain(title.split(">").pop()));
    const said = asked.filter((word) => words.has(word)).length;
    const answers = /^(howto|tutorials|explanation|start)\/(?!index|glossary)/.test(docname);
    return score + (10 * said) / Math.max(asked.length, 1) + (answers ? 2 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
