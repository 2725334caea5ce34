"""The exceptions, all of them.

    RagfileError(Exception)
    ├─ FormatError(ValueError)      not a RAGFile, or not one we may read: says the byte offset and the rule
    │  ├─ VersionError              written by a newer ragfile
    │  └─ CorruptError              truncated, overlapping, bad checksum: says which section
    ├─ LockedError(OSError)         another writer holds the file: says who
    ├─ ModelError(ValueError)       vectors or embedder do not match what the file was built with
    └─ ProviderError                an embedding or chat provider failed for good (retries spent)

OSError, MemoryError, BufferError, TypeError and a plain ValueError for a caller's own bad argument keep their meaning.
"""


class RagfileError(Exception):
    """Anything that ragfile itself has to say."""


class FormatError(RagfileError, ValueError):
    """Not a RAGFile, or not one we may read. `at` is the byte offset (or None), `section` its section's name."""

    def __init__(self, message, *, at=None, section=""):
        super().__init__(message)
        self.at = at
        self.section = section


class VersionError(FormatError):
    """Written by a newer ragfile, or needs a part that this one does not know."""


class CorruptError(FormatError):
    """Truncated, overlapping, or a checksum that does not hold."""


class LockedError(RagfileError, OSError):
    """Another writer holds the file."""


class ModelError(RagfileError, ValueError):
    """Vectors or an embedder do not match what the file was built with."""


class ProviderError(RagfileError):
    """An embedding or chat provider failed for good, retries spent."""
