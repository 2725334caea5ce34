/* Ranges of a file kept between visits, where the program wants that: a Cache of the browser, under a name
that the program gives. What is kept belongs to one state of the object (its size and tag); that of another
state goes when the file is opened. The core checks what comes from here as it checks what comes from a
host, and what fails is forgotten. */

import { ArgumentError } from "./errors.js";

const MARK = "ragfile-range";

export class Keeping {
  /** The ranges of an object with this identity, and no other ones of its address. */
  static async of(name, url, identity) {
    if (!globalThis.caches)
      throw new ArgumentError("there is no Cache API here, which the option cache needs");
    const keeping = new Keeping(await caches.open(name), url, identity);
    await keeping.drop((kept) => kept !== identity);
    return keeping;
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

  /** Bytes that were kept, or null. */
  async read(at, size) {
    const found = await this.cache.match(this.place(at, size));
    const bytes = found ? new Uint8Array(await found.arrayBuffer()) : null;
    return bytes?.length === size ? bytes : null;
  }

  /** Keeps bytes as far as there is room; a browser that has none says so, and nobody minds. */
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
