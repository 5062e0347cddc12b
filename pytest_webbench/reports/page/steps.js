
// ---- an agent's steps: what each role said, and how the code changed

function stepsOf(steps) {
  let before = null;
  return steps.map((step) => {
    const shown = step.code == null ? el("pre", { class: "wrap" }, step.reply || "(no answer)") : codeOf(before, step.code);
    before = step.code ?? before;
    return el("details", { class: "check", open: "" }, el("summary", null, stepHead(step)), shown);
  });
}

const stepHead = (step) => [
  el("span", null, `Iteration ${step.iteration}: ${step.role}`),
  step.role === "reviewer"
    ? el("span", { class: `badge ${step.is_correct ? "passed" : "not_assessed"}` },
      step.is_correct == null ? "no readable verdict" : step.is_correct ? "finds it correct" : "finds faults")
    : ["syntax", "structure"].map((name) => el("span", { class: `badge ${step[name]}` }, `${name} ${STATUS[step[name]]}`)),
  el("span", { class: "sub" }, `${step.model}, ${step.input_tokens ?? "?"} + ${step.output_tokens ?? "?"} tokens, ` +
    `${money(step.cost)} USD, ${fixed(step.latency_seconds, 1)} s`),
];

function codeOf(before, code) {
  if (before == null) return el("pre", { class: "numbered" }, lines(highlight(code)));
  const hunks = diff(before, code);
  return hunks.length ? el("pre", { class: "diff" }, hunks) : hint("The code is the same as before.");
}
