/* Byte ranges of a file, cached between visits in a browser Cache that the program names. An entry belongs
to one version of the object (its size and tag); opening another version deletes it. The core verifies
cached bytes like fetched ones, and an entry that fails is deleted. */

import { ArgumentError } from "./errors.js";

const MARK = "ragfile-range";

export class RangeCache {
  /** Open the cache of a URL for one identity, and delete the entries of every other. */
  static async of(name, url, identity) {
    if (!globalThis.caches)
      throw new ArgumentError("the option cache needs the Cache API, which is missing here; use HTTPS, or omit cache");
    const ranges = new RangeCache(await caches.open(name), url, identity);
    await ranges.drop((kept) => kept !== identity);
    return ranges;
  }

  constructor(cache, url, identity) {
    Object.assign(this, { cache, url, identity });
  }

  place(at, size) {
    const place = new URL(this.url);
    place.searchParams.set(MARK, `${at}-${size}`);
    place.searchParams.set(`${MARK}-of`, this.identity);
    return place.href;
  }

  /** Return cached bytes, or null. */
  async read(at, size) {
    const found = await this.cache.match(this.place(at, size));
    const bytes = found ? new Uint8Array(await found.arrayBuffer()) : null;
    return bytes?.length === size ? bytes : null;
  }

  /** Cache bytes. A full quota is ignored: the cache only saves requests. */
  async write(at, bytes) {
    await this.cache.put(this.place(at, bytes.length), new Response(bytes)).catch(() => {});
  }

  async forget() {
    await this.drop(() => true);
  }

  async drop(isWrong) {
    const own = new URL(this.url);
    for (const request of await this.cache.keys()) {
      const url = new URL(request.url);
      const identity = url.searchParams.get(`${MARK}-of`);
      const isOurs = url.origin === own.origin && url.pathname === own.pathname;
      if (identity !== null && isOurs && isWrong(identity)) await this.cache.delete(request);
    }
  }
}
