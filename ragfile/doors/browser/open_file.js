/* An open 1.0 file: its commit, its segments, and what each row is.

Rows are numbered through the segments in order; a deleted row keeps its number until compaction. */

import { analysisOf } from "./analysis.js";
import { configOf, isObject, METRICS, parsed } from "./config.js";
import { Core } from "./core.js";
import { EncryptedFile, isEncrypted } from "./encrypted_file.js";
import { ArgumentError, CorruptError, FormatError, RagfileError } from "./errors.js";
import { Links } from "./links.js";
import { foreseen } from "./prefetch.js";
import { restored } from "./originals.js";
import { needsOf } from "./section_needs.js";
import { FRONT, sourceOf } from "./sources.js";
import { standingOf } from "./standing.js";
import { decoded, encoded, length, sliced } from "./text.js";

const WINDOW = 32 << 10; // of a file's end, to begin with
const KEPT_FIELDS = 4096;
const PART = 4 << 20; // of a file that is read whole

export class Archive {
  /** place: a URL, Blob, File or ArrayBuffer. options: generation, strict, key, memory, wasm, fetch. */
  static async open(place, options = {}) {
    const source = sourceOf(place, options);
    const [core, { size, parts }] = await Promise.all([
      Core.over(source, options),
      source.open(WINDOW),
    ]);
    core.size = size;
    for (const [at, bytes] of parts) core.here.put(at, bytes);
    const archive = new this(core, source, options);
    try {
      await core.alone(() => archive.read());
    } catch (error) {
      await source.close?.();
      throw named(error, source.name);
    }
    return archive;
  }

  constructor(core, source, options) {
    this.core = core;
    this.source = source;
    this.name = source.name;
    this.options = options;
    this.fields = new Map();
    this.graph = new Links(this);
  }

  async close() {
    const why = new RagfileError(`${this.name} is closed`);
    this.core = { alone: () => Promise.reject(why) };
    await this.source.close?.();
  }

  // -------------------------------------------------------------------------------------- opening ---

  async read() {
    const { core } = this;
    await this.fetchEnds();
    const front = new Uint8Array(8);
    core.here.copy(0, Math.min(8, core.size), front);
    if (isEncrypted(front)) await this.decrypt();
    await this.readHeader();
    await core.call("open", core.size, 0);
    this.commit = this.readCommit();
    await this.readParts();
    const wanted = this.options.generation ?? 0;
    if (wanted) await this.readOlder(wanted);
    if (this.options.strict && this.commit.lost)
      throw new CorruptError(
        `generation ${this.numbered(this.commit.lost)} was committed and is damaged`,
      );
  }

  async fetchEnds() {
    const { core } = this;
    if (core.here.has(0, Math.min(FRONT, core.size))) return;
    await core.fetch([
      [0, Math.min(FRONT, core.size)],
      [Math.max(0, core.size - WINDOW), core.size],
    ]);
  }

  /** From now on, bytes are those of the file inside. */
  async decrypt() {
    const { core } = this;
    const parts = core.here.parts.map(({ at, bytes }) => [at, bytes]);
    const stored = { size: core.size, parts };
    this.source = await EncryptedFile.over(this.source, stored, core, this.options.key);
    core.source = this.source;
    core.size = this.source.size;
    core.here.clear();
    await this.fetchEnds();
  }

  async readHeader() {
    const { core } = this;
    const size = Math.min(11, core.size);
    const status = await core.withRoom([size], (at) => {
      core.read(0, size, at);
      return core.exports.header(at, size);
    });
    if (status) throw core.reason(status);
    const [major] = core.answer(4);
    if (major === 0)
      throw new FormatError("a RAGFile of version 0.1.0: convert it first (ragfile convert)");
  }

  /** An older generation, by the number that users know. */
  async readOlder(generation) {
    const [first, last] = [this.numbered(1), this.generation];
    if (!Number.isInteger(generation) || generation < first || generation > last) {
      const why = first > 1 ? "; older ones were dropped or compacted away (keep=)" : "";
      throw new ArgumentError(
        `${this.name} has generations ${first} to ${last}, not ${generation}${why}`,
      );
    }
    await this.core.call("open", this.core.size, generation - first + 1);
    this.commit = this.readCommit();
    await this.readParts();
  }

  readCommit() {
    const { core } = this;
    core.exports.commit();
    const [
      generation,
      seconds,
      nanoseconds,
      high,
      low,
      end,
      tail,
      lost,
      entries,
      segments,
      readOnly,
      at,
      size,
    ] = core.answer(13);
    return {
      generation,
      end,
      tail,
      lost,
      segments,
      read_only: readOnly !== 0,
      created: BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds),
      identity: hex(high) + hex(low),
      message: decoded(core.taken(at, size)) ?? "",
      entries: Array.from({ length: entries }, (_, i) => this.readEntry(i)),
    };
  }

  readEntry(i) {
    this.core.exports.entry(i);
    const [at, segment, flags, generation, place, size, items, extent] = this.core.answer(8);
    return {
      name: this.core.string(at),
      segment,
      flags,
      generation,
      at: place,
      size,
      items,
      extent,
    };
  }

  async readParts() {
    const raw = await this.sectionBytes("rag.config", 0);
    this.config = raw ? configOf(raw, this.name) : {};
    this.checkNeeds();
    await this.core.call("open_segments", METRICS.indexOf(this.config.metric ?? "cosine"));
    this.segments = Array.from({ length: this.commit.segments }, (_, i) => {
      this.core.exports.segment(i);
      const [number, rows, live, base] = this.core.answer(4);
      return { i, number, rows, live, base };
    });
    this.rows = this.segments.reduce((sum, one) => sum + one.rows, 0);
    this.length = this.segments.reduce((sum, one) => sum + one.live, 0);
    // files built for the web are searched by words first; all they need comes with the small sums
    if (this.config.layout === "web") await this.foresee();
    if (this.core.exports.fine_open) await this.core.call("fine_open");
  }

  /** Prefetch, once, the bytes that the first word search is likely to need. */
  async foresee() {
    if (this.commit.isForeseen) return;
    this.commit.isForeseen = true;
    await this.core.foresee(foreseen(this.segments, this.commit.entries));
  }

  /** Sections stand on one another; one without its ground is refused by name. */
  checkNeeds() {
    const there = new Set(this.commit.entries.map((e) => `${e.segment} ${e.name}`));
    for (const { segment, name } of this.commit.entries) {
      const missing = needsOf(name).find((other) => !there.has(`${segment} ${other}`));
      if (missing)
        throw new CorruptError(`section ${name} needs section ${missing}`, { section: missing });
    }
  }

  // -------------------------------------------------------------------------------- ---- contents ---

  numbered(generation) {
    return generation + (this.config.first_generation ?? 1) - 1;
  }

  get generation() {
    return this.numbered(this.commit.generation);
  }

  has(name, segment) {
    return this.commit.entries.some(
      (e) => e.name === name && (segment === undefined || e.segment === segment),
    );
  }

  hasLive(name) {
    return this.segments.some((one) => one.live && this.has(name, one.number));
  }

  /** The bytes of a section, checked, or null where there is none. */
  async sectionBytes(name, segment) {
    if (!this.has(name, segment)) return null;
    const { core } = this;
    return core.withText(encoded(`${name}\0`), async (at) => {
      await core.call("section", at, segment);
      const [place, size] = core.answer(2);
      return core.taken(place, size);
    });
  }

  async info() {
    const { commit, config } = this;
    return {
      path: this.name,
      format: "1.0",
      size: this.core.size,
      generation: this.generation,
      created: commit.created,
      message: commit.message,
      identity: commit.identity,
      chunks: this.length,
      deleted: this.rows - this.length,
      segments: this.segments.length,
      documents: await this.documentCount(),
      dim: config.dim ?? null,
      metric: config.metric ?? null,
      model: config.model ?? null,
      strategies: [...new Set(commit.entries.map((e) => e.name))],
      read_only: commit.read_only,
      tail: commit.tail,
      recovered: commit.lost !== 0,
      lost_generation: commit.lost ? this.numbered(commit.lost) : 0,
    };
  }

  async documentCount() {
    let count = 0;
    for (const segment of this.segments) {
      const entry = this.commit.entries.find(
        (e) => e.name === "rag.documents" && e.segment === segment.number,
      );
      if (!entry) continue;
      const whole = segment.live === segment.rows && !this.has("rag.gone", segment.number);
      if (whole) count += entry.size / 64;
      else for await (const _ of this.liveDocuments(segment)) count++;
    }
    return count;
  }

  // ---------------------------------------------------------------------------------------- rows ---

  place(row) {
    if (!Number.isInteger(row) || row < 0 || row >= this.rows)
      throw new ArgumentError(`row ${row} of ${this.rows}`);
    const segment = this.segments.findLast((one) => one.base <= row && row < one.base + one.rows);
    return { segment, local: row - segment.base };
  }

  isLive(segment, local) {
    const words = this.core.exports.alive(segment.i) >>> 0;
    return !words || ((this.core.bytes[words + (local >> 3)] >> (local & 7)) & 1) === 1;
  }

  async chunkRecord(segment, local) {
    const { core } = this;
    return core.withRoom([64], async (at) => {
      await core.call("record_chunk", segment.i, local, at);
      const [document, index, start, size, charStart, charSize, metaAt, metaSize] = floats(
        core,
        at,
        8,
      );
      return { document, index, start, size, charStart, charSize, metaAt, metaSize };
    });
  }

  async documentRecord(segment, number) {
    const { core } = this;
    return core.withRoom([96], async (at) => {
      await core.call("record_document", segment.i, number, at);
      const [
        place,
        size,
        blobAt,
        textSize,
        blobSize,
        textChars,
        hasText,
        metaAt,
        metaSize,
        firstRow,
        rows,
      ] = floats(core, at, 11);
      const id = decoded(core.bytes.subarray(place, place + size));
      if (id === null) throw new CorruptError("an id is not UTF-8", { section: "rag.ids" });
      return {
        id,
        blobAt,
        textSize,
        blobSize,
        textChars,
        hasText: hasText !== 0,
        metaAt,
        metaSize,
        firstRow,
        rows,
      };
    });
  }

  /** A copy of bytes of a segment's texts (meta: metadata). */
  async stream(segment, meta, at, size) {
    const { core } = this;
    if (size === 0) return new Uint8Array(0);
    return core.withRoom([8], async (place) => {
      await core.call("stream_read", segment.i, meta ? 1 : 0, at, size, place);
      return core.taken(core.view.getUint32(place, true), size);
    });
  }

  async textOf(segment, record, start, size) {
    if (start + size > record.blobSize)
      throw new CorruptError(`a text of document '${record.id}' is outside its bounds`, {
        section: "rag.chunks",
      });
    const text = decoded(await this.stream(segment, false, record.blobAt + start, size));
    if (text === null)
      throw new CorruptError(`the text of document '${record.id}' is not UTF-8`, {
        section: "rag.text",
      });
    return text;
  }

  /** The JSON object at a stretch of the metadata. */
  async fieldsAt(segment, at, size) {
    if (size === 0) return {};
    const key = `${segment.number} ${at} ${size}`;
    if (!this.fields.has(key)) {
      const found = parsed(await this.stream(segment, true, at, size));
      if (!areFields(found))
        throw new CorruptError(`invalid metadata at ${at} of segment ${segment.number}`, {
          section: "rag.meta",
        });
      if (this.fields.size >= KEPT_FIELDS) this.fields.clear();
      this.fields.set(key, found);
    }
    return this.fields.get(key);
  }

  /** Everything that makes hits of rows, asked for together. */
  async ready(rows) {
    const { core } = this;
    if (!rows.length) return;
    await core.withRoom([8 * rows.length], async (at) => {
      putRows(core, at, rows);
      await core.call("passages_ready", at, rows.length);
    });
  }

  async hitOf(row, score = 0, scoreType = "score", scores = {}) {
    const { segment, local } = this.place(row);
    if (!this.isLive(segment, local)) throw new ArgumentError(`row ${row} is deleted`);
    const chunk = await this.chunkRecord(segment, local);
    const record = await this.documentRecord(segment, chunk.document);
    const shared = await this.fieldsAt(segment, record.metaAt, record.metaSize);
    const own = await this.fieldsAt(segment, chunk.metaAt, chunk.metaSize);
    const isSpan = chunk.charStart >= 0;
    const metadata = structuredClone({ ...shared.metadata, ...own.metadata });
    return {
      id: `${record.id}#${chunk.index}`,
      doc_id: record.id,
      chunk_index: chunk.index,
      text: await this.textOf(segment, record, chunk.start, chunk.size),
      score,
      score_type: scoreType,
      scores,
      tags: [...(own.tags ?? shared.tags ?? [])],
      metadata,
      source: shared.source ?? "",
      start: isSpan ? chunk.charStart : -1,
      end: isSpan ? chunk.charStart + chunk.charSize : -1,
      standing: standingOf(metadata),
    };
  }

  // ----------------------------------------------------------------------------------- documents ---

  /** {segment, number, record} of the live document with an id, or null. */
  async find(id) {
    const { core } = this;
    for (const segment of this.segments.toReversed()) {
      const number = await core.withText(id, (text, size) =>
        core.withRoom([8], async (at) => {
          await core.call("record_find", segment.i, text, size, at);
          return core.view.getFloat64(at, true);
        }),
      );
      if (number < 0) continue;
      const record = await this.documentRecord(segment, number);
      if (await this.isLiveDocument(segment, number, record)) return { segment, number, record };
    }
    return null;
  }

  async isLiveDocument(segment, number, record) {
    if (record.rows) return this.isLive(segment, record.firstRow);
    const gone = await this.sectionBytes("rag.gone", segment.number);
    return !gone || (((gone[number >> 3] ?? 0) >> (number & 7)) & 1) === 0;
  }

  async *liveDocuments(segment) {
    const { core } = this;
    await core.withRoom([64], (at) =>
      segment.rows ? core.call("record_chunk", segment.i, 0, at) : null,
    );
    for (let number = 0; number < core.exports.record_count(segment.i); number++) {
      const record = await this.documentRecord(segment, number);
      if (await this.isLiveDocument(segment, number, record)) yield { segment, number, record };
    }
  }

  /** The row of a chunk id ("document#index"), or null. */
  async rowOf(id) {
    const { core } = this;
    const cut = id.lastIndexOf("#");
    const index = id.slice(cut + 1);
    if (!/^\d+$/.test(index) || Number(index) >= 2 ** 32) return null;
    const there = await this.find(id.slice(0, Math.max(cut, 0)));
    if (!there) return null;
    const row = await core.withRoom([8], async (at) => {
      await core.call("record_row", there.segment.i, there.number, Number(index), at);
      return core.view.getFloat64(at, true);
    });
    return row < 0 ? null : there.segment.base + row;
  }

  /** The document with an id, or null; with start and end, that stretch of its text. */
  async documentOf(id, { start = 0, end = Infinity } = {}) {
    const there = await this.find(id);
    if (!there) return null;
    const { segment, record } = there;
    const shared = await this.fieldsAt(segment, record.metaAt, record.metaSize);
    const whole = await this.textOf(segment, record, 0, record.textSize);
    const [from, to] = [Math.max(0, start), Math.min(end, record.textChars)];
    return {
      id,
      source: shared.source ?? "",
      metadata: structuredClone(shared.metadata ?? {}),
      tags: [...(shared.tags ?? [])],
      size: length(whole),
      start: from,
      end: Math.max(from, to),
      text: from === 0 && to >= record.textChars ? whole : sliced(whole, from, to),
    };
  }

  // --------------------------------------------------------------------------------------- checking ---

  /** The faults of every byte of the file, which is read whole for it: [{error, message, section}]. */
  async faultsOf(most) {
    const { core } = this;
    if (core.size > most)
      throw new ArgumentError(
        `${this.name} has ${core.size} bytes: more than ${most} are not checked here`,
      );
    const found = [];
    const at = core.allocate(core.size);
    try {
      for (let from = 0; from < core.size; from += PART) {
        const size = Math.min(PART, core.size - from);
        core.put(await this.source.read(from, size), at + from);
      }
      await core.withRoom([4], async (count) => {
        await core.call("check", at, core.size, 1, count);
        for (let i = 0; i < core.view.getUint32(count, true); i++)
          found.push(core.reason(core.exports.check_fault(i)));
      });
    } catch (error) {
      found.push(error);
    } finally {
      core.exports.release(at);
    }
    if (!found.length) await this.readAll().catch((error) => found.push(error));
    return found.map(({ name, message, section }) => ({ error: name, message, section }));
  }

  /** Checks that `rag.gone` marks documents without rows, as many as it has items. */
  async checkGone(segment) {
    const section = "rag.gone";
    const gone = await this.sectionBytes(section, segment.number);
    if (!gone) return;
    const count = this.core.exports.record_count(segment.i);
    const { items } = this.commit.entries.find(
      (e) => e.name === section && e.segment === segment.number,
    );
    const marked = [];
    for (let i = 0; i < 8 * gone.length; i++) if ((gone[i >> 3] >> (i & 7)) & 1) marked.push(i);
    let fits = gone.length === Math.ceil(count / 8) && marked.length === items;
    for (const number of marked)
      fits &&= number < count && !(await this.documentRecord(segment, number)).rows;
    if (!fits)
      throw new CorruptError("deleted documents that are not there, or have rows", { section });
  }

  /** Reads every record, text and vector head: whatever is wrong with one is an error. */
  async readAll() {
    for (const segment of this.segments) {
      if (!this.has("rag.chunks", segment.number)) continue;
      await this.checkGone(segment);
      for await (const { record } of this.liveDocuments(segment)) {
        const fields = await this.fieldsAt(segment, record.metaAt, record.metaSize);
        checkOriginal(record, fields, await this.textOf(segment, record, 0, record.textSize));
      }
      for (let row = 0; row < segment.rows; row++) {
        const chunk = await this.chunkRecord(segment, row);
        const record = await this.documentRecord(segment, chunk.document);
        await this.textOf(segment, record, chunk.start, chunk.size);
        await this.fieldsAt(segment, chunk.metaAt, chunk.metaSize);
      }
    }
    if (this.hasLive("rag.terms")) await this.lexical();
    if (this.hasLive("vector")) {
      await this.core.withRoom([4], (at) => this.core.call("vectors_open", at));
      for (const { i } of this.segments) await this.core.call("check_shadow", i);
    }
    for (const { i } of this.segments) {
      await this.core.call("check_bare", i);
      await this.core.call("check_sample", i);
    }
    for (const segment of this.segments) await this.checkTitles(segment);
  }

  /** Checks that `rag.titles` has the titles of the segment's documents, and no others. */
  async checkTitles(segment) {
    const { core } = this;
    if (!this.has("rag.chunks", segment.number)) return;
    const isThere = await core.withRoom([4], async (at) => {
      await core.call("check_titles", segment.i, at);
      return core.view.getUint32(at, true) !== 0;
    });
    if (!isThere) return;
    const { rules } = this.hasLive("rag.terms") ? await this.lexical() : { rules: 0 };
    for (let n = 0; n < core.exports.record_count(segment.i); n++) {
      const title = await this.titleOf(segment, n);
      if (typeof title === "string")
        await core.withText(title, (at, size) => core.call("check_title", n, at, size, rules));
    }
    await core.call("check_titles_end");
  }

  /** The title in the metadata of a document's first row; deleted documents count. */
  async titleOf(segment, number) {
    const record = await this.documentRecord(segment, number);
    if (!record.rows) return undefined;
    const chunk = await this.chunkRecord(segment, record.firstRow);
    const shared = await this.fieldsAt(segment, record.metaAt, record.metaSize);
    const own = await this.fieldsAt(segment, chunk.metaAt, chunk.metaSize);
    return { ...shared.metadata, ...own.metadata }.title;
  }

  // ------------------------------------------------------------------------------------ analysis ---

  /** How the file's words become terms, with the lexicons open. */
  async lexical() {
    if (this.analysis) return this.analysis;
    const { core } = this;
    await this.foresee();
    await core.call("words_open");
    const first = this.segments.find((one) => one.live);
    const config = await core.withRoom([8, 8], async (at, size) => {
      await core.call("words_config", first.i, at, size);
      return (
        decoded(core.taken(core.view.getUint32(at, true), core.view.getUint32(size, true))) ?? ""
      );
    });
    this.analysis = await analysisOf(
      config,
      async () => {
        const bits = await core.withRoom([4], async (at) => {
          await core.call("words_languages", at);
          return core.view.getUint32(at, true);
        });
        return [...Array(32).keys()].filter((number) => (bits >>> number) & 1);
      },
      () => {
        const size = core.exports.words_language_table(0, 0);
        const at = core.allocate(size);
        core.exports.words_language_table(at, size);
        const lines = decoded(core.bytes.slice(at, at + size)).split("\n");
        core.exports.release(at);
        return lines;
      },
    );
    return this.analysis;
  }
}

/** Check the recorded original text: its edits must apply, and the body must be inside the text. */
function checkOriginal({ id, textChars }, { original, body = 0 }, text) {
  const section = "rag.meta";
  if (body > textChars)
    throw new CorruptError(`the body of document '${id}' begins after its end`, { section });
  try {
    if (original?.length) restored(text, original);
  } catch (error) {
    throw new CorruptError(`the original text of document '${id}': ${error.message}`, { section });
  }
}

/** What the metadata stream may hold for a document or chunk. */
function areFields(fields) {
  return (
    isObject(fields) &&
    isObject(fields.metadata ?? {}) &&
    typeof (fields.source ?? "") === "string" &&
    Array.isArray(fields.tags ?? []) &&
    (fields.tags ?? []).every((tag) => typeof tag === "string") &&
    Array.isArray(fields.original ?? []) &&
    Number.isInteger(fields.body ?? 0) &&
    (fields.body ?? 0) >= 0
  );
}

export function putRows(core, at, rows) {
  new BigInt64Array(core.exports.memory.buffer, at, rows.length).set(
    BigInt64Array.from(rows, BigInt),
  );
}

export function rowsAt(core, at, count) {
  return Array.from(new BigInt64Array(core.exports.memory.buffer, at, count), Number);
}

const floats = (core, at, count) => [...new Float64Array(core.exports.memory.buffer, at, count)];
const hex = (number) => number.toString(16).padStart(8, "0");

/** An error with the file's name before its message. */
function named(error, name) {
  if (error.section !== undefined && !error.message.includes(name))
    error.message = `${name}: ${error.message}`;
  return error;
}
