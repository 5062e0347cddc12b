// Case matrix, and one sample.

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
  const titles = Object.keys(PANELS).filter((title) => title !== "Steps" || details?.steps);
  if (!titles.includes(tab)) tab = "Checks";
  show("sample",
    el("div", { class: "head" },
      el("div", { class: "row" },
        el("h2", { id: "sample-title" }, name, el("small", { class: "sub" }, `${model}, ${template}, sample ${index}`)),
        el("div", { class: "moves" }, go(-1), go(1), closeButton())),
      el("div", null, badge(status), failure ? [" ", el("span", { class: "badge not_assessed" }, failure.replaceAll("_", " "))] : null),
      around.length > 1 ? chips(sample, around) : null),
    el("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the sample", onkeydown: moveInTabs },
      titles.map((title) => el("button", {
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
  Steps: (details) => stepsOf(details.steps),
  Prompt: async (details) => {
    const messages = await unpack(details.prompt);
    return messages.length ? messages.map((message) => [el("h3", null, message.role), el("pre", { class: "wrap" }, message.content)])
      : hint("Nothing was asked.");
  },
  Reply: (details) => (details.reply ? [cutNote(details, "reply"), el("pre", { class: "wrap" }, details.reply)] : hint("There is no reply.")),
  Metrics: (details) => el("dl", { class: "facts" }, Object.entries(details)
    .filter(([name]) => !["checks", "steps", "reply", "code", "prompt", "message", "tiers", "cut"].includes(name))
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
