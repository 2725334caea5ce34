"""What a call is about to touch, asked for at once, where the file is elsewhere. For local files nothing here does anything.

Everything works without these plans, a block at a time; with them a question costs a few round trips:

    tables    all but texts and vectors, where that is little                        the first question
    terms     rag.terms whole, the block hashes of rag.postings, deletions          the first question by words
    lists     the posting lists of the question's terms
    vectors   the shadow whole, the head and the block hashes of vector             the first question by vector
    passages  chunk records → documents and ids → their bytes, texts and metadata
"""

import bisect

from ragfile import _core
from ragfile.file.section_table import PREFETCHED

STREAM_END = 64 << 10  # a stream's trailer, and as a rule its table
LITTLE = 8 << 20


def _elsewhere(segments):
    return bool(segments) and segments[0].reader.is_elsewhere


def _whole(section):
    return section, 0, 0 if section is None else len(section)


def _new(segments, plan):
    """Segments for which a plan that is carried out once was not."""
    return (
        [segment for segment in segments if plan not in segment.brought]
        if _elsewhere(segments)
        else []
    )


def _once(segments, plan, wants):
    if wants:
        _core.ready(wants)
        for segment in segments:
            segment.brought.add(plan)


def whole(segments, *names):
    """Sections that will be read from one end to the other."""
    if _elsewhere(segments):
        _core.ready([_whole(segment.section(name)) for segment in segments for name in names])


def tables(segments):
    """All but texts and vectors, where that is little: one request, and no round trip for each step of a question."""
    new = _new(segments, "tables")
    wants = [_whole(segment.section(name)) for segment in new for name in PREFETCHED]
    if sum(size for _, _, size in wants) <= LITTLE:
        _once(new, "tables", wants)


def terms(segments):
    """The dictionaries, with what statistics need."""
    tables(segments)
    wants = []
    for segment in _new(segments, "terms"):
        wants.append((segment.section("rag.postings"), 0, 0))
        wants += [_whole(segment.section(name)) for name in ("rag.terms", "rag.tombs")]
    _once(segments, "terms", wants)


def fields(segments):
    """The dictionaries of fields that have lists of their own."""
    wants = []
    for segment in _new(segments, "fields"):
        for name in segment.field_names:
            wants += [_whole(segment.section(f"rag.terms.{name}"))]
            wants.append((segment.section(f"rag.postings.{name}"), 0, 0))
    _once(segments, "fields", wants)


def lists(segments, texts, by_field=False):
    """The posting lists of the terms of some questions, and those of their fields."""
    if _elsewhere(segments):
        lists_of(segments, segments[0].lexicon.queries(texts), by_field)


def lists_of(segments, queries, by_field=False):
    """The same of questions that are analysed."""
    if not _elsewhere(segments):
        return
    asked = {term for terms_ in queries.terms() for term, _ in terms_}
    wants = []
    for segment in segments:
        parts = [(segment.section("rag.postings"), segment.lexicon)]
        if by_field:
            names = (f"rag.postings.{name}" for name in segment.field_names)
            parts += zip(map(segment.section, names), segment.lexicon.fields, strict=True)
        wants += [(section, *lexicon.place(term)) for section, lexicon in parts for term in asked]
    _core.ready(wants)


def vectors(segments):
    """The shadows; where there is none, the vectors themselves."""
    wants = []
    for segment in _new(segments, "vectors"):
        vector, shadow = segment.section("vector"), segment.shadow
        wants += (
            [_whole(vector)] if shadow is None else [(vector, 0, _core.VECTOR_HEAD), _whole(shadow)]
        )
        wants += [
            _whole(segment.section(name)) for name in ("rag.clusters", "rag.tombs", "rag.bare")
        ]
    _once(segments, "vectors", wants)


def samples(segments):
    """What calibrates fusion: the rows that lie together, or what tells which they are."""
    wants = []
    for segment in _new(segments, "samples"):
        names = ("rag.chunks", "rag.documents", "rag.ids")
        if segment.has("rag.sample"):
            names = ("rag.sample",)
            wants.append((segment.section("vector"), 0, _core.VECTOR_HEAD))
        wants += [_whole(segment.section(name)) for name in (*names, "rag.tombs", "rag.bare")]
    _once(segments, "samples", wants)


def vector_rows(segments, rows):
    """The vectors of some rows of the file."""
    if not _elsewhere(segments):
        return
    wants = []
    for segment, row in _placed(segments, rows):
        if segment.has("vector"):
            layout = segment.vector_layout()
            wants.append(
                (segment.section("vector"), layout.at + row * layout.stride, layout.stride)
            )
    _core.ready(wants)


def ids(segments):
    """What finds documents by id."""
    whole(segments, "rag.ids")


def passages(segments, rows):
    """All that makes hits of rows of the file."""
    if not _elsewhere(segments) or not len(rows):
        return
    tables(segments)
    placed = _placed(segments, rows)
    used = list({segment.number: segment for segment, _ in placed}.values())
    wants = [(segment.section("rag.ids"), 0, _core.IDS_HEAD) for segment in used]
    for name in ("rag.text", "rag.meta"):
        wants += [_ending(segment.section(name)) for segment in used]
    size = _core.CHUNK_RECORD_SIZE
    _core.ready(
        wants + [(segment.section("rag.chunks"), row * size, size) for segment, row in placed]
    )
    chunks = [(segment, segment.records.chunk(row)) for segment, row in placed]
    _core.ready(
        [want for segment, chunk in chunks for want in _document_places(segment, chunk.document)]
    )
    _core.ready([want for segment, chunk in chunks for want in _contents(segment, chunk)])


def _placed(segments, rows):
    """[(segment, its own number of the row)]"""
    bases = [segment.base for segment in segments]
    found = [(segments[max(bisect.bisect_right(bases, row) - 1, 0)], int(row)) for row in rows]
    return [(s, row - s.base) for s, row in found if s.base <= row < s.base + s.rows]


def _ending(section):
    if section is None:
        return None, 0, 0
    return section, max(len(section) - STREAM_END, 0), STREAM_END


def _document_places(segment, number):
    size = _core.DOCUMENT_RECORD_SIZE
    yield segment.section("rag.documents"), number * size, size
    yield segment.section("rag.ids"), *_core.id_offsets(number)
    yield segment.section("rag.text"), *segment.texts.table
    yield segment.section("rag.meta"), *segment.meta.table


def _contents(segment, chunk):
    document = segment.records.place(chunk.document)
    yield segment.section("rag.ids"), document.id_at, document.id_size
    texts = segment.texts.places(document.blob_at + chunk.start, chunk.size)
    yield from ((segment.section("rag.text"), *place) for place in texts)
    for at, length in ((document.meta_at, document.meta_size), (chunk.meta_at, chunk.meta_size)):
        yield from (
            (segment.section("rag.meta"), *place) for place in segment.meta.places(at, length)
        )
