/* Passages on the page: title, place in the document, text and scores. */

import { copy, h, icon } from "./dom.js";
import { permalink } from "./address.js";
import { isMarkdown, painted } from "./source.js";
import { excerpt, found } from "./text.js";

const SHOWN = 420; // characters of a passage in the list

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

/** Returns the excerpt of a passage around the query's words, which are marked. */
export function words(passage, terms, size = SHOWN) {
  const whole = passage.text, body = whole.slice(headed(whole, passage));
  const places = found(body, terms);
  const [start, end] = excerpt(body, places, size);
  const isCut = start > 0 && !/(^|\n)\s*\n$/.test(body.slice(0, start)) && /^[\p{L}\p{N}]/u.test(body.slice(start));
  const empty = body.slice(start, end).match(/^(\s*\n|\s*(```|~~~).*\n)*/)[0].length;
  const shown = [start + empty, start + body.slice(start, end).trimEnd().length];
  const inside = places.filter((place) => place[0] >= shown[0] && place[1] <= shown[1]);
  const marks = inside.map(([from, to]) => [from, to, "term"]);
  return h("p", { class: "words" },
    isCut ? dots() : null, painted(body, marks, isMarkdown(passage), shown),
    end < body.length ? dots() : null);
}

const dots = () => h("span", { class: "dots", "aria-hidden": "true" }, " … ");

/** Returns the start of a passage after a heading that its place already shows. */
function headed(whole, passage) {
  const [line, heading] = whole.match(/^#{1,6} +(.+)\n+/) ?? ["", ""];
  const { title, trail } = naming(passage);
  const isSaid = [title, ...trail].includes(heading.trim()) && line.length < whole.length;
  return isSaid ? line.length : 0;
}

/** Returns the line with a passage's place in the document. */
export function place(names) {
  const parts = [names.file, ...names.trail];
  return h("p", { class: "place" }, parts.flatMap((part, i) =>
    i ? [h("span", { class: "step", "aria-hidden": "true" }, "›"), part] : [h("span", { class: "file" }, part)]));
}

/** Returns one passage: a link that opens it, and its text. `number` is that of a source. */
export function card(passage, { collection, terms, open, number, size, level = "h2" }) {
  const names = naming(passage);
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
    h(level, {}, link), place(names), words(passage, terms, size),
    h("p", { class: "facts" }, scores(passage), tags));
}

/** Returns a button that copies the link to a passage. */
export function linkButton(address) {
  const button = h("button", { type: "button", class: "small", onclick: () => copy(address, button) },
    icon("link"), "Copy link");
  return button;
}
