"""Load Documents from sources: folders, globs and files.

The order of the documents does not depend on the file system.

    loading = Loading(["docs/", "more/*.pdf"])
    for document in loading: ...
    loading.failures, loading.duplicates, loading.skipped, loading.files

A bad file is an entry in `failures` and never ends the run. source_files.py finds the files, and
their content decides their kind. Text that is neither UTF-8 nor has a byte order mark is read in a
detected encoding, which `encodings` records.

A document's id, also its `file_id` in the metadata, is its path below the folder (a single file's
name). If two sources give the same id, the later one is preceded by as many of its parent folders
as make it unique.

A document's metadata has the properties of its file (path, name, folder_id, mime, created_at), then
the front matter of Markdown or the other fields of a JSON line, and last file_id and checksum.
Front matter cannot replace the properties of the file, except created_at; its tags are the
document's tags.
"""

import codecs
import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import BinaryIO, TypeAlias

from ragfile.ingest.bundles import is_reserved
from ragfile.ingest.chunker import Policy, split
from ragfile.ingest.document_links import anchor_links
from ragfile.ingest.loaders import (
    Extracted,
    FrontMatter,
    LimitError,
    Limits,
    Loader,
    LoadError,
    UnsupportedType,
    encodings,
    front_matter,
    html,
    is_isolated,
    loader,
    sniff,
)
from ragfile.ingest.parser_process import ParserProcess
from ragfile.ingest.source_files import Selection, Skipped, SourceFile, UnreadPath, find
from ragfile.records import Chunk, Document, Segment, check_id
from ragfile.text import Normalized, normalize
from ragfile.types import Errors, Metadata, Sources, StrPath

GAP = "\n\n"  # between the segments of a document
READS, PAUSE = 5, 0.02  # attempts to read a file that changes, and seconds between them
TICK = (
    0.02  # a change within so many seconds of another one may leave the file's times as they were
)
PIECE = 1 << 20  # bytes read at once from a file of unknown size
KEPT = "application/octet-stream"  # the type of files that no loader reads
Content: TypeAlias = bytes  # inside Loading, `bytes` is a field
KNOWN = (
    "path",
    "name",
    "folder_id",
    "mime",
    "file_id",
    "checksum",
)  # properties of a file, which front matter cannot replace
ORIGIN = ("path", "folder_id", "mime", "file_id", "checksum", "upload")  # no content sets them


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """A file that could not be loaded, with the name of the exception's class as `kind`."""

    path: str
    reason: str
    kind: str = "LoadError"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A file with the same bytes as one read before it."""

    path: str
    first: str


@dataclass(slots=True)
class Loading:
    """An iterable of Documents that records skipped, duplicate and failed files."""

    sources: Sources
    limits: Limits = field(default_factory=Limits)
    errors: Errors = "strict"  # or "replace": U+FFFD where text is not valid UTF-8
    encoding: str | None = None  # of text that is not UTF-8 and has no byte order mark
    dedupe: bool = False  # leave out files whose bytes were loaded before
    selection: Selection = field(default_factory=Selection)
    prefix: str = ""  # a folder's name that begins every id
    files: int = 0
    bytes: int = 0
    failures: list[SourceFailure] = field(default_factory=list[SourceFailure])
    duplicates: list[Duplicate] = field(default_factory=list[Duplicate])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    encodings: dict[str, str] = field(default_factory=dict[str, str])  # by path, where not UTF-8
    parser: ParserProcess = field(default_factory=ParserProcess)  # for strangers' formats
    first_paths: dict[str, str] = field(
        default_factory=dict[str, str]
    )  # the first path by checksum
    _ids: set[str] = field(default_factory=set[str])
    _passed: int = 0  # bytes of the files read so far
    _total: int = 0

    def __post_init__(self) -> None:
        if self.errors not in ("strict", "replace"):
            raise ValueError(f"errors is 'strict' or 'replace', not {self.errors!r}")
        if self.encoding is not None:
            _check_encoding(self.encoding)

    def __iter__(self) -> Iterator[Document]:
        for source in self.found():
            yield from self.file(source)

    def found(self) -> Iterator[SourceFile]:
        """Yield the files of the sources, in order."""
        self._ids.clear()
        yield from find(self.sources, self.skipped, selection=self.selection)

    def unread(self) -> list[SourceFailure]:
        """Return the files and folders that could not be read, or that disappeared."""
        paths = (one for one in self.skipped if isinstance(one, UnreadPath))
        return [SourceFailure(one.path, one.reason, "OSError") for one in paths]

    def share(self) -> float:
        """Return the share of the sources' bytes read so far, 0 to 1.

        The first call looks up the size of every file.
        """
        if not self._total:
            self._total = sum(
                _size(source.path) for source in find(self.sources, selection=self.selection)
            )
        return min(self._passed / self._total, 1.0) if self._total else 1.0

    def file(self, source: SourceFile) -> Iterator[Document]:
        """Yield the documents of one file."""
        try:
            self._passed += _size(source.path)
            raw, modified = _read(source.path, self.limits)
            checksum = hashlib.sha256(raw).hexdigest()
            if self._is_wanted(source, checksum, len(raw)):
                yield from self._documents(source, raw, checksum, modified)
        except Exception as error:  # noqa: BLE001 - on a damaged file a parser can raise anything
            self.failures.append(SourceFailure(source.path, _sentence(error), type(error).__name__))

    def _is_wanted(self, source: SourceFile, checksum: str, size: int) -> bool:
        """Count a file, and return whether its documents are wanted."""
        first = self.first_paths.setdefault(checksum, source.path)
        if first != source.path:
            self.duplicates.append(Duplicate(source.path, first))
            if self.dedupe:
                return False
        self.files += 1
        self.bytes += size
        return True

    def take(self, source: SourceFile, checksum: str, size: int, encodings: dict[str, str]) -> bool:
        """Count a file that was read elsewhere, and return whether its results are wanted.

        The checksum of a file that could not be read is "".
        """
        self._passed += _size(source.path)
        is_wanted = not checksum or self._is_wanted(source, checksum, size)
        self.encodings.update(encodings if is_wanted else {})
        return is_wanted

    def take_id(self, source: SourceFile, doc_id: str) -> bool:
        """Reserve a document's id; record a failure and return False if it is taken or too long."""
        why = f"the id {doc_id!r} appears twice" if doc_id in self._ids else ""
        try:
            check_id(doc_id)
        except ValueError as error:
            why = str(error)
        if why:
            self.failures.append(SourceFailure(source.path, why, "LoadError"))
            return False
        self._ids.add(doc_id)
        return True

    def _documents(
        self, source: SourceFile, raw: Content, checksum: str, modified: float
    ) -> Iterator[Document]:
        if (one := self._loader(source, raw)) is None:
            document = Document(source.id, "", metadata=_described(source, KEPT, modified), raw=raw)
            document.metadata |= {"file_id": source.id, "checksum": checksum}
            document.source = source.source or _name_of(source.path)
            if self.take_id(source, source.id):
                yield document
            return
        content, is_first = raw, True
        described = _described(source, one.mime, modified)
        if one.is_text and (encoding := self._encoding(raw, one.kind)):
            raw = raw.decode(encoding, self.errors).encode("utf-8", "replace")
            self.encodings[source.path] = described["encoding"] = encoding
        for extracted in self._extracted(one, raw):
            if extracted.problem:
                self.failures.append(SourceFailure(source.path, extracted.problem, "LoadError"))
                continue
            document = _assembled(extracted, self.limits)
            document.id = f"{source.id}#{extracted.id}" if extracted.id else source.id
            if not self.take_id(source, document.id):
                continue
            if self.selection.originals and is_first and not _is_text_of(document, content):
                document.raw = content
            is_first = False
            document.source = source.source or _name_of(source.path)
            document.tags = tuple(dict.fromkeys([*document.tags, *extracted.tags]))
            own = {name: v for name, v in document.metadata.items() if name not in ORIGIN}
            if extracted.anchors:
                document.links = anchor_links(extracted.anchors, document.id)
            document.metadata = described | own | {"file_id": document.id, "checksum": checksum}
            yield document

    def _loader(self, source: SourceFile, raw: Content) -> Loader | None:
        """Return the loader of a file; None for one whose bytes are kept without a text."""
        suffix = os.path.splitext(source.path)[1] or os.path.splitext(source.id)[1]
        if source.is_kept:
            return None
        try:
            return loader(sniff(raw, suffix.lower()))
        except UnsupportedType:
            if self.selection.originals:
                return None
            raise

    def _extracted(self, one: Loader, raw: Content) -> Iterable[Extracted]:
        if self.limits.parse_memory and is_isolated(one):
            return self.parser.parse(one.kind, raw, self.limits)
        options = {"errors": self.errors} if one.is_text and self.errors != "strict" else {}
        return one.parse(raw, self.limits, **options)

    def cut(self, document: Document, policy: Policy) -> list[Chunk] | None:
        """Return the chunks of a document; record a failure and return None if memory runs out.

        The indexes and logs of a bundle have none.
        """
        if self.selection.bundle and is_reserved(document.id):
            return []
        try:
            return split(document, policy)
        except (MemoryError, RecursionError) as error:
            why = "not enough memory to cut it into chunks"
            self.failures.append(SourceFailure(document.source, why, type(error).__name__))
            return None

    def _encoding(self, raw: Content, kind: str) -> str:
        """Return the encoding of text without a byte order mark, "" if it is UTF-8 or unknown."""
        if raw.startswith(_MARKED) or _is_utf8(raw):
            return ""
        if self.encoding is not None:
            return self.encoding
        if self.errors != "strict" or (kind == "html" and html.declares(raw)):
            return ""
        return encodings.detected(raw)


def _is_text_of(document: Document, raw: bytes) -> bool:
    """Return whether a document's text, with its edits undone, has the bytes of its file."""
    return document.original.encode("utf-8", "surrogatepass") == raw


def _name_of(path: str) -> str:
    return os.fsencode(os.path.basename(path)).decode("utf-8", "replace")


def _is_utf8(raw: bytes) -> bool:
    if encodings.wide(raw):
        return False
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


_MARKED = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


def _check_encoding(name: str) -> None:
    try:
        "".encode(name)
    except LookupError:
        raise ValueError(
            f"unknown encoding {name!r}: use one such as cp1252 or shift_jis"
        ) from None


def load(
    sources: Sources,
    *,
    limits: Limits | None = None,
    errors: Errors = "strict",
    encoding: str | None = None,
    dedupe: bool = False,
    selection: Selection | None = None,
) -> list[Document]:
    """Return all documents of a few files at once; the first failure raises LoadError."""
    loading = Loading(
        sources, limits or Limits(), errors, encoding, dedupe, selection or Selection()
    )
    documents = list(loading)
    if loading.failures:
        failure = loading.failures[0]
        raise LoadError(f"{failure.path}: {failure.reason}")
    return documents


def _sentence(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory to read it"
    if isinstance(error, UnicodeDecodeError):
        return f"not valid {error.encoding}: byte {error.start} ({error.reason}); encoding= names another, errors=replace reads it"
    return str(error) or type(error).__name__


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _read(path: str, limits: Limits) -> tuple[bytes, float]:
    """Return the bytes of a file in one state, and its time of modification."""
    before: bytes | None = None
    for attempt in range(READS):
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > limits.max_bytes:
                raise LimitError(f"{status.st_size} bytes, the limit is {limits.max_bytes}")
            began = time.time()
            raw = _content(file, status.st_size, limits.max_bytes)
            is_same = _version(os.fstat(file.fileno())) == _version(status)
        is_settled = not 0 <= began - status.st_mtime < TICK
        if is_same and (is_settled or raw == before):
            return raw, status.st_mtime
        before = raw if is_same else None
        time.sleep(PAUSE * attempt)
    raise LoadError("it was changed while it was read: read it again later")


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _content(file: BinaryIO, stated: int, most: int) -> bytes:
    """Return all bytes of an open file; one that grows, or states no size, is read piece by piece."""
    pieces = [file.read(stated + 1)]  # memory for the file's size, not for the limit
    size, more = len(pieces[0]), len(pieces[0]) > stated
    while more and size <= most:
        pieces.append(file.read(PIECE))
        size, more = size + len(pieces[-1]), bool(pieces[-1])
    if size > most:
        raise LimitError(f"more than {most} bytes")
    return b"".join(pieces)


def _assembled(extracted: Extracted, limits: Limits) -> Document:
    """Return a normalised Document without an id; stop as soon as the text exceeds the limit."""
    if extracted.parts is None:
        _check_room(len(extracted.text), limits)
        return _whole(extracted)
    pieces: list[str] = []
    segments: list[Segment] = []
    at = 0
    for raw, metadata in extracted.parts:
        text = normalize(raw).text.strip(" \t\n")
        _check_room(at + len(raw), limits)
        if text:
            segments.append(Segment(at, at + len(text), metadata))
            pieces.append(text)
            at += len(text) + len(GAP)
    return Document(
        "", GAP.join(pieces), metadata=dict(extracted.metadata), segments=tuple(segments)
    )


def _whole(extracted: Extracted) -> Document:
    """Return a Document in one piece, with the edits that restore its raw text.

    Its body begins after the front matter.
    """
    normal = normalize(extracted.text)
    front = front_matter(normal.text) if extracted.has_front else FrontMatter({}, (), 0)
    metadata = {name: value for name, value in front.metadata.items() if name not in KNOWN}
    if not isinstance(front.metadata.get("title"), str):
        metadata |= extracted.metadata
    return Document(
        "", normal.text, metadata=metadata, tags=front.tags, edits=normal.edits(), body=front.body,
        segments=_defined(normal, extracted),
    )  # fmt: skip


def _defined(normal: Normalized, extracted: Extracted) -> tuple[Segment, ...]:
    """Return the segments of source code, each with the line of the raw file at which it begins."""
    if extracted.outline is None:
        return ()
    segments: list[Segment] = []
    at, line = 0, 1
    for start, end, symbol in extracted.outline(normal.text):
        shown = _first_shown(normal.text, start, end)
        raw_start, _ = normal.raw_span(shown, shown + 1)
        line += extracted.text.count("\n", at, raw_start)
        at = raw_start
        segments.append(Segment(start, end, {"symbol": symbol, "line": line}))
    return tuple(segments)


def _first_shown(text: str, start: int, end: int) -> int:
    """Return the first character of a span that is not blank."""
    return end - len(text[start:end].lstrip(" \t\n"))


def _check_room(size: int, limits: Limits) -> None:
    if size > limits.max_text:
        raise LimitError(f"more than {limits.max_text} characters of text")


def _described(source: SourceFile, mime: str, modified: float) -> Metadata:
    """Return the properties of a document's file."""
    return {
        "path": source.id,
        "name": source.id.rpartition("/")[2],
        "folder_id": source.id.rpartition("/")[0],
        "mime": mime,
        "created_at": timestamp(modified),
    }


def timestamp(modified: float) -> str:
    """Return a time as ISO 8601 in UTC, never later than SOURCE_DATE_EPOCH if that is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = min(int(modified), int(epoch)) if epoch.isdecimal() else int(modified)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")


def upload_path(root: StrPath, user_id: str, date: str, name: str) -> str:
    """Return `root/user_id/date/name` for an uploaded file.

    Raises:
        ValueError: A part could lead to another folder.
    """
    for part in (user_id, date, name):
        is_text = isinstance(part, str)  # pyright: ignore[reportUnnecessaryIsInstance]  # untrusted
        if not is_text or not _SAFE.fullmatch(part) or ".." in part:
            raise ValueError(f"not safe as a part of a path: {part!r}")
    return os.path.join(os.fspath(root), user_id, date, name)
