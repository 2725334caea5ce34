"""The walker, the lookup and the writer of 0.1.0 agree with a slow reader in plain Python, on good files and bad ones."""

import math
import os
import random
import re
import struct
import sys

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import pairs as oracle
from places import ROOT
from targets import TARGETS, on

from ragfile import _core
from ragfile.errors import FormatError, VersionError
from ragfile.file.pairs import PairFile
from ragfile.file.pairs_writer import write_pairs

GOLDEN = (
    b"RAGFILE\0\1\0\0keyword-(45,109)\0vector-(111,175)\0"
    + struct.pack("<QQB", 62, 109, 4)
    + b"AI-alpha content\0\0\0\0RAG-beta\0\0\0\0NUL-gaps of four\0"
    + struct.pack("<BQQB", 32, 129, 175, 4)
    + struct.pack("<4f", 1.0, -2.5, 0.0, 3.25)
    + b"-alpha\0\0\0\0"
    + struct.pack("<4f", 0.0, 0.0, 0.17578125, -0.0)
    + b"-beta"
)

words = st.text(st.characters(exclude_characters="-\0", exclude_categories=["Cs"]), max_size=12)
contents = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
paddings = st.sampled_from([4, 8, 16])
orders = st.sampled_from(["<", ">"])


def components(precision):
    if precision == 8:
        return st.sampled_from([0, 45, -45, 127, -128])
    return st.one_of(
        st.sampled_from(
            [0.0, -0.0, 1.0, struct.unpack("<f", b"----")[0], struct.unpack("<f", b"\0-\0-")[0]]
        ),
        st.floats(width=precision, allow_nan=False, allow_infinity=False),
    ).map(lambda x: round_to(x, precision))


def round_to(x, precision):
    code = oracle.FLOATS[precision]
    try:
        return struct.unpack(code, struct.pack(code, x))[0]
    except OverflowError:
        return 0.0


@st.composite
def files(draw):
    """The bytes of a valid file of any shape, and the dimension of its vectors."""
    order, padding, slack = draw(orders), draw(paddings), draw(st.sampled_from([0, 1, 5, 64]))
    precision, dim = draw(st.sampled_from([8, 16, 32, 64])), draw(st.integers(1, 6))
    extended = draw(st.booleans())
    keywords = draw(st.lists(st.tuples(words, contents), max_size=6))
    rows = st.lists(components(precision), min_size=dim, max_size=dim)
    vectors = draw(st.lists(st.tuples(rows, contents), max_size=6))
    unknown = draw(st.binary(max_size=9))
    sections = [("hypergraph", lambda at: unknown)]
    if draw(st.booleans()):
        sections.append(("keyword", oracle.keyword_section(keywords, padding, order, slack)))
    if draw(st.booleans()):
        block = extended and bool(vectors)
        sections.append(
            ("vector", oracle.vector_section(vectors, padding, precision, order, slack, block))
        )
    return oracle.build(draw(st.permutations(sections)), order), dim


def answers(make):
    """What a reader says of everything, errors as one word each: two readers are compared by it."""
    try:
        opened = make()
    except (FormatError, oracle.Refused):
        return "refused"
    return [
        outcome(opened.keywords),
        outcome(opened.vectors),
        *(outcome(lambda k=k: opened.lookup(k)) for k in KEYS),
    ]


KEYS = ["", "a", "AI", "RAG", "key", "é"]


def outcome(ask):
    try:
        return ask()
    except (FormatError, oracle.Refused):
        return "refused"


class Reader:
    """PairFile with the oracle's questions."""

    def __init__(self, data, dim=None):
        try:
            self.file = PairFile.over(data, dim=dim, dialect="strict")
        except FormatError:
            raise
        except ValueError:  # the file says another dimension, and its own word counts
            self.file = PairFile.over(data, dialect="strict")
        if dim is None:
            self.file.dim  # noqa: B018  what the oracle refuses at once

    def keywords(self):
        return list(self.file.pairs("keyword"))

    def vectors(self):
        return [(tuple(vector.tolist()), content) for vector, content in self.file.pairs("vector")]

    def lookup(self, keyword):
        return self.file.lookup(keyword)


def same(data, dim=None):
    theirs, ours = answers(lambda: oracle.File(data, dim)), answers(lambda: Reader(data, dim))
    assert repr(ours) == repr(theirs)
    return ours


@settings(max_examples=examples(300), deadline=None)
@given(files())
def test_every_valid_file_reads_as_the_oracle_reads_it(made):
    data, dim = made
    opened = oracle.File(data, dim)
    assert same(data, opened.dim) != "refused"


@settings(max_examples=examples(100), deadline=None)
@given(files())
def test_a_dimension_is_inferred_only_when_it_is_the_only_one(made):
    same(made[0])


@settings(max_examples=examples(200), deadline=None)
@given(files(), st.data())
def test_a_mutated_file_reads_as_the_oracle_reads_it(made, data):
    mutated = bytearray(made[0])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(mutated) - 1))
        mutated[at] = data.draw(st.sampled_from([0, 45, 4, 8, 48, 57, 255, mutated[at] ^ 1]))
    same(bytes(mutated), made[1])


def test_golden_file_is_176_bytes_and_reads_both_ways():
    assert len(GOLDEN) == 176
    assert GOLDEN[110] == 0
    opened = PairFile.over(GOLDEN, dialect="strict")
    assert opened.sections == {"keyword": (45, 109), "vector": (111, 175)}
    assert opened.lookup("AI") == ["alpha content"]
    assert opened.lookup("NUL") == ["gaps of four"]
    assert opened.dim == 4
    assert [content for _, content in opened.pairs("vector")] == ["alpha", "beta"]
    assert same(GOLDEN)[1][0] == ((1.0, -2.5, 0.0, 3.25), "alpha")


def test_every_truncation_and_every_bit_flip_of_the_golden_file_reads_as_the_oracle_reads_it():
    for size in range(len(GOLDEN)):
        assert same(GOLDEN[:size]) == "refused" or size < 12
    for bit in range(8 * len(GOLDEN)):
        flipped = bytearray(GOLDEN)
        flipped[bit // 8] ^= 1 << bit % 8
        same(bytes(flipped), 4)
        same(bytes(flipped))


# ------------------------------------------------------------------------------------------------------------- writing


@pytest.mark.parametrize("padding", [4, 8, 16])
@pytest.mark.parametrize("byteorder", ["little", "big"])
@pytest.mark.parametrize("precision", [8, 16, 32, 64])
def test_what_is_written_reads_back_in_both_readers(tmp_path, padding, byteorder, precision):
    keywords = [("a" * n, "b" * m) for n in range(1, 8) for m in range(0, 41, 3)] + [
        ("AI", "x-y--é"),
        ("AI", ""),
    ]
    bits = b"\0-" * 64
    rows = np.frombuffer(bits, oracle.FLOATS[precision])[:8]
    embeddings = [(np.roll(rows, i), "c" * (i % 5)) for i in range(20)] + [
        (np.zeros(8, rows.dtype), "zero-row")
    ]
    path = tmp_path / "a.rag"
    write_pairs(
        path,
        keywords,
        embeddings,
        padding=padding,
        precision=precision,
        byteorder=byteorder,
        sorted_keys=True,
    )
    slow = oracle.File(path.read_bytes())
    assert slow.keywords() == keywords
    assert [c for _, c in slow.vectors()] == [c for _, c in embeddings]
    with PairFile(path, dialect="strict") as opened:
        assert opened.byteorder == byteorder
        assert list(opened.pairs("keyword")) == keywords
        assert opened.lookup("AI") == ["x-y--é", ""]
        assert opened.lookup("aaa") == ["b" * m for m in range(0, 41, 3)]
        assert (opened.dim, opened.count, opened.precision) == (8, 21, precision)
        matrix = opened.vectors()
        assert matrix.tobytes() == b"".join(row.tobytes() for row, _ in embeddings)
        assert all(
            (v == row).all()
            for (v, _), (row, _) in zip(opened.pairs("vector"), embeddings, strict=True)
        )


@pytest.mark.parametrize("padding", [4, 8, 16])
def test_records_of_every_length_keep_their_exact_gap(tmp_path, padding):
    keywords = [("k", "c" * n) for n in range(41)]
    write_pairs(tmp_path / "a.rag", keywords, padding=padding)
    (_, region, _) = oracle.File((tmp_path / "a.rag").read_bytes()).keyword
    assert region == bytes(padding).join(b"k-" + b"c" * n for n in range(41))


def test_starts_are_aligned_and_sections_end_in_nuls(tmp_path):
    write_pairs(tmp_path / "a.rag", [("a", "b")], [([1.0], "c")])
    data = (tmp_path / "a.rag").read_bytes()
    for name, start, end in oracle.read_directory(data):
        pairs_start, pairs_end = struct.unpack_from("<QQ", data, start + (name == "vector"))
        assert pairs_start % 64 == 0
        assert pairs_end < end
        assert not any(data[pairs_end + 1 : end + 1])


def test_the_extension_holds_the_checksum_of_the_pairs(tmp_path):
    write_pairs(tmp_path / "a.rag", (), [([1.0, 2.0], "c"), ([3.0, 4.0], "d")])
    data = (tmp_path / "a.rag").read_bytes()
    slow = oracle.File(data)
    _, start, _ = slow.entries[0]
    dim, count, stride, flags, digest = struct.unpack_from("<IQIIQ", data, start + 22)
    assert (dim, count, stride, flags) == (2, 2, 8 + 2 + 16, 1)
    assert digest == _core.hash64(slow.vector[1])


def test_the_same_input_gives_the_same_bytes_and_replaces_the_file_whole(tmp_path):
    path = tmp_path / "a.rag"
    write_pairs(path, [("old", "x" * 1000)])
    with PairFile(path) as before:
        write_pairs(path, iter([("new", "y")]))
        assert before.lookup("old") == ["x" * 1000]
    first = path.read_bytes()
    write_pairs(path, [("new", "y")])
    assert path.read_bytes() == first
    assert os.listdir(tmp_path) == ["a.rag"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ([("ok", "x"), ("a-b", "x")], r"keyword of pair 1 has '-' at character 1: 'a-b'"),
        ([("é\0", "x")], r"keyword of pair 0 has NUL at character 1"),
        ([("a", "xé\0y")], r"content of pair 0 has NUL at character 2"),
        ([("a", "\ud800")], r"content of pair 0 has a lone surrogate at character 0"),
    ],
)
def test_text_that_the_format_cannot_hold_is_refused_by_name_and_place(tmp_path, keywords, message):
    with pytest.raises(ValueError, match=message):
        write_pairs(tmp_path / "a.rag", keywords)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
def test_a_row_that_is_not_finite_is_refused_with_its_number_unless_allowed(tmp_path, bad):
    rows = [([0.0, 1.0], "a"), ([0.0, bad], "b")]
    with pytest.raises(ValueError, match="row 1: component 1 is NaN or infinite"):
        write_pairs(tmp_path / "a.rag", (), rows)
    write_pairs(tmp_path / "a.rag", (), rows, allow_nonfinite=True)
    assert not np.isfinite(PairFile(tmp_path / "a.rag").vectors()[1, 1])


@pytest.mark.parametrize("options", [{"padding": 5}, {"precision": 17}, {"byteorder": "native"}])
def test_options_outside_the_format_are_refused(tmp_path, options):
    with pytest.raises(ValueError, match="must be"):
        write_pairs(tmp_path / "a.rag", [("a", "b")], **options)


@pytest.mark.parametrize("rows", [[([1.5], "a")], [([128], "a")]])
def test_precision_8_takes_whole_numbers_only(tmp_path, rows):
    with pytest.raises(ValueError, match="row 0: components at precision 8"):
        write_pairs(tmp_path / "a.rag", (), rows, precision=8)


def test_rows_of_different_dimensions_are_refused(tmp_path):
    with pytest.raises(ValueError, match="row 1 has 2 components"):
        write_pairs(tmp_path / "a.rag", (), [([1.0], "a"), ([1.0, 2.0], "b")])


def test_a_content_of_100_mb_round_trips(tmp_path):
    content = "é-" * 33_000_000
    write_pairs(tmp_path / "a.rag", [("a", "b"), ("big", content), ("z", "")])
    with PairFile(tmp_path / "a.rag") as opened:
        assert opened.lookup("big") == [content]
        assert opened.lookup("z") == [""]


# ------------------------------------------------------------------------------------------------------------- reading


@settings(max_examples=examples(60), deadline=None)
@given(files(), st.integers(1, 200))
def test_reading_in_chunks_of_any_size_gives_the_same_pairs(made, chunk):
    data, dim = made
    opened = PairFile.over(data, dim=oracle.File(data, dim).dim, dialect="strict")
    for name in ("keyword", "vector"):
        whole = [(np.array(head).tolist(), content) for head, content in opened.pairs(name)]
        assert [
            (np.array(head).tolist(), content) for head, content in opened.pairs(name, chunk=chunk)
        ] == whole


@settings(max_examples=examples(60), deadline=None)
@given(files(), st.data())
def test_chunks_of_a_damaged_section_fail_where_the_whole_does(made, data):
    mutated = bytearray(made[0])
    mutated[data.draw(st.integers(11, len(mutated) - 1))] = data.draw(st.sampled_from([0, 45, 255]))
    try:
        opened = PairFile.over(bytes(mutated), dim=made[1], dialect="strict")
    except ValueError:
        return

    def ask(chunk):
        try:
            return len(list(opened.pairs("keyword", chunk=chunk)))
        except FormatError as error:
            return error.at

    assert ask(7) == ask(None)


def test_vectors_are_views_of_the_file_where_the_byte_order_allows(tmp_path):
    rows = [(np.arange(6, dtype=np.float32) + i, "same") for i in range(4)]
    write_pairs(tmp_path / "a.rag", (), rows)
    with PairFile(tmp_path / "a.rag") as opened:
        matrix = opened.vectors()
        assert not matrix.flags.owndata
        assert matrix.strides == (6 * 4 + 1 + 4 + 16, 4)
        assert opened.layout().offsets is None
        vector, _ = next(opened.pairs("vector"))
        assert not vector.flags.writeable
        assert np.shares_memory(vector, matrix)
    assert matrix[3, 5] == 8.0  # outlives the reader


def test_rows_of_variable_stride_come_with_their_offsets(tmp_path):
    write_pairs(tmp_path / "a.rag", (), [([float(i)], "x" * i) for i in range(5)], padding=4)
    layout = PairFile(tmp_path / "a.rag").layout()
    assert layout.stride == 0
    assert layout.offsets.tolist() == [0, 9, 19, 30, 42]
    assert PairFile(tmp_path / "a.rag").vectors().tolist() == [[0.0], [1.0], [2.0], [3.0], [4.0]]


def test_the_same_data_in_both_byte_orders_gives_equal_results(tmp_path):
    rng = np.random.default_rng(3)
    rows = [(rng.standard_normal(16, dtype=np.float32), f"c{i % 3}") for i in range(50)]
    for byteorder in ("little", "big"):
        write_pairs(tmp_path / byteorder, [("k", "v")], rows, byteorder=byteorder, sorted_keys=True)
    little, big = PairFile(tmp_path / "little"), PairFile(tmp_path / "big")
    assert (little.vectors() == big.vectors()).all()
    assert big.vectors().dtype.isnative
    assert little.lookup("k") == big.lookup("k") == ["v"]
    assert all(
        (a == b).all()
        for (a, _), (b, _) in zip(little.pairs("vector"), big.pairs("vector"), strict=True)
    )


def test_a_header_alone_is_a_file_without_strategies(tmp_path):
    write_pairs(tmp_path / "a.rag")
    for data in ((tmp_path / "a.rag").read_bytes(), b"RAGFILE\0\1\0\0"):
        opened = PairFile.over(data)
        assert opened.strategies == []
        assert opened.lookup("AI") == []
        assert list(opened.pairs("keyword")) == list(opened.pairs("vector")) == []
        assert opened.dim is None
        assert opened.vectors().shape == (0, 0)


@pytest.mark.parametrize("count", [1, 2, 1000, 1024])
def test_any_number_of_unknown_strategies_is_listed_and_skipped(count):
    names = [f"graph.{i}" for i in range(count - 1)]
    sections = [(name, lambda at: b"?") for name in names]
    sections.append(("keyword", oracle.keyword_section([("AI", "x")], 4, "<", 0)))
    opened = PairFile.over(oracle.build(sections))
    assert opened.strategies == [*names, "keyword"]
    assert opened.lookup("AI") == ["x"]


def test_1025_strategies_are_too_many():
    with pytest.raises(FormatError, match="at most 1024"):
        PairFile.over(oracle.build([(f"s{i}", lambda at: b"") for i in range(1025)]))


def test_empty_sections_are_sections():
    data = oracle.build([("a", lambda at: b""), ("b", lambda at: b""), ("c", lambda at: b"")])
    opened = PairFile.over(data)
    assert all(end == start - 1 for start, end in opened.sections.values())


@pytest.mark.parametrize(
    ("data", "error", "at"),
    [
        (b"", FormatError, 0),
        (b"RAGFILF\0\1\0\0\0", FormatError, 0),
        (b"RAGFILE\0\1", FormatError, 9),
        (b"RAGFILE\x63\0\0\0\0", VersionError, 7),
        (b"RAGFILE\0\1\0\2\0", FormatError, 10),
        (b"RAGFILE\0\1\0\0keyword(1,2)\0", FormatError, 18),
        (b"RAGFILE\0\1\0\0a-(20,19)\0b-(21,20)\0", FormatError, 11),
        (b"RAGFILE\0\1\0\0a-(31,30)\0\0b-(32,31)\0\0\0", FormatError, 21),
        (b"RAGFILE\0\1\0\0a-(21,99)\0", FormatError, 11),
        (b"RAGFILE\0\1\0\0a-(21,18446744073709551616)\0", FormatError, 17),
        (b"RAGFILE\0\1\0\0a-(22,21)\0\0\0", FormatError, 21),
    ],
)
def test_a_broken_front_is_refused_with_its_offset(data, error, at):
    with pytest.raises(error) as refused:
        PairFile.over(data, dialect="strict")
    assert refused.value.at == at


def test_minor_versions_and_one_point_zero_open():
    for version in [(0, 1, 0), (0, 9, 9), (1, 0, 0), (1, 7, 0)]:
        assert (
            PairFile.over(oracle.build([("x", lambda at: b"y")], version=version)).version
            == version
        )


def test_the_front_of_a_1_0_file_is_a_directory():
    front = _core.write_directory(
        (1, 0, 0), False, [("rag.head", None, 4094), ("vector", 4096, 8190)], 20
    )
    data = front + bytes(8192 - len(front))
    found = _core.read_directory(data)
    assert found.entries == [("rag.head", len(front), 4094), ("vector", 4096, 8190)]
    assert b"rag.head-(%020d,%020d)\0" % (len(front), 4094) in front


def test_an_ambiguous_dimension_lists_its_candidates():
    rows = [((1.0, 1.0), "x")]
    section = oracle.vector_section(
        [(struct.unpack("<2f", b"\1\1\1\1----"), "-" * 9)], 4, 32, "<", 0, False
    )
    data = oracle.build([("vector", section)])
    with pytest.raises(FormatError, match=r"any of \[1, 2, 3, 4\]: pass dim"):
        PairFile.over(data).dim  # noqa: B018
    assert PairFile.over(data, dim=2).vectors().shape == (1, len(rows[0][0]))


def test_a_dim_that_contradicts_the_file_is_refused(tmp_path):
    write_pairs(tmp_path / "a.rag", (), [([1.0, 2.0], "a")])
    with pytest.raises(ValueError, match="dim is 2 in the file, not 3"):
        PairFile(tmp_path / "a.rag", dim=3)


# ------------------------------------------------------------------------------------------------------------- lookups


def random_region(rng, padding):
    alphabet = b"ab-c\xc3\xa9"
    pairs = []
    for _ in range(rng.randrange(1, 30)):
        key = bytes(
            rng.choice(b"abk") for _ in range(rng.choice([0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 130]))
        )
        content = bytes(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 5, 40, 100, 300])))
        pairs.append(key + b"-" + content)
    return bytearray(bytes(padding).join(pairs))


def lookup_raw(region, padding, key):
    pairs = _core.Pairs.bare(_core.Section.over(bytes(region), "keyword"), padding=padding)
    return pairs.lookup(key)


def ask_both(region, padding, key):
    try:
        pairs = oracle.read_pairs(bytes(region), padding, None)
        theirs = [oracle.text(content) for _, head, content in pairs if head == key.encode()]
    except oracle.Refused:
        theirs = None
    try:
        ours = lookup_raw(region, padding, key)
    except FormatError:
        ours = None
    assert ours == theirs


def check_lookups(seed, rounds):
    rng = random.Random(seed)
    for _ in range(rounds):
        padding = rng.choice([4, 8, 16])
        region = random_region(rng, padding)
        keys = {"", "k", "no such key", "a" * 64}
        keys |= {
            head.decode() for _, head, _ in oracle.read_pairs(bytes(region), padding, None)[:8]
        }
        for _ in range(rng.choice([0, 0, 1, 2])):
            region[rng.randrange(len(region))] = rng.choice(b"\0\0-ab")
        for key in keys:
            ask_both(region, padding, key)


@pytest.mark.parametrize("target", TARGETS)
def test_lookup_finds_what_a_walk_finds_on_every_target_of_this_machine(target):
    code = "from file import test_pairs; test_pairs.check_lookups(11, 250); print(test_pairs._core.target())"
    assert on(target, code).strip() == target


def test_a_key_is_found_at_every_offset_against_the_scan_blocks():
    for shift in range(140):
        region = b"k" * shift + b"-" + bytes(4) + b"needle-found" + bytes(4) + b"other-x"
        assert lookup_raw(region, 4, "needle") == ["found"]
        assert lookup_raw(region, 4, "eedle") == []
        assert lookup_raw(region, 4, "other") == ["x"]


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.tuples(words, contents), min_size=1, max_size=40),
    st.sampled_from(["little", "big"]),
)
def test_the_sorted_companion_answers_like_the_scan(tmp_path_factory, keywords, byteorder):
    path = tmp_path_factory.mktemp("keys") / "a.rag"
    write_pairs(path, keywords, padding=4, byteorder=byteorder, sorted_keys=True)
    with PairFile(path) as opened:
        source = opened._open
        source.keys.verify()
        for keyword in {key for key, _ in keywords} | {
            "",
            "a",
            "zz",
            "with-dash",
            "nul\0",
            "\ud800",
        }:
            expected = [content for key, content in keywords if key == keyword]
            assert source.keyword.lookup(keyword, source.keys) == expected
            assert source.keyword.lookup(keyword) == expected


def test_a_lying_companion_invents_nothing(tmp_path):
    keywords = [(f"key{i % 7}", "c" * i) for i in range(40)]
    write_pairs(tmp_path / "a.rag", keywords, sorted_keys=True)
    data = (tmp_path / "a.rag").read_bytes()
    start, end = PairFile.over(data).sections["rag.keys"]
    rng = random.Random(5)
    for _ in range(400):
        lying = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            lying[rng.randrange(start, end + 1)] = rng.randrange(256)
        try:
            found = PairFile.over(bytes(lying), dialect="strict").lookup("key3")
        except FormatError:
            continue
        assert set(found) <= {content for key, content in keywords if key == "key3"}
        assert len(found) == len(set(found))


def test_a_damaged_companion_fails_verification(tmp_path):
    write_pairs(tmp_path / "a.rag", [(f"key{i}", "c") for i in range(9)], sorted_keys=True)
    data = (tmp_path / "a.rag").read_bytes()
    start, end = PairFile.over(data).sections["rag.keys"]
    for at in range(start + 24, end + 1):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        with pytest.raises(FormatError):
            PairFile.over(bytes(damaged), dialect="strict")._open.keys.verify()


# ---------------------------------------------------------------------------------------------------------- big files


def sparse(path, pieces, size):
    with open(path, "wb") as file:
        file.truncate(size)
        for at, piece in pieces:
            file.seek(at)
            file.write(piece)


def resident_kb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and relies on sparse files")
def test_sections_at_5_tb_are_read_and_nothing_else_is_touched(tmp_path):
    far = 5 * 2**40
    keyword = oracle.keyword_section([("AI", "far away"), ("RAG", "last")], 16, "<", 1)
    front = None
    for _ in range(5):  # the directory's size depends on numbers that depend on it
        start = len(front) if front else 60
        body = keyword(far)
        vector = oracle.vector_section([((1.0, 2.0), "v")], 4, 32, "<", 0, True)(
            far + len(body) + 1
        )
        entries = [
            ("filler", start, far - 2),
            ("keyword", far, far + len(body) - 1),
            ("vector", far + len(body) + 1, far + len(body) + len(vector)),
        ]
        directory = b"\0".join(f"{n}-({s},{e})".encode() for n, s, e in entries)
        front = b"RAGFILE\0\1\0\0" + directory + b"\0"
    sparse(
        tmp_path / "far.rag",
        [(0, front), (far, body), (far + len(body) + 1, vector)],
        far + len(body) + len(vector) + 1,
    )
    before = resident_kb()
    with PairFile(tmp_path / "far.rag", dialect="strict") as opened:
        assert opened.strategies == ["filler", "keyword", "vector"]
        assert opened.lookup("RAG") == ["last"]
        assert opened.vectors().tolist() == [[1.0, 2.0]]
        assert resident_kb() - before < 10_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and relies on sparse files")
def test_opening_a_10_gb_section_touches_only_its_first_pages(tmp_path):
    size = 10 * 2**30
    front = _core.write_directory((0, 1, 0), False, [("keyword", None, size - 1)])
    preamble = struct.pack("<QQB", 4096, size - 1, 4)
    sparse(
        tmp_path / "big.rag",
        [(0, front + preamble), (4096, b"AI-first\0\0\0\0RAG-second"), (size - 1, b"x")],
        size,
    )
    before = resident_kb()
    with PairFile(tmp_path / "big.rag", dialect="strict") as opened:
        assert opened.strategies == ["keyword"]
        assert next(iter(opened.pairs("keyword"))) == ("AI", "first")
        assert next(iter(opened.pairs("keyword", chunk=4096))) == ("AI", "first")
        assert resident_kb() - before < 10_000


# --------------------------------------------------------------------------------------------------- the specification


def test_the_hex_in_the_specification_is_the_golden_file():
    with open(os.path.join(ROOT, "spec", "parts", "pairs.md"), encoding="utf-8") as file:
        rows = re.findall(r"^[0-9a-f]{3}  ((?:[0-9a-f]{2} ?){1,16})", file.read(), re.MULTILINE)
    assert bytes.fromhex("".join(rows)) == GOLDEN


def test_the_seeds_example_with_legal_numbers_is_a_file():
    region = b"k-" + b"c" * (4073 - 19)
    keyword = struct.pack("<QQB", 48 + 17, 4120, 16) + region
    rows = [((1.0, 2.0), "v" * (4095 - 18 - 8 - 1))]
    data = oracle.build(
        [
            ("keyword", lambda at: keyword),
            ("vector", oracle.vector_section(rows, 16, 32, "<", 0, False)),
        ]
    )
    assert data[11:48] == b"keyword-(48,4120)\0vector-(4122,8216)\0"
    assert PairFile.over(data).lookup("k") == ["c" * 4054]
    assert same(data, 2) != "refused"


def test_options_and_questions_that_a_file_of_pairs_cannot_have_are_refused(tmp_path):
    path = tmp_path / "p.ragfile"
    write_pairs(path, [("alpha", "first")])
    for options, says in (
        ({"dialect": "loose"}, "dialect must be 'strict', 'reference' or 'auto', not 'loose'"),
        ({"dim": 0}, "dim must be 1 to 65536, not 0"),
        ({"dim": 65537}, "dim must be 1 to 65536, not 65537"),
    ):
        with pytest.raises(ValueError, match=says):
            PairFile(path, **options)
    file = PairFile(path)
    assert file.raw(0, 16) == path.read_bytes()[:16]
    assert file.raw(len(path.read_bytes()) - 3, 100) == path.read_bytes()[-3:]
    with pytest.raises(ValueError, match="has no vectors"):
        file.nearest([[1.0, 0.0]], 1)
    with pytest.raises(IndexError):
        file.vector(0)
    file.close()
    with pytest.raises(ValueError, match="is closed"):
        file.lookup("alpha")
