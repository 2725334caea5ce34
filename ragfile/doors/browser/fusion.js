/* Two ranked lists made one, as ragfile/search/fusion.py does it: everything in binary64, added in the
order of the lists, so that the same input gives the same bits. A list is {rows, scores}. */

import { ArgumentError } from "./errors.js";

const PARAMETERS = { rrf: ["rrf_k"], blend: ["alpha"], calibrated: ["evidence", "known", "w"] };
export const RRF_K = 60;

/** [method, parameters]: the caller's choice before the file's. */
export function methodOf(chosen, recorded) {
  const [name, given] = Array.isArray(chosen) ? chosen : [chosen, {}];
  const method = name ?? recorded.method ?? "calibrated";
  if (!Object.hasOwn(PARAMETERS, method))
    throw new ArgumentError(`unknown fusion '${method}': use calibrated, rrf or blend`);
  const unknown = Object.keys(given)
    .sort()
    .find((one) => !PARAMETERS[method].includes(one));
  if (unknown !== undefined)
    throw new ArgumentError(
      `fusion ${method} has no parameter '${unknown}', only ${PARAMETERS[method].join(" and ")}`,
    );
  const params = { ...recorded, ...given };
  for (const share of ["evidence", "known"])
    if (!(params[share] === undefined || (params[share] >= 0 && params[share] <= 1)))
      throw new ArgumentError(`${share} must be between 0 and 1, not ${params[share]}`);
  return [method, params];
}

/** Reciprocal rank fusion. */
export function rrf(lists, k = RRF_K) {
  if (!(k >= 0)) throw new ArgumentError(`rrf_k must not be negative, not ${k}`);
  return summed(lists.map(({ rows }) => [rows, rows.map((_, i) => 1 / (k + (i + 1)))]));
}

/** Weighted sum of min–max scores of a vector list and a lexical one. */
export function blend(lists, alpha) {
  if (!(alpha >= 0 && alpha <= 1))
    throw new ArgumentError(`alpha must be between 0 and 1, not ${alpha}`);
  const weights = [alpha, 1 - alpha];
  return summed(
    lists.map(({ rows, scores }, i) => [
      rows,
      unitRange(scores).map((score) => weights[i] * score),
    ]),
  );
}

/** Scores brought to 0…1; equal ones become 1. */
export function unitRange(scores) {
  const low = scores.reduce((a, b) => Math.min(a, b), Infinity);
  const high = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  return Array.from(scores, (score) => (high > low ? (score - low) / (high - low) : 1));
}

function summed(parts) {
  const total = new Map();
  for (const [rows, scores] of parts)
    for (const row of rows) if (!total.has(row)) total.set(row, 0);
  for (const [rows, scores] of parts)
    rows.forEach((row, i) => total.set(row, total.get(row) + scores[i]));
  const found = [...total].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  return { rows: found.map(([row]) => row), scores: found.map(([, score]) => score) };
}
