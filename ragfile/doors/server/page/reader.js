/* A document, opened at the exact characters that were found: beside the passages on wide screens,
over them on narrow ones. Of a long document only what is around the passage is fetched at first. */

import { permalink } from "./address.js";
import { $, announce, copy, counted, h, icon, iconButton } from "./dom.js";
import { linkButton, naming, place } from "./passages.js";
import { isMarkdown, painted } from "./source.js";
import { points, units } from "./text.js";

const AROUND = 12_000; // characters before and after the passage
const MORE = 40_000; // characters that a button loads

export class Reader {
  /** `page` opens what a link leads to, and learns which element had opened a document that is closed. */
  constructor(backend, page) {
    this.backend = backend;
    this.page = page;
    this.place = $("reader");
    this.shown = null;
  }

  /** Opens a document at [start, end), or at its beginning. `opener` had the focus before. */
  async open(collection, passage, opener = null) {
    this.opener = opener ?? this.opener;
    const call = (this.last = Symbol("call"));
    this.place.hidden = false;
    document.body.classList.add("is-reading");
    this.place.setAttribute("aria-busy", "true");
    if (!this.shown) this.fill(h("p", { class: "note" }, "Opening …"));
    try {
      const [document, there] = await this.found(collection, passage);
      if (call === this.last) this.show(collection, document, there);
    } catch (error) {
      if (call === this.last) this.fill(this.failed(error));
    } finally {
      this.place.removeAttribute("aria-busy");
    }
  }

  async fetched(collection, { id, start, end }) {
    const place = start >= 0 ? { start, end, context: AROUND } : { start: 0, end: 0, context: MORE };
    return whole(await this.backend.document(collection, id, place));
  }

  /** Returns the document of a link, from its beginning if the span no longer exists. */
  async found(collection, passage) {
    try {
      return [await this.fetched(collection, passage), passage];
    } catch (error) {
      if (error.status !== 422) throw error;
      const changed = { ...passage, start: -1, end: -1, checksum: "-" };
      return [await this.fetched(collection, changed), changed];
    }
  }

  close() {
    if (this.place.hidden) return;
    this.place.hidden = true;
    document.body.classList.remove("is-reading");
    this.last = this.shown = null;
    const opener = this.opener;
    this.opener = null;
    this.page.closed(opener);
  }

  // ------------------------------------------------------------------------------- what it shows ---

  show(collection, document, passage) {
    this.shown = { collection, document, passage };
    const names = naming({ ...document, doc_id: document.id });
    this.fill(this.text(document, passage), names, this.facts(document, passage));
    const target = this.place.querySelector("mark.target");
    (target ?? this.place.querySelector(".text")).scrollIntoView({ block: target ? "center" : "nearest" });
    announce(`${names.title} is open`);
    this.link(collection, document);
  }

  /** Lists the documents that link to this one, and those that it links to. */
  async link(collection, document) {
    const found = await this.backend.links?.(collection, document.id).catch(() => null);
    if (!found || this.shown?.document !== document) return;
    const others = (links, end) => [...new Set(links.map((link) => link[end]))].filter((id) => id && id !== document.id);
    const lists = [["Linked from", others(found.backlinks, "source")], ["Links to", others(found.links, "document")]];
    const parts = lists.filter(([, ids]) => ids.length).map(([name, ids]) => h("details", { class: "links" },
      h("summary", {}, `${name} ${counted(ids.length, "document")}`),
      h("ul", {}, ids.map((id) => h("li", {}, this.opening(id))))));
    this.place.querySelector(".facts").append(...parts);
  }

  opening(id) {
    const open = () => this.page.open({ id, start: -1, end: -1, checksum: "" });
    return h("button", { type: "button", class: "small", onclick: open }, id);
  }

  fill(body, names = { title: "Document", file: "", trail: [] }, facts = null) {
    const heading = h("h2", { tabIndex: -1 }, names.title);
    const close = iconButton("close", "Close the document (Esc)", () => this.close());
    const title = h("div", { class: "titles" }, heading, names.file ? place(names) : null);
    this.place.replaceChildren(
      h("header", {}, title, close, facts), h("div", { class: "body" }, body));
    heading.focus({ preventScroll: true });
  }

  facts(document, { id, start, end, checksum }) {
    const { collection } = this.shown;
    const current = document.checksum ?? "";
    const address = permalink(collection, { id, start, end, checksum: current });
    const isChanged = checksum && current && !current.startsWith(checksum);
    return h("div", { class: "facts" },
      linkButton(address), start >= 0 ? this.quote(document, start, end) : null,
      h("dl", {}, this.fact("Characters", where(document, start, end)), this.checksum(current)),
      isChanged ? h("p", { class: "warning", role: "alert" }, CHANGED) : null);
  }

  quote(document, start, end) {
    const [from, to] = stretch(document, start, end);
    const button = h("button", { type: "button", class: "small",
      onclick: () => copy(document.text.slice(from, to), button) }, icon("copy"), "Copy passage");
    return button;
  }

  fact(name, value) {
    return h("div", {}, h("dt", {}, name), h("dd", {}, value));
  }

  checksum(value) {
    if (typeof value !== "string" || !value) return null;
    const button = h("button", { type: "button", class: "hash", title: `${value}: copy it`,
      onclick: () => copy(value, button) }, `${value.slice(0, 12)}…`);
    return this.fact("SHA-256", button);
  }

  text(document, { start, end }) {
    const marks = start >= 0 ? [[...stretch(document, start, end), "target"]] : [];
    const isMarked = marks.length && marks[0][0] < marks[0][1];
    return [
      document.start > 0 ? this.more("before", document.start) : null,
      h("div", { class: "text", tabIndex: 0, role: "document" },
        painted(document.text, isMarked ? marks : [], isMarkdown(document))),
      document.end < document.size ? this.more("after", document.size - document.end) : null,
    ];
  }

  /** Returns a button that loads the text before or after the shown part. */
  more(side, left) {
    const label = `Show the text ${side} (${counted(left, "character")})`;
    return h("button", { type: "button", class: "more", onclick: () => this.grow(side) }, label);
  }

  async grow(side) {
    const { collection, document, passage } = this.shown, { start, end, size } = document;
    const span = side === "before"
      ? { start: Math.max(0, start - MORE), end: start }
      : { start: end, end: Math.min(size, end + MORE) };
    const part = await this.backend.document(collection, document.id, span).then(whole, () => null);
    if (!part || this.shown?.document !== document) return;
    const [first, last] = side === "before" ? [part, document] : [document, part];
    const grown = { ...document, text: first.text + last.text, start: first.start, end: last.end };
    this.shown.document = grown;
    const body = this.place.querySelector(".body");
    const bottom = body.scrollHeight - body.scrollTop;
    body.replaceChildren(...this.text(grown, passage).filter(Boolean));
    if (side === "before") body.scrollTop = body.scrollHeight - bottom;
  }

  failed(error) {
    return h("p", { class: "problem", role: "alert" }, icon("alert"), error.message);
  }
}

const CHANGED = "The document has changed since this link was made, so it may point to different text.";

/** A document with what is around its stretch as one text. */
function whole({ before = "", text, after = "", start, end, ...document }) {
  const span = { start: start - points(before), end: end + points(after) };
  return { ...document, ...span, text: before + text + after };
}

/** [start, end) of the document, in units of the text that is there. */
function stretch(document, start, end) {
  const from = units(document.text, Math.max(0, start - document.start));
  return [from, from + units(document.text.slice(from), end - Math.max(start, document.start))];
}

function where(document, start, end) {
  const all = document.size.toLocaleString();
  return start >= 0 ? `${start.toLocaleString()}–${end.toLocaleString()} of ${all}` : all;
}
