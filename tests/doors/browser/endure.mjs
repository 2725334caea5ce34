// Opens hostile files one after the other in one process: node endure.mjs FOLDER
// Every call must end in an answer or in one of ragfile's own errors; prints what did not.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const { open, RagfileError } = await import(
  new URL("../../../ragfile/doors/browser/index.js", import.meta.url)
);
const folder = process.argv[2];
const vector = Array.from({ length: 8 }, (_, i) => -1 + (2 * i) / 7);
const problems = [];
const counts = { answers: 0, refused: 0 };

async function attempt(name, call) {
  try {
    const result = await call();
    counts.answers++;
    return result;
  } catch (error) {
    const isOurs = error instanceof RagfileError && !error.message.startsWith("the core stopped");
    if (isOurs) counts.refused++;
    else problems.push(`${name}: ${error.stack}`);
    return null;
  }
}

const names = (await readdir(folder)).sort();
let before = 0;
for (const [i, name] of names.entries()) {
  const bytes = await readFile(join(folder, name));
  const file = await attempt(name, () => open(bytes, { model: null, memory: 1 << 20 }));
  if (file) {
    await attempt(name, () => file.info());
    await attempt(name, () => file.search("pods of köln", { k: 5 }));
    await attempt(name, () => file.search("d003", { mode: "keyword" }));
    await attempt(name, () =>
      file.search("mist", { vector, k: 7, where: { year: { $gte: 2003 } } }),
    );
    await attempt(name, () => file.search("x y z", { mode: "bm25", tags: ["even"], k: 50 }));
    await attempt(name, () => file.nearest(vector, { k: 3 }));
    for (let n = 0; n < 12; n++)
      await attempt(name, () => file.document(`d${String(n).padStart(3, "0")}`));
    await attempt(name, () => file.search("pods", { dropRepeats: true, vector, diversity: 0.5, k: 4 }));
    await attempt(name, () => file.verify());
    await attempt(name, () => file.close());
  }
  if (i === names.length >> 1) before = process.memoryUsage().rss;
}
globalThis.gc?.();
const after = process.memoryUsage().rss;
process.stdout.write(JSON.stringify({ files: names.length, ...counts, problems, before, after }));
