/* Restore a document's text from before normalisation ("original" of its metadata): layers of edits, each
undone on the result of the previous one, like ragfile/text.py. Positions count code points. */

const LAYERS = 8;
const MOST = 2 ** 28; // code points of an original

/** Return the raw text of a normalised one; throw an Error if the edits do not apply. */
export function restored(text, edits) {
  if (edits.length > LAYERS) throw new Error(`more than ${LAYERS} layers of edits`);
  return edits.reduce(undone, [...text]).join("");
}

function undone(points, layer) {
  if (!Array.isArray(layer) || !layer.every(isGroup))
    throw new Error("an edit must be a raw text, its replacement and positions");
  const { whole, places } = read(points, layer);
  const found = [];
  let last = 0;
  const copy = (to) => {
    for (; last < to; last++) found.push(...(whole.get(points[last]) ?? [points[last]]));
  };
  for (const { at, raw, made } of places) {
    const isThere = made.every((point, i) => points[at + i] === point && !whole.has(point));
    if (at < last || !isThere) throw new Error(`no edit can have been made at ${at}`);
    copy(at);
    found.push(...raw);
    last = at + made.length;
  }
  copy(points.length);
  return found;
}

/** {the raw text of characters everywhere, the other edits in order}, if there is room for the original. */
function read(points, layer) {
  const [whole, places] = [new Map(), []];
  let [size, count] = [points.length, 0];
  const often = new Map();
  for (const point of points) often.set(point, (often.get(point) ?? 0) + 1);
  for (const [raw, made, ...distances] of layer) {
    const [before, after] = [[...raw], [...made]];
    let at = 0;
    for (const step of distances) {
      at += step;
      if (at > points.length) throw new Error("an edit is after the end of the text");
      places.push({ at, raw: before, made: after });
    }
    const times = distances.length || (often.get(made) ?? 0);
    if (!distances.length) {
      if (times && whole.has(made)) throw new Error(`two edits produce '${made}'`);
      whole.set(made, before);
    }
    size += times * (before.length - after.length);
    count += times;
    if (count > 2 * points.length + 1) throw new Error("more edits than the text can hold");
    if (size > MOST) throw new Error(`the original is over the limit of ${MOST} characters`);
  }
  places.sort((a, b) => a.at - b.at || a.made.length - b.made.length);
  return { whole, places };
}

const isGroup = (group) =>
  Array.isArray(group) &&
  typeof group[0] === "string" &&
  typeof group[1] === "string" &&
  (group.length > 2 || [...group[1]].length === 1) &&
  group.slice(2).every((step) => Number.isSafeInteger(step) && step >= 0);
