// Makes tables of class "sortable" sort by a click on a head, and adds a search box and drop-downs to those of class
// "filterable": one for the column "Own table" by a class "filter-own-table". Gives cells of class "claims" their heads, for phones.
// Names folds of code; takes captions out of what scrolls, and marks it; brings the page into sight in the list of pages; parts long names in code.
const plain = (cell) => String(cell ?? "").replace(/<[^>]*>/g, "").replace(/(\d),(?=\d{3})/g, "$1").replace("−", "-").trim();
const measured = (cell) => /^[-+]?\d*\.?\d+(e[-+]?\d+)?(?![-\w.])/i.test(plain(cell));  // 0.174 [0.157, 0.191], not 001-01a
DataTable.ext.errMode = "throw";
DataTable.type("measure", { order: {  // by the first number; cells without one come last both ways
  pre: (cell) => measured(cell) ? parseFloat(plain(cell)) : NaN,
  asc: (a, b) => isNaN(a) - isNaN(b) || a - b || 0,
  desc: (a, b) => isNaN(a) - isNaN(b) || b - a || 0,
} });

function headed(element, columns) {  // shown as cards, its parts are those of a table still
  const roles = { "thead, tbody": "rowgroup", tr: "row", th: "columnheader", td: "cell" };
  for (const [parts, role] of Object.entries(roles)) for (const part of element.querySelectorAll(parts)) part.role = role;
  for (const row of element.tBodies[0].rows) columns.forEach(({ name }, i) => row.cells[i].dataset.head = name);
}

for (const element of document.querySelectorAll("table.sortable")) {
  const filterable = element.classList.contains("filterable");
  const columns = Array.from(element.tHead.rows[0].cells, (head, i) => {
    const cells = Array.from(element.tBodies[0].rows, (row) => row.cells[i].textContent.trim());
    const filled = cells.filter((cell) => !/^[-–]?$/.test(cell));
    const type = filled.filter(measured).length > filled.length / 2 ? "measure" : null;
    return { name: head.textContent.trim(), cells, type, width: element.querySelectorAll("col")[i]?.style.width };
  });
  const table = new DataTable(element, {
    autoWidth: false, order: [], paging: false, columns: columns.map(({ type, width }) => ({ type, width })),
    layout: { topStart: filterable && "search", topEnd: filterable && "info", bottomStart: null, bottomEnd: null },
    language: { info: "_TOTAL_ rows", infoEmpty: "No row", infoFiltered: "of _MAX_", search: "Search", zeroRecords: "No row fits." },
  });
  if (element.classList.contains("claims")) headed(element, columns);
  const search = table.table().container().querySelector(".dt-search");
  search?.firstChild.append(search.querySelector("input"));
  columns.forEach(({ name, cells }, i) => {
    if (!filterable || !element.classList.contains(`filter-${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`)) return;
    const choice = document.createElement("select"), label = document.createElement("label");
    choice.append(new Option("all", ""), ...[...new Set(cells)].sort().map((cell) => new Option(cell || "–", cell)));
    choice.onchange = () =>
      table.column(i).search.fixed("choice", (_, row, index) => !choice.selectedIndex || cells[index] === choice.value).draw();
    label.append(name, " ", choice);
    search.append(label);
  });
}

for (const cell of document.querySelectorAll("div.cell")) {  // a fold of code is named by what it makes
  const fold = cell.querySelector(":scope > details.hide > summary");
  if (!fold) continue;
  const numbers = Array.from(cell.querySelectorAll(".caption-number"), (number) => number.textContent.trim());
  const made = numbers.length > 3 ? `${numbers[0]} to ${numbers.at(-1)}` : numbers.join(", ");
  const given = cell.matches(".tag_parameters, .tag_injected-parameters");
  const name = given ? "parameters" : made ? `code of ${made}` : "code";
  fold.removeAttribute("aria-label");
  fold.querySelector(".collapsed").textContent = `Show ${name}`;
  fold.querySelector(".expanded").textContent = `Hide ${name}`;
}

document.querySelectorAll(".pst-scrollable-table-container table > caption").forEach((caption, i) => {
  const line = document.createElement("p"), table = caption.parentElement;
  line.className = "table-caption";
  line.id = `table-caption-${i}`;
  line.append(...caption.childNodes);
  table.closest(".pst-scrollable-table-container").before(line);
  table.setAttribute("aria-labelledby", line.id);
  caption.remove();
});

const BOXES = ".cell_output .text_html, .pst-scrollable-table-container, .dt-layout-table:has(.filterable), .bd-article .highlight pre";
for (const box of document.querySelectorAll(BOXES)) {  // more to the right, or below
  const mark = () => {
    box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
    box.classList.toggle("below", box.scrollTop + box.clientHeight < box.scrollHeight - 4);
  };
  box.addEventListener("scroll", mark, { passive: true });
  new ResizeObserver(mark).observe(box);
}

for (const code of document.querySelectorAll(".bd-article :is(code, .sig) .pre"))  // long names break after dots and underscores
  code.innerHTML = code.innerHTML.replace(/[._]+(?=\w)/g, "$&<wbr>");

addEventListener("load", () => {  // the theme puts the list of pages where it last stood, which may be far from this page
  const list = document.querySelector(".bd-sidebar-primary"), entry = list?.querySelector("li.current > a");
  const away = entry ? entry.getBoundingClientRect().top - list.getBoundingClientRect().top : 0;
  if (away < 0 || away > list.clientHeight - 40) list.scrollTop += away - list.clientHeight / 4;
});
