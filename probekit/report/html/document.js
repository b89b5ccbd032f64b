// A click on a head of a table of class "sortable" sorts it by the first number of each cell, or else by its words.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = Array.from(table.tHead?.rows[0]?.cells ?? []);
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const words = (row) => row.cells[column].textContent.trim().replace(/(\d),(?=\d{3})/g, "$1").replace("−", "-");
    const number = (row) => /^[-+]?\d*\.?\d+(?![-\w.])/.test(words(row)) ? parseFloat(words(row)) : NaN;
    const rows = Array.from(table.tBodies[0].rows);
    const counted = rows.filter((row) => !isNaN(number(row))).length > rows.length / 2;
    const compared = (a, b) => counted ? number(a) - number(b) : words(a).localeCompare(words(b));
    const last = (row) => counted && isNaN(number(row));  // cells without a number come last both ways
    rows.sort((a, b) => last(a) - last(b) || (down ? -1 : 1) * (compared(a, b) || 0));
    table.tBodies[0].append(...rows);
  }));
}
// Over a table of class "filterable" stands a box: rows without each of its words are hidden.
for (const table of document.querySelectorAll("table.filterable")) {
  const box = Object.assign(document.createElement("input"), { type: "search", placeholder: "Filter rows" });
  box.setAttribute("aria-label", "Filter rows");
  const count = Object.assign(document.createElement("output"), { className: "found" });
  const rows = Array.from(table.tBodies[0].rows);
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    count.textContent = ` ${rows.filter((row) => !row.hidden).length.toLocaleString()} rows`;
  };
  box.addEventListener("input", filter);
  table.parentElement.before(box, count);
  filter();
}
