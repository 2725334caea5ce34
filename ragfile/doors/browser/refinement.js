/* Reorder and trim a fused ranking before the page is cut, like ragfile/search/refinement.py
and repeats.py: boosts, the minimum score, repeats, diversity. Only candidates that the retrievers
proposed take part; equal scores keep their order.

A ranking is {scoreType, rows, scores, parts}, parts being the scores by retriever of each row. */

import { ArgumentError } from "./errors.js";
import { isObject } from "./config.js";
import { unitRange } from "./fusion.js";
import { words } from "./sentences.js";

const DAY = 86_400; // seconds
const SAME_COSINE = 0.98;
const SAME_BITS = 3;
const SHINGLE = 2;

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

// ----------------------------------------------------------------------------------------- boosts --

/** Boosts with all that they need; one alone can stand for a list. */
export function checkedBoosts(given) {
  const boosts = isObject(given) ? [given] : [...(given ?? [])];
  for (const boost of boosts) {
    const names = isObject(boost) ? Object.keys(boost).sort().join() : "";
    if (names !== "field,halfLife,reference,weight")
      throw new ArgumentError("a boost has field, weight, reference and halfLife");
    if (!numberOf(boost.reference))
      throw new ArgumentError(
        `the reference of a boost is a number or a date, not ${JSON.stringify(boost.reference)}`,
      );
    if (!(boost.halfLife > 0) || !Number.isFinite(boost.weight))
      throw new ArgumentError("a boost has a finite weight, and halfLife is more than 0");
  }
  return boosts;
}

/** Add the boosts, computed from a list of metadata for each row, and rank again. */
export function boosted(ranked, metadata, boosts) {
  const scores = ranked.scores.map(
    (score, i) => score + boosts.reduce((sum, boost) => sum + gain(boost, metadata[i]), 0),
  );
  const order = scores.map((_, i) => i).sort((a, b) => scores[b] - scores[a] || a - b);
  return taken({ ...ranked, scores }, order);
}

function gain(boost, metadata) {
  const [value, reference] = [numberOf(at(metadata, boost.field)), numberOf(boost.reference)];
  if (!value || value.isDate !== reference.isDate) return 0;
  return boost.weight * 0.5 ** (Math.abs(value.number - reference.number) / boost.halfLife);
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

const DATE =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:.(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,6})\d*)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/** {number, isDate}: a number, or an ISO 8601 date in days; null for anything else. */
function numberOf(value) {
  if (typeof value === "number")
    return Number.isFinite(value) ? { number: value, isDate: false } : null;
  const found = typeof value === "string" ? DATE.exec(value) : null;
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const when = new Date(0);
  when.setUTCFullYear(year, month - 1, day);
  const isThere = when.getUTCMonth() === month - 1 && when.getUTCDate() === day && year > 0;
  if (!isThere || hour > 23 || minute > 59 || second > 59) return null;
  when.setUTCHours(hour, minute - zone(found[8]), second);
  const micro = when.getTime() * 1000 + Number((found[7] ?? "").padEnd(6, "0"));
  return { number: micro / 1e6 / DAY, isDate: true };
}

/** Minutes that a place is before UTC. */
function zone(name) {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?$/.exec(name ?? "") ?? [];
  return sign ? Number(`${sign}1`) * (60 * Number(hours) + Number(minutes ?? 0)) : 0;
}

// ---------------------------------------------------------------------------------- repeats --

/** A vector of length 1; zeros for one without a direction. */
export function unit(vector) {
  let square = 0;
  for (const component of vector) square += component * component;
  const norm = Math.sqrt(square);
  return Float64Array.from(vector, (one) => (norm > 0 && Number.isFinite(norm) ? one / norm : 0));
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** A set of vectors, or of text fingerprints, without near-duplicates. */
export class Unlike {
  kept = [];

  keeps(one) {
    const repeats =
      typeof one === "bigint"
        ? this.kept.some((other) => bitCount(one ^ other) <= SAME_BITS)
        : this.kept.some((other) => dot(other, one) >= SAME_COSINE);
    if (!repeats) this.kept.push(one);
    return !repeats;
  }
}

function bitCount(bits) {
  let count = 0;
  for (; bits; bits &= bits - 1n) count++;
  return count;
}

/** 64 bits that differ little where texts differ little; hash gives 64 bits of a text. */
export function simhash(text, hash) {
  const found = words(text);
  const pairs = Array.from({ length: Math.max(1, found.length - SHINGLE + 1) }, (_, i) =>
    found.slice(i, i + SHINGLE).join(" "),
  );
  const votes = new Array(64).fill(0);
  for (const pair of pairs) {
    const bits = hash(pair);
    for (let i = 0; i < 64; i++) votes[i] += Number((bits >> BigInt(i)) & 1n);
  }
  return votes.reduce(
    (mark, count, i) => mark | (BigInt(2 * count > pairs.length) << BigInt(i)),
    0n,
  );
}

/** Maximal marginal relevance: the places of k rows, with a unit vector for each candidate. */
export function spread(scores, units, k, share) {
  const relevance = unitRange(scores).map((one) => (1 - share) * one);
  const likeness = new Array(units.length).fill(0);
  const chosen = [];
  const left = new Set(units.keys());
  while (chosen.length < Math.min(k, units.length)) {
    let best = -1;
    for (const i of left)
      if (best < 0 || relevance[i] - share * likeness[i] > relevance[best] - share * likeness[best])
        best = i;
    left.delete(best);
    chosen.push(best);
    units.forEach((one, i) => {
      const near = dot(one, units[best]);
      likeness[i] = chosen.length === 1 ? near : Math.max(likeness[i], near);
    });
  }
  return chosen;
}
