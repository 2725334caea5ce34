/* Reorder and trim a fused ranking before the page is cut, like ragfile/search/refinement.py
and repeats.py: boosts, the minimum score, repeats, diversity. The core computes them; this module
carries numbers to it and rows back. Only candidates that the retrievers proposed take part.

A ranking is {scoreType, rows, scores, parts}, parts being the scores by retriever of each row. */

import { ArgumentError, MemoryError } from "./errors.js";
import { isObject } from "./config.js";
import { putRows, rowsAt } from "./open_file.js";
import { words } from "./sentences.js";
import { encoded } from "./text.js";

const SAME_COSINE = 0.98;
const SAME_BITS = 3;

/** A ranking with the places in `kept` alone, in that order. */
export function taken({ scoreType, rows, scores, parts }, kept) {
  const of = (list) => kept.map((i) => list[i]);
  return { scoreType, rows: of(rows), scores: of(scores), parts: of(parts) };
}

/** The places from `offset` on, k of them. */
export function page(ranked, offset, k) {
  const places = ranked.rows.map((_, i) => i).slice(offset, offset + k);
  return taken(ranked, places);
}

export function reaching(ranked, least) {
  return taken(
    ranked,
    ranked.rows.map((_, i) => i).filter((i) => ranked.scores[i] >= least),
  );
}

// ----------------------------------------------------------------------------------------- lists --

/** Ranked lists {rows, scores} as one, by "rrf" with its constant or by "blend" with weights. */
export function listsFused(core, method, lists, constant, weights) {
  const rows = lists.flatMap((list) => list.rows);
  const scores = lists.flatMap((list) => [...list.scores]);
  const [size, count] = [8 * rows.length, lists.length];
  return core.withRoom(
    [size, size, 4 * count, 8 * count, size, size, 4],
    async (from, by, counts, weighed, to, out, found) => {
      const { buffer } = core.exports.memory;
      putRows(core, from, rows);
      new Float64Array(buffer, by, scores.length).set(scores);
      new Uint32Array(buffer, counts, count).set(lists.map((list) => list.rows.length));
      new Float64Array(buffer, weighed, count).set(weights);
      const given = [from, by, counts, weighed, count, to, out, found];
      await core.call("lists_fuse", method === "rrf" ? 1 : 0, constant, ...given);
      const kept = core.view.getUint32(found, true);
      return {
        rows: rowsAt(core, to, kept),
        scores: [...new Float64Array(core.exports.memory.buffer, out, kept)],
      };
    },
  );
}

// ----------------------------------------------------------------------------------------- boosts --

/** Boosts with all that they need; one alone can stand for a list. */
export function checkedBoosts(core, given) {
  const boosts = isObject(given) ? [given] : [...(given ?? [])];
  for (const boost of boosts) {
    const names = isObject(boost) ? Object.keys(boost).sort().join() : "";
    if (names !== "field,halfLife,reference,weight")
      throw new ArgumentError("a boost has field, weight, reference and halfLife");
    if (!numberOf(core, boost.reference))
      throw new ArgumentError(
        `the reference of a boost is a number or a date, not ${JSON.stringify(boost.reference)}`,
      );
    if (!(boost.halfLife > 0) || !Number.isFinite(boost.weight))
      throw new ArgumentError("a boost has a finite weight, and halfLife is more than 0");
  }
  return boosts;
}

/** Add the boosts, computed from a list of metadata for each row, and rank again. */
export function boosted(core, ranked, metadata, boosts) {
  const count = ranked.rows.length;
  const references = boosts.map(({ reference }) => numberOf(core, reference));
  const factors = boosts.flatMap(({ weight, halfLife }, i) => [
    weight,
    references[i].number,
    halfLife,
  ]);
  const values = metadata.flatMap((one) =>
    boosts.map(({ field }, i) => valueOf(core, one, field, references[i])),
  );
  const sizes = [8 * factors.length, 8 * values.length, 8 * count, 8 * count];
  return core.withRoom(sizes, async (by, from, scores, order) => {
    const { buffer } = core.exports.memory;
    new Float64Array(buffer, by, factors.length).set(factors);
    new Float64Array(buffer, from, values.length).set(values);
    new Float64Array(buffer, scores, count).set(ranked.scores);
    await core.call("boosts_rank", by, boosts.length, from, scores, count, order);
    const raised = [...new Float64Array(core.exports.memory.buffer, scores, count)];
    return { ...taken(ranked, rowsAt(core, order, count)), scores: raised };
  });
}

/** The number that a boost reads of metadata, NaN if they have none of the reference's kind. */
function valueOf(core, metadata, field, reference) {
  const value = numberOf(core, at(metadata, field));
  return value && value.isDate === reference.isDate ? value.number : NaN;
}

/** The value under a name, or under names that dots join. */
function at(metadata, path) {
  if (Object.hasOwn(metadata, path)) return metadata[path];
  let value = metadata;
  for (const name of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** {number, isDate}: a number, or an ISO 8601 date in days; null for anything else. */
function numberOf(core, value) {
  if (typeof value === "number")
    return Number.isFinite(value) ? { number: value, isDate: false } : null;
  if (typeof value !== "string") return null;
  const bytes = encoded(value);
  const place = core.allocate(bytes.length);
  core.put(bytes, place);
  const number = core.exports.date_days(place, bytes.length);
  core.exports.release(place);
  return Number.isNaN(number) ? null : { number, isDate: true };
}

// --------------------------------------------------------------------------- repeats, diversity --

/** Vectors one after the other, as binary64. */
function putVectors(core, place, vectors, dim) {
  const to = new Float64Array(core.exports.memory.buffer, place, vectors.length * dim);
  vectors.forEach((vector, i) => to.set(vector, i * dim));
}

/** Call with a set of passages without near-duplicates: {vectors, texts}, each of which takes a
list, keeps those that are new, and returns whether each is. */
export async function withUnlike(core, call) {
  const kept = core.exports.repeats_new() >>> 0;
  if (!kept) throw new MemoryError("no memory for repeats");
  const vectors = (given) => {
    const dim = given[0]?.length ?? 0;
    return core.withRoom([8 * dim * given.length, given.length], async (from, flags) => {
      putVectors(core, from, given, dim);
      const asked = [kept, from, given.length, dim, SAME_COSINE, flags];
      if (given.length) await core.call("repeats_vectors", ...asked);
      return [...core.taken(flags, given.length)].map(Boolean);
    });
  };
  const text = (given) =>
    core.withText(words(given).join(" "), (from, size) =>
      core.withRoom([1], async (flag) => {
        await core.call("repeats_text", kept, from, size, SAME_BITS, flag);
        return Boolean(core.bytes[flag]);
      }),
    );
  const texts = async (given) => {
    const found = [];
    for (const one of given) found.push(await text(one));
    return found;
  };
  try {
    return await call({ vectors, texts });
  } finally {
    core.exports.repeats_free(kept);
  }
}

/** Maximal marginal relevance: the places of k rows, with a vector for each candidate. */
export function spread(core, scores, vectors, k, share) {
  const [count, dim] = [scores.length, vectors[0]?.length ?? 0];
  const most = Math.min(k, count);
  return core.withRoom([8 * count, 8 * count * dim, 8 * most], async (by, from, order) => {
    new Float64Array(core.exports.memory.buffer, by, count).set(scores);
    putVectors(core, from, vectors, dim);
    if (most) await core.call("diverse", by, from, count, dim, most, share, order);
    return rowsAt(core, order, most);
  });
}
