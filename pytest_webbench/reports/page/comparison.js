// Two models against each other, and what the figures say.

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

function drawSimilarity() {
  show("similarity", data.similarity.filter((table) => table.rows.length).map(({ title, headings, rows: lines }) =>
    scroll(title, el("table", null, el("thead", null, el("tr", null, headings.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", null, lines.map(([first, ...cells]) =>
        el("tr", null, el("th", { scope: "row" }, first), cells.map((cell) => el("td", null, cell)))))))));
}

const ANSWERS = 6;

function drawInterpretation() {
  const told = (answers) => el("dl", { class: "told" }, answers.map(({ question, text }) => [el("dt", null, question), el("dd", null, text)]));
  const sorted = [...data.answers].sort((a, b) => (a.low == null) - (b.low == null));
  const [first, rest] = [sorted.slice(0, ANSWERS), sorted.slice(ANSWERS)];
  byId("answers").closest("section").hidden = !first.length;
  show("answers", told(first), rest.length ? el("details", { class: "hint" }, el("summary", null, `${rest.length} more`), told(rest)) : null);
}
