"""What holds for a whole collection, as a small RAGFile of its own: the sample that calibrates fusion, with its vectors,
and rag.frequencies, the number of rows of each term.

Both are sums of their parts. Rows, lengths and frequencies are whole numbers that are added and taken away. The sample is
the rows with the smallest hashes, so that the smallest of all parts' are those of the whole; what a part loses can bring up
rows that nobody listed, and then (`Unlisted`) all shards are looked at again. The same collection gives the same bytes.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragfile import _core
from ragfile.file import prefetch
from ragfile.file.config import METRICS
from ragfile.file.sample_rows import TAKEN as SAMPLE
from ragfile.ingest.analysis import Analysis, Statistics
from ragfile.records import Chunk
from ragfile.search.file_rows import FileRows
from ragfile.shards.shards import Shard
from ragfile.write.writer import create

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SECTION = "rag.frequencies"
KEPT = ("metric", "precision")  # of the configuration of the shards


class Unlisted(Exception):
    """The sample cannot be told from what the parts list."""


class Sampled(NamedTuple):
    """A row of a sample. The hash decides, and two equal ones the id and the index."""

    hash: int
    doc_id: str
    chunk_index: int
    vector: Any


class StatisticsPart(NamedTuple):
    """What a whole is made of, or loses."""

    archive: FileRows
    is_taken_away: bool = False


def sizes(archive: FileRows) -> tuple[int, int]:
    """(live rows, their summed length) of a shard."""
    found = [
        (segment.lexicon.live(segment.alive) if segment.has("rag.terms") else (segment.live, 0))
        for segment in archive.segments
        if segment.live
    ]
    return sum(rows for rows, _ in found), sum(length for _, length in found)


def sampled(archive: FileRows) -> list[Sampled]:
    """The rows of an archive with the smallest hashes, the smallest first."""
    found = []
    for segment in archive.segments:
        if not (segment.live and segment.vector_count):
            continue
        for hash_, row in segment.records.sample(SAMPLE, segment.embedded):
            chunk = segment.records.chunk(row)
            name = segment.records.document(chunk.document).id
            found.append(Sampled(hash_, name, chunk.index, segment.stored_vectors(row, 1)[0]))
    return sorted(found, key=_rank)[:SAMPLE]


def _rank(row):
    return row.hash, row.doc_id, row.chunk_index


def write(
    path: str, before: FileRows | None, added: Sequence[FileRows], removed: Sequence[FileRows],
    rows: int, total_length: int, config: dict[str, Any],
) -> None:  # fmt: skip
    """Writes the statistics of a whole: those before it, and the shards (or their statistics) that came and went."""
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


def _sample(before, added, removed, rows):
    """The sample of the whole, or Unlisted. What is not listed has hashes above `known`."""
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


def _has(part, row):
    return part.row(f"{row.doc_id}#{row.chunk_index}") is not None


def _frequencies(before, added, removed, rows, total_length):
    """The bytes of rag.frequencies; none where the collection has no BM25 index."""
    parts = [
        *(part for archive in [before] if archive is not None for part in _counted(archive, False)),
        *(part for archive in added for part in _counted(archive, False)),
        *(part for archive in removed for part in _counted(archive, True)),
    ]
    out = bytearray()
    if parts:
        _core.merge_frequencies(parts, out.extend, rows, total_length)
    return bytes(out)


def _counted(archive, is_taken_away):
    section = archive.file.section(SECTION)
    if section is not None:
        return [(_core.Frequencies(section), None, is_taken_away)]
    return [
        (segment.lexicon, segment.alive, is_taken_away)
        for segment in archive.segments
        if segment.live and segment.has("rag.terms")
    ]


class Whole:
    """The statistics of a dataset, open for questions."""

    def __init__(
        self, url: str, cache: str | None = None, content: str = "", window: int = 0
    ) -> None:
        self.archive = Shard(url, cache, content, window).rows
        section = self.archive.file.section(SECTION)
        self._section: Any = section  # of the core, or None
        self.frequencies = None if section is None else _core.Frequencies(section)
        self._sample = None

    @property
    def stats(self) -> Statistics:
        """What a shard needs to rank like the whole, beside the frequencies of terms."""
        assert self.frequencies is not None
        return Statistics(self.frequencies.rows, self.frequencies.total_length)

    @property
    def analysis(self) -> Analysis | None:
        return None if self.frequencies is None else self.frequencies.analysis

    def queries(self, texts: list[str], more: Sequence[str] = ()) -> _core.Queries:
        """Texts as terms that know in how many rows of the whole they occur; more terms go to the one text there is."""
        assert self.frequencies is not None
        asker = self.frequencies.asker
        queries = asker.queries_with(texts[0], more) if more else asker.queries(texts)
        if self.archive.is_elsewhere:
            terms = {term for one in queries.terms() for term, _ in one}
            _core.ready([(self._section, *self.frequencies.place(term)) for term in sorted(terms)])
        return self.frequencies.queries(queries)

    def spelled(self, word: str, edits: int) -> dict[str, int]:
        """The terms that begin with a word, or are so many edits away, with how many rows have them."""
        frequencies, section = self.frequencies, self._section
        assert frequencies is not None
        if self.archive.is_elsewhere:
            at, size = (0, len(section)) if edits else frequencies.stretch(word)
            _core.ready([(section, at, size)])
        return frequencies.near(word, edits) if edits else frequencies.beginning(word)

    def of(self, query: str) -> Statistics:
        """The same sums, with the frequencies of a question's terms."""
        assert self.frequencies is not None
        terms = [term for term, _ in self.queries([query]).terms()[0]]
        return replace(self.stats, df={term: self.frequencies.df(term) for term in terms})

    def moments(self, vector: Any) -> tuple[float, float]:
        """(mean, deviation) of a question's scores over the sample."""
        if self._sample is None:
            segments = self.archive.segments
            prefetch.whole(segments, "vector", "rag.chunks", "rag.documents", "rag.ids")
            vectors = [row.vector for row in sampled(self.archive)]
            shape = (0, len(vector))
            rows = np.array(vectors, dtype=np.float32) if vectors else np.empty(shape, np.float32)
            self._sample = _core.Sample(rows, self.archive.config.get("metric", METRICS[0]))
        return self._sample.moments(vector)


def written(folder: str, *arguments: Any) -> str:
    """The path of statistics that were written to a new file in a folder."""
    handle, path = tempfile.mkstemp(dir=folder, suffix=".ragfile")
    os.close(handle)
    os.unlink(path)
    write(path, *arguments)
    return path
