"""The specification's reader and the package's agree: on the vectors, on random files, on damaged ones; its hex is true."""

import hashlib
import json
import re
import sys
from contextlib import closing

import hypothesis.strategies as st
import numpy as np
import pytest
import xxhash
from checks import compare_readers
from effort import examples
from hypothesis import given, settings
from places import ROOT

import ragfile
from ragfile import _core, conformance

SPEC, VECTORS = ROOT / "spec", ROOT / "spec" / "vectors"
READER = sys.modules["reader"]  # spec/reader.py, as compare_readers imported it


@given(
    st.binary(max_size=700)
    | st.integers(0, 3000).map(lambda n: bytes(i * i % 251 for i in range(n)))
)
def test_the_hash_of_the_reader_is_xxh3(data):
    assert READER.xxh3(data) == xxhash.xxh3_64_intdigest(data)


def test_both_readers_agree_on_every_vector():
    for name, data, expected in conformance.vectors(VECTORS):
        assert (
            compare_readers.disagreement(data, expected.get("dim"), name.startswith("good")) is None
        ), name


def test_both_readers_refuse_the_vectors_at_the_same_byte():
    for name, data, expected in conformance.vectors(VECTORS):
        if expected.get("refused", {}).get("at") is not None:
            slow, fast = compare_readers.both(data, expected.get("dim"))
            assert slow["refused"]["at"] == fast["refused"]["at"], name


@settings(max_examples=examples(1500), deadline=None)
@given(st.integers(0, 10**9))
def test_both_readers_agree_on_random_files(i):
    data, dim, whole = compare_readers.one_case("suite", i)
    if whole and data[7:8] == b"\0" and compare_readers.is_undecided(data, dim):
        whole = False
    assert compare_readers.disagreement(data, dim, whole) is None


@pytest.mark.parametrize(
    "name", ["good-0-golden-176", "good-0-big-p8-16", "good-0-keys-little", "good-0-slack"]
)
def test_both_readers_agree_on_every_flipped_bit_and_every_truncation(name):
    data = (VECTORS / f"{name}.ragfile").read_bytes()
    for at in range(len(data)):
        assert compare_readers.disagreement(data[:at], None, False) is None, at
        for bit in range(8):
            flipped = bytearray(data)
            flipped[at] ^= 1 << bit
            assert compare_readers.disagreement(bytes(flipped), None, False) is None, (at, bit)


@pytest.mark.parametrize("name", ["good-1-commits", "good-1-update", "good-1-abandoned"])
def test_both_readers_agree_on_flipped_bytes_of_histories(name):
    data = (VECTORS / f"{name}.ragfile").read_bytes()
    for at in range(len(data)):
        if data[at] or at % 23 == 0:
            flipped = bytearray(data)
            flipped[at] ^= 1 << at % 8
            assert compare_readers.disagreement(bytes(flipped), None, False) is None, at


# ------------------------------------------------------------------------------------------------- files of the package


def agree_on(path):
    data = path.read_bytes()
    assert compare_readers.disagreement(data, None, True) is None
    return READER.read(data)


@pytest.mark.parametrize("precision", [16, 32])
def test_both_readers_agree_on_a_knowledge_base_and_its_edits(tmp_path, precision):
    path = tmp_path / "kb.ragfile"
    rng = np.random.default_rng(7)
    texts = {f"d{i}": f"Satz {i}. " * 40 + "größer \U0001f600" for i in range(7)}
    with ragfile.create(
        path, dim=5, precision=precision, portable=True, chunking={"size": 100, "overlap": 10}
    ) as writer:
        for id_, text in texts.items():
            document = ragfile.Document(id_, text, "s.md", {"n": 1}, ("t",))
            chunks = [
                ragfile.Chunk(id_, i, text[i * 50 : i * 50 + 50], (), {}, i * 50, i * 50 + 50)
                for i in range(3)
            ]
            writer.add_document(document, chunks, rng.standard_normal((3, 5), dtype=np.float32))
    found = agree_on(path)
    assert [d["text"] for d in found["segments"][0]["documents"]] == list(texts.values())
    assert len(found["segments"][0]["keyword"]["pairs"]) == 21
    with ragfile.edit(path) as editor:
        editor.delete(["d2", "d5"])
        editor.add([ragfile.Chunk("new", 0, "loose")], np.ones((1, 5), np.float32))
    found = agree_on(path)
    assert [len(segment["tombs"]) for segment in found["segments"]] == [6, 0]
    assert agree_on(path)["generation"] == 2
    ragfile.compact(path)
    assert agree_on(path)["generation"] == 1


def test_both_readers_agree_on_sections_of_several_blocks(tmp_path):
    path = tmp_path / "f.ragfile"
    with ragfile.create(path, analysis=None) as writer:
        writer.add_section("maker.big", bytes(range(256)) * 600, items=3)
    assert agree_on(path)["sections"][-1]["size"] == 153_600


def test_a_directory_of_1024_entries_is_read_and_one_more_refused():
    for count in (1000, 1024):
        data = compare_readers.pieces.file_0(
            [(f"s{i}", compare_readers.pieces.plain(b"x")) for i in range(count)]
        )
        assert len(READER.read(data)["sections"]) == count
        assert compare_readers.disagreement(data, None, True) is None
    data = compare_readers.pieces.file_0(
        [(f"s{i}", compare_readers.pieces.plain(b"x")) for i in range(1025)]
    )
    slow, fast = compare_readers.both(data)
    assert slow["refused"]["at"] == fast["refused"]["at"]


# ---------------------------------------------------------------------------------------------------------- the vectors


def test_the_vectors_are_those_that_were_pinned():
    pinned = dict(
        reversed(line.split("  "))
        for line in (VECTORS / "SHA256SUMS").read_text().splitlines()
        if line[0] != "#"
    )
    held = {name: data for name, data, _ in conformance.vectors(VECTORS)}
    held["expected.json"] = (VECTORS / "expected.json").read_bytes()
    assert {name: hashlib.sha256(data).hexdigest() for name, data in held.items()} == pinned


def test_every_vector_is_on_disk_once():
    expected = json.loads((VECTORS / "expected.json").read_text())
    files = {name for name, what in expected.items() if "of" not in what}
    assert {path.name for path in VECTORS.glob("*.ragfile")} == files
    # Positions of words, lists of deleted rows, links, titles and weights came after the first million.
    assert sum(path.stat().st_size for path in VECTORS.iterdir() if path.is_file()) < 1_200_000


@pytest.fixture(scope="module")
def made():
    """The files of the vectors, made again, and the same of those that are stored as changes."""
    import make

    return make.all_files()


def test_the_vectors_are_made_again_byte_by_byte(made):
    import make

    files, changed = made
    assert make.pins(files | changed) == (VECTORS / "SHA256SUMS").read_text()


# --------------------------------------------------------------------------------------------------------- worked bytes


def dump(text):
    """{offset: byte} of the hex dumps in a page: an offset, then bytes; what cannot be read as a byte ends a line's dump."""
    found = {}
    for line in re.findall(
        r"^([0-9a-f]{3,4})  ((?:[0-9a-fA-F]{2} |\| )*[0-9a-fA-F]{2})(?= |$)", text, re.MULTILINE
    ):
        for i, byte in enumerate(line[1].replace("| ", "").split()):
            found[int(line[0], 16) + i] = int(byte, 16)
    return found


def test_the_worked_0_1_0_file_is_the_golden_one():
    page = (SPEC / "parts" / "pairs.md").read_text()
    bytes_ = dump(page[page.index("## 1.8") :])
    assert (
        bytes(bytes_[i] for i in range(176)) == (VECTORS / "good-0-golden-176.ragfile").read_bytes()
    )


def test_the_worked_list_of_sections_is_what_the_core_writes(tmp_path):
    path = tmp_path / "a.ragfile"
    with closing(_core.FileWriter.create(path)) as writer:
        writer.rows(writer.segment(), 0)
        writer.add("a", b"hello", 1)
        writer.add("b", b"", 1)
        writer.list_sections(1)
        writer.commit(0)
    page, data = (SPEC / "parts" / "container.md").read_text(), path.read_bytes()
    bytes_ = dump(page[page.index("## 2.8") : page.index("# Part 3")])
    assert len(bytes_) >= 60
    assert {at: data[at] for at in bytes_} == bytes_
    hashed = xxhash.xxh3_64_digest(xxhash.xxh3_64_digest(b"hello")[::-1])[::-1]
    assert data[0x10A0:0x10A8] == hashed


def test_the_worked_container_is_that_vector():
    page = (SPEC / "parts" / "container.md").read_text()
    page = page[page.index("## 2.6") : page.index("## 2.7")]
    data = (VECTORS / "good-1-one.ragfile").read_bytes()
    bytes_ = dump(page)
    assert len(bytes_) >= 60
    assert {at: data[at] for at in bytes_} == bytes_
    for entry in re.findall(r"[a-z.]+-\(\d{20},\d{20}\)", page):
        assert entry.encode() in data
    assert int(re.search(r"^([0-9a-f]{4}) +end of file", page, re.MULTILINE)[1], 16) == len(data)


def test_the_magic_is_as_the_pages_say():
    for page in ("pairs.md", "container.md"):
        magic = re.search(
            r'((?:[0-9A-F]{2} ){6}[0-9A-F]{2}) +"RAGFILE"', (SPEC / "parts" / page).read_text()
        )
        assert bytes.fromhex(magic[1]) == b"RAGFILE"


def test_a_vector_that_would_change_is_refused(made):
    import make

    files, changed = made
    wanted = make.pins(files | changed)
    assert make.broken(files, wanted) == []
    other = files | {"bad-0-order.ragfile": b"something else", "good-0-new.ragfile": b"a new one"}
    assert make.broken(other, make.pins(other | changed)) == ["bad-0-order.ragfile"]
