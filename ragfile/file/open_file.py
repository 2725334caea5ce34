"""A 1.0 file that is open: the map, the commit that is read, and how a newer one takes its place.

What is made of a commit is small, is made when it is first asked for, and goes with the commit.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from ragfile import _core
from ragfile.errors import ChangedError, CorruptError, FormatError
from ragfile.file import config, sections
from ragfile.file.row_segment import RowSegment
from ragfile.ground.annotations import deferred
from ragfile.ground.fork_safe_lock import ForkSafeLock
from ragfile.types import StrPath

if TYPE_CHECKING:
    from ragfile.ground.signing_keys import PublicKey

    P = ParamSpec("P")
    R = TypeVar("R")
    Opened = TypeVar("Opened", bound="OpenFile")
else:
    PublicKey = deferred("ragfile.ground.signing_keys", "PublicKey")

FRONT, FOOTER = 4096, 64  # bytes at the beginning of a file and at the end of a commit


def _key_texts(keys):
    """Public keys as texts, which can be pickled; None where every file is good."""
    if keys is None:
        return None
    from ragfile.ground.signing_keys import PublicKey  # with hashlib, which opening does not need

    return [PublicKey.of(key).raw.hex() for key in keys]


def _require_signature(reader, texts, path):
    from ragfile.file import signatures
    from ragfile.ground.signing_keys import PublicKey

    signatures.require(reader, [PublicKey.of(text) for text in texts], path)


class Closed:
    """In the place of what a closed file had: whoever asks is told."""

    def __init__(self, path):
        object.__setattr__(self, "path", path)

    def _refuse(self, *_):
        raise ValueError(f"{object.__getattribute__(self, 'path')} is closed")

    __getattr__ = __getitem__ = __iter__ = __len__ = __bool__ = __buffer__ = _refuse


def _closed(path: str) -> Any:
    return Closed(path)


def of_one_commit(
    method: Callable[Concatenate[Opened, P], R],
) -> Callable[Concatenate[Opened, P], R]:
    """A method that sees one commit from its beginning to its end, whatever refresh() does in another thread meanwhile."""

    @functools.wraps(method)
    def call(self: Opened, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if self._is_pinned:
                return method(self, *args, **kwargs)
            view = self._pinned()
            view.check_unchanged()
            return method(view, *args, **kwargs)
        except CorruptError as error:  # found in a section, which does not know its file
            error.name_file(self.path)
            raise

    return call


class OpenFile:
    """One commit of a 1.0 file, which refresh() exchanges for a newer one."""

    _is_pinned = False
    _pins = False  # whether shadows are copied into huge pages

    path: str
    rows: int
    reader: _core.Reader
    segments: list[RowSegment]
    _map: Any

    def __init__(
        self, path: StrPath, *, generation: int = 0, strict: bool = False,
        trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    ) -> None:  # fmt: skip
        self.path = os.fspath(path)
        self._options = {"generation": generation, "strict": strict, "trusted": _key_texts(trusted)}
        self._swap = ForkSafeLock()
        self._open()

    @classmethod
    def over(cls, reader: _core.Reader, path, *, strict: bool = False) -> Self:
        """The commit that a reader has open already."""
        archive = cls.__new__(cls)
        archive.path = os.fspath(path)
        archive._options = {"generation": 0, "strict": strict, "trusted": None}
        archive._swap, archive._map = ForkSafeLock(), reader.owner
        archive._seen = archive._identity()
        archive._read(reader)
        return archive

    def _open(self):
        self._seen = self._identity()
        self._map = self._mapped()
        self._read(self._reader_of(self._options["generation"]))

    def _reader_of(self, generation: int) -> _core.Reader:
        """The reader of a generation by the number that users know, or of the newest for 0."""
        if not generation:
            return _core.Reader(self._map)
        try:
            newest = _core.Reader(self._map)
            first = config.first_generation(newest, self.path)
        except FormatError:  # an older commit may be whole
            return _core.Reader(self._map, generation)
        last = first - 1 + newest.commit["generation"]
        if not first <= generation <= last:
            why = "; a compaction left out those before" if first > 1 else ""
            what = f"has generations {first} to {last}, not {generation}{why}"
            raise ValueError(f"{self.path} {what}")
        return _core.Reader(self._map, generation - first + 1)

    def _read(self, reader: _core.Reader) -> None:
        if self._options["trusted"] is not None:
            _require_signature(reader, self._options["trusted"], self.path)
        self.reader = reader
        self._commit = self.reader.commit
        self._config, self._made = None, {}  # what is made of a commit when it is first asked for
        if self._options["strict"] and (lost := self._commit["lost_generation"]):
            what = f"generation {self._numbered(lost)} was committed and is damaged"
            raise CorruptError(f"{self.path}: {what}")
        self._front = self._front_and_footer()
        self._check_needs()
        self.segments, base = [], 0
        for record in self.reader.segments:
            self.segments.append(RowSegment(self.reader, record, base))
            base += record.rows
        self.rows = base
        metric = self.config.get("metric", "cosine")
        for segment in self.segments:
            segment.metric, segment.is_pinned = metric, self._pins

    def _check_needs(self):
        """Sections stand on one another; one without its ground is refused by name."""
        there = {(entry["segment"], entry["name"]) for entry in self.reader.entries}
        for segment, name in there:
            missing = next((n for n in sections.needs(name) if (segment, n) not in there), None)
            if missing is not None:
                raise CorruptError(
                    f"{self.path}: section {name} needs section {missing}", section=missing
                )

    def _identity(self):
        """What changes when the path names another file, or the file was written to."""
        return *_core.file_identity(self.path), os.stat(self.path).st_mtime_ns

    def _front_and_footer(self) -> Any:
        """What names the commit that is open: both hold hashes of what they stand for."""
        end = self._commit["end"]
        return self.raw(0, FRONT), self.raw(max(end - FOOTER, 0), FOOTER)

    def _is_untouched(self) -> bool:
        """Whether nobody wrote to the file since that was asked last: the quick answer for a single row."""
        try:
            return os.stat(self.path).st_mtime_ns == self._made.get("unchanged at", self._seen[-1])
        except OSError:
            return False

    def check_unchanged(self):
        """Refuses to answer from a file that was written over in place since it was opened.

        Appended commits change no byte that is there, and a file that was renamed into the place of this one leaves
        it alone. This costs a stat, and more only when something was written. A file that is cut short while a call
        reads it ends the process (SIGBUS): nothing of ours can prevent that.
        """
        try:
            now = os.stat(self.path)
        except OSError:  # gone, and still mapped
            return
        is_other = (now.st_dev, now.st_ino) != self._seen[:2]
        if is_other or now.st_mtime_ns == self._made.get("unchanged at", self._seen[-1]):
            return
        if now.st_size < self._commit["end"] or self._front_and_footer() != self._front:
            raise ChangedError(
                f"{self.path} was written over while it was open: call refresh(); "
                "and replace files by renaming, as `mv` and `cp --remove-destination` do"
            )
        self._made["unchanged at"] = now.st_mtime_ns  # for all views of this commit

    def _mapped(self) -> Any:
        return _core.Map(self.path)

    def raw(self, at: int, size: int) -> bytes:
        """A copy of bytes of the file, as many as there are."""
        if self.reader.is_elsewhere:
            return self._map.read(at, size)
        return bytes(memoryview(self._map)[at : at + size])

    @property
    def config(self) -> dict[str, Any]:
        """What the file records of how it was made."""
        if self._config is None:
            section = self.reader.section("rag.config")
            if section is None:
                self._config = {}
            else:
                section.check()
                self._config = config.read_config(bytes(section), self.path)
        return self._config

    def __len__(self) -> int:
        """Live chunks."""
        return sum(segment.live for segment in self.segments)

    @property
    def generation(self) -> int:
        """The number of the commit that is open. Compaction does not start it again."""
        return self._numbered(self._commit["generation"])

    def _numbered(self, generation: int) -> int:
        """A generation of the container as users know it."""
        return generation + self.config.get("first_generation", 1) - 1

    @property
    def is_elsewhere(self) -> bool:
        """Whether bytes come from elsewhere when they are first read."""
        return self.reader.is_elsewhere

    def at_commit(self) -> Self:
        """The commit that is open now, as an object that stays as it is: its methods agree with one
        another, whatever refresh() does here meanwhile.
        """
        view = self._pinned()
        view.check_unchanged()
        return view

    def _pinned(self):
        """The commit that is open now, as an object that no refresh() changes."""
        view = object.__new__(type(self))
        with self._swap:
            view.__dict__.update(self.__dict__)
        view._is_pinned = True
        return view

    def refresh(self) -> bool:
        """Looks for a newer commit, or a newer file under the same name; True when there was one.

        Calls that are under way in other threads end with the commit that they began with. A new file that cannot be read
        leaves the old one open, and a closed one stays closed.
        """
        if self._is_closed:
            raise ValueError(f"{self.path} is closed")
        is_newer, is_settled = False, bool(self._options["generation"])
        while not is_settled and self._seen != self._identity():
            before, fresh = self._commit, self._pinned()
            fresh._open()
            del fresh._is_pinned
            with self._swap:
                if (
                    self._commit is not before
                ):  # another thread was faster, and may have seen an older commit
                    is_newer = True
                    continue
                is_settled = True
                if fresh._is_as_new_as(self):
                    self._seen = (
                        fresh._seen
                    )  # somebody is writing; what was read and remembered stays good
                elif not self._is_closed:
                    self.__dict__.update(fresh.__dict__)
                    is_newer = True
        return is_newer

    def _is_as_new_as(self, other):
        """Whether both have the same commit of the same file: what is committed never changes."""
        same = (
            self._commit[name] == other._commit[name]
            for name in ("identity", "generation", "end", "lost_generation")
        )
        return self._seen[:2] == other._seen[:2] and all(same)

    def __reduce__(self) -> Any:
        return _reopen, (type(self), self.path, self._options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._is_closed:
            return f"<{type(self).__name__} {self.path}, closed>"
        return f"<{type(self).__name__} {self.path}, {len(self):,} chunks, generation {self.generation}>"

    @property
    def _is_closed(self):
        return isinstance(self.segments, Closed)

    def close(self) -> None:
        """Lets the file go. Views that were handed out stay valid as long as they live."""
        with self._swap:
            self._map = self.reader = self.segments = _closed(self.path)
            self._made = {}


def _reopen(kind, path, options):
    return kind(path, **options)
