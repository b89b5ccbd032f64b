// Figures to explore: a button under a figure loads Plot and the figure's tables, and draws them (book/_ext/plots.py
// says of each figure which and how). All that a run named is text: it is set as such, never read as HTML.
const TABLES = {};  // the scripts in tables/ fill it
{
const root = new URL(".", document.currentScript.src);
const EXPLORER = new URL("../book/explorer.html", root);
const SYMBOLS = ["circle", "square", "diamond", "triangle", "star", "wye", "cross", "asterisk"];
const COLOURS = SYMBOLS.map((_, i) => `var(--plot-${i + 1})`);
const LINE = 13, SQUARE = 22;  // px from sign to sign, down and across
const NONE = "no model";  // such as of an oracle
const PER_LINE = 15;  // squares, at most

const make = (tag, properties, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
const touched = () => matchMedia("(hover: none)").matches;
const tinted = (colour) => `color-mix(in oklab, ${colour ?? "var(--plot-6)"}, white var(--plot-lift))`;  // the same, lighter in the dark
const distinct = (values) => [...new Set(values)];
const scripts = new Map();
const load = (path) => {
  if (!scripts.has(path)) scripts.set(path, new Promise((onload, onerror) => {
    document.head.append(make("script", { src: new URL(path, root), onload, onerror }));
  }));
  return scripts.get(path);
};
const encoded = (key) => key.split("/").map(encodeURIComponent).join("/");
const fixed = (value, name) =>  // as tables of pages print it
  !Number.isFinite(value) ? "–" : name.startsWith("rank") ? `${value}` : value.toFixed(3);
const said = (row, [name, low, high]) =>
  fixed(row[name], name) + (Number.isFinite(row[low]) ? ` [${fixed(row[low], name)}, ${fixed(row[high], name)}]` : "");

let chosen = "";  // the model that stands out on the whole page, until another is chosen
function highlight(key) {
  for (const node of document.querySelectorAll(".plot [data-key]")) {
    node.classList.toggle("dim", key !== "" && node.dataset.key !== key);
    node.classList.toggle("lit", key !== "" && node.dataset.key === key);
  }
  for (const node of document.querySelectorAll(".sortable .named")) node.classList.remove("named");
  if (key) for (const cell of document.querySelectorAll("table.sortable :is(td, th)")) {
    if (cell.textContent.trim().replace(/ ?[†‡*]$/, "") === key) (cell.closest("tbody tr") ?? cell).classList.add("named");
  }
}

function read(view) {  // the rows of a view as objects; a row of squares is one claim in one column
  const { columns, rows } = TABLES[view.table], names = new Map(Object.entries(view.names));
  view.called = (value) => names.get(`${value}`) ?? `${value ?? ""}`;
  const kept = rows.map((row) => Object.fromEntries(row.map((value, i) => [columns[i], value])))
    .filter((row) => Object.entries(view.where).every(([column, values]) => values.includes(row[column])))
    .sort((one, other) => !one.model - !other.model);  // what is no model, such as an oracle, comes last
  if (view.kind !== "squares") return kept;
  const order = Object.keys(view.signs), last = (verdict) => (order.indexOf(verdict) + order.length + 1) % (order.length + 1);
  const all = Object.keys(view.x), sums = (row) => all.map((column) => String.fromCharCode(97 + last(row[column]))).join("");
  const sorted = d3.sort(kept, ({ paper }) => paper, sums), places = new Map();
  for (const row of sorted) row.$place = (places.set(row.paper, (places.get(row.paper) ?? -1) + 1), places.get(row.paper));
  return sorted.flatMap((row) => all.map((column) => ({ ...row, $column: column })))
    .filter((row) => order.includes(row[row.$column]));
}

function explore(files) {
  const views = JSON.parse(files.dataset.plot), figure = files.previousElementSibling, box = make("div", { className: "plot" });
  const controls = make("div", { className: "plot-controls" }), charts = make("div", { className: "plot-charts" });
  const tip = make("output", { className: "plot-tip", ariaLive: "polite", hidden: true });
  const button = make("button", { type: "button", textContent: "Explore this figure", ariaExpanded: "false" });
  let view, rows, measure, switches, shown = [], armed;
  box.append(controls, charts, tip);
  files.prepend(button, " ");

  const select = (name, options, value, change) => {
    const list = make("select", { ariaLabel: name }, ...options.map(([text, option]) => new Option(text, option, false, option === value)));
    list.onchange = () => change(list.selectedIndex);
    controls.append(make("label", {}, name, " ", list));
    return list;
  };

  function open(which) {  // the controls of a view, then its charts
    view = views[which];
    rows = view.rows ??= read(view);
    box.className = `plot ${view.kind}`;
    const names = Object.keys(view.x), held = controls.contains(document.activeElement);
    controls.replaceChildren();
    if (views.length > 1) select("Show", views.map(({ view: name }, i) => [name, i]), which, open);
    if (held) controls.querySelector("select").focus();
    measure = names[0];
    if (names.length > 1 && !view.beside && view.kind !== "squares")
      select("Measure", names.map((name) => [name, name]), measure, (i) => { measure = names[i]; draw(); });
    switches = {};
    for (const [column, first] of Object.entries(view.switch)) {
      const values = distinct(rows.map((row) => row[column]));
      switches[column] = values.includes(first) ? first : values.at(first === null ? -1 : 0);
      if (values.length > 1) select(view.heads[column], values.map((value) => [view.called(value), value]), switches[column],
        (i) => { switches[column] = values[i]; draw(); });
    }
    const key = view.kind === "squares" ? view.y : "model", keys = distinct(rows.map((row) => row[key])).filter(Boolean);
    const list = select("Highlight", [["none", ""], ...keys.map((name) => [name, name])], chosen, (i) => {
      chosen = i ? keys[i - 1] : "";
      for (const other of document.querySelectorAll("select.plot-highlight")) other.value = chosen;
      highlight(chosen);
    });
    list.className = "plot-highlight";
    draw();
  }

  function draw() {
    const { kind, called } = view, squares = kind === "squares", entries = Object.entries(view.x);
    const fits = rows.filter((row) => Object.entries(switches).every(([column, value]) => row[column] === value));
    const measures = squares ? [[]] : view.beside ? entries : [[measure, view.x[measure]]];
    shown = fits.flatMap((row) => measures.map(([label, ends = []]) => ({
      row, ends, label: view.measured ? called(row[view.measured]) : label,
      value: squares ? row.$place : row[ends[0]], low: row[ends[1]], high: row[ends[2]],
      line: row[view.y], key: row[squares ? view.y : "model"] ?? "",
      panel: [...view.panel.map((column) => called(row[column])), ...(squares ? [view.x[row.$column]] : [])].join(", "),
      series: squares ? row[row.$column]
        : [...(view.beside ? [label] : []), ...view.series.map((column) => called(row[column]))].filter(Boolean).join(", ") || NONE,
    }))).filter(({ value }) => Number.isFinite(value));
    const panels = distinct(shown.map(({ panel }) => panel)), lines = distinct(shown.map(({ line }) => line));
    const series = squares ? Object.keys(view.signs) : kind === "lines"
      ? view.where.rules.filter((rule) => rows.some((row) => row.rules === rule)).map(called) : distinct(shown.map((one) => one.series));
    const place = ({ panel, line }) => `${panel}\n${line}`;
    const levels = d3.rollup(shown, (ones) => series.filter((name) => ones.some((one) => one.series === name)), place);
    for (const one of shown) {  // series of one line stand one above the other, one alone in its middle
      const level = levels.get(place(one));
      one.level = level.indexOf(one.series) - (level.length - 1) / 2;
    }
    const most = kind === "dots" ? d3.max(levels.values(), ({ length }) => length) : 1;
    if (kind === "bars") {
      const ends = new Map();
      for (const one of d3.sort(shown, (one) => series.indexOf(one.series)))
        ends.set(place(one), one.end = (one.start = ends.get(place(one)) ?? 0) + one.value);
      shown = shown.filter(({ value }) => value > 0);
    }
    const wide = Math.max(charts.clientWidth, 240), columns = wide < 560 ? 1 : Math.min(squares ? 3 : 2, panels.length || 1);
    const width = kind === "lines" ? Math.max(wide, 680) : Math.floor((wide - 16 * (columns - 1)) / columns);
    const dotted = (rows) => d3.max(rows, ({ row }) => row[view.line] ?? view.line);  // where a line stands, if any
    const x = d3.extent([0, dotted(shown), ...shown.flatMap(({ value, low, high, end }) => end ?? [value, low ?? value, high ?? value])]);
    charts.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    tip.hidden = true;
    charts.replaceChildren();
    let legend;
    for (const panel of panels) {
      const ones = shown.filter((one) => one.panel === panel);
      const plot = Plot.plot(options(ones, { kind, lines, series, width, x, most, at: dotted(ones) }));
      for (const part of plot.querySelectorAll("g[aria-label]")) part.removeAttribute("aria-label");  // such as "dot"
      plot.setAttribute("role", "group");
      plot.setAttribute("aria-label", [panel, view.axis ?? ones[0].label ?? "claims"].filter(Boolean).join(": "));
      legend ??= series.length > 1 && kind !== "lines" && plot.legend(kind === "dots" ? "symbol" : "color",
        { ...(view.tints && { fill: "var(--plot-6)" }), style: { background: "none", fontSize: "12px" }, ...(squares && { tickFormat: (verdict) => `${view.signs[verdict]} ${verdict}` }) });
      charts.append(make("div", {}, ...(panel ? [make("p", { className: "plot-panel", textContent: panel })] : []), plot));
      for (const node of plot.querySelectorAll(".datum > *")) {
        const link = node.closest("a") ?? node, one = ones[[(node.matches("a") ? node.firstChild : node).__data__].flat()[0]];
        if (one) link.dataset.key = one.key;
        if (!node.matches("a")) continue;
        node.one = one;
        node.setAttribute("tabindex", -1);
        node.setAttribute("aria-label", words(one).join("; "));
      }
    }
    if (!panels.length) charts.append("No row of the table has this.");
    if (legend) charts.prepend(legend);
    links()[0]?.setAttribute("tabindex", 0);
    highlight(chosen);
  }

  function options(ones, { kind, lines, series, width, x, most, at }) {
    const common = { width, marginTop: 6, marginRight: 16, style: { background: "none", fontSize: "12px", overflow: "visible" },
      color: { type: "ordinal", domain: series, range: view.colours?.map((i) => COLOURS[i - 1]) ?? COLOURS },
      symbol: { domain: series, range: SYMBOLS } };
    const mark = { className: "datum" }, hit = { className: "datum hit", fill: "transparent", href: address };
    if (kind === "squares") {
      const per = Math.min(PER_LINE, Math.floor((width - 4) / SQUARE)), deep = Math.floor(d3.max(ones, ({ value }) => value) / per) + 1;
      const place = { x: ({ value }) => value % per, y: ({ value }) => Math.floor(value / per) };
      return { ...common, width: per * SQUARE + 4, height: deep * SQUARE + 4, margin: 2, x: { axis: null, domain: [-0.5, per - 0.5] },
        y: { axis: null, domain: [deep - 0.5, -0.5] }, marks: [
          Plot.dot(ones, { ...place, ...mark, symbol: () => "square", r: 10, fill: "series" }),
          Plot.text(ones, { ...place, ...mark, text: ({ series: verdict }) => view.signs[verdict], fill: "var(--pst-color-background)" }),
          Plot.dot(ones, { ...place, r: 11, ...hit })] };
    }
    const tint = (own) => view.tints ? { value: ({ key }) => tinted(view.tints[key]), scale: null } : own;
    const point = { x: "series", y: "value" };
    const named = (inset, side) => Plot.text(ones.filter((one) => one.series === series.at(inset)), {
      ...point, text: "key", textAnchor: side, dx: side === "end" ? -10 : 10, ...mark });
    if (kind === "lines") return { ...common, height: lines.length * 22 + 40, margin: 36, marginTop: 36, marginLeft: 110, marginRight: 110,
      x: { type: "point", domain: series, label: null }, y: { reverse: true, axis: null }, marks: [
        Plot.axisX({ anchor: "top", lineWidth: 5, label: null }),
        Plot.line(ones, { ...point, z: "key", sort: ({ series: rule }) => series.indexOf(rule), stroke: tint("var(--plot-8)"), className: "datum line" }),
        Plot.dot(ones, { ...point, r: 3.5, fill: tint("var(--plot-1)"), ...mark }), named(0, "end"), named(-1, "start"),
        Plot.dot(ones, { ...point, r: 10, ...hit })] };
    const longest = d3.max(lines, (line) => view.called(line).length) ?? 0, marginLeft = Math.ceil(Math.min(longest * 6.6 + 14, width * 0.5));
    const step = LINE * Math.max(2, most > 1 ? most + 0.6 : 0);
    const scales = { ...common, marginLeft, height: lines.length * step + 46, marginBottom: 36, y: { domain: [lines.length - 0.5, -0.5], axis: null },
      x: { domain: [x[0], x[1] || 1], label: view.axis ?? ones[0].label, nice: true, ticks: Math.round(width / 90), grid: true } };
    const names = Plot.axisY(d3.range(lines.length), { label: null, tickSize: 0, fontSize: 11, lineHeight: 1, lineWidth: (marginLeft - 12) / 11,
      textOverflow: lines.some((line) => /\S{18}/.test(line)) ? "ellipsis" : null,
      tickFormat: (i) => view.called(lines[i]).replace(/ (\d+)$/, "\u00a0$1") || NONE });
    const dotted = Number.isFinite(at) ? [Plot.ruleX([at], { strokeDasharray: "2,3", stroke: "currentColor" })] : [];
    if (kind === "bars") {
      const place = { x1: "start", x2: "end", y1: ({ line }) => lines.indexOf(line) - 0.36, y2: ({ line }) => lines.indexOf(line) + 0.36 };
      return { ...scales, marks: [names, Plot.rect(ones, { ...place, fill: "series", stroke: "var(--pst-color-background)", ...mark }), ...dotted,
        Plot.rect(ones, { ...place, ...hit })] };
    }
    const y = ({ line, level }) => lines.indexOf(line) + level * LINE / step;
    return { ...scales, marks: [names, Plot.ruleX([0], { stroke: "currentColor", strokeOpacity: 0.4 }), ...dotted,
      Plot.ruleY(ones, { y, x1: "low", x2: "high", stroke: tint("series"), strokeWidth: 1.6, ...mark }),
      Plot.dot(ones, { x: "value", y, fill: tint("series"), symbol: "series", r: 4.5, ...mark }),
      Plot.dot(ones, { x: "value", y, r: 11, ...hit })] };
  }

  function words({ row, label, ends, key, line, series }) {
    if (view.kind === "squares")
      return [`${row.id}, ${view.x[row.$column]}: ${series}`, row.statement, row[`${row.$column}_reason`]].filter(Boolean);
    const also = Object.entries(view.also ?? {}).map(([name, ends]) => `${name}: ${said(row, ends)}`);
    const counted = (view.n ?? []).filter((name) => Number.isFinite(row[name])).map((name) =>
      name === "n" ? `n = ${row[name]}` : `${row[name].toLocaleString("en")} ${name.replaceAll("_", " ")}`);
    const told = distinct([line, key, ...[...view.panel, ...view.series].map((column) => row[column])]);
    return [told.map(view.called).filter(Boolean).join(", "), `${label}: ${said(row, ends)}`, ...also, counted.join(", ")].filter(Boolean);
  }

  function address({ row }) {  // the explorer with the rows of a mark
    const columns = view.kind === "squares" ? ["id"] : distinct([view.y, "model", ...view.panel, ...view.series, ...Object.keys(view.switch)]);
    const filters = columns.filter((column) => row[column]).map((column) => [column, `=${row[column]}`]);
    return `${EXPLORER.href}#${encoded(view.table)}?${new URLSearchParams(filters)}`;
  }

  const focused = () => charts.querySelector(".hit a:focus");
  const links = () => [...charts.querySelectorAll(".hit a")];
  function tell(link) {
    if (tip.hidden && !link) return;
    tip.hidden = !link;
    highlight(link?.one.key || chosen);
    if (!link) return;
    tip.replaceChildren(...words(link.one).map((text, i) => make(i ? "span" : "strong", { textContent: text })),
      make("small", { textContent: `${touched() ? "Tap again" : "Click"} for its row in the explorer` }));
    const mark = link.getBoundingClientRect(), frame = box.getBoundingClientRect(), { offsetWidth: wide, offsetHeight: high } = tip;
    const above = mark.top - frame.top - high - 6, left = mark.left + mark.width / 2 - frame.left - wide / 2;
    tip.style.left = `${Math.max(0, Math.min(left, frame.width - wide))}px`;
    tip.style.top = `${mark.top - high - 6 > 60 ? above : mark.bottom - frame.top + 6}px`;
  }
  charts.addEventListener("pointerover", (event) => tell(event.target.closest(".hit a") ?? focused()));
  charts.addEventListener("pointerleave", () => tell(focused()));
  charts.addEventListener("focusin", (event) => {
    const link = event.target.closest(".hit a");
    if (!link) return;
    for (const other of links()) other.setAttribute("tabindex", other === link ? 0 : -1);
    tell(link);
  });
  charts.addEventListener("focusout", () => tell(null));
  charts.addEventListener("click", (event) => {  // the first tap shows the value
    const link = event.target.closest(".hit a");
    if (link && touched() && armed !== link) event.preventDefault(), tell(armed = link);
  });
  charts.addEventListener("keydown", (event) => {
    const all = links(), at = all.indexOf(event.target.closest(".hit a"));
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape") tell(null);
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    all[Math.max(0, Math.min(to, all.length - 1))].focus();
  });

  let drawn = 0;
  new ResizeObserver(() => {  // a turned phone
    if (box.isConnected && view && Math.abs(charts.clientWidth - drawn) > 1) drawn = charts.clientWidth, draw();
  }).observe(charts);
  button.onclick = async () => {
    const opening = !figure.classList.contains("explored");
    button.ariaBusy = "true";
    try {
      if (opening) await load("vendor/d3/d3.min.js").then(() => load("vendor/plot/plot.umd.min.js"));
      if (opening) await Promise.all(views.map(({ table }) => load(`tables/${encoded(table)}.js`)));
    } catch {
      return files.append(" The data of this figure could not be loaded.");
    } finally {
      button.ariaBusy = "false";
    }
    button.textContent = opening ? "Back to the still figure" : "Explore this figure";
    button.ariaExpanded = `${opening}`;
    figure.classList.toggle("explored", opening);
    if (opening) figure.prepend(box), drawn = charts.clientWidth, open(0);
    else box.remove(), highlight(chosen = document.querySelector(".plot") ? chosen : "");
  };
}
for (const files of document.querySelectorAll(".figure-files[data-plot]")) explore(files);
}
