// Heat map, score against cost, time and size, prompt templates, failures.

function drawHeat() {
  const name = state.metric;
  const frameworks = data.filters.framework.filter((value) => !state.framework || value === state.framework);
  const found = frameworks.map((framework) => slice({ framework }));
  if (!models().some((model) => found.some((item) => item[model.name]))) return show("heat", hint("No samples match these filters."));
  return show("heat", scroll("Model by framework", el("table", { class: "heat" },
    el("thead", null, el("tr", null, el("th", null), frameworks.map((value) => el("th", { scope: "col" }, value)))),
    el("tbody", null, models().map((model) => el("tr", null, el("th", { scope: "row" }, modelName(model)),
      found.map((item) => el("td", null, heatCell(item[model.name], name)))))))),
  similarityNote(name));
}

function heatCell(row, name) {
  const estimate = row?.metrics[name];
  if (estimate?.[0] == null) return el("div", { class: "blank" }, "n/a");
  return el("div", { class: "tint", "--level": estimate[0] / rangeOf(name) }, el("b", null, fixed(estimate[0], digitsOf(name))),
    el("small", { class: "sub" }, `${interval(estimate, name === "points" ? 0 : 2)} n ${estimate[3]}`));
}

const similarityNote = (name) => (metrics.get(name).similarity
  ? hint(`${metrics.get(name).label} is similarity to the reference, not correctness.`) : null);

function scatter(id, unit, valueOf, format) {
  const name = state.metric;
  const all = rows().filter((row) => row.metrics[name]?.[0] != null);
  const points = all.filter((row) => valueOf(row) != null).map((row) => ({ row, x: valueOf(row) }));
  const unknown = all.filter((row) => valueOf(row) == null).map((row) => row.model.name);
  const note = unknown.length ? hint(`Not known, so not drawn: ${unknown.join(", ")}.`) : null;
  if (!points.length) return show(id, note ?? hint("No samples match these filters."));
  const width = widthOf(id);
  const box = { left: 34, right: width, top: 10, bottom: 250 };
  const scale = axis(points.map((point) => point.x), box.left + 22, box.right - 100);
  const y = (value) => box.bottom - (value / rangeOf(name)) * (box.bottom - box.top);
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => [
    svg("line", { class: "axis", x1: box.left, x2: box.right, y1: y(part * rangeOf(name)), y2: y(part * rangeOf(name)) }),
    svg("text", { x: box.left - 8, y: y(part * rangeOf(name)) + 4, "text-anchor": "end" }, String(part * rangeOf(name)))]);
  const ticks = scale.ticks.map((tick) => svg("text", { x: scale.at(tick), y: box.bottom + 18, "text-anchor": "middle" }, format(tick)));
  const label = `${metrics.get(name).label} against ${unit}`;
  const said = points.map(({ row, x }) => `${row.model.name}: ${fixed(row.metrics[name][0], digitsOf(name))} at ${format(x)}`);
  return show(id, svg("svg", { viewBox: `0 0 ${width} 294`, role: "img", "aria-label": `${label}. ${said.join("; ")}` }, grid, ticks,
    svg("text", { x: (box.left + box.right) / 2, y: box.bottom + 38, "text-anchor": "middle" }, unit + (scale.log ? ", log scale" : "")),
    marks(points, name, scale, y)), note, similarityNote(name));
}

const widthOf = (id) => Math.max(byId(id).clientWidth, 280);

function marks(points, name, scale, y) {
  const placed = [];
  return [...points].sort((a, b) => b.row.metrics[name][0] - a.row.metrics[name][0]).map(({ row, x }) => {
    const [value, low, high] = row.metrics[name];
    const at = { x: scale.at(x), y: y(value) };
    const label = { x: at.x + 10, y: at.y + 4 };
    while (placed.some((other) => Math.abs(other.y - label.y) < 14 && Math.abs(other.x - label.x) < 90)) label.y += 14;
    placed.push(label);
    return svg("g", { "--color": color(row.model.name) },
      low == null ? null : svg("line", { class: "whisker", x1: at.x, x2: at.x, y1: y(low), y2: y(high) }),
      svg("circle", { class: "point", cx: at.x, cy: at.y, r: 6 }, svg("title", null, `${row.model.name} ${fixed(value, 3)} ${interval(row.metrics[name])}`)),
      svg("text", { class: "name", x: label.x, y: label.y }, row.model.name));
  });
}

function axis(values, left, right) {
  const positive = values.filter((value) => value > 0);
  const low = Math.min(...positive), high = Math.max(...positive, 0);
  if (!positive.length) return { log: false, ticks: [0], at: () => left };
  if (high / low < 8) {
    const step = niceStep(high);
    const ticks = Array.from({ length: Math.floor((high * 1.02) / step) + 1 }, (_, index) => index * step);
    return { log: false, ticks, at: (value) => left + (value / high) * (right - left) };
  }
  const zeros = positive.length < values.length;
  const start = zeros ? left + 60 : left;
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  const at = (value) => (value > 0 ? start + ((Math.log10(value) - from) / (to - from)) * (right - start) : left);
  return { log: true, ticks: zeros ? [0, ...ticks] : ticks, at };
}

function niceStep(high) {
  const power = 10 ** Math.floor(Math.log10(high / 4));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => high / step <= 5);
}

function drawTemplates() {
  const name = state.metric;
  const templates = data.filters.template.filter((value) => !state.template || value === state.template);
  const found = templates.map((template) => [template, rows({ template }).filter((row) => row.metrics[name]?.[0] != null)])
    .filter(([, group]) => group.length);
  if (!found.length) return show("templates", hint("No samples match these filters."));
  const width = widthOf("templates");
  const [left, right] = [6, width - 135];
  const x = (value) => left + (value / rangeOf(name)) * (right - left);
  let y = 6;
  const groups = found.map(([template, group]) => {
    const title = svg("text", { class: "name", x: 0, y: y += 18 }, template);
    const lines = group.map((row) => {
      const [value, low, high] = row.metrics[name];
      y += 19;
      return svg("g", { "--color": color(row.model.name) },
        svg("line", { class: "axis", x1: left, x2: right, y1: y, y2: y }),
        low == null ? null : svg("line", { class: "whisker", x1: x(low), x2: x(high), y1: y, y2: y }),
        svg("circle", { class: "point", cx: x(value), cy: y, r: 5 }),
        svg("text", { x: right + 10, y: y + 4 }, `${fixed(value, digitsOf(name))} ${row.model.name}`));
    });
    y += 12;
    return [title, lines];
  });
  const ends = [0, 0.5, 1].map((part) => svg("text", { x: x(part * rangeOf(name)), y: y + 10, "text-anchor": "middle" }, String(part * rangeOf(name))));
  return show("templates", svg("svg", { viewBox: `0 0 ${width} ${y + 16}`, role: "img", "aria-label": `${metrics.get(name).label} by prompt template` },
    groups, ends), hint(`${metrics.get(name).label} with its 95 % interval.`));
}

function drawFailures() {
  const counts = new Map();
  const totals = new Map();
  for (const [, model, , expected, , passed, failures] of cells()) {
    const own = counts.get(model) ?? { passed: 0, expected: 0, failures: {} };
    counts.set(model, own);
    own.passed += passed;
    own.expected += expected;
    for (const [kind, count] of Object.entries(failures)) {
      own.failures[kind] = (own.failures[kind] ?? 0) + count;
      totals.set(kind, (totals.get(kind) ?? 0) + count);
    }
  }
  if (!totals.size) return show("failures", hint(counts.size ? "Every sample passed." : "No samples match these filters."));
  const kinds = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
  const hue = (kind) => (kinds.indexOf(kind) < 7 ? `var(--c${[1, 3, 4, 5, 6, 7, 0][kinds.indexOf(kind)]})` : "var(--none)");
  const label = (kind) => kind.replace("model_failure:", "").replace(":", ": ").replaceAll("_", " ");
  const bar = (own) => [["passed", own.passed, "var(--c2)"], ...kinds.map((kind) => [label(kind), own.failures[kind] ?? 0, hue(kind)])]
    .filter(([, count]) => count).map(([name, count, background]) =>
      el("i", { "--color": background, "--share": count, title: `${name}: ${count} of ${own.expected}` }));
  const table = el("table", null,
    el("thead", null, el("tr", null, el("th", null, "Failure"), [...counts.keys()].map((model) => el("th", { scope: "col" }, model)))),
    el("tbody", null, kinds.map((kind) => el("tr", null, el("th", { scope: "row" }, label(kind)),
      [...counts.values()].map((own) => el("td", null, String(own.failures[kind] ?? 0)))))));
  return show("failures",
    ranking.filter((model) => counts.has(model.name)).map(({ name: model }) => [model, counts.get(model)]).map(([model, own]) => [el("div", null, model, " ", el("span", { class: "sub" }, `${own.passed} of ${own.expected} passed`)),
      el("div", { class: "stack", "aria-hidden": "true" }, bar(own))]),
    el("ul", { class: "legend" }, [["passed", "var(--c2)"], ...kinds.map((kind) => [label(kind), hue(kind)])]
      .map(([name, background]) => el("li", null, el("i", { class: "dot", "--color": background }), name))),
    el("details", { class: "hint" }, el("summary", null, "Counts"), scroll("Failure counts", table)));
}
