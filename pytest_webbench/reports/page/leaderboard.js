// The answer in one sentence, and the leaderboard.

function drawAnswer() {
  const ranked = rows().filter((row) => row.metrics[leading][0] != null)
    .sort((a, b) => b.metrics[leading][0] - a.metrics[leading][0]);
  if (!ranked.length) return show("answer", el("h1", null, "Nothing was judged here"));
  const [best, ...others] = ranked;
  const [value, low] = best.metrics[leading];
  const close = others.filter((row) => low != null && row.metrics[leading][2] >= low).map((row) => row.model.name);
  const verb = others.length ? "leads with" : "has";
  const tied = close.length ? ` Its interval overlaps that of ${close.join(", ")}: these samples alone do not rank them.` : "";
  const rate = leading === "pass_at_1" ? "static Pass@1" : "functional Pass@1";
  return show("answer",
    el("h1", null, `${best.model.name} ${verb} ${fixed(value, 3)} ${rate}`),
    el("p", null, `95 % interval ${interval(best.metrics[leading])}, ${plural(best.metrics[leading][3], "judged sample")}, ` +
      `${share(best.metrics[leading][3], best.expected)} of those expected.${tied}`));
}

const metricColumn = (name) => ({
  name, label: metrics.get(name).label, value: (row) => row.metrics[name]?.[0],
  cell: (row) => (metrics.get(name).rate ? rate(row, name) : fixed(row.metrics[name]?.[0], digitsOf(name))),
});
const countColumn = (name, label, limit) => ({
  name, label, value: (row) => (row.n ? row[name] / row.n : null),
  cell: (row) => el("span", { class: row[name] / row.n > limit ? "alert" : null }, share(row[name], row.n)),
});
const COLUMNS = [
  { name: "model", label: "Model", value: (row) => row.model.name, cell: (row) => modelName(row.model) },
  ...data.metrics.map((metric) => metricColumn(metric.name)),
  { name: "n", label: "n", value: (row) => row.n, cell: (row) => String(row.n) },
  { name: "coverage", label: "Coverage", value: (row) => row.coverage,
    cell: (row) => el("span", { class: row.coverage < 0.95 ? "alert" : null }, share(row.n, row.expected)) },
  countColumn("truncated", "Truncated", 0.05),
  countColumn("refused", "Refused", 0.05),
  { name: "cost", label: "Cost USD", value: (row) => row.cost, cell: (row) => money(row.cost) },
  { name: "points_per_cent", label: "Points per US cent", value: (row) => row.points_per_cent,
    cell: (row) => fixed(row.points_per_cent, 1) },
  { name: "size_b", label: "Size", value: (row) => row.model.size_b, cell: (row) => sized(row.model.size_b) },
  { name: "latency_seconds", label: "Seconds", value: (row) => row.latency_seconds,
    cell: (row) => fixed(row.latency_seconds, 1) },
];

function modelName(model) {
  return el("span", { class: "model" }, el("i", { class: "dot", "--color": color(model.name) }),
    el("span", null, model.name, el("small", null, `${model.id} (${model.hosting})`)));
}

function rate(row, name) {
  const [value, low, high, n] = row.metrics[name] ?? [];
  if (value == null) return el("span", { class: "unknown" }, "n/a");
  const range = el("i", { class: "range" });
  if (low != null) Object.assign(range.style, { left: `${100 * low}%`, width: `${100 * (high - low)}%` });
  const bar = el("i", { class: "fill", "--color": color(row.model.name) });
  bar.style.width = `${100 * value}%`;
  return el("span", { class: "rate" }, el("b", null, fixed(value, 3)),
    el("span", { class: "track", "aria-hidden": "true" }, bar, low == null ? null : range),
    el("small", { class: "sub" }, interval(row.metrics[name]), n === row.n ? null : `, n ${n}`));
}

function compare(a, b) {
  if (a == null || b == null) return (a == null) - (b == null);
  const order = typeof a === "string" ? a.localeCompare(b) : a - b;
  return state.descending ? -order : order;
}

function drawLeaderboard() {
  const found = rows();
  const known = (column) => Object.entries(everything).some(([name, row]) =>
    column.value({ ...row, model: data.models[modelIndex.get(name)] }) != null);
  const empty = COLUMNS.filter((column) => !known(column));
  const columns = COLUMNS.filter((column) => !empty.includes(column));
  const sorted = columns.find((column) => column.name === state.sort) ?? columns[0];
  found.sort((a, b) => compare(sorted.value(a), sorted.value(b)));
  const sort = (column) => {
    state.descending = state.sort === column.name ? !state.descending : column.name !== "model";
    state.sort = column.name;
    drawLeaderboard();
    byId("leaderboard").querySelector(`[data-column="${column.name}"]`).focus();
  };
  const order = (column) => (column !== sorted ? "none" : state.descending ? "descending" : "ascending");
  const head = columns.map((column) => el("th", { scope: "col", "aria-sort": order(column) },
    el("button", { type: "button", "data-column": column.name, onclick: () => sort(column) }, column.label),
    metrics.get(column.name)?.similarity ? el("small", { class: "sub" }, "similarity") : null));
  const body = found.map((row) => el("tr", null, columns.map((column, index) =>
    el(index ? "td" : "th", { scope: index ? null : "row" }, column.cell(row)))));
  show("leaderboard", found.length ? scroll("Leaderboard", el("table", null,
    el("thead", null, el("tr", null, head)), el("tbody", null, body))) : hint("No samples match these filters."),
  empty.length ? el("p", { class: "hint" }, `Not measured or not known in this run: ${empty.map((column) => column.label).join(", ")}.`) : null);
}

const scroll = (label, table) => el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, table);

function drawNotices() {
  const shown = new Set(models().map((model) => model.name));
  const lines = [...data.notes, ...data.notices.filter((line) => shown.has(line.split(": ")[0])),
    ...Object.entries(data.excluded).map(([name, reason]) => `${name} is not shown: ${reason}`)];
  show("notices", lines.length ? el("details", { class: "notice", open: lines.length <= 4 ? "" : null },
    el("summary", null, `Beside these figures: ${plural(lines.length, "note")} on the whole run`),
    el("ul", null, lines.map((line) => el("li", null, line)))) : null);
}
