/* Keep a site usable offline: try the network first and cache its answers. If the page asks for it, the
whole file is cached, and ranges are cut from the copy. */

const NAME = "ragfile-site";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("message", (event) => {
  event.waitUntil(keepAll(event.data?.keep ?? []).catch(console.warn));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(answer(request));
});

async function answer(request) {
  const range = request.headers.get("range");
  try {
    const found = await fetch(request);
    if (found.status === 200 && !range) await put(request, found.clone());
    return found;
  } catch (error) {
    const cache = await caches.open(NAME);
    const kept = await cache.match(request.url, { ignoreSearch: request.mode === "navigate" });
    if (!kept) throw error;
    return range ? cut(kept, range) : kept;
  }
}

async function put(request, answer) {
  const cache = await caches.open(NAME);
  const url = new URL(request.url);
  if (request.mode === "navigate") url.search = "";
  await cache.put(url, answer);
}

async function keepAll(urls) {
  const cache = await caches.open(NAME);
  await Promise.allSettled(urls.map((url) => keep(cache, url)));
}

/** Cache a whole file, and fetch it again only if the host's copy changed. */
async function keep(cache, url) {
  const kept = await cache.match(url);
  if (kept) {
    const now = await fetch(url, { method: "HEAD" });
    const isSame = ["etag", "last-modified", "content-length"].every(
      (name) => now.headers.get(name) === kept.headers.get(name),
    );
    if (isSame) return;
  }
  // bypass the HTTP cache, which holds ranges of the file and might combine them
  const whole = await fetch(url, url.endsWith(".ragfile") ? { cache: "no-store" } : {});
  if (whole.status === 200) await cache.put(url, whole);
}

async function cut(kept, range) {
  const bytes = await kept.blob();
  const found = /^bytes=(\d*)-(\d*)$/.exec(range);
  const [first, last] = found
    ? found[1]
      ? [Number(found[1]), Math.min(Number(found[2] || bytes.size - 1), bytes.size - 1)]
      : [Math.max(0, bytes.size - Number(found[2])), bytes.size - 1]
    : [0, bytes.size - 1];
  const headers = new Headers(kept.headers);
  headers.delete("content-encoding");
  headers.set("content-length", last - first + 1);
  headers.set("content-range", `bytes ${first}-${last}/${bytes.size}`);
  return new Response(bytes.slice(first, last + 1), { status: 206, headers });
}
