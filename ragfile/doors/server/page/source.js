/* Texts shown character for character. Of Markdown the headings, code, emphasis and links get a
look, and lines that an author's editor broke flow on; but nothing is added and nothing is left out:
the text of the elements is the text of the file, so what is marked is what the file says. Nothing
is followed, loaded or run. */

import { h } from "./dom.js";

const LONGEST = 4000; // characters of a line that is looked into
const HEADING = /^(#{1,6} )/;
const BULLET = /^\s*(?:[-*+]|\d{1,3}[.)]|>)(?= )/;
// What can continue the paragraph of the line before: no list, table, fence, heading or quote.
const FLOWING = /^ *(?![-*+>|#\s]|\d{1,3}[.)] |```|~~~)/;
// A pattern, the look of what it finds, and of the marks around it: groups 1 and 2.
const INLINE = [
  [/(`+)(?!`).+?(?<!`)(\1)(?!`)/dg, "code"],
  [/(\*\*)(?=\S).+?(\*\*)/dg, "strong"],
  [/(?<![\w*])(\*)(?=[^\s*])[^*]+?(?<=[^\s*])(\*)(?![\w*])/dg, "em"],
  [/(?<!!)(\[)[^[\]]*(\]\([^()\s]*\))/dg, "linked"],
  [/()(\{#[\w-]+\})$/dg, "anchor"],
];

/** Whether a passage or document is Markdown, by its type or its name. */
export function isMarkdown({ metadata = {}, source = "" }) {
  if (metadata.mime) return metadata.mime === "text/markdown";
  return /\.(md|mdx|markdown|ipynb)$/i.test(metadata.path ?? source);
}

/** Elements whose text is exactly text[first, last); `marks` are stretches [start, end, class] of it
without overlap, in order. What comes before `first` decides whether it begins inside code. */
export function painted(text, marks, markdown, [first, last] = [0, text.length]) {
  const runs = markdown ? looks(text) : [];
  const edges = [...new Set(runs.flatMap((run) => run.slice(0, 2)))].sort((a, b) => a - b);
  const parts = [];
  let at = first;
  for (const [start, end, look] of marks) {
    parts.push(...pieces(text, runs, edges, at, start));
    parts.push(h("mark", { class: look }, pieces(text, runs, edges, start, end)));
    at = end;
  }
  return [...parts, ...pieces(text, runs, edges, at, last)];
}

/** The stretch [from, to) of a text, with a span for each change of look. */
function pieces(text, runs, edges, from, to) {
  const near = runs.filter((run) => run[0] < to && run[1] > from);
  const cuts = [from, ...edges.filter((edge) => edge > from && edge < to), to];
  return cuts.slice(1).flatMap((end, i) => piece(text.slice(cuts[i], end), near, cuts[i], end));
}

function piece(text, runs, start, end) {
  if (!text) return [];
  const names = runs.filter((run) => run[0] <= start && run[1] >= end).map((run) => `s-${run[2]}`);
  return [names.length ? h("span", { class: [...new Set(names)].join(" ") }, text) : text];
}

/** The looks of a text's stretches: [start, end, name]. */
function looks(text) {
  const runs = [], lines = text.split("\n");
  let at = 0, fence = "";
  for (const [i, line] of lines.entries()) {
    const fenced = line.match(/^\s*(```+|~~~+)/)?.[1] ?? "";
    const isFence = fenced && (!fence || fenced.startsWith(fence));
    if (isFence) fence = fence ? "" : fenced;
    if (isFence || fence || /^\s*\|/.test(line)) {
      runs.push([at, at + line.length, isFence ? "fence" : "block"]);
    } else {
      if (line.length <= LONGEST) ofProse(line, at, runs);
      const spaces = line.trim() && !HEADING.test(line) && lines[i + 1]?.match(FLOWING);
      if (spaces) runs.push([at + line.length, at + line.length + 1 + spaces[0].length, "soft"]);
    }
    at += line.length + 1;
  }
  return [...runs, ...gaps(text)];
}

function ofProse(line, at, runs) {
  const add = ([start, end], look) => start < end && runs.push([at + start, at + end, look]);
  const heading = line.match(HEADING)?.[1].length;
  if (heading) add([0, line.length], "heading");
  if (heading) add([0, heading], "syntax");
  add([0, line.match(BULLET)?.[0].length ?? 0], "bullet");
  for (const [pattern, look] of INLINE) {
    for (const { indices } of line.matchAll(pattern)) {
      add(indices[0], look);
      for (const mark of indices.slice(1)) add(mark, "syntax");
    }
  }
}

/** Empty lines between paragraphs. */
function gaps(text) {
  return [...text.matchAll(/\n{2,}/g)].map(({ index, 0: all }) => [index, index + all.length, "gap"]);
}
