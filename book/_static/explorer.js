// The explorer: the fragment of the address names a table, whose script is loaded, and after a question mark what its
// filters hold, such as #12_accuracy/accuracy?model==Untuned: a second sign of equality asks for the whole cell.
const TABLES = {};  // the scripts in _static/tables fill it
const view = document.getElementById("table-view"), list = document.getElementById("table-list");
const links = new Map(Array.from(list.querySelectorAll("a.open"), (a) => [a.hash, a]));
for (const link of links.values()) link.removeAttribute("id");  // from now on the fragment opens a table

const make = (tag, properties, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
const shown = (v) => typeof v !== "number" ? v ?? "" : Math.abs(v) >= 1000 ? Math.round(v) : +v.toPrecision(4);
const searched = (v) => typeof v === "number" ? `${shown(v)} ${v}` : v ?? "";

function condition(text, numeric) {  // what the text in a filter asks of a value
  const bound = (end, none) => end.trim() ? +end : none;
  const [range, low, high] = numeric && text.match(/^(.*)\.\.(.*)$/) || [];
  if (range) return (v) => v !== null && v >= bound(low, -Infinity) && v <= bound(high, Infinity);
  const [, sign, end] = numeric && text.match(/^\s*([<>]=?|=)(.*)$/) || [];
  const tests = { "<": (v) => v < +end, "<=": (v) => v <= +end, ">": (v) => v > +end, ">=": (v) => v >= +end, "=": (v) => v === +end };
  if (sign) return (v) => !end.trim() || (v !== null && tests[sign](v));
  if (text.startsWith("=")) return (v) => `${v ?? ""}` === text.slice(1);
  return (v) => searched(v).toLowerCase().includes(text.trim().toLowerCase());
}

function file(columns, rows) {  // the address of a CSV
  const cell = (v) => /[",\r\n]/.test(v ??= "") ? `"${v.replaceAll('"', '""')}"` : v;
  const lines = [columns, ...rows].map((row) => row.map(cell).join(",") + "\n");
  return URL.createObjectURL(new Blob(lines, { type: "text/csv" }));
}

function show({ columns, numeric, rows }, name, given) {
  const filters = columns.map((column, i) => make("input", {
    type: "search", size: 6, value: given.get(column) ?? "", placeholder: numeric[i] ? ">0.5" : "contains", ariaLabel: `Filter ${column}`,
  }));
  const save = make("button", { textContent: "These rows as CSV" });
  const element = make("table", { className: "table" });
  view.append(element);
  const escape = DataTable.util.escapeHtml;
  const table = new DataTable(element, {
    autoWidth: false, order: [], pageLength: 50, data: rows,
    columns: columns.map((column, i) => ({
      title: escape(column), ariaTitle: column, type: numeric[i] ? "measure" : "string", className: numeric[i] ? "dt-type-numeric" : "",
      render: (v, kind) => kind === "display" ? escape(`${shown(v)}`) : kind === "filter" ? escape(searched(v)) : v,
      createdCell: (cell, v) => { if (numeric[i] && shown(v) !== (v ?? "")) cell.title = v; },
    })),
    layout: { topStart: "search", topEnd: "info", bottomStart: () => save, bottomEnd: { paging: { firstLast: false } } },
    language: {
      info: "Rows _START_ to _END_ of _TOTAL_", infoEmpty: "No row", infoFiltered: "found among _MAX_", search: "Search all columns",
      emptyTable: "The table has no rows.", zeroRecords: "No row fits.",
    },
  });
  element.tHead.append(make("tr", { className: "filters" }, ...filters.map((filter) => make("td", {}, filter))));
  const filter = element.tHead.oninput = () => {
    const conditions = filters.map((filter, i) => filter.value.trim() ? condition(filter.value, numeric[i]) : null);
    table.search.fixed("columns", (_, row) => conditions.every((fits, i) => !fits || fits(row[i]))).draw();
  };
  filter();
  save.onclick = () => make("a", {
    href: file(columns, table.rows({ search: "applied" }).data().toArray()), download: `${name}.csv`,
  }).click();
}

async function openTable() {
  const asked = location.hash, [hash, query] = asked.split("?"), link = links.get(hash);
  view.replaceChildren();
  list.open = !link;
  if (!link) return;
  const key = decodeURIComponent(hash.slice(1));
  if (!TABLES[key]) await new Promise((onload, onerror) => {
    document.head.append(make("script", { src: `../_static/tables/${hash.slice(1)}.js`, onload, onerror }));
  });
  if (asked !== location.hash) return;  // another table was chosen meanwhile
  const group = link.closest("details"), page = group.querySelector(":scope > p") ?? group.querySelector("summary");
  const title = make("h2", { tabIndex: -1, textContent: link.textContent });
  const file = link.closest("li").querySelector("a.download"), kind = file.textContent.trim();
  const all = make("a", { href: file.href, download: "", textContent: `All rows as ${kind}` });
  const part = kind === "CSV" ? "" : " (of many, a sample by prompt is shown here; recorded pages keep no texts of other people, your own run does)";
  view.append(title, make("p", {}, ...page.cloneNode(true).childNodes, " · ", all, part));
  show(TABLES[key], link.textContent, new URLSearchParams(query));
  title.focus();
  title.scrollIntoView();
}

const find = make("input", { type: "search", placeholder: "Find a table or a column", ariaLabel: "Find a table or a column" });
find.oninput = () => {
  const words = find.value.toLowerCase().split(/\s+/);
  for (const group of list.querySelectorAll("details")) {
    const page = group.querySelector("summary").textContent;
    const hits = [...group.querySelectorAll("li")].filter((item) => {
      const text = `${page} ${item.textContent}`.toLowerCase();
      return !(item.hidden = !words.every((word) => text.includes(word)));
    });
    group.hidden = !hits.length;
    group.open = find.value && hits.length;
  }
};
if (links.size) list.querySelector("summary").after(find);
addEventListener("hashchange", openTable);
openTable();
