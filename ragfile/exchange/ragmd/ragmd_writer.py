"""Writing .ragmd: one line for one thing, so that a version control system shows what changed and
nothing else.
"""

import contextlib
import json
import warnings

from ragfile import _core
from ragfile.exchange.collection import timestamp
from ragfile.exchange.ragmd import front_matter as frontmatter
from ragfile.ground.atomic_replace import lock, spare

FORMAT_VERSION = "1.0"
SCALE_DOCUMENTS, SCALE_BYTES = 10_000, 500 << 20

_quote = json.encoder.encode_basestring
_encode = json.JSONEncoder(ensure_ascii=False).encode


class RagmdScaleWarning(UserWarning):
    """The collection is larger than a text file is good for."""


def warn_of_scale(collection, stacklevel=3):
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


def render(collection, write):
    """Hands the bytes of a .ragmd file to write(), in order."""
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


def _bytes(text):
    """UTF-8; a lone surrogate becomes its escape, which JSON and YAML strings both read back."""
    return text.encode("utf-8", "backslashreplace")


def _write_unknown(collection, follows, write):
    for after, _, text in collection.sections:
        if after == follows:
            write(_bytes(f"\n{text}\n"))


def _front_text(collection):
    front = collection.front or frontmatter.Frontmatter()
    version = front.values.get("format_version", FORMAT_VERSION)
    return front.text(
        {
            "format_version": version,
            "model_name": collection.model_name,
            "embedding_dim": collection.index.dim,
            "vector_count": collection.index.count,
            "document_count": len(collection.documents),
            "index_type": collection.index.class_name,
            "created_at": collection.created_at,
            "updated_at": collection.updated_at,
            "dangling_count": len(collection.dangling()) or None,
            "vectors_checksum": checksum(collection.index.data),
        }
    )


def _documents_table(collection):
    rows = [
        "| Document ID | Source | Chunks | Title |",
        "|-------------|--------|--------|-------|",
    ]
    for name in sorted(collection.documents):
        document = collection.documents[name]
        title = (document.get("content") or {}).get("title", "")
        cells = (name, document.get("source") or "", str(len(document.get("chunks") or {})), title)
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(rows) + "\n"


def _cell(value):
    """One line of plain text that ends no cell: for people, never read back."""
    text = value if isinstance(value, str) else _encode(value)
    if text.isalnum():
        return text
    text = "".join(c if c.isprintable() else " " for c in text)
    for mark in "\\`|":
        text = text.replace(mark, "\\" + mark)
    return text.strip()


def _fenced(lines, opening, closing):
    body = "".join(("\n", ",\n".join(lines), "\n")) if lines else ""
    return f"```json\n{opening}{body}{closing}\n```\n"


def _chunks_json(collection):
    quoted = {name: _quote(name) for name in collection.documents}
    lines = []
    for row, ref in enumerate(collection.refs):
        name, key = ref["document_id"], ref["chunk_key"]
        line = f'  {{"faiss_id": {row}, "document_id": {quoted.get(name) or _quote(name)}, "chunk_key": {_quote(key)}}}'
        if tuple(ref) != ("document_id", "chunk_key"):
            line = "  " + _encode({"faiss_id": row, **ref})
        lines.append(line)
    return _fenced(lines, "[", "]")


def _metadata_json(collection):
    lines = [
        f"  {_quote(name)}: {_document_json(document)}"
        for name, document in collection.documents.items()
    ]
    return _fenced(lines, "{", "}")


def _document_json(document):
    return _object(
        [f"    {_quote(key)}: {_member_json(value)}" for key, value in document.items()], "  "
    )


def _member_json(value):
    if type(value) is not dict or not value:
        return _inline(value)
    return _object([f"      {_quote(key)}: {_inline(item)}" for key, item in value.items()], "    ")


def _object(lines, indent):
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}" if lines else "{}"


def _inline(value):
    """On one line. The kinds that thousands of chunks are made of are written here, the rest by the
    encoder.
    """
    kind = type(value)
    if kind is str:
        return _quote(value)
    if kind is int:
        return repr(value)
    if kind is dict:
        return (
            "{"
            + ", ".join([f"{_quote(key)}: {_inline(item)}" for key, item in value.items()])
            + "}"
        )
    return "null" if value is None else _encode(value)


def _origin_json(collection):
    if not collection.pair:
        return ""
    return _fenced(
        [f"  {_quote(key)}: {_encode(value)}" for key, value in collection.pair.items()], "{", "}"
    )


def checksum(data):
    """The value of vectors_checksum for the bytes of an index."""
    return f"xxh3-64:{_core.hash64(data):016x}"


def save(path, collection, *, now=None, allow_large=False, held=None):
    """Writes the collection to `path`: all of it or nothing, one writer at a time.

    The same collection gives the same bytes; `collection.touch()` is what moves updated_at. held is
    the value of a lock() that the caller is in.
    """
    collection.index.refuse_if_large(allow_large)
    collection.check()
    spare(path, frontmatter.looks_like, ".ragmd")
    warn_of_scale(collection)
    collection.updated_at = collection.updated_at or timestamp(now)
    collection.created_at = collection.created_at or collection.updated_at
    with contextlib.nullcontext(held) if held else lock(path) as held:
        held.write(lambda write: render(collection, write))
