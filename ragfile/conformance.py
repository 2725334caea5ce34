"""Test a reader against the vectors of the specification.

    python -m ragfile.conformance [--reader PATH] [--vectors DIR]

PATH is a Python module with `read(data, dim=None)`, or a program that takes a file (and a dimension)
and prints its content as JSON, or {"refused": {"kind", "at"}}. Without --reader, the package itself is
tested, including its pipeline. spec/vectors/README.md lists the values that are compared.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from ragfile import _core
from ragfile.errors import CorruptError, FormatError, VersionError
from ragfile.exchange import origin
from ragfile.file import (
    config,
    consistency,
    filters,
    hidden_documents,
    past_generations,
    sample_rows,
    stale_records,
)
from ragfile.file.pairs import PairFile
from ragfile.file.row_segment import RowSegment
from ragfile.ground import system
from ragfile.ground.json_values import is_object
from ragfile.ingest.chunker import Policy, split
from ragfile.records import Candidate, Document
from ragfile.records import Segment as Part
from ragfile.search import fusion
from ragfile.text import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.types import Floats, SectionEntry

Found: TypeAlias = dict[str, Any]
"""The content of a file as JSON, as spec/reader.py returns it."""

Fault: TypeAlias = tuple[str, int, str, str]
"""The kind, offset, reason and section of a fault, as Reader.verify returns it."""

Read: TypeAlias = "Callable[[bytes, int | None], Found]"
"""A reader: takes a file's bytes, and the dimension that some 0.1.0 files need."""

Report: TypeAlias = "Callable[[str], object]"
"""Receives a line for each vector."""


class SpecVector(NamedTuple):
    """A file of the specification's vectors, and the expected answer of a reader."""

    name: str
    data: bytes
    expected: Found


class Outcome(NamedTuple):
    """The number of vectors that passed and that failed."""

    passed: int
    failed: int


# The vectors of the source tree with this module; an installed package has none.
VECTORS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "spec", "vectors"
)


def read(data: bytes, dim: int | None = None) -> Found:
    """Return the content of a file as spec/reader.py does; raise FormatError for an invalid file."""
    return (
        _read_container(data)
        if data[:7] == b"RAGFILE" and data[7:8] == b"\1"
        else _read_pairs(data, dim)
    )


def _read_pairs(data: bytes, dim: int | None) -> Found:
    file = PairFile.over(data, dim=dim, dialect="strict")
    ranges, big = file.sections, file.byteorder == "big"
    found: Found = {"version": list(file.version), "byteorder": file.byteorder, "size": len(data)}
    found["sections"] = [
        {"name": name, "start": start, "end": end} for name, (start, end) in ranges.items()
    ]
    for name in ("keyword", "vector"):
        if name in ranges:
            file.verify(name)

    def section(name: str) -> tuple[_core.Section, int]:
        start, end = ranges[name]
        return _core.Section.over(memoryview(data)[start : end + 1], name), start

    if "keyword" in ranges:
        pairs = _core.Pairs.keyword(*section("keyword"), big)
        found["keyword"] = _range(pairs) | {"pairs": [list(pair) for pair in file.pairs("keyword")]}
        if "rag.keys" in ranges:
            found["keys"] = _order(pairs, *section("rag.keys"), big)
    if "vector" in ranges:
        pairs = _core.Pairs.vector(*section("vector"), big)
        found["vector"] = _vectors(pairs, file.dim, file.pairs("vector"))
    return found


def _range(pairs: _core.Pairs) -> Found:
    return {"padding": pairs.padding, "start": pairs.start, "end": pairs.start + pairs.size - 1}


def _vectors(pairs: _core.Pairs, dim: int | None, walked: Iterable[tuple[Floats, str]]) -> Found:
    extension = None
    if pairs.extended:
        extension = {
            "dim": pairs.dim,
            "count": pairs.count,
            "stride": pairs.stride,
            "hash": pairs.hash,
        }
    listed = [[[_number(x) for x in vector.tolist()], content] for vector, content in walked]
    return _range(pairs) | {
        "precision": pairs.precision,
        "dim": dim,
        "extension": extension,
        "pairs": listed,
    }


def _number(x: float) -> float | str:
    return x if math.isfinite(x) else "nan" if math.isnan(x) else str(x)


def _order(pairs: _core.Pairs, section: _core.Section, at: int, big: bool = False) -> list[int]:
    """Return the numbers of the pairs in the order of rag.keys."""
    keys = _core.Keys.over(section, at, pairs, big)
    keys.verify()
    starts: dict[int, int] = {}
    order: list[int] = []
    for number, offset in enumerate(_offsets(pairs)):
        starts[offset] = number
    entries = memoryview(section)[32 : 32 + 16 * len(keys)]
    for entry in range(0, len(entries), 16):
        order.append(
            starts[int.from_bytes(entries[entry + 8 : entry + 16], "big" if big else "little")]
        )
    return order


def _offsets(pairs: _core.Pairs) -> list[int]:
    count, _ = pairs.walk()
    offsets = np.empty(count, np.uint64)
    pairs.walk(offsets)
    return offsets.tolist()


def _read_container(data: bytes) -> Found:
    reader = _core.Reader(data)
    commit = reader.commit
    faults, counts = reader.verify(True)
    for kind, at, what, section in faults:
        if not (commit["tail"] and at == commit["end"] and kind == "CorruptError"):
            raise (VersionError if kind == "VersionError" else FormatError)(
                what, at=at, section=section
            )
    head = memoryview(data)[3968:4096].cast("Q")
    segments = [RowSegment(reader, record, 0) for record in reader.segments]
    return {
        "version": list(data[7:10]), "byteorder": "little", "size": len(data), "generation": commit["generation"],
        "identity": f"{commit['identity']:016x}", "created": head[7], "write_features": head[2],
        "time": commit["created"], "message": commit["message"], "tail": commit["tail"],
        "lost_generation": commit["lost_generation"] or None, "abandoned": counts["abandoned"],
        "segments": [*map(functools.partial(_segment, reader), reader.segments, segments)],
        "sections": [_listed(entry) for entry in reader.entries],
        **_whole(reader, segments),
    }  # fmt: skip


def _listed(entry: SectionEntry) -> Found:
    """Return a line of the table of contents without its extent."""
    keys = ("name", "segment", "at", "size", "items", "generation", "flags")
    fields = cast("dict[str, Any]", entry)
    return {key: fields[key] for key in keys}


def _refuse(faults: Iterable[Fault]) -> None:
    for kind, at, what, section in faults:
        raise CorruptError(f"{kind}: {what}", at=at, section=section)


def _whole(reader: _core.Reader, segments: list[RowSegment]) -> Found:
    """Return the sections that belong to the whole file."""
    found: Found = {}
    if reader.has("rag.config"):
        found["config"] = config.config_of(reader, "")
    if reader.has("rag.merged"):
        _refuse(consistency.merge_faults(reader))
        found |= {"merged": rows} if (rows := consistency.merged_rows(reader)) else {}
    if reader.has("rag.stale"):
        found["stale"] = stale_records.read_stale(reader, "")
        _refuse(consistency.stale_faults(found["stale"], segments))
    if reader.has("rag.hidden"):
        found["hidden"] = hidden_documents.read_hidden(reader, "")
    if reader.has("rag.past"):
        found["past"] = past_generations.read_past(reader, "")
    if (section := reader.section("rag.origin")) is not None:
        stream = _core.Stream(section)
        found["origin"] = origin.read(stream.read(0, stream.size))
    if (section := reader.section("rag.frequencies")) is not None:
        found["frequencies"] = _frequencies(section)
    return found


def _frequencies(section: _core.Section) -> Found:
    stored = _core.Frequencies(section)
    return {
        "rows": stored.rows, "total_length": stored.total_length, "k1": stored.k1, "b": stored.b,
        "terms": stored.beginning(""),
    }  # fmt: skip


def _segment(reader: _core.Reader, record: _core.SegmentRecord, segment: RowSegment) -> Found:
    number, rows, live, generation = record
    mask = segment.live_mask()
    found: Found = {"number": number, "rows": rows, "live": live, "generation": generation}
    found["tombs"] = [row for row in range(rows) if not mask[row]]
    if (stored := segment.section("vector")) is not None:
        segment.vector_layout()
        at = reader.entry("vector", number)["at"]
        pairs, vectors = _core.Pairs.vector(stored, at), segment.vectors()
        assert vectors is not None
        walked = zip(vectors, [content for _, content in pairs], strict=True)
        found["vector"] = _vectors(pairs, pairs.dim, walked)
        pairs.verify()
        if segment.shadow is not None or segment.has("rag.clusters"):
            found["shadow"] = _shadow(segment)
            if segment.matrix.clusters:
                found["clusters"] = segment.matrix.cluster_rows()
    if segment.section("rag.bare") is not None:
        _refuse(consistency.bare_faults(segment))
        found["bare"] = np.flatnonzero(segment.bare_mask()).tolist()
    if segment.section("keyword") is not None:
        pairs = segment.keyword_pairs()
        found["keyword"] = _range(pairs) | {"pairs": [list(pair) for pair in pairs]}
        if (keys := segment.section("rag.keys")) is not None:
            found["keys"] = _order(pairs, keys, reader.entry("rag.keys", number)["at"])
    if any(
        segment.section(name) is not None for name in ("rag.chunks", "rag.documents", "rag.ids")
    ):
        _refuse(consistency.gone_faults(segment))
        found["documents"] = [
            _document(segment, number) for number in range(segment.records.documents)
        ]
    if (sample := sample_rows.stored_sample(segment)) is not None:
        _refuse(consistency.sample_faults(segment))
        found["sample"] = [list(pair) for pair in sample.pairs()]
    if (fine := segment.section("rag.fine")) is not None:
        _refuse(consistency.fine_faults(segment))
        found["fine"] = _fine(reader, number, fine)
    if segment.section("rag.columns") is not None:
        found["columns"] = _columns(segment)
    if segment.section("rag.original") is not None:
        _refuse(consistency.original_faults(segment))
        held = [segment.original(n) for n in range(segment.records.documents)]
        found["originals"] = [hashlib.sha256(one).hexdigest() if one else None for one in held]
    for name in ("graph", "hypergraph"):
        if (links := segment.stored_links(name)) is not None:
            _refuse(consistency.link_faults(segment))
            found[name] = _links(links)
    if segment.section("rag.terms") is not None:
        segment.attach_fields()
        lexicons: list[tuple[int | None, _core.Lexicon]] = [(None, segment.lexicon)]
        lexicons += zip(segment.field_names, segment.lexicon.fields or (), strict=True)
        _refuse(consistency.term_faults(segment))
        found["words"] = [_words(number, lexicon) for number, lexicon in lexicons]
    if (titles := segment.titles) is not None:
        _refuse(consistency.title_faults(segment))
        found["titles"] = [list(entry) for entry in titles.entries()]
    if (weights := segment.sparse_rows) is not None:
        _refuse(consistency.sparse_faults(segment))
        found["sparse"] = [weights.weights(row) for row in range(rows)]
    if (positions := segment.positions) is not None:
        _refuse(consistency.position_faults(segment))
        found["positions"] = _positions(segment.lexicon, positions)
    return found


def _shadow(segment: RowSegment) -> list[int]:
    """Check the shadow of every row, and return [rows per group, axes kept]."""
    segment.matrix.check_shadow()
    return [segment.matrix.group_rows, segment.matrix.kept]


def _words(number: int | None, lexicon: _core.Lexicon) -> Found:
    listed: dict[str, list[list[int]]] = {}
    for term in lexicon.vocabulary():
        rows, tfs = lexicon.rows(term)
        listed[term] = [list(pair) for pair in zip(rows.tolist(), tfs.tolist(), strict=True)]
    return {"field": number, "lengths": lexicon.lengths().tolist(), "terms": listed}


def _positions(lexicon: _core.Lexicon, positions: _core.Positions) -> Found:
    """Return the rows of each word, with its places in their texts."""
    terms = {term: positions.places((term, False)) for term in lexicon.vocabulary()}
    stops = {word: positions.places((word, True)) for word in positions.stop_words()}
    return {
        name: {word: [[row, at] for row, at in places if at] for word, places in lists.items()}
        for name, lists in (("terms", terms), ("stop_words", stops))
    }


def _links(links: _core.StoredLinks) -> Found:
    strings, kinds = links.strings(), links.kinds()
    edges: list[list[Any]] = []
    for document, kind, target, start, size, fragment, text in links.edges().tolist():
        place = [None, None] if start == _core.NO_PLACE else [start, size]
        edges.append([document, kinds[kind], strings[target], *place])
        edges[-1] += [strings[one] if one < len(strings) else None for one in (fragment, text)]
    return {
        "kinds": kinds, "names": [list(one) for one in links.names()], "edges": edges,
        "matrices": [
            [scope, bits, [[_number(x) for x in row] for row in matrix.tolist()]]
            for scope, bits, matrix in links.features()
        ],
    }  # fmt: skip


def _columns(segment: RowSegment) -> list[Found]:
    section = segment.section("rag.columns")
    assert section is not None
    stored = _core.StoredColumns(section, segment.rows)
    _refuse(consistency.column_faults(segment))
    found: list[Found] = []
    for number, path in enumerate(stored.names()):
        column = stored.column(number) if stored.has_values(number) else None
        values = column and [column.value(code + 1).hex() for code in range(len(column))]
        found.append({"path": path, "codes": column and column.codes().tolist(), "values": values})
    return found


def _fine(reader: _core.Reader, number: int, section: _core.Section) -> list[object]:
    """Return the grain, and the sections with checksums of small blocks."""
    grain, parts = _core.fine_sums(section)
    names = {(e["at"], e["size"]): e["name"] for e in reader.entries if e["segment"] == number}
    return [grain, [names[at, size] for at, size, _ in parts if (at, size) in names]]


def _document(segment: RowSegment, number: int) -> Found:
    record = segment.records.document(number)
    chunks = [_chunk(segment, record, row) for row in record.rows]
    text = segment.text(record, 0, record.text_size)
    meta = segment.fields(record.meta_at, record.meta_size)
    found: Found = {
        "id": record.id, "deleted": not segment.document(number).is_live, "own_text": record.has_text,
        "text": text if record.has_text else None, "meta": meta if record.meta_size else None,
        "chunks": chunks,
    }  # fmt: skip
    if meta.get("body", 0) > len(text):
        raise CorruptError(
            f"the body of document {record.id!r} begins after its end", section="rag.meta"
        )
    if "original" in meta:
        found["original"] = Document(record.id, text, edits=meta["original"]).original
    return found


def _chunk(segment: RowSegment, document: _core.DocumentRecord, row: int) -> Found:
    chunk = segment.records.chunk(row)
    text = segment.text(document, chunk.start, chunk.size)
    meta = segment.fields(chunk.meta_at, chunk.meta_size) if chunk.meta_size else None
    return {"row": row, "index": chunk.index, "text": text, "start": chunk.char_start, "meta": meta}


def answer(reader: Read, data: bytes, dim: int | None = None) -> Found:
    """Return a reader's result as JSON, or {"refused": {"kind", "at", …}} for its refusal."""
    try:
        found: Found = json.loads(json.dumps(reader(data, dim)))
        return found
    except FormatError as error:
        kind = "version" if isinstance(error, VersionError) else "format"
        return {"refused": {"kind": kind, "at": error.at, "reason": str(error)}}
    except ValueError as error:
        if not hasattr(error, "kind"):
            raise
        names = ("kind", "at", "rule", "reason")
        return {"refused": {name: getattr(error, name) for name in names}}


def _module(path: str) -> Read:
    spec = importlib.util.spec_from_file_location("reader_under_test", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    reader: Read = module.read
    return reader


def _program(path: str) -> Read:
    def ask(data: bytes, dim: int | None = None) -> Found:
        with system.temporary_folder() as folder:
            name = os.path.join(folder, "given.ragfile")
            with open(name, "wb") as file:
                file.write(data)
            words = [path, name, *([str(dim)] if dim else [])]
            done = subprocess.run(words, capture_output=True, check=False, timeout=60)
        try:
            found: Found = json.loads(done.stdout)
        except ValueError:
            raise SystemExit(
                f"{path} printed no JSON: {done.stderr.decode(errors='replace')[-500:]}"
            ) from None
        return found

    return ask


def reader_of(path: str | None) -> Read:
    """Return a reader: the package, a Python module, or a program."""
    if path is None:
        return functools.partial(answer, read)
    if path.endswith(".py"):
        return functools.partial(answer, _module(path))
    return _program(path)


def difference(expected: object, found: object, packed: bool = False, path: str = "") -> str | None:
    """Describe the first difference of two answers; None if they agree. Extra keys are ignored."""
    pairs: Iterable[tuple[object, object, object]]
    if is_object(expected) and is_object(found):
        pairs = [(key, value, found.get(key)) for key, value in expected.items()]
    elif _are_lists(expected, found):
        wanted, given = cast("list[object]", expected), cast("list[object]", found)
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(wanted, given, strict=True))]
    else:
        unread = packed and found is None and path.rpartition("/")[2] in ("text", "meta")
        same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
        same = same and (expected != 0 or str(expected)[0] == str(found)[0])  # -0.0 is not 0.0
        return None if same or unread else f"{path or '/'}: {expected!r} expected, {found!r} found"
    return next(
        (d for key, a, b in pairs if (d := difference(a, b, packed, f"{path}/{key}"))), None
    )


def _are_lists(expected: object, found: object) -> bool:
    """Return whether both are lists of one length."""
    if not isinstance(expected, list) or not isinstance(found, list):
        return False
    return len(cast("list[object]", expected)) == len(cast("list[object]", found))


def compare(expected: Found, found: Found) -> str | None:
    """Describe the fault in a reader's answer to one vector; None if it is right."""
    if "refused" not in expected:
        return f"refused: {found['refused']}" if "refused" in found else difference(
            expected["found"], found, expected.get("packed", False)
        )  # fmt: skip
    if "refused" not in found:
        return "accepted, and must not be"
    wanted, given = expected["refused"], found["refused"]
    if (wanted["kind"] == "version") != (given["kind"] == "version"):
        return f"refused as {given['kind']}, not as {wanted['kind']}"
    return (
        None
        if wanted.get("at", given["at"]) == given["at"]
        else f"refused at {given['at']}, not at {wanted['at']}"
    )


def vectors(folder: str) -> Iterator[SpecVector]:
    """Yield the vectors of a folder; some are stored as patches of others."""
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        listed = json.load(file)
    for name, expected in listed.items():
        with open(os.path.join(folder, expected.get("of", name)), "rb") as file:
            data = bytearray(file.read())
        if "of" in expected:
            data = data[: expected["size"]].ljust(expected["size"], b"\0")
            for at, new in expected["patches"]:
                data[at : at + len(new) // 2] = bytes.fromhex(new)
        yield SpecVector(name, bytes(data), expected)


def run(folder: str, reader: Read, report: Report = print) -> Outcome:
    """Test a reader with all vectors of a folder."""
    passed = failed = 0
    for name, data, expected in vectors(folder):
        wrong = compare(expected, reader(data, expected.get("dim")))
        passed += wrong is None
        failed += wrong is not None
        report(f"{'FAIL' if wrong else 'pass'}  {name}{'  ' + wrong if wrong else ''}")
    return Outcome(passed, failed)


def pipeline(folder: str, report: Report = print) -> Outcome:
    """Test the package with the vectors of loading, chunking, fusion, filters and search."""
    passed = failed = 0
    for name, check in (("normalization", _normalizes), ("chunks", _cuts), ("sections_3", _cuts), ("paths", _leads), ("context", _turns), ("fusion", _fuses), ("filters", _filters),
                        ("search", _searches), ("evidence", _searches)):  # fmt: skip
        path = os.path.join(folder, f"{name}.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            outcomes = list(check(json.load(file)))
        wrong = [number for number, good in enumerate(outcomes) if not good]
        passed, failed = passed + len(outcomes) - len(wrong), failed + len(wrong)
        report(
            f"{'FAIL' if wrong else 'pass'}  {name}: {len(outcomes)} cases{f', wrong are {wrong}' if wrong else ''}"
        )
    return Outcome(passed, failed)


def _normalizes(cases: list[Found]) -> Iterator[bool]:
    for case in cases:
        made = normalize(case["raw"])
        spans = all(
            made.raw_span(start, end) == (first, last) for start, end, first, last in case["spans"]
        )
        yield made.text == case["text"] and spans


def _cuts(cases: list[Found]) -> Iterator[bool]:
    for case in cases:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # some policies warn of chunks that a small model would cut short
            chunks = split(_described(case), Policy.of({"version": 2, **case["policy"]}))
        found = [(c.start, c.end, c.metadata.get("headers", ""), c.content) for c in chunks]
        yield found == [(c["start"], c["end"], c["headers"], c["content"]) for c in case["chunks"]]


def _described(case: Found) -> Document:
    fields = dict(case.get("document", {"id": "d"}))
    segments = [Part(**segment) for segment in fields.pop("segments", [])]
    return Document(**fields, text=normalize(case["text"]).text, segments=segments)


def _leads(cases: list[Found]) -> Iterator[bool]:
    for case in cases:
        (chunk,) = split(Document.of(case["document"]), Policy(case["kind"]))
        yield chunk.metadata.get("headers", "") == case["headers"]


def _turns(cases: list[Found]) -> Iterator[bool]:
    for case in cases:
        made = np.array([case["text"]], np.float32)
        path = np.array([case["path"]], np.float32)
        _core.add_context(made, path, np.zeros(1, np.int64), case["weight"])
        yield made[0].tolist() == case["vector"]


def _fuses(cases: list[Found]) -> Iterator[bool]:
    for case in cases:
        sets = [
            [Candidate(content="", **candidate) for candidate in ranking]
            for ranking in case["sets"]
        ]
        found = fusion.fuse(sets, case["method"], case["params"])
        yield [
            {"doc_id": c.doc_id, "chunk_index": c.chunk_index, "score": c.score} for c in found
        ] == case["fused"]


def _searches(golden: Found) -> Iterator[bool]:
    """Search a file of the corpus.

    Scores of a single retriever must be equal; fused ones may differ in the logarithm's last bit.
    """
    from ragfile.ingest.analysis import Analysis
    from ragfile.knowledge_base import KnowledgeBase
    from ragfile.write.writer import create

    with system.temporary_folder() as folder:
        path = os.path.join(folder, "kb")
        plain, kept = Analysis(stemmer="none", stop_words="none"), {"method": "calibrated"}
        with create(path, analysis=plain, config={"fusion": kept}) as w:
            vectors = [chunk["vector"] for chunk in golden["corpus"]]
            w.add(
                [{k: v for k, v in chunk.items() if k != "vector"} for chunk in golden["corpus"]],
                vectors,
            )
        with KnowledgeBase(path) as rf:
            for case in golden["cases"]:
                yield _answers(rf, case, golden["params"].get(case["method"], {}))


def _answers(rf: KnowledgeBase, case: Found, params: dict[str, float]) -> bool:
    alone = case["method"] in ("bm25", "vector")
    options: dict[str, Any] = (
        {"mode": case["method"]} if alone else {"fusion": (case["method"], params)}
    )
    hits = rf.search(
        case["query"],
        case["k"],
        vector=case["vector"],
        where=case["where"],
        pool=case["pool"],
        **options,
    )
    if [hit.id for hit in hits] != [expected["id"] for expected in case["hits"]]:
        return False
    return all(
        math.isclose(hit.score, expected["score"], rel_tol=1e-12)
        and all(score == expected[retriever] for retriever, score in hit.scores.items())
        for hit, expected in zip(hits, case["hits"], strict=True)
    )


def _filters(cases: Found) -> Iterator[bool]:
    for case in cases["filters"]:
        yield _passing(filters.Dicts(cases["rows"]), where=case["where"]) == case["rows"]
    for case in cases["tag_filters"]:
        nothing: list[dict[str, Any]] = [{}] * len(cases["tags"])
        columns = filters.Dicts(nothing, cases["tags"])
        yield (
            _passing(columns, **{key: value for key, value in case.items() if key != "rows"})
            == case["rows"]
        )
    for where in cases["refused"]:
        try:
            filters.compile(where)
        except ValueError:
            yield True
        else:
            yield False


def _passing(
    columns: filters.Dicts,
    **condition: Any,  # Any: parsed JSON
) -> list[int]:
    return [
        row for row, kept in enumerate(filters.compile(**condition).mask(columns).tolist()) if kept
    ]


def unpack(folder: str, target: str) -> None:
    """Write every vector as a file of its own."""
    os.makedirs(target, exist_ok=True)
    for name, data, _ in vectors(folder):
        with open(os.path.join(target, name), "wb") as file:
            file.write(data)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ragfile.conformance", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--reader",
        metavar="PATH",
        help="a Python module with read(data, dim), or a program that prints JSON",
    )
    parser.add_argument(
        "--vectors",
        metavar="DIR",
        default=VECTORS,
        help="the folder of the vectors; default: spec/vectors of the source tree",
    )
    parser.add_argument(
        "--unpack",
        metavar="DIR",
        help="only write all vectors as files to DIR, those kept as changes too",
    )
    options = parser.parse_args(arguments)
    if not os.path.exists(os.path.join(options.vectors, "expected.json")):
        parser.error(
            f"no vectors in {options.vectors}: they are in spec/vectors of the repository and of the "
            "source distribution; name that folder with --vectors"
        )
    if options.unpack:
        unpack(options.vectors, options.unpack)
        return 0
    passed, failed = run(options.vectors, reader_of(options.reader))
    cases, wrong = (0, 0) if options.reader else pipeline(os.path.join(options.vectors, "pipeline"))
    more = f", {cases} of {cases + wrong} cases of the pipeline" if cases + wrong else ""
    print(f"{passed} of {passed + failed} files{more} as the specification says")
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
