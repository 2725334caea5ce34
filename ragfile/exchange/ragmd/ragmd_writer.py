"""Write .ragmd with one line per item, so that a version control system shows exactly the changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ragfile import _core
from ragfile.errors import ConflictError
from ragfile.exchange.collection import timestamp
from ragfile.exchange.ragmd import front_matter as frontmatter
from ragfile.ground.atomic_replace import lock, spare
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ragfile.exchange.collection import Collection, JsonObject
    from ragfile.ground.atomic_replace import ReplaceLock
    from ragfile.types import Integers, StrPath

    Write = Callable[[bytes], object]

FORMAT_VERSION = "1.0"
SCALE_DOCUMENTS, SCALE_BYTES = 10_000, 500 << 20

_quote = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False).encode


class RagmdScaleWarning(UserWarning):
    """Warns that a collection is too large for a text file."""


def warn_of_scale(collection: Collection, stacklevel: int = 3) -> None:
    """Issue a RagmdScaleWarning for a large collection."""
    if (
        len(collection.documents) > SCALE_DOCUMENTS
        or len(collection.index.data) > SCALE_BYTES // 4 * 3
    ):
        warnings.warn(
            f"{len(collection.documents)} documents: a .ragmd file is rewritten whole at each save and is not recommended "
            f"above {SCALE_DOCUMENTS} documents or 500 MB; a .ragfile appends and maps",
            RagmdScaleWarning,
            stacklevel=stacklevel,
        )


# ------------------------------------------------------------------------------------------------------------ text ---


def render(collection: Collection, write: Write) -> None:
    """Pass the bytes of a .ragmd file to write(), in order."""
    parts = {
        "Documents": _documents_table,
        "Chunks": _chunks_json,
        "Document Metadata": _metadata_json,
        "Origin": _origin_json,
    }
    write(_bytes(f"---\n{_front_text(collection)}---\n"))
    _write_unknown(collection, "", write)
    for title, make in parts.items():
        if text := make(collection):
            write(_bytes(f"\n## {title}\n\n{text}"))
        _write_unknown(collection, title, write)
    write(b"\n## Vectors\n\n```base64\n")
    _core.base64_wrap(collection.index.data, write, *collection.index.layout)
    write(b"```\n")
    _write_unknown(collection, "Vectors", write)


def _bytes(text: str) -> bytes:
    """Encode UTF-8, with lone surrogates as escapes, which JSON and YAML strings both decode."""
    return text.encode("utf-8", "backslashreplace")


def _write_unknown(collection: Collection, follows: str, write: Write) -> None:
    for after, _, text in collection.sections:
        if after == follows:
            write(_bytes(f"\n{text}\n"))


def _front_text(collection: Collection) -> str:
    front = collection.front or frontmatter.Frontmatter()
    values = {
        "format_version": front.values.get("format_version", FORMAT_VERSION),
        "model_name": collection.model_name,
        "embedding_dim": collection.index.dim,
        "vector_count": collection.index.count,
        "document_count": len(collection.documents),
        "index_type": collection.index.class_name,
        "created_at": collection.created_at,
        "updated_at": collection.updated_at,
        "dangling_count": len(collection.dangling()) or None,
        "vectors_checksum": checksum(collection.index.data),
        "document_checksums": document_checksums(collection.documents) or None,
    }
    text = front.text(values)
    if len(_bytes(text)) <= frontmatter.LIMIT - len("---\n---\n"):
        return text
    return front.text({**values, "document_checksums": documents_checksum(collection.documents)})


def _documents_table(collection: Collection) -> str:
    rows = [
        "| Document ID | Source | Chunks | Title |",
        "|-------------|--------|--------|-------|",
    ]
    for name in sorted(collection.documents):
        document = collection.documents[name]
        content: JsonObject = document.get("content") or {}
        source, chunks = document.get("source") or "", str(len(document.get("chunks") or ()))
        cells: tuple[object, ...] = (name, source, chunks, content.get("title", ""))
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(rows) + "\n"


def _cell(value: object) -> str:
    """Return one line of text for a table cell, which only people read."""
    text = value if isinstance(value, str) else _encode(value)
    if text.isalnum():
        return text
    text = "".join(c if c.isprintable() else " " for c in text)
    for mark in "\\`|":
        text = text.replace(mark, "\\" + mark)
    return text.strip()


def _fenced(lines: list[str], opening: str, closing: str) -> str:
    body = "".join(("\n", ",\n".join(lines), "\n")) if lines else ""
    return f"```json\n{opening}{body}{closing}\n```\n"


def _chunks_json(collection: Collection) -> str:
    quoted = {name: _quote(name) for name in collection.documents}
    lines: list[str] = []
    for row, ref in enumerate(collection.refs):
        name, key = ref["document_id"], ref["chunk_key"]
        line = f'  {{"faiss_id": {row}, "document_id": {quoted.get(name) or _quote(name)}, "chunk_key": {_quote(key)}}}'
        if tuple(ref) != ("document_id", "chunk_key"):
            line = "  " + _encode({"faiss_id": row, **ref})
        lines.append(line)
    return _fenced(lines, "[", "]")


def _metadata_json(collection: Collection) -> str:
    lines = [
        f"  {_quote(name)}: {_document_json(document)}"
        for name, document in collection.documents.items()
    ]
    return _fenced(lines, "{", "}")


def _document_json(document: JsonObject) -> str:
    return _object(
        [f"    {_quote(key)}: {_member_json(value)}" for key, value in document.items()], "  "
    )


def _member_json(value: object) -> str:
    if not is_object(value) or not value:
        return _inline(value)
    return _object([f"      {_quote(key)}: {_inline(item)}" for key, item in value.items()], "    ")


def _object(lines: list[str], indent: str) -> str:
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}" if lines else "{}"


def _inline(value: object) -> str:
    """Encode a value on one line, with fast paths for the types that most chunks hold."""
    if isinstance(value, str):
        return _quote(value)
    if type(value) is int:
        return repr(value)
    if is_object(value):
        return (
            "{"
            + ", ".join([f"{_quote(key)}: {_inline(item)}" for key, item in value.items()])
            + "}"
        )
    return "null" if value is None else _encode(value)


def _origin_json(collection: Collection) -> str:
    if not collection.pair:
        return ""
    return _fenced(
        [f"  {_quote(key)}: {_encode(value)}" for key, value in collection.pair.items()], "{", "}"
    )


def checksum(data: Integers) -> str:
    """Return the vectors_checksum of the bytes of an index."""
    return f"xxh3-64:{_core.hash64(data):016x}"


def document_checksums(documents: Mapping[str, JsonObject]) -> dict[str, str]:
    """Return the checksum of each document's indexed text, by id."""
    return {
        name: checksum(np.frombuffer(_indexed(name, document), np.uint8))
        for name, document in documents.items()
    }


def documents_checksum(documents: Mapping[str, JsonObject]) -> str:
    """Return one checksum of the indexed text of all documents, for those that are too many to list."""
    every = b"".join(_indexed(name, document) for name, document in documents.items())
    return checksum(np.frombuffer(every, np.uint8))


def _indexed(name: str, document: JsonObject) -> bytes:
    """Return the id, the text, and each chunk's key and text, each after its length."""
    full_text: str = document.get("full_text") or ""
    content: JsonObject = document.get("content") or {}
    chunks: dict[str, JsonObject] = document.get("chunks") or {}
    texts = [name, full_text]
    for key, chunk in chunks.items():
        start, field = chunk.get("i_start"), content.get(key)
        span = full_text[start : chunk.get("i_end")] if start is not None else field
        texts += [key, span if isinstance(span, str) else ""]
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join(len(one).to_bytes(8, "little") + one for one in encoded)


def save(
    path: StrPath, collection: Collection, *, now: float | None = None,
    allow_large: bool = False, held: ReplaceLock | None = None, replaces: str | None = None,
) -> str:  # fmt: skip
    """Write a collection atomically, with one writer at a time.

    The same collection gives the same bytes; `collection.touch()` changes updated_at.

    Args:
        path: The file to write.
        collection: What to write.
        now: The time for a collection without one, in seconds since 1970.
        allow_large: Allow quantized and graph indexes.
        held: The lock() that the caller holds.
        replaces: The digest of the content that may be replaced, "" for none; by default, any content.

    Returns:
        The digest of the new content.

    Raises:
        ConflictError: The file does not have the content that `replaces` names.
        LockedError: Another program is writing to the file.
    """
    collection.index.refuse_if_large(allow_large)
    collection.check()
    spare(path, frontmatter.looks_like, ".ragmd")
    warn_of_scale(collection)
    collection.updated_at = collection.updated_at or timestamp(now)
    collection.created_at = collection.created_at or collection.updated_at
    digest = hashlib.sha256()

    def render_to(write: Write) -> None:
        def both(data: bytes) -> None:
            digest.update(data)
            write(data)

        render(collection, both)

    with contextlib.nullcontext(held) if held else lock(path) as held:
        _refuse_changed(path, replaces)
        held.write(render_to)
    return digest.hexdigest()


def _refuse_changed(path: StrPath, replaces: str | None) -> None:
    """Raise ConflictError unless a file has the content that may be replaced."""
    if replaces is not None and digest_of(path) != replaces:
        raise ConflictError(
            f"{os.fspath(path)}: another program has changed it since it was loaded: "
            "load it again, and repeat your changes"
        )


def digest_of(path: StrPath) -> str:
    """Return the SHA-256 of a file's content, "" for a missing file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
