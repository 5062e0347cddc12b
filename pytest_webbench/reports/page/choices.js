// What the page knows, what of it is chosen, and how values are said: unknown is n/a, never 0.

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

const fixed = (value, digits) => (value == null ? "n/a" : value.toFixed(digits));
const share = (count, n) => (n ? `${Math.round((100 * count) / n)} %` : "n/a");
const sized = (value) => (value == null ? "n/a" : `${value} B`);
const digitsOf = (name) => (name === "points" ? 1 : 3);
const rangeOf = (name) => metrics.get(name).scale;
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const interval = ([, low, high], digits = 2) => (low == null ? "" : `[${low.toFixed(digits)}, ${high.toFixed(digits)}]`);

function money(value) {
  if (value == null) return "n/a";
  return value === 0 ? "0" : value >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
}

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
