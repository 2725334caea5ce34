/* The errors, with the names that the Python package has for them. */

export class RagfileError extends Error {
  constructor(message) {
    super(message);
    this.name = new.target.name;
  }
}

/** Not a RAGFile, or one that cannot be read: `at` is the byte offset, `section` its section. */
export class FormatError extends RagfileError {
  constructor(message, { at = null, section = "" } = {}) {
    super(message);
    this.at = at;
    this.section = section;
  }
}

/** Written by a newer ragfile, or needs a part that this one does not know. */
export class VersionError extends FormatError {}

/** Truncated, overlapping, or a checksum that does not hold. */
export class CorruptError extends FormatError {}

/** The file is encrypted, and no key was given, or none that opens it. */
export class EncryptionError extends RagfileError {}

/** Bytes of a file behind a URL could not be had; `status` is the server's, where it gave one. */
export class RemoteError extends RagfileError {
  constructor(message, { status = null } = {}) {
    super(message);
    this.status = status;
  }
}

/** The object at the URL is another one by now: open it again. */
export class ChangedError extends RemoteError {}

/** Vectors or a model do not match the file's own. */
export class ModelError extends RagfileError {}

/** A value that a call cannot take. */
export class ArgumentError extends RagfileError {}

/** The core is out of memory, or a request exceeds the memory limit. */
export class MemoryError extends RagfileError {}

const KINDS = {
  RagfileError,
  FormatError,
  VersionError,
  CorruptError,
  EncryptionError,
  RemoteError,
  ChangedError,
  ModelError,
  ArgumentError,
  MemoryError,
};

/** An error as a message between threads, and back. */
export function packed(error) {
  const { name, message, at, section, status } = error;
  return { name, message, at, section, status };
}

export function unpacked({ name, message, at, section, status }) {
  const kind = KINDS[name] ?? RagfileError;
  return new kind(message, { at, section, status });
}

/* enum rag_status of csrc/include/ragfile/status.h */
const OF_STATUS = [
  null,
  FormatError,
  FormatError,
  VersionError,
  CorruptError,
  FormatError,
  ArgumentError,
  RagfileError,
  MemoryError,
  RagfileError,
  RemoteError,
];
export const SOURCE = 10;

/** What a failed status of the core means. */
export function failure(status, { what, at, section }) {
  const Kind = OF_STATUS[status] ?? RagfileError;
  if (status === 8) return new MemoryError(what || "out of memory");
  if (status === 1) return new FormatError(`not a RAGFile: ${what}`, { at, section });
  if (status === 6) return new ArgumentError(`${what} (${at})`);
  const where = section ? ` of section ${section}` : "";
  return new Kind(`${what} (byte ${at}${where})`, { at, section });
}
