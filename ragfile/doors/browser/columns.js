/* The metadata of every row of a file as columns for filters: the metadata and tags of a chunk over
those of its document. Where metadata have no key "source", "doc_id" or "id" of their own, these names
mean the fields of a hit. */

import { CorruptError } from "./errors.js";
import { Column, keyOf, spelled } from "./filters.js";

const OVERLAP = 2;
const SPARE = 1 << 20;
const NONE = 0,
  FIELD = 1,
  PARTIAL = 2,
  FULL = 3; // how an object's values are stored

export class Columns {
  static async of(archive) {
    const columns = new Columns();
    for (const segment of archive.segments) await columns.add(archive, segment);
    return columns;
  }

  objects = [{}]; // distinct; 0 is the empty object
  own = []; // of each row, the number of its object
  shared = []; // and of its document's
  ids = [];
  chunkIds = [];
  made = new Map();

  get length() {
    return this.own.length;
  }

  async add(archive, segment) {
    await archive.core.call("streams_open", segment.i);
    const rows = await stretches(archive, segment, true, segment.rows);
    const documents = await stretches(
      archive,
      segment,
      false,
      archive.core.exports.record_count(segment.i),
    );
    check(archive, segment, rows);
    check(archive, segment, documents);
    const known = new Map();
    const number = async (at, size) => {
      if (size === 0) return 0;
      const key = `${at} ${size}`;
      if (!known.has(key)) {
        known.set(key, this.objects.length);
        this.objects.push(await archive.fieldsAt(segment, at, size));
      }
      return known.get(key);
    };
    const [ofDocuments, ids] = [[], []];
    for (let i = 0; i < documents.at.length; i++) {
      ofDocuments.push(await number(documents.at[i], documents.size[i]));
      ids.push((await archive.documentRecord(segment, i)).id);
    }
    for (let row = 0; row < segment.rows; row++) {
      this.own.push(await number(rows.at[row], rows.size[row]));
      this.shared.push(ofDocuments[rows.document[row]]);
      this.ids.push(ids[rows.document[row]]);
    }
    this.later = [...(this.later ?? []), [archive, segment, rows.document, ids]];
  }

  /** Reads the chunk ids, which only a filter on "id" wants. */
  async wantIds() {
    for (const [archive, segment, , ids] of this.later.splice(0))
      for (let row = 0; row < segment.rows; row++) {
        const chunk = await archive.chunkRecord(segment, row);
        this.chunkIds.push(`${ids[chunk.document]}#${chunk.index}`);
      }
  }

  column(path) {
    if (!this.made.has(path)) {
      const names = { doc_id: this.ids, id: this.chunkIds }[path];
      const layered = this.layered((fields) => resolved(fields, path));
      this.made.set(path, names ? filled(layered, names) : layered);
    }
    return this.made.get(path);
  }

  tags() {
    if (!this.made.has(null))
      this.made.set(
        null,
        this.layered((fields) =>
          Object.hasOwn(fields, "tags")
            ? { value: fields.tags, how: FULL }
            : { value: [], how: NONE },
        ),
      );
    return this.made.get(null);
  }

  /** A chunk's own value before its document's, but a key that equals the path before its parts. */
  layered(resolve) {
    const found = this.objects.map((fields) => {
      const { value, how } = resolve(fields);
      return { key: value === undefined ? undefined : keyOf(value), how };
    });
    return Column.of(
      this.own.map((own, row) => {
        const [mine, documents] = [found[own], found[this.shared[row]]];
        return (documents.how > mine.how ? documents : mine).key;
      }),
    );
  }
}

/** The value at a path, and how it is there. */
function resolved(fields, path) {
  const metadata = fields.metadata ?? {};
  if (Object.hasOwn(metadata, path)) return { value: metadata[path], how: FULL };
  const dot = path.indexOf(".");
  const head = dot < 0 ? undefined : path.slice(0, dot);
  if (head !== undefined && Object.hasOwn(metadata, head))
    return { value: below(metadata[head], path.slice(dot + 1)), how: PARTIAL };
  if (path === "source" && fields.source) return { value: fields.source, how: FIELD };
  return { value: undefined, how: NONE };
}

function below(value, path) {
  for (;;) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (Object.hasOwn(value, path)) return value[path];
    const dot = path.indexOf(".");
    if (dot < 0) return undefined;
    value = Object.hasOwn(value, path.slice(0, dot)) ? value[path.slice(0, dot)] : undefined;
    path = path.slice(dot + 1);
  }
}

function filled(column, names) {
  return Column.of(
    Array.from(column.codes, (code, row) => (code < 0 ? [3, names[row]] : column.keys[code])),
  );
}

async function stretches(archive, segment, ofRows, count) {
  const { core } = archive;
  return core.withRoom([8 * count, 4 * count, 4 * count], async (at, size, document) => {
    await core.call("record_all", segment.i, ofRows ? 1 : 0, at, size, document);
    const buffer = core.exports.memory.buffer;
    return {
      at: Array.from(new Float64Array(buffer, at, count)),
      size: Array.from(new Uint32Array(buffer, size, count)),
      document: Array.from(new Uint32Array(buffer, document, ofRows ? count : 0)),
    };
  });
}

/** Stretches over one another have no use but to make a reader parse the same bytes again and again. */
function check(archive, segment, { at, size }) {
  const there = archive.core.exports.stream_size(segment.i, 1);
  const distinct = new Map();
  at.forEach((from, i) => {
    if (from > there || size[i] > there - from)
      throw new CorruptError(`metadata of segment ${segment.number} end beyond their section`, {
        section: "rag.meta",
      });
    if (size[i]) distinct.set(`${from} ${size[i]}`, size[i]);
  });
  const sum = [...distinct.values()].reduce((a, b) => a + b, 0);
  if (sum > OVERLAP * there + SPARE)
    throw new CorruptError(
      `the metadata of segment ${segment.number} overlap: they add up to more than ${OVERLAP} times their section`,
      { section: "rag.meta" },
    );
}

export { spelled };
