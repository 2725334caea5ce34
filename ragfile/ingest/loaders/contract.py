"""The records that loaders take and give, and their three exceptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ragfile.errors import RagfileError
from ragfile.types import Metadata

Part: TypeAlias = tuple[str, Metadata]
Outline: TypeAlias = Callable[[str], Iterable[tuple[int, int, str]]]


class LoadError(RagfileError, ValueError):
    """A file cannot be loaded; the message has the reason."""


class UnsupportedType(LoadError):
    """No loader reads content of this kind."""


class LimitError(LoadError):
    """A file has more bytes, pages or text than the limits allow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest files that are loaded. They are checked before and while a file is parsed.

    Args:
        max_bytes: Bytes of a file. Default: 256 MiB.
        max_pages: Pages or slides of a document. Default: 20,000.
        max_text: Characters of extracted text. Default: 64 Mi.
        max_expanded: Bytes that a zip-based file unpacks to. Default: 512 MiB.
        parse_memory: Bytes of memory for parsing one PDF, office file or EPUB, which a process of its
            own does; 0 parses in this process without limits of memory and time. Default: 512 MiB.
        parse_seconds: Seconds for parsing one such file. Default: 60.
    """

    max_bytes: int = 256 << 20
    max_pages: int = 20_000
    max_text: int = 64 << 20
    max_expanded: int = 512 << 20
    parse_memory: int = 512 << 20
    parse_seconds: float = 60.0

    @classmethod
    def given(cls, **limits: float | None) -> Limits:
        """Return these limits, with the default for each None."""
        chosen: dict[str, Any] = {n: value for n, value in limits.items() if value is not None}
        return cls(**chosen)  # Any: the numbers have the types of the fields

    def __post_init__(self) -> None:
        if self.parse_memory < 0 or not self.parse_seconds > 0:
            raise ValueError("parse_memory is 0 or more bytes, parse_seconds more than 0")


@dataclass(slots=True)
class Extracted:
    """One document as a loader extracts it.

    Args:
        text: The text, unless there are parts.
        parts: (text, metadata) pairs; each becomes a segment that no chunk crosses.
        metadata: The metadata of the document.
        id: A name that distinguishes the documents of one file.
        problem: The reason why a record could not be read; such a record is a failure.
        has_front: Whether the text can begin with front matter.
        tags: The tags of the document.
        outline: For source code: a function that yields the (start, end, name) of each segment of the
            normalised text.
        anchors: The target and the text of each link, if they are not in the text.
    """

    text: str = ""
    parts: Iterable[Part] | None = None
    metadata: Metadata = field(default_factory=Metadata)
    id: str = ""
    problem: str = ""
    has_front: bool = False
    tags: tuple[str, ...] = ()
    outline: Outline | None = None
    anchors: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Loader:
    """A kind of file and the function that reads it.

    Args:
        kind: The name of the kind; registering another loader with it replaces this one.
        mime: The MIME type.
        suffixes: The suffixes, such as ".md", by which files are found in a folder.
        parse: A function of (bytes, Limits) that yields Extracted.
        magic: Bytes at the beginning of every such file, if there are any.
        is_text: Whether `parse` also takes `errors`, and bytes in UTF-8 or with a byte order mark.
    """

    kind: str
    mime: str
    suffixes: tuple[str, ...]
    parse: Callable[..., Iterable[Extracted]]
    magic: bytes = b""
    is_text: bool = False
