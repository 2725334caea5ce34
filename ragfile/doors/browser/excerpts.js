/* The excerpt of a passage as lines for people, as ragfile/search/excerpt_lines.py makes it; tests compare the two on
the same passages. `asked` is {weights, places}: the weight of each term of the question, and a function that returns
the places {term, start, end} of all terms of a text, in UTF-16 units. */

import { blocks, isSourceCode, readableText } from "./blocks.js";
import { BY_LANGUAGE, AMOUNTS, PAIRS } from "./function_words.js";
import { codeSpans } from "./markup.js";
import { sentences, trimmed, trimmedEnd, words } from "./sentences.js";
import { compareText, length } from "./text.js";

const SIZE = 300; // code points
const CODE_LINES = 8;
const FLOOR = 1; // of a weight
const FEW = 2; // words
const WHOLE_WORD = 12; // what a word counts for the only language that lists it
const CELL = /(?<!\\)\|/;
const FENCE = /^[ \t]*(?:[\-*+]|\p{Nd}+[.\)])?[ \t]*(?:`{3,}|~{3,})[^\n]*$/u;
const INDENT = 4; // of a level; half of it where it divides no better
const CLOSING = /^ *(?:[}\])]|end(?![\p{L}\p{N}_]))/u;
const BULLET = /^([ \t]*)[-*+][ \t]+/;

/** {start, end, lines: [{text, marks, is_code, number}], in_file}, with places in code points. */
export function excerptLines(passage, metadata, asked, size = SIZE) {
  const { lines: found, start, end } = chosen(passage, metadata, asked, size);
  const lines = aligned(found);
  return {
    start: length(passage.slice(0, start)),
    end: length(passage.slice(0, end)),
    lines: lines.map((line) => ({
      text: line.text,
      marks: marksOf(line.text, asked),
      is_code: line.at !== undefined,
      number: null,
    })),
    in_file: null,
  };
}

function chosen(passage, metadata, asked, size) {
  const found = blocks(passage, metadata);
  if (!found.length) return { lines: [], start: 0, end: 0 };
  const first = best(found.map((block) => weight(asked, textOf(block, passage))));
  const start = found[first].spans.at(-1)[0];
  let [last, end] = [first, found[first].spans.at(-1)[1]];
  const fits = (to) => length(passage.slice(start, to)) <= size;
  while (last + 1 < found.length && fits(found[last + 1].spans.at(-1)[1]))
    end = found[++last].spans.at(-1)[1];
  if (last === first) return ofBlock(found[first], passage, metadata, asked, size);
  const shown = found.slice(first, last + 1);
  return { lines: shown.flatMap((block) => linesOf(block, passage, metadata)), start, end };
}

const textOf = (block, passage) => block.spans.map((span) => passage.slice(...span)).join("\n");

/** The index of the largest number, the first of equal ones. */
const best = (weights) => weights.indexOf(weights.reduce((a, b) => Math.max(a, b)));

/** The summed weights of the question's words in a text: a word has a term in each language. */
function weight({ weights, words, places }, text) {
  if (!weights.size) return 0;
  const held = new Set(places(text).map(({ term }) => words.get(term)));
  const byWord = new Map();
  for (const term of [...weights.keys()].sort(compareText)) {
    const word = words.get(term);
    if (held.has(word) && !byWord.has(word)) byWord.set(word, weights.get(term));
  }
  return [...byWord.values()].reduce((sum, one) => sum + one, 0);
}

/** The excerpt of one block: rows whole, code by lines, text by sentences. */
function ofBlock(block, passage, metadata, asked, size) {
  let [start, end] = block.spans.at(-1);
  let lines = linesOf(block, passage, metadata);
  if (block.kind === "code" && lines.length) {
    lines = bestLines(lines, asked);
    if (lines.every(({ at }) => at !== undefined)) {
      start = lines[0].at;
      end = lines.at(-1).at + lines.at(-1).text.length;
    }
  } else if (block.kind !== "row" && length(passage.slice(start, end)) > size) {
    const cuts = sentences(passage.slice(start, end)).map(([a, b]) => [start + a, start + b]);
    [start, end] = bestSentences(passage, cuts, asked, size);
    lines = textLines(passage.slice(start, end), metadata);
  }
  return { lines, start, end };
}

/** The span of the best sentence and those after it that fit. */
function bestSentences(passage, cuts, asked, size) {
  const first = best(cuts.map((cut) => weight(asked, passage.slice(...cut))));
  const from = cuts[first][0];
  let last = first;
  while (last + 1 < cuts.length && length(passage.slice(from, cuts[last + 1][1])) <= size) last++;
  return [from, cuts[last][1]];
}

/** CODE_LINES lines of code, from two above the one with most of the question. */
function bestLines(lines, asked) {
  const at = best(lines.map(({ text }) => weight(asked, text)));
  const first = Math.max(0, Math.min(at - 2, lines.length - CODE_LINES));
  return lines.slice(first, first + CODE_LINES);
}

function linesOf(block, passage, metadata) {
  if (block.kind === "row") return rowLines(block, passage, metadata);
  const [start, end] = block.spans.at(-1);
  if (block.kind === "code") return codeLines(start, end, passage, metadata);
  return textLines(passage.slice(start, end), metadata);
}

function textLines(text, metadata) {
  const lines = readableText(text, metadata).split("\n").filter(Boolean);
  return lines.map((line) => ({ text: line.replace(BULLET, "$1• ") }));
}

/** A row in one line, each cell with the name of its column if there is a header. */
function rowLines(block, passage, metadata) {
  if (Number.isInteger(metadata.row)) {
    const lines = textOf(block, passage).split("\n");
    return lines.filter((line) => trimmed(line)).map((text) => ({ text }));
  }
  const [row, header] = [block.spans.at(-1), block.spans.length > 1 ? block.spans[0] : null];
  const names = header ? cells(passage.slice(...header), metadata) : [];
  const named = cells(passage.slice(...row), metadata).map((cell, i) =>
    cell && names[i] ? `${names[i]}: ${cell}` : cell,
  );
  return [{ text: named.filter(Boolean).join(" · ") }];
}

function cells(row, metadata) {
  const inside = trimmed(row).replace(/^\|+|\|+$/g, "");
  return inside.split(CELL).map((cell) => readableText(cell, metadata));
}

/** The lines of code as they are, without fences; the text above fenced code as text. */
function codeLines(start, end, passage, metadata) {
  if (isSourceCode(metadata)) return placed(passage, start, end);
  const [fence] = codeSpans(passage.slice(start, end))[0] ?? [0];
  const above = textLines(passage.slice(start, start + fence), metadata);
  return [...above, ...placed(passage, start + fence, end)];
}

function placed(passage, start, end) {
  const lines = [];
  for (const line of passage.slice(start, end).split("\n")) {
    if (trimmed(line) && !FENCE.test(line)) lines.push({ text: trimmedEnd(line), at: start });
    start += line.length + 1;
  }
  return lines;
}

/** Lines without the indentation that all lines of code share, as far as the passage alone tells. */
function aligned(lines) {
  const code = lines.filter(({ at }) => at !== undefined);
  if (!code.length) return lines;
  const texts = code.map(({ text }) => text);
  const isCut = code[0].at === 0 && !indent(texts[0]);
  const shift = isCut ? shiftAfter(texts[0], texts.slice(1)) : Math.min(...texts.map(indent));
  const moved = new Set(isCut ? code.slice(1) : code);
  return lines.map((line) => (moved.has(line) ? { ...line, text: line.text.slice(shift) } : line));
}

const indent = (line) => line.length - line.replace(/^ +/, "").length;

/** How far the lines of code after the first of a passage, which has lost its indentation, move left. */
function shiftAfter(first, filled) {
  const least = Math.min(...filled.map(indent));
  if (!filled.length || least === 0) return 0;
  const closes = indent(filled.at(-1)) === least && CLOSING.test(filled.at(-1));
  return closes ? least : Math.max(0, least - (least % INDENT === 0 ? INDENT : INDENT / 2));
}

/** The spans of the question's words in a line, in code points, overlapping ones joined. */
function marksOf(text, { weights, places }) {
  if (!weights.size) return [];
  const found = places(text).filter(({ term }) => weights.has(term));
  const marks = [];
  for (const { start, end } of found.sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = marks.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else marks.push([start, end]);
  }
  return marks.map((mark) => mark.map((at) => length(text.slice(0, at))));
}

/** How many rows have a word at least, for its weight: one that no row has is as rare as the rarest if there are few. */
export const leastRows = (words) => (new Set(words.values()).size <= FEW ? 1 : 0);

/** {weights, words} by term of a question, but for words that claim nothing, and pairs of characters that share one with
such a pair; `rarity` is that of each in the file. */
export function termsOf(question, places, rarity) {
  const without = functionWords(question);
  const isWhole = (one) =>
    places.some((p) => one.start <= p.start && p.end <= one.end && !isSame(p, one));
  const [weights, words] = [new Map(), new Map()];
  const pairs = places.filter(({ start, end }) => PAIRS.has(question.slice(start, end)));
  const empty = new Set(pairs.flatMap(({ start, end }) => [start, end - 1]));
  for (const place of places) {
    const word = question.slice(place.start, place.end);
    if (empty.has(place.start) || empty.has(place.end - 1)) continue;
    if (isWhole(place) || claimsNothing(word, without) || words.has(place.term)) continue;
    weights.set(place.term, FLOOR + (rarity.get(place.term) ?? 0));
    words.set(place.term, word);
  }
  return { weights, words };
}

/** The question's words that a passage and its header path do not have, in order. */
export function missingOf(text, { headers }, { words, places }) {
  const found = places(typeof headers === "string" ? `${headers}\n${text}` : text);
  const held = new Set(found.map(({ term }) => words.get(term)));
  return [...new Set(words.values())].filter((word) => !held.has(word));
}

/** Whether a word is in a list, or of hiragana alone: a particle or an ending. */
const claimsNothing = (word, without) =>
  without.has(word.toLowerCase()) || /^[\u3041-\u309f]+$/u.test(word);

const isSame = (a, b) => a.start === b.start && a.end === b.end;

/** The words that claim nothing in the language of a question. */
function functionWords(question) {
  const asked = words(question);
  const scores = BY_LANGUAGE.map(() => 0);
  for (const word of new Set(asked)) {
    const listing = BY_LANGUAGE.flatMap((listed, i) => (listed.has(word) ? [i] : []));
    for (const i of listing) scores[i] += Math.floor(WHOLE_WORD / listing.length);
  }
  const amounts = asked.filter((word, i) => AMOUNTS.get(asked[i - 1])?.has(word));
  return new Set([...BY_LANGUAGE[best(scores)], ...PAIRS, ...amounts]);
}
