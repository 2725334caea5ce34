/* Which rows may be found: a Mongo-style condition on metadata, and tags, as a mask over rows.

Every filter is two-valued: a field that is missing or of another type fails each positive condition,
and $ne $nin $not are exactly the complements. Equality is typed: 1 ≠ "1" ≠ true, and null equals only
a null that is there. A condition is decided once for each distinct value of a column. */

import { ArgumentError } from "./errors.js";
import { compareText } from "./text.js";

const MAX_DEPTH = 32;
const MAX_VALUE_DEPTH = 256;
const MAX_CONDITIONS = 10_000;

/* The kinds of JSON values, in their order. */
const NULL = 0,
  BOOL = 1,
  NUMBER = 2,
  TEXT = 3,
  LIST = 4,
  OBJECT = 5;

/** A JSON value as something that compares: [kind, value]. */
export function keyOf(value, depth = 0) {
  if (typeof value === "string") return [TEXT, value];
  if (typeof value === "boolean") return [BOOL, value];
  if (typeof value === "number") {
    if (Number.isNaN(value))
      throw new ArgumentError("NaN is not a JSON value: metadata and filters cannot hold it");
    return [NUMBER, value];
  }
  if (value === null) return [NULL];
  if (depth === MAX_VALUE_DEPTH)
    throw new ArgumentError(
      `a JSON value in metadata or a filter can nest ${MAX_VALUE_DEPTH} levels deep`,
    );
  if (Array.isArray(value)) return [LIST, value.map((one) => keyOf(one, depth + 1))];
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([name, one]) => [name, keyOf(one, depth + 1)]);
    return [OBJECT, entries.sort((a, b) => compareText(a[0], b[0]))];
  }
  throw new ArgumentError(`metadata and filters hold JSON values, not ${typeof value}`);
}

/** A key as a string: equal strings, equal values. */
export const spelled = (key) =>
  JSON.stringify(key, (_, value) => (Object.is(value, -0) ? 0 : value));

/** Values by number: `codes` has a row's number, -1 for none; `keys` are the distinct values. */
export class Column {
  constructor(codes, keys) {
    this.codes = codes;
    this.keys = keys;
  }

  static of(keys) {
    const places = new Map();
    const distinct = [];
    const codes = Int32Array.from(keys, (key) => {
      if (key === undefined) return -1;
      const name = spelled(key);
      if (!places.has(name)) {
        places.set(name, distinct.length);
        distinct.push(key);
      }
      return places.get(name);
    });
    return new Column(codes, distinct);
  }

  /** The rows whose value passes a test. */
  rows(test) {
    const passes = this.keys.map(test);
    return Uint8Array.from(this.codes, (code) => (code >= 0 && passes[code] ? 1 : 0));
  }
}

/** A compiled filter: {mask(columns), paths}, or null where all passes. */
export function compile(where, { tagsAny = [], tagsAll = [] } = {}) {
  const compiler = new Compiler();
  const tests = [];
  if (where !== null && where !== undefined && !(isPlain(where) && Object.keys(where).length === 0))
    tests.push(compiler.condition(where, 0));
  const wanted = [tagList(tagsAny), tagList(tagsAll)].map((tags) =>
    tags.map((tag) => spelled(keyOf(tag))),
  );
  if (wanted[0].length)
    tests.push((columns) => columns.tags().rows((key) => wanted[0].some(holds(key))));
  if (wanted[1].length)
    tests.push((columns) => columns.tags().rows((key) => wanted[1].every(holds(key))));
  return tests.length ? { mask: every(tests), paths: [...compiler.paths] } : null;
}

const holds = (key) => {
  const elements = key[0] === LIST ? new Set(key[1].map(spelled)) : new Set();
  return (name) => elements.has(name);
};

function tagList(tags) {
  if (typeof tags === "string")
    throw new ArgumentError(`tags are a list of strings, not the string '${tags}'`);
  return [...(tags ?? [])];
}

function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

class Compiler {
  paths = new Set();
  count = 0;

  condition(where, depth) {
    if (!isPlain(where)) throw new ArgumentError("a filter is an object");
    if (depth > MAX_DEPTH) throw new ArgumentError(`a filter can nest ${MAX_DEPTH} levels deep`);
    return every(Object.entries(where).map(([key, value]) => this.entry(key, value, depth + 1)));
  }

  entry(key, value, depth) {
    if (++this.count > MAX_CONDITIONS)
      throw new ArgumentError(`a filter can hold ${MAX_CONDITIONS} conditions`);
    if (key === "$and" || key === "$or") return this.list(key, value, depth);
    if (key === "$not") return complement(this.condition(value, depth));
    if (key.startsWith("$"))
      throw new ArgumentError(`unknown operator '${key}' ; use a metadata key, $and, $or or $not`);
    this.paths.add(key);
    return this.field(key, value, depth);
  }

  list(key, value, depth) {
    if (!Array.isArray(value) || !value.length)
      throw new ArgumentError(`${key} takes a list of one or more filters`);
    const tests = value.map((one) => this.condition(one, depth));
    return key === "$and" ? every(tests) : some(tests);
  }

  field(path, value, depth) {
    if (!isPlain(value) || !Object.keys(value).some((key) => key.startsWith("$")))
      return on(path, equal(keyOf(value)));
    return every(
      Object.entries(value).map(([name, operand]) => this.operator(path, name, operand, depth)),
    );
  }

  operator(path, name, operand, depth) {
    if (depth > MAX_DEPTH) throw new ArgumentError(`a filter can nest ${MAX_DEPTH} levels deep`);
    if (name === "$not") {
      if (!isPlain(operand) || !Object.keys(operand).length)
        throw new ArgumentError("$not below a field takes an object of operators");
      return complement(
        every(Object.entries(operand).map(([n, o]) => this.operator(path, n, o, depth + 1))),
      );
    }
    if (!Object.hasOwn(OPERATORS, name)) {
      const known = Object.keys(OPERATORS).sort().join(" ");
      throw new ArgumentError(`unknown operator '${name}' on '${path}': use one of ${known} $not`);
    }
    const found = OPERATORS[name](name, operand);
    if (name === "$exists")
      return (columns) => columns.column(path).codes.map((code) => (code >= 0 === operand ? 1 : 0));
    return name === "$ne" || name === "$nin" ? complement(on(path, found)) : on(path, found);
  }
}

const on = (path, test) => (columns) => columns.column(path).rows(test);
const every = (tests) => (columns) => combined(tests, columns, 1, (a, b) => a & b);
const some = (tests) => (columns) => combined(tests, columns, 0, (a, b) => a | b);
const complement = (test) => (columns) => test(columns).map((one) => (one ? 0 : 1));

function combined(tests, columns, start, join) {
  const mask = new Uint8Array(columns.length).fill(start);
  for (const test of tests) {
    const found = test(columns);
    for (let i = 0; i < mask.length; i++) mask[i] = join(mask[i], found[i]);
  }
  return mask;
}

const equal = (key) => {
  const name = spelled(key);
  return (other) => spelled(other) === name;
};

function ordered(name, operand) {
  const key = keyOf(operand);
  if (key[0] !== NUMBER && key[0] !== TEXT)
    throw new ArgumentError(
      `${name} compares with a number or a string, not ${JSON.stringify(operand)}`,
    );
  return key;
}

const compared = (fits) => (name, operand) => {
  const [kind, value] = ordered(name, operand);
  const order = kind === TEXT ? compareText : (a, b) => a - b;
  return (key) => key[0] === kind && fits(order(key[1], value));
};

function listed(name, operand) {
  if (!Array.isArray(operand))
    throw new ArgumentError(`${name} takes a list, not ${JSON.stringify(operand)}`);
  return operand.map((value) => spelled(keyOf(value)));
}

const inList = (name, operand) => {
  const names = new Set(listed(name, operand));
  return (key) => names.has(spelled(key));
};

const OPERATORS = {
  $eq: (_, operand) => equal(keyOf(operand)),
  $ne: (_, operand) => equal(keyOf(operand)),
  $gt: compared((order) => order > 0),
  $gte: compared((order) => order >= 0),
  $lt: compared((order) => order < 0),
  $lte: compared((order) => order <= 0),
  $in: inList,
  $nin: inList,
  $exists: (name, operand) => {
    if (typeof operand !== "boolean")
      throw new ArgumentError(`${name} takes true or false, not ${JSON.stringify(operand)}`);
    return null;
  },
  $contains: (_, operand) => {
    const key = keyOf(operand);
    const name = spelled(key);
    return (other) =>
      holds(other)(name) || (key[0] === TEXT && other[0] === TEXT && other[1].includes(key[1]));
  },
  $any: (name, operand) => {
    const names = listed(name, operand);
    return (key) => names.some(holds(key));
  },
  $all: (name, operand) => {
    const names = listed(name, operand);
    return (key) => key[0] === LIST && names.every(holds(key));
  },
};
