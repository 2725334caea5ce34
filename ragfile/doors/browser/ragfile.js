/* From a question to passages:

    question ─ rows that pass ─ [words ─ vector] ─ both exact scores for every row ─ fusion ─ hits

as ragfile/knowledge_base.py does it. The scores, and all that decides which rows have which, come
from the C core; so rows, order and score bits are those of the Python package. */

import { CLUSTERS, marked } from "./analysis.js";
import { Archive, putRows, rowsAt } from "./open_file.js";
import { beside, fetched } from "./package_files.js";
import { Question, atMost } from "./retrieval.js";
import { ArgumentError, ModelError } from "./errors.js";
import { maskOf } from "./filters.js";
import { excerptLines, leastRows, missingOf, termsOf } from "./excerpts.js";
import { decoded, encoded } from "./text.js";

const MODEL = "potion-base-8M/1"; // the model shipped beside this file, if any
const NO_EMBEDDER =
  "the file does not record its embedder, or one that runs here: give the question's vector";
const KEPT_QUESTIONS = 256;

export class RagFile extends Archive {
  model = null; // a promise of the model in use
  vectors = new Map(); // of questions

  // -------------------------------------------------------------------------------------- asking ---

  /** The k best passages: {hits, degraded, mode, generation}. `mode` is the mode that was used. */
  search(question, options) {
    return this.core.alone(() => this.searched(question, options ?? {}));
  }

  /** The k best rows by BM25: {rows, scores}. */
  match(text, { k = 10, ...filter } = {}) {
    return this.core.alone(async () => {
      const depth = atMost(k, this.length);
      this.need("rag.terms");
      await this.filter(filter);
      return this.matched(text, depth);
    });
  }

  /** The k best rows for a vector: {rows, scores}. */
  nearest(vector, { k = 10, ...filter } = {}) {
    return this.core.alone(async () => {
      const depth = atMost(k, this.length);
      this.need("vector");
      await this.filter(filter);
      return this.near(Float32Array.from(vector), depth, -Infinity);
    });
  }

  hit(row) {
    return this.core.alone(async () => {
      await this.ready([row]);
      return this.hitOf(row);
    });
  }

  /** A document by its id, or null; with {start, end}, that stretch of its text. */
  document(id, span) {
    return this.core.alone(() => this.documentOf(id, span));
  }

  /** Checks every byte, and reads everything: [{error, message, section}], empty for a good file. */
  verify({ most = 512 << 20 } = {}) {
    return this.core.alone(() => this.faultsOf(most));
  }

  /** What the file is. */
  about() {
    return this.core.alone(() => this.info());
  }

  /** {links, backlinks}: the ids of the documents to which a document links, and of those that link to it; or null. */
  links(id) {
    return this.core.alone(() => this.graph.around(id));
  }

  /** The row of a chunk id, or null. */
  row(id) {
    return this.core.alone(() => this.rowOf(id));
  }

  /** The words of a text by the file's analyzer: [{word, start, end, whole}], in code points. */
  words(text) {
    return this.core.alone(async () => {
      const { rules } = await this.lexical();
      return this.wordsOf(text, rules);
    });
  }

  /** Loads what questions by meaning need, with progress(received, of all); false where there are none. */
  async prepare(progress) {
    if (!this.hasLive("vector") || !this.recordsModel()) return false;
    if (!(await this.core.alone(() => this.hasVectors()))) return false;
    await this.embedder(progress);
    return this.core.alone(async () => {
      this.core.progress = progress ?? null;
      try {
        await this.openVectors();
        const [vector] = [await this.embedded("a")];
        await this.near(vector, Math.min(1, this.length), -Infinity);
        await this.moments(vector);
        return true;
      } finally {
        this.core.progress = null;
      }
    });
  }

  // -------------------------------------------------------------------------------------- search ---

  async searched(text, options) {
    const asking = new Question(this, text, options);
    const { ranked, degraded } = await asking.answer();
    const { scoreType, rows, scores, parts } = ranked;
    await this.ready(rows);
    const hits = [];
    for (const [i, row] of rows.entries())
      hits.push(await this.hitOf(row, scores[i], scoreType, known(parts[i])));
    return { hits, degraded, generation: this.generation, rows };
  }

  /** Live rows whose metadata lists the name among its "keywords", or whose id, document or source it is. */
  async named(name, mask) {
    const rows = await maskOf(this.core, this.rows, { keywords: { $contains: name } });
    for (const { i, base, rows: count } of this.segments)
      for (let row = 0; row < count; row++) if (!this.isLive({ i }, row)) rows[base + row] = 0;
    const there = await this.find(name);
    if (there)
      rows.fill(
        1,
        there.segment.base + there.record.firstRow,
        there.segment.base + there.record.firstRow + there.record.rows,
      );
    const row = await this.rowOf(name);
    if (row !== null) rows[row] = 1;
    const found = [];
    rows.forEach((one, i) => one && (!mask || mask[i]) && found.push(i));
    return found;
  }

  /** Spans [start, end) of a passage's text, in code points, that have the question's words, stems included. */
  highlights(question, passage) {
    return this.core.alone(async () => {
      if (!this.hasLive("rag.terms")) return [];
      const text = Number.isInteger(passage) ? (await this.textsOf([passage]))[0] : passage;
      if (typeof text !== "string")
        throw new ArgumentError("highlights takes a row, or the text of a passage");
      const { readings, terms } = await this.lexical();
      const placed = async (of, without = 0) => {
        const all = [];
        for (const { rules, mark } of readings) {
          const found = await this.wordsOf(of, rules & ~without);
          const stems = terms(found.map((one) => marked(one, mark)));
          all.push(...found.map((one, i) => ({ ...one, term: one.whole ? one.word : stems[i] })));
        }
        return all;
      };
      const [words, there] = [await placed(question, CLUSTERS), await placed(text)];
      const asked = new Set(words.map(({ term }) => term).filter(Boolean));
      return spans(there.filter(({ term }) => asked.has(term)));
    });
  }

  /** The excerpt of each passage for people: {start, end, lines} without markup, the question's words marked or missing. */
  excerpts(question, passages, size) {
    return this.core.alone(async () => {
      const asked = await this.termsAsked(question);
      return passages.map(({ text, metadata }) => ({
        ...excerptLines(text, metadata ?? {}, asked, size),
        missing: missingOf(text, metadata ?? {}, asked),
      }));
    });
  }

  async termsAsked(question) {
    if (!this.hasLive("rag.terms")) 
      return { weights: new Map(), words: new Map(), places: () => [] };
    const { readings, terms } = await this.lexical();
    const known = new Map(); // word -> term
    const termOf = (word) => known.get(word) ?? known.set(word, terms([word])[0]).get(word);
    const read = (text, { rules, mark }, without) =>
      this.unitWords(text, rules & ~without).map((one) => ({
        term: one.whole ? one.word : termOf(marked(one, mark)),
        start: one.start,
        end: one.end,
      }));
    const places = (text, without = 0) =>
      byWord(readings.map((one) => read(text, one, without))).filter(({ term }) => term);
    await this.ask(question);
    const asked = places(question, CLUSTERS);
    const { words } = termsOf(question, asked, new Map());
    return { ...termsOf(question, asked, await this.rarities(leastRows(words))), places };
  }

  // --------------------------------------------------------------------------------------- words ---

  /** The rarity of each term of the question that was asked last, as if at least so many rows had it. */
  async rarities(least) {
    const { core } = this;
    const size = core.exports.words_terms(0, 0);
    const listed = await core.withRoom([size], (at) => {
      core.exports.words_terms(at, size);
      return core.bytes.slice(at, at + size);
    });
    const terms = (decoded(listed) ?? "").split("\0").slice(0, -1);
    return core.withRoom([8 * terms.length], async (at) => {
      await core.call("words_weights", at, least);
      const weights = new Float64Array(core.exports.memory.buffer, at, terms.length);
      return new Map(terms.map((term, i) => [term, weights[i]]));
    });
  }

  /** The words of a text with their places in UTF-16 units. */
  unitWords(text, rules) {
    const { core } = this;
    const bytes = encoded(text);
    const most = 32 * bytes.length + 64;
    const [at, out] = [core.allocate(bytes.length), core.allocate(most)];
    core.put(bytes, at);
    const used = Math.min(core.exports.words_of(at, bytes.length, rules, out, most), most);
    const found = core.wordList(out, used, text, (one) => one.length);
    for (const place of [at, out]) core.exports.release(place);
    return found;
  }

  /** How many rows have the rarest term of each text. */
  async rarest(texts) {
    const { core } = this;
    await this.ask(texts.map((text) => `${text}\0`).join(""), "words_ask_each");
    return core.withRoom([8 * texts.length], async (at) => {
      await core.call("words_rarest", texts.length, at);
      return [...new Float64Array(core.exports.memory.buffer, at, texts.length)];
    });
  }

  need(name) {
    const lacking = this.segments.find(
      (one) =>
        one.live &&
        !this.has(name, one.number) &&
        !(name === "vector" && this.has("rag.bare", one.number)),
    );
    if (lacking) throw new ArgumentError(`${this.name} has no section ${name}`);
  }

  /** The k best rows by BM25. */
  async matched(text, k) {
    if (!this.length || k === 0) return { rows: [], scores: new Float32Array(0) };
    this.need("rag.terms");
    await this.ask(text);
    const { core } = this;
    const room = k * core.exports.words_segments();
    return core.withRoom([8 * room, 4 * room, 8], async (rows, scores, kept) => {
      await core.call("words_match", k, rows, scores, kept);
      return found(core, rows, scores, core.view.getUint32(kept, true));
    });
  }

  /** The exact BM25 score of each row. */
  async wordScores(rows, text) {
    await this.ask(text);
    const { core } = this;
    const sorted = [...rows].sort((a, b) => a - b);
    return core.withRoom([8 * rows.length, 4 * rows.length], async (at, to) => {
      putRows(core, at, sorted);
      await core.call("words_score", at, rows.length, to);
      const scores = new Map(sorted.map((row, i) => [row, core.view.getFloat32(to + 4 * i, true)]));
      return rows.map((row) => scores.get(row));
    });
  }

  /** Makes the core's question this text's terms; with words_ask_each, those of texts that end with a NUL. */
  async ask(text, call = "words_ask") {
    const { rules, among, terms } = await this.lexical();
    const { core } = this;
    await core.withText(text, (at, size) =>
      core.withRoom([4, 4], async (place, count) => {
        await core.call(call, at, size, rules, among, place, count);
        const [from, length] = [core.view.getUint32(place, true), core.view.getUint32(count, true)];
        const words = length ? core.string0(from, length) : [];
        const known = encoded(
          terms(words)
            .map((term) => `${term}\0`)
            .join(""),
        );
        await core.withText(known, (terms_, bytes) => core.call("words_resolve", terms_, bytes));
      }),
    );
  }

  wordsOf(text, rules) {
    const { core } = this;
    return core.withText(text, (at, size) =>
      core.withRoom([32 * size + 64], (out) => {
        const used = core.exports.words_of(at, size, rules, out, 32 * size + 64);
        return core.wordList(out, Math.min(used, 32 * size + 64), text);
      }),
    );
  }

  // ------------------------------------------------------------------------------------- vectors ---

  async openVectors() {
    if (this.dim) return;
    const { core } = this;
    this.need("vector");
    this.dim = await core.withRoom([4], async (at) => {
      await core.call("vectors_open", at);
      return core.view.getUint32(at, true);
    });
  }

  /** Whether a live row has a vector; rag.bare lists the rows without one. */
  async hasVectors() {
    if (!this.hasLive("vector")) return false;
    if (!this.has("rag.bare")) return true;
    await this.openVectors();
    return this.core.exports.vectors_segments() > 0;
  }

  /** Why vectors are not searched here, or "". */
  tooLarge() {
    const size = this.core.exports.vectors_size();
    const room = this.options.vectors ?? 512 << 20;
    if (size <= room) return "";
    return `the vectors need ${Math.ceil(size / 1e6)} MB of memory at once, more than the ${Math.floor(room / 1e6)} MB that are allowed`;
  }

  async near(vector, k, least) {
    if (!this.length || k === 0) return { rows: [], scores: new Float32Array(0) };
    await this.openVectors();
    const { core } = this;
    const room = k * core.exports.vectors_segments();
    if (room === 0) return { rows: [], scores: new Float32Array(0) };
    return this.withVector(vector, (at, size) =>
      core.withRoom([8 * room, 4 * room, 8], async (rows, scores, kept) => {
        await core.call("vectors_nearest", at, size, k, least, rows, scores, kept);
        return found(core, rows, scores, core.view.getUint32(kept, true));
      }),
    );
  }

  async vectorScores(rows, vector) {
    const { core } = this;
    if (!rows.length) return [];
    return this.withVector(vector, (query, size) =>
      core.withRoom([8 * rows.length, 4 * rows.length], async (at, to) => {
        putRows(core, at, rows);
        await core.call("vectors_score", query, size, at, rows.length, to);
        return Array.from(new Float32Array(core.exports.memory.buffer, to, rows.length));
      }),
    );
  }

  moments(vector) {
    const { core } = this;
    return this.withVector(vector, (query, size) =>
      core.withRoom([16], async (at) => {
        await core.call("sample_moments", query, size, at);
        return [core.view.getFloat64(at, true), core.view.getFloat64(at + 8, true)];
      }),
    );
  }

  withVector(vector, call) {
    return this.core.withRoom([4 * vector.length], (at) => {
      new Float32Array(this.core.exports.memory.buffer, at, vector.length).set(vector);
      return call(at, vector.length);
    });
  }

  /** [vector, ""] or [null, why there is none]. */
  async vectorOf(text) {
    try {
      if (!this.recordsModel()) return [null, NO_EMBEDDER];
      await this.openVectors();
      const why = this.tooLarge();
      if (why) return [null, why];
      await this.embedder();
      return [await this.embedded(text), ""];
    } catch (error) {
      if (error.section !== undefined) throw error; // the file's own fault
      return [null, `no embedding: ${error.message}`];
    }
  }

  /** Whether the file was built with the model shipped beside this module. */
  recordsModel() {
    const { spec, name } = this.config.model ?? {};
    if (this.options.model === null) return false;
    return name === (this.options.modelName ?? MODEL) && (spec === "default" || spec === name);
  }

  embedder(progress) {
    this.model ??= this.loadModel(progress).catch((error) => {
      this.model = null;
      throw error;
    });
    return this.model;
  }

  async loadModel(progress) {
    const place = this.options.model ?? beside("potion-base-8M.ragmodel");
    const bytes = ArrayBuffer.isView(place) ? place : await fetched(place, progress);
    const { core } = this;
    const at = core.allocate(bytes.length + 64);
    core.put(bytes, at);
    await core.withRoom([4, 4], async (dims, name) => {
      await core.call("model_open", at, bytes.length, dims, name);
      const [made, named] = [
        core.view.getUint32(dims, true),
        core.string(core.view.getUint32(name, true)),
      ];
      const { name: wanted } = this.config.model;
      if (named !== wanted || made !== this.config.dim)
        throw new ModelError(
          `${this.name} was built with ${wanted} (${this.config.dim} dimensions), not ${named} (${made})`,
        );
    });
    return this.config.dim;
  }

  async embedded(text) {
    const known = this.vectors.get(text);
    if (known) return known;
    const dims = await this.model;
    const { core } = this;
    const vector = await core.withText(text, (at, size) =>
      core.withRoom([4 * dims], (to) => {
        core.exports.model_embed(at, size, to);
        return new Float32Array(core.exports.memory.buffer, to, dims).slice();
      }),
    );
    if (this.vectors.size >= KEPT_QUESTIONS) this.vectors.clear();
    this.vectors.set(text, vector);
    return vector;
  }

  /** The weight of a question's vector, by the share of the question that the model knows. */
  async weightOf(text, weight, counted, foreign) {
    if (!this.recordsModel()) return weight;
    await this.embedder();
    const { core } = this;
    const known = await core.withText(text, (at, size) =>
      core.exports.words_foreign(at, size)
        ? Math.min(foreign, core.exports.model_known(at, size))
        : core.exports.model_known(at, size),
    );
    return core.exports.fusion_weight(weight, counted, known);
  }

  // -------------------------------------------------------------------------------------- fusion ---

  /** What ties go by: the rows themselves in one segment, the order of their keys in several. */
  async ties(rows) {
    if (this.segments.filter((one) => one.live).length < 2) return rows;
    const { core } = this;
    return core.withRoom([8 * rows.length, 8 * rows.length], async (at, to) => {
      putRows(core, at, rows);
      await core.call("ties_of", at, rows.length, to);
      return rowsAt(core, to, rows.length);
    });
  }

  withScale(by, bm25, near, call, best = bm25.reduce((a, b) => Math.max(a, b), 0)) {
    const { core } = this;
    return core.withRoom([32, 4 * bm25.length, 4 * near.length], (at, words, dense) => {
      const { buffer } = core.exports.memory;
      new Float64Array(buffer, at, 4).set([best, by.mean, by.deviation, by.weight]);
      new Float32Array(buffer, words, bm25.length).set(bm25);
      new Float32Array(buffer, dense, near.length).set(near);
      return call(at, words, dense);
    });
  }

  least(by, bm25, near, k, rest, hasEvidence) {
    if (!bm25.length) return -Infinity;
    return this.withScale(by, bm25, near, (at, words, dense) =>
      this.core.exports.fusion_least(at, words, dense, bm25.length, k, rest, hasEvidence ? 1 : 0),
    );
  }

  /** The order of rows by both scores; `best` is the words' best one, if these rows do not have it. */
  calibrated(by, bm25, near, ties, best) {
    const { core } = this;
    const count = ties.length;
    const ranked = (at, words, dense) =>
      core.withRoom([8 * count, 8 * count, 8 * count], async (tied, order, scores) => {
        putRows(core, tied, ties);
        if (count) await core.call("fusion_rank", at, words, dense, tied, count, order, scores);
        return {
          order: rowsAt(core, order, count),
          scores: [...new Float64Array(core.exports.memory.buffer, scores, count)],
        };
      });
    return this.withScale(by, bm25, near, ranked, best);
  }

  /** All candidates of a text in their order as source code. */
  async rankedAsCode(text, ranked) {
    const { core } = this;
    const { rows, scores, parts } = ranked;
    const [words, count] = [encoded(text), rows.length];
    const sizes = [words.length, 8 * count, 8 * count, 8 * count, 8 * count];
    return core.withRoom(sizes, async (at, from, by, order, to) => {
      core.put(words, at);
      putRows(core, from, rows);
      new Float64Array(core.exports.memory.buffer, by, count).set(scores);
      if (count) await core.call("code_rank", at, words.length, from, by, count, order, to);
      const places = rowsAt(core, order, count);
      return {
        ...ranked,
        rows: places.map((i) => rows[i]),
        parts: places.map((i) => parts[i]),
        scores: [...new Float64Array(core.exports.memory.buffer, to, count)],
      };
    });
  }

  /** Raise the best row of each document by the share of evidence: {order, scores} of a ranking. */
  async raised(rows, ties, scores, share) {
    const { core } = this;
    const size = 8 * rows.length;
    return core.withRoom([size, size, size, size], async (at, tied, to, order) => {
      putRows(core, at, rows);
      putRows(core, tied, ties);
      new Float64Array(core.exports.memory.buffer, to, rows.length).set(scores);
      await core.call("fusion_evidence", at, tied, rows.length, share, to, order);
      return {
        order: rowsAt(core, order, rows.length),
        scores: [...new Float64Array(core.exports.memory.buffer, to, rows.length)],
      };
    });
  }

  /** How many rows of a ranking count as evidence. */
  counted(scores) {
    const { core } = this;
    return core.withRoom([8 * scores.length], (at) => {
      new Float64Array(core.exports.memory.buffer, at, scores.length).set(scores);
      return core.exports.fusion_evidence_count(at, scores.length);
    });
  }

  // -------------------------------------------------------------------------------- what rows are ---

  /** The stored vector of each row; zeros for a row that has none. */
  async vectorsOf(rows) {
    await this.openVectors();
    const { core } = this;
    await this.vectorScores(rows, new Float32Array(this.dim)); // which brings all rows at once
    const found = [];
    for (const row of rows)
      found.push(
        await core.withRoom([4 * this.dim], async (at) => {
          const { segment } = this.place(row);
          if (!this.has("vector", segment.number)) return new Float32Array(this.dim).fill(NaN);
          await core.call("vectors_row", row, at);
          return new Float32Array(core.exports.memory.buffer, at, this.dim).slice();
        }),
      );
    return found;
  }

  async textsOf(rows) {
    const hits = await this.hitsOf(rows);
    return hits.map(({ text }) => text);
  }

  async metadataOf(rows) {
    const hits = await this.hitsOf(rows);
    return hits.map(({ metadata }) => metadata);
  }

  async hitsOf(rows) {
    await this.ready(rows);
    const hits = [];
    for (const row of rows) hits.push(await this.hitOf(row));
    return hits;
  }

  // ------------------------------------------------------------------------------------- filters ---

  /** Sets which rows the core finds: a filter, row numbers or ids, tags, all but one. The mask, or null. */
  async filter({ where = null, tags = null, tagsAny = tags ?? [], tagsAll = [] }, without = null) {
    let mask = await this.mask(where, tagsAny, tagsAll);
    if (without !== null) (mask ??= new Uint8Array(this.rows).fill(1))[without] = 0;
    const { core } = this;
    if (!mask) await core.call("filter", 0);
    else
      await core.withRoom([mask.length], (at) => {
        core.put(mask, at);
        return core.call("filter", at);
      });
    return mask;
  }

  async mask(where, tagsAny, tagsAll) {
    if (Array.isArray(where)) {
      const chosen = await this.chosen(where);
      const tagged = await this.mask(null, tagsAny, tagsAll);
      return tagged ? chosen.map((one, i) => one & tagged[i]) : chosen;
    }
    return maskOf(this.core, this.rows, where, { tagsAny, tagsAll });
  }

  /** The rows of row numbers, where -1 names none, or of ids of chunks and documents. */
  async chosen(where) {
    const mask = new Uint8Array(this.rows);
    for (const one of where) {
      if (Number.isInteger(one)) {
        if (one < -1 || one >= this.rows)
          throw new ArgumentError(`row ${one} is outside the file's ${this.rows} rows`);
        if (one >= 0) mask[one] = 1;
      } else if (typeof one === "string") {
        const row = await this.rowOf(one);
        if (row !== null) mask[row] = 1;
        const there = await this.find(one);
        if (there)
          mask.fill(
            1,
            there.segment.base + there.record.firstRow,
            there.segment.base + there.record.firstRow + there.record.rows,
          );
      } else throw new ArgumentError("where is a filter (an object), row numbers, or ids");
    }
    return mask;
  }
}

/** Places as spans, those that overlap as one. */
function spans(places) {
  const found = [];
  for (const { start, end } of places.sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = found.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}

function found(core, rows, scores, count) {
  return {
    rows: rowsAt(core, rows, count),
    scores: new Float32Array(core.exports.memory.buffer, scores, count).slice(),
  };
}

/** The scores that a passage has: of one without a vector, that by words. */
function known(scores) {
  return Object.fromEntries(Object.entries(scores).filter(([, score]) => !Number.isNaN(score)));
}

/** The places of words by several readings, word by word, each term of a word once. */
function byWord(readings) {
  if (readings.length === 1) return readings[0];
  return readings[0].flatMap((_, i) => {
    const terms = new Map(readings.map((places) => [places[i].term, places[i]]));
    return [...terms.values()];
  });
}
