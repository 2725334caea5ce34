/* <ragfile-search src="kb.ragfile" link="/docs/{page}/"></ragfile-search>

A search field for an existing site. Attributes: src; link, the target of a result, with {id}, {page}
(the id without its suffix and without /index), {path} (the id without its suffix, with index for
README), {source} and {start} replaced; k (8); mode ("bm25",
which loads no model; "hybrid" with `model`); model, the URL of the model; placeholder; base, which
is put before links. Style it with CSS variables: --ragfile-font, --ragfile-text, --ragfile-muted,
--ragfile-background, --ragfile-border, --ragfile-accent, --ragfile-mark, --ragfile-width.

The element makes no request before it is used. The cancelable event "ragfile-select" carries the
selected result. */

import { open } from "./index.js";

const STYLE = `
:host { display: block; position: relative; font: var(--ragfile-font, inherit);
  color: var(--ragfile-text, inherit); max-width: var(--ragfile-width, 40rem); }
input { box-sizing: border-box; width: 100%; padding: .55em .8em; font: inherit; color: inherit;
  background: var(--ragfile-background, Canvas); border: 1px solid var(--ragfile-border, GrayText);
  border-radius: .4em; }
input:focus-visible { outline: 2px solid var(--ragfile-accent, Highlight); outline-offset: 1px; }
ol { list-style: none; margin: .3em 0 0; padding: 0; max-height: 70vh; overflow: auto;
  background: var(--ragfile-background, Canvas); border: 1px solid var(--ragfile-border, GrayText);
  border-radius: .4em; position: absolute; z-index: 10; width: 100%; box-sizing: border-box; }
ol[hidden], p[hidden] { display: none; }
li { border-top: 1px solid var(--ragfile-border, GrayText); }
li:first-child { border-top: 0; }
a { display: block; padding: .5em .8em; color: inherit; text-decoration: none; }
a:hover, a:focus-visible { outline: 0; box-shadow: inset 3px 0 0 var(--ragfile-accent, Highlight); }
strong { display: block; }
span { display: block; font-size: .9em; color: var(--ragfile-muted, color-mix(in srgb, CanvasText 72%, Canvas)); overflow-wrap: anywhere; }
.code { font-family: ui-monospace, monospace; white-space: pre-wrap; }
mark { background: var(--ragfile-mark, Mark); color: var(--ragfile-text, MarkText); }
p { margin: .4em 0 0; font-size: .9em; color: var(--ragfile-muted, color-mix(in srgb, CanvasText 72%, Canvas)); }`;
const SHOWN = 180; // characters of a passage
const PAUSE = 120; // ms after a key before a question is asked

export class RagfileSearch extends HTMLElement {
  static observedAttributes = ["placeholder"];

  connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    this.input = made("input", {
      type: "search",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      "aria-expanded": "false",
      "aria-controls": "found",
      "aria-label": "Search",
    });
    this.list = made("ol", { id: "found", role: "listbox", hidden: "" });
    this.status = made("p", { role: "status", hidden: "" });
    root.append(this.input, this.list, this.status);
    this.attributeChangedCallback();
    this.input.addEventListener("focus", () => this.ready().catch(() => {}));
    this.input.addEventListener("input", () => this.typed());
    root.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !this.contains(relatedTarget) && relatedTarget !== this) this.close();
    });
  }

  disconnectedCallback() {
    clearTimeout(this.timer);
    this.file?.then((file) => file.close()).catch(() => {});
    this.file = null;
  }

  attributeChangedCallback() {
    if (this.input) this.input.placeholder = this.getAttribute("placeholder") ?? "Search";
  }

  /** The file, opened when it is first wanted. */
  ready() {
    const model = this.getAttribute("model");
    const place = new URL(this.getAttribute("src") ?? "kb.ragfile", document.baseURI);
    const options = { model: model ? new URL(model, document.baseURI) : null };
    this.file ??= open(place, options).catch((error) => {
      this.file = null;
      this.report(error.message);
      throw error;
    });
    return this.file;
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  async ask() {
    const question = this.input.value.trim();
    this.asked = question;
    if (!question) return this.close();
    try {
      const file = await this.ready();
      const k = Number(this.getAttribute("k")) || 8;
      const { hits } = await file.search(question, {
        k,
        mode: this.getAttribute("mode") ?? "bm25",
      });
      const excerpts = await file.excerpts(question, hits, SHOWN);
      if (this.asked === question) this.show(hits, excerpts);
    } catch (error) {
      this.report(error.message);
    }
  }

  show(hits, excerpts) {
    this.list.replaceChildren(...hits.map((hit, i) => this.item(hit, excerpts[i])));
    this.list.hidden = hits.length === 0;
    this.input.setAttribute("aria-expanded", `${hits.length > 0}`);
    this.report(hits.length ? "" : "Nothing found.");
  }

  item(hit, excerpt) {
    const { title, headers } = hit.metadata;
    const name = typeof headers === "string" && headers ? headers : `${title ?? hit.doc_id}`;
    const link = made("a", { href: this.link(hit), role: "option" });
    link.append(made("strong", {}, name), ...excerpt.lines.map(shown));
    link.addEventListener("click", (event) => {
      const selected = new CustomEvent("ragfile-select", {
        detail: hit,
        cancelable: true,
        bubbles: true,
        composed: true,
      });
      if (!this.dispatchEvent(selected)) event.preventDefault();
    });
    const item = made("li", { role: "none" });
    item.append(link);
    return item;
  }

  link({ doc_id: id, source, start }) {
    const path = id
      .replace(/\.(md|mdx|markdown|rst|html?|txt|ipynb)$/i, "")
      .replace(/(^|\/)README$/i, "$1index");
    const page = path.replace(/(^|\/)index$/i, "$1");
    const values = { id, page, path, source, start: `${start}` };
    const target = (this.getAttribute("link") ?? "{id}").replace(/\{(\w+)\}/g, (all, name) =>
      name in values ? values[name].split("/").map(encodeURIComponent).join("/") : all,
    );
    const base = new URL(this.getAttribute("base") ?? "", document.baseURI);
    const url = new URL(target.replace(/([^:])\/{2,}/g, "$1/"), base);
    return ["http:", "https:"].includes(url.protocol) ? url.href : "#";
  }

  key(event) {
    const links = [...this.list.querySelectorAll("a")];
    const at = links.indexOf(this.shadowRoot.activeElement);
    if (event.key === "Escape") return (this.close(), this.input.focus());
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !links.length) return;
    event.preventDefault();
    if (at + step < 0) this.input.focus();
    else links[Math.min(at + step, links.length - 1)].focus();
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.report("");
  }

  report(text) {
    this.status.textContent = text;
    this.status.hidden = !text;
  }
}

function made(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A line of an excerpt, with the question's words marked; places count code points. */
function shown({ text, marks, is_code: isCode }) {
  const line = made("span", { class: isCode ? "code" : "line" });
  const points = [...text];
  let at = 0;
  for (const [from, to] of marks) {
    line.append(points.slice(at, from).join(""), made("mark", {}, points.slice(from, to).join("")));
    at = to;
  }
  line.append(points.slice(at).join(""));
  return line;
}

customElements.define("ragfile-search", RagfileSearch);
