/* The page's backend on a static site, in place of backend.js: search one file beside the page, without a
server. site.json has the file's URL and title.

An encrypted file needs its key: the page takes it from the end of its address, #key=…, which no server
sees, or asks for it. The key stays in memory.

The first answer uses words alone. The model is loaded afterwards, and the page then repeats the
question. Browsers that save data load no model. */

import { open as openFile } from "./index.js";

const ONLY_WORDS = "meaning is asked, too, when its model is loaded";
const REST = 600; // ms after an answer before more is loaded

export async function open() {
  const place = new URL("site.json", document.baseURI);
  const answer = await fetch(place);
  if (!answer.ok) throw new Error(`The site lacks its site.json (status ${answer.status}).`);
  const site = await answer.json();
  const options = { model: site.model ? new URL(site.model, place) : null };
  if (site.encrypted) options.key = keyOf(site);
  const file = await openFile(new URL(site.file, place), options);
  keepForOffline(site, place);
  return new Static(site, file);
}

/** The key that the page is given; its address loses it. */
function keyOf(site) {
  const found = /^#(.*&)?key=([^&]+)/.exec(location.hash);
  if (!found) return prompt(`The key of ${site.name}:`) ?? "";
  history.replaceState(history.state, "", location.pathname + location.search);
  return decodeURIComponent(found[2]);
}

class Static {
  constructor(site, file) {
    this.site = site;
    this.file = file;
    this.listener = null;
    this.state = site.model ? "words" : "never"; // words, loading, all, never
  }

  async about() {
    this.known ??= await this.file.info();
    const { documents, chunks, generation } = this.known;
    return { name: this.site.name, documents, chunks, generation };
  }

  async collections() {
    return [await this.about()];
  }

  async info() {
    const modes = this.state === "never" ? ["bm25"] : ["hybrid", "bm25", "vector"];
    return { ...(await this.about()), modes, asks: "", writes: false };
  }

  async search(_, question, { k, mode = "hybrid", where, tags, signal } = {}) {
    const asked = mode === "vector" ? await this.all().then(() => mode) : this.mode(mode);
    const { hits, degraded, generation } = await this.file.search(question, {
      k,
      mode: asked,
      where,
      tagsAny: tags ?? [],
    });
    signal?.throwIfAborted();
    const isPart = asked !== mode;
    if (this.state === "words" && isPart) this.later();
    const shown = await this.file.excerpts(question, hits);
    const excerpts = Object.fromEntries(hits.map(({ id }, i) => [id, shown[i]]));
    const missing = Object.fromEntries(hits.map(({ id }, i) => [id, shown[i].missing]));
    const standing = Object.fromEntries(hits.map((hit) => [hit.id, hit.standing]));
    return { hits, excerpts, missing, standing, degraded: degraded || (isPart ? ONLY_WORDS : ""), generation };
  }

  /** The links of a document and those to it, as backend.js defines them. */
  async links(_, id) {
    const found = (await this.file.links(id)) ?? { links: [], backlinks: [] };
    return {
      links: found.links.map((document) => ({ source: id, document })),
      backlinks: found.backlinks.map((source) => ({ source, document: id })),
    };
  }

  mode(mode) {
    return mode === "hybrid" && this.state !== "all" ? "bm25" : mode;
  }

  /** The stretch of a document with `context` characters on either side, as backend.js defines it. */
  async document(_, id, { start = 0, end = 0, context = 0 } = {}) {
    const wide = { start: Math.max(0, start - context), end: end + context };
    const found = await this.file.document(id, wide);
    if (!found) throw Object.assign(new Error(`There is no document ${id}.`), { status: 404 });
    if (start > end || end > found.size) {
      throw Object.assign(new Error("The place is not in the document."), { status: 422 });
    }
    const points = [...found.text],
      [first, last] = [start - wide.start, end - wide.start];
    const part = (from, to) => points.slice(from, to).join("");
    return {
      ...found,
      start,
      end,
      before: part(0, first),
      text: part(first, last),
      after: part(last),
      checksum: found.metadata?.checksum ?? null,
    };
  }

  facets() {
    return Promise.resolve(this.site.facets);
  }

  watch(listener) {
    this.listener = listener;
  }

  later() {
    if (navigator.connection?.saveData) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.all().catch(() => {}), REST);
  }

  /** Loads the model and the vectors, once. */
  all() {
    if (this.state === "never") return Promise.resolve();
    clearTimeout(this.timer);
    this.loading ??= this.load();
    return this.loading;
  }

  async load() {
    this.state = "loading";
    const text = "Words answer already. Loading what finds by meaning";
    try {
      this.listener?.({ text, share: 0 });
      const isThere = await this.file.prepare((received, wanted) =>
        this.listener?.({ text, share: wanted ? received / wanted : 0 }),
      );
      this.state = isThere ? "all" : "never";
    } catch (error) {
      this.state = "words";
      this.loading = null;
      throw error;
    } finally {
      this.listener?.(null);
      if (this.state === "all") askAgain();
    }
  }
}

/** What was answered by words is asked again by words and meaning. */
function askAgain() {
  const field = document.getElementById("question");
  if (field?.value && !document.body.classList.contains("is-asking"))
    field.dispatchEvent(new Event("input"));
}

/** A worker keeps the page, and a file that is not large with its model, for when there is no network. */
function keepForOffline(site, place) {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  const registered = navigator.serviceWorker
    .register(new URL("sw.js", document.baseURI))
    .then(() => navigator.serviceWorker.ready);
  const names = [...site.shell, "site.json", ...(site.offline ? [site.file, site.model] : [])];
  const keep = [place.href.replace(/[^/]*$/, ""), ...names.filter(Boolean)].map(
    (name) => new URL(name, place).href,
  );
  registered.then(({ active }) => setTimeout(() => active.postMessage({ keep }), 10 * REST));
  registered.catch((error) => console.warn(`not kept for offline use: ${error.message}`));
}
