"""Read .ragmd: a Markdown file that holds a whole collection (spec/ragmd.md).

    parse(bytes) -> Collection        load(path) -> Collection        looks_like(bytes) -> bool

The core finds the dividing lines, so text inside a fence is never taken for a heading. Every fault is a
FormatError that names its line. This module also exports save() and render() of ragmd_writer.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError, FormatError, VersionError
from ragfile.exchange.collection import Collection, JsonObject, UnknownSection
from ragfile.exchange.faiss.index import Index, aligned_bytes
from ragfile.exchange.ragmd import front_matter as frontmatter
from ragfile.exchange.ragmd.front_matter import looks_like
from ragfile.exchange.ragmd.ragmd_writer import (
    RagmdScaleWarning,
    checksum,
    document_checksums,
    documents_checksum,
    render,
    save,
)
from ragfile.ground.atomic_replace import lock
from ragfile.ground.json_values import is_object

if TYPE_CHECKING:
    from ragfile.types import Integers, StrPath

__all__ = [
    "NotARagmd",
    "RagmdScaleWarning",
    "load",
    "lock",
    "looks_like",
    "parse",
    "register_mime",
    "render",
    "save",
]

KNOWN = {
    "Documents": "Documents",
    "Chunks": "Chunks",
    "Document Metadata": "Document Metadata",
    "Vectors": "Vectors",
    "Vectors (Base64)": "Vectors",
    "Origin": "Origin",
}
MAX_JSON_DEPTH = 128
MAX_MARKS = 65536  # headings and fences
MIME_TYPE = "application/vnd.rag-markdown"


class NotARagmd(FormatError):
    """A Markdown file without the front matter keys of a .ragmd file."""


class _Fence(NamedTuple):
    """Offsets of a fenced block: its opening line, its content, and the end of its closing line."""

    at: int
    start: int
    end: int
    after: int


class _RagmdSection(NamedTuple):
    """Offsets of a section: its heading line, and its text."""

    title: str
    at: int
    start: int
    end: int
    fences: list[_Fence]


def register_mime() -> None:
    """Register the suffix with this process's `mimetypes`."""
    import mimetypes

    mimetypes.add_type(MIME_TYPE, ".ragmd")


def load(path: StrPath, *, allow_large: bool = True) -> Collection:
    """Read a .ragmd file; allow_large=False refuses index kinds too large for a text file."""
    with open(path, "rb", buffering=0) as file:
        data = np.empty(file.seek(0, 2), np.uint8)
        file.seek(0)
        filled = 0
        while filled < len(data) and (count := file.readinto(data[filled:].data)):
            filled += count
    try:
        collection = parse(data[:filled])
        collection.digest = hashlib.sha256(data[:filled].data).hexdigest()
        collection.index.refuse_if_large(allow_large)
    except FormatError as error:
        if str(error) == "Missing frontmatter":
            raise
        raise type(error)(f"{path}: {error}", at=error.at, section=error.section) from None
    return collection


def parse(data: bytes | bytearray | memoryview | Integers) -> Collection:
    """Return the collection in the bytes of a .ragmd file."""
    return _RagmdReader(
        np.frombuffer(data, np.uint8) if not isinstance(data, np.ndarray) else data
    ).collection()


class _RagmdReader:
    """Reads the bytes of one .ragmd file."""

    def __init__(self, data: Integers) -> None:
        self.data = data
        self.front, self.body_at = frontmatter.parse(data)
        self.values = self.front.values

    def collection(self) -> Collection:
        self.check_version()
        sections = self.sections()
        known = {KNOWN[s.title]: s for s in sections if s.title in KNOWN}
        for title in ("Chunks", "Document Metadata", "Vectors"):
            if title not in known:
                raise FormatError(f"line 1: there is no section '## {title}'", at=0)
        refs = self.refs(known["Chunks"])
        documents = self.documents(known["Document Metadata"])
        index = self.index(known["Vectors"])
        collection = Collection(
            index, refs, documents, self.text_value("model_name"), front=self.front
        )
        collection.created_at, collection.updated_at = (
            self.text_value("created_at"),
            self.text_value("updated_at"),
        )
        collection.sections = self.unknown(sections)
        collection.pair = self.object_of(known["Origin"]) if "Origin" in known else {}
        self.check_counts(collection)
        self.check_references(collection, known)
        self.check_texts(documents, known["Document Metadata"])
        return collection

    # ---------------------------------------------------------------------------------------------- frontmatter ---

    def check_version(self) -> None:
        if not {"format_version", "embedding_dim"} <= set(self.values):
            missing = "format_version" if "format_version" not in self.values else "embedding_dim"
            raise NotARagmd(f"line 1: not a .ragmd: the frontmatter has no {missing}", at=0)
        version = self.values["format_version"]
        numbers = str(version).split(".") if type(version) in (str, int, float) else []
        if not 1 <= len(numbers) <= 3 or not all(n.isascii() and n.isdigit() for n in numbers):
            raise FormatError(f"line 1: format_version {version!r} is not a version", at=0)
        if int(numbers[0]) != 1:
            raise VersionError(
                f"line 1: format_version {version} is not 1.x, the only one that this reader knows",
                at=0,
            )

    def text_value(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise FormatError(f"line 1: {key} is {value!r}, not text", at=0)
        return value

    def check_counts(self, collection: Collection) -> None:
        index = collection.index
        found = {
            "embedding_dim": index.dim,
            "vector_count": index.count,
            "document_count": len(collection.documents),
            "index_type": index.class_name,
        }
        for key, value in found.items():
            stated = self.values.get(key, value)
            if type(stated) is not type(value) or stated != value:
                raise FormatError(
                    f"line 1: {key} is {stated!r}, but the file holds {value!r}", at=0
                )

    def check_references(self, collection: Collection, known: dict[str, _RagmdSection]) -> None:
        try:
            collection.check()
        except FormatError as error:
            where = "Chunks" if "reference" in str(error) else "Document Metadata"
            raise self.fault(known[where].at, str(error)) from None
        dangling, stated = collection.dangling(), self.values.get("dangling_count", 0)
        if len(dangling) != stated:
            name = (
                f", such as row {dangling[0]}: {collection.refs[dangling[0]]}" if dangling else ""
            )
            what = f"{len(dangling)} references to nothing, not dangling_count {stated!r}{name}"
            raise self.fault(known["Chunks"].at, what)

    def check_texts(self, documents: dict[str, JsonObject], section: _RagmdSection) -> None:
        """Refuse a document whose text differs from its checksum; a document without one is not checked."""
        stated = self.values.get("document_checksums")
        if isinstance(stated, str):
            return self.check_text("the documents", documents_checksum(documents), stated, section)
        if stated is not None and not is_object(stated):
            raise FormatError("line 1: document_checksums is not a mapping from ids to text", at=0)
        actual = document_checksums(documents) if stated else {}
        for name, one in (stated or {}).items():
            if name not in actual:
                raise self.fault(section.at, f"document_checksums lists {name!r}, which is missing")
            self.check_text(f"document {name!r}", actual[name], one, section)
        return None

    def check_text(self, what: str, actual: str, stated: object, section: _RagmdSection) -> None:
        if actual != stated:
            raise CorruptError(
                f"line {self.line(section.at)}: the text of {what} hashes to {actual}, not to {stated}: "
                "restore it, or delete its line of document_checksums if the change is meant",
                section="Document Metadata",
            )

    # ------------------------------------------------------------------------------------------------- sections ---

    def sections(self) -> list[_RagmdSection]:
        marks = _core.markdown_marks(self.data, self.body_at, MAX_MARKS)
        if marks is None:
            raise FormatError(f"line 1: more than {MAX_MARKS} headings and fences", at=0)
        found = [_RagmdSection("", self.body_at, self.body_at, len(self.data), [])]
        opened: tuple[int, int] | None = None
        for kind, at, end, after in marks:
            if kind == "#":
                title = self.decode(at + 3, end).strip()
                if any(KNOWN.get(s.title, s.title) == KNOWN.get(title, title) for s in found[1:]):
                    raise self.fault(at, f"section '## {title}' occurs twice")
                found[-1] = found[-1]._replace(end=at)
                found.append(_RagmdSection(title, at, after, len(self.data), []))
            elif kind == "(":
                opened = at, after
            else:
                assert opened is not None  # the core pairs the marks
                found[-1].fences.append(_Fence(*opened, at, after))
                opened = None
        if opened:
            raise self.fault(opened[0], "this fence is not closed")
        return found

    def content(self, section: _RagmdSection) -> tuple[int, int]:
        """Return the span of a section's only fenced block, or of its whole text without one."""
        if not section.fences:
            return section.start, section.end
        if len(section.fences) > 1:
            raise self.fault(section.fences[1][0], f"a second fence in section '{section.title}'")
        opens, start, end, after = section.fences[0]
        self.decode(opens, start)
        for a, b in ((section.start, opens), (after, section.end)):
            if self.decode(a, b).strip():
                raise self.fault(a, f"text beside the fence of section '{section.title}'")
        return start, end

    def unknown(self, sections: list[_RagmdSection]) -> list[UnknownSection]:
        kept: list[UnknownSection] = []
        follows = ""
        for section in sections:
            if section.title in KNOWN and section.at != section.start:
                follows = KNOWN[section.title]
                if follows == "Documents":  # for people: not parsed, only checked to be UTF-8
                    self.decode(section.start, section.end)
            elif text := self.decode(section.at, section.end).replace("\r\n", "\n").strip("\n"):
                kept.append(UnknownSection(follows, section.title, text))
        return kept

    # ------------------------------------------------------------------------------------------------- contents ---

    def refs(self, section: _RagmdSection) -> list[JsonObject]:
        refs = self.list_of(section)
        try:
            rows = [ref.pop("faiss_id") for ref in refs]
        except (KeyError, AttributeError, TypeError):
            raise self.fault(
                section.at, "a chunk reference is not an object with a faiss_id"
            ) from None
        if set(map(type, rows)) - {int} or sorted(rows) != list(range(len(rows))):
            raise self.fault(section.at, f"the faiss_ids are not 0 to {len(rows) - 1}, each once")
        if rows != list(range(len(rows))):
            refs = [
                ref for _, ref in sorted(zip(rows, refs, strict=True), key=lambda pair: pair[0])
            ]
        return refs

    def documents(self, section: _RagmdSection) -> dict[str, JsonObject]:
        found = cast("JsonObject | list[JsonObject]", self.json(section, (dict, list)))
        if isinstance(found, dict):
            return found
        documents: dict[str, JsonObject] = {}
        for document in found:
            name = document.get("id") if isinstance(document, dict) else None
            if not isinstance(name, str) or name in documents:
                raise self.fault(section.at, f"a document without an id of its own: {name!r}")
            documents[name] = document
        return documents

    def index(self, section: _RagmdSection) -> Index:
        start, end = self.content(section)
        out = aligned_bytes((end - start) // 4 * 3 + 3)
        try:
            size = _core.base64_unwrap(self.data[start:end], out)
        except FormatError as error:
            what = str(error).rsplit(" (", 1)[0]
            raise self.fault(start + (error.at or 0), what) from None
        try:
            index = Index(out[:size])
        except FormatError as error:
            raise self.fault(section.at, f"{error} of the decoded index") from None
        stated = self.values.get("vectors_checksum")
        if stated is not None and stated != (actual := checksum(index.data)):
            raise CorruptError(
                f"line {self.line(section.at)}: the vectors hash to {actual}, not to {stated}",
                section="Vectors",
            )
        return index

    def list_of(self, section: _RagmdSection) -> list[JsonObject]:
        """Return the JSON list of a section; the types of its items are unchecked."""
        return cast("list[JsonObject]", self.json(section, list))

    def object_of(self, section: _RagmdSection) -> JsonObject:
        """Return the JSON object of a section."""
        return cast("JsonObject", self.json(section, dict))

    def json(self, section: _RagmdSection, kinds: type | tuple[type, ...]) -> object:
        """Return the JSON value of a section, which must be of one of these kinds."""
        start, end = self.content(section)
        deep = _core.json_too_deep(self.data[start:end], MAX_JSON_DEPTH)
        if deep is not None:
            raise self.fault(start + deep, f"JSON nested more than {MAX_JSON_DEPTH} deep")
        text = self.decode(start, end)
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            line = self.line(start) + error.lineno - 1
            raise FormatError(
                f"line {line}, column {error.colno}: {error.msg}", section=section.title
            ) from None
        except ValueError as error:  # an integer of thousands of digits
            raise self.fault(section.at, str(error).split(";")[0]) from None
        if not isinstance(found, kinds):
            raise self.fault(
                start, f"section '{section.title}' holds a JSON {type(found).__name__}"
            )
        return found

    # --------------------------------------------------------------------------------------------------- places ---

    def decode(self, start: int, end: int) -> str:
        try:
            return self.data[start:end].tobytes().decode()
        except UnicodeDecodeError as error:
            raise self.fault(
                start + error.start, f"not UTF-8 (byte {start + error.start})"
            ) from None

    def line(self, at: int) -> int:
        return int(np.count_nonzero(self.data[:at] == 10)) + 1

    def fault(self, at: int, what: str) -> FormatError:
        return FormatError(f"line {self.line(at)}: {what}", at=at)
