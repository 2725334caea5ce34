"""Statistics of a whole dataset, as a small RAGFile: the sample that calibrates fusion, with its vectors, and rag.frequencies,
the number of rows of each term.

Both are sums over shards. Rows, lengths and frequencies are integers that are added and subtracted. The sample is the rows
with the smallest hashes, so the smallest of all shards' samples are the whole's. A removed shard can bring up rows that no
sample lists (`Unlisted`); then all shards are read again. The same dataset always gives the same bytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.file import remote_prefetch
from ragfile.file.config import METRICS
from ragfile.file.sample_rows import TAKEN as SAMPLE
from ragfile.ground import system
from ragfile.ingest.analysis import Analysis, Statistics
from ragfile.records import Chunk
from ragfile.search.file_rows import FileRows
from ragfile.shards.shards import Shard
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ragfile.types import Floats, Vector

    Frequent = tuple[_core.Lexicon | _core.Frequencies, NDArray[np.uint64] | None, bool]

SECTION = "rag.frequencies"
KEPT = ("metric", "precision")  # of the configuration of the shards


class Unlisted(Exception):
    """The parts do not list all rows of the sample."""


class Sampled(NamedTuple):
    """A row of a sample. Rows are in order of hash, id and index."""

    hash: int
    doc_id: str
    chunk_index: int
    vector: Floats


class StatisticsPart(NamedTuple):
    """A shard that is added to the whole, or taken away."""

    archive: FileRows
    is_taken_away: bool = False


def sizes(archive: FileRows) -> tuple[int, int]:
    """Return (live rows, their summed length) of a shard."""
    found = [
        (segment.lexicon.live(segment.alive) if segment.has("rag.terms") else (segment.live, 0))
        for segment in archive.segments
        if segment.live
    ]
    return sum(rows for rows, _ in found), sum(length for _, length in found)


def sampled(archive: FileRows) -> list[Sampled]:
    """Return the rows of an archive with the smallest hashes, in order."""
    found: list[Sampled] = []
    for segment in archive.segments:
        if not (segment.live and segment.vector_count):
            continue
        for hash_, row in segment.records.sample(SAMPLE, segment.embedded):
            chunk = segment.records.chunk(row)
            name = segment.records.document(chunk.document).id
            found.append(Sampled(hash_, name, chunk.index, segment.stored_vectors(row, 1)[0]))
    return sorted(found, key=_rank)[:SAMPLE]


def _rank(row: Sampled) -> tuple[int, str, int]:
    return row.hash, row.doc_id, row.chunk_index


def write(
    path: str, before: FileRows | None, added: Sequence[FileRows], removed: Sequence[FileRows],
    rows: int, total_length: int, config: dict[str, Any],
) -> None:  # fmt: skip
    """Write the statistics of a whole: those before, plus added and minus removed shards (or their statistics)."""
    sample = _sample(before, added, removed, rows)
    kept = {name: config[name] for name in KEPT if name in config}
    metric = config.get("metric", METRICS[0])
    with create(
        path, metric=metric, precision=config.get("precision", 32), analysis=None, dim=config.get("dim"),
        created=0, config={**kept, "fusion": config.get("fusion"), "model": config.get("model")},
    ) as writer:  # fmt: skip
        chunks = [Chunk(row.doc_id, row.chunk_index, "") for row in sample]
        if chunks:
            writer.add(chunks, np.array([row.vector for row in sample]))
        if frequencies := _frequencies(before, added, removed, rows, total_length):
            writer.draft.add_section(SECTION, frequencies)


def _sample(
    before: FileRows | None, added: Sequence[FileRows], removed: Sequence[FileRows], rows: int
) -> list[Sampled]:
    """Return the sample of the whole, or raise Unlisted. Rows that are not listed have hashes above `known`."""
    old = [] if before is None else sampled(before)
    known = old[-1].hash if len(old) == SAMPLE else None
    gone = [row for row in old if any(_has(part, row) for part in removed)]
    lost = {(row.doc_id, row.chunk_index) for row in gone}
    kept = [row for row in old if (row.doc_id, row.chunk_index) not in lost]
    found = sorted([*kept, *(row for part in added for row in sampled(part))], key=_rank)[:SAMPLE]
    is_short = len(found) < min(SAMPLE, rows) or (found and known and found[-1].hash > known)
    if lost and known is not None and is_short:
        raise Unlisted
    return found


def _has(part: FileRows, row: Sampled) -> bool:
    return part.row(f"{row.doc_id}#{row.chunk_index}") is not None


def _frequencies(
    before: FileRows | None, added: Sequence[FileRows], removed: Sequence[FileRows], rows: int,
    total_length: int,
) -> bytes:  # fmt: skip
    """Return the bytes of rag.frequencies; none without a BM25 index."""
    parts = [
        *(part for archive in [before] if archive is not None for part in _counted(archive, False)),
        *(part for archive in added for part in _counted(archive, False)),
        *(part for archive in removed for part in _counted(archive, True)),
    ]
    out = bytearray()
    if parts:
        _core.merge_frequencies(parts, out.extend, rows, total_length)
    return bytes(out)


def _counted(archive: FileRows, is_taken_away: bool) -> list[Frequent]:
    """Return the term frequencies of an archive, to be added or subtracted."""
    section = archive.file.section(SECTION)
    if section is not None:
        return [(_core.Frequencies(section), None, is_taken_away)]
    return [
        (segment.lexicon, segment.alive, is_taken_away)
        for segment in archive.segments
        if segment.live and segment.has("rag.terms")
    ]


class Whole:
    """The open statistics of a dataset."""

    def __init__(
        self, url: str, cache: str | None = None, content: str = "", window: int = 0
    ) -> None:
        self.archive = Shard(url, cache, content, window).rows
        section = self.archive.file.section(SECTION)
        self._section = section
        self.frequencies = None if section is None else _core.Frequencies(section)
        self._sample: _core.Sample | None = None

    @property
    def stats(self) -> Statistics:
        """The sums that a shard needs to rank like the whole, without frequencies of terms."""
        assert self.frequencies is not None
        return Statistics(self.frequencies.rows, self.frequencies.total_length)

    @property
    def analysis(self) -> Analysis | None:
        """The analysis of the BM25 index; None without an index."""
        return None if self.frequencies is None else self.frequencies.analysis

    def queries(self, texts: list[str], more: Sequence[str] = ()) -> _core.Queries:
        """Return texts as terms with their frequencies in the whole; `more` terms are added to a single text."""
        assert self.frequencies is not None
        asker = self.frequencies.asker
        queries = asker.queries_with(texts[0], more) if more else asker.queries(texts)
        if self.archive.is_elsewhere:
            terms = {term for one in queries.terms() for term, _ in one}
            _core.ready([(self._section, *self.frequencies.place(term)) for term in sorted(terms)])
        return self.frequencies.queries(queries)

    def spelled(self, word: str, edits: int) -> dict[str, int]:
        """Return the number of rows of each term that begins with a word, or is at most so many edits away."""
        frequencies, section = self.frequencies, self._section
        assert frequencies is not None
        assert section is not None
        if self.archive.is_elsewhere:
            at, size = (0, len(section)) if edits else frequencies.stretch(word)
            _core.ready([(section, at, size)])
        return frequencies.near(word, edits) if edits else frequencies.beginning(word)

    def of(self, query: str) -> Statistics:
        """Return the statistics with the frequencies of a question's terms."""
        assert self.frequencies is not None
        queries = self.queries([query])
        counts = zip(queries.terms()[0], queries.frequencies()[0], strict=True)
        return replace(self.stats, df={term: rows for (term, _), rows in counts})

    def moments(self, vector: Vector) -> tuple[float, float]:
        """Return (mean, deviation) of a question's scores over the sample."""
        return self.sample().moments(vector)

    def sample(self) -> _core.Sample:
        """Return the vectors of the sample, kept together in memory."""
        if self._sample is None:
            segments = self.archive.segments
            remote_prefetch.whole(segments, "vector", "rag.chunks", "rag.documents", "rag.ids")
            vectors = [row.vector for row in sampled(self.archive)]
            shape = (0, self.archive.dim or 0)
            rows = np.array(vectors, dtype=np.float32) if vectors else np.empty(shape, np.float32)
            self._sample = _core.Sample(rows, self.archive.config.get("metric", METRICS[0]))
        return self._sample


def written(
    folder: str, before: FileRows | None, added: Sequence[FileRows], removed: Sequence[FileRows],
    rows: int, total_length: int, config: dict[str, Any],
) -> str:  # fmt: skip
    """Write statistics to a new file in a folder. Return its path."""
    path = system.unused_path(folder, "tmp", ".ragfile")
    write(path, before, added, removed, rows, total_length, config)
    return path
