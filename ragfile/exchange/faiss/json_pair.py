"""FAISS + JSON: an index file beside a metadata file, read and written without FAISS, byte for
byte.

    metadata-{slug}.json = {model_name, embedding_dim, chunk_refs: [{document_id, chunk_key}], documents: [{id, …}]}

What a collection does not say by itself (which keys there were and in what order, how the JSON was
laid out) is kept in its `pair`. A text that no layout reproduces is kept whole there, and stands as
long as the collection still says the same.
"""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from typing import TYPE_CHECKING

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss.index import Index
from ragfile.ground.atomic_replace import replacing, spare

if TYPE_CHECKING:
    from typing import Any

KEYS = ["model_name", "embedding_dim", "chunk_refs", "documents"]
LAYOUT = {"indent": 2, "ascii": True, "compact": False, "end": ""}
MAX_JSON_DEPTH = 128
MAX_RATIO = 64  # between a kept text and the same data laid out plainly


def read(faiss_path, json_path, *, allow_large=True):
    """The collection in a pair of files."""
    index = Index.read(faiss_path)
    index.refuse_if_large(allow_large)
    with open(json_path, "rb") as file:
        data = file.read()
    try:
        return parse(data, index)
    except FormatError as error:
        raise type(error)(f"{json_path}: {error}", at=error.at) from None


def parse(data, index):
    """The collection in the bytes of the JSON file, with its index."""
    found, text = _json(data)
    refs, documents = found.get("chunk_refs"), found.get("documents")
    if not isinstance(refs, list) or not isinstance(documents, (list, dict)):
        raise FormatError("the JSON has no chunk_refs list and documents")
    if any(type(ref) is not dict for ref in refs):
        raise FormatError("a chunk reference is not an object")
    stored = found.get("embedding_dim")
    if stored not in (None, index.dim):
        raise FormatError(f"embedding_dim is {stored!r}, but the index has {index.dim} dimensions")
    model = found.get("model_name")
    if model is not None and not isinstance(model, str):
        raise FormatError(f"model_name is {model!r}, not text")
    collection = Collection(index, refs, _by_id(documents), model)
    collection.check()
    collection.pair = _residue(collection, found, text, data)
    return collection


def write(collection, faiss_path, json_path):
    """Writes the pair; each file replaces the old one atomically (the two together cannot)."""
    spare(faiss_path, looks_like_index, "FAISS index")
    spare(json_path, _looks_like_metadata, "JSON of chunk_refs and documents")
    for path, data in ((faiss_path, collection.index.data), (json_path, text_of(collection))):
        with replacing(path) as file:
            file.write(data)


def looks_like_index(head: bytes) -> bool:
    """Whether these first bytes begin an index of FAISS."""
    return head[:1] == b"I" and len(head) >= 37 and head[:4].isalnum()


def _looks_like_metadata(head: bytes) -> bool:
    """Whether these first bytes are an object with one of the keys that such a file begins with."""
    begins = head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
    return begins and any(f'"{key}"'.encode() in head for key in KEYS)


def text_of(collection):
    """The bytes of the JSON file."""
    pair = _checked(collection.pair)
    text = _laid_out(collection, pair)
    kept = pair.get("verbatim")
    if kept is not None and pair.get("digest") == f"{_core.hash64(text):016x}":
        return _inflated(kept, MAX_RATIO * len(text) + (1 << 20))
    return text


def _json(data):
    deep = _core.json_too_deep(data, MAX_JSON_DEPTH)
    if deep is not None:
        raise FormatError(f"JSON nested more than {MAX_JSON_DEPTH} deep (byte {deep})", at=deep)
    try:
        text = data.decode("utf-8-sig")
        found = json.loads(text)
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 (byte {error.start})", at=error.start) from None
    except json.JSONDecodeError as error:
        raise FormatError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError as error:
        raise FormatError(str(error).split(";")[0]) from None
    if not isinstance(found, dict):
        raise FormatError("the JSON is not an object")
    return found, text


def _by_id(documents):
    if isinstance(documents, dict):
        return documents
    found = {}
    for document in documents:
        name = document.get("id") if isinstance(document, dict) else None
        if not isinstance(name, str):
            raise FormatError(f"a document's id is {name!r}, not text")
        found[name] = document
    return found


# ---------------------------------------------------------------------------------------------------------- layout ---


def _residue(collection, found, text, data):
    """What must be kept beside the collection to write these very bytes again; empty for the usual
    file.
    """
    pair = {
        "keys": list(found),
        "extra": {k: v for k, v in found.items() if k not in KEYS or (k in KEYS[:2] and v is None)},
        "documents": "dict" if isinstance(found["documents"], dict) else "list",
        **_guess_layout(text),
    }
    usual = {"keys": KEYS, "extra": {}, "documents": "list", **LAYOUT}
    pair = {key: value for key, value in pair.items() if value != usual[key]}
    again = _laid_out(collection, pair)
    if again != data:
        pair["digest"] = f"{_core.hash64(again):016x}"
        pair["verbatim"] = base64.b64encode(zlib.compress(data, 9)).decode()
    return pair


def _checked(pair):
    """The pair, from a file that anyone might have written."""
    indent, keys = pair.get("indent"), pair.get("keys", [])
    shaped = (
        (
            indent is None
            or (type(indent) is int and 0 <= indent <= 16)
            or (type(indent) is str and len(indent) <= 16)
        )
        and isinstance(keys, list)
        and isinstance(pair.get("extra", {}), dict)
        and all(
            isinstance(text, str) for text in (*keys, pair.get("end", ""), pair.get("verbatim", ""))
        )
    )
    if not shaped:
        raise FormatError("the section Origin does not describe a JSON file")
    return pair


def _guess_layout(text):
    body = text.rstrip("\n")
    inner = re.match(r"[\[{]\n([ \t]*)", text)
    spaces = inner.group(1) if inner else None
    indent = (
        spaces if spaces is not None and "\t" in spaces else None if spaces is None else len(spaces)
    )
    compact = re.search(r'":\S', text[:4096]) is not None
    return {"indent": indent, "ascii": text.isascii(), "compact": compact, "end": text[len(body) :]}


def _laid_out(collection, pair):
    get: Any = {**LAYOUT, **pair}.get
    documents = collection.documents
    if get("documents") != "dict":
        documents = [d if "id" in d else {"id": name, **d} for name, d in documents.items()]
    own = dict(
        zip(
            KEYS,
            (collection.model_name, collection.index.dim, collection.refs, documents),
            strict=True,
        )
    )
    extra, keys = get("extra") or {}, get("keys") or KEYS
    data = {
        key: extra[key] if key in extra else own[key] for key in keys if key in extra or key in own
    }
    colon, comma = (
        (":", ",") if get("compact") else (": ", "," if get("indent") is not None else ", ")
    )
    text = json.dumps(
        data, indent=get("indent"), ensure_ascii=get("ascii"), separators=(comma, colon)
    ) + get("end")
    return text.encode("utf-8", "backslashreplace")


def _inflated(kept, limit):
    try:
        engine = zlib.decompressobj()
        data = engine.decompress(base64.b64decode(kept, validate=True), limit)
        if engine.eof and not engine.unused_data:
            return data
    except (ValueError, zlib.error):
        pass
    raise FormatError("the kept JSON of the pair cannot be read")


def pair_paths(path):
    """(faiss, json) for either file of a pair: vectors-x.faiss and metadata-x.json, or two files of
    one name.
    """
    folder, name = os.path.split(os.fspath(path))
    stem, suffix = os.path.splitext(name)
    if stem.startswith(("vectors-", "metadata-")):
        slug = stem.split("-", 1)[1]
        return os.path.join(folder, f"vectors-{slug}.faiss"), os.path.join(
            folder, f"metadata-{slug}.json"
        )
    if suffix not in (".faiss", ".json"):
        raise ValueError(f"{path} is neither .faiss nor .json")
    return os.path.join(folder, stem + ".faiss"), os.path.join(folder, stem + ".json")
