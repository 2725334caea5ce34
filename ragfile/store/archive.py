"""An open 1.0 file: segments of rows, and what each row is.

Rows are numbered through the segments in order; a deleted row keeps its number until compaction. Everything is read from the
map when it is asked for; what is kept in memory is small and can be thrown away.
"""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.errors import ChangedError, CorruptError, FilterWarning, FormatError
from ragfile.ground.extras import optional
from ragfile.ground.fork_safe_lock import Lock
from ragfile.records import Chunk
from ragfile.store import (
    arrow,
    config,
    custom_sections,
    exact,
    filters,
    prefetch,
    row_sets,
    stored_columns,
)  # fmt: skip
from ragfile.store.metadata_columns import Labels
from ragfile.store.passages import Passages
from ragfile.store.row_segment import Segment, StoredDocument
from ragfile.store.row_sets import RowSet, RowSets
from ragfile.store.stored_columns import SegmentColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType
    from typing import Any, Concatenate, ParamSpec, Self, TypeGuard, TypeVar

    import pandas
    import pyarrow
    import pyarrow.dataset
    from numpy.typing import NDArray

    from ragfile.ground.signing_keys import PublicKey
    from ragfile.ingest.analysis import Analysis
    from ragfile.records import Document, Hit
    from ragfile.store.signatures import Signature
    from ragfile.types import (
        FieldWeights,
        Float32s,
        Int64s,
        PairStrategy,
        RowFilter,
        RowFilters,
        Rows,
        SectionEntry,
        StrPath,
        TagFilter,
        Vector,
        Vectors,
    )

    P = ParamSpec("P")
    R = TypeVar("R")
    Opened = TypeVar("Opened", bound="Archive")

RECORD_SIZE = _core.CHUNK_RECORD_SIZE
FRONT, FOOTER = 4096, 64  # bytes at the beginning of a file and at the end of a commit
# A section that stands on others, in the same segment.
RECORDS = ("rag.chunks", "rag.documents", "rag.ids", "rag.text", "rag.meta")
REQUIRES = {
    "rag.shadow": ("vector",),
    "rag.sample": ("vector",),
    "rag.planes": ("vector",),
    "rag.clusters": ("vector", "rag.clustered"),
    "rag.clustered": ("vector", "rag.clusters"),
    "rag.columns": RECORDS,
    "rag.terms": ("rag.postings",),
    "rag.postings": ("rag.terms",),
    "keyword": RECORDS,
}
REQUIRES |= dict.fromkeys((*RECORDS, "vector", "rag.bare"), RECORDS)


# Compaction pays when this share of a file is of the past, small change (bytes) aside, or rows lie in more segments than this.
PAYS_SHARE, PAYS_FROM, PAYS_SEGMENTS = 0.25, 64 << 10, 16


def _needs(name: str) -> Sequence[str]:
    """What a section stands on; those of a field's own words end in its number."""
    kind, _, number = name.rpartition(".")
    if kind in ("rag.terms", "rag.postings"):
        other = "rag.postings" if kind == "rag.terms" else "rag.terms"
        return "rag.terms", f"{other}.{number}"
    return REQUIRES.get(name, ())


def _are_stale_records(found: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(found, list) and all(
        isinstance(entry, dict)
        and "chunking" in entry
        and config.is_policy(entry["chunking"])
        and isinstance(entry.get("documents"), list)
        and all(isinstance(doc_id, str) for doc_id in entry["documents"])
        for entry in found
    )


class Standing(NamedTuple):
    """Where a row stands: what ties go by, and the first row of its document and the one after its last."""

    key: tuple[bytes, int]
    first: int
    end: int


class RowPlace(NamedTuple):
    """Where a row of the file lies: the segment, and the row's number there."""

    segment: Segment
    local: int


def _key_texts(keys):
    """Public keys as texts, which can be pickled; None where every file is good."""
    if keys is None:
        return None
    from ragfile.ground.signing_keys import PublicKey  # with hashlib, which opening does not need

    return [PublicKey.of(key).raw.hex() for key in keys]


def signature_fact(signature: Signature) -> dict[str, Any]:
    """A signature as info tells of it."""
    return {name: getattr(signature, name) for name in ("key_id", "signer", "signed", "is_current")}


def _require_signature(reader, texts, path):
    from ragfile.ground.signing_keys import PublicKey
    from ragfile.store import signatures

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


class Archive:
    """A 1.0 file opened for reading; see the package's open()."""

    _is_pinned = False
    _pins = False  # whether shadows are copied into huge pages

    path: str
    rows: int
    reader: _core.Reader
    segments: list[Segment]
    _map: Any

    def __init__(
        self, path: StrPath, *, generation: int = 0, strict: bool = False,
        trusted: Iterable[PublicKey | StrPath | bytes] | None = None,
    ) -> None:  # fmt: skip
        self.path = os.fspath(path)
        self._options = {"generation": generation, "strict": strict, "trusted": _key_texts(trusted)}
        self._swap = Lock()
        self._open()

    @classmethod
    def over(cls, reader: _core.Reader, path, *, strict: bool = False) -> Archive:
        """The commit that a reader has open already."""
        archive = cls.__new__(cls)
        archive.path = os.fspath(path)
        archive._options = {"generation": 0, "strict": strict, "trusted": None}
        archive._swap, archive._map = Lock(), reader.owner
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
            self.segments.append(Segment(self.reader, record, base))
            base += record.rows
        self.rows = base
        metric = self.config.get("metric", "cosine")
        for segment in self.segments:
            segment.metric, segment.is_pinned = metric, self._pins

    def _check_needs(self):
        """Sections stand on one another; one without its ground is refused by name."""
        there = {(entry["segment"], entry["name"]) for entry in self.reader.entries}
        for segment, name in there:
            missing = next((n for n in _needs(name) if (segment, n) not in there), None)
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

    def _pinned(self):
        """The commit that is open now, as an object that no refresh() changes."""
        view = object.__new__(type(self))
        with self._swap:
            view.__dict__.update(self.__dict__)
        view._is_pinned = True
        return view

    def at_commit(self) -> Self:
        """The commit that is open now, as an object that stays as it is: its methods agree with one
        another, whatever refresh() does here meanwhile.
        """
        view = self._pinned()
        view.check_unchanged()
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

    # ------------------------------------------------------------------------------------------------ what is in it --

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

    @property
    def stale_records(self) -> list[dict[str, Any]]:
        """What rag.stale says: [{"chunking": policy, "documents": ids}], the documents cut by another policy than the file's."""
        section = self.reader.section("rag.stale")
        if section is None:
            return []
        section.check()
        try:
            found = json.loads(bytes(section).decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            found = None
        if not _are_stale_records(found) or config.is_too_deep(found):
            raise CorruptError(
                f"{self.path}: rag.stale is not a list of documents by chunk policy",
                section="rag.stale",
            )
        return found

    @property
    def compaction(self) -> str:
        """Why compaction would pay, or ""."""
        size, kept = len(self._map), PAYS_FROM
        live = {
            segment.number: segment.live / segment.rows if segment.rows else 1
            for segment in self.segments
        }
        kept += sum(e["extent"] * live.get(e["segment"], 1) for e in self.reader.entries)
        if size - kept > size * PAYS_SHARE:
            return f"about {(size - kept) / size:.0%} of the file is of the past"
        if len(self.segments) > PAYS_SEGMENTS:
            return f"the rows lie in {len(self.segments)} segments"
        return ""

    @property
    def dim(self) -> int | None:
        """Components of a vector; None in a file without vectors."""
        return self.config.get("dim")

    @property
    def strategies(self) -> list[str]:
        """Names of the sections, in file order."""
        return list(dict.fromkeys(entry["name"] for entry in self.reader.entries))

    @property
    @of_one_commit
    def info(self) -> dict[str, Any]:
        """The file at a glance."""
        commit = self._commit
        prefetch.whole(
            [s for s in self.segments if s.has_deletions],
            "rag.documents",
            "rag.ids",
            "rag.tombs",
            "rag.gone",
        )
        return {
            "path": self.path, "format": "1.0", "size": len(self._map), "generation": self.generation,
            "created": commit["created"], "message": commit["message"], "identity": f"{commit['identity']:016x}",
            "chunks": len(self), "deleted": self.rows - len(self), "segments": len(self.segments),
            "documents": sum(segment.document_count() for segment in self.segments if segment.has("rag.ids")),
            "dim": self.dim, "metric": self.config.get("metric"), "model": self.config.get("model"),
            "strategies": self.strategies, "read_only": commit["read_only"], "tail": commit["tail"],
            "recovered": commit["lost_generation"] != 0,
            "lost_generation": self._numbered(commit["lost_generation"]) if commit["lost_generation"] else 0,
            "stale": sum(len(entry["documents"]) for entry in self.stale_records), "compaction": self.compaction,
            "parity": self.config.get("parity", 0) if self.reader.has("rag.parity") else 0,
            "signatures": [signature_fact(signature) for signature in self.signatures],
            "pinned": sum(segment.pinned_size for segment in self.segments),
        }  # fmt: skip

    @property
    def has_lost_commit(self) -> bool:
        """Whether a newer commit was made and is damaged; info says which."""
        return bool(self._commit["lost_generation"])

    @property
    def signatures(self) -> list[Signature]:
        """Who signed the file, as far as it says so: `trusted=` of open() checks it."""
        from ragfile.store import signatures

        return signatures.signatures(self.reader) if self.reader.has("rag.signatures") else []

    @property
    def entries(self) -> list[SectionEntry]:
        """The table of contents: one dict a section."""
        entries = self.reader.entries
        for entry in entries:
            entry["generation"] = self._numbered(entry["generation"])
        return entries

    def section(self, name: str, segment: int | None = None) -> _core.Section | None:
        """The bytes of a section, as a read-only buffer with lazy checksums; None when there is none."""
        if segment is not None:
            return self.reader.section(name, segment)
        numbers = [0, *(s.number for s in self.segments)]
        return next(
            (found for n in numbers if (found := self.reader.section(name, n)) is not None), None
        )

    def strategy(self, name: str) -> Any:
        """The searcher of a section that somebody registered a strategy for."""
        section = self.section(name)
        if section is None:
            raise KeyError(f"{self.path} has no section {name!r}")
        return custom_sections.opener(name)(section, self)

    def raw(self, at: int, size: int) -> bytes:
        """A copy of bytes of the file, as many as there are."""
        if self.reader.is_elsewhere:
            return self._map.read(at, size)
        return bytes(memoryview(self._map)[at : at + size])

    def rows_in(self, start: int, end: int) -> list[int]:
        """The live rows whose records begin at bytes [start, end) of the file: any partition of the file gives each row once.

        This is how a file is split between workers that know only byte ranges.
        """
        found = []
        for segment in self.segments:
            at = self.reader.entry("rag.chunks", segment.number)["at"]
            first, last = (
                min(max(-(-(edge - at) // RECORD_SIZE), 0), segment.rows) for edge in (start, end)
            )
            found.extend(segment.base + row for row in range(first, last) if segment.is_live(row))
        return found

    @property
    def footer(self) -> tuple[int, int]:
        """(offset, bytes) of what ends the commit that is open."""
        return self._commit["end"] - FOOTER, FOOTER

    def verify(self, full: bool = True) -> tuple[list[tuple[str, int, str, str]], dict[str, int]]:
        """(faults, counts) of every byte of the file."""
        return self.reader.verify(full)

    # -------------------------------------------------------------------------------------------------------- rows --

    def place(self, row: int) -> RowPlace:
        """Which segment has a row, and as what number."""
        if not 0 <= row < self.rows:
            raise IndexError(f"row {row} of {self.rows}")
        segment = self.segments[exact.place(self.segments, row)]
        return RowPlace(segment, int(row - segment.base))

    def _live_place(self, row) -> RowPlace:
        if not (self._is_pinned or self._is_untouched()):
            self._pinned().check_unchanged()
        found = self.place(row)
        if not found.segment.is_live(found.local):
            raise _deleted(row)
        return found

    def chunk(self, row: int) -> Chunk:
        """The Chunk of a row; its metadata includes the document's."""
        segment, local = self._live_place(row)
        hit = segment.hit(local)
        return Chunk(
            hit.doc_id, hit.chunk_index, hit.text, hit.tags, hit.metadata, hit.start, hit.end
        )

    def hit(
        self,
        row: int,
        score: float = 0.0,
        score_type: str = "score",
        scores: dict[str, float] | None = None,
    ) -> Hit:
        """The Hit of a row."""
        segment, local = self._live_place(row)
        hit = segment.hit(local)
        hit.score, hit.score_type = score, score_type
        if scores:
            hit.scores = scores
        hit._source = self.passages(), row, ()
        return hit

    def metadata_of(self, row: int) -> dict[str, Any]:
        """The metadata of a row, with its document's; its text is not read."""
        segment, local = self._live_place(row)
        return segment.labels(local)[1]

    def passages(self) -> Passages:
        """What reads the rows of the commit that is open now, for as long as somebody needs them."""
        view = object.__new__(Archive)
        with self._swap:
            view.__dict__.update(self.__dict__)
        view.__dict__.pop("_answers", None)  # which keep hits, which keep this
        view._is_pinned = True
        return Passages(view)

    def row(self, chunk_id: str) -> int | None:
        """The live row of a chunk id ("document#index"), or None."""
        doc_id, _, index = chunk_id.rpartition("#")
        if not (index.isascii() and index.isdecimal()) or int(index) >= 1 << 32:
            return None
        there = self.find(doc_id)
        if there is None:
            return None
        row = there.segment.records.row(there.number, int(index))
        return None if row is None else there.segment.base + row

    def find(self, doc_id: str) -> StoredDocument | None:
        """Where a live document lies: an id lives in one segment at most."""
        prefetch.ids(self.segments)
        found = (segment.find(doc_id) for segment in reversed(self.segments))
        return next((there for there in found if there is not None), None)

    def vectors(self, segment: int | None = None) -> NDArray[np.floating[Any]] | None:
        """The stored vectors of the live rows, in the order of live_rows(); None where there are none.

        They are a view of the map, without a copy, where the file has one segment and no deleted rows. Otherwise
        they are copied together. A row without a vector is NaN. With `segment`, the vectors are those of that segment alone. The first call checks
        all of the section's bytes, since nobody can watch the use of a view: seven milliseconds for 150 MB in memory,
        else a read of the section. For single rows there is vector(row), which checks what it gives.
        """
        chosen = self.segments if segment is None else [self.segments[segment]]
        found: list[Any] = [part.live_vectors() for part in chosen if part.live]
        if all(part is None for part in found):
            return None
        if len(found) == 1:
            return found[0]
        width = next(part.shape[1] for part in found if part is not None)
        return np.concatenate([
            np.full((one.live, width), np.nan, np.float32) if part is None else part
            for one, part in zip((s for s in chosen if s.live), found, strict=True)
        ])  # fmt: skip

    def pairs(self, name: PairStrategy) -> Iterator[tuple[Any, str]]:
        """(vector, reference) or (reference, text) of each pair of the `vector` or `keyword` sections, in place."""
        if name not in ("keyword", "vector"):
            raise ValueError(f"pairs are in 'keyword' and 'vector', not in {name!r}")
        for segment in self.segments:
            if not segment.has(name):
                continue
            if name == "keyword":
                yield from segment.live_keyword_pairs()
            else:
                for row, vector in enumerate(segment.stored_vectors(0, segment.rows)):
                    if segment.is_live(row):
                        yield vector, f"c{row:010d}"

    def lookup(self, keyword: str) -> list[str]:
        """The texts of all `keyword` pairs with this key."""
        kept = [segment for segment in self.segments if segment.has("keyword")]
        return [text for segment in kept for text in segment.lookup(keyword)]

    def vector(self, row: int) -> NDArray[np.floating[Any]]:
        """The stored vector of a row, a view of the map."""
        segment, local = self._live_place(row)
        vectors = segment.stored_vectors(local, 1)
        if segment.has_bare_rows and segment.bare_mask()[local]:
            if not self.has_vectors:
                raise ValueError(f"{self.path} has no vectors")
            raise ValueError(f"row {row} has no vector: vector_mask() tells which rows have one")
        return vectors[0]

    def _vector_or_nan(self, row):
        segment, local = self._live_place(row)
        if segment.has_bare_rows and segment.bare_mask()[local]:
            return np.full(self.dim or 0, np.nan, np.float32)
        return segment.stored_vectors(local, 1)[0]

    # ------------------------------------------------------------------------------------------------ many rows at once --

    def _looked_at(self, what: str, rows: Any) -> dict[int, Any]:
        """What stands at some live rows, by row: their "hits", "ids", "keys", "standings", "metadata", "contents" or "vectors"."""
        rows, look = np.asarray(rows, np.int64).tolist(), _LOOKS[what]
        if self.is_elsewhere:
            self._bring(what, rows)
        return {row: look(self, row) for row in rows}

    def _bring(self, what, rows):
        if what == "vectors":
            prefetch.vector_rows(self.segments, rows)
        elif what in ("keys", "standings"):
            prefetch.whole(self.segments, "rag.chunks", "rag.documents", "rag.ids")
        else:
            prefetch.passages(self.segments, rows)

    def vectors_of(self, rows: Iterable[int]) -> NDArray[np.float32]:
        """The vectors of live rows, one after the other; NaN for a row without one."""
        wanted = list(rows)
        known = self._looked_at("vectors", wanted)
        found = np.full((len(wanted), self.dim or 0), np.nan, np.float32)
        for i, row in enumerate(wanted):
            if len(known[row]) == found.shape[1]:
                found[i] = known[row]
        return found

    # ------------------------------------------------------------------------------------------------- exact search --

    @property
    @of_one_commit
    def columns(self) -> Labels:
        """Metadata and tags of every row as columns in memory; made on first use. Filters take segment_columns."""
        columns = self._made.get("columns")
        if columns is None:
            prefetch.whole(self.segments, "rag.meta", "rag.chunks", "rag.documents", "rag.ids")
            columns = self._made["columns"] = Labels(self.segments)
        return columns

    @property
    def segment_columns(self) -> list[SegmentColumns]:
        """Metadata and tags of each segment as columns, for filters; made on first use."""
        columns = self._made.get("segment columns")
        if columns is None:
            stored_columns.heads(self.segments)
            columns = self._made["segment columns"] = [SegmentColumns(s) for s in self.segments]
        return columns

    def passing(self, chosen: filters.Filter) -> RowSet:
        """The live rows that pass a filter."""
        if not chosen:
            return RowSet(None)
        columns = self.segment_columns
        stored_columns.bring(columns, [*chosen.paths, *([None] if chosen.has_tags else [])])
        return RowSet.of_segments(self.segments, [chosen.words(each) for each in columns])

    @of_one_commit
    def mask(
        self, where: RowFilter | None = None, tags_any: TagFilter = (), tags_all: TagFilter = ()
    ) -> NDArray[np.bool_] | None:
        """bool[rows] of a condition, or None when there is none. A mask is passed on; row numbers become one."""
        return self.row_set(where, tags_any, tags_all).mask

    def row_set(
        self,
        where: RowFilter | RowSet | None = None,
        tags_any: TagFilter = (),
        tags_all: TagFilter = (),
    ) -> RowSet:
        """The same as all retrievers take it: made once a question."""
        if isinstance(where, RowSet):
            return where
        if isinstance(where, Mapping) or where is None:
            chosen = filters.compile(where, tags_any=tags_any, tags_all=tags_all)
            found = self.passing(chosen)
            self._warn_of_unknown(chosen.paths)
            return found
        mask, tags = self._mask_of(where), self.mask(None, tags_any, tags_all)
        return RowSet(self.alive(mask) if tags is None else mask & tags)

    def _mask_of(self, where):
        if row_sets.are_ids(where):
            return row_sets.mask_of(self._rows_of(where), self.rows)
        rows = np.asarray(where)
        is_other = rows.ndim != 1 or (rows.size and rows.dtype.kind not in "biu")
        if isinstance(where, str | bytes) or is_other:
            raise TypeError(
                "where is a filter (a dict), a bool for each row, row numbers, or ids, "
                f"not {where!r:.80}"
            )
        return row_sets.mask_of(rows, self.rows)

    def _rows_of(self, ids):
        """The rows of chunks and documents by their ids; unknown ids are passed over."""
        found = [row for name in ids if (row := self.row(name)) is not None]
        for there in (there for name in ids if (there := self.find(name)) is not None):
            found += there.file_rows
        return np.array(found, np.int64)

    def _warn_of_unknown(self, paths):
        """Once a commit and key: a misspelt key finds nothing, and nobody would know why."""
        told = self._made.setdefault("unknown keys", set())
        for path in set(paths) - told if len(self) else ():
            if not self.has_values_at(path):
                told.add(path)
                said = f"{self.path}: no chunk has {path!r} in its metadata, so this filter does not see it"
                warnings.warn(said, FilterWarning, stacklevel=5)

    def has_values_at(self, path: str) -> bool:
        """Whether a row has a value at a path of metadata."""
        return any(len(columns.column(path)) for columns in self.segment_columns)

    def alive(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The mask, false for deleted rows."""
        return mask if len(self) == self.rows else mask & self._live

    def live_rows(self) -> Int64s:
        """The numbers of the rows that are not deleted, in order, as int64. There are len(rf) of them."""
        return np.flatnonzero(self._live)

    @property
    def _live(self):
        """bool[rows]: what is not deleted."""
        found = self._made.get("live")
        if found is None:
            masks = [segment.live_mask() for segment in self.segments]
            found = np.concatenate(masks) if masks else np.empty(0, bool)
            self._made["live"] = found
        return found

    def _check_live(self, rows):
        if len(self) < self.rows:
            dead = rows[~self._live[rows]]
            if len(dead):
                raise _deleted(dead[0])

    @property
    def is_elsewhere(self) -> bool:
        """Whether bytes come from elsewhere when they are first read."""
        return self.reader.is_elsewhere

    @property
    def has_vectors(self) -> bool:
        """Whether there are chunks with vectors; vector_mask() tells which, where some have none."""
        return any(segment.live and segment.vector_count for segment in self.segments)

    def vector_mask(self) -> NDArray[np.bool_]:
        """bool[rows]: whether a row has a vector. It can be a filter: `where=~rf.vector_mask()`."""
        found = self._made.get("vector mask")
        if found is None:
            masks = [segment.vector_mask() for segment in self.segments]
            found = np.concatenate(masks) if masks else np.empty(0, bool)
            found.flags.writeable = False
            self._made["vector mask"] = found
        return found

    @property
    def has_bare_rows(self) -> bool:
        """Whether there are live chunks without a vector beside some that have one."""
        found = self._made.get("has bare rows")
        if found is None:
            found = any(segment.has_bare_rows for segment in self.segments if segment.live)
            found = found and 0 < int(self.vector_mask().sum()) < len(self)
            self._made["has bare rows"] = found
        return found

    @property
    def has_bm25(self) -> bool:
        """Whether there are chunks in a BM25 index."""
        return any(segment.live and segment.has("rag.terms") for segment in self.segments)

    def _at_most(self, k):
        """k, or the number of live rows where there are fewer: room for more would be wasted."""
        if index(k) < 0:
            raise ValueError(f"k must not be negative, not {k}")
        return min(index(k), len(self))

    def _searched(self, name):
        """The segments with live rows, all of which must have the section."""
        found = self._made.get(name)
        if found is None:
            live = [segment for segment in self.segments if segment.live]
            found = exact.Segments(self._having(name, live), name == "vector")
            if not all(segment.has(name) for segment in found) or (live and not found):
                raise ValueError(f"{self.path} has no section {name}")
            self._made[name] = found
        return found

    def _having(self, name, live):
        """Segments without those that say that none of their rows has a vector, where vectors are asked."""
        if name != "vector":
            return live
        return [s for s in live if s.vector_count or not (s.has("rag.bare") or s.has("vector"))]

    @of_one_commit
    def nearest(
        self, vectors: Vector | Vectors, k: int | None = 10, *, where: RowFilters | RowSet | RowSets | None = None,
        threads: int | None = None, least: Vector | float | None = None, effort: float = 1.0,
        recall: NDArray[np.float64] | None = None,
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """The k best rows for each query vector, exactly: rows int64[m, k], scores float32[m, k], best first.

        where is a filter, a bool for each row, row numbers, ids, or a list with one of these for each query. k is at
        most the number of live rows. least is a score that rows must reach, one for all queries or one for each: the
        search is faster for knowing it. What is left over is row -1 with score -inf. With k=None, all rows that reach
        least are found, and the arrays are as wide as the longest answer.

        effort is the share of the rows that is looked at, where they lie in clusters: below 1, the most promising
        clusters first. recall, an array of m float64, then takes the share of the k best that each answer has: 1
        where bounds prove that it has all, and else an estimate.
        """
        queries = np.asarray(vectors)
        if least is not None:
            least = row_sets.one_for_each(least, 1 if queries.ndim == 1 else len(queries))
        if k is None:
            return exact.all_reaching(
                lambda k: self.nearest(
                    vectors,
                    k,
                    where=where,
                    threads=threads,
                    least=least,
                    effort=effort,
                    recall=recall,
                ),
                len(self),
            )
        k = self._at_most(k)
        count = 1 if queries.ndim == 1 else len(queries)
        return self._near(queries, k, self._sets_of(where, count), threads, least, effort, recall)

    def _near(self, queries, k, rows, threads, least, effort, recall):
        """The same for one set of rows, or one for each query."""
        if recall is not None:
            recall[:] = 1.0
        segments = self._searched("vector")
        if not segments:
            return exact.nothing(1 if queries.ndim == 1 else len(queries), k)
        prefetch.vectors(segments)
        return exact.nearest(
            segments, queries, k, rows.words(segments), threads, least, effort, recall
        )

    @of_one_commit
    def match(
        self, texts: str | Iterable[str], k: int | None = 10, *, where: RowFilters | RowSet | RowSets | None = None,
        threads: int | None = None, k1: float | None = None, b: float | None = None,
        least: Vector | float | None = None, fields: FieldWeights | None = None,
    ) -> tuple[Int64s, Float32s]:  # fmt: skip
        """As nearest, by BM25 over the text. A row without any of the terms is not found.

        fields gives fields of the index other weights than the file's, such as {"headers": 3}; scores have the bits of
        a file that was built with these, and 0 leaves a field out.
        """
        texts = [texts] if isinstance(texts, str) else list(texts)
        if least is not None or k is None:
            floors = row_sets.one_for_each(-np.inf if least is None else least, len(texts))
            return exact.all_reaching(
                lambda k: exact.reaching(
                    self.match(texts, k, where=where, threads=threads, k1=k1, b=b, fields=fields),
                    floors,
                ),
                len(self) if k is None else self._at_most(k),
            )
        k = self._at_most(k)
        return self._matched(
            texts, k, self._sets_of(where, len(texts)), threads, k1=k1, b=b, fields=fields
        )

    def _sets_of(self, where, count) -> Any:
        """The rows that all of so many questions may find, or each of them."""
        if isinstance(where, RowSets) or not row_sets.is_one_each(where):
            return where if isinstance(where, RowSets) else self.row_set(where)
        if len(where) != count:
            raise ValueError(f"where has {len(where)} filters for {count} questions")
        return RowSets.of(where, self.row_set)

    def _matched(self, texts, k, rows, threads, *, k1=None, b=None, queries=None, fields=None):
        """The same for one set of rows; queries are the texts as terms, where they are known."""
        segments = self._searched("rag.terms")
        if not segments:
            return exact.nothing(len(texts), k)
        prefetch.terms(segments)
        sets, weights = rows.words(segments), self._weights(segments, fields)
        return exact.match(segments, texts, k, sets, threads, k1, b, queries, weights)

    @property
    def analysis(self) -> Analysis | None:
        """How the texts became the words of the BM25 index; None without one."""
        return self._searched("rag.terms")[0].lexicon.analysis if self.has_bm25 else None

    def _weights(self, segments, fields):
        """The weights of all fields of BM25 that a question asks for by name, or None for the file's own."""
        weights = self.analysis.weights_for(fields) if fields and self.analysis else None
        if weights is not None:
            segments.attach_fields(self.path)
        return weights

    @of_one_commit
    def score(
        self, rows: Rows, *, text: str | None = None, vector: Vector | None = None, k1: float | None = None,
        b: float | None = None, fields: FieldWeights | None = None,
    ) -> Float32s:  # fmt: skip
        """The exact score of each of these rows, for a text by BM25 or for a vector by the file's metric.

        The rows of an answer can be given as they are: -1, which fills it up, scores -inf. A row without a vector
        scores NaN. Deleted rows are refused.
        """
        wanted = np.asarray(rows)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise TypeError(f"rows are a list of row numbers, not {rows!r:.80}")
        if (text is None) == (vector is None):
            raise ValueError("score needs a text or a vector: give text= or vector=")
        is_plain = wanted.size and wanted.min() >= 0 and wanted.max() < self.rows == len(self)
        asked: Any = {"text": text, "vector": vector, "k1": k1, "b": b, "fields": fields}
        if is_plain:
            return self.scores_of(wanted, **asked)
        self._check_live(row_sets.checked_rows(wanted, self.rows))
        named = wanted != -1
        scores = np.full(len(wanted), exact.NOTHING, np.float32)
        scores[named] = self.scores_of(wanted[named], **asked)
        return scores

    def scores_of(
        self, rows: Int64s, *, text: str | None = None, vector: Vector | None = None,
        k1: float | None = None, b: float | None = None, fields: FieldWeights | None = None,
    ) -> Float32s:  # fmt: skip
        """The same of live rows that a search found."""
        if vector is not None:
            segments = self._searched("vector")
            prefetch.vector_rows(segments, rows)
            return exact.vector_scores(segments, rows, vector)
        segments = self._searched("rag.terms")
        prefetch.terms(segments)
        return exact.bm25_scores(segments, rows, text, k1, b, self._weights(segments, fields))

    # ------------------------------------------------------------------------------------------------------- tables --

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The live chunks for anything that takes Arrow streams: texts, ids, metadata with types, vectors. Needs no extra."""
        return arrow.arrow_stream(self)

    def to_dataset(self) -> pyarrow.dataset.Dataset:
        """The live chunks as a dataset for DuckDB, polars and pyarrow, which reads the columns that a query
        names of the rows that pass its conditions.
        """
        optional("pyarrow.dataset", "a dataset of chunks")
        from ragfile.store.arrow_dataset import FileDataset

        return FileDataset(self)

    def to_arrow(self) -> pyarrow.Table:
        """The live chunks as a pyarrow.Table."""
        return arrow.arrow_reader(self).read_all()

    def to_pandas(self) -> pandas.DataFrame:
        """The live chunks as a pandas.DataFrame."""
        return self.to_arrow().to_pandas()

    # --------------------------------------------------------------------------------------------------- documents --

    def documents(self) -> Iterator[Document]:
        """Every document, in order of segment and id."""
        prefetch.whole(self.segments, "rag.chunks", "rag.documents", "rag.ids")
        for segment in self.segments:
            for there in segment.live_documents():
                yield there.read()

    def document_ids(self) -> list[str]:
        """The ids of all documents, in order; no text is read."""
        prefetch.whole(self.segments, "rag.tombs", "rag.documents", "rag.ids")
        return sorted(there.id for segment in self.segments for there in segment.live_documents())

    def document(self, doc_id: str) -> Document | None:
        """The Document with this id, or None."""
        view = self if self._is_pinned else self._pinned()
        view.check_unchanged()
        there = view.find(doc_id)
        return None if there is None else there.read()

    @of_one_commit
    def sources(self, chunk_ids: str | Iterable[str]) -> list[Document]:
        """The documents that these chunks are from, each once, in order of first mention; unknown ids are passed over."""
        chunk_ids = [chunk_ids] if isinstance(chunk_ids, str) else chunk_ids
        ids = dict.fromkeys(c.rpartition("#")[0] for c in chunk_ids if self.row(c) is not None)
        found = (self.document(doc_id) for doc_id in ids)
        return [document for document in found if document is not None]

    @of_one_commit
    def context(self, chunk_id: str, before: int = 200, after: int = 200) -> str:
        """The chunk's text with up to so many characters of its document on either side."""
        row = self.row(chunk_id)
        if row is None:
            raise KeyError(chunk_id)
        chunk, document = self.chunk(row), self.document(chunk_id.rpartition("#")[0])
        if document is None or chunk.start < 0 or not document.text:
            return chunk.content
        return document.text[max(0, chunk.start - before) : chunk.end + after]


def _standing(archive, row):
    segment, local = archive.place(row)
    there = segment.document(segment.records.chunk(local).document).file_rows
    return Standing(segment.records.key(local), there.start, there.stop)


def _key(archive, row):
    segment, local = archive.place(row)
    return segment.records.key(local)


def _id(archive, row):
    segment, local = archive.place(row)
    return segment.identity(local)[0]


_LOOKS = {
    "hits": Archive.hit,
    "ids": _id,
    "keys": _key,
    "standings": _standing,
    "metadata": Archive.metadata_of,
    "contents": lambda archive, row: archive.chunk(row).content,
    "vectors": Archive._vector_or_nan,
}


def _deleted(row):
    return IndexError(f"row {row} is deleted: live_rows() lists the rows that are left")


def _reopen(kind, path, options):
    return kind(path, **options)
