/* Filters: a Mongo-style condition on metadata, and tags. This module checks them and writes them as
JSON; the core finds the rows that pass (csrc/columns/filter_rows.c).

Every filter is two-valued: a field that is missing or of another type fails each positive condition,
and $ne $nin $not are exactly the complements. Equality is typed: 1 ≠ "1" ≠ true, and null equals only
a null that is there. */

import { ArgumentError } from "./errors.js";
import { encoded } from "./text.js";

const MAX_DEPTH = 32;
const MAX_VALUE_DEPTH = 256;
const MAX_CONDITIONS = 10_000;

/** The mask of the rows that pass, or null where all do. */
export function maskOf(core, rows, where, { tagsAny = [], tagsAll = [] } = {}) {
  const asked = [filterText(where), tagText(tagsAny), tagText(tagsAll)].map(encoded);
  if (asked.every((one) => one.length === 0)) return null;
  return core.withRoom([...asked.map((one) => one.length), rows], async (...places) => {
    asked.forEach((one, i) => core.put(one, places[i]));
    const given = asked.flatMap((one, i) => [places[i], one.length]);
    await core.call("filter_rows", ...given, places[3]);
    return core.taken(places[3], rows);
  });
}

function filterText(where) {
  if (where === null || where === undefined) return "";
  new Checker().condition(where, 0);
  return Object.keys(where).length ? textOf(where) : "";
}

function tagText(tags) {
  if (typeof tags === "string")
    throw new ArgumentError(`tags are a list of strings, not the string '${tags}'`);
  return tags?.length ? textOf([...tags]) : "";
}

/** A value as JSON, in which infinity is a number that is too large. */
function textOf(value, depth = 0) {
  if (typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (typeof value === "number") {
    if (Number.isNaN(value))
      throw new ArgumentError("NaN is not a JSON value: metadata and filters cannot hold it");
    return Number.isFinite(value) ? JSON.stringify(value) : `${value > 0 ? "" : "-"}1e999`;
  }
  if (value === null) return "null";
  if (depth === MAX_VALUE_DEPTH)
    throw new ArgumentError(
      `a JSON value in metadata or a filter can nest ${MAX_VALUE_DEPTH} levels deep`,
    );
  if (Array.isArray(value)) return `[${value.map((one) => textOf(one, depth + 1)).join()}]`;
  if (typeof value !== "object")
    throw new ArgumentError(`metadata and filters hold JSON values, not ${typeof value}`);
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}:${textOf(one, depth + 1)}`,
  );
  return `{${members.join()}}`;
}

function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

class Checker {
  count = 0;

  condition(where, depth) {
    if (!isPlain(where)) throw new ArgumentError("a filter is an object");
    if (depth > MAX_DEPTH) throw new ArgumentError(`a filter can nest ${MAX_DEPTH} levels deep`);
    for (const [key, value] of Object.entries(where)) this.entry(key, value, depth + 1);
  }

  entry(key, value, depth) {
    if (++this.count > MAX_CONDITIONS)
      throw new ArgumentError(`a filter can hold ${MAX_CONDITIONS} conditions`);
    if (key === "$and" || key === "$or") this.list(key, value, depth);
    else if (key === "$not") this.condition(value, depth);
    else if (key.startsWith("$"))
      throw new ArgumentError(`unknown operator '${key}' ; use a metadata key, $and, $or or $not`);
    else if (isPlain(value) && Object.keys(value).some((name) => name.startsWith("$")))
      this.operators(key, value, depth);
  }

  list(key, value, depth) {
    if (!Array.isArray(value) || !value.length)
      throw new ArgumentError(`${key} takes a list of one or more filters`);
    for (const one of value) this.condition(one, depth);
  }

  operators(path, value, depth) {
    if (depth > MAX_DEPTH) throw new ArgumentError(`a filter can nest ${MAX_DEPTH} levels deep`);
    for (const [name, operand] of Object.entries(value)) {
      if (name === "$not") this.complement(path, operand, depth + 1);
      else if (!Object.hasOwn(OPERANDS, name)) {
        const known = Object.keys(OPERANDS).sort().join(" ");
        throw new ArgumentError(`unknown operator '${name}' on '${path}': use one of ${known} $not`);
      } else OPERANDS[name](name, operand);
    }
  }

  complement(path, operand, depth) {
    if (!isPlain(operand) || !Object.keys(operand).length)
      throw new ArgumentError("$not below a field takes an object of operators");
    this.operators(path, operand, depth);
  }
}

const any = () => {};

function ordered(name, operand) {
  if (typeof operand !== "number" && typeof operand !== "string")
    throw new ArgumentError(
      `${name} compares with a number or a string, not ${JSON.stringify(operand)}`,
    );
}

function listed(name, operand) {
  if (!Array.isArray(operand))
    throw new ArgumentError(`${name} takes a list, not ${JSON.stringify(operand)}`);
}

function flag(name, operand) {
  if (typeof operand !== "boolean")
    throw new ArgumentError(`${name} takes true or false, not ${JSON.stringify(operand)}`);
}

/** What checks the operand of each operator. */
const OPERANDS = {
  $eq: any, $ne: any, $contains: any,
  $gt: ordered, $gte: ordered, $lt: ordered, $lte: ordered,
  $in: listed, $nin: listed, $any: listed, $all: listed,
  $exists: flag,
};
