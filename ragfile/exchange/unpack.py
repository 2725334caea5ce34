"""Write the files of a knowledge base to a folder again, byte for byte.

A document of a text file gives the file's bytes: its text with the edits of normalisation undone. Other
files are in the section rag.original, if the build kept them (`keep_originals=True`). Each document's
checksum shows whether the bytes are those of its file.

Names come from the file, which a stranger may have made. So a name that leaves the folder, or that is not
the name of one file on every system, is refused, and everything is written to a new folder that nobody
else can write to before it gets its name: no link that is there can be followed.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import hashlib
import os
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ragfile.ground import system
from ragfile.ground.portable_names import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragfile.file.row_segment import RowSegment, StoredDocument
    from ragfile.records import Document
    from ragfile.types import StrPath

LONGEST = 1024  # bytes of a path
DEEPEST = 64  # folders of a path


class UnrestoredFile(NamedTuple):
    """A file that could not be written, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class UnpackReport:
    """What `unpack` wrote.

    Attributes:
        folder: The folder.
        files: Number of files.
        bytes: Their size.
        unrestored: Files whose bytes are not known, with the reason.
    """

    folder: str
    files: int = 0
    bytes: int = 0
    unrestored: list[UnrestoredFile] = field(default_factory=list[UnrestoredFile])


def unpacked(segments: Iterable[RowSegment], folder: StrPath) -> UnpackReport:
    """Write the files of some segments' live documents to a new folder."""
    target = os.path.abspath(folder)
    if os.path.lexists(target) and (not os.path.isdir(target) or os.listdir(target)):
        what = "exists and has content: name a new folder"
        raise FileExistsError(errno.EEXIST, what, os.fspath(folder))
    report = UnpackReport(target)
    made = system.unused_path(os.path.dirname(target), ".ragfile-", ".unpacked")
    os.makedirs(made, 0o700)
    try:
        _FolderWriter(made, report).take_all(segments)
        if os.path.isdir(target) and not os.path.islink(target):
            system.remove_empty(target)
        system.rename_folder(made, target)
    finally:
        system.remove_folder(made)
    return report


class _FolderWriter:
    """Writes the files of documents below a folder of its own."""

    def __init__(self, folder: str, report: UnpackReport) -> None:
        self.folder, self.report = folder, report
        self._taken: dict[
            str, tuple[str, bool]
        ] = {}  # (path, is a file) by the name that all systems see
        self._missing: dict[str, str] = {}

    def take_all(self, segments: Iterable[RowSegment]) -> None:
        """Write the file of each document, and report those that cannot be restored."""
        restored: set[str] = set()
        for old in (document for segment in segments for document in segment.live_documents()):
            document = old.read()
            path, checksum = (document.metadata.get(name) for name in ("path", "checksum"))
            if not isinstance(path, str) or not isinstance(checksum, str) or path in restored:
                continue
            parts = checked_path(path)
            if (raw := _bytes_of(old, document, path, checksum)) is None:
                kind = document.metadata.get("mime", "of its kind")
                self._missing[path] = f"the text of a file {kind} does not give its bytes back"
            else:
                restored.add(path)
                self._write(parts, raw)
        missing = sorted(self._missing.keys() - restored)
        self.report.unrestored = [UnrestoredFile(path, self._missing[path]) for path in missing]

    def _write(self, parts: list[str], raw: bytes) -> None:
        for i in range(1, len(parts) + 1):
            self._take("/".join(parts[:i]), i == len(parts))
        place = os.path.join(self.folder, *parts)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "xb") as file:
            file.write(raw)
        self.report.files += 1
        self.report.bytes += len(raw)

    def _take(self, path: str, is_file: bool) -> None:
        """Note a file or folder; raise ValueError if another one has its name on some system."""
        key, entry = unicodedata.normalize("NFC", path).casefold(), (path, is_file)
        before = self._taken.setdefault(key, entry)
        if before is not entry and (before != entry or is_file):
            raise ValueError(f"{before[0]!r} and {path!r} are one name on some systems")


def _bytes_of(old: StoredDocument, document: Document, path: str, checksum: str) -> bytes | None:
    """Return the bytes of a document's file, None if they are not known."""
    for raw in _candidates(old, document, path):
        if hashlib.sha256(raw).hexdigest() == checksum:
            return raw
    return None


def _candidates(old: StoredDocument, document: Document, path: str) -> Iterator[bytes]:
    if original := old.segment.original(old.number):
        yield original
        return
    if document.id != path:
        return  # a part of the file
    text = document.original
    yield text.encode("utf-8", "surrogatepass")
    yield codecs.BOM_UTF8 + text.encode("utf-8", "surrogatepass")
    if isinstance(encoding := document.metadata.get("encoding"), str):
        with contextlib.suppress(LookupError, UnicodeEncodeError):
            yield text.encode(encoding)


def checked_path(path: str) -> list[str]:
    """Return the parts of a path below a folder; raise ValueError if it could leave it.

    Each part must be the name of a file on every system, so that a folder is the same everywhere.
    """
    parts = path.split("/")
    if len(path.encode("utf-8", "replace")) > LONGEST or len(parts) > DEEPEST:
        raise ValueError(f"the path of a file is too long: {path:.120}…")
    for part in parts:
        if fault := fault_of(part.lstrip(".") if part.strip(".") else part):
            raise ValueError(f"{path!r} is no path of a file in a folder: {fault} ({part!r})")
    return parts
