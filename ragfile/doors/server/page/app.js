/* The page: a question, the passages that answer it while it is typed, and what can be done with
them. This file holds what is shown (`state`, which is also the address) and connects the parts;
asking a model and changing the collection are loaded only where the backend can. */

import * as address from "./address.js";
import { open as openBackend } from "./backend.js";
import { $, announce, counted, h, icon, iconButton } from "./dom.js";
import { Filters } from "./filters.js";
import { keyboard } from "./keyboard.js";
import { card } from "./passages.js";
import { Reader } from "./reader.js";
import { forget, recent, remember } from "./recent.js";
import { beginning, hasWord } from "./text.js";

const FIRST = 12, MOST = 96; // passages at first, and at most
const NAMED = 6; // missing words
// No filters. Without a prototype, since a field may be named "__proto__".
const NOTHING = { tags: [], fields: Object.create(null), mode: "", asks: false, open: null };
const MODES = { hybrid: "Both", bm25: "Words", vector: "Meaning" };

/** How the source folder differs from the collection, "" if it does not or is not known. */
function behind(sources) {
  const { changed, added, missing } = sources ?? { changed: 0, added: 0, missing: 0 };
  const differing = changed + added + missing;
  return differing ? `${counted(differing, "source file")} newer than this file` : "";
}

class Page {
  async start() {
    this.form = $("form");
    this.question = $("question");
    this.state = address.read();
    this.question.value = this.state.question;
    this.size = FIRST;
    this.filters = new Filters($("filters"), () => this.changed());
    this.listen();
    try {
      this.backend = await openBackend();
      await this.begin();
    } catch (error) {
      await this.problem(error, () => location.reload());
    }
  }

  /** Starts the parts that need a backend. */
  async begin() {
    this.reader = new Reader(this.backend, this);
    this.backend.watch?.((loading) => this.loading(loading));
    this.collections = await this.backend.collections();
    if (!this.collections.length) return this.empty();
    await this.extend();
    const good = this.collections.filter((each) => !each.error);
    const named = this.collections.find(({ name }) => name === this.state.collection);
    await this.enter((named ?? good[0] ?? this.collections[0]).name);
    keyboard(this);
  }

  /** Loads the features that this backend has beyond searching. */
  async extend() {
    if (this.backend.ask) {
      const { Answers } = await import("./answers.js");
      this.answers = new Answers(this);
      this.form.classList.add("can-ask");
    }
    if (this.backend.documents) {
      const { Files } = await import("./files.js");
      this.files = new Files(this);
    }
  }

  /** Shows a collection in the state of the URL, or the reason why it cannot be shown. */
  async enter(name) {
    this.collection = name;
    try {
      await this.entered(name);
    } catch (error) {
      await this.problem(error, () => this.enter(name));
    }
  }

  async entered(name) {
    const [info, facets] = await Promise.all([this.backend.info(name), this.facets(name)]);
    if (this.collection !== name) return; // another was chosen in the meantime
    this.info = info;
    this.drawCollection();
    this.filters.set(facets, info, this.state);
    this.files?.enter(info);
    if (this.state.open) this.reader.open(name, this.state.open);
    if (this.state.asks && this.answers && this.state.question) await this.ask(false);
    else await this.search();
  }

  /** Reloads the collection after a change; on failure, the page stays as it is. */
  async refresh() {
    const name = this.collection;
    const asked = Promise.all([this.backend.info(name), this.facets(name)]);
    const [info, facets] = await asked.catch(() => [this.info, this.filters.facets]);
    if (this.collection !== name) return;
    this.info = info;
    this.drawCollection();
    this.filters.set(facets, info, this.state);
    if (!this.state.asks) await this.search();
  }

  async facets(name) {
    const none = { tags: [], fields: [] };
    return (await this.backend.facets?.(name).catch(() => none)) ?? none;
  }

  listen() {
    this.question.addEventListener("input", () => this.typed());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submitted();
    });
    $("collection").addEventListener("change", ({ target }) => this.choose(target.value));
    $("theme").addEventListener("click", toggleTheme);
    addEventListener("popstate", () => this.back());
    document.querySelector(".brand").addEventListener("click", (event) => this.home(event));
  }

  // -------------------------------------------------------------------------------------- the state ---

  write(change, isStep = false) {
    this.state = { ...this.state, ...change };
    address.write(this.state, isStep);
    const { question } = this.state;
    const name = this.collection ?? "ragfile";
    document.title = question ? `${question} · ${name}` : `${name} · ragfile`;
  }

  /** Handles "back" and "forward"; no request is repeated if only the document changes. */
  back() {
    const asked = (state) => address.of({ ...state, open: null });
    const before = asked(this.state);
    this.state = address.read();
    if (!this.state.open) this.reader.close();
    if (asked(this.state) !== before) {
      this.question.value = this.state.question;
      if (!this.state.asks) this.answers?.leave();
      this.enter(this.state.collection || this.collections[0].name);
    } else if (this.state.open) {
      this.reader.open(this.collection, this.state.open);
    }
  }

  choose(collection) {
    this.reader.close();
    this.answers?.leave();
    this.write({ collection, ...NOTHING }, true);
    this.enter(collection);
  }

  home(event) {
    event.preventDefault();
    this.reader.close();
    this.question.value = "";
    this.answers?.leave();
    this.write({ question: "", ...NOTHING }, true);
    this.enter(this.collection);
    this.question.focus();
  }

  typed() {
    this.size = FIRST;
    this.answers?.leave();
    this.write({ question: this.question.value, asks: false });
    this.search();
  }

  changed() {
    this.size = FIRST;
    this.write({ tags: this.filters.tags, fields: this.filters.fields });
    if (!this.state.asks) this.search();
  }

  submitted() {
    if (!this.question.value.trim()) return;
    if (!this.info) return this.write({ question: this.question.value.trim(), asks: true }); // for enter()
    remember(this.collection, this.question.value.trim());
    if (this.answers) this.ask(true);
    else this.passages()[0]?.click();
  }

  // ------------------------------------------------------------------------------------- searching ---

  /** Returns the search options that are chosen on the page. */
  options() {
    const { modes } = this.info; // a file without vectors is asked by words, which is all of it
    const usual = modes.includes("hybrid") ? undefined : modes[0];
    const mode = modes.includes(this.state.mode) ? this.state.mode : usual;
    return { mode, where: this.filters.where(), tags: this.filters.tags };
  }

  /** Searches; during a request the newest question waits, and older ones are dropped. */
  async search() {
    this.isWanted = true;
    if (this.isSearching || !this.info) return;
    this.isSearching = true;
    while (this.isWanted) {
      this.isWanted = false;
      await this.searchOnce();
    }
    this.isSearching = false;
  }

  async searchOnce() {
    const question = this.question.value.trim(), begun = performance.now();
    document.body.classList.toggle("is-fresh", !question && !this.state.asks);
    if (!question) return this.fresh();
    try {
      const found = await this.found(question);
      if (this.state.asks) return;
      this.show(question, found, performance.now() - begun);
    } catch (error) {
      await this.problem(error, () => this.search());
    }
  }

  /** Searches; where no passage has the last word, it is taken for the beginning of one. */
  async found(question) {
    const options = { k: this.size, ...this.options() };
    const found = await this.backend.search(this.collection, question, options);
    const last = this.canComplete(options.mode) ? beginning(this.question.value) : "";
    if (!last || found.hits.some(({ text }) => hasWord(text, last))) return found;
    return this.backend.search(this.collection, question, { ...options, isBeginning: true });
  }

  canComplete(mode) {
    return this.backend.beginnings && this.info.modes.includes("bm25") && mode !== "vector";
  }

  show(question, { hits, excerpts, missing = {}, standing = {}, support, degraded }, spent) {
    const { collection } = this;
    const open = (passage, link) => this.open(passage, link);
    const shown = (hit) =>
      card(hit, {
        collection, excerpt: excerpts[hit.id], missing: missing[hit.id], standing: standing[hit.id], open,
      });
    const focused = document.activeElement.closest(".passage")?.dataset.id;
    $("passages").replaceChildren(...hits.map(shown));
    if (focused) this.focus(focused);
    const said = counted(hits.length, "passage");
    const time = spent < 10 ? spent.toFixed(1) : spent.toFixed(0);
    this.status(hits.length ? [`${said} in ${time} ms`, this.support(support), this.degraded(degraded)] : []);
    announce(hits.length ? said : "Nothing found");
    const isMore = hits.length === this.size && this.size < MOST;
    $("below").replaceChildren(...(hits.length ? [] : [this.nothing(question)]), ...(isMore ? [this.more()] : []));
  }

  /** How well the passages support an answer, unless they do so strongly. */
  support(found) {
    if (!found || found.strength === "strong") return null;
    const missing = found.missing.slice(0, NAMED).join(", ");
    const rest = missing ? `; no passage has: ${missing}` : "";
    return h("span", { class: `support ${found.strength}` }, `${found.strength} support for an answer${rest}`);
  }

  degraded(reason) {
    return reason ? h("span", { class: "degraded" }, icon("alert"), `The results are incomplete: ${reason}`) : null;
  }

  more() {
    const onclick = () => {
      this.size *= 2;
      this.search();
    };
    return h("button", { type: "button", class: "more", onclick }, "Show more passages");
  }

  nothing(question) {
    const clear = this.filters.isActive
      ? h("button", { type: "button", class: "small", onclick: () => this.filters.clear() }, "Clear the filters")
      : null;
    const advice = clear ? "No passage matches the filters." : "Try other words, or fewer words.";
    return h("div", { class: "nothing" }, h("h2", {}, "Nothing found"),
      h("p", {}, `For “${question}” in ${this.collection}. ${advice}`), clear);
  }

  /** Shows the page before the first question. */
  fresh() {
    const known = recent(this.collection).slice(0, 6);
    const ask = (question) => {
      this.question.value = question;
      this.typed();
      this.question.focus();
    };
    const again = known.map((question) =>
      h("li", {}, h("button", { type: "button", onclick: () => ask(question) }, icon("clock"), question)));
    const clear = h("button", { type: "button", class: "clear", onclick: () => {
      forget(this.collection);
      this.fresh();
    } }, "Clear recent questions");
    $("passages").replaceChildren();
    this.status([]);
    const list = h("section", { class: "recent", "aria-label": "Recent questions" },
      h("h2", {}, "Recent", clear), h("ul", {}, again));
    $("below").replaceChildren(...(known.length ? [list] : []));
  }

  /** Opens a passage beside the results. */
  open(passage, link) {
    if (this.question.value.trim()) remember(this.collection, this.question.value.trim());
    this.write({ open: passage }, true);
    this.reader.open(this.collection, passage, link);
  }

  /** Returns the focus to the element that opened a document, once it is closed. */
  closed(opener) {
    this.write({ open: null });
    if (opener?.isConnected) opener.focus({ preventScroll: true });
    else this.focus(opener?.closest(".passage")?.dataset.id);
  }

  async ask(isStep) {
    document.body.classList.remove("is-fresh");
    $("passages").replaceChildren();
    $("below").replaceChildren();
    this.status([]);
    this.write({ question: this.question.value.trim(), asks: true }, isStep);
    await this.answers.ask(this.state.question);
  }

  /** Moves the focus to a passage by its id, since each search replaces the links. */
  focus(id) {
    const link = this.passages().find((each) => each.closest(".passage").dataset.id === id);
    (link ?? this.passages()[0] ?? this.question).focus({ preventScroll: true });
  }

  passages() {
    return [...document.querySelectorAll(".passage .title")].filter((link) => link.offsetParent);
  }

  // --------------------------------------------------------------------------------------- drawing ---

  drawCollection() {
    const { name, documents, chunks, generation, modes, sources } = this.info;
    const options = this.collections.map((each) =>
      h("option", { value: each.name, selected: each.name === name, disabled: Boolean(each.error),
        title: each.error }, each.error ? `${each.name} (cannot be read)` : each.name));
    $("collection").replaceChildren(...options);
    $("collections").hidden = options.length < 2;
    $("name").textContent = name;
    $("facts").textContent = [counted(documents, "document"), counted(chunks, "passage"),
      `generation ${generation}`, behind(sources)].filter(Boolean).join(" · ");
    $("modes").replaceChildren(...(modes.length > 1 ? modes.map((mode) => this.mode(mode)) : []));
    this.write({ collection: this.collections.length > 1 ? name : this.state.collection });
  }

  mode(mode) {
    const isChosen = (this.state.mode || "hybrid") === mode;
    const onchange = () => {
      this.write({ mode: mode === "hybrid" ? "" : mode });
      if (!this.state.asks) this.search();
    };
    return h("label", {}, h("input", { type: "radio", name: "mode", value: mode, checked: isChosen, onchange }),
      h("span", {}, MODES[mode] ?? mode));
  }

  status(parts) {
    $("status").replaceChildren(...parts.filter(Boolean));
  }

  loading(loading) {
    $("loading").hidden = !loading;
    if (loading) $("loading").replaceChildren(loading.text, h("progress", { value: loading.share ?? 0 }));
  }

  empty() {
    document.body.classList.remove("is-fresh");
    $("below").replaceChildren(h("div", { class: "nothing" }, h("h2", {}, "No collections"),
      h("p", {}, "The server has no files yet. Put a .ragfile into its folder and reload this page.")));
  }

  /** Shows an error, or a form for the API key if one is needed. */
  async problem(error, again) {
    if (error.status === 401 && this.backend?.setKey) return this.askKey(again);
    console.error(error);
    $("passages").replaceChildren();
    this.status([]);
    $("below").replaceChildren(h("div", { class: "problem", role: "alert" }, icon("alert"),
      h("div", {}, h("h2", {}, "Something went wrong"), h("p", {}, error.message),
        h("button", { type: "button", class: "small", onclick: again }, "Try again"))));
  }

  askKey(again) {
    const input = h("input", { type: "password", name: "key", required: true, autocomplete: "off",
      "aria-label": "API key", placeholder: "rag_…" });
    const onsubmit = (event) => {
      event.preventDefault();
      this.backend.setKey(input.value.trim());
      again();
    };
    const wrong = this.backend.key
      ? h("p", { class: "wrong", role: "alert" }, "The server does not accept this key. Check it, or ask for a new one.")
      : null;
    $("below").replaceChildren(h("form", { class: "key", onsubmit }, h("h2", {}, "This server needs an API key"), wrong,
      h("p", {}, "The server’s operator can create one with “ragfile keys add”. This tab keeps it until you close it."),
      h("div", {}, input, h("button", { class: "primary" }, "Continue"))));
    input.focus();
  }
}

function toggleTheme() {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const { dataset } = document.documentElement;
  dataset.theme = (dataset.theme ?? (isDark ? "dark" : "light")) === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("ragfile.theme", dataset.theme);
  } catch {
    return;
  }
}

new Page().start();
