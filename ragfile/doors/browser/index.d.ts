/** A JSON value of metadata. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

/** A condition on metadata: `{ year: { $gte: 2020 } }`; or row numbers, or ids of chunks and documents. */
export type Where = { [key: string]: unknown } | number[] | string[];

export type Mode = "hybrid" | "vector" | "bm25" | "sparse" | "keyword";
export type FusionMethod = "calibrated" | "rrf" | "blend";

export interface Filter {
  where?: Where | null;
  /** Passages with one of these tags. */
  tags?: string[];
  tagsAny?: string[];
  tagsAll?: string[];
}

export interface SearchOptions extends Filter {
  /** Number of results; 12. */
  k?: number;
  /** Vector of the question, used instead of embedding it; with `rewrites`, one for each wording. */
  vector?: ArrayLike<number> | ArrayLike<number>[] | null;
  /** Search by all that a question has (`hybrid`): words, vectors and weights of terms; by one of them (`bm25`, `vector`, `sparse`), or by id, source and keyword (`keyword`); "hybrid". */
  mode?: Mode;
  /** Number of candidates that each retriever proposes; 50. */
  pool?: number;
  /** How to combine the retrievers: `calibrated`, `rrf` or `blend`, alone or with parameters, such as `["rrf", {"rrf_k": 30}]`. The file records a default. */
  fusion?: FusionMethod | [FusionMethod, { [name: string]: number }] | null;
  /** Whether pages rise that the best passages name: 0 for no, 1 as the file records, 2 for answers that need several pages; 1. */
  hops?: number;
  /** Leave out passages that nearly repeat a better one. */
  dropRepeats?: boolean;
  /** Number of results to skip. */
  offset?: number;
  /** Minimum score. */
  minScore?: number | null;
  /** Prefer passages unlike those ranked before, from 0 (off) to 1. */
  diversity?: number;
  /** Raise scores by a number or a date in the metadata: one `Boost`, or a list of them. */
  boost?: Boost | Boost[];
  /** Find passages similar to this one, without it: the id of a chunk, or a row number. */
  similarTo?: string | number | null;
  /** Other wordings of the question. Their answers are fused by rank. */
  rewrites?: string[];
}

/** Adds weight * 0.5 ** (|value - reference| / halfLife); dates count in days. */
export interface Boost {
  field: string;
  weight: number;
  reference: number | string;
  halfLife: number;
}

/** A passage, with the fields of ragfile.Hit in Python. Positions count code points. */
export interface Hit {
  id: string;
  doc_id: string;
  chunk_index: number;
  text: string;
  score: number;
  score_type: string;
  scores: { [retriever: string]: number };
  tags: string[];
  metadata: { [key: string]: Value };
  source: string;
  start: number;
  end: number;
  /** How current and how trusted the document is, such as "stale since 2026-09-23"; "" if it does not tell. */
  standing: string;
}

/** An excerpt of a passage, from `start` to `end` there. Places are code points. */
export interface Excerpt {
  start: number;
  end: number;
  /** Lines of text or code; `number` is that of a line of code in its file, or null where it is not known. */
  lines: { text: string; marks: [number, number][]; is_code: boolean; number: number | null }[];
  /** First and last line of the file, or null where they are not known. */
  in_file: [number, number] | null;
  /** Words of the question that the passage does not have. */
  missing: string[];
}

export interface Hits {
  hits: Hit[];
  /** The rows of the hits. */
  rows: number[];
  /** Why a retriever was left out, or "". */
  degraded: string;
  generation: number;
}

export interface Ranked {
  rows: number[];
  scores: Float32Array;
}

export interface Document {
  id: string;
  source: string;
  metadata: { [key: string]: Value };
  tags: string[];
  /** Code points of the whole text. */
  size: number;
  start: number;
  end: number;
  text: string;
}

export interface Info {
  path: string;
  format: string;
  size: number;
  generation: number;
  created: bigint;
  message: string;
  identity: string;
  chunks: number;
  deleted: number;
  segments: number;
  documents: number;
  dim: number | null;
  metric: string | null;
  model: { [key: string]: Value } | null;
  strategies: string[];
  read_only: boolean;
  tail: number;
  recovered: boolean;
  lost_generation: number;
}

export interface Fault {
  error: string;
  message: string;
  section: string;
}

export interface Word {
  word: string;
  start: number;
  end: number;
  /** A whole such as snake_case, which comes besides its parts. */
  whole: boolean;
}

export type Key = string | ArrayBuffer | ArrayBufferView;

export interface OpenOptions {
  /** An older generation of the file. */
  generation?: number;
  /** Refuses a file whose newest commit is damaged. */
  strict?: boolean;
  /** The key of an encrypted file: 32 bytes, their text in hexadecimal digits or base64, or a function that returns one of them. */
  key?: Key | (() => Key | Promise<Key>) | null;
  /** How many bytes of the file stay in memory between calls; 64 MiB. */
  memory?: number;
  /** How many bytes a search by meaning can hold at once; 512 MiB. A larger file is asked by words. */
  vectors?: number;
  /** The most that is taken from a host that sends files only whole; 256 MiB. */
  whole?: number;
  /** The name of a Cache (of the Cache API) that keeps fetched bytes between visits. Default: no cache. */
  cache?: string | null;
  /** URL of the model file; null never loads one. */
  model?: string | URL | Uint8Array | null;
  /** In a page, work is done in a Worker; false: in this thread. */
  worker?: boolean | Worker;
  wasm?: string | URL | WebAssembly.Module;
  fetch?: typeof fetch;
}

export interface RagFile {
  readonly name: string;
  readonly generation: number;
  /** Live chunks. */
  readonly length: number;
  /** Requests made for the file so far, and the bytes that they brought. */
  readonly requests: number;
  readonly received: number;
  search(question: string, options?: SearchOptions): Promise<Hits>;
  /** The k best rows by BM25. */
  match(text: string, options?: Filter & { k?: number }): Promise<Ranked>;
  /** The k best rows for a vector, exactly. */
  nearest(vector: ArrayLike<number>, options?: Filter & { k?: number }): Promise<Ranked>;
  document(id: string, span?: { start?: number; end?: number }): Promise<Document | null>;
  hit(row: number): Promise<Hit>;
  /** The ids of the documents to which a document links, and of those that link to it, or null. */
  links(id: string): Promise<{ links: string[]; backlinks: string[] } | null>;
  /** The row of a chunk id, or null. */
  row(id: string): Promise<number | null>;
  /** The words of a text by the file's analyzer. */
  words(text: string): Promise<Word[]>;
  /** Where a passage (its text, or a row) has a question's words, stems included: code points of its text. */
  highlights(question: string, passage: string | number): Promise<[number, number][]>;
  /** What people should see of each passage: at most `size` (300) characters without markup, the question's words marked. */
  excerpts(question: string, passages: Pick<Hit, "text" | "metadata">[], size?: number): Promise<Excerpt[]>;
  info(): Promise<Info>;
  /** Checks every byte, read whole for it up to `most` (512 MiB); empty for a good file. */
  verify(options?: { most?: number }): Promise<Fault[]>;
  /** Loads what questions by meaning need; false where the file has no vectors that can be asked here. */
  prepare(progress?: (received: number, wanted: number) => void): Promise<boolean>;
  close(): Promise<void>;
}

export function open(
  place: string | URL | Blob | ArrayBuffer | ArrayBufferView,
  options?: OpenOptions,
): Promise<RagFile>;

export const MODES: readonly Mode[];

export * from "./errors.js";
