/* Sentences and words as ragfile/text.py finds them, and Python's blanks. Places are UTF-16 units. */

const SPACE =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const BEFORE = new RegExp(`^[${SPACE}]+`);
const AFTER = new RegExp(`[${SPACE}]+$`);
const RUN = new RegExp(`[${SPACE}]+`, "g");
export const BLANK = `[${SPACE}]`;
export const FULL = `[^${SPACE}]`; // any other character

export const trimmedStart = (text) => text.replace(BEFORE, "");
export const trimmedEnd = (text) => text.replace(AFTER, "");
export const trimmed = (text) => trimmedEnd(trimmedStart(text));
export const oneLine = (text) => trimmed(text.replace(RUN, " "));

const STOP =
  /(?<mark>[.!?…]+["'”’»)\]]*)(?=[ \t\n]|$)|(?<sure>[。！？｡]+["”’」』）]*|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+#>|]|[0-9]{1,9}[.)])[ \t#]))|[.!?…]+/g;
const LOWER = /[ \t\n]+[a-zß-öø-ÿα-ωа-я]/y;
const ABBREVIATION =
  /(?:^|[ \t\n(\[])(?:[A-Za-z]|e\.g|i\.e|a\.m|p\.m|u\.s|u\.k|cf|vs|etc|al|approx|resp|nos?|vol|figs?|eq|sec|ch|pp|eds?|inc|ltd|co|corp|dept|est|mrs?|ms|dr|prof|sr|jr|st|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.$/i;
const NEAR = 12; // longer than an abbreviation

/** The spans of the sentences of a text, in order, without the blanks around them. */
export function sentences(text) {
  const spans = [];
  let start = 0;
  for (const match of text.matchAll(STOP)) {
    const end = match.index + match[0].length;
    const { sure, mark } = match.groups;
    if (sure === undefined && (mark === undefined || !ends(text, mark, match.index, end))) continue;
    add(spans, text, start, end);
    start = end;
  }
  add(spans, text, start, text.length);
  return spans;
}

function ends(text, mark, at, end) {
  LOWER.lastIndex = end;
  if (LOWER.test(text)) return false;
  return mark !== "." || !ABBREVIATION.test(text.slice(Math.max(0, at - NEAR), end));
}

function add(spans, text, start, end) {
  const isBlank = (at) => " \t\n".includes(text[at]);
  while (start < end && isBlank(start)) start++;
  while (start < end && isBlank(end - 1)) end--;
  if (start < end) spans.push([start, end]);
}

const UNSPACED =
  "\\u0e01-\\u0e4e\\u3041-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3fffd}";
const MARKS =
  "\\x00-\\/:-@\\[-\\^`\\{-\\xa9\\xab-\\xb4\\xb6-\\xb9\\xbb-\\xbf×÷\\u2000-\\u200b\\u200e-\\u206f\\u2e00-\\u2e7f\\u3000-\\u3040\\uff01-\\uff0f";
const WORD = new RegExp(`[${UNSPACED}]|[^${MARKS}${UNSPACED}]+`, "gu");

/** The words of a text in lower case. */
export const words = (text) => text.toLowerCase().match(WORD) ?? [];
