/* Removes the markup of a passage, for people, as ragfile/search/markup.py does; tests compare the two.

Lines end with LF alone, so `(?<![^\n])` begins a line and `(?![^\n])` ends one. */

import { BLANK, FULL, trimmed } from "./sentences.js";

const TAGS =
  "a|abbr|b|blockquote|br|caption|code|col|colgroup|dd|del|details|div|dl|dt|em|figure|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|q|s|small" +
  "|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|ul";
const WORD = "[\\p{L}\\p{N}_]";
const FENCE =
  /(?<![^\n])[ \t]*(?:[\-*+]|\p{Nd}+[.\)])?[ \t]*(`{3,}|~{3,})[^\n]*(?![^\n])/gu;
const INLINE = /(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[^])+?(?<!`)\1(?!`)/gu;
const BLOCK =
  /<!--[^]*?-->|(?<![^\n])[ \t]*(?:[\-=*_ \t]{3,}|\[[^\]\n]+\]:[ \t][^\n]*)(?![^\n])/gu;
const SIGN = new RegExp(
  "\\{\\{[<%][^]*?[%>]\\}\\}|\\{%[^]*?%\\}" +
    `|(?:</?(?:${TAGS})(?:[ \\t\\n](?:\\{\\{[<%][^]*?[%>]\\}\\}|[^<>])*)?/?>)+` +
    "|!\\[[^\\]\\n]*\\]\\([^\\(\\)\\n]*\\)" +
    "|(?<![^\\n])[ \\t]*(?:>+[ \\t]+|:{3,}[ \\t]*)" +
    `|(?<!\\\\)\\[(?=[^\\]\\[]*\\]\\()|(?<=[^\\[${BLANK.slice(1, -1)}])\\]\\([^\\(\\)\\n]*(?:\\([^\\(\\)\\n]*\\)[^\\(\\)\\n]*)*\\)`,
  "gu",
);
const NOT_BLANK = FULL.slice(2, -1);
const INSIDE = "(?:(?!\\n[ \\t]*\\n)";
const PAIRS = [
  `(?<![*\\\\]|${WORD})\\*\\*(?=[^*${NOT_BLANK}])(${INSIDE}[^*])+?)(?<=[^*\\\\${NOT_BLANK}])\\*\\*(?!\\*)`,
  `(?<![*\\\\]|${WORD})\\*(?=[^*${NOT_BLANK}])(${INSIDE}[^*])+?)(?<=[^*\\\\${NOT_BLANK}])\\*(?![*]|${WORD})`,
  `(?<!\\\\|${WORD})_(?=[^_${NOT_BLANK}])(${INSIDE}[^_])+?)(?<=[^_\\\\${NOT_BLANK}])_(?!${WORD})`,
].map((pattern) => new RegExp(pattern, "gu"));
const ENTITY = /&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/gu;
const NAMED = new Map(
  (
    "amp=& lt=< gt=> quot=\" apos=' ndash=\u2013 mdash=\u2014 hellip=\u2026 lsquo=\u2018 rsquo=\u2019 ldquo=\u201c rdquo=\u201d" +
    " laquo=\u00ab raquo=\u00bb copy=\u00a9 reg=\u00ae trade=\u2122 deg=\u00b0 times=\u00d7 middot=\u00b7 bull=\u2022" +
    " larr=\u2190 rarr=\u2192 uarr=\u2191 darr=\u2193 le=\u2264 ge=\u2265 ne=\u2260 plusmn=\u00b1 micro=\u00b5 euro=\u20ac" +
    " pound=\u00a3 sect=\u00a7 para=\u00b6 check=\u2713 lbrace={ rbrace=} lbrack=[ rbrack=] lpar=( rpar=) vert=| ast=*" +
    " lowbar=_ grave=` num=#"
  )
    .split(" ")
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])
    .concat(["nbsp", "ensp", "emsp", "thinsp"].map((name) => [name, " "])),
);
// Characters that stand for inline code while signs are removed.
const FIRST = 0xe000;
const STAND_INS = 6400;
const PRIVATE = /[\ue000-\uf8ff]/gu;
const CELL = new RegExp(
  `</?(?:blockquote|br|caption|dd|div|dl|dt|h[1-6]|hr|li|p|table|td|th|tr)(?!${WORD})`,
  "u",
); // tags between words
const TEXT = new RegExp(`(?<!${WORD})text="([^"\\n]*)"`, "u");

/** Markdown without its markup; lines stay. */
export function readable(text) {
  const codes = text.match(INLINE) ?? [];
  if (unescaped(text).search(PRIVATE) >= 0 || codes.length > STAND_INS) return text;
  let number = FIRST;
  let masked = text.replace(INLINE, () => String.fromCharCode(number++));
  masked = unescaped(masked.replace(BLOCK, "").replace(SIGN, left));
  for (const pair of PAIRS) masked = masked.replace(pair, "$1");
  return masked.replace(PRIVATE, (sign) => unmarked(codes[sign.charCodeAt(0) - FIRST]));
}

function unescaped(text) {
  return text.replace(ENTITY, (all, decimal, hexadecimal, name) => {
    if (name) return NAMED.get(name) ?? all;
    const code = decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hexadecimal, 16);
    const isCharacter = (code >= 32 && code < 0xd800) || (code >= 0xe000 && code < 0x110000);
    return isCharacter && !(code >= 127 && code < 160) ? String.fromCodePoint(code) : all;
  });
}

/** Inline code without its marks, and without the blanks that separate it from them. */
function unmarked(code) {
  const inside = code.replace(/^`+|`+$/g, "");
  const isPadded = inside.startsWith(" ") && inside.endsWith(" ") && trimmed(inside);
  return isPadded ? inside.slice(1, -1) : inside;
}

/** The text that remains of a sign: that of a Hugo template, a blank for tags between words. */
function left(sign, at, text) {
  if (sign.startsWith("<")) {
    const isBetween = trimmed(text.slice(Math.max(0, at - 1), at)) && trimmed(text.charAt(at + sign.length));
    return isBetween && CELL.test(sign) ? " " : "";
  }
  return (sign.startsWith("{{") && sign.match(TEXT)?.[1]) || "";
}

/** The spans of fenced code, fences included. A passage can begin or end inside one. */
export function codeSpans(text) {
  const found = [];
  let opened = null;
  for (const match of text.matchAll(FENCE)) {
    const fence = { start: match.index, end: match.index + match[0].length, sign: match[1] };
    fence.language = languageOf(match[0], match[1]);
    if (opened === null) opened = fence;
    else if (closes(fence, opened)) {
      found.push([opened.start, fence.end]);
      opened = null;
    } else if (fence.language) {
      found.push([0, opened.end]);
      opened = fence;
    }
  }
  if (opened === null) return found;
  const rest = text.slice(opened.end).replace(/^[ \t]+/, "");
  const isEnd = !opened.language && rest.startsWith("\n\n");
  return [...found, isEnd ? [0, opened.end] : [opened.start, text.length]];
}

const closes = (fence, opened) =>
  fence.sign[0] === opened.sign[0] && fence.sign.length >= opened.sign.length && !fence.language;

function languageOf(line, sign) {
  return line.slice(line.indexOf(sign) + sign.length).replace(/^[`~ \t]+|[`~ \t]+$/g, "");
}
