// Hits of the search: a page that is named, called or opened so first, pages before functions and single terms, recorded pages before
// their demo twins, and of a page its text alone.
const said = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase().replace(/\s+/g, " ");
const asked = said.replaceAll(" ", "_");
var Scorer = {
  score: (hit) => {
    const [docname, title, anchor, , score] = hit;
    if (!anchor) hit[1] = title.split(" > ")[0]; // what a page is called is none of its sections
    return (
      score +
      (said && title.toLowerCase().endsWith(`> ${said}`) ? 60 : 0) +
      (/^what (is|are) /.test(said) && docname.endsWith("glossary") ? 30 : 0) +
      (asked && docname.split("/").pop().includes(asked) ? 20 : 0) -
      (docname.startsWith("book/api") ? 20 : 0) -
      (anchor.startsWith("#term-") ? 93 : 0) -
      (docname.endsWith("references") ? 14 : 0) -
      (/\/demo\/|changelog|explorer/.test(docname) ? 4 : 0)
    );
  },
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
  const withAll = Search.performTermsSearch;
  Search.performTermsSearch = (terms, excluded) => {
    if (terms.size < 2) return withAll(terms, excluded);
    const pages = new Map(); // those that have some of the words; a word of few pages counts most
    let weights = 0;
    for (const term of terms) {
      const hits = withAll(new Set([term]), excluded);
      const weight = Math.log(1 + Search._index.docnames.length / (hits.length || 1));
      weights += hits.length ? weight : 0;
      for (const hit of hits) {
        hit[4] *= weight;
        if (pages.has(hit[5])) pages.get(hit[5])[4] += hit[4];
        else pages.set(hit[5], hit);
      }
    }
    for (const hit of pages.values()) hit[4] /= weights;
    return [...pages.values()];
  };
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const article = page.querySelector("article") || page.body;
    article.querySelectorAll("script, style, details, table, .cell_input, .headerlink").forEach((part) => part.remove());
    return ((anchor && article.querySelector(anchor)) || article).textContent.replace(/\s+/g, " ");
  };
}
