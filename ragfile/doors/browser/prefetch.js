/* Predict from the table of contents which bytes the first word search will read, so that one round trip
replaces several dependent ones. A wrong guess costs bytes, never a wrong answer: prefetched bytes wait
until the core asks for them and verifies them.

Computes only: open_file.js passes the ranges to the core. Every range covers whole grains of its section, because checksums cover grains. */

const GRAIN = 4 << 10; // of files for the web (rag.fine)
const MOST = 32 << 10; // of one table; a larger one is asked for where it is touched
const HEADS = 16 << 10; // the head of a dictionary with its keys: some 15,000 terms
const TEXT_RATIO = 4; // texts to their packed bytes; more makes a table longer than it is
const TEXT_BLOCK = 8 << 10;
const META_BLOCK = 4 << 10;
const TRAILER = 64;
const SEGMENTS = 6;
const SUMS = 128 << 10; // of finer sums that come whole

/** Stretches [start, end) of the file for its largest segments with live rows. */
export function foreseen(segments, entries) {
  const live = segments.filter((one) => one.live);
  const largest = live.sort((a, b) => b.rows - a.rows).slice(0, SEGMENTS);
  const numbers = new Set(largest.map((one) => one.number));
  const finer = entries.some((e) => e.name === "rag.fine");
  if (!finer) return []; // a block of 64 KiB for each guess is too dear
  return entries.filter((e) => numbers.has(e.segment)).flatMap((e) => GUESSES[e.name]?.(e) ?? []);
}

const GUESSES = {
  "rag.fine": (e) => (e.size <= SUMS ? [[e.at, e.at + e.extent]] : []),
  "rag.terms": (e) => head(e, HEADS),
  "rag.ids": (e) => head(e, upTo(8 * (e.items + 2))),
  "rag.text": (e) => tail(e, upTo(table(e, TEXT_BLOCK))),
  "rag.meta": (e) => tail(e, upTo(table(e, META_BLOCK))),
};

/** A stream's table, with room for one that packs well. */
const table = (e, block) => TRAILER + 8 * Math.ceil((TEXT_RATIO * e.size) / block);
const upTo = (size) => (size <= MOST ? size : GRAIN);
const head = (e, size) => [[e.at, e.at + Math.min(e.size, whole(size))]];
const tail = (e, size) => [[e.at + Math.max(0, whole(e.size - size) - GRAIN), e.at + e.size]];
const whole = (size) => Math.ceil(size / GRAIN) * GRAIN;
