/* A model's answer as elements: paragraphs, lists, headings, code, tables, emphasis, and the marks
of its sources. Links, images and HTML stay as they are written: an answer can repeat what a
document says, and no document may make a reader's browser go somewhere.

Positions are those of the answer's text, so that marks and judgements find their place. */

import { h } from "./dom.js";

const INLINE = new RegExp([
  "(?<code>(?<ticks>`+)(?!`)(?:.+?)(?<!`)\\k<ticks>(?!`))",
  "(?<strong>\\*\\*(?=\\S)(?:.+?)(?<=\\S)\\*\\*)",
  "(?<em>(?<![\\w*])\\*(?=[^\\s*])[^*\\n]+?(?<=[^\\s*])\\*(?![\\w*]))",
  "(?<mark>\\[\\d{1,4}\\])",
].join("|"), "gs");
const ITEM = /^(\s*)([-*+]|\d{1,3}[.)])\s+/;
const FENCE = /^\s*(```+|~~~+)\s*([\w+-]*)/;
const ROW = /^\s*\|.*\|\s*$/;

/** The blocks of an answer: {key, make}, where equal keys make equal elements. `cited` maps the
place of a mark to its element, made anew by each call; `doubtful` are stretches [start, end]. */
export function blocks(text, cited, doubtful) {
  const inline = (from, to) => runs(text, from, to, cited, doubtful);
  return split(text).map((block) => {
    const { kind, from, to } = block;
    const inside = doubtful.filter(([start, end]) => start < to && end > from).join(";");
    const key = `${kind} ${from} ${text.slice(from, to)} ${cited.known(from, to)} ${inside}`;
    return { key, make: () => MAKE[kind](text, block, inline) };
  });
}

const MAKE = {
  code: (text, { inner }) => h("pre", { tabIndex: 0 }, h("code", {}, text.slice(...inner))),
  heading: (text, { inner }, inline) => h("p", { class: "heading" }, inline(...inner)),
  quote: (text, { lines }, inline) =>
    h("blockquote", {}, lines.map(([from, to]) => [inline(skip(text, from, /^\s*>\s?/), to), " "])),
  list: (text, { lines }, inline) => list(text, lines, inline),
  table: (text, { lines }, inline) => table(text, lines, inline),
  paragraph: (text, { from, to }, inline) => h("p", {}, inline(from, to)),
};

/** Where a text goes on after what a pattern finds there. */
const skip = (text, from, pattern) => from + (text.slice(from).match(pattern)?.[0].length ?? 0);

// -------------------------------------------------------------------------------------- blocks ---

/** The blocks of a text with their places. */
function split(text) {
  const lines = placed(text), found = [];
  for (let i = 0; i < lines.length; ) {
    const [from, to] = lines[i], line = text.slice(from, to);
    const kind = kindOf(line);
    let next = i + 1;
    if (kind === "code") next = closing(text, lines, i);
    else if (kind !== "heading" && kind !== "empty") next = together(text, lines, i, kind);
    const block = { kind, from, to: lines[next - 1][1], lines: lines.slice(i, next) };
    if (kind === "code") block.inner = [lines[i + 1]?.[0] ?? to, lines[next - 2]?.[1] ?? to];
    if (kind === "code" && !isClosed(text, lines, i, next)) block.inner[1] = block.to;
    if (kind === "heading") block.inner = [skip(text, from, /^#{1,6}\s+/), to];
    if (kind !== "empty") found.push(block);
    i = next;
  }
  return found;
}

function placed(text) {
  let at = 0;
  return text.split("\n").map((line) => {
    const place = [at, at + line.length];
    at += line.length + 1;
    return place;
  });
}

function kindOf(line) {
  if (!line.trim()) return "empty";
  if (FENCE.test(line)) return "code";
  if (/^#{1,6}\s/.test(line)) return "heading";
  if (/^\s*>/.test(line)) return "quote";
  if (ITEM.test(line)) return "list";
  return ROW.test(line) ? "table" : "paragraph";
}

/** The line after a fenced block: after its closing fence, or the end of a text that still comes. */
function closing(text, lines, first) {
  const mark = text.slice(...lines[first]).match(FENCE)[1];
  const end = lines.findIndex(([from, to], i) => i > first && text.slice(from, to).trim() === mark);
  return end < 0 ? lines.length : end + 1;
}

const isClosed = (text, lines, first, next) =>
  next - 1 > first && text.slice(...lines[next - 1]).trim() === text.slice(...lines[first]).match(FENCE)[1];

/** The line after those that belong together. An indented line goes on with an item. */
function together(text, lines, first, kind) {
  let next = first + 1;
  while (next < lines.length) {
    const line = text.slice(...lines[next]), other = kindOf(line);
    const goesOn = kind === "list" && other === "paragraph" && /^\s+/.test(line);
    if (other !== kind && !goesOn) break;
    next++;
  }
  return next;
}

/** A list; deeper items become lists in the item above them. */
function list(text, lines, inline) {
  const items = [];
  for (const [from, to] of lines) {
    const match = text.slice(from, to).match(ITEM);
    if (match) items.push({ depth: match[1].length, mark: match[2], spans: [[from + match[0].length, to]] });
    else items.at(-1).spans.push([from, to]);
  }
  return nested(items, inline);
}

function nested(items, inline) {
  const start = parseInt(items[0].mark, 10), made = [];
  for (let i = 0; i < items.length; ) {
    let next = i + 1;
    while (next < items.length && items[next].depth > items[0].depth) next++;
    const below = items.slice(i + 1, next);
    const words = items[i].spans.map(([from, to]) => [inline(from, to), " "]);
    made.push(h("li", {}, words, below.length ? nested(below, inline) : null));
    i = next;
  }
  return Number.isNaN(start) ? h("ul", {}, made) : h("ol", { start }, made);
}

function table(text, lines, inline) {
  const isRule = ([from, to]) => /^[\s|:-]+$/.test(text.slice(from, to));
  const rows = lines.filter((line) => !isRule(line));
  const hasHead = lines.length > 1 && isRule(lines[1]);
  return h("div", { class: "wide", tabIndex: 0 }, h("table", {}, rows.map((row, i) =>
    h("tr", {}, cells(text, row).map(([from, to]) => h(hasHead && !i ? "th" : "td", {}, inline(from, to)))))));
}

function cells(text, [from, to]) {
  const inner = text.slice(from, to), first = inner.indexOf("|") + 1, last = inner.lastIndexOf("|");
  const found = [];
  for (let at = first; at <= last; ) {
    const end = inner.indexOf("|", at);
    found.push([from + at, from + end]);
    at = end + 1;
  }
  return found;
}

// --------------------------------------------------------------------------------------- inline ---

/** The stretch [from, to) with emphasis, code and marks. */
function runs(text, from, to, cited, doubtful) {
  const parts = [], plain = (start, end) => parts.push(...said(text, start, end, doubtful));
  let at = from;
  for (const { index, 0: all, groups } of text.slice(from, to).matchAll(INLINE)) {
    const start = from + index, end = start + all.length;
    const inner = (size) => runs(text, start + size, end - size, cited, doubtful);
    const mark = groups.mark && cited.make(start);
    if (groups.mark && !mark) continue; // a number in brackets that cites nothing
    plain(at, start);
    if (mark) keepTogether(parts);
    if (groups.code) parts.push(h("code", {}, all.slice(groups.ticks.length, -groups.ticks.length)));
    else if (groups.strong) parts.push(h("strong", {}, inner(2)));
    else if (groups.em) parts.push(h("em", {}, inner(1)));
    else parts.push(mark);
    at = end;
  }
  plain(at, to);
  return parts;
}

/** A mark stays on the line of the word before it. */
function keepTogether(parts) {
  const last = parts.at(-1);
  if (typeof last === "string") parts[parts.length - 1] = last.replace(/ $/, "\u00a0");
  else if (last?.nodeName === "SPAN") last.textContent = last.textContent.replace(/ $/, "\u00a0");
}

/** Plain words, with what is doubtful in them marked. */
function said(text, from, to, doubtful) {
  const parts = [];
  let at = from;
  for (const [start, end] of doubtful) {
    const [first, last] = [Math.max(start, at), Math.min(end, to)];
    if (first >= last) continue;
    parts.push(text.slice(at, first), h("span", { class: "doubtful" }, text.slice(first, last)));
    at = last;
  }
  parts.push(text.slice(at, to));
  return parts.filter((part) => part !== "");
}
