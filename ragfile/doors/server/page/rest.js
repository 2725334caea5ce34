/* The backend over the server's native API; backend.js says what each call gives. Addresses are
relative to the page, so that it works below any path of a proxy. */

import { events } from "./events.js";

const KEY = "ragfile.key";

export async function open() {
  const known = sessionStorage.getItem(KEY) ?? "";
  return new Rest(new URL("v1/", document.baseURI), known);
}

class Rest {
  constructor(base, key) {
    this.base = base;
    this.key = key;
    this.beginnings = true;
  }

  setKey(key) {
    this.key = key;
    sessionStorage.setItem(KEY, key); // of this tab alone, gone when it closes
  }

  async collections() {
    const { collections } = await this.call("GET", "collections");
    return collections;
  }

  async info(c) {
    const info = await this.call("GET", of(c));
    const has = (...names) => names.some((name) => info.strategies.includes(name));
    const [words, vectors] = [has("rag.postings", "bm25"), has("vector")];
    const modes = { hybrid: words && vectors, bm25: words, vector: vectors };
    return {
      ...info, modes: Object.keys(modes).filter((mode) => modes[mode]),
      asks: info.chat_model ?? "", writes: info.write,
    };
  }

  facets(c) {
    return this.call("GET", `${of(c)}/facets`);
  }

  search(c, question, { k, mode, where, tags, isBeginning, signal } = {}) {
    const asked = isBeginning ? { query: `${question}*`, query_syntax: true } : { query: question };
    const body = { ...asked, k, mode, excerpts: true, support: true, ...filters(where, tags) };
    return this.call("POST", `${of(c)}/search`, { body, signal });
  }

  document(c, id, { start = 0, end = 0, context = 0, signal } = {}) {
    const asked = new URLSearchParams({ span: `${start}-${end}`, context });
    return this.call("GET", `${of(c)}/documents/${encodeURIComponent(id)}?${asked}`, { signal });
  }

  links(c, id) {
    return this.call("GET", `${of(c)}/links/${encodeURIComponent(id)}`);
  }

  async *ask(c, question, { history, where, tags, mode, signal } = {}) {
    const body = { question, history, mode, stream: true, excerpts: true, ...filters(where, tags) };
    const accept = "text/event-stream";
    const response = await this.fetch("POST", `${of(c)}/ask`, { body, signal, accept });
    for await (const { event, data } of events(response.body)) {
      yield { event, ...JSON.parse(data) };
    }
  }

  documents(c, { prefix = "", after = "", limit = 100 } = {}) {
    const asked = new URLSearchParams({ limit, ...(prefix && { prefix }), ...(after && { after }) });
    return this.call("GET", `${of(c)}/documents?${asked}`);
  }

  file(c, id) {
    return this.call("GET", `${of(c)}/files/${encodeURIComponent(id)}`);
  }

  remove(c, id) {
    return this.call("DELETE", `${of(c)}/documents/${encodeURIComponent(id)}`);
  }

  /** By XMLHttpRequest, which alone tells how much of an upload is sent. */
  upload(c, file, { progress, signal } = {}) {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", file, file.name);
    request.open("POST", new URL(`${of(c)}/files`, this.base));
    for (const [name, value] of Object.entries(this.headers())) {
      request.setRequestHeader(name, value);
    }
    request.upload.onprogress = (sent) => progress?.(sent.loaded / sent.total);
    signal?.addEventListener("abort", () => request.abort());
    return new Promise((resolve, reject) => {
      request.onload = () => {
        const answer = parsed(request.responseText);
        if (request.status < 300) resolve(answer.files?.[0] ?? answer);
        else reject(failure(request.status, answer));
      };
      request.onerror = () => reject(new Error(UNREACHABLE));
      request.onabort = () => reject(new DOMException("stopped", "AbortError"));
      request.send(form);
    });
  }

  // ---------------------------------------------------------------------------------- the wire ---

  async call(method, path, options) {
    const response = await this.fetch(method, path, options);
    return response.status === 204 ? {} : response.json();
  }

  async fetch(method, path, { body, signal, accept = "application/json" } = {}) {
    const headers = { accept, ...this.headers() };
    if (body) headers["content-type"] = "application/json";
    const given = { method, headers, signal, body: body && JSON.stringify(body) };
    let response;
    try {
      response = await fetch(new URL(path, this.base), given);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error(UNREACHABLE);
    }
    if (!response.ok) throw failure(response.status, parsed(await response.text()));
    return response;
  }

  headers() {
    return this.key ? { authorization: `Bearer ${this.key}` } : {};
  }
}

const UNREACHABLE = "The server does not answer. Is it running?";

const of = (c) => `collections/${encodeURIComponent(c)}`;

function filters(where, tags) {
  return { where: where ?? undefined, tags_any: tags?.length ? tags : undefined };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function failure(status, answer) {
  const said = answer.error?.message ?? answer.error ?? answer.detail;
  const sentence = typeof said === "string" ? said : `The server answered with status ${status}.`;
  return Object.assign(new Error(sentence), { status });
}
