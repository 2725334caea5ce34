"""Sources — folders, globs, files — made into Documents, in an order that does not depend on the
file system.

    loading = Loading(["docs/", "more/*.pdf"])
    for document in loading: ...
    loading.failures, loading.duplicates, loading.skipped, loading.files

A bad file is a line in `failures` and never the end of the run. Which files there are, finding.py
says; what a file is, its content decides. Text that is neither UTF-8 nor marked is read in the
encoding that it seems to be in, and `encodings` says which that was.

A document's id, which is also its `file_id` in the metadata, is its path below the folder (a single
file's name). Where two sources would give the same id, the later one is led by as many of its
parent folders as it takes.

A document's metadata are what is known of its file (path, name, folder_id, mime, created_at), over
that the front matter of Markdown or the other fields of a JSON line, and last file_id and checksum.
Front matter does not change what is known of the file, but for created_at; its tags are the
document's tags.
"""

import codecs
import hashlib
import os
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ragfile.ingest.chunker import split
from ragfile.ingest.loaders import (
    LimitError,
    Limits,
    LoadError,
    encodings,
    front_matter,
    html,
    loader,
    sniff,
)
from ragfile.ingest.source_files import Selection, find
from ragfile.records import Document, Segment
from ragfile.text import normalize

GAP = "\n\n"  # between the segments of a document
PIECE = 1 << 20  # bytes of a file whose size is not known
KNOWN = (
    "path",
    "name",
    "folder_id",
    "mime",
    "file_id",
    "checksum",
)  # of a file, whatever its front matter says


@dataclass(frozen=True, slots=True)
class SourceFailure:
    path: str
    reason: str
    kind: str = "LoadError"


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A file with the bytes of one that was read before it."""

    path: str
    first: str


@dataclass(slots=True)
class Loading:
    """An iterable of Documents that keeps account of what it could not or did not load."""

    sources: object
    limits: Limits = field(default_factory=Limits)
    errors: str = "strict"  # or "replace": U+FFFD where text is not valid UTF-8
    encoding: str | None = None  # of text that is not UTF-8 and has no byte order mark
    dedupe: bool = False  # leave out files whose bytes were loaded before
    selection: Selection = field(default_factory=Selection)
    files: int = 0
    bytes: int = 0
    failures: list = field(default_factory=list)
    duplicates: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    encodings: dict = field(default_factory=dict)  # path: how it was read, where not as UTF-8
    seen: dict = field(default_factory=dict)
    _ids: set = field(default_factory=set)
    _passed: int = 0  # bytes of files that were taken up
    _total: int = 0

    def __post_init__(self):
        if self.errors not in ("strict", "replace"):
            raise ValueError(f"errors is 'strict' or 'replace', not {self.errors!r}")
        if self.encoding is not None:
            _check_encoding(self.encoding)

    def __iter__(self):
        for source in self.found():
            yield from self.file(source)

    def found(self):
        """The files of the sources, in their order."""
        self._ids.clear()
        yield from find(self.sources, self.skipped, selection=self.selection)

    def share(self):
        """How much of the sources' bytes was taken up, 0 to 1. The first call looks at the size of
        every file.
        """
        if not self._total:
            self._total = sum(
                _size(source.path) for source in find(self.sources, selection=self.selection)
            )
        return min(self._passed / self._total, 1.0) if self._total else 1.0

    def file(self, source):
        """The documents of one Source."""
        try:
            self._passed += _size(source.path)
            raw, modified = _read(source.path, self.limits)
            checksum = hashlib.sha256(raw).hexdigest()
            if self._is_wanted(source, checksum, len(raw)):
                yield from self._documents(source, raw, checksum, modified)
        except Exception as error:  # noqa: BLE001 - on a damaged file a parser can raise anything
            self.failures.append(SourceFailure(source.path, _sentence(error), type(error).__name__))

    def _is_wanted(self, source, checksum, size):
        """Whether a file is read on, of which its bytes are known now."""
        first = self.seen.setdefault(checksum, source.path)
        if first != source.path:
            self.duplicates.append(Duplicate(source.path, first))
            if self.dedupe:
                return False
        self.files += 1
        self.bytes += size
        return True

    def take(self, source, checksum, size, encodings):
        """Counts a file that was read elsewhere; whether its documents and failures are wanted. One
        that could not be read has no checksum.
        """
        self._passed += _size(source.path)
        is_wanted = not checksum or self._is_wanted(source, checksum, size)
        self.encodings.update(encodings if is_wanted else {})
        return is_wanted

    def take_id(self, source, doc_id):
        """Whether a document has an id of its own; another one is a failure."""
        if doc_id in self._ids:
            why = f"the id {doc_id!r} appears twice"
            self.failures.append(SourceFailure(source.path, why, "LoadError"))
            return False
        self._ids.add(doc_id)
        return True

    def _documents(self, source, raw, checksum, modified):
        suffix = os.path.splitext(source.path)[1] or os.path.splitext(source.id)[1]
        one = loader(sniff(raw, suffix.lower()))
        options = {"errors": self.errors} if one.is_text and self.errors != "strict" else {}
        described = _described(source, one.mime, modified)
        if one.is_text and (encoding := self._encoding(raw, one.kind)):
            raw = raw.decode(encoding, self.errors).encode("utf-8", "replace")
            self.encodings[source.path] = described["encoding"] = encoding
        for extracted in one.parse(raw, self.limits, **options):
            if extracted.problem:
                self.failures.append(SourceFailure(source.path, extracted.problem, "LoadError"))
                continue
            document = _assembled(extracted, self.limits)
            document.id = f"{source.id}#{extracted.id}" if extracted.id else source.id
            if not self.take_id(source, document.id):
                continue
            document.source = source.path
            document.tags = tuple(dict.fromkeys([*document.tags, *extracted.tags]))
            document.metadata = (
                described | document.metadata | {"file_id": document.id, "checksum": checksum}
            )
            yield document

    def cut(self, document, policy):
        """The chunks of a document, or None where cutting it failed: that is one of the failures."""
        try:
            return split(document, policy)
        except (MemoryError, RecursionError) as error:
            why = "not enough memory to cut it into chunks"
            self.failures.append(SourceFailure(document.source, why, type(error).__name__))
            return None

    def _encoding(self, raw, kind):
        """That of text which is not UTF-8 and has no byte order mark, "" for other text."""
        if raw.startswith(_MARKED) or _is_utf8(raw):
            return ""
        if self.encoding is not None:
            return self.encoding
        if self.errors != "strict" or (kind == "html" and html.declares(raw)):
            return ""
        return encodings.detected(raw)


def _is_utf8(raw):
    if encodings.wide(raw):
        return False
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


_MARKED = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


def _check_encoding(name):
    try:
        "".encode(name)
    except LookupError:
        raise ValueError(
            f"unknown encoding {name!r}: use one such as cp1252 or shift_jis"
        ) from None


def load(sources, **options):
    """All documents at once, where a failure is an error: for a handful of files."""
    loading = Loading(sources, **options)
    documents = list(loading)
    if loading.failures:
        failure = loading.failures[0]
        raise LoadError(f"{failure.path}: {failure.reason}")
    return documents


def _sentence(error):
    if isinstance(error, MemoryError):
        return "not enough memory to read it"
    if isinstance(error, UnicodeDecodeError):
        return f"not valid {error.encoding}: byte {error.start} ({error.reason}); encoding= names another, errors=replace reads it"
    return str(error) or type(error).__name__


def _size(path):
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _read(path, limits):
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size > limits.max_bytes:
            raise LimitError(f"{status.st_size} bytes, the limit is {limits.max_bytes}")
        raw = _content(file, status.st_size, limits.max_bytes)
    return raw, status.st_mtime


def _content(file, stated, most):
    """All bytes of an open file. A file that grows, or does not state its size, is read piece by
    piece.
    """
    pieces = [file.read(stated + 1)]  # memory for what is there, not for the limit
    size, more = len(pieces[0]), len(pieces[0]) > stated
    while more and size <= most:
        pieces.append(file.read(PIECE))
        size, more = size + len(pieces[-1]), bool(pieces[-1])
    if size > most:
        raise LimitError(f"more than {most} bytes")
    return b"".join(pieces)


def _assembled(extracted, limits):
    """A Document without a name yet, normalised. Stops as soon as there is more text than there is
    room for.
    """
    if extracted.parts is None:
        _check_room(len(extracted.text), limits)
        return _whole(extracted)
    pieces, segments, at = [], [], 0
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


def _whole(extracted):
    """A text in one piece: what it was before normalisation is kept, front matter is taken out of
    what is cut into chunks.
    """
    normal = normalize(extracted.text)
    said, tags, body = front_matter(normal.text) if extracted.has_front else ({}, (), 0)
    metadata = {name: value for name, value in said.items() if name not in KNOWN}
    if not isinstance(said.get("title"), str):
        metadata |= extracted.metadata
    return Document(
        "", normal.text, metadata=metadata, tags=tags, edits=normal.edits(), body=body,
        segments=_defined(normal, extracted),
    )  # fmt: skip


def _defined(normal, extracted):
    """The segments of source code, each with the line at which it begins in the file."""
    if extracted.outline is None:
        return ()
    segments, at, line = [], 0, 1
    for start, end, symbol in extracted.outline(normal.text):
        shown = _first_shown(normal.text, start, end)
        place = normal.raw_span(shown, shown + 1)[0]
        line += extracted.text.count("\n", at, place)
        at = place
        segments.append(Segment(start, end, {"symbol": symbol, "line": line}))
    return tuple(segments)


def _first_shown(text, start, end):
    """The first character of a span that is not blank."""
    return end - len(text[start:end].lstrip(" \t\n"))


def _check_room(size, limits):
    if size > limits.max_text:
        raise LimitError(f"more than {limits.max_text} characters of text")


def _described(source, mime, modified):
    """What every document says of its file, unless the file's own fields say otherwise."""
    return {
        "path": source.id,
        "name": source.id.rpartition("/")[2],
        "folder_id": source.id.rpartition("/")[0],
        "mime": mime,
        "created_at": timestamp(modified),
    }


def timestamp(modified):
    """ISO 8601 in UTC, never later than SOURCE_DATE_EPOCH where that is set."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = min(int(modified), int(epoch)) if epoch.isdecimal() else int(modified)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")


def upload_path(root, user_id, date, name):
    """`root/user_id/date/name` for a stranger's file; a part that could lead elsewhere is
    refused.
    """
    for part in (user_id, date, name):
        if not isinstance(part, str) or not _SAFE.fullmatch(part) or ".." in part:
            raise ValueError(f"not safe as a part of a path: {part!r}")
    return os.path.join(os.fspath(root), user_id, date, name)
