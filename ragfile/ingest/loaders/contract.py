"""What a loader takes and gives, and the three ways in which it refuses."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ragfile.errors import RagfileError


class LoadError(RagfileError, ValueError):
    """A file that cannot be loaded; the sentence says why."""


class UnsupportedType(LoadError):
    """Content of a kind that no loader is for."""


class LimitError(LoadError):
    """More bytes, pages or text than the limits allow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Checked before or while a file is parsed, never after."""

    max_bytes: int = 256 << 20  # of the file
    max_pages: int = 20_000  # pages or slides
    max_text: int = 64 << 20  # characters that come out
    max_expanded: int = 512 << 20  # bytes that a zip-based file unpacks to


@dataclass(slots=True)
class Extracted:
    """One document as a loader gives it. With `parts`, (text, metadata) pairs, each is a segment
    that no chunk crosses.

    `id` tells apart the documents of one file; `problem` stands for a record that could not be
    read. A text that `has_front` can begin with front matter.
    """

    text: str = ""
    parts: Iterable | None = None
    metadata: dict = field(default_factory=dict)
    id: str = ""
    problem: str = ""
    has_front: bool = False
    tags: tuple = ()
    outline: Callable | None = None  # of source code: its (start, end, name) in the normalised text


@dataclass(frozen=True, slots=True)
class Loader:
    """A kind of file: its MIME type, the suffixes by which a folder's walk takes it up, and what
    reads it.
    """

    kind: str
    mime: str
    suffixes: tuple
    parse: Callable
    magic: bytes = b""
    is_text: bool = False  # parse takes `errors`, and bytes in UTF-8 or with a byte order mark
