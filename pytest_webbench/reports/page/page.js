"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const metrics = new Map(data.metrics.map((metric) => [metric.name, metric]));
  const everything = rowsOf("\n\n\n");
  const measured = (name) => Object.values(everything).some((row) => row.metrics[name]?.[0] != null);
  const leading = ["functional_pass_at_1", "pass_at_1"].find(measured) ?? "functional_pass_at_1";
  const state = {
    framework: "", category: "", difficulty: "", template: "", hosting: "",
    metric: leading, sort: leading, descending: true,
  };
  const FILTERS = { framework: "Framework", category: "Category", difficulty: "Difficulty", template: "Template" };
  const STATUS = {
    passed: "passed", model_failure: "model failure", blocked: "blocked", failed: "failed", not_assessed: "not assessed",
    infrastructure_error: "infrastructure error", config_error: "configuration error",
  };

  // ---- elements: text is only ever set as text, so nothing that a model wrote becomes markup

  const byId = (id) => document.getElementById(id);
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name.startsWith("--")) element.style.setProperty(name, value);
      else if (value != null) element.setAttribute(name, value);
    }
    element.append(...nodes(children));
    return element;
  }

  const nodes = (children) => children.flat(Infinity).filter((child) => child != null);
  const show = (id, ...children) => byId(id).replaceChildren(...nodes(children));
  const hint = (text) => el("p", { class: "empty" }, text);

  // ---- values: unknown is said, never 0

  const fixed = (value, digits) => (value == null ? "n/a" : value.toFixed(digits));
  const share = (count, n) => (n ? `${Math.round((100 * count) / n)} %` : "n/a");
  const digitsOf = (name) => (name === "points" ? 1 : 3);
  const rangeOf = (name) => metrics.get(name).scale;
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const interval = ([, low, high], digits = 2) => (low == null ? "" : `[${low.toFixed(digits)}, ${high.toFixed(digits)}]`);

  function money(value) {
    if (value == null) return "n/a";
    return value === 0 ? "0" : value >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
  }

  // ---- what is chosen

  const modelIndex = new Map(data.models.map((model, index) => [model.name, index]));
  const color = (name) => `var(--c${modelIndex.get(name) % 8})`;
  const rank = (model) => (data.ranking.includes(model.name) ? data.ranking.indexOf(model.name) : data.ranking.length);
  const ranking = data.models.filter((model) => !(model.name in data.excluded)).sort((a, b) => rank(a) - rank(b));
  const models = () => ranking.filter((model) => !state.hosting || model.hosting === state.hosting);
  const cases = () => data.cases.filter((item) => ["framework", "category", "difficulty"].every(
    (name) => !state[name] || item[name] === state[name]));

  function rowsOf(key) {
    return Object.fromEntries(Object.entries(data.slices[key] ?? {}).map(([name, index]) => [name, data.rows[index]]));
  }

  function slice(choice = {}) {
    const chosen = { ...state, ...choice };
    return rowsOf(Object.keys(FILTERS).map((name) => chosen[name]).join("\n"));
  }

  const rows = (choice) => {
    const found = slice(choice);
    return models().filter((model) => found[model.name]).map((model) => ({ model, ...found[model.name] }));
  };

  function cells() {
    const kept = new Set(cases().map((item) => item.name));
    const shown = new Set(models().map((model) => model.name));
    return data.cells.filter(([name, model, template]) =>
      kept.has(name) && shown.has(model) && (!state.template || template === state.template));
  }

  // ---- filters

  function select(name, label, options, change) {
    const choice = el("select", { name, onchange: (event) => change(event.target.value) },
      options.map(([value, text]) => el("option", { value }, text)));
    choice.value = state[name];
    return el("label", null, label, choice);
  }

  function drawFilters() {
    const choices = Object.entries(FILTERS).map(([name, label]) =>
      select(name, label, [["", "All"], ...data.filters[name].map((value) => [value, value])], (value) => choose(name, value)));
    const hostings = [...new Set(data.models.map((model) => model.hosting))];
    if (hostings.length > 1) {
      choices.push(select("hosting", "Hosting", [["", "All"], ...hostings.map((value) => [value, value])],
        (value) => choose("hosting", value)));
    }
    const reset = el("button", { type: "reset" }, "Reset");
    show("filters", choices, reset, el("p", { class: "count", "aria-live": "polite", id: "count" }));
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    reset.addEventListener("click", () => {
      for (const name of [...Object.keys(FILTERS), "hosting"]) state[name] = "";
      drawFilters();
      draw();
    });
    show("metric", select("metric", "Metric", data.metrics.filter((metric) => measured(metric.name))
      .map((metric) => [metric.name, metric.label]), (value) => choose("metric", value)));
  }

  function choose(name, value) {
    state[name] = value;
    draw();
  }

  // ---- the answer in one sentence

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

  // ---- leaderboard

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
    { name: "latency_seconds", label: "Seconds", value: (row) => row.latency_seconds,
      cell: (row) => fixed(row.latency_seconds, 1) },
  ];

  function modelName(model) {
    const size = model.size_b ? `, ${model.size_b} B` : "";
    return el("span", { class: "model" }, el("i", { class: "dot", "--color": color(model.name) }),
      el("span", null, model.name, el("small", null, `${model.id} (${model.hosting}${size})`)));
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
    const empty = COLUMNS.filter((column) => metrics.has(column.name) && !measured(column.name));
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
    empty.length ? el("p", { class: "hint" }, `Not measured in this run: ${empty.map((column) => column.label).join(", ")}.`) : null);
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

  // ---- heat map

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

  // ---- score against cost and time

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

  // ---- two models against each other

  const pair = { a: ranking[1]?.name, b: ranking[0]?.name };

  function drawComparison() {
    byId("comparison").closest("section").hidden = ranking.length < 2;
    if (ranking.length < 2) return;
    const side = (name, label) => {
      const choice = el("select", { onchange: (event) => { pair[name] = event.target.value; drawComparison(); } },
        ranking.map((model) => el("option", { value: model.name }, model.name)));
      choice.value = pair[name];
      return el("label", null, label, choice);
    };
    const changes = comparison(pair.a, pair.b);
    show("pair", side("a", "From"), side("b", "To"));
    if (!changes) return show("comparison", hint("Choose two different models."));
    const named = data.metrics.filter((metric) => changes[metric.name].cases);
    const body = named.map((metric) => comparisonLine(metric, changes[metric.name]));
    const flips = changes[leading];
    show("comparison", scroll("Comparison", el("table", null,
      el("thead", null, el("tr", null, ["Metric", "Difference", "95 % interval", "", "Cases", "Better", "Worse", "Detectable"]
        .map((title) => el("th", { scope: "col" }, title)))), el("tbody", null, body))),
    hint("Over the whole run, paired by case. Detectable: the true difference that such a comparison would find in four of five runs."),
    caseList(`${metrics.get(leading).label}: better`, flips.better), caseList(`${metrics.get(leading).label}: worse`, flips.worse));
  }

  /** Return the differences b - a by metric; the page holds one of the two directions. */
  function comparison(a, b) {
    const kept = data.comparisons[`${a}\n${b}`];
    if (kept || a === b) return kept;
    const turn = (value) => (value == null ? null : -value);
    return Object.fromEntries(Object.entries(data.comparisons[`${b}\n${a}`]).map(([name, other]) => [name, {
      ...other, difference: turn(other.difference), low: turn(other.high), high: turn(other.low), better: other.worse, worse: other.better,
    }]));
  }

  function comparisonLine(metric, change) {
    const signed = (value) => (value == null ? "n/a" : `${value > 0 ? "+" : ""}${value.toFixed(digitsOf(metric.name))}`);
    const range = change.low == null ? "n/a" : `[${signed(change.low)}, ${signed(change.high)}]`;
    const clear = change.low > 0 ? "passed" : change.high < 0 ? "failed" : "not_assessed";
    const words = { passed: "better", failed: "worse", not_assessed: "cannot tell" };
    return el("tr", null, el("th", { scope: "row" }, metric.label, metric.similarity ? el("small", { class: "sub" }, "similarity") : null),
      el("td", null, signed(change.difference)), el("td", null, range),
      el("td", null, el("span", { class: `badge ${clear}` }, words[clear])), el("td", null, String(change.cases)),
      el("td", null, String(change.better.length)), el("td", null, String(change.worse.length)),
      el("td", null, change.detectable == null ? "n/a" : change.detectable.toFixed(digitsOf(metric.name))));
  }

  const caseList = (title, names) => (names.length ? el("details", { class: "hint" }, el("summary", null, `${title} on ${plural(names.length, "case")}`),
    el("div", { class: "chips" }, names.map((name) => el("button", { type: "button", onclick: () => openCell(name, pair.b) }, name)))) : null);

  const ANSWERS = 6;

  function drawInterpretation() {
    const told = (answers) => el("dl", { class: "told" }, answers.map(({ question, text }) => [el("dt", null, question), el("dd", null, text)]));
    const [first, rest] = [data.answers.slice(0, ANSWERS), data.answers.slice(ANSWERS)];
    byId("answers").closest("section").hidden = !first.length;
    show("answers", told(first), rest.length ? el("details", { class: "hint" }, el("summary", null, `${rest.length} more`), told(rest)) : null);
  }

  // ---- prompt templates

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

  // ---- failures

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

  // ---- case matrix

  function drawMatrix() {
    const sums = new Map();
    for (const [name, model, , expected, n, passed] of cells()) {
      const key = `${name}\n${model}`;
      const sum = sums.get(key) ?? { expected: 0, n: 0, passed: 0 };
      sums.set(key, { expected: sum.expected + expected, n: sum.n + n, passed: sum.passed + passed });
    }
    const shown = models();
    const lines = cases().filter((item) => shown.some((model) => sums.has(`${item.name}\n${model.name}`)));
    byId("count").textContent = `${lines.length} of ${plural(data.cases.length, "case")}`;
    if (!lines.length) return show("matrix", hint("No samples match these filters."));
    return show("matrix", scroll("Cases by model", el("table", { class: "matrix", onkeydown: moveInMatrix },
      el("thead", null, el("tr", null, el("th", null, "Case"), shown.map((model) => el("th", { scope: "col" }, model.name)))),
      el("tbody", null, lines.map((item) => el("tr", null,
        el("th", { scope: "row" }, item.name, el("small", { class: "sub" }, `${item.category}, ${item.difficulty}`)),
        shown.map((model) => el("td", null, matrixCell(item.name, model.name, sums.get(`${item.name}\n${model.name}`))))))))));
  }

  function matrixCell(name, model, sum) {
    if (!sum) return null;
    const lost = sum.expected - sum.n;
    const label = `${name}, ${model}: ${sum.passed} of ${sum.n} passed${lost ? `, ${lost} not judged` : ""}`;
    return el("button", {
      type: "button", class: `${sum.n ? "tint" : "blank"}${lost ? " lost" : ""}`, "--level": sum.n ? sum.passed / sum.n : 0,
      "aria-label": label, title: label, onclick: () => openCell(name, model),
    }, sum.n ? `${sum.passed}/${sum.n}` : "n/a");
  }

  function moveInMatrix(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const cell = event.target.closest("td");
    if (!step || !cell) return;
    const lines = [...cell.closest("tbody").rows];
    const next = lines[lines.indexOf(cell.parentElement) + step[0]]?.cells[cell.cellIndex + step[1]]?.querySelector("button");
    if (next) {
      next.focus();
      event.preventDefault();
    }
  }

  // ---- one sample

  const dialog = byId("sample");
  const position = new Map(data.samples.map((sample, index) => [sample, index]));
  let tab = "Checks";
  let opened = null;

  const samplesOf = (name, model) => data.samples
    .filter((sample) => sample[0] === name && sample[1] === model && (!state.template || sample[2] === state.template))
    .sort((a, b) => a[2].localeCompare(b[2]) || a[3] - b[3]);

  function openCell(name, model) {
    const found = samplesOf(name, model);
    const first = ["model_failure", "passed"].map((status) => found.find((sample) => sample[4] === status)).find(Boolean) ?? found[0];
    if (first) return openSample(first);
    show("sample", el("div", { class: "head" }, el("h2", { id: "sample-title" }, `${name}, ${model}`),
      hint("The samples of this cell are left out of the page: the run is too large. webbench show prints them."), closeButton()));
    return dialog.open || dialog.showModal();
  }

  const closeButton = () => el("button", { type: "button", "aria-label": "Close", onclick: () => dialog.close() }, "Close");

  async function openSample(sample) {
    history.replaceState(null, "", `#sample=${position.get(sample)}`);
    const [name, model, template, index, status, failure, block] = sample;
    const around = samplesOf(name, model);
    const place = around.indexOf(sample);
    const go = (step) => el("button", {
      type: "button", disabled: around[place + step] ? null : "", onclick: () => openSample(around[place + step]),
      "aria-label": step < 0 ? "Previous sample" : "Next sample", "data-step": step,
    }, step < 0 ? "\u2190" : "\u2192");
    const step = document.activeElement?.dataset.step;
    opened = sample;
    const details = block == null ? null : await unpack(block);
    if (sample !== opened) return;
    show("sample",
      el("div", { class: "head" },
        el("div", { class: "row" },
          el("h2", { id: "sample-title" }, name, el("small", { class: "sub" }, `${model}, ${template}, sample ${index}`)),
          el("div", { class: "moves" }, go(-1), go(1), closeButton())),
        el("div", null, badge(status), failure ? [" ", el("span", { class: "badge not_assessed" }, failure.replaceAll("_", " "))] : null),
        around.length > 1 ? chips(sample, around) : null),
      el("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the sample", onkeydown: moveInTabs },
        Object.keys(PANELS).map((title) => el("button", {
          type: "button", role: "tab", id: `tab-${title}`, "aria-controls": "panel", "aria-selected": String(title === tab),
          tabindex: title === tab ? "0" : "-1", onclick: () => { tab = title; drawPanel(sample, details); },
        }, title))),
      el("div", { class: "panel", id: "panel", role: "tabpanel", tabindex: "0" }));
    drawPanel(sample, details);
    if (!dialog.open) dialog.showModal();
    (dialog.querySelector(`[data-step="${step}"]:enabled`) ?? byId(`tab-${tab}`)).focus();
  }

  function chips(sample, around) {
    const chip = (other) => el("button", {
      type: "button", class: other[4], "aria-current": other === sample ? "true" : null,
      title: `${other[2]}, sample ${other[3]}: ${STATUS[other[4]]}`, onclick: () => openSample(other),
    }, String(other[3]));
    const templates = [...new Set(around.map((other) => other[2]))];
    return el("div", { class: "chips" }, templates.map((template) => el("div", { role: "group", "aria-label": template },
      el("span", { class: "sub" }, template), around.filter((other) => other[2] === template).map(chip))));
  }

  const badge = (status) => el("span", { class: `badge ${status}` }, STATUS[status] ?? status);

  function moveInTabs(event) {
    const tabs = [...event.currentTarget.children];
    const next = tabs[tabs.indexOf(document.activeElement) + { ArrowLeft: -1, ArrowRight: 1 }[event.key]];
    if (!next) return;
    next.click();
    next.focus();
  }

  async function drawPanel(sample, details) {
    for (const button of dialog.querySelectorAll("[role=tab]")) {
      button.setAttribute("aria-selected", String(button.id === `tab-${tab}`));
      button.tabIndex = button.id === `tab-${tab}` ? 0 : -1;
    }
    const title = tab;
    const left = "The conversation is left out of the page: the run is too large. webbench show prints it.";
    const content = details ? await PANELS[title](details, sample) : hint(left);
    if (title !== tab || sample !== opened) return;
    show("panel", content);
    byId("panel").setAttribute("aria-labelledby", `tab-${title}`);
  }

  const PANELS = {
    Checks: (details, sample) => [
      details.message ? el("pre", { class: `message ${sample[4]}` }, details.message) : null,
      el("div", { class: "tiers" }, Object.entries(details.tiers).map(([name, outcome]) =>
        el("span", { class: `badge ${outcome}` }, `${name.replace("_", " ")} ${STATUS[outcome]}`))),
      details.checks.length ? inOrder(details.checks).map(check) : hint("No check was made."),
    ],
    Code: (details) => (details.code ? [cutNote(details, "code"), el("pre", { class: "numbered" }, lines(highlight(details.code)))]
      : hint("The reply holds no code.")),
    Diff: async (details, sample) => {
      if (!data.references[sample[0]]) return hint("This run folder does not hold the case's reference.");
      const reference = await unpack(data.references[sample[0]]);
      const hunks = diff(reference, details.code);
      if (!hunks.length) return hint("The code equals the reference.");
      return [el("p", { class: "about" }, "From the reference (\u2212) to the answer (+). The reference is one way to meet the case; another may be as right."),
        el("pre", { class: "diff" }, hunks)];
    },
    Prompt: async (details) => {
      const messages = await unpack(details.prompt);
      return messages.length ? messages.map((message) => [el("h3", null, message.role), el("pre", { class: "wrap" }, message.content)])
        : hint("Nothing was asked.");
    },
    Reply: (details) => (details.reply ? [cutNote(details, "reply"), el("pre", { class: "wrap" }, details.reply)] : hint("There is no reply.")),
    Metrics: (details) => el("dl", { class: "facts" }, Object.entries(details)
      .filter(([name]) => !["checks", "reply", "code", "prompt", "message", "tiers", "cut"].includes(name))
      .map(([name, value]) => el("div", null, el("dt", null, name.replaceAll("_", " ")), el("dd", null, factOf(value))))),
  };

  function factOf(value) {
    if (value == null) return "n/a";
    if (typeof value === "number") return String(Number(value.toFixed(4)));
    if (Array.isArray(value)) return value.join(", ") || "none";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  }

  const cutNote = (details, name) => (details.cut.includes(name)
    ? el("p", { class: "notice" }, "Only the beginning is shown; completions.jsonl holds the whole.") : null);

  const inOrder = (checks) => [...checks.filter(([, , passed]) => passed === false), ...checks.filter(([, , passed]) => passed !== false)];

  function check([name, tier, passed, message, request, response]) {
    const outcome = passed == null ? "not_assessed" : passed ? "passed" : "failed";
    return el("details", { class: "check", open: passed === false ? "" : null },
      el("summary", null, badge(outcome), el("span", null, name), el("span", { class: "sub" }, tier.replace("_", " "))),
      message ? [el("h3", null, "Message"), el("pre", { class: "wrap" }, message)] : null,
      el("div", { class: "sides" }, [["Request", request], ["Response", response]].filter(([, text]) => text)
        .map(([title, text]) => el("div", null, el("h3", null, title), el("pre", { class: "wrap" }, text)))));
  }

  async function unpack(id) {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  }

  // ---- code

  const TOKEN = new RegExp([
    /(?<note>#[^\n]*)/, /(?<text>[a-z]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))/,
    /(?<mark>@[\w.]+)/, /(?<number>\b\d[\w.]*)/, /(?<word>[A-Za-z_]\w*)/,
  ].map((part) => part.source).join("|"), "gi");
  const KEYWORDS = new Set(("False None True and as assert async await break class continue def del elif else except finally for from " +
    "global if import in is lambda nonlocal not or pass raise return try while with yield match case").split(" "));
  const COLORED = 100_000;

  /** Return the text's pieces as [class or null, text]. */
  function highlight(text) {
    if (text.length > COLORED) return [[null, text]];
    const pieces = [];
    let end = 0, before = "";
    for (const match of text.matchAll(TOKEN)) {
      let [kind] = Object.entries(match.groups).find(([, value]) => value !== undefined);
      if (kind === "word" && !KEYWORDS.has(match[0])) kind = before === "def" || before === "class" ? "name" : null;
      before = match[0];
      if (kind === null) continue;
      pieces.push([null, text.slice(end, match.index)], [`t-${kind}`, match[0]]);
      end = match.index + match[0].length;
    }
    return [...pieces, [null, text.slice(end)]];
  }

  const colored = ([kind, text]) => (kind ? el("span", { class: kind }, text) : text);

  /** Return a span a line; a piece over several lines is cut at their ends. */
  function lines(pieces) {
    const found = [[]];
    for (const [kind, text] of pieces) {
      text.split("\n").forEach((part, index) => {
        if (index) found.push([]);
        if (part) found.at(-1).push(colored([kind, part]));
      });
    }
    return found.map((line, index) => el("span", { class: "line", "data-number": index + 1 }, line, "\n"));
  }

  const CONTEXT = 3;
  const COMPARED = 4_000_000;

  /** Return the changes between two texts as [" ", "-" or "+", line], by their longest common subsequence of lines. */
  function edits(before, after) {
    const same = (a, b) => before[a] === after[b];
    let start = 0, end = 0;
    while (start < Math.min(before.length, after.length) && same(start, start)) start++;
    while (end < Math.min(before.length, after.length) - start && same(before.length - 1 - end, after.length - 1 - end)) end++;
    const a = before.slice(start, before.length - end), b = after.slice(start, after.length - end);
    const middle = a.length * b.length > COMPARED ? [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])] : walk(a, b);
    const kept = (part) => part.map((line) => [" ", line]);
    return [...kept(before.slice(0, start)), ...middle, ...kept(before.slice(before.length - end))];
  }

  function walk(a, b) {
    const width = b.length + 1;
    const length = new Uint16Array((a.length + 1) * width);
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        length[i * width + j] = a[i] === b[j] ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
      }
    }
    const found = [];
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) found.push([" ", a[i]]), i++, j++;
      else if (j === b.length || (i < a.length && length[(i + 1) * width + j] >= length[i * width + j + 1])) found.push(["-", a[i++]]);
      else found.push(["+", b[j++]]);
    }
    return found;
  }

  function diff(before, after) {
    const split = (text) => text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
    const all = edits(split(before), split(after));
    const near = all.map((_, index) => all.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(([mark]) => mark !== " "));
    const found = [];
    let old = 1, now = 1;
    all.forEach(([mark, line], index) => {
      if (near[index]) {
        if (!near[index - 1]) found.push(el("span", { class: "line hunk" }, `@@ -${old} +${now} @@\n`));
        const kind = { "+": "plus", "-": "minus", " ": "same" }[mark];
        found.push(el("span", { class: `line ${kind}` }, `${mark} `, highlight(line).map(colored), "\n"));
      }
      if (mark !== "+") old++;
      if (mark !== "-") now++;
    });
    return found;
  }

  // ---- the page

  function draw() {
    drawAnswer();
    drawLeaderboard();
    drawNotices();
    drawHeat();
    drawCharts();
    drawFailures();
    drawComparison();
    drawMatrix();
  }

  function drawCharts() {
    scatter("cost", "USD a sample", (row) => row.cost_per_sample, money);
    scatter("time", "seconds a completion", (row) => row.latency_seconds, (value) => String(Number(value.toPrecision(3))));
    drawTemplates();
  }

  function keepTheme(theme) {
    try {
      if (theme) localStorage.setItem("webbench-theme", theme);
      return localStorage.getItem("webbench-theme");
    } catch {
      return theme;
    }
  }

  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const kept = keepTheme();
  if (kept) root.dataset.theme = kept;
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keepTheme(root.dataset.theme);
  });

  dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  const { run } = data;
  show("run", [`run ${run.id}`, run.created?.replace("T", " ").replace("+00:00", " UTC"), run.tier && `tiers: ${run.tier}`,
    plural(run.samples, "sample"), plural(data.cases.length, "case"), plural(data.models.length, "model")].filter(Boolean).join(" \u00b7 "));
  show("footer", Object.entries(run.versions).map(([name, version]) => `${name} ${version}`).join(", "));
  drawFilters();
  draw();
  drawInterpretation();
  addEventListener("resize", drawCharts);
  const linked = data.samples[Number(/^#sample=(\d+)$/.exec(location.hash)?.[1])];
  if (linked) openSample(linked);
})();
