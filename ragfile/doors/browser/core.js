/* The C core as WebAssembly: one instance for each open file.

The core never waits. Where it needs bytes that are not here it notes them and gives up; `call`
fetches them, joined into few requests, and calls again. What a call is given in memory must stay
the same until it is through. */

import { ChangedError, failure, MemoryError, RemoteError, SOURCE } from "./errors.js";
import { compile } from "./package_files.js";
import { Fetched, joined, merged } from "./byte_ranges.js";
import { decoded, encoded } from "./text.js";

const ROUNDS = 200;
const PARALLEL = 6;
const JOIN = { few: 6, short: 8 << 10, most: 32 << 10 };
const LARGEST = 4 << 20; // a request: several together are faster, and fail in smaller parts
const FETCHED_MOST = 8 << 20;

export class Core {
  /** source: see sources.js; memory: how many bytes of the file are kept between calls. */
  static async over(source, { memory, wasm } = {}) {
    const core = new Core(source, memory);
    const host = {
      read: (at, size, to) => core.read(at, size, to),
      number: (at, size) => Number(decoded(core.bytes.subarray(at, at + size))),
    };
    const wasi = {
      environ_get: () => 0,
      environ_sizes_get: (count, size) => {
        core.view.setUint32(count, 0, true);
        core.view.setUint32(size, 0, true);
        return 0;
      },
      clock_time_get: (clock, precision, at) => {
        core.view.setBigUint64(at, 0n, true); // the allocator wants a number, any number
        return 0;
      },
      proc_exit: () => {
        throw new MemoryError("the core ran out of memory");
      },
    };
    const instance = await WebAssembly.instantiate(await compile(wasm), {
      host,
      wasi_snapshot_preview1: wasi,
    });
    core.exports = instance.exports;
    core.exports._initialize();
    return core;
  }

  constructor(source, memory = 64 << 20) {
    this.source = source;
    this.memory = memory;
    this.here = new Fetched(FETCHED_MOST);
    this.wanted = [];
    this.progress = null; // (received, wanted) of the call that runs
    this.last = Promise.resolve();
  }

  // ------------------------------------------------------------------------------------ memory ---

  get bytes() {
    return new Uint8Array(this.exports.memory.buffer);
  }

  get view() {
    return new DataView(this.exports.memory.buffer);
  }

  allocate(size) {
    const at = this.exports.allocate(size) >>> 0;
    if (!at) throw new MemoryError(`no memory for ${size} bytes`);
    return at;
  }

  /** Call with scratch memory for arguments and results, and free it afterwards. */
  async withRoom(sizes, call) {
    const places = [];
    try {
      for (const size of sizes) places.push(this.allocate(size));
      return await call(...places);
    } finally {
      for (const at of places) this.exports.release(at);
    }
  }

  put(bytes, at) {
    this.bytes.set(bytes, at);
  }

  taken(at, size) {
    return this.bytes.slice(at, at + size);
  }

  string(at) {
    const bytes = this.bytes;
    let end = at;
    while (bytes[end]) end++;
    return decoded(bytes.subarray(at, end)) ?? "";
  }

  /** Strings that each have a NUL after them. */
  string0(at, size) {
    return (decoded(this.bytes.subarray(at, at + size - 1)) ?? "").split("\0");
  }

  /** The records of words_of, with places in code points. */
  wordList(at, size, text, widthOf = () => 1) {
    const places = [];
    let place = 0;
    for (const one of text) {
      const bytes = encoded(one).length;
      for (let i = 0; i < bytes; i++) places.push(place);
      place += widthOf(one);
    }
    places.push(place);
    const found = [];
    for (const end = at + size; at < end;) {
      const [from, to, kind, length] = new Uint32Array(this.exports.memory.buffer, at, 4);
      const word = decoded(this.bytes.subarray(at + 16, at + 16 + length)) ?? "";
      const [whole, dense] = [(kind & 7) === 1, kind > 7];
      found.push({ word, whole, dense, start: places[from], end: places[to] });
      at += 16 + ((length + 3) & ~3);
    }
    return found;
  }

  /** Numbers of the core's answer. */
  answer(count) {
    return [...new Float64Array(this.exports.memory.buffer, this.exports.answer(), count)];
  }

  // --------------------------------------------------------------------------------------- calls ---

  /** What the core asks: bytes that are here, or a note. */
  read(at, size, to) {
    if (this.here.has(at, at + size)) {
      if (to) this.here.copy(at, at + size, this.bytes.subarray(to >>> 0, (to >>> 0) + size));
      return 1;
    }
    this.wanted.push([at, at + size]);
    return 0;
  }

  /** Calls until everything that the call needs is here. */
  async call(name, ...given) {
    for (let round = 0; round < ROUNDS; round++) {
      this.wanted = [];
      const status = this.guarded(() => this.exports[name](...given));
      if (status === 0) return;
      if (status !== SOURCE || this.wanted.length === 0) throw this.reason(status);
      await this.fetch(this.wanted);
    }
    throw new RemoteError(`${this.source.name}: ${name} keeps requesting bytes; the file may be damaged`);
  }

  guarded(call) {
    try {
      return call();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError)
        throw new MemoryError(`the core stopped: ${error.message}`);
      throw error;
    }
  }

  reason(status) {
    const { fault_what, fault_at, fault_section } = this.exports;
    return failure(status, {
      what: this.string(fault_what()),
      at: fault_at(),
      section: this.string(fault_section()),
    });
  }

  async fetch(wanted) {
    const missing = merged(this.inside(wanted)).flatMap(([from, to]) =>
      this.here.missing(from, to),
    );
    const requests = joined(missing, JOIN).flatMap(cut);
    const total = requests.reduce((sum, [start, end]) => sum + end - start, 0);
    let next = 0;
    let received = 0;
    const worker = async () => {
      while (next < requests.length) {
        const [start, end] = requests[next++];
        const bytes = await this.source.read(start, end - start);
        if (bytes.length !== end - start)
          throw new ChangedError(
            `${this.source.name}: bytes ${start} to ${end} are not there any more`,
          );
        this.here.put(start, bytes);
        received += bytes.length;
        this.progress?.(received, total);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, requests.length) }, worker));
  }

  /** Fetches what calls to come are likely to need. */
  async foresee(stretches) {
    if (stretches.length) await this.fetch(stretches);
  }

  /** Refuse ranges outside the file, whatever its contents claim. */
  inside(wanted) {
    for (const [start, end] of wanted)
      if (!(start >= 0 && end <= this.size))
        throw new RemoteError(`${this.source.name}: bytes ${start} to ${end} of ${this.size}`);
    return wanted;
  }

  /** Run one call at a time: its borrowed memory must stay valid until it returns. */
  alone(call) {
    const turn = this.last.then(async () => {
      try {
        return await call();
      } catch (error) {
        this.here.clear(); // fetch again bytes that failed verification
        if (error.section !== undefined) await this.source.forget?.(); // a fault of the file
        throw error;
      } finally {
        this.exports.forget(this.memory);
        this.here.trim();
      }
    });
    this.last = turn.catch(() => {});
    return turn;
  }

  async withText(text, call) {
    const bytes = typeof text === "string" ? encoded(text) : text;
    return this.withRoom([bytes.length], (at) => {
      this.put(bytes, at);
      return call(at, bytes.length);
    });
  }
}

function cut([start, end]) {
  const parts = [];
  for (; end - start > LARGEST; start += LARGEST) parts.push([start, start + LARGEST]);
  return [...parts, [start, end]];
}
