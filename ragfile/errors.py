"""The exceptions, all of them.

    RagfileError(Exception)
    ├─ FormatError(ValueError)      not a RAGFile, or one that cannot be read: says the byte offset and the rule
    │  ├─ VersionError              written by a newer ragfile
    │  └─ CorruptError              truncated, overlapping, bad checksum: says which section
    ├─ ConflictError(ValueError)    another commit to a dataset changed the same documents meanwhile
    ├─ LockedError(OSError)         another writer holds the file: says who
    ├─ RemoteError(OSError)         bytes of a file behind a URL could not be had: says which, of what, and why
    │  └─ ChangedError              the object at the URL has changed: refresh() opens the new one
    ├─ SignatureError(ValueError)   no trusted key signed the file as it is: says who did
    ├─ ModelError(ValueError)       vectors or embedder do not match what the file was built with
    └─ ProviderError                an embedding or chat provider failed for good (retries spent)

OSError, MemoryError, BufferError, TypeError and a plain ValueError for a caller's own bad argument
keep their meaning.
"""


class RagfileError(Exception):
    """Anything that ragfile itself has to say."""


class FormatError(RagfileError, ValueError):
    """Not a RAGFile, or one that cannot be read. `at` is the byte offset (or None), `section` its
    section's name.
    """

    def __init__(self, message: str, *, at: int | None = None, section: str = "") -> None:
        super().__init__(message)
        self.at = at
        self.section = section

    def name_file(self, path: str) -> None:
        """Puts the file's name before the message, unless it is in it."""
        if path not in str(self):
            self.args = (f"{path}: {self}",)


class VersionError(FormatError):
    """Written by a newer ragfile, or needs a part that this one does not know."""


class CorruptError(FormatError):
    """Truncated, overlapping, or a checksum that does not hold."""


class LockedError(RagfileError, OSError):
    """Another writer holds the file."""


class ConflictError(RagfileError, ValueError):
    """Another commit to the dataset changed the same documents meanwhile."""


class RemoteError(RagfileError, OSError):
    """Bytes of a file behind a URL could not be had. `status` is the server's, where it gave
    one.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ChangedError(RemoteError):
    """The file was written over while it was open, or the URL names another object by now: refresh()."""


class FilterWarning(UserWarning):
    """A filter names a metadata key that no chunk of the file has. To refuse such filters, turn it
    into an error: `warnings.simplefilter("error", FilterWarning)`.
    """


class SignatureError(RagfileError, ValueError):
    """No key that is trusted signed the file as it is."""


class ModelError(RagfileError, ValueError):
    """Vectors or an embedder do not match what the file was built with."""


class ProviderError(RagfileError):
    """An embedding or chat provider failed for good, retries spent."""
