/* Ranges [start, end) of a file: merge them into requests, and hold the fetched bytes in memory. core.js makes the
requests, range_cache.js keeps bytes between visits. */

/** Merge ranges into the fewest that do not touch, in order. */
export function merged(stretches) {
  const found = [];
  for (const [start, end] of [...stretches].sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else if (end > start) found.push([start, end]);
  }
  return found;
}

/** Stretches (in order) as the requests to make for them. Gaps of up to `short` bytes are read over;
then the smallest, while there are more than `few` requests and `most` bytes pay for them. */
export function joined(stretches, { few, short, most }) {
  const gaps = stretches.slice(1).map(([start], i) => [start - stretches[i][1], i + 1]);
  const over = new Set();
  let allowed = most;
  for (const [size, i] of gaps.sort((a, b) => a[0] - b[0])) {
    if (size > short && (stretches.length - over.size <= few || size > allowed)) break;
    if (size > short) allowed -= size;
    over.add(i);
  }
  const requests = [];
  stretches.forEach(([start, end], i) => {
    if (over.has(i)) requests.at(-1)[1] = end;
    else requests.push([start, end]);
  });
  return requests;
}

/** Fetched bytes that the core did not take yet, or that were read on the way: the last `most`. */
export class Fetched {
  constructor(most) {
    this.most = most;
    this.size = 0;
    this.parts = []; // [at, bytes], in order of at; none overlap
  }

  put(at, bytes) {
    let from = at;
    const end = at + bytes.length;
    for (const [start, stop] of this.covering(at, end)) {
      if (start > from) this.insert(from, bytes.slice(from - at, start - at));
      from = Math.max(from, stop);
    }
    if (from < end) this.insert(from, from === at ? bytes : bytes.slice(from - at));
  }

  clear() {
    this.parts = [];
    this.size = 0;
  }

  insert(at, bytes) {
    this.parts.splice(this.after(at), 0, { at, bytes });
    this.size += bytes.length;
  }

  /** The index of the first part that begins after `at`. */
  after(at) {
    let low = 0;
    let high = this.parts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.parts[middle].at <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  covering(from, to) {
    const found = [];
    for (let i = Math.max(this.after(from) - 1, 0); i < this.parts.length; i++) {
      const { at, bytes } = this.parts[i];
      if (at >= to) break;
      if (at + bytes.length > from) found.push([at, at + bytes.length]);
    }
    return found;
  }

  has(from, to) {
    for (const [start, end] of this.covering(from, to)) {
      if (start > from) return false;
      from = end;
      if (from >= to) return true;
    }
    return from >= to;
  }

  /** The parts of [from, to) that are not here. */
  missing(from, to) {
    const found = [];
    for (const [start, end] of this.covering(from, to)) {
      if (start > from) found.push([from, start]);
      from = Math.max(from, end);
    }
    if (from < to) found.push([from, to]);
    return found;
  }

  /** Copies [from, to), which is here, into a Uint8Array. */
  copy(from, to, into) {
    for (let i = Math.max(this.after(from) - 1, 0); i < this.parts.length; i++) {
      const { at, bytes } = this.parts[i];
      if (at >= to) break;
      const first = Math.max(from, at);
      const last = Math.min(to, at + bytes.length);
      if (first < last) into.set(bytes.subarray(first - at, last - at), first - from);
    }
  }

  /** Forgets what does not fit, the largest parts first: they were taken whole. */
  trim() {
    if (this.size <= this.most) return;
    const by = [...this.parts].sort((a, b) => b.bytes.length - a.bytes.length);
    for (const part of by) {
      if (this.size <= this.most) break;
      this.parts.splice(this.parts.indexOf(part), 1);
      this.size -= part.bytes.length;
    }
  }
}
