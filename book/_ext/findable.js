// Hits of the search: pages before functions, recorded pages before their demo twins, and of a page its text alone.
var Scorer = {
  score: ([docname, , , , score]) =>
    score - (docname.startsWith("book/api") ? 20 : 0) - (/\/demo\/|changelog/.test(docname) ? 4 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

if (typeof Search !== "undefined") {
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const article = page.querySelector("article") || page.body;
    article.querySelectorAll("script, style, details, table, .cell_input, .headerlink").forEach((part) => part.remove());
    return ((anchor && article.querySelector(anchor)) || article).textContent.replace(/\s+/g, " ");
  };
}
