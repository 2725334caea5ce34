"""Check that the sections of a file agree: every retriever covers the same rows, an id is live once.

Part of verify. A fault is (kind, offset, description, section), as the container's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.file import sample_rows
from ragfile.file.hidden_documents import read_hidden
from ragfile.file.past_generations import read_past
from ragfile.text import restored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragfile.file.container import Container
    from ragfile.file.row_segment import RowSegment
    from ragfile.types import Booleans

    Fault = tuple[str, int, str, str]  # kind, offset, description, section

LONGEST = (1 << 32) - 1  # a length that may represent a longer one
RETRIEVERS = ("vector", "rag.terms")  # the section of each
ROWS = 8192  # whose vectors are checked together


class CheckedRows(Protocol):
    """The segments of an open file, and the file as a container."""

    @property
    def segments(self) -> Sequence[RowSegment]: ...
    @property
    def file(self) -> Container: ...


def disagreements(archive: CheckedRows) -> list[Fault]:
    """Return the faults between the sections of an open file."""
    faults: list[Fault] = []
    for segment in archive.segments:
        for look in (
            _streams, _records, _vectors, bare_faults, term_faults, shadow_faults, sample_faults, fine_faults,
            column_faults, gone_faults, position_faults, title_faults, sparse_faults, link_faults, original_faults,
        ):  # fmt: skip
            try:
                faults += look(segment)
            except FormatError as error:
                faults.append(
                    (type(error).__name__, error.at or 0, str(error), error.section or "")
                )
    if faults:
        return faults
    _open_whole(archive.file.reader)
    return [
        *_between(archive.segments),
        *merge_faults(archive.file.reader),
        *stale_faults(archive.file.stale_records, archive.segments),
    ]


def _open_whole(reader: _core.Reader) -> None:
    """Raise FormatError if a section of the whole file cannot be opened."""
    if (section := reader.section("rag.origin")) is not None:
        _core.Stream(section)
    if (section := reader.section("rag.frequencies")) is not None:
        _core.Frequencies(section)
    read_hidden(reader, "the file")
    read_past(reader, "the file")


def merged_rows(reader: _core.Reader) -> int:
    """Return how many rows of a commit come from segments that it merged."""
    if not reader.has("rag.merged"):
        return 0
    entry = reader.entry("rag.merged", 0)
    is_own = entry["generation"] == reader.commit["generation"]
    return entry["items"] if is_own else 0


def merge_faults(reader: _core.Reader) -> Iterator[Fault]:
    """Check that `rag.merged` has no bytes, and not more items than the commit wrote rows."""
    if not reader.has("rag.merged"):
        return
    entry, generation = reader.entry("rag.merged", 0), reader.commit["generation"]
    if entry["size"] or not entry["items"]:
        yield _fault("it has bytes, or no rows", "rag.merged")
    elif merged_rows(reader) > sum(s.rows for s in reader.segments if s.generation == generation):
        yield _fault("it names more rows than the commit wrote", "rag.merged")


def _streams(segment: RowSegment) -> Iterable[Fault]:
    """Check the trailers and tables of texts and metadata."""
    if segment.has("rag.text"):
        _ = segment.texts, segment.meta
    return ()


def _fault(what: str, section: str) -> Fault:
    return ("CorruptError", 0, what, section)


def _records(segment: RowSegment) -> Iterator[Fault]:
    """Check that documents are live or deleted as a whole, of those that the core finds doubtful."""
    if segment.section("rag.chunks") is None:
        return
    mask = segment.live_mask()
    for number in _core.doubtful_documents(segment.records, segment.meta, segment.alive):
        yield from _document(segment, number, mask)


def _document(segment: RowSegment, number: int, mask: Booleans) -> Iterator[Fault]:
    rows = segment.records.document(number).rows
    part = mask[rows.start : rows.stop]
    yield from _original(segment, number)
    if len(part) != len(rows) or (rows and part.any() != part.all()):
        what = f"document {number} of segment {segment.number} is deleted in part"
        yield _fault(what, "rag.tombs")


def _original(segment: RowSegment, number: int) -> Iterator[Fault]:
    """Check that a document's edits apply to its text, and that its body is inside of it."""
    record = segment.records.document(number)
    fields = segment.fields(record.meta_at, record.meta_size)
    if fields.get("body", 0) > record.text_chars:
        yield _fault(f"the body of document {record.id!r} begins after its end", "rag.meta")
    if fields.get("original"):
        try:
            restored(segment.text(record, 0, record.text_size), fields["original"])
        except ValueError as error:
            yield _fault(f"the original text of document {record.id!r}: {error}", "rag.meta")


def gone_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check that `rag.gone` marks documents without rows, as many as it has items."""
    section = segment.section("rag.gone")
    if section is None:
        return
    count = segment.records.documents
    if len(section) != (count + 7) // 8:
        yield _fault("a bitmap of another size than its documents", "rag.gone")
        return
    bits = np.unpackbits(np.frombuffer(memoryview(section), np.uint8), bitorder="little")
    marked = np.flatnonzero(bits).tolist()
    if len(marked) != segment.reader.entry("rag.gone", segment.number)["items"]:
        yield _fault("not as many deleted documents as items", "rag.gone")
    elif marked and marked[-1] >= count:
        yield _fault("a bit after the last document", "rag.gone")
    elif any(segment.records.document(number).rows for number in marked):
        yield _fault("a document that has rows", "rag.gone")


def stale_faults(
    records: Iterable[dict[str, Any]], segments: Sequence[RowSegment]
) -> Iterator[Fault]:
    """Check that `rag.stale` lists live documents with a text of their own, each once."""
    listed = [doc_id for record in records for doc_id in record["documents"]]
    if len(set(listed)) != len(listed):
        yield _fault("a document is listed twice", "rag.stale")
    if not listed:
        return
    texts = {old.id for one in segments for old in one.live_documents() if old.record.has_text}
    for doc_id in sorted(set(listed) - texts)[:1]:
        yield _fault(f"document {doc_id!r} is not live, or has no text of its own", "rag.stale")


def _vectors(segment: RowSegment) -> Iterable[Fault]:
    if segment.section("vector") is not None:
        segment.vector_layout()
    return ()


def bare_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check that `rag.bare` names the rows without a vector: all components NaN; others finite."""
    section = segment.section("rag.bare")
    if section is None:
        return
    items = segment.reader.entry("rag.bare", segment.number)["items"]
    bare, words = segment.bare_mask(), (segment.rows + 63) // 64
    if len(section) != 8 * words or bytes(section) != bytes(_core.bitmap(bare, in_words=True)):
        yield _fault("a bitmap of another size than its rows, or a bit after them", "rag.bare")
    elif not items or items != int(bare.sum()):
        yield _fault("not as many rows without vectors as items", "rag.bare")
    elif not segment.has("vector"):
        if not bare.all():
            yield _fault("rows that have a vector, in a segment without vectors", "rag.bare")
    else:
        yield from _components(segment, bare)


def _components(segment: RowSegment, bare: Booleans) -> Iterator[Fault]:
    for first in range(0, segment.rows, ROWS):
        count = min(ROWS, segment.rows - first)
        stored, part = segment.stored_vectors(first, count), bare[first : first + count]
        finite, nothing = np.isfinite(stored).all(axis=1), np.isnan(stored).all(axis=1)
        wrong = np.flatnonzero((part & ~nothing) | (~part & ~finite))
        if len(wrong):
            yield _fault(f"row {first + wrong[0]} and rag.bare disagree on its vector", "vector")
            return


def term_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check that the lengths of a row's fields add up to no more than the row's length."""
    if segment.section("rag.terms") is None:
        return
    lexicon = segment.lexicon
    if not segment.has_fields:
        return
    segment.attach_fields()
    rest, weights = lexicon.lengths().astype(np.int64), lexicon.analysis.built_weights
    capped = rest >= LONGEST
    for field, weight in zip(lexicon.fields or (), weights[1:], strict=True):
        rest -= weight * field.lengths().astype(np.int64)
    wrong = np.flatnonzero(((rest < 0) | (rest % weights[0] != 0)) & ~capped)
    if len(wrong):
        what = f"row {wrong[0]} of segment {segment.number} has other lengths than its fields"
        yield _fault(what, "rag.terms")


def position_faults(segment: RowSegment) -> Iterable[Fault]:
    """Check that each word of each text has one position."""
    if segment.positions is not None:
        segment.positions.check_all()
    return ()


def title_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check the order of titles, and that they are those of the documents."""
    table = segment.titles
    if table is None:
        return
    table.check_all(segment.records.documents)
    strips = segment.has("rag.terms") and segment.lexicon.analysis.strip_accents
    found: dict[int, list[int]] = {}
    for key, number in table.entries():
        found.setdefault(number, []).append(key)
    for number in range(segment.records.documents):
        rows = segment.document(number).rows
        title = segment.labels(rows.start)[1].get("title") if rows else None
        known = _core.title_keys(title, strip_accents=strips) if isinstance(title, str) else []
        if found.get(number, []) != known:
            yield _fault(f"document {number} has another title", "rag.titles")


def shadow_faults(segment: RowSegment) -> Iterable[Fault]:
    """Check the error bounds of the shadow for every row."""
    if segment.has("vector") and segment.shadow is not None:
        segment.matrix.check_shadow()
    return ()


def sample_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check that `rag.sample` has the required rows and their vectors."""
    stored = sample_rows.stored_sample(segment)
    if stored is None:
        return
    pairs = stored.pairs()
    mask = segment.vector_mask()
    live = [pair for pair in pairs if mask[pair[1]]]
    first = segment.records.sample(len(live) + 1, segment.embedded)
    if any(segment.bare_mask()[row] for _, row in pairs):
        yield _fault("the sample has rows without a vector", "rag.sample")
    is_first = first[: len(live)] == live and not (
        pairs and first[len(live) :] < pairs[-1:] and first[len(live) :]
    )
    if not is_first or any(_hash(segment, row) != hash_ for hash_, row in pairs):
        yield _fault("the sample has other rows than those with the smallest hashes", "rag.sample")
    for (_, row), vector in zip(pairs, stored.vectors, strict=True):
        if segment.stored_vectors(row, 1)[0].tobytes() != vector.tobytes():
            yield _fault(f"the sample has another vector of row {row}", "rag.sample")


def fine_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check the finer sums of `rag.fine` against the sections that they name."""
    section = segment.section("rag.fine")
    if section is None:
        return
    grain, parts = _core.fine_sums(section)
    by_offset = {e["at"]: e for e in segment.reader.entries if e["segment"] == segment.number}
    for at, size, sums in parts:
        entry = by_offset.get(at)
        if entry is None or entry["size"] != size:
            continue
        raw = bytes(segment.need(entry["name"]))
        if sums != [_core.hash64(raw[i : i + grain]) for i in range(0, size, grain)]:
            yield _fault(f"finer sums are not those of {entry['name']}", "rag.fine")


def _hash(segment: RowSegment, row: int) -> int:
    doc_id, index = segment.records.key(row)
    return _core.hash64(doc_id + index.to_bytes(4, "little"))


def column_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check that columns made from the metadata again have the bytes of `rag.columns`."""
    section = segment.section("rag.columns")
    if section is None:
        return
    stored = _core.StoredColumns(section, segment.rows)
    builder, again = _core.ColumnsBuilder(_core.WIDE_LIMITS), bytearray()
    builder.segment(segment.records, segment.meta)
    if builder.is_spoilt:
        yield _fault("columns of metadata that can have none", "rag.columns")
        return
    builder.finish(again.extend)
    made = _core.StoredColumns(_core.Section.over(bytes(again)), segment.rows)
    unlisted = set(made.names()) - set(stored.names())
    if unlisted and not stored.is_partial:
        yield _fault(f"columns without the path {min(map(str, unlisted))!r}", "rag.columns")
    for number, path in enumerate(stored.names()):
        other = made.find(path)
        if other is None and stored.has_values(number) and not made.is_partial:
            yield _fault(f"a column of {path!r}, which no row has", "rag.columns")
        elif other is not None and not _is_same_column(stored, number, made, other):
            yield _fault(f"the column of {path!r} differs from the metadata", "rag.columns")


def sparse_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check the weights of terms, and that there are as many as items."""
    if (weights := segment.sparse) is None:
        return
    weights.check_all()
    if len(weights) != segment.reader.entry("rag.sparse", segment.number)["items"]:
        yield _fault("another number of items than weights", "rag.sparse")


def link_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check that the sections of links are intact, and have as many edges as items."""
    for name in ("graph", "hypergraph"):
        if (links := segment.stored_links(name)) is None:
            continue
        _ = links.strings(), links.names(), links.features()
        if len(links) != segment.reader.entry(name, segment.number)["items"]:
            yield _fault("another number of items than edges", name)


def original_faults(segment: RowSegment) -> Iterator[Fault]:
    """Check that `rag.original` has bytes for as many documents as items."""
    if segment.section("rag.original") is None:
        return
    count = sum(bool(segment.original(n)) for n in range(segment.records.documents))
    if count != segment.reader.entry("rag.original", segment.number)["items"]:
        yield _fault("another number of items than files", "rag.original")


def _is_same_column(stored: _core.StoredColumns, i: int, made: _core.StoredColumns, j: int) -> bool:
    """Return whether two columns are equal; one without values equals any other."""
    if not (stored.has_values(i) and made.has_values(j)):
        return True
    stored.column(i)  # which checks it
    return stored.data(i) == made.data(j)


def _between(segments: Sequence[RowSegment]) -> Iterator[Fault]:
    """Check that each retriever is in all segments with live rows or none, and that ids are unique."""
    filled = [segment for segment in segments if segment.live]
    for name in RETRIEVERS:
        without = [s.number for s in filled if not s.has(name) and not _may_lack(s, name)]
        if without and any(s.has(name) and _has_rows(s, name) for s in filled):
            yield _fault(
                f"segments {', '.join(map(str, without))} have no {name}, and others have", name
            )
    homes: dict[str, int] = {}
    for segment, number in _in_several(segments):
        document = segment.document(number)
        home = homes.setdefault(document.id, segment.number) if document.is_live else None
        if home not in (None, segment.number):
            what = f"document {document.id!r} is live in segments {home} and {segment.number}"
            yield _fault(what, "rag.ids")


def _may_lack(segment: RowSegment, retriever: str) -> bool:
    """Return whether a segment records that its rows have no vectors."""
    return retriever == "vector" and segment.has("rag.bare")


def _has_rows(segment: RowSegment, retriever: str) -> bool:
    return retriever != "vector" or segment.vector_count > 0


def _in_several(segments: Sequence[RowSegment]) -> Iterator[tuple[RowSegment, int]]:
    """Yield (segment, number) of the documents with ids that may be in another segment, too."""
    held = [segment for segment in segments if segment.section("rag.chunks") is not None]
    hashes = [segment.records.id_hashes() for segment in held] if len(held) > 1 else []
    if not hashes:
        return
    known, counts = np.unique(np.concatenate(hashes), return_counts=True)
    several = known[counts > 1]
    for segment, ids in zip(held, hashes, strict=True):
        for number in np.flatnonzero(np.isin(ids, several)).tolist():
            yield segment, number
