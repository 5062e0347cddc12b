// The page: draws everything.

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
  byId("size").closest("section").hidden = !models().some((model) => model.size_b);
  scatter("size", "billions of parameters", (row) => row.model.size_b, String);
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
drawSimilarity();
addEventListener("resize", drawCharts);
const linked = data.samples[Number(/^#sample=(\d+)$/.exec(location.hash)?.[1])];
if (linked) openSample(linked);
