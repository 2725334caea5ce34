/* Text and bytes. Positions in a file count code points; strings here count UTF-16 units.
Imports nothing. */

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const encoded = (text) => encoder.encode(text);

/** UTF-8 to a string; a lone surrogate that a source had comes back as one. Null for other bytes. */
export function decoded(bytes) {
  try {
    return strict.decode(bytes);
  } catch {
    return leniently(bytes);
  }
}

function leniently(bytes) {
  const parts = [];
  let from = 0;
  try {
    for (let i = 0; i + 2 < bytes.length; i++) {
      const isSurrogate =
        bytes[i] === 0xed &&
        bytes[i + 1] >= 0xa0 &&
        bytes[i + 1] < 0xc0 &&
        (bytes[i + 2] & 0xc0) === 0x80;
      if (!isSurrogate) continue;
      const unit = 0xd000 | ((bytes[i + 1] & 0x3f) << 6) | (bytes[i + 2] & 0x3f);
      parts.push(strict.decode(bytes.subarray(from, i)), String.fromCharCode(unit));
      from = i + 3;
      i += 2;
    }
    return from === 0 ? null : parts.join("") + strict.decode(bytes.subarray(from));
  } catch {
    return null;
  }
}

/** How many code points a string has. */
export function length(text) {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Code points [start, end) of a string. */
export function sliced(text, start, end = Infinity) {
  let i = 0;
  let count = 0;
  const step = () => (i += text.codePointAt(i) > 0xffff ? 2 : 1);
  for (; count < start && i < text.length; count++) step();
  const from = i;
  for (; count < end && i < text.length; count++) step();
  return text.slice(from, i);
}

/** Compares strings by code points, as Python does. */
export function compareText(a, b) {
  const most = Math.min(a.length, b.length);
  let i = 0;
  while (i < most && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === most) return a.length - b.length;
  const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
  // a surrogate pair stands for more than any single unit
  const [isX, isY] = [isPaired(a, i), isPaired(b, i)];
  return isX === isY ? x - y : isX ? 1 : -1;
}

function isPaired(text, i) {
  const unit = text.charCodeAt(i);
  if (unit >= 0xd800 && unit < 0xdc00) return text.codePointAt(i) > 0xffff;
  return unit >= 0xdc00 && unit < 0xe000 && i > 0 && text.codePointAt(i - 1) > 0xffff;
}
