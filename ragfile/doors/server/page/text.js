/* Positions in texts, and the last word of a question. A file counts code points and
JavaScript counts UTF-16 units; `units` leads from one to the other. */

/** The UTF-16 position of a code point in a text. */
export function units(text, points) {
  let at = 0;
  for (let left = points; left > 0 && at < text.length; left--) {
    at += text.codePointAt(at) > 0xffff ? 2 : 1;
  }
  return at;
}

/** How many code points a text has. */
export function points(text) {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

// ------------------------------------------------------------------------ words of a question ---

const WORD = /[\p{L}\p{N}]+/gu;
/** The last word of a question, if it may be the beginning of one; "" after a space, or where the
question has operators of the query syntax. */
export function beginning(question) {
  const last = question.match(/[\p{L}\p{N}]{2,}$/u)?.[0] ?? "";
  return /["*~]|(^|\s)[+-]/.test(question) ? "" : last.toLowerCase();
}

/** Whether a text has a word, not only words that begin with it. */
export function hasWord(text, word) {
  return (text.toLowerCase().match(WORD) ?? []).includes(word);
}
