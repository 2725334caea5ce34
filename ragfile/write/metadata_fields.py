"""Metadata and tags of a file: validation, JSON, and the fields that BM25 indexes."""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragfile.errors import CorruptError
from ragfile.file import config
from ragfile.ground.json_values import is_list, is_object, is_sequence
from ragfile.records import Chunk, Document
from ragfile.types import Metadata

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLAIN = {str, int, float, bool, type(None)}
CONVERTED: tuple[type, ...] = (np.generic, np.ndarray, dt.date, dt.time)


def plain(value: object) -> object:
    """Return the JSON value for a number or array of numpy, a date or a time."""
    if isinstance(value, np.generic | np.ndarray):
        return cast("NDArray[Any]", value).tolist()
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not a kind of JSON value")


_encode = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=plain
).encode


def to_utf8(text: str) -> bytes:
    """Encode UTF-8, keeping lone surrogates."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def check_fields(metadata: object, tags: Iterable[object], whose: str) -> None:
    """Raise TypeError unless metadata is a dict and tags are a list of strings."""
    if not isinstance(metadata, dict):
        raise TypeError(f"metadata of {whose} must be a dict, not {type(metadata).__name__}")
    if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags):
        raise TypeError(f"tags of {whose} must be a list of strings, not {tags!r:.80}")


def plain_metadata(metadata: Metadata) -> Metadata:
    """Return metadata as a reader will find them, for comparisons with stored ones."""
    if not isinstance(metadata, dict) or all(type(v) in PLAIN for v in metadata.values()):
        return metadata
    return {name: _plain_inside(value) for name, value in metadata.items()}


def _plain_inside(value: object) -> object:
    if is_object(value):
        return {name: _plain_inside(inner) for name, inner in value.items()}
    if is_sequence(value):
        return [_plain_inside(inner) for inner in value]
    return _plain_inside(plain(value)) if isinstance(value, CONVERTED) else value


def to_json(fields: dict[str, Any], whose: str) -> bytes:
    """Return one line of JSON, empty for no fields; errors name the owner of a value without JSON."""
    if not fields:
        return b""
    try:
        config.check_json(fields)
        return to_utf8(_encode(fields))
    except (TypeError, ValueError) as error:
        raise type(error)(f"metadata of {whose} cannot be JSON: {error}") from None


class IndexedFields:
    """The fields of metadata that BM25 indexes beside the text, as UTF-8."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._marks = [json.dumps(name, ensure_ascii=False).encode() for name in self.names]

    def __len__(self) -> int:
        return len(self.names)

    def of(self, metadata: dict[str, Any]) -> dict[int, bytes]:
        """Return the texts of the present fields by number; null has an empty text."""
        return {i: _text(metadata[name]) for i, name in enumerate(self.names) if name in metadata}

    def of_json(self, raw: bytes) -> dict[int, bytes]:
        """Return the texts of stored metadata, parsed only if a name can be in them."""
        if not any(mark in raw for mark in self._marks):
            return {}
        try:
            return self.of(json.loads(raw.decode("utf-8", "surrogatepass")).get("metadata", {}))
        except (ValueError, AttributeError, TypeError, RecursionError):
            what = "the metadata of a document is not a JSON object"
            raise CorruptError(what, section="rag.meta") from None


def _text(value: object) -> bytes:
    """Return the text of a value; lists are joined."""
    if type(value) is not str:
        value = json.loads(_encode(value))  # as a reader will find it
        if is_list(value):
            value = " ".join(map(str, value))
    return b"" if value is None else to_utf8(str(value))


def own_fields(document: Document, chunk: Chunk) -> Chunk:
    """Return a stored chunk without the metadata that its document has, too."""
    shared = document.metadata
    own = {k: v for k, v in chunk.metadata.items() if k not in shared or shared[k] != v}
    return Chunk(
        chunk.doc_id, chunk.chunk_index, chunk.content, chunk.tags, own, chunk.start, chunk.end,
        chunk.sparse,
    )  # fmt: skip
