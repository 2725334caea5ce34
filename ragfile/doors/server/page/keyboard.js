/* Keys: "/" to the question, arrows through the passages, Enter opens, Escape goes back, "?" shows
them. Passages are links, so Tab and Enter work as everywhere. */

import { $ } from "./dom.js";

/** Handles the keys of a page. */
export function keyboard(page) {
  const help = $("keys");
  $("help").addEventListener("click", () => help.showModal());
  help.addEventListener("click", ({ target }) => target === help && help.close());
  document.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : actions(page)[event.key];
    if (act && !event.isComposing && !help.open && act(event.target)) event.preventDefault();
  });
}

/** Runs the action of a key; returns true if it had one. */
const actions = (page) => ({
  "/": (target) => !isText(target) && (page.question.focus(), page.question.select(), true),
  "?": (target) => !isText(target) && ($("keys").showModal(), true),
  ArrowDown: (target) => step(page, target, 1),
  ArrowUp: (target) => step(page, target, -1),
  Escape: (target) => escape(page, target),
});

/** Returns whether an element takes text. */
const isText = (target) =>
  target.matches("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])");

/** Moves the focus through the passages, and from the first up to the question. */
function step(page, target, by) {
  if (target !== page.question && (isText(target) || target.closest("#reader, details, .modes"))) return false;
  const links = page.passages();
  const next = links.indexOf(target) + by;
  if (target === page.question && by < 0) return false;
  if (next < 0) page.question.focus();
  else links[next]?.focus();
  links[next]?.closest("li").scrollIntoView({ block: "nearest" });
  return links.length > 0;
}

function escape(page, target) {
  if (document.body.classList.contains("is-reading")) page.reader.close();
  else if (target !== page.question) page.question.focus();
  else return false;
  return true;
}
