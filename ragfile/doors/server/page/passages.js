/* Passages on the page: title, place in the document, excerpt and scores. */

import { copy, h, icon } from "./dom.js";
import { permalink } from "./address.js";
import { units } from "./text.js";

const SHOWN = 420; // characters of a passage without an excerpt

/** Returns the display names {title, trail, file} of a hit, source or document. */
export function naming({ metadata = {}, source, file_id, section, page, slide, row, doc_id, id }) {
  const file = text(metadata.path) || text(file_id) || text(source) || doc_id || id;
  const headers = (text(section) || text(metadata.headers)).split(" > ").filter(Boolean);
  const title = text(metadata.title) || headers[0] || file.split("/").pop();
  const numbered = Object.entries({ page, slide, row }).map(([name, value]) => {
    const number = value ?? metadata[name];
    return Number.isInteger(number) ? `${name} ${number}` : "";
  });
  const trail = headers.filter((header, i) => i > 0 || header !== title);
  return { title, file, trail: [...trail, ...numbered.filter(Boolean)] };
}

const text = (value) => (typeof value === "string" ? value : "");

const LEGS = new Map([
  ["bm25", ["BM25", "how well the words fit; higher is better, without an upper end"]],
  ["vector", ["vector", "how near the meaning is, by the file's own measure"]],
  ["keyword", ["name", "the id, source or a keyword of the passage is what was asked for"]],
]);

/** Returns the raw scores of a hit: their scales differ, so none is shown as a percentage. */
export function scores(hit) {
  const legs = Object.entries(hit.scores ?? {}).map(([leg, value]) => {
    const [name, meaning] = LEGS.get(leg) ?? [leg, ""];
    return score(name, value, meaning);
  });
  const fused = `what the ranking is by: ${text(hit.score_type) || "score"}`;
  return h("span", { class: "scores" }, legs, legs.length > 1 ? score("fused", hit.score, fused) : null);
}

function score(name, value, meaning) {
  const shown = Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(3);
  return h("span", { class: "score", title: meaning }, `${name} `, h("b", {}, shown));
}

/** Returns an excerpt: text in paragraphs, code in blocks with the numbers of its lines, the question's words marked. */
export function words({ lines }) {
  const parts = [];
  for (const line of lines) {
    if (!line.is_code) parts.push(h("p", {}, marked(line)));
    else if (parts.at(-1)?.nodeName === "PRE") parts.at(-1).append("\n", ...numbered(line));
    else parts.push(h("pre", {}, numbered(line)));
  }
  return h("div", { class: "words" }, parts);
}

function numbered(line) {
  const number = line.number ? h("span", { class: "line", "aria-hidden": "true" }, `${line.number}`) : null;
  return [...(number ? [number] : []), ...marked(line)];
}

/** A line as text and marks. */
function marked({ text, marks }) {
  const parts = [];
  let at = 0;
  for (const [from, to] of marks.map((mark) => mark.map((place) => units(text, place)))) {
    parts.push(text.slice(at, from), h("mark", { class: "term" }, text.slice(from, to)));
    at = to;
  }
  return [...parts, text.slice(at)].filter((part) => part !== "");
}

/** What is shown of a passage whose excerpt is not known: its beginning. */
const beginning = (text) => ({ lines: [{ text: text.slice(0, SHOWN), marks: [], is_code: false }] });

/** Returns the line with a passage's place in the document; `lines` are its first and last line in the file. */
export function place(names, lines = null) {
  const at = lines ? `:${lines[0]}${lines[1] > lines[0] ? `-${lines[1]}` : ""}` : "";
  const parts = [names.file + at, ...names.trail];
  return h("p", { class: "place" }, parts.flatMap((part, i) =>
    i ? [h("span", { class: "step", "aria-hidden": "true" }, "›"), part] : [h("span", { class: "file" }, part)]));
}

/** Returns one passage: a link that opens it, and its excerpt. `missing` are the question's words that it lacks,
`standing` tells how current and trusted its document is, `number` is that of a source. */
export function card(passage, { collection, excerpt, missing = [], standing = "", open, number, level = "h2" }) {
  const names = naming(passage), shown = excerpt ?? beginning(passage.text);
  const span = { id: passage.doc_id, start: passage.start, end: passage.end };
  const checksum = text(passage.checksum) || text(passage.metadata?.checksum);
  const address = permalink(collection, { ...span, checksum });
  const show = (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || String(getSelection())) return;
    event.preventDefault();
    open({ ...span, checksum: "" }, link);
  };
  const link = h("a", { class: "title", href: address }, names.title);
  const tags = (passage.tags ?? []).map((tag) => h("span", { class: "tag" }, tag));
  return h("li", { class: "passage", "data-id": passage.id, onclick: show },
    number ? h("span", { class: "number", "aria-label": `Source ${number}` }, String(number)) : null,
    h(level, {}, link), place(names, shown.in_file), words(shown),
    h("p", { class: "facts" }, scores(passage), standing ? h("span", { class: "standing" }, standing) : null, missing.length ? lacking(missing) : null, tags));
}

const lacking = (missing) =>
  h("span", { class: "missing", title: "words of the question that the passage does not have" },
    "without ", missing.flatMap((word, i) => [i ? ", " : "", h("s", {}, word)]));

/** Returns a button that copies the link to a passage. */
export function linkButton(address) {
  const button = h("button", { type: "button", class: "small", onclick: () => copy(address, button) },
    icon("link"), "Copy link");
  return button;
}
