/* Pages that the best passages of a ranking name rise, as ragfile/search/named_pages.py does it. The core finds
names and computes every number. */

import { putRows, rowsAt } from "./open_file.js";
import { decoded, encoded } from "./text.js";

export const NAMED_ROWS = 12; // as in the core
const SEEDS = 3;
const MATCH = 24; // bytes of a match in the core

/** A ranking with the pages that rise by `share`; `by` and `best` are the scale of calibrated fusion. */
export async function withNamed(question, ranked, { text, vector = null, share, by = null, best }) {
  const { file, hops } = question;
  if (!ranked.rows.length || !(ranked.scores[0] > 0)) return ranked;
  const lead = await seedsOf(file, ranked);
  const texts = await file.textsOf(lead.seeds.map(({ row }) => row));
  if (hops === 2) texts.push(text);
  const names = [];
  for (const [seed, one] of texts.entries()) {
    names.push(...(await namesIn(file, one, seed)));
    const row = question.linked ? lead.seeds[seed]?.row : undefined;
    for (const document of row === undefined ? [] : await file.graph.fromPassage(row))
      names.push({ seed, documents: [document], weight: question.linked });
  }
  const masses = names.length ? await massesOf(file, lead, names) : new Map();
  if (!masses.size) return ranked;
  const there = new Set(ranked.rows);
  const passes = (row) => !question.passing || question.passing[row];
  const added = [...masses.keys()].filter((row) => !there.has(row) && passes(row));
  const more = await scored(file, added, { text, vector, by, best });
  const all = {
    rows: [...ranked.rows, ...added],
    scores: [...ranked.scores, ...more.scores],
    parts: [...ranked.parts, ...more.parts],
  };
  const { core } = file;
  const scores = all.rows.map((row, i) =>
    masses.has(row)
      ? core.exports.named_raised(all.scores[i], ranked.scores[0], share, masses.get(row))
      : all.scores[i],
  );
  const ties = await file.ties(all.rows);
  const rest = all.rows.map((_, i) => i).slice(1);
  const order = [0, ...rest.sort((a, b) => scores[b] - scores[a] || ties[a] - ties[b])];
  const largest = scores.reduce((a, b) => Math.max(a, b));
  if (largest > scores[0]) scores[0] = after(largest); // the first row stays first
  return {
    ...ranked,
    rows: order.map((i) => all.rows[i]),
    scores: order.map((i) => scores[i]),
    parts: order.map((i) => all.parts[i]),
  };
}

/** The next number above a positive one. */
function after(number) {
  const bits = new BigInt64Array(new Float64Array([number]).buffer);
  bits[0] += 1n;
  return new Float64Array(bits.buffer)[0];
}

/** {rows, documents} of the first rows, and the seeds among them: {row, document, share}. */
function seedsOf(file, ranked) {
  const { core } = file;
  const rows = ranked.rows.slice(0, NAMED_ROWS);
  const size = 8 * rows.length;
  const sizes = [size, size, size, 4 * SEEDS, 8 * SEEDS, 4];
  return core.withRoom(sizes, async (at, by, first, places, shares, found) => {
    putRows(core, at, rows);
    const scores = ranked.scores.slice(0, rows.length);
    new Float64Array(core.exports.memory.buffer, by, rows.length).set(scores);
    await core.call("named_seeds", at, by, rows.length, first, places, shares, found);
    const { buffer } = core.exports.memory;
    const documents = rowsAt(core, first, rows.length);
    const count = core.view.getUint32(found, true);
    const share = new Float64Array(buffer, shares, count);
    const seeds = [...new Uint32Array(buffer, places, count)].map((place, i) => ({
      row: rows[place],
      document: documents[place],
      share: share[i],
    }));
    return { rows, documents, seeds };
  });
}

/** The names in a text: {seed, name, documents}, whose weight follows. */
async function namesIn(file, text, seed) {
  const { core } = file;
  const { rules } = await file.lexical();
  const bytes = encoded(text);
  return core.withText(bytes, (at, size) =>
    core.withRoom([4, 4], async (all, found) => {
      await core.call("named_titles", at, size, rules, all, found);
      const [first, count] = [core.view.getUint32(all, true), core.view.getUint32(found, true)];
      const names = [];
      for (let i = 0, last = -1; i < count; i++) {
        const place = first + MATCH * i;
        const [from, to] = new Uint32Array(core.exports.memory.buffer, place, 2);
        if (from !== last)
          names.push({ seed, name: decoded(bytes.subarray(from, to)) ?? "", documents: [] });
        names.at(-1).documents.push(Number(core.view.getBigInt64(place + 16, true)));
        last = from;
      }
      return names;
    }),
  );
}

/** The mass of each row that rises. */
async function massesOf(file, { rows, documents, seeds }, names) {
  const { core } = file;
  const titles = names.filter(({ weight }) => weight === undefined); // others are links
  const rarest = titles.length ? await file.rarest(titles.map(({ name }) => name)) : [];
  for (const [i, one] of titles.entries())
    one.weight = core.exports.named_weight(file.length, rarest[i], one.documents.length);
  const edges = names.flatMap(({ seed, documents: to, weight }) =>
    weight > 0 ? to.map((document) => ({ seed, document, weight })) : [],
  );
  const [n, m] = [seeds.length, edges.length];
  const sizes = [8 * n, 8 * n, 4 * m, 8 * m, 8 * m, 8 * (n + m), 8 * (n + m), 4];
  return core.withRoom(sizes, async (shares, own, from, to, by, found, masses, count) => {
    const { buffer } = core.exports.memory;
    new Float64Array(buffer, shares, n).set(seeds.map(({ share }) => share));
    putRows(core, own, seeds.map(({ document }) => document));
    new Uint32Array(buffer, from, m).set(edges.map(({ seed }) => seed));
    putRows(core, to, edges.map(({ document }) => document));
    new Float64Array(buffer, by, m).set(edges.map(({ weight }) => weight));
    await core.call("named_spread", shares, own, n, from, to, by, m, found, masses, count);
    const length = core.view.getUint32(count, true);
    const mass = new Float64Array(core.exports.memory.buffer, masses, length);
    const raised = (document) => {
      const place = documents.indexOf(document);
      return place < 0 ? document : rows[place];
    };
    return new Map(rowsAt(core, found, length).map((one, i) => [raised(one), mass[i]]));
  });
}

/** The exact scores of rows that a ranking lacks. */
async function scored(file, rows, { text, vector, by, best }) {
  if (!rows.length) return { scores: [], parts: [] };
  const bm25 = Float32Array.from(await file.wordScores(rows, text));
  if (!by) return { scores: [...bm25], parts: [...bm25].map((one) => ({ bm25: one })) };
  const near = Float32Array.from(await file.vectorScores(rows, vector));
  const places = rows.map((_, i) => i);
  const { order, scores } = await file.calibrated(by, bm25, near, places, best);
  const placed = [];
  order.forEach((place, i) => (placed[place] = scores[i]));
  return { scores: placed, parts: places.map((i) => ({ bm25: bm25[i], vector: near[i] })) };
}
