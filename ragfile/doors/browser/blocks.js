/* Cuts a passage into blocks, as ragfile/search/blocks.py does: paragraphs, list items, table rows, fenced code.

A block is {kind, spans}: "text", "item", "row" or "code", and its spans in reading order. */

import { codeSpans, readable } from "./markup.js";
import { oneLine, trimmed, trimmedEnd } from "./sentences.js";
import { length } from "./text.js";

const LONGEST = 600; // code points of a text with its list
const JOINED = 1200; // code points of code with the text above it
const HEADING = /^[ \t]{0,3}#{1,6}[ \t]/;
const ITEM = /^([ \t]*)(?:[-*+]|\p{Nd}{1,9}[.)])[ \t]+/u;
const ROW = /^[ \t]*\|.*\|[ \t]*$/s;
const RULE = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const MARKS =
  /^[ \t]*(?:[-=*_ \t]{3,}|\{\{[<%][^\n]*[>%]\}\}|\{%[^\n]*%\}|<!--[^\n]*-->|\[[^\]\n]+\]:[ \t][^\n]*)$/;
const VERBATIM = new Set(
  ["json", "sql", "toml", "xml", "yaml", "x-php"].map((name) => `application/${name}`),
);
const STOPS = /[.!?…。！？]$/; // a paragraph that ends otherwise leads into the list below
const PLAIN = new Set(["application/pdf", "text/plain"]);
const SOFT = /[ \t]*\n(?![ \t]*(?:\n|[\-*+][ \t]|\p{Nd}{1,9}[.\)][ \t]|$))[ \t]*/gu;

export function blocks(text, metadata) {
  if (Number.isInteger(metadata.row)) return whole(text, "row");
  if (isSourceCode(metadata)) return whole(text, "code");
  return joined(text, new MarkdownReader(text).blocks());
}

export const isSourceCode = (metadata) => "symbol" in metadata || VERBATIM.has(metadata.mime);

/** Text without its markup and with its lines joined. */
export const readableText = (text, metadata) =>
  PLAIN.has(metadata.mime) ? oneLine(text) : unwrapped(readable(text));

function whole(text, kind) {
  const inside = text.replace(/^\n+|\n+$/g, "");
  const start = text.indexOf(inside);
  return trimmed(inside) ? [{ kind, spans: [[start, start + inside.length]] }] : [];
}

class MarkdownReader {
  constructor(text) {
    this.text = text;
    this.found = [];
    this.open = null;
    this.header = []; // of the table that is being read
  }

  blocks() {
    const { text } = this;
    const code = codeSpans(text);
    for (let at = 0; at < text.length; ) {
      if (code.length && at >= code[0][0]) {
        this.close();
        this.add("code", code[0]);
        at = code.shift()[1] + 1;
        continue;
      }
      const newline = text.indexOf("\n", at);
      const end = newline < 0 ? text.length : newline;
      this.line([at, end]);
      at = end + 1;
    }
    this.close();
    return this.found;
  }

  line(span) {
    const text = this.text.slice(...span);
    const item = text.match(ITEM);
    if (!trimmed(text) || HEADING.test(text) || MARKS.test(text)) {
      this.close();
      this.header = [];
    } else if (ROW.test(text)) {
      this.close();
      this.row(span, text);
    } else if (item && !(this.open?.kind === "item" && item[1].length >= 2)) {
      this.close();
      this.open = { kind: "item", spans: [span] };
    } else if (this.open) this.open.spans[0] = [this.open.spans[0][0], span[1]];
    else this.open = { kind: "text", spans: [span] };
  }

  row(span, text) {
    if (RULE.test(text)) this.header.push(span);
    else if (!this.header.length && this.ruleFollows(span)) this.header = [span];
    else this.found.push({ kind: "row", spans: [...this.header, span] });
  }

  ruleFollows([, end]) {
    const newline = this.text.indexOf("\n", end + 1);
    const following = this.text.slice(end + 1, newline < 0 ? undefined : newline);
    return RULE.test(following) && following.includes("|");
  }

  add(kind, span) {
    this.found.push({ kind, spans: [span] });
  }

  close() {
    if (this.open) this.found.push(this.open);
    this.open = null;
  }
}

/** Blocks with code joined to the paragraph above it, and short lists to a sentence that ends with a colon. */
function joined(text, found) {
  const kept = [];
  for (const block of found) {
    const last = kept.at(-1);
    if (last && belongs(text, last, block)) {
      last.spans = [[last.spans[0][0], block.spans.at(-1)[1]]];
      if (block.kind === "code") last.kind = "code";
    } else kept.push(block);
  }
  return kept;
}

function belongs(text, last, block) {
  const [start, end] = [last.spans[0][0], block.spans.at(-1)[1]];
  const between = text.slice(last.spans.at(-1)[1], block.spans[0][0]);
  if (last.kind === "code" || trimmed(between)) return false;
  const size = length(text.slice(start, end));
  if (block.kind === "code") return ["text", "item"].includes(last.kind) && size <= JOINED;
  const first = trimmedEnd(text.slice(start, end).split("\n\n", 1)[0]);
  return block.kind === "item" && last.kind === "text" && !STOPS.test(first) && size <= LONGEST;
}

/** Joins the lines of each paragraph and list item. */
function unwrapped(text) {
  const lines = trimmed(text).replace(SOFT, " ").split("\n");
  return lines.map(trimmedEnd).filter(Boolean).join("\n");
}
