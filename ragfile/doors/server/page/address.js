/* What the page shows, in its address: a question, a collection, filters, an open passage. Whoever
has the address sees the same; `?q=%s` is all that a browser's search keyword needs. */

const FIELD = "f."; // the prefix of metadata fields

/** Returns the state that the URL holds. */
export function read() {
  const said = new URLSearchParams(location.search);
  const fields = Object.create(null); // without a prototype: a field may be named "__proto__"
  for (const [name, value] of said) {
    if (name.startsWith(FIELD)) (fields[name.slice(FIELD.length)] ??= []).push(value);
  }
  return {
    question: said.get("q") ?? "",
    collection: said.get("c") ?? "",
    mode: said.get("mode") ?? "",
    asks: said.has("ask"),
    tags: said.getAll("tag"),
    fields,
    open: opened(said),
  };
}

/** Returns the open passage {id, start, end, checksum}, or null. */
function opened(said) {
  const id = said.get("doc");
  if (!id) return null;
  const [, start, end] = (said.get("span") ?? "").match(/^(\d+)-(\d+)$/) ?? [];
  return { id, start: Number(start ?? -1), end: Number(end ?? -1), checksum: said.get("sum") ?? "" };
}

/** Returns the URL of a state. */
export function of(state) {
  const said = new URLSearchParams();
  const plain = { q: state.question, c: state.collection, mode: state.mode };
  for (const [name, value] of Object.entries(plain)) if (value) said.set(name, value);
  if (state.asks) said.set("ask", "1");
  for (const tag of state.tags ?? []) said.append("tag", tag);
  for (const [name, values] of Object.entries(state.fields ?? {})) {
    for (const value of values) said.append(FIELD + name, value);
  }
  if (state.open) place(said, state.open);
  return `${location.pathname}${said.size ? `?${said}` : ""}`;
}

/** The lasting address of a passage: the document, its characters, and what the document's bytes
were when it was made. */
export function permalink(collection, { id, start, end, checksum }) {
  const said = new URLSearchParams({ c: collection });
  place(said, { id, start, end, checksum });
  return new URL(`?${said}`, location.href.split(/[?#]/)[0]).href;
}

function place(said, { id, start, end, checksum }) {
  said.set("doc", id);
  if (start >= 0) said.set("span", `${start}-${end}`);
  if (checksum) said.set("sum", checksum.slice(0, 16));
}

/** Writes a state to the URL; `isStep` adds an entry to the history, which "back" undoes. */
export function write(state, isStep = false) {
  const address = of(state);
  if (address === location.pathname + location.search) return;
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
