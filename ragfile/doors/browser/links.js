/* The links of documents and the documents that their targets mean, as ragfile/file/link_targets.py finds them
(spec part 12.3). */

import { CorruptError } from "./errors.js";
import { compareText, decoded } from "./text.js";

const BY_NAME = "[["; // begins the target of a wikilink
const SUFFIXES = [".md", ".markdown", ".mdx", ".html", ".txt"];
const FOLDER_PAGES = ["/index.md", "/_index.md", "/README.md", "/index.html"];
const DROPPED = 2; // folders at the start of a path from the root, which the file need not have
const FOLLOWED = 64; // links of a passage that can raise pages
const EDGE = 7; // numbers of an edge: document, kind, target, start, size, fragment, text
const RESULTS = 9; // numbers that the core returns for a segment
const NONE = 0xffffffff;

export class Links {
  constructor(file) {
    this.file = file;
    this.lists = new Map(); // by the number of a segment
    this.found = new Map(); // by target
    this.names = null; // documents by the last part of their ids, and by aliases
    this.backwards = null;
  }

  /** The first rows of the documents to which the passage of a row links, in the order of the links. */
  async fromPassage(row) {
    const { file } = this;
    const { segment, local } = file.place(row);
    const lists = await this.of(segment);
    if (!lists) return [];
    const chunk = await file.chunkRecord(segment, local);
    const [first, end] = [chunk.charStart, chunk.charStart + chunk.charSize];
    const rows = [];
    let followed = 0;
    for (const [, target, start, size] of first < 0 ? [] : lists.ofDocument(chunk.document)) {
      if (start === NONE || start < first || start + size > end || ++followed > FOLLOWED) continue;
      const to = await this.find(lists.string(target));
      if (to?.record.rows) rows.push(to.segment.base + to.record.firstRow);
    }
    return rows;
  }

  /** {links, backlinks}: the ids of the documents to which a document links, and of those that link to it. */
  async around(id) {
    const there = await this.file.find(id);
    if (!there) return null;
    if (!this.file.hasLive("graph")) return { links: [], backlinks: [] };
    this.backwards ??= await this.reversed();
    const lists = await this.of(there.segment);
    const targets = lists ? lists.ofDocument(there.number).map((edge) => lists.string(edge[1])) : [];
    const links = new Set();
    for (const target of targets) links.add((await this.find(target))?.record.id);
    const own = (one) => one !== undefined && one !== id;
    const sorted = (ids) => [...ids].filter(own).sort(compareText);
    return { links: sorted(links), backlinks: sorted(this.backwards.get(id) ?? []) };
  }

  /** The sources of the links to each document. */
  async reversed() {
    const found = new Map();
    for await (const { segment, number, record } of this.live()) {
      const lists = await this.of(segment);
      for (const edge of lists ? lists.ofDocument(number) : []) {
        const to = (await this.find(lists.string(edge[1])))?.record.id;
        if (to === undefined) continue;
        if (!found.has(to)) found.set(to, new Set());
        found.get(to).add(record.id);
      }
    }
    return found;
  }

  /** The live document to which a target leads, as `file.find` returns it, or null. */
  async find(target) {
    if (!this.found.has(target)) this.found.set(target, await this.sought(target));
    return this.found.get(target);
  }

  async sought(target) {
    const { file } = this;
    const byName = target.startsWith(BY_NAME);
    for (const one of byName ? [target] : [target, ...candidates(target)]) {
      const there = await file.find(one);
      if (there) return there;
    }
    return byName ? this.byName(target.slice(BY_NAME.length).toLowerCase()) : null;
  }

  async byName(whole) {
    const name = whole.endsWith(".md") ? whole.slice(0, -3) : whole;
    const { ids, aliases } = (this.names ??= await this.named());
    const last = name.slice(name.lastIndexOf("/") + 1);
    const ends = (ids.get(last) ?? []).filter((id) => isEndOf(name, id));
    const fitting = ends.length ? ends : (aliases.get(name) ?? []);
    const depth = (id) => id.split("/").length;
    const [best] = fitting.toSorted((a, b) => depth(a) - depth(b) || compareText(a, b));
    return best === undefined ? null : this.file.find(best);
  }

  async named() {
    const [ids, aliases] = [new Map(), new Map()];
    const add = (to, key, id) => (to.has(key) ? to.get(key).push(id) : to.set(key, [id]));
    for await (const { segment, number, record } of this.live()) {
      const name = record.id.toLowerCase().split("/").at(-1);
      for (const key of new Set([name, stem(name)])) add(ids, key, record.id);
      const lists = await this.of(segment);
      for (const alias of lists ? lists.namesOf(number) : [])
        add(aliases, alias.toLowerCase(), record.id);
    }
    return { ids, aliases };
  }

  async *live() {
    for (const segment of this.file.segments)
      if (this.file.has("rag.ids", segment.number)) yield* this.file.liveDocuments(segment);
  }

  /** The links of a segment, or null. */
  async of(segment) {
    if (!this.lists.has(segment.i)) {
      const is = this.file.has("graph", segment.number);
      this.lists.set(segment.i, is ? await readLists(this.file.core, segment.i) : null);
    }
    return this.lists.get(segment.i);
  }
}

/** Whether an id ends with the parts of a name, with or without its suffix. */
function isEndOf(name, id) {
  const whole = `/${id.toLowerCase()}`;
  const cut = whole.lastIndexOf("/") + 1;
  return [whole, whole.slice(0, cut) + stem(whole.slice(cut))].some((one) => one.endsWith(`/${name}`));
}

/** A name without its suffix; dots at its start begin none. */
function stem(name) {
  const dot = name.lastIndexOf(".");
  return dot >= /^\.*/.exec(name)[0].length ? name.slice(0, dot) : name;
}

/** The ids that a path can mean, the likeliest first. */
function candidates(target) {
  const path = target.replace(/^\/+|\/+$/g, "");
  const parts = target.startsWith("/") ? path.split("/") : [];
  const paths = [path];
  for (let i = 1; i <= DROPPED && i < parts.length; i++) paths.push(parts.slice(i).join("/"));
  return paths.flatMap((one) => [
    one,
    ...SUFFIXES.map((suffix) => one + suffix),
    ...FOLDER_PAGES.map((page) => one + page),
    ...(one.endsWith(".html") ? [`${one.slice(0, -5)}.md`] : []),
  ]);
}

/** Copies what the core read, which stays there until the next call only. */
function readLists(core, i) {
  return core.withRoom([4 * RESULTS], async (at) => {
    await core.call("graph_open", i, at);
    const { buffer } = core.exports.memory;
    const numbers = (place, count) => new Uint32Array(buffer.slice(place, place + 4 * count));
    const [edges, edgeCount, strings, stringCount, bytes, kinds, kindCount, names, nameCount] =
      new Uint32Array(buffer, at, RESULTS);
    const places = numbers(strings, 2 * stringCount);
    const end = places.length ? places.at(-2) + places.at(-1) : 0;
    return new Lists(
      numbers(edges, EDGE * edgeCount), places, core.bytes.slice(bytes, bytes + end),
      numbers(kinds, kindCount), numbers(names, 2 * nameCount),
    );
  });
}

class Lists {
  constructor(edges, places, bytes, kinds, names) {
    Object.assign(this, { edges, places, bytes, kinds, names });
  }

  /** [kind, target, start, size] of each edge of a document. */
  ofDocument(number) {
    const { edges } = this;
    let [low, high] = [0, edges.length / EDGE];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[EDGE * middle] < number) low = middle + 1;
      else high = middle;
    }
    const found = [];
    for (let at = EDGE * low; at < edges.length && edges[at] === number; at += EDGE)
      found.push([...edges.subarray(at + 1, at + 5)]);
    return found;
  }

  string(number) {
    const [at, size] = this.places.subarray(2 * number, 2 * number + 2);
    const found = decoded(this.bytes.subarray(at, at + size));
    if (found === null) throw new CorruptError("a string is not UTF-8", { section: "graph" });
    return found;
  }

  namesOf(number) {
    const { names } = this;
    const found = [];
    for (let i = 0; i < names.length; i += 2)
      if (names[i + 1] === number) found.push(this.string(names[i]));
    return found;
  }
}
