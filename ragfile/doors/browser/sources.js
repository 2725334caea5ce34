/* Where the bytes of a file come from: a URL with ranges, a Blob or File, bytes in memory, and in
node a file of the disk. A source has

    name                    for messages
    open(window)            {size, parts: [[at, bytes]]}: at least the front and the last bytes
    read(at, size)          a Uint8Array of exactly so many bytes
    requests, received      counted since the beginning
*/

import { ArgumentError, ChangedError, RemoteError } from "./errors.js";
import { RangeCache } from "./range_cache.js";

export const FRONT = 4096;
const ATTEMPTS = 4;
const FIRST_WAIT = 250; // ms
const LONGEST_WAIT = 30_000;
const WHOLE_MOST = 256 << 20; // a file that a host sends only whole is taken whole up to this

export function sourceOf(place, { whole = WHOLE_MOST, cache = null, fetch: fetcher } = {}) {
  if (place instanceof ArrayBuffer || ArrayBuffer.isView(place)) return new Bytes(place);
  if (typeof Blob !== "undefined" && place instanceof Blob) return new OfBlob(place);
  if (typeof place === "string" || place instanceof URL) {
    const base = globalThis.document?.baseURI ?? globalThis.location?.href;
    const url = new URL(place, base ?? nodeBase());
    if (url.protocol === "file:") return new OfDisk(url);
    if (["http:", "https:", "blob:", "data:"].includes(url.protocol))
      return new OfUrl(url, { whole, cache, fetch: fetcher ?? globalThis.fetch.bind(globalThis) });
    throw new ArgumentError(`${url.protocol} is not a kind of URL that is read here`);
  }
  throw new ArgumentError("pass a URL, a Blob or File, or an ArrayBuffer");
}

const nodeBase = () => `file://${globalThis.process?.cwd?.() ?? ""}/`;

class Counted {
  requests = 0;
  received = 0;

  took(bytes) {
    this.requests++;
    this.received += bytes.length;
    return bytes;
  }
}

class Bytes extends Counted {
  constructor(bytes) {
    super();
    this.name = "memory";
    this.bytes = ArrayBuffer.isView(bytes)
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      : new Uint8Array(bytes);
  }

  async open() {
    return { size: this.bytes.length, parts: [] };
  }

  async read(at, size) {
    return this.took(this.bytes.subarray(at, at + size));
  }
}

class OfBlob extends Counted {
  constructor(blob) {
    super();
    this.name = blob.name ?? "blob";
    this.blob = blob;
  }

  async open() {
    return { size: this.blob.size, parts: [] };
  }

  async read(at, size) {
    try {
      return this.took(new Uint8Array(await this.blob.slice(at, at + size).arrayBuffer()));
    } catch (error) {
      if (error.name === "NotReadableError")
        throw new ChangedError(`${this.name} was changed while it was open: choose it again`);
      throw new RemoteError(`${this.name} cannot be read: ${error.message}`);
    }
  }
}

class OfDisk extends Counted {
  constructor(url) {
    super();
    this.url = url;
    this.name = decodeURIComponent(url.pathname);
  }

  async open() {
    const { open } = await import("./node_files.js");
    this.file = await open(this.url).catch((error) => {
      throw new RemoteError(`${this.name} cannot be opened: ${error.code ?? error.message}`);
    });
    const { size } = await this.file.stat();
    return { size, parts: [] };
  }

  async read(at, size) {
    const { bytesRead, buffer } = await this.file.read(new Uint8Array(size), 0, size, at);
    return this.took(buffer.subarray(0, bytesRead));
  }

  async close() {
    await this.file?.close();
    this.file = null;
  }
}

class Transient extends Error {
  constructor(message, { status = null, wait = null } = {}) {
    super(message);
    this.status = status;
    this.wait = wait;
  }
}

const REASONS = {
  401: "the server wants credentials",
  403: "the server refuses access",
  404: "there is no such file",
  410: "the file is gone",
  416: "the server has no such range of it: it is empty, or shorter than it was",
};
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Every answer must be the bytes that were asked for, of the object that was asked for. */
class OfUrl extends Counted {
  constructor(url, { whole, cache, fetch: fetcher }) {
    super();
    this.url = url;
    const shown = new URL(url);
    shown.search = shown.username = shown.password = "";
    this.name = shown.href;
    this.most = whole;
    this.fetch = fetcher;
    this.cacheName = cache;
    this.keeping = null; // the ranges that a Cache has, if the program wants one
    this.identity = null;
    this.bytes = null; // where the host sent the whole file
  }

  async open(window) {
    const what = `the last ${window} bytes`;
    return persistently(async () => {
      const [front, ending] = await Promise.all([
        this.answer(`bytes=0-${FRONT - 1}`, what),
        this.answer(`bytes=-${window}`, what),
      ]);
      if (front.status === 200) return this.whole(front, ending);
      if (ending.status === 200) return this.whole(ending, front);
      const [[from, to, size], [at, end, total]] = [this.range(front), this.range(ending)];
      this.identity = this.identityOf(front, size);
      if (this.identity !== this.identityOf(ending, total)) throw this.changed();
      if (
        from !== 0 ||
        to !== Math.min(FRONT, size) ||
        end !== size ||
        size - at !== Math.min(window, size)
      )
        throw this.wrong(what, at, end);
      if (this.cacheName) this.keeping = await RangeCache.of(this.cacheName, this.url, this.identity);
      const parts = [
        [0, await this.body(front, to, what)],
        [at, await this.body(ending, end - at, what)],
      ];
      return { size, parts };
    });
  }

  async read(at, size) {
    if (this.bytes) return this.bytes.subarray(at, at + size);
    const what = `bytes ${at} to ${at + size}`;
    const kept = await this.keeping?.read(at, size);
    if (kept) return kept;
    const bytes = await persistently(async () => {
      const answer = await this.answer(`bytes=${at}-${at + size - 1}`, what);
      if (answer.status === 200) throw this.unranged();
      const [start, end, total] = this.range(answer);
      if (this.identityOf(answer, total) !== this.identity) throw this.changed();
      if (start !== at || end !== at + size) throw this.wrong(what, start, end);
      return this.body(answer, size, what);
    });
    await this.keeping?.write(at, bytes);
    return bytes;
  }

  /** What was kept of a file that turns out wrong is asked for again. */
  async forget() {
    await this.keeping?.forget();
  }

  /** Fetch the whole file from a host that ignores ranges or compresses its answers. */
  async whole(answer, other) {
    await other.body?.cancel();
    const length = Number(answer.headers.get("content-length") ?? 0);
    if (length > this.most) {
      await answer.body?.cancel();
      throw this.unranged();
    }
    const parts = [];
    let size = 0;
    for await (const part of streamed(answer.body, this.name)) {
      parts.push(part);
      size += part.length;
      if (size > this.most) throw this.unranged();
    }
    if (length > size && !answer.headers.get("content-encoding"))
      throw new Transient(`${this.name}: the answer ends ${length - size} bytes early`);
    this.bytes = new Uint8Array(size);
    parts.reduce((at, part) => (this.bytes.set(part, at), at + part.length), 0);
    this.took(this.bytes);
    return { size, parts: [] };
  }

  async answer(range, what) {
    let answer;
    try {
      answer = await this.fetch(this.url, {
        headers: { Range: range },
        redirect: "follow",
        cache: "no-store",
      });
    } catch (error) {
      throw new Transient(
        `${this.name}: ${what}: the connection failed (${error.cause?.message ?? error.message})`,
      );
    }
    if (answer.status === 200 || answer.status === 206) return answer;
    await answer.body?.cancel();
    if (answer.status === 412) throw this.changed();
    const reason = REASONS[answer.status] ?? (answer.statusText || "no reason given");
    const message = `${this.name}: ${what}: status ${answer.status}: ${reason}`;
    if (!RETRIED.has(answer.status)) throw new RemoteError(message, { status: answer.status });
    const wait = Number(answer.headers.get("retry-after") ?? NaN) * 1000;
    throw new Transient(message, { status: answer.status, wait: wait >= 0 ? wait : null });
  }

  /** [start, end, size of the object] */
  range(answer) {
    const stated = answer.headers.get("content-range") ?? "";
    const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(stated);
    const [first, last, size] = found ? found.slice(1).map(Number) : [1, 0, 0];
    if (!(first <= last && last < size))
      throw new RemoteError(
        `${this.name}: the server's Content-Range makes no sense: ${JSON.stringify(stated)}` +
          " (a host of another origin must expose that header)",
        { status: 206 },
      );
    return [first, last + 1, size];
  }

  identityOf(answer, size) {
    return `${size} ${answer.headers.get("etag") ?? answer.headers.get("last-modified") ?? ""}`;
  }

  async body(answer, size, what) {
    const encoding = answer.headers.get("content-encoding") ?? "identity";
    if (encoding.toLowerCase() !== "identity") {
      await answer.body?.cancel();
      throw new RemoteError(
        `${this.name}: ${what}: the server sends ${encoding}, not the file's own bytes`,
      );
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for await (const part of streamed(answer.body, this.name)) {
      if (part.length > size - at)
        throw new RemoteError(
          `${this.name}: ${what}: the server sends more than the ${size} bytes it announced`,
        );
      bytes.set(part, at);
      at += part.length;
    }
    if (at < size)
      throw new Transient(`${this.name}: ${what}: the answer ends ${size - at} bytes early`);
    return this.took(bytes);
  }

  changed() {
    return new ChangedError(
      `${this.name} is not the file that was opened any more: open it again`,
      { status: 412 },
    );
  }

  wrong(what, start, end) {
    return new RemoteError(`${this.name}: asked for ${what}, the server sent ${start} to ${end}`);
  }

  unranged() {
    return new RemoteError(
      `${this.name}: the server does not serve ranges (it sends the whole file)`,
      { status: 200 },
    );
  }
}

async function* streamed(body, name) {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw new Transient(`${name}: the connection broke (${error.message})`);
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function persistently(call) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      if (attempt === ATTEMPTS || error.wait > LONGEST_WAIT) {
        const tried = attempt > 1 ? ` (after ${attempt} attempts)` : "";
        throw new RemoteError(`${error.message}${tried}`, { status: error.status });
      }
      const wait = error.wait ?? FIRST_WAIT * 2 ** (attempt - 1);
      await new Promise((resolve) => setTimeout(resolve, wait + Math.random() * FIRST_WAIT));
    }
  }
}
