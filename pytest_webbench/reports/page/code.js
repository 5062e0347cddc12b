// Code with its colors, and its difference to the reference.

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
