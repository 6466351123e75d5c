// Changes a part of the document into another one, node by node: what stays the same keeps its focus, selection and scroll.

const KEEP = new Set(["open", "value", "checked"]);

// Whether two nodes may be turned into one another.
function alike(a, b) {
  if (a.nodeType !== b.nodeType || a.nodeName !== b.nodeName) return false;
  if (a.nodeType !== Node.ELEMENT_NODE) return true;
  return a.id === b.id;
}

function attributes(from, to) {
  for (const { name } of [...from.attributes]) {
    if (!to.hasAttribute(name) && !KEEP.has(name) && !(name === "class" && from.dataset.item !== undefined)) from.removeAttribute(name);
  }
  for (const { name, value } of [...to.attributes]) {
    // What a person opened, typed or chose stays.
    if (KEEP.has(name) && from.hasAttribute(name)) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

// Makes the children of `from` those of `to`.
export function morph(from, to) {
  const named = new Map();
  for (const child of from.children) if (child.id) named.set(child.id, child);
  let here = from.firstChild;
  for (const next of [...to.childNodes]) {
    let match = null;
    if (next.nodeType === Node.ELEMENT_NODE && next.id && named.has(next.id)) match = named.get(next.id);
    else if (here && alike(here, next) && !(here.id && here.id !== next.id)) match = here;
    if (!match || !alike(match, next)) {
      from.insertBefore(next.cloneNode(true), here);
      continue;
    }
    if (match === here) here = here.nextSibling;
    else from.insertBefore(match, here);
    if (match.nodeType !== Node.ELEMENT_NODE) {
      if (match.nodeValue !== next.nodeValue) match.nodeValue = next.nodeValue;
    } else if (match.matches("time[datetime]") && match.dateTime === next.getAttribute("datetime")) {
      // A script shows it as local time.
    } else if (!match.matches("textarea, input, select, [data-keep]")) {
      attributes(match, next);
      morph(match, next);
    }
  }
  while (here) {
    const gone = here;
    here = here.nextSibling;
    gone.remove();
  }
}
