"""The exceptions that ragfile raises.

    RagfileError(Exception)
    ├─ FormatError(ValueError)      not a RAGFile, or not readable; has the byte offset and the rule
    │  ├─ VersionError              written by a newer ragfile
    │  └─ CorruptError              truncated, overlapping or bad checksum; names the section
    ├─ ConflictError(ValueError)    a concurrent commit to the dataset changed the same documents
    ├─ LockedError(OSError)         another writer holds the file; names the process
    ├─ RemoteError(OSError)         a file behind a URL could not be fetched; names the bytes and the reason
    │  └─ ChangedError              the file at the URL was replaced; refresh() opens the new one
    ├─ EncryptionError(ValueError)  the file is encrypted, and no given key opens it
    ├─ SignatureError(ValueError)   no trusted key signed the current state of the file; names the signers
    ├─ ModelError(ValueError)       vectors or embedder do not match the file's model
    └─ ProviderError                an embedding or chat provider failed, with all retries spent

OSError, MemoryError, BufferError, TypeError and ValueError for invalid arguments keep their usual
meaning.
"""


class RagfileError(Exception):
    """Base class of the exceptions that ragfile defines."""


class FormatError(RagfileError, ValueError):
    """The data is not a RAGFile, or cannot be read.

    Attributes:
        at: The byte offset of the fault, or None if it has none.
        section: The name of the section with the fault, or "".
    """

    def __init__(self, message: str, *, at: int | None = None, section: str = "") -> None:
        super().__init__(message)
        self.at = at
        self.section = section

    def name_file(self, path: str) -> None:
        """Prefix the message with the file's path, unless it has the path already."""
        if path not in str(self):
            self.args = (f"{path}: {self}",)


class VersionError(FormatError):
    """The file was written by a newer ragfile, or needs a feature that this version lacks."""


class CorruptError(FormatError):
    """The file is truncated, has overlapping sections, or fails a checksum."""


class LockedError(RagfileError, OSError):
    """Another writer holds the file."""


class ConflictError(RagfileError, ValueError):
    """A concurrent commit to the dataset changed the same documents."""


class RemoteError(RagfileError, OSError):
    """A file behind a URL could not be fetched.

    Attributes:
        status: The HTTP status of the server's response, or None if there was none.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ChangedError(RemoteError):
    """The file was overwritten while it was open, or replaced at its URL; refresh() opens the new one."""


class FilterWarning(UserWarning):
    """A filter names a metadata key that no chunk of the file has.

    Turn it into an error to reject such filters: `warnings.simplefilter("error", FilterWarning)`.
    """


class EncryptionError(RagfileError, ValueError):
    """The file is encrypted, and no key was given, or none that opens it."""


class SignatureError(RagfileError, ValueError):
    """No trusted key signed the current state of the file."""


class ModelError(RagfileError, ValueError):
    """Vectors or an embedder do not match the model of the file."""


class ProviderError(RagfileError):
    """An embedding or chat provider failed, with all retries spent."""
