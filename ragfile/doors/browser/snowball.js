/* The runtime of Snowball's stemmers: a word, a cursor, and the steps of an algorithm.
tools/build_web.py generates the stemmers themselves (stemmers/).

Algorithms count UTF-16 units. Characters of two units are replaced by private-use characters while a
word is stemmed; no algorithm knows either kind. */

export class Snowball {
  current = "";
  cursor = 0;
  limit = 0;
  limit_backward = 0;
  bra = 0;
  ket = 0;

  stem(word) {
    const wide = [];
    this.current = word.replace(/[\u{10000}-\u{10ffff}]/gu, (one) => {
      if (!wide.includes(one)) wide.push(one);
      return String.fromCharCode(0xf000 + wide.indexOf(one));
    });
    this.cursor = 0;
    this.limit = this.current.length;
    this.limit_backward = 0;
    this.bra = 0;
    this.ket = this.limit;
    this._stem();
    if (!wide.length) return this.current;
    return this.current.replace(
      /[\uf000-\uf0ff]/g,
      (one) => wide[one.charCodeAt(0) - 0xf000] ?? one,
    );
  }

  has(group, at) {
    const one = this.current[at];
    return typeof group === "string" ? group.includes(one) : group.has(one);
  }

  in_grouping(group) {
    if (this.cursor >= this.limit || !this.has(group, this.cursor)) return false;
    this.cursor++;
    return true;
  }

  in_grouping_b(group) {
    if (this.cursor <= this.limit_backward || !this.has(group, this.cursor - 1)) return false;
    this.cursor--;
    return true;
  }

  out_grouping(group) {
    if (this.cursor >= this.limit || this.has(group, this.cursor)) return false;
    this.cursor++;
    return true;
  }

  out_grouping_b(group) {
    if (this.cursor <= this.limit_backward || this.has(group, this.cursor - 1)) return false;
    this.cursor--;
    return true;
  }

  go_in_grouping(group) {
    for (; this.cursor < this.limit; this.cursor++) if (!this.has(group, this.cursor)) return true;
    return false;
  }

  go_in_grouping_b(group) {
    for (; this.cursor > this.limit_backward; this.cursor--)
      if (!this.has(group, this.cursor - 1)) return true;
    return false;
  }

  go_out_grouping(group) {
    for (; this.cursor < this.limit; this.cursor++) if (this.has(group, this.cursor)) return true;
    return false;
  }

  go_out_grouping_b(group) {
    for (; this.cursor > this.limit_backward; this.cursor--)
      if (this.has(group, this.cursor - 1)) return true;
    return false;
  }

  eq_s(text) {
    if (this.limit - this.cursor < text.length || !this.current.startsWith(text, this.cursor))
      return false;
    this.cursor += text.length;
    return true;
  }

  eq_s_b(text) {
    if (
      this.cursor - this.limit_backward < text.length ||
      !this.current.endsWith(text, this.cursor)
    )
      return false;
    this.cursor -= text.length;
    return true;
  }

  find_among(list) {
    return this.found(list, 1, this.limit);
  }

  find_among_b(list) {
    return this.found(list, -1, this.limit_backward);
  }

  /** The result of the longest string of a sorted list that stands at the cursor, ahead of it or
  before it, and whose condition holds. */
  found(list, way, end) {
    const from = this.cursor;
    const at = (text, i) => (way > 0 ? text.charCodeAt(i) : text.charCodeAt(text.length - 1 - i));
    let [low, high, lowSame, highSame, again] = [0, list.length, 0, 0, false];
    for (;;) {
      const middle = low + ((high - low) >> 1);
      const text = list[middle][0];
      let same = Math.min(lowSame, highSame);
      let order = 0;
      for (; same < text.length; same++) {
        if (from + way * same === end) order = -1;
        else
          order = this.current.charCodeAt(way > 0 ? from + same : from - 1 - same) - at(text, same);
        if (order) break;
      }
      if (order < 0) [high, highSame] = [middle, same];
      else [low, lowSame] = [middle, same];
      if (high - low > 1) continue;
      if (low > 0 || high === low || again) break;
      again = true;
    }
    for (let i = low; i >= 0;) {
      const [text, shorter, result, holds] = list[i];
      if (lowSame >= text.length) {
        this.cursor = from + way * text.length;
        if (!holds) return result;
        const isHeld = holds(this);
        this.cursor = from + way * text.length;
        if (isHeld) return result;
      }
      i = shorter;
    }
    return 0;
  }

  replace_s(bra, ket, text) {
    const more = text.length - (ket - bra);
    this.current = this.current.slice(0, bra) + text + this.current.slice(ket);
    this.limit += more;
    if (this.cursor >= ket) this.cursor += more;
    else if (this.cursor > bra) this.cursor = bra;
    return more;
  }

  slice_from(text) {
    this.replace_s(this.bra, this.ket, text);
    this.ket = this.bra + text.length;
  }

  slice_del() {
    this.slice_from("");
  }

  slice_to() {
    return this.current.slice(this.bra, this.ket);
  }

  insert(bra, ket, text) {
    const more = this.replace_s(bra, ket, text);
    if (bra <= this.bra) this.bra += more;
    if (bra <= this.ket) this.ket += more;
  }
}
