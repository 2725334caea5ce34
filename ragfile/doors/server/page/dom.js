/* Elements from plain values. Text is always set as text: nothing here, and nothing else in the
page, reads markup from a string, so what stands in a document cannot become part of the page. */

/** An element: properties by name, "on…" as listeners, "aria-…", "data-…" and "role" as attributes.
Children are elements, strings, or nothing. */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (/^(aria-|data-|role$|for$)/.test(key)) element.setAttribute(key, value);
    else element[key === "class" ? "className" : key] = value;
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Returns an icon of the sprite in index.html, hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** Returns a button with an icon; its name is the tooltip and the label for screen readers. */
export function iconButton(name, label, onclick, properties = {}) {
  const given = { type: "button", class: "quiet", title: label, "aria-label": label, onclick };
  return h("button", { ...given, ...properties }, icon(name));
}

/** Returns the element with an id. */
export const $ = (id) => document.getElementById(id);

/** Announces a sentence to screen readers, at most twice a second: the last of a burst wins. */
export function announce(sentence) {
  clearTimeout(announce.later);
  announce.later = setTimeout(() => ($("announced").textContent = sentence), 500);
}

/** Copies a text, and shows on the button that it did. Browsers have a clipboard for pages only where
the connection is safe; elsewhere, as in a local network, a field that is selected does the same. */
export async function copy(text, button) {
  await (navigator.clipboard?.writeText(text) ?? copySelected(text, button));
  button.dataset.done = "yes";
  announce("Copied");
  setTimeout(() => delete button.dataset.done, 1200);
}

function copySelected(text, button) {
  const field = h("textarea", { value: text, class: "hidden", "aria-hidden": "true" });
  button.after(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  button.focus();
}

/** "1 passage", "2 passages", with the digits of the reader's language. */
export const counted = (count, word) =>
  `${count.toLocaleString()} ${count === 1 ? word : `${word}s`}`;
