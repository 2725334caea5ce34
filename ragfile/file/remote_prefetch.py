"""Fetch the bytes that a call will read in few requests, if the file is remote. Local files need none of this.

Without these plans everything works block by block; with them a question costs a few round trips:

    tables    all but texts and vectors, where that is little                        the first question
    terms     rag.terms whole, the block hashes of rag.postings, deletions          the first question by words
    lists     the posting lists of the question's terms
    positions what precedes the lists of rag.positions, then the lists of a phrase's words
    vectors   the shadow whole, the head and the block hashes of vector             the first question by vector
    passages  chunk records → documents and ids → their bytes, texts and metadata
"""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, NamedTuple

from ragfile import _core
from ragfile.file.section_table import PREFETCHED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragfile.file.row_segment import RowSegment
    from ragfile.types import Int64s

    Want = tuple[_core.Section | None, int, int]  # an offset and a size in a section
    from ragfile.file.exact_retrievers import Segments as SearchedSegments

    Segments = Sequence[RowSegment]
    RowNumbers = Sequence[int] | Int64s

STREAM_END = 64 << 10  # a stream's trailer, and usually its table
DELETED = "rag.tombs", "rag.deleted"  # the sections of deleted rows
LITTLE = 8 << 20


class PlacedRow(NamedTuple):
    """A row of the file: its segment, and its number there."""

    segment: RowSegment
    row: int


def _elsewhere(segments: Segments) -> bool:
    return bool(segments) and segments[0].reader.is_elsewhere


def _whole(section: _core.Section | None) -> Want:
    return section, 0, 0 if section is None else len(section)


def _new(segments: Segments, plan: str) -> Segments:
    """Return the segments for which a one-time plan has not run yet."""
    return (
        [segment for segment in segments if plan not in segment.brought]
        if _elsewhere(segments)
        else []
    )


def _once(segments: Segments, plan: str, wants: list[Want]) -> None:
    if wants:
        _core.ready(wants)
        for segment in segments:
            segment.brought |= {plan}


def whole(segments: Segments, *names: str) -> None:
    """Fetch sections that will be read from start to end."""
    if _elsewhere(segments):
        _core.ready([_whole(segment.section(name)) for segment in segments for name in names])


def tables(segments: Segments) -> None:
    """Fetch everything but texts and vectors, if it is small, to save a round trip per step."""
    new = _new(segments, "tables")
    wants = [_whole(segment.section(name)) for segment in new for name in PREFETCHED]
    if sum(size for _, _, size in wants) <= LITTLE:
        _once(new, "tables", wants)


def terms(segments: Segments) -> None:
    """Fetch the dictionaries, with the sections that statistics need."""
    tables(segments)
    wants: list[Want] = []
    for segment in _new(segments, "terms"):
        wants.append((segment.section("rag.postings"), 0, 0))
        wants += [_whole(segment.section(name)) for name in ("rag.terms", *DELETED)]
    _once(segments, "terms", wants)


def fields(segments: Segments) -> None:
    """Fetch the dictionaries of the fields that have postings."""
    wants: list[Want] = []
    for segment in _new(segments, "fields"):
        for name in segment.field_names:
            wants += [_whole(segment.section(f"rag.terms.{name}"))]
            wants.append((segment.section(f"rag.postings.{name}"), 0, 0))
    _once(segments, "fields", wants)


def lists(segments: SearchedSegments, texts: Sequence[str], by_field: bool = False) -> None:
    """Fetch the posting lists of the terms of questions, with those of fields if by_field."""
    if _elsewhere(segments):
        lists_of(segments, segments.dictionary.queries(texts), by_field)


def lists_of(segments: Segments, queries: _core.Queries, by_field: bool = False) -> None:
    """Fetch the posting lists of analysed questions."""
    if not _elsewhere(segments):
        return
    asked = {term for terms_ in queries.terms() for term, _ in terms_}
    wants: list[Want] = []
    for segment in segments:
        parts = [(segment.section("rag.postings"), segment.lexicon)]
        if by_field:
            names = (f"rag.postings.{name}" for name in segment.field_names)
            parts += zip(map(segment.section, names), segment.lexicon.fields or (), strict=True)
        wants += [(section, *lexicon.place(term)) for section, lexicon in parts for term in asked]
    _core.ready(wants)


def positions(segments: Segments, words: Sequence[tuple[str, bool]]) -> None:
    """Fetch the positions of the words of a phrase, and the postings of its terms."""
    if not _elsewhere(segments):
        return
    having = [segment for segment in segments if segment.has("rag.positions")]
    sections = [(segment, segment.section("rag.positions")) for segment in having]
    _core.ready([(section, 0, _core.POSITIONS_HEAD) for _, section in sections])
    opened = [(segment, segment.positions) for segment in having]
    places = [(segment, found) for segment, found in opened if found is not None]
    _core.ready([(s.section("rag.positions"), 0, found.lists_at) for s, found in places])
    wants: list[Want] = []
    for segment, found in places:
        section, postings = segment.section("rag.positions"), segment.section("rag.postings")
        wants += [(section, *found.place(word)) for word in words]
        wants += [
            (postings, *segment.lexicon.place(word)) for word, is_stop in words if not is_stop
        ]
    _core.ready(wants)


def vectors(segments: Segments) -> None:
    """Fetch the shadows, or the vectors themselves where there is no shadow."""
    wants: list[Want] = []
    for segment in _new(segments, "vectors"):
        vector, shadow = segment.section("vector"), segment.shadow
        wants += (
            [_whole(vector)] if shadow is None else [(vector, 0, _core.VECTOR_HEAD), _whole(shadow)]
        )
        wants += [_whole(segment.section(name)) for name in ("rag.clusters", *DELETED, "rag.bare")]
    _once(segments, "vectors", wants)


def samples(segments: Segments) -> None:
    """Fetch the rows that calibrate fusion: the stored sample, or the records that determine it."""
    wants: list[Want] = []
    for segment in _new(segments, "samples"):
        names: tuple[str, ...] = ("rag.chunks", "rag.documents", "rag.ids")
        if segment.has("rag.sample"):
            names = ("rag.sample",)
            wants.append((segment.section("vector"), 0, _core.VECTOR_HEAD))
        wants += [_whole(segment.section(name)) for name in (*names, *DELETED, "rag.bare")]
    _once(segments, "samples", wants)


def vector_rows(segments: Segments, rows: RowNumbers) -> None:
    """Fetch the vectors of some rows of the file."""
    if not _elsewhere(segments):
        return
    wants: list[Want] = []
    for segment, row in _placed(segments, rows):
        if segment.has("vector"):
            layout = segment.vector_layout()
            wants.append(
                (segment.section("vector"), layout.at + row * layout.stride, layout.stride)
            )
    _core.ready(wants)


def ids(segments: Segments) -> None:
    """Fetch the tables that find documents by id."""
    whole(segments, "rag.ids")


def chunk_records(segments: Segments, rows: RowNumbers) -> None:
    """Fetch the records of some rows, which name their documents."""
    if _elsewhere(segments):
        tables(segments)
        _core.ready(_chunk_records(segments, rows))


def _chunk_records(segments: Segments, rows: RowNumbers) -> list[Want]:
    size, placed = _core.CHUNK_RECORD_SIZE, _placed(segments, rows)
    return [(segment.section("rag.chunks"), row * size, size) for segment, row in placed]


def passages(segments: Segments, rows: RowNumbers) -> None:
    """Fetch all bytes of the hits of some rows of the file."""
    if not _elsewhere(segments) or not len(rows):
        return
    tables(segments)
    placed = _placed(segments, rows)
    used = list({segment.base: segment for segment, _ in placed}.values())
    wants: list[Want] = [(segment.section("rag.ids"), 0, _core.IDS_HEAD) for segment in used]
    for name in ("rag.text", "rag.meta"):
        wants += [_ending(segment.section(name)) for segment in used]
    _core.ready(wants + _chunk_records(segments, rows))
    chunks = [(segment, segment.records.chunk(row)) for segment, row in placed]
    _core.ready(
        [want for segment, chunk in chunks for want in _document_places(segment, chunk.document)]
    )
    _core.ready([want for segment, chunk in chunks for want in _contents(segment, chunk)])


def _placed(segments: Segments, rows: RowNumbers) -> list[PlacedRow]:
    """[(segment, its own number of the row)]"""
    bases = [segment.base for segment in segments]
    found = [(segments[max(bisect.bisect_right(bases, row) - 1, 0)], int(row)) for row in rows]
    return [PlacedRow(s, row - s.base) for s, row in found if s.base <= row < s.base + s.rows]


def _ending(section: _core.Section | None) -> Want:
    if section is None:
        return None, 0, 0
    return section, max(len(section) - STREAM_END, 0), STREAM_END


def _document_places(segment: RowSegment, number: int) -> Iterator[Want]:
    size = _core.DOCUMENT_RECORD_SIZE
    yield segment.section("rag.documents"), number * size, size
    yield segment.section("rag.ids"), *_core.id_offsets(number)
    yield segment.section("rag.text"), *segment.texts.table
    yield segment.section("rag.meta"), *segment.meta.table


def _contents(segment: RowSegment, chunk: _core.ChunkRecord) -> Iterator[Want]:
    document = segment.records.place(chunk.document)
    yield segment.section("rag.ids"), document.id_at, document.id_size
    texts = segment.texts.places(document.blob_at + chunk.start, chunk.size)
    yield from ((segment.section("rag.text"), *place) for place in texts)
    for at, length in ((document.meta_at, document.meta_size), (chunk.meta_at, chunk.meta_size)):
        yield from (
            (segment.section("rag.meta"), *place) for place in segment.meta.places(at, length)
        )
