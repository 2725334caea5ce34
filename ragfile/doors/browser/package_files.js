/* Load the files that ship with this package: the core, and the model. */

import { RemoteError } from "./errors.js";

let compiled = null;

/** Return the URL of the core. Bundlers copy the file that this expression names. */
function home() {
  return new URL("./ragfile.wasm.gz", import.meta.url);
}

/** Return the URL of a file beside the core. */
export function beside(name) {
  return new URL(name, home());
}

/** Return the compiled core, fetched once. It is stored compressed, so any host sends it small. */
export function compile(place = home()) {
  compiled ??= load(place).catch((error) => {
    compiled = null;
    throw error;
  });
  return compiled;
}

async function load(place) {
  if (place instanceof WebAssembly.Module) return place;
  const bytes = await fetched(place).catch((error) => {
    if (error.code !== "ENOENT" && error.status !== 404) throw error;
    throw new RemoteError(
      `${place} is missing: in a source tree, \`python tools/build_web.py\` builds it`,
      { status: error.status },
    );
  });
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b; // the host may have decompressed it
  return WebAssembly.compile(isPacked ? await unpackedBytes(bytes) : bytes);
}

async function unpackedBytes(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Fetch a file of this package. */
export async function fetched(place, progress) {
  const url = beside(place);
  if (url.protocol === "file:") {
    const { readFile } = await import("./node_files.js");
    return new Uint8Array(await readFile(url));
  }
  const answer = await fetch(url);
  if (!answer.ok)
    throw new RemoteError(`${url.href}: status ${answer.status}`, { status: answer.status });
  if (!progress) return new Uint8Array(await answer.arrayBuffer());
  const total = Number(answer.headers.get("content-length")) || 0;
  const parts = [];
  let size = 0;
  const reader = answer.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    progress(size, total);
  }
  const bytes = new Uint8Array(size);
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return bytes;
}
