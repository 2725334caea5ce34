/* Server-sent events from the body of a response: fetch can send a question in a body, which
EventSource cannot. */

/** {event, data} of each event in a stream of bytes; comments, such as heartbeats, are skipped. */
export async function* events(body) {
  let pending = "";
  for await (const text of texts(body)) {
    const blocks = (pending + text).split(/\r\n\r\n|\n\n|\r\r/);
    pending = blocks.pop();
    for (const block of blocks) {
      const event = eventOf(block);
      if (event) yield event;
    }
  }
}

/** Yields the pieces of a body as text. Leaving the loop cancels the request. */
async function* texts(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function eventOf(block) {
  const fields = { event: "message", data: [] };
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, name, value] = line.match(/^([^:]*)(?:: ?(.*))?$/) ?? [];
    if (name === "data") fields.data.push(value ?? "");
    else if (name === "event") fields.event = value;
  }
  return fields.data.length ? { ...fields, data: fields.data.join("\n") } : null;
}
