"""Filters over `rag.columns` pass the rows that they pass over the metadata themselves, whatever the values and paths."""

import json
import math
from unittest import mock

import hypothesis.strategies as st
import numpy as np
import pytest
from effort import examples
from file.test_filters import METADATA, VALUES, WHERE, passes
from fuzz.sections import sealed
from hypothesis import example, given, settings
from servers.range_server import RangeServer

import ragfile
from ragfile import _core
from ragfile.errors import FormatError
from ragfile.file import filters, stored_columns
from ragfile.file.metadata_columns import Labels

TAGS = st.lists(st.sampled_from(["red", "green", "", "ü"]), max_size=3)


def built(rows, limits=None):
    """StoredColumns of (shared, [own, …]) documents, or None where there is no section."""
    options = {} if limits is None else {"limits": _core.COLUMN_LIMITS | limits}
    builder, count = _core.ColumnsBuilder(**options), 0
    for shared, own in rows:
        builder.document(encoded(shared))
        for fields in own:
            builder.rows(encoded(fields))
            count += 1
    if builder.is_spoilt:
        return None
    out = bytearray()
    builder.finish(out.extend)
    return _core.StoredColumns(_core.Section.over(bytes(out)), count)


def encoded(fields):
    if isinstance(fields, bytes):
        return fields
    return json.dumps(fields).encode() if fields else b""


# ------------------------------------------------------------------------------------------------------- values as bytes


@given(VALUES, VALUES)
@example(2**53 + 1, float(2**53))
@example(-(2**63), -(2.0**63))
@example(2**63 - 1, 2.0**63)
@example(10**400, math.inf)
@example(-(10**400), -math.inf)
@example("a\0", "a")
@example("\0", "\1")
@example(["\1"], ["\1\1"])
def test_bytes_of_values_compare_as_the_values_do(a, b):
    x, y = filters.sort_key(a), filters.sort_key(b)
    raw_x, raw_y = _core.value_bytes(x), _core.value_bytes(y)
    assert (raw_x < raw_y, raw_x == raw_y) == (x < y, x == y)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-2048, 2048))
def test_bytes_of_integers_compare_as_the_integers_do(a, step):
    b = min(max(a + step, -(2**63)), 2**63 - 1)
    raw = [_core.value_bytes((2, value)) for value in (a, b, float(a))]
    assert (raw[0] < raw[1], raw[0] == raw[1]) == (a < b, a == b)
    assert (raw[2] < raw[1], raw[2] == raw[1]) == (float(a) < b, float(a) == b)


@given(VALUES)
@example(2**63)
@example({"b": [1.0, {"a": None}], "": ("x", True)})
def test_bytes_made_at_once_are_those_of_the_key(value):
    key = None if holds_odd(value) else _core.value_bytes(filters.sort_key(value))
    assert _core.plain_bytes(value) == key


@pytest.mark.parametrize("value", [math.nan, {1: 2}, {"a": {None: 1}}, {1}, [b"x"], np.int64(1)])
def test_other_values_have_no_bytes_made_at_once(value):
    assert _core.plain_bytes(value) is None


def test_values_that_nest_too_deeply_have_no_bytes_made_at_once():
    value = 1
    for _ in range(256):
        value = [value]
    assert _core.plain_bytes(value) == _core.value_bytes(filters.sort_key(value))
    assert _core.plain_bytes([value]) is None
    endless = []
    endless.append(endless)
    assert _core.plain_bytes(endless) is None


# ----------------------------------------------------------------------------------------------------- what is stored

ODD = st.sampled_from([10**400, 2**64, -(2**63) - 1, math.inf])
ROWS = st.lists(
    st.tuples(
        st.fixed_dictionaries({}, optional={"metadata": METADATA, "tags": TAGS, "source": st.just("s")}),
        st.lists(st.fixed_dictionaries({}, optional={"metadata": METADATA, "tags": TAGS}), max_size=4),
    ),
    max_size=5,
)  # fmt: skip


class Stored:
    """filters.FilterColumns of stored columns alone; None where a path is not stored."""

    def __init__(self, stored, rows):
        self.stored, self.rows, self.missed = stored, rows, set()

    def __len__(self):
        return self.rows

    def column(self, path):
        found = self.stored.find(path)
        if found is None:
            return filters.without_values(self.rows)
        if not self.stored.has_values(found):
            self.missed.add(path)
            return filters.without_values(self.rows)
        return stored_columns.FileColumn(self.stored.column(found))

    def tags(self):
        return self.column(None)

    def of_core(self, chosen):
        paths = [*chosen.paths, *([None] if chosen.has_tags else [])]
        found = {path: self.stored.find(path) for path in paths}
        return {
            None if path is None else path.encode(): self.stored.column(number)
            for path, number in found.items()
            if number is not None
        }


def merged(rows):
    for shared, own in rows:
        for fields in own:
            metadata = {**shared.get("metadata", {}), **fields.get("metadata", {})}
            if "source" not in metadata and shared.get("source"):
                metadata["source"] = shared["source"]
            yield metadata, fields["tags"] if "tags" in fields else shared.get("tags", [])


@settings(max_examples=examples(150))
@given(ROWS, WHERE, TAGS, TAGS)
@example([({"metadata": {"a": {"b": 1}}}, [{"metadata": {"a": 5}}, {}])], {"a.b": 1}, [], [])
@example([({"metadata": {"a.b": 1}}, [{"metadata": {"a": {"b": 2}}}, {}])], {"a.b": 1}, [], [])
@example([({"source": "s"}, [{"metadata": {"source": None}}, {}])], {"source": "s"}, [], [])
def test_a_stored_filter_equals_the_slow_predicate_on_every_row(rows, where, tags_any, tags_all):
    expected = [
        passes(where, metadata)
        and (not tags_any or any(tag in tags for tag in tags_any))
        and all(tag in tags for tag in tags_all)
        for metadata, tags in merged(rows)
    ]
    columns = Stored(built(rows), len(expected))
    chosen = filters.compile(where, tags_any=tags_any, tags_all=tags_all)
    found = chosen.mask(columns).tolist()
    if not columns.missed:  # of a value that no column holds
        assert found == expected
        words = _core.filter_rows(*chosen.encoded, columns.of_core(chosen), len(expected))
        assert _core.flags_of(words, len(expected)).tolist() == expected
    else:
        # of documents without rows, too
        assert any(holds_odd([shared, *own]) for shared, own in rows)


def holds_odd(value):
    if isinstance(value, dict):
        return any(map(holds_odd, value.values()))
    if isinstance(value, list):
        return any(map(holds_odd, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def below_objects(value, path):
    """What a path selects in objects alone: values in lists are no part of a stored column."""
    if not isinstance(value, dict):
        return filters.MISSING
    if path in value:
        return value[path]
    head, dot, rest = path.partition(".")
    return below_objects(value.get(head), rest) if dot else filters.MISSING


@given(ROWS)
def test_a_column_has_each_value_once_in_order_and_no_other(rows):
    stored = built(rows)
    said = [metadata for metadata, _ in merged(rows)]
    for path in stored.names():
        if path is None or not stored.has_values(stored.find(path)):
            continue
        column = stored.column(stored.find(path))
        values = [below_objects(each, path) for each in said]
        keys = sorted({filters.sort_key(v) for v in values if v is not filters.MISSING})
        assert len(column) == len(keys)
        for code, key in enumerate(keys, 1):
            assert column.find(_core.value_bytes(key)) == (code, code + 1)
            mask = _core.flags_of(column.rows(code, code + 1), len(said)).tolist()
            assert mask == [v is not filters.MISSING and filters.sort_key(v) == key for v in values]


TEXTS = ["", "a", "\0", "\1", "\0\1", "a\0b", "é", "😀", "\ud800", "\udc00\ud800", "x" * 300]


def test_texts_are_what_json_makes_of_them():
    rows = [({"metadata": {"t": text}}, [{}]) for text in TEXTS]
    raw = [json.dumps(r[0], ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
           for r in rows for is_ascii in (True, False)]  # fmt: skip
    raw.append(b'{"metadata": {"t": "\\ud83d\\ude00"}}')
    raw.append(b'{"metadata" : {"t":\t"\\/\\b\\f\\n\\r\\t\\"\\\\\\u00e9"} }')
    stored = built([(each, [{}]) for each in raw])
    column = stored.column(stored.find("t"))
    for row, each in enumerate(raw):
        text = json.loads(each.decode("utf-8", "surrogatepass"))["metadata"]["t"]
        words = column.rows(*column.find(_core.value_bytes((3, text))))
        assert _core.flags_of(words, len(raw))[row]


@given(st.text(alphabet='{}[]":,\\u0123456789abcdefDU.eE+- \ntrufalsnIiyNo', max_size=40))
@example("[NaN, 1]")
@example("-Infinity")
@example('"\\ud83d\\ud83d\\ude00"')
@example("9223372036854775808")
@example("-9223372036854775808")
@example("1e5000")
@example("00")
@example("1.")
@example("-")
def test_json_is_read_as_python_reads_it(raw):
    """Or it spoils the section, or is a value that no column holds."""
    text = f'{{"metadata": {{"v": {raw}}}}}'
    try:
        value = json.loads(text)["metadata"]["v"]
        is_object = set(json.loads(text)) == {"metadata"} and set(json.loads(text)["metadata"]) == {
            "v"
        }
    except ValueError:
        value, is_object = None, False
        assert built([(text.encode(), [{}])]) is None
    if not is_object:
        return
    stored = built([(text.encode(), [{}])])
    if stored is None:
        assert has_a_key_twice(text)
        return
    found = stored.find("v")
    if stored.has_values(found):
        key = _core.value_bytes(filters.sort_key(value))
        assert stored.column(found).find(key) == (1, 2)
    else:
        assert has_no_bytes(value)


def has_a_key_twice(text):
    twice = []

    def look(pairs):
        twice.append(len(pairs) != len(dict(pairs)))
        return dict(pairs)

    json.loads(text, object_pairs_hook=look)
    return any(twice)


def has_no_bytes(value):
    if isinstance(value, dict):
        return any(map(has_no_bytes, value.values()))
    if isinstance(value, list):
        return any(map(has_no_bytes, value))
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and not -(2**63) <= value < 2**63


@pytest.mark.parametrize(
    "raw",
    [
        b"[]", b"{", b'{"metadata": 1}', b'{"metadata": {"a": 1, "a": 1}}', b'{"metadata": {"a": {"b": 1, "b": 1}}}',
        b'{"tags": "x"}', b'{"tags": [1]}', b'{"source": 1}', b'{"metadata": {}} x', b'{"metadata": {"a": "\xff"}}',
        b'{"metadata": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}", b'{"metadata": {}, "metadata": {}}', b'{"metadata": {"a": "\n"}}',
        b'{"metadata": {"a": tru}}', b'{"metadata": {"a": 1,}}', b'{"a": 01}', b'{"a": "\\x"}', b'{"a": "\\ud80"}',
    ],
)  # fmt: skip
def test_what_a_reader_may_refuse_spoils_the_section(raw):
    assert built([(raw, [{}])]) is None
    assert built([({}, [raw])]) is None


def test_values_beyond_the_limits_leave_their_path_to_the_metadata():
    rows = [({"metadata": {"a": "x" * n, "b": n}}, [{}]) for n in range(50)]
    stored = built(rows, {"value": 30})
    assert [stored.has_values(stored.find(path)) for path in "ab"] == [False, True]
    stored = built(rows, {"values": 100})
    assert [stored.has_values(stored.find(path)) for path in "ab"] == [False, False]
    stored = built(rows, {"free_bytes": 100, "bytes_a_row": 1})
    assert [stored.has_values(stored.find(path)) for path in "ab"] == [False, True]
    stored = built(rows, {"held": 500})
    assert not all(stored.has_values(stored.find(path)) for path in "ab")
    assert not stored.is_partial


def test_more_paths_than_a_section_lists_make_it_say_so():
    rows = [({"metadata": {f"k{n:05d}": n, "all": 1}}, [{}]) for n in range(2000)]
    stored = built(rows)
    assert stored.is_partial
    assert len(stored) == 1024
    assert stored.has_values(stored.find("all"))
    assert stored.find("k01999") is None


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 4095, 4096, 4097, 12_300])
@pytest.mark.parametrize("distinct", [1, 3, 254, 255, 256, 65_534, 65_536])
def test_codes_of_every_width_and_blocks_of_every_size(rows, distinct):
    rng = np.random.default_rng(rows * distinct)
    if distinct > 65_000:
        rows += distinct
    numbers = np.arange(rows) % (distinct + 1)
    numbers = np.sort(numbers) if rows % 2 else rng.permutation(numbers)
    stored = built([({"metadata": {"n": n} if n else {}}, [{}]) for n in numbers.tolist()])
    if not numbers.any():
        assert stored.names() == []
        return
    column = stored.column(stored.find("n"))
    for low, high in [
        (1, 2),
        (2, 40),
        (0, 1),
        (5, 5),
        (1, 2**32 - 1),
        (200, 300),
        (0, len(column) + 1),
    ]:
        mask = _core.flags_of(column.rows(low, high), rows)
        assert (mask == ((numbers >= low) & (numbers < high))).all()
    chosen = rng.integers(0, 2, len(column) + 1).astype(np.uint8)
    assert (_core.flags_of(column.rows_of(chosen), rows) == chosen[numbers].astype(bool)).all()


# ------------------------------------------------------------------------------------------------------------- files


def file_of(path, rows, **options):
    with ragfile.create(path, **options) as w:
        for i, (shared, own) in enumerate(rows):
            chunks = [
                {"doc_id": f"d{i}", "chunk_index": k, "content": "x", "metadata": fields.get("metadata", {}),
                 "tags": fields.get("tags", shared.get("tags", []))}
                for k, fields in enumerate(own)
            ]  # fmt: skip
            document = {"id": f"d{i}", "text": "", "metadata": shared.get("metadata", {}),
                        "source": shared.get("source", ""), "tags": shared.get("tags", [])}  # fmt: skip
            w.add_document(document, [ragfile.Chunk.of(c) for c in chunks], has_text=False)


def sources_of(rf):
    """As the file says it, and by the metadata alone."""
    slow = [Labels([segment]) for segment in rf.rows.segments]
    return rf.rows.segment_columns, slow


PATHS = st.sampled_from(["doc_id", "id", "source", "x", "none", "a"])
IDS = st.dictionaries(
    PATHS,
    st.one_of(
        st.sampled_from(["d0", "d1", "d1#0", "s", 1]),
        st.fixed_dictionaries({"$in": st.lists(st.sampled_from(["d0", "d2", "d3#1", "s"]), max_size=3)}),
        st.fixed_dictionaries({"$gt": st.sampled_from(["d0", "d1#1", ""])}),
        st.fixed_dictionaries({"$contains": st.sampled_from(["1", "d", ""])}),
        st.fixed_dictionaries({"$exists": st.booleans()}),
    ),
    max_size=2,
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(ROWS, st.one_of(WHERE, IDS), TAGS, st.booleans())
def test_a_file_answers_by_its_columns_as_by_its_metadata(
    tmp_path_factory, rows, where, tags, is_odd
):
    if is_odd:
        rows = [
            *rows,
            ({"metadata": {"x": 10**400, "doc_id": "mine"}}, [{}, {"metadata": {"id": 7}}]),
        ]
    path = tmp_path_factory.mktemp("columns") / "kb"
    with mock.patch.object(stored_columns, "WORTH", 0):
        file_of(path, rows)
    chosen = filters.compile(where, tags_any=tags)
    with ragfile.open(path) as rf:
        for fast, slow in zip(*sources_of(rf), strict=True):
            expected = chosen.mask(slow).tolist()
            assert chosen.mask(fast).tolist() == expected
            if chosen:
                assert _core.flags_of(fast.passing(chosen), len(fast)).tolist() == expected


def test_ids_and_sources_are_those_of_the_file(tmp_path):
    rows = [({"source": f"/s/{i}"}, [{}, {}]) for i in range(50)]
    rows.append(({"metadata": {"doc_id": "d7"}}, [{}]))
    file_of(tmp_path / "kb", rows)
    rf = ragfile.open(tmp_path / "kb")
    assert rf.rows.segment_columns[0].stored is not None
    assert np.flatnonzero(rf.rows.mask({"source": "/s/3"})).tolist() == [
        row for row in range(rf.rows.count) if rf.hit(row).source == "/s/3"
    ]
    for where, hits in (
        ({"doc_id": "d7"}, lambda h: h.doc_id == "d7" or h.doc_id == "d50"),
        ({"id": {"$in": ["d7#1", "d9#0", "d9"]}}, lambda h: h.id in ("d7#1", "d9#0")),
    ):
        found = np.flatnonzero(rf.rows.mask(where)).tolist()
        assert found == [row for row in range(rf.rows.count) if hits(rf.hit(row))]


def test_a_filter_reads_no_metadata_where_there_are_columns(tmp_path):
    file_of(
        tmp_path / "kb", [({"metadata": {"n": i, "deep": {"k": i % 3}}}, [{}]) for i in range(100)]
    )
    rf = ragfile.open(tmp_path / "kb")
    with mock.patch.object(Labels, "__init__", side_effect=AssertionError):
        assert rf.rows.mask({"n": {"$gte": 90}, "deep.k": 0}).sum() == 4
        with pytest.warns(ragfile.errors.FilterWarning):
            assert not rf.rows.mask({"nope": 1}).any()


def test_segments_with_and_without_columns_are_asked_together(tmp_path):
    file_of(tmp_path / "kb", [({"metadata": {"n": i}}, [{}]) for i in range(100)])
    with ragfile.edit(tmp_path / "kb") as w:
        w.add_documents([{"id": f"e{i}", "text": "x", "metadata": {"n": i}} for i in range(9)])
        w.delete(["d3"])
    rf = ragfile.open(tmp_path / "kb")
    assert [columns.stored is None for columns in rf.rows.segment_columns] == [False, True]
    ids = {
        rf.chunk(row).doc_id
        for row in np.flatnonzero(rf.rows.mask({"n": {"$in": [3, 4]}})).tolist()
    }
    assert ids == {"d4", "e3", "e4"}


# --------------------------------------------------------------------------------------------------------- hostile ones

GOOD = [
    ({"metadata": {"n": n, "t": f"text {n % 5}", "l": [n % 3, "x"], "o": {"k": n % 2}}, "tags": ["a", f"{n % 4}"]}, [{}, {"metadata": {"m": None}}])
    for n in range(300)
]  # fmt: skip
CONDITIONS = [
    {"n": {"$gte": 40, "$lt": 2**60}}, {"t": {"$contains": "t 3"}}, {"l": {"$any": [1, "x"]}}, {"l": {"$all": [2]}}, {"o": {"k": 1}}, {"o.k": {"$ne": 0}},
    {"m": None}, {"t": {"$in": ["text 1", "text 2", 5]}}, {"l": [1, "x"]}, {"l": {"$contains": "x"}}, {"n": {"$exists": False}},
]  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_whatever_a_section_says_a_filter_ends_in_rows_or_in_an_error_of_ours(data):
    raw = bytearray(SECTION)
    for _ in range(data.draw(st.integers(1, 6))):
        is_head = data.draw(st.booleans())
        at = data.draw(st.integers(0, 64 * 10 if is_head else len(raw) - 1))
        size = data.draw(st.sampled_from([1, 1, 4, 8]))
        new = data.draw(st.sampled_from([b"\0", b"\xff", b"\1", b"\x80", b"\6", b"\7"])) * size
        raw[at : at + size] = new[: len(raw) - at]
    if data.draw(st.booleans()):
        del raw[data.draw(st.integers(0, len(raw))) :]
    try:
        columns = Stored(_core.StoredColumns(_core.Section.over(bytes(raw)), 600), 600)
        for where in CONDITIONS:
            assert filters.compile(where).mask(columns).shape == (600,)
        filters.compile(tags_any=["a", "3"]).mask(columns)
        for path in columns.stored.names():
            found = columns.stored.find(path)
            if found is not None and columns.stored.has_values(found):
                column = columns.stored.column(found)
                [column.value(code + 1) for code in range(len(column))]
    except (FormatError, UnicodeDecodeError):
        pass


def section_of(rows):
    builder, out = _core.ColumnsBuilder(), bytearray()
    for shared, own in rows:
        builder.document(encoded(shared))
        for fields in own:
            builder.rows(encoded(fields))
    builder.finish(out.extend)
    return bytes(out)


SECTION = section_of(GOOD)


def test_verify_finds_a_column_that_says_other_than_the_metadata(tmp_path):
    file_of(tmp_path / "kb", GOOD)
    assert ragfile.verify(tmp_path / "kb")[0] == []
    rf = ragfile.open(tmp_path / "kb")
    parts = [(e["name"], e["segment"], e["flags"], e["items"], bytes(rf.file.section(e["name"], e["segment"])), e["at"]) for e in rf.file.entries]  # fmt: skip
    stored = rf.rows.segment_columns[0].stored
    at, _ = stored.place(stored.find("n"))
    for place in (at + 8 * 1 + 40, at):
        changed = [
            (*p[:4], p[4][:place] + bytes([p[4][place] ^ 1]) + p[4][place + 1 :], p[5]) if p[0] == "rag.columns" else p
            for p in parts
        ]  # fmt: skip
        (tmp_path / "bad").write_bytes(sealed(changed, rf.file.reader.segments))
        assert {fault[3] for fault in ragfile.verify(tmp_path / "bad")[0]} == {"rag.columns"}


def test_columns_made_of_a_segment_are_those_that_its_writer_made(tmp_path):
    """Neighbours that say the same, say nothing, or more than a block of the stream holds."""
    rng = np.random.default_rng(4)
    said = [{}, {"a": 1}, {"a": "ü" * 40}, {"b": ["x"] * 9}, {"a": 1, "c": {"d": "y" * 30_000}}]
    rows = []
    for i in range(160):
        runs = [[said[rng.integers(5)]] * rng.integers(1, 4) for _ in range(rng.integers(0, 5))]
        own = [{"metadata": fields} for run in runs for fields in run]
        rows.append(({"metadata": {"doc": i // 3}} if i % 4 else {}, own))
    file_of(tmp_path / "kb", rows)
    with ragfile.open(tmp_path / "kb") as rf:
        (segment,) = rf.rows.segments
        assert segment.meta.size > 20 * len(segment.section("rag.meta")) > 0  # many blocks
        builder, again = _core.ColumnsBuilder(), bytearray()
        builder.segment(segment.records, segment.meta)
        assert not builder.is_spoilt
        builder.finish(again.extend)
        assert bytes(again) == bytes(segment.section("rag.columns"))
    assert ragfile.verify(tmp_path / "kb")[0] == []


# -------------------------------------------------------------------------------------------------------------- remote


def test_a_filter_behind_a_url_brings_its_columns_and_not_the_metadata(tmp_path):
    rng = np.random.default_rng(3)
    with ragfile.create(tmp_path / "kb", dim=2) as w:
        chunks = [
            {"doc_id": f"d{i}", "chunk_index": 0, "content": "x", "metadata": {"n": i, "noise": rng.bytes(60).hex()}}
            for i in range(20_000)
        ]  # fmt: skip
        w.add(chunks, np.ones((20_000, 2), np.float32))
    raw = (tmp_path / "kb").read_bytes()
    with (
        RangeServer({"kb": raw}) as server,
        ragfile.open(tmp_path / "kb") as local,
        ragfile.open(server.url("kb")) as far,
    ):
        assert far.generation == 1  # which opens it
        server.forget()
        expected = local.rows.mask({"n": {"$lt": 700}})
        assert (far.rows.mask({"n": {"$lt": 700}}) == expected).all()
        assert server.sent < 600_000 < len(local.file.section("rag.meta"))
        assert server.count <= 3


def test_a_value_that_is_not_stored_and_that_no_row_has_is_no_fault(tmp_path):
    """A document without rows says something that is too long for a column."""
    with ragfile.create(tmp_path / "kb") as w:
        w.add([{"doc_id": f"d{i}", "chunk_index": 0, "content": "x"} for i in range(100)])
        w.add_documents([{"id": "empty", "text": "", "metadata": {"long": "y" * 5000, "short": 1}}])
    assert ragfile.verify(tmp_path / "kb")[0] == []
    (columns,) = ragfile.open(tmp_path / "kb").rows.segment_columns
    assert columns.stored.names() == ["long"]
    assert not columns.stored.has_values(0)


@pytest.mark.parametrize("values", [3, 300, 70_000])
def test_ranges_of_codes_of_each_width_are_rows_with_such_codes(values):
    rows = 70_001
    column = built([({}, [{"metadata": {"n": i * 7 % values}} for i in range(rows)])]).column(0)
    codes = column.codes()
    for low, high in [
        (1, 2),
        (2, values),
        (values - 1, values + 1),
        (0, 1),
        (5, 5),
        (1, 2**32 - 1),
    ]:
        mask = _core.flags_of(column.rows(low, high), rows)
        assert mask.tolist() == ((codes >= low) & (codes < high)).tolist()
