// Hits of the search: a page that is named or called so first, pages before functions and single terms, recorded pages before
// their demo twins, and of a page its text alone.
const said = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase().replace(/\s+/g, " ");
const asked = said.replaceAll(" ", "_");
var Scorer = {
  score: ([docname, title, anchor, , score]) =>
    score +
    (said && title.toLowerCase().endsWith(`> ${said}`) ? 60 : 0) +
    (asked && docname.split("/").pop().includes(asked) ? 20 : 0) -
    (docname.startsWith("book/api") ? 20 : 0) -
    (anchor.startsWith("#term-") ? 95 : 0) -
    (/\/demo\/|changelog/.test(docname) ? 4 : 0),
  objNameMatch: 3,
  objPartialMatch: 1,
  objPrio: { 0: 0, 1: 0, 2: -5 },
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
