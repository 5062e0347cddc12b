// Elements: text is only ever set as text, so nothing that a model wrote becomes markup.

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
