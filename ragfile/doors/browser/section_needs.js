/* The sections that a section needs in its segment.

Made by tools/sections.py from spec/sections.toml. Do not edit. */

const NEEDS = {
  "vector": ["rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"],
  "keyword": ["rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"],
  "rag.keys": ["keyword"],
  "rag.shadow": ["vector"],
  "rag.planes": ["vector"],
  "rag.clusters": ["vector", "rag.clustered"],
  "rag.clustered": ["vector", "rag.clusters"],
  "rag.terms": ["rag.postings"],
  "rag.postings": ["rag.terms"],
  "rag.terms.N": ["rag.terms", "rag.postings.N"],
  "rag.postings.N": ["rag.terms", "rag.terms.N"],
  "rag.positions": ["rag.terms", "rag.postings"],
  "rag.titles": ["rag.chunks", "rag.documents", "rag.ids"],
  "rag.chunks": ["rag.documents", "rag.ids", "rag.text", "rag.meta"],
  "rag.documents": ["rag.chunks", "rag.ids", "rag.text", "rag.meta"],
  "rag.ids": ["rag.chunks", "rag.documents", "rag.text", "rag.meta"],
  "rag.text": ["rag.chunks", "rag.documents", "rag.ids", "rag.meta"],
  "rag.meta": ["rag.chunks", "rag.documents", "rag.ids", "rag.text"],
  "rag.bare": ["rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"],
  "rag.sample": ["vector"],
  "rag.columns": ["rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"],
  "rag.original": ["rag.documents"],
  "graph": ["rag.documents"],
  "hypergraph": ["rag.documents"],
  "rag.sparse": ["rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta"],
};

/** The names that must be present in the segment of a section; N is a field's number. */
export function needsOf(name) {
  const number = /\.(\d+)$/.exec(name)?.[1];
  const found = NEEDS[name] ?? NEEDS[name.replace(/\.\d+$/, ".N")] ?? [];
  return found.map((other) => other.replace(/\.N$/, `.${number}`));
}
