// The package in Deno: deno run -A deno.mjs FILE MODEL QUESTION; prints ids and scores by mode.
import { open } from "../../../ragfile/doors/browser/index.js";

const [place, model, question] = Deno.args;
const file = await open(place, { model: new URL(model) });
const found = {};
for (const mode of ["bm25", "hybrid"]) {
  const { hits } = await file.search(question, { k: 5, mode });
  found[mode] = hits.map(({ id, score }) => [id, score]);
}
await file.close();
console.log(JSON.stringify(found));
