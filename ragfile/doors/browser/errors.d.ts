/* The errors, with the names that the Python package has for them. */

export class RagfileError extends Error {}
export class FormatError extends RagfileError {
  at: number | null;
  section: string;
}
export class VersionError extends FormatError {}
export class CorruptError extends FormatError {}
export class EncryptionError extends RagfileError {}
export class RemoteError extends RagfileError {
  status: number | null;
}
export class ChangedError extends RemoteError {}
export class ModelError extends RagfileError {}
export class ArgumentError extends RagfileError {}
export class MemoryError extends RagfileError {}
