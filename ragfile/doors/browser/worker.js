/* One open file in a Worker: index.js sends one message per call. */

import { packed } from "./errors.js";
import { RagFile } from "./ragfile.js";

let file = null;

onmessage = async ({ data: { id, method, given, tells } }) => {
  if (tells) given.push((...progress) => postMessage({ id, progress }));
  try {
    const result = method === "open" ? await open(...given) : await file[method](...given);
    postMessage({ id, result, state: state() });
  } catch (error) {
    postMessage({ id, error: packed(error), state: state() });
  }
};

async function open(place, options) {
  file = await RagFile.open(place, options);
}

function state() {
  if (!file) return {};
  const { name, generation, length, source } = file;
  return { name, generation, length, requests: source.requests, received: source.received };
}
