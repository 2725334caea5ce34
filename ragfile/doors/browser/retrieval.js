/* One question: check its options, run the retrievers, and fuse and reorder their candidates into one ranking.
ragfile.js makes the hits. */

import { ArgumentError } from "./errors.js";
import { methodOf, parameterOf } from "./fusion.js";
import { NAMED_ROWS, withNamed } from "./named_pages.js";
import {
  boosted,
  checkedBoosts,
  listsFused,
  page,
  reaching,
  spread,
  taken,
  withUnlike,
} from "./refinement.js";

const MODES = ["hybrid", "vector", "bm25", "sparse", "keyword"];
const TRANSFORMER_WEIGHT = 4;
const SPARE = 4; // rows that a retriever hands over for each place of a distinct answer
const DEEPER = 4;
const EVIDENCE_ROWS = 50; // as in the core
const OPTIONS = new Set(
  (
    "k mode pool fusion vector where tags tagsAny tagsAll offset minScore boost dropRepeats diversity similarTo" +
    " rewrites hops"
  ).split(" "),
);
const NOTHING = { scoreType: "none", rows: [], scores: [], parts: [] };

export class Question {
  constructor(file, text, options) {
    if (typeof text !== "string")
      throw new ArgumentError(`a question is a string, not ${typeof text}`);
    checkNames(options);
    const {
      k = 12,
      mode = "hybrid",
      pool = 50,
      offset = 0,
      fusion = null,
      vector = null,
      hops = 1,
    } = options;
    if (!MODES.includes(mode))
      throw new ArgumentError(`unknown mode '${mode}': use one of ${MODES.join(", ")}`);
    if (mode === "sparse") throw new ArgumentError("mode 'sparse' is not implemented in browsers");
    if (![0, 1, 2].includes(hops)) throw new ArgumentError(`hops is 0, 1 or 2, not ${hops}`);
    Object.assign(this, { file, text, mode, vector, options, hops });
    const { length } = file;
    [this.k, this.offset] = [atMost(k, length), atMost(offset, length)];
    this.fusion = methodOf(fusion, file.config.fusion ?? {});
    this.takeWishes(options);
    this.wanted = this.offset + this.k;
    const proposed = this.dropRepeats ? Math.max(pool, SPARE * (k + offset)) : pool;
    this.pool = Math.max(this.k, atMost(proposed, length)); // rows that each retriever proposes
  }

  takeWishes({ minScore = null, boost = [], dropRepeats = false, diversity = 0, rewrites = [] }) {
    if (minScore !== null && !(typeof minScore === "number" && minScore < Infinity))
      throw new ArgumentError(`minScore is a score that passages can reach, not ${minScore}`);
    if (!(diversity >= 0 && diversity <= 1))
      throw new ArgumentError(`diversity must be between 0 and 1, not ${diversity}`);
    if (!Array.isArray(rewrites) || rewrites.some((one) => typeof one !== "string"))
      throw new ArgumentError("rewrites are a list of texts");
    if (rewrites.length && this.mode === "keyword")
      throw new ArgumentError("rewrites do not go with keyword mode");
    Object.assign(this, { minScore, boost: checkedBoosts(this.file.core, boost), dropRepeats, diversity, rewrites });
  }

  /** {ranked, degraded} */
  async answer() {
    const { file } = this;
    const without = await this.likeness();
    const mask = (this.passing = await file.filter(this.options, without));
    if (this.mode === "keyword") return { ranked: await this.named(mask), degraded: "" };
    const texts = [this.text, ...this.rewrites];
    const vectors = this.vector && this.rewrites.length ? [...this.vector] : [this.vector];
    if (this.vector && vectors.length !== texts.length)
      throw new ArgumentError(`${texts.length} wordings have a vector each, not ${vectors.length}`);
    const legs = [];
    for (const [i, text] of texts.entries()) legs.push(await this.legs(text, vectors[i] ?? null));
    const ask = (depth) =>
      this.rewrites.length ? this.widened(legs, depth) : this.candidates(legs[0], depth);
    const ranked = this.dropRepeats
      ? await this.unlike(legs[0], ask)
      : await this.refined(await ask(this.pool));
    return { ranked, degraded: legs[0].degraded };
  }

  /** Takes the text and vector of a passage that is there; its row, which is left out, or null. */
  async likeness() {
    const { file } = this;
    const { similarTo = null } = this.options;
    if (similarTo === null) return null;
    const row = typeof similarTo === "string" ? await file.rowOf(similarTo) : similarTo;
    if (row !== null) file.place(row); // a row that there is
    if (row === null)
      throw new ArgumentError(`${file.name} has no chunk '${similarTo}', which similarTo names`);
    this.text ||= (await file.textsOf([row]))[0];
    if (!this.vector && (await file.hasVectors())) {
      const [stored] = await file.vectorsOf([row]);
      if (!Number.isNaN(stored[0])) this.vector = stored;
    }
    return row;
  }

  async named(mask) {
    const rows = (await this.file.named(this.text, mask)).slice(this.offset, this.wanted);
    return {
      scoreType: "keyword",
      rows,
      scores: rows.map(() => 1),
      parts: rows.map(() => ({ keyword: 1 })),
    };
  }

  /** {text, vector or null, whether words are asked, why a retriever of this mode is left out or ""} */
  async legs(text, given) {
    const { file, mode } = this;
    let [vector, degraded] = [null, ""];
    if (!file.length) return { text, vector, hasWords: false, degraded };
    if (mode !== "bm25") {
      if (!(await file.hasVectors())) degraded = "the file has no vectors";
      else if (given) vector = Float32Array.from(given);
      else [vector, degraded] = await file.vectorOf(text);
    }
    let hasWords = mode !== "vector" || vector === null;
    if (hasWords && !file.hasLive("rag.terms")) {
      hasWords = false;
      degraded ||= "the file has no BM25 index";
    }
    return { text, vector, hasWords, degraded };
  }

  /** Whether the paths of source code count; code_rank.c has the rule. */
  get ranksCode() {
    return this.file.config.code !== undefined && (this.options.similarTo ?? null) === null;
  }

  /** Whether rows after the best can come into the answer. */
  get looksBeyond() {
    return this.dropRepeats || this.diversity > 0 || this.boost.length > 0;
  }

  // ---------------------------------------------------------------------------------- candidates --

  /** The rows that the retrievers propose for one wording, ranked. */
  async candidates(legs, depth, wanted = this.wanted, beyond = this.looksBeyond) {
    const { text, vector, hasWords } = legs;
    if (vector) await this.file.openVectors();
    const { file } = this;
    const ranksCode = hasWords && this.ranksCode;
    const share = hasWords && !ranksCode ? this.namedShare(vector !== null) : 0;
    if (!vector || !hasWords) {
      const found = await this.byOne(legs, Math.max(depth, wanted));
      if (ranksCode) return file.rankedAsCode(text, found);
      return share ? withNamed(this, found, { text, share }) : found;
    }
    beyond ||= ranksCode;
    const led = share ? Math.max(wanted, NAMED_ROWS) : wanted;
    const [method, params] = this.fusion;
    const words = await file.matched(text, depth);
    const known = await file.vectorScores(words.rows, vector);
    let [by, least] = [null, -Infinity];
    if (method === "calibrated") {
      by = await this.scale(text, vector, params);
      const rest = words.rows.length === depth && depth > 0 ? words.scores.at(-1) : 0;
      const hasEvidence = params.evidence > 0;
      if (!beyond) least = await file.least(by, words.scores, known, led, rest, hasEvidence);
    }
    const dense = await file.near(vector, depth, least);
    const ranked = await this.fused({ text, method, params, by, words, known, dense });
    const width = share ? Math.max(led, EVIDENCE_ROWS) : wanted;
    const found = page(ranked, 0, beyond ? 2 * depth : width);
    if (ranksCode) return file.rankedAsCode(text, found);
    return share ? withNamed(this, found, { text, vector, share, by, best: ranked.best }) : found;
  }

  /** The share by which named pages rise in the answer, 0 if the rule does not apply. */
  namedShare(isHybrid) {
    const { file, hops } = this;
    const [method, params] = this.fusion;
    const isOther = isHybrid ? method !== "calibrated" : false;
    const hasNames = file.hasLive("rag.titles") || file.hasLive("graph");
    if (!hops || isOther || !hasNames || (this.options.similarTo ?? null) !== null) return 0;
    const { named = 0, linked = 0 } = isHybrid ? params : (file.config.fusion ?? {});
    this.linked = linked;
    return named && hops === 2 ? 1 : named;
  }

  async byOne({ text, vector, hasWords }, depth) {
    const { file } = this;
    if (!vector && !hasWords) return NOTHING;
    const leg = hasWords
      ? await file.matched(text, depth)
      : await file.near(vector, depth, -Infinity);
    const name = hasWords ? "bm25" : "vector";
    const scores = [...leg.scores];
    return {
      scoreType: name,
      rows: leg.rows,
      scores,
      parts: scores.map((one) => ({ [name]: one })),
    };
  }

  async scale(text, vector, { w = TRANSFORMER_WEIGHT, known, foreign = 1 }) {
    const [mean, deviation] = await this.file.moments(vector);
    return { mean, deviation, weight: known ? await this.file.weightOf(text, w, known, foreign) : w };
  }

  /** The union of both legs, each row with both exact scores, ranked. */
  async fused({ text, method, params, by, words, known, dense }) {
    const { file } = this;
    const there = new Set(words.rows);
    const added = [...dense.rows.keys()].filter((i) => !there.has(dense.rows[i]));
    const new_ = added.map((i) => dense.rows[i]);
    const rows = [...words.rows, ...new_];
    const more = new_.length ? await file.wordScores(new_, text) : [];
    const bm25 = Float32Array.from([...words.scores, ...more]);
    const near = Float32Array.from([...known, ...added.map((i) => dense.scores[i])]);
    const ties = await file.ties(rows);
    const { order, scores } = by
      ? await this.weighed(await file.calibrated(by, bm25, near, ties), rows, ties, params)
      : await byRank(file.core, method, params, rows, ties, [dense, words]);
    const parts = order.map((i) => ({ bm25: bm25[i], vector: near[i] }));
    const best = bm25.reduce((a, b) => Math.max(a, b), 0);
    return { scoreType: method, rows: order.map((i) => rows[i]), scores, parts, best };
  }

  /** A ranking of rows with the evidence of their documents. */
  async weighed({ order, scores }, rows, ties, { evidence }) {
    if (!evidence) return { order, scores };
    const of = (list) => order.map((i) => list[i]);
    const found = await this.file.raised(of(rows), of(ties), scores, evidence);
    return { order: found.order.map((i) => order[i]), scores: found.scores };
  }

  /** The answers to all wordings, by their ranks; the scores by retriever are those of the question. */
  async widened(legs, depth) {
    const { file } = this;
    const found = [];
    for (const each of legs) found.push(await this.candidates(each, depth, depth, false));
    const rows = [...new Set(found.flatMap((one) => one.rows))].sort((a, b) => a - b);
    const ties = await file.ties(rows);
    const { order, scores } = await byRank(file.core, "rrf", {}, rows, ties, found);
    const best = order.map((i) => rows[i]);
    const parts = best.map(() => ({}));
    const [{ text, vector, hasWords }] = legs;
    const words = hasWords && best.length ? await file.wordScores(best, text) : null;
    const near = vector && best.length ? await file.vectorScores(best, vector) : null;
    parts.forEach((part, i) => {
      if (words) part.bm25 = words[i];
      if (near) part.vector = near[i];
    });
    return { scoreType: "rrf", rows: best, scores, parts };
  }

  // ------------------------------------------------------------------------------------ refining --

  async refined(ranked) {
    return this.placed(await this.raised(ranked));
  }

  /** All candidates with their boosts, without those that score too little. */
  async raised(ranked) {
    if (this.boost.length)
      ranked = await boosted(
        this.file.core,
        ranked,
        await this.file.metadataOf(ranked.rows),
        this.boost,
      );
    return this.minScore === null ? ranked : reaching(ranked, this.minScore);
  }

  /** The page of the question, spread out if it wants that. */
  async placed(ranked) {
    const { file, wanted, diversity } = this;
    if (diversity) {
      if (!(await file.hasVectors()))
        throw new ArgumentError(`${file.name} has no vectors, which diversity compares`);
      const vectors = await file.vectorsOf(ranked.rows);
      ranked = taken(ranked, await spread(file.core, ranked.scores, vectors, wanted, diversity));
    }
    return page(ranked, this.offset, this.k);
  }

  /** Without passages that nearly repeat a better one: asked deeper until the places are filled. */
  async unlike(legs, ask) {
    const { file, wanted } = this;
    for (let depth = this.pool; ; depth = Math.min(depth * DEEPER, file.length)) {
      const found = await ask(depth);
      const isAll = found.rows.length < depth || depth >= file.length;
      const sure = isAll ? found.rows.length : await this.sure(found, legs, depth);
      const raised = await this.raised(found);
      const known = Math.min(raised.rows.length, sure);
      const kept = await this.first(
        raised.rows.slice(0, known),
        this.diversity ? Infinity : wanted,
      );
      if (isAll || kept.length >= wanted || raised.rows.length < sure)
        return this.placed(taken(raised, kept));
    }
  }

  /** How many candidates stand where they would stand in the ranking of all rows. */
  async sure({ scoreType, scores, parts }, { text, vector }, depth) {
    const reranks = this.boost.length || this.diversity || this.ranksCode;
    if (scoreType !== "calibrated" || reranks) return scores.length;
    const by = await this.scale(text, vector, this.fusion[1]);
    const known = (score) => (Number.isNaN(score) ? Math.fround(by.mean) : score); // without a vector
    const last = (name) => parts.map((part) => known(part[name])).sort((a, b) => b - a)[depth - 1];
    const near = Math.max(last("vector"), Math.fround(by.mean));
    const best = parts.reduce((most, { bm25 }) => Math.max(most, bm25), 0);
    const one = (score) => Float32Array.of(score);
    const end = await this.file.calibrated(by, one(last("bm25")), one(near), [0], best);
    const isSure = (score) => score > end.scores[0];
    if (this.fusion[1].evidence) {
      const of = (name) => Float32Array.from(parts, (part) => part[name]);
      const places = parts.map((_, i) => i);
      const own = await this.file.calibrated(by, of("bm25"), of("vector"), places, best);
      const counted = await this.file.counted(own.scores);
      if (own.scores.filter(isSure).length < counted) return 0;
    }
    return scores.filter(isSure).length;
  }

  /** Places of the first rows that do not repeat one before, read in pieces as far as needed. */
  first(rows, limit) {
    const PIECE = 32;
    return withUnlike(this.file.core, async (seen) => {
      const kept = [];
      for (let at = 0; at < rows.length && kept.length < limit; at += PIECE) {
        const isNew = await this.newOf(rows.slice(at, at + PIECE), seen);
        isNew.forEach((one, i) => one && kept.length < limit && kept.push(at + i));
      }
      return kept;
    });
  }

  async newOf(rows, seen) {
    const { file } = this;
    return (await file.hasVectors())
      ? seen.vectors(await file.vectorsOf(rows))
      : seen.texts(await file.textsOf(rows));
  }
}

function checkNames(options) {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.has(name))
      throw new ArgumentError(
        `a search has no option '${name}' here: it has ${[...OPTIONS].join(", ")}`,
      );
  }
}

export function atMost(k, length) {
  if (!Number.isInteger(k) || k < 0)
    throw new ArgumentError(`k, pool and offset are whole numbers from 0 on, not ${k}`);
  return Math.min(k, length);
}

/** Lists fused; ties are the places of rows in the order of their keys. */
async function byRank(core, method, params, rows, ties, legs) {
  const tie = new Map(rows.map((row, i) => [row, ties[i]]));
  const place = new Map(ties.map((one, i) => [one, i]));
  const lists = legs.map((leg) => ({
    rows: leg.rows.map((row) => tie.get(row)),
    scores: leg.scores,
  }));
  const by = parameterOf(method, params);
  const weights = lists.map((_, i) => (i ? 1 - by : by)); // of a blend: vectors, then words
  const found = await listsFused(core, method, lists, by, weights);
  return { order: found.rows.map((one) => place.get(one)), scores: found.scores };
}
