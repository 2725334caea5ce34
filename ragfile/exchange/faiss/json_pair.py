"""FAISS + JSON: an index file and a metadata file, read and written without FAISS, byte for byte.

    metadata-{slug}.json = {model_name, embedding_dim, chunk_refs: [{document_id, chunk_key}], documents: [{id, …}]}

A pair that is made of a RAGFile keeps its configuration under the key `ragfile`, which other programs
ignore, so that its chunk policy, the rules of BM25 and the model's details come back.
The `pair` of a collection holds the rest: the keys of the JSON, their order and its layout. A text that
no layout reproduces is kept there whole, and used as long as the collection does not change.
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
from ragfile.exchange.ragmd.front_matter import RECORD, recorded_front
from ragfile.ground.atomic_replace import replacing, spare
from ragfile.ground.json_values import is_list, is_object

if TYPE_CHECKING:
    from ragfile.exchange.collection import JsonObject
    from ragfile.types import StrPath

KEYS = ["model_name", "embedding_dim", "chunk_refs", "documents"]
RECORDED = [*KEYS, RECORD]  # of a pair that was made of a RAGFile, whose configuration it keeps
LAYOUT: JsonObject = {"indent": 2, "ascii": True, "compact": False, "end": ""}
MAX_JSON_DEPTH = 128
MAX_RATIO = 64  # between a kept text and the same data laid out plainly


def read(faiss_path: StrPath, json_path: StrPath, *, allow_large: bool = True) -> Collection:
    """Read a collection from a pair of files."""
    index = Index.read(faiss_path)
    index.refuse_if_large(allow_large)
    with open(json_path, "rb") as file:
        data = file.read()
    try:
        return parse(data, index)
    except FormatError as error:
        raise type(error)(f"{json_path}: {error}", at=error.at) from None


def parse(data: bytes, index: Index) -> Collection:
    """Return the collection of the bytes of a JSON file and its index."""
    found, text = _json(data)
    refs, documents = found.get("chunk_refs"), found.get("documents")
    if not is_list(refs) or not (is_list(documents) or is_object(documents)):
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
    if isinstance(found.get(RECORD), str):
        collection.front = recorded_front(found[RECORD])
    collection.pair = _residue(collection, found, text, data)
    return collection


def write(collection: Collection, faiss_path: StrPath, json_path: StrPath) -> None:
    """Write a pair; each file is replaced atomically, but not both together."""
    spare(faiss_path, looks_like_index, "FAISS index")
    spare(json_path, _looks_like_metadata, "JSON of chunk_refs and documents")
    for path, data in ((faiss_path, collection.index.data), (json_path, text_of(collection))):
        with replacing(path) as file:
            file.write(data)


def looks_like_index(head: bytes) -> bool:
    """Return whether these are the first bytes of a FAISS index."""
    return head[:1] == b"I" and len(head) >= 37 and head[:4].isalnum()


def _looks_like_metadata(head: bytes) -> bool:
    """Return whether these are the first bytes of a metadata file: an object with a known key."""
    begins = head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
    return begins and any(f'"{key}"'.encode() in head for key in KEYS)


def text_of(collection: Collection) -> bytes:
    """Return the bytes of the JSON file."""
    pair = _checked(collection.pair)
    text = _laid_out(collection, pair)
    kept = pair.get("verbatim")
    if kept is not None and pair.get("digest") == f"{_core.hash64(text):016x}":
        return _inflated(kept, MAX_RATIO * len(text) + (1 << 20))
    return text


def _json(data: bytes) -> tuple[JsonObject, str]:
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
    if not is_object(found):
        raise FormatError("the JSON is not an object")
    return found, text


def _by_id(documents: list[JsonObject] | dict[str, JsonObject]) -> dict[str, JsonObject]:
    if isinstance(documents, dict):
        return documents
    found: dict[str, JsonObject] = {}
    for document in documents:
        name = document.get("id") if isinstance(document, dict) else None
        if not isinstance(name, str):
            raise FormatError(f"a document's id is {name!r}, not text")
        found[name] = document
    return found


# ---------------------------------------------------------------------------------------------------------- layout ---


def _residue(collection: Collection, found: JsonObject, text: str, data: bytes) -> JsonObject:
    """Return the layout needed to write the same bytes again, empty for a plain file."""
    known = _known(collection)
    pair = {
        "keys": list(found),
        "extra": {
            k: v for k, v in found.items() if k not in known or (k in KEYS[:2] and v is None)
        },
        "documents": "dict" if isinstance(found["documents"], dict) else "list",
        **_guess_layout(text),
    }
    usual: JsonObject = {"keys": known, "extra": {}, "documents": "list", **LAYOUT}
    pair = {key: value for key, value in pair.items() if value != usual[key]}
    again = _laid_out(collection, pair)
    if again != data:
        pair["digest"] = f"{_core.hash64(again):016x}"
        pair["verbatim"] = base64.b64encode(zlib.compress(data, 9)).decode()
    return pair


def _known(collection: Collection) -> list[str]:
    """Return the keys that are laid out from the collection itself."""
    front = collection.front
    return KEYS if front is None or RECORD not in front.values else RECORDED


def _checked(pair: JsonObject) -> JsonObject:
    """Validate a pair, which comes from an untrusted file."""
    indent, keys = pair.get("indent"), pair.get("keys", [])
    shaped = (
        (
            indent is None
            or (type(indent) is int and 0 <= indent <= 16)
            or (type(indent) is str and len(indent) <= 16)
        )
        and is_list(keys)
        and isinstance(pair.get("extra", {}), dict)
        and all(
            isinstance(text, str) for text in (*keys, pair.get("end", ""), pair.get("verbatim", ""))
        )
    )
    if not shaped:
        raise FormatError("the section Origin does not describe a JSON file")
    return pair


def _guess_layout(text: str) -> JsonObject:
    body = text.rstrip("\n")
    inner = re.match(r"[\[{]\n([ \t]*)", text)
    spaces = inner.group(1) if inner else None
    indent = (
        spaces if spaces is not None and "\t" in spaces else None if spaces is None else len(spaces)
    )
    compact = re.search(r'":\S', text[:4096]) is not None
    return {"indent": indent, "ascii": text.isascii(), "compact": compact, "end": text[len(body) :]}


def _laid_out(collection: Collection, pair: JsonObject) -> bytes:
    layout = {**LAYOUT, **pair}
    get = layout.get
    documents: object = collection.documents
    if get("documents") != "dict":
        documents = [
            d if "id" in d else {"id": name, **d} for name, d in collection.documents.items()
        ]
    values = (collection.model_name, collection.index.dim, collection.refs, documents)
    own: JsonObject = dict(zip(KEYS, values, strict=True))
    if collection.front is not None:
        own[RECORD] = collection.front.values.get(RECORD)
    extra: JsonObject = get("extra") or {}
    keys: list[str] = get("keys") or _known(collection)
    data: JsonObject = {
        key: extra[key] if key in extra else own[key] for key in keys if key in extra or key in own
    }
    colon, comma = (
        (":", ",") if get("compact") else (": ", "," if get("indent") is not None else ", ")
    )
    text = json.dumps(
        data, indent=get("indent"), ensure_ascii=layout["ascii"], separators=(comma, colon)
    ) + str(layout["end"])
    return text.encode("utf-8", "backslashreplace")


def _inflated(kept: str, limit: int) -> bytes:
    try:
        engine = zlib.decompressobj()
        data = engine.decompress(base64.b64decode(kept, validate=True), limit)
        if engine.eof and not engine.unused_data:
            return data
    except (ValueError, zlib.error):
        pass
    raise FormatError("the kept JSON of the pair cannot be read")


def pair_paths(path: StrPath) -> tuple[str, str]:
    """Return (faiss, json) for either path of a pair.

    They are vectors-x.faiss and metadata-x.json, or two files of one name.
    """
    given: str = os.fspath(path)
    folder, name = os.path.split(given)
    stem, suffix = os.path.splitext(name)
    if stem.startswith(("vectors-", "metadata-")):
        slug = stem.split("-", 1)[1]
        return os.path.join(folder, f"vectors-{slug}.faiss"), os.path.join(
            folder, f"metadata-{slug}.json"
        )
    if suffix not in (".faiss", ".json"):
        raise ValueError(f"{path} is neither .faiss nor .json")
    return os.path.join(folder, stem + ".faiss"), os.path.join(folder, stem + ".json")
