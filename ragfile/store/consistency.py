"""What must hold between the sections of a file, beyond each one's own bytes: every leg covers the same rows, ids live once.

Part of verify. A fault is (kind, offset, what, section), as the container's.
"""

from ragfile import _core
from ragfile.errors import FormatError
from ragfile.store import sampling
from ragfile.text import restored

LEGS = ("vector", "rag.terms")


def disagreements(archive) -> list[tuple[str, int, str, str]]:
    """Faults between the sections of an open file."""
    faults: list[tuple[str, int, str, str]] = []
    for segment in archive.segments:
        for look in (_records, _vectors, _terms, sample_faults, fine_faults):
            try:
                faults += look(segment)
            except FormatError as error:
                faults.append(
                    (type(error).__name__, error.at or 0, str(error), error.section or "")
                )
    return faults or list(_between(archive.segments))


def _fault(what, section):
    return ("CorruptError", 0, what, section)


def _records(segment):
    """A document lives or dies as a whole."""
    if segment.section("rag.chunks") is None:
        return
    mask = segment.live_mask()
    for number in range(segment.records.documents):
        rows = segment.records.document(number).rows
        part = mask[rows.start : rows.stop]
        yield from _original(segment, number)
        if len(part) != len(rows) or (rows and part.any() != part.all()):
            yield _fault(
                f"document {number} of segment {segment.number} lives in part", "rag.tombs"
            )


def _original(segment, number):
    """Where a document says what its text was before normalisation, the edits are such of its text, and its body is in it."""
    record = segment.records.document(number)
    fields = segment.fields(record.meta_at, record.meta_size)
    if fields.get("body", 0) > record.text_chars:
        yield _fault(f"the body of document {record.id!r} begins after its end", "rag.meta")
    if fields.get("original"):
        try:
            restored(segment.text(record, 0, record.text_size), fields["original"])
        except ValueError as error:
            yield _fault(f"the original text of document {record.id!r}: {error}", "rag.meta")


def _vectors(segment):
    if segment.section("vector") is not None:
        segment.vector_layout()
    return ()


def _terms(segment):
    if segment.section("rag.terms") is not None:
        _ = segment.lexicon
    return ()


def sample_faults(segment):
    """`rag.sample` has the rows that it must have, and their vectors."""
    stored = sampling.stored_sample(segment)
    if stored is None:
        return
    pairs, keys = stored.pairs(), segment.records.sample(segment.rows)
    last, kept = pairs[-1] if pairs else (-1, -1), set(pairs)
    is_first = all(key in kept or key > last or not segment.is_live(key[1]) for key in keys)
    if not is_first or not kept <= set(keys):
        yield _fault("the sample has other rows than those with the smallest hashes", "rag.sample")
    for (_, row), vector in zip(pairs, stored.vectors, strict=True):
        if segment.stored_vectors(row, 1)[0].tobytes() != vector.tobytes():
            yield _fault(f"the sample has another vector of row {row}", "rag.sample")


def fine_faults(segment):
    """The finer sums of `rag.fine` are those of the sections that they name."""
    section = segment.section("rag.fine")
    if section is None:
        return
    grain, parts = _core.fine_sums(section)
    there = {e["at"]: e for e in segment.reader.entries if e["segment"] == segment.number}
    for at, size, sums in parts:
        entry = there.get(at)
        if entry is None or entry["size"] != size:
            continue
        raw = bytes(segment.section(entry["name"]))
        if sums != [_core.hash64(raw[i : i + grain]) for i in range(0, size, grain)]:
            yield _fault(f"finer sums are not those of {entry['name']}", "rag.fine")


def _between(segments):
    """Each leg is in all segments with live rows or in none, and an id lives in one of them."""
    filled = [segment for segment in segments if segment.live]
    for leg in LEGS:
        without = [segment.number for segment in filled if segment.section(leg) is None]
        if 0 < len(without) < len(filled):
            yield _fault(
                f"segments {', '.join(map(str, without))} have no {leg}, and others have", leg
            )
    homes = {}
    for segment in segments:
        if segment.section("rag.chunks") is None:
            continue
        for there in segment.live_documents():
            doc_id = there.id
            if homes.setdefault(doc_id, segment.number) != segment.number:
                yield _fault(
                    f"document {doc_id!r} lives in segments {homes[doc_id]} and {segment.number}",
                    "rag.ids",
                )
