/* The configuration of a file (rag.config), parsed as untrusted input. */

import { CorruptError, VersionError } from "./errors.js";
import { decoded } from "./text.js";

const DEPTH = 256;
const DIM_LIMIT = 1 << 16;
const CODE_RANKING = 1;
export const METRICS = ["cosine", "ip", "l2"];

export function configOf(bytes, name) {
  const found = parsed(bytes);
  if (found === undefined) throw bad(name, "is not JSON");
  if (!isObject(found)) throw bad(name, "is not an object");
  for (const [field, fits] of Object.entries(FIELDS))
    if (Object.hasOwn(found, field) && !fits(found[field]))
      throw bad(name, `: invalid value for '${field}'`);
  const metric = found.metric ?? "cosine";
  if (!METRICS.includes(metric))
    throw new VersionError(
      `${name}: its vectors are compared by '${metric}'; this version has ${METRICS.join(", ")}`,
    );
  const code = found.code ?? CODE_RANKING;
  if (code !== CODE_RANKING)
    throw new VersionError(
      `${name}: its source code is ranked by rule ${code}; this version has ${CODE_RANKING}`,
    );
  return found;
}

/** Parse bytes as JSON; undefined if they are invalid or nest too deep. */
export function parsed(bytes) {
  const text = decoded(bytes);
  if (text === null) return undefined;
  try {
    const found = JSON.parse(text);
    return isTooDeep(found) ? undefined : found;
  } catch {
    return undefined;
  }
}

export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTooDeep(value) {
  let level = [value];
  for (let depth = 0; depth <= DEPTH; depth++) {
    level = level
      .flatMap((one) => (one && typeof one === "object" ? Object.values(one) : []))
      .filter((one) => one && typeof one === "object");
    if (!level.length) return false;
  }
  return true;
}

function bad(name, what) {
  return new CorruptError(`${name}: rag.config${what.startsWith(":") ? "" : " "}${what}`, {
    section: "rag.config",
  });
}

const isWhole = (value, low, high) => Number.isInteger(value) && low <= value && value <= high;
const isNumber = (value, low) => typeof value === "number" && low <= value && value < 1e300;
const isText = (value) => typeof value === "string";
const optional = (fits) => (value) => value === null || fits(value);
const given = (value, field, fits) => !Object.hasOwn(value, field) || fits(value[field]);

const isPolicy = (value) =>
  isObject(value) &&
  given(value, "kind", isText) &&
  given(value, "size", (n) => isWhole(n, 1, 2 ** 32)) &&
  given(value, "overlap", (n) => isWhole(n, 0, 2 ** 32)) &&
  given(value, "version", (n) => isWhole(n, 1, 2 ** 32));
const isModel = (value) =>
  isObject(value) &&
  isText(value.name) &&
  given(
    value,
    "dims",
    optional((n) => isWhole(n, 1, DIM_LIMIT)),
  ) &&
  given(value, "spec", optional(isText));
const isFusion = (value) =>
  isObject(value) &&
  given(value, "method", isText) &&
  given(value, "w", (n) => isNumber(n, 1e-300)) &&
  given(value, "rrf_k", (n) => isNumber(n, 0)) &&
  given(value, "alpha", (n) => isNumber(n, 0));
const isContext = (value) =>
  isObject(value) && isText(value.kind) && given(value, "weight", (n) => isNumber(n, 1e-300));
const areLabels = (value) =>
  isObject(value) &&
  given(value, "metadata", isObject) &&
  given(value, "tags", (tags) => Array.isArray(tags) && tags.every(isText));

const FIELDS = {
  first_generation: (value) => isWhole(value, 1, 2 ** 62),
  code: (value) => isWhole(value, 1, 2 ** 32),
  dim: optional((value) => isWhole(value, 1, DIM_LIMIT)),
  metric: isText,
  precision: (value) => value === 16 || value === 32,
  portable: (value) => typeof value === "boolean",
  layout: isText,
  bm25: (value) => typeof value === "boolean",
  model: optional(isModel),
  fusion: optional(isFusion),
  chunking: optional(isPolicy),
  context: optional(isContext),
  labels: areLabels,
};
