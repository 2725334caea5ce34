// Asks a server as a program with the AI SDK does: a stream, its sources, and vectors.
// node ai_sdk.mjs FOLDER URL, where FOLDER has the SDK's packages; prints one JSON object.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, baseURL] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { streamText, generateText, embedMany } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");

const openai = createOpenAI({ baseURL, apiKey: "none" });
const compatible = createOpenAICompatible({ name: "ragfile", baseURL });
const prompt = "How often are keys rotated?";
const whole = await generateText({ model: openai.chat("kb"), prompt });
const stream = streamText({ model: openai.chat("kb"), prompt });
let text = "";
for await (const piece of stream.textStream) text += piece;
const plain = await generateText({ model: compatible("kb"), prompt });
const embedded = await embedMany({
  model: compatible.textEmbeddingModel ? compatible.textEmbeddingModel("kb") : compatible.embeddingModel("kb"),
  values: ["keys", "pods"],
});
console.log(JSON.stringify({
  whole: whole.text,
  sources: whole.sources,
  streamed: text,
  streamedSources: await stream.sources,
  plain: plain.text,
  embeddings: embedded.embeddings,
}));
