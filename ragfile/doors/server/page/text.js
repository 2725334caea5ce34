/* Positions in texts, and the words of a question in a passage. A file counts code points and
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
const EMPTY = new Set(
  ("a an and are as at be by can do does for from had has have how i if in is it its me my not of " +
    "on or that the their there these this to was what when where which who why will with you your"
  ).split(" "),
);

/** The words of a question that are worth showing in an answer. */
export function termsOf(question) {
  const words = question.toLowerCase().match(WORD) ?? [];
  const telling = words.filter((word) => !EMPTY.has(word));
  return [...new Set(telling.length ? telling : words)];
}

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

/** Whether two words are forms of one: most of both is a common beginning. A guess for the eye; the
ranking does not know of it. */
function related(word, term) {
  const [short, long] = word.length < term.length ? [word, term] : [term, word];
  if (short.length > 2 && long.length - short.length < 3 && long.startsWith(short)) return true;
  const least = Math.max(4, Math.ceil(Math.max(word.length, term.length) * 0.65));
  return word === term || (short.length >= least && long.startsWith(short.slice(0, least)));
}

/** The stretches of a text, [start, end, term], that are a form of one of the terms. */
export function found(text, terms) {
  const places = [];
  for (const match of text.matchAll(WORD)) {
    const word = match[0].toLowerCase();
    const term = terms.findIndex((each) => related(word, each));
    if (term >= 0) places.push([match.index, match.index + match[0].length, term]);
  }
  return places;
}

/** The stretch [start, end) of a passage to show first: where most terms stand near one another. */
export function excerpt(text, places, size) {
  if (text.length <= size * 1.25) return [0, text.length];
  let best = 0, most = -1;
  for (const [start] of places) {
    const inside = places.filter((place) => place[0] >= start && place[1] <= start + size);
    const score = new Set(inside.map((place) => place[2])).size * 100 + inside.length;
    if (score > most) [best, most] = [start, score];
  }
  const start = Math.min(lineStart(text, best), Math.max(0, text.length - size));
  const isLine = start === 0 || text[start - 1] === "\n";
  return [isLine ? start : onWord(text, start), onWord(text, Math.min(text.length, start + size))];
}

/** Where the line of a place begins, or a little before the place where the line is long. */
function lineStart(text, at) {
  const begun = text.lastIndexOf("\n", at - 1) + 1;
  return at - begun <= 120 ? begun : at - 60;
}

function onWord(text, at) {
  if (at <= 0 || at >= text.length) return at;
  const space = text.slice(at, at + 40).search(/\s/);
  return space < 0 ? at : at + space;
}
