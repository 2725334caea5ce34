/* ragfile for browsers and node.

    const file = await open("kb.ragfile");
    const { hits } = await file.search("how do I rotate the keys?", { k: 5 });

In a page the work is done in a Worker, so that the page never waits for it. */

import { unpacked } from "./errors.js";
import { compile } from "./package_files.js";

export * from "./errors.js";
export const MODES = ["hybrid", "vector", "bm25", "sparse", "keyword"];

/** Opens a file: a URL, Blob, File, ArrayBuffer or typed array. index.d.ts has the options. */
export async function open(place, options = {}) {
  const isPage = typeof document !== "undefined" && typeof Worker !== "undefined";
  if (options.worker ?? isPage) return openInWorker(place, options);
  const { RagFile } = await import("./ragfile.js"); // a page leaves it to its worker
  return new Direct(await RagFile.open(place, options));
}

/** Reads in this thread. */
class Direct {
  constructor(file) {
    this.file = file;
  }

  get name() {
    return this.file.name;
  }
  get generation() {
    return this.file.generation;
  }
  get length() {
    return this.file.length;
  }
  get requests() {
    return this.file.source.requests;
  }
  get received() {
    return this.file.source.received;
  }
  search(question, options) {
    return this.file.search(question, options);
  }
  match(text, options) {
    return this.file.match(text, options);
  }
  nearest(vector, options) {
    return this.file.nearest(vector, options);
  }
  document(id, span) {
    return this.file.document(id, span);
  }

  links(id) {
    return this.file.links(id);
  }
  hit(row) {
    return this.file.hit(row);
  }
  row(id) {
    return this.file.row(id);
  }
  words(text) {
    return this.file.words(text);
  }
  highlights(question, passage) {
    return this.file.highlights(question, passage);
  }
  excerpts(question, passages, size) {
    return this.file.excerpts(question, passages, size);
  }
  info() {
    return this.file.about();
  }
  verify(options) {
    return this.file.verify(options);
  }
  prepare(progress) {
    return this.file.prepare(progress);
  }
  close() {
    return this.file.close();
  }
}

async function openInWorker(place, { worker, ...options }) {
  const made =
    worker instanceof Worker
      ? worker
      : new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const file = new Remote(made);
  for (const [name, value] of Object.entries(options))
    if (value instanceof URL) options[name] = value.href; // an URL cannot be sent
  const isText = typeof place === "string" || place instanceof URL;
  try {
    if (typeof options.key === "function") options.key = await options.key(); // nor can a function
    options.wasm = await compile(options.wasm); // here, while the worker is loaded
    await file.call("open", isText ? new URL(place, document.baseURI).href : place, options);
  } catch (error) {
    made.terminate();
    throw error;
  }
  return file;
}

/** Asks a worker, which has the file open. */
class Remote {
  constructor(worker) {
    this.worker = worker;
    this.waiting = new Map();
    this.last = 0;
    worker.onmessage = ({ data }) => this.take(data);
    worker.onerror = (event) => this.fail(new Error(event.message || "the worker did not start"));
  }

  take({ id, progress, error, result, state }) {
    const { resolve, reject, tell } = this.waiting.get(id) ?? {};
    if (!resolve) return;
    if (progress) return tell?.(...progress);
    this.waiting.delete(id);
    Object.assign(this, state);
    if (error) reject(unpacked(error));
    else resolve(result);
  }

  fail(error) {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }

  call(method, ...given) {
    const tell = typeof given.at(-1) === "function" ? given.pop() : null;
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, tell });
      this.worker.postMessage({ id, method, given, tells: tell !== null });
    });
  }

  search(question, options) {
    return this.call("search", question, options);
  }
  match(text, options) {
    return this.call("match", text, options);
  }
  nearest(vector, options) {
    return this.call("nearest", vector, options);
  }
  document(id, span) {
    return this.call("document", id, span);
  }

  links(id) {
    return this.call("links", id);
  }
  hit(row) {
    return this.call("hit", row);
  }
  row(id) {
    return this.call("row", id);
  }
  words(text) {
    return this.call("words", text);
  }
  highlights(question, passage) {
    return this.call("highlights", question, passage);
  }
  excerpts(question, passages, size) {
    return this.call("excerpts", question, passages, size);
  }
  info() {
    return this.call("about");
  }
  verify(options) {
    return this.call("verify", options);
  }
  prepare(progress) {
    return this.call("prepare", progress ?? (() => {}));
  }

  async close() {
    this.worker.terminate();
    this.fail(new Error("the file is closed"));
  }
}
