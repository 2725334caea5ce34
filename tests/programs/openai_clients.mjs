// Asks a server as programs with OpenAI's client, the AI SDK and the Agents SDK do.
// node openai_clients.mjs FOLDER PROGRAM URL, where FOLDER has the packages; prints one JSON object.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, program, baseURL] = process.argv.slice(2);
const require = createRequire(`${folder}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const prompt = "How often are keys rotated?";
const messages = [{ role: "user", content: prompt }];
const tools = [{ type: "file_search", vector_store_ids: ["kb"] }];
const kinds = (response) => response.output.at(-1).content[0].annotations.map((note) => note.type);

async function openai() {
  const { default: OpenAI } = await load("openai");
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  const whole = await client.chat.completions.create({ model: "kb", messages });
  const streamed = await client.chat.completions.stream({ model: "kb", messages }).finalMessage();
  const response = await client.responses.create({ model: "kb", input: prompt, tools });
  const final = await client.responses.stream({ model: "kb", input: prompt, tools }).finalResponse();
  const search = await client.vectorStores.search("kb", { query: "keys", filters: null });
  return {
    whole: whole.choices[0].message, streamed, search: search.data.length,
    response: response.output_text, responseStreamed: final.output_text,
    citations: kinds(response), citationsStreamed: kinds(final),
  };
}

async function ai() {
  const { generateText, streamText } = await load("ai");
  const { createOpenAI } = await load("@ai-sdk/openai");
  const provider = createOpenAI({ baseURL, apiKey: "none" });
  const whole = await generateText({ model: provider("kb"), prompt });
  const stream = streamText({ model: provider("kb"), prompt });
  let streamed = "";
  for await (const piece of stream.textStream) streamed += piece;
  const searched = await generateText({
    model: provider("kb"), prompt,
    tools: { file_search: provider.tools.fileSearch({ vectorStoreIds: ["kb"] }) },
  });
  return {
    text: whole.text, sources: whole.sources, streamed, streamedSources: await stream.sources,
    searched: searched.text, documents: searched.sources,
  };
}

async function agents() {
  const { default: OpenAI } = await load("openai");
  const { Agent, OpenAIResponsesModel, fileSearchTool, run, setTracingDisabled } = await load("@openai/agents");
  setTracingDisabled(true);
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  const agent = new Agent({
    name: "reader", instructions: "Be short.", tools: [fileSearchTool(["kb"])],
    model: new OpenAIResponsesModel(client, "kb"),
  });
  const whole = await run(agent, prompt);
  const stream = await run(agent, prompt, { stream: true });
  await stream.completed;
  return { output: whole.finalOutput, streamed: stream.finalOutput };
}

console.log(JSON.stringify(await { openai, ai, agents }[program]()));
