// Answers questions to a file, one JSON line in and one out: node ask.mjs FILE OPTIONS
import { openAsBlob } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const [, , place, options] = process.argv;
const { open } = await import(new URL("../../../ragfile/doors/browser/index.js", import.meta.url));
const given = JSON.parse(options ?? "{}");
let file = null;
const bits = (scores) => Array.from(new Uint32Array(Float32Array.from(scores).buffer));

const CALLS = {
  open: async () => {
    const { asBlob, ...options } = given;
    file = await open(asBlob ? await openAsBlob(fileURLToPath(place)) : place, options);
    return { length: file.length, generation: file.generation };
  },
  search: async (question, rest) => {
    const { hits, degraded } = await file.search(question, rest);
    return { hits, degraded };
  },
  match: async (text, rest) => ranked(await file.match(text, rest)),
  nearest: async (vector, rest) => ranked(await file.nearest(vector, rest)),
  document: (id, span) => file.document(id, span),
  links: (id) => file.links(id),
  words: (text) => file.words(text),
  highlights: (question, passage) => file.highlights(question, passage),
  excerpts: (question, passages) => file.excerpts(question, passages),
  verify: () => file.verify(),
  info: async () => {
    const info = await file.info();
    return { ...info, created: `${info.created}` };
  },
  memory: async () => ({
    wasm: file.file.core.exports.memory.buffer.byteLength,
    kept: file.file.core.exports.kept(),
    rss: process.memoryUsage().rss,
    requests: file.requests,
    received: file.received,
  }),
};
const ranked = ({ rows, scores }) => ({ rows, bits: bits(scores) });

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...rest] = JSON.parse(line);
  let answer;
  try {
    answer = { result: await CALLS[name](...rest) };
  } catch (error) {
    answer = {
      error: error.name,
      message: error.message,
      section: error.section ?? "",
      stack: error.stack,
    };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
