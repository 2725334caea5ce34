"""A file of many small commits lists the sections of its segments once, not in every table of contents."""

import shutil
import struct
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import hypothesis.strategies as st
import pytest
from checks import compare_readers  # noqa: F401 - imports spec/reader.py
from effort import examples
from hypothesis import given, settings
from oracles import handmade
from servers.range_server import RangeServer
from spec.test_parity import SLOW
from write.test_editor import Letters
from write.test_segment_merges import answers, built, grown, memory, segments

import ragfile
from ragfile import _core
from ragfile.errors import FormatError
from ragfile.ground.signing_keys import new_key
from ragfile.write import old_generations
from ragfile.write.old_generations import GenerationCopy

LIST = "rag.sections"


def listed(path, generation=0):
    """The segments that have a list."""
    entries = _core.Reader(_core.Map(path), generation).entries
    return {entry["segment"] for entry in entries if entry["name"] == LIST}


def table_entries(path):
    """The number of entries in the newest table of contents itself."""
    data = path.read_bytes()
    footer = data.rindex(b"RAGCOMIT")
    toc = int.from_bytes(data[footer + 16 : footer + 24], "little")
    return int.from_bytes(data[toc + 24 : toc + 28], "little")


def change(path, **options):
    with ragfile.edit(path, embedder=Letters(), **options) as w:
        w.upsert([memory(999)])


def test_a_table_has_one_entry_for_a_listed_segment(tmp_path):
    path = grown(tmp_path / "a.ragfile", 30)
    assert len(listed(path)) == len(segments(path)) > 4
    assert table_entries(path) <= len(segments(path)) + 3
    assert len(_core.Reader(_core.Map(path)).entries) > 8 * len(segments(path))
    assert ragfile.verify(path)[0] == []


def test_answers_are_those_of_a_file_without_lists(tmp_path):
    path = grown(tmp_path / "a.ragfile", 30)
    assert answers(path) == answers(built(tmp_path / "b.ragfile", range(30)))


@pytest.mark.parametrize("make", [built, grown])
def test_files_that_are_edited_seldom_have_no_lists(tmp_path, make):
    path = make(tmp_path / "a.ragfile", range(9) if make is built else 3)
    for _ in range(0 if make is grown else 3):
        change(path)
    assert not listed(path)


def test_deletions_and_updates_apply_to_listed_segments(tmp_path):
    path = grown(tmp_path / "a.ragfile", 40)
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["m0003", "m0021"])
        w.update("m0005", metadata={"n": 99})
    assert listed(path)
    assert ragfile.verify(path)[0] == []
    with ragfile.open(path) as rf:
        ids = {document.id for document in rf.documents()}
        assert ids == {f"m{n:04d}" for n in range(40)} - {"m0003", "m0021"}
        assert rf.document("m0005").metadata == {"n": 99}


def test_compaction_leaves_no_lists(tmp_path):
    path = grown(tmp_path / "a.ragfile", 20)
    ragfile.compact(path)
    assert not listed(path)
    assert path.read_bytes()[:4096].count(LIST.encode()) == 0


@pytest.mark.parametrize("damaged", ["vector", LIST])
def test_parity_restores_lists_and_listed_sections(tmp_path, damaged):
    path = grown(tmp_path / "a.ragfile", 20)
    change(path, parity=20)
    change(path)
    assert listed(path)
    whole, found = path.read_bytes(), answers(path)
    entries = [e for e in _core.Reader(_core.Map(path)).entries if e["name"] == damaged]
    for entry in entries:
        data = bytearray(whole)
        data[entry["at"] + 10] ^= 255
        path.write_bytes(data)
        assert ragfile.repair(path).restored
        assert path.read_bytes() == whole
    assert answers(path) == found


def test_parity_restores_the_front_page_of_a_file_that_begins_with_lists(tmp_path):
    path = grown(tmp_path / "a.ragfile", 20)
    change(path, parity=5, keep=1)
    assert old_generations.drop_older(path, 1)
    assert listed(path)
    whole = path.read_bytes()
    path.write_bytes(bytes(4096) + whole[4096:])
    ragfile.repair(path)
    assert path.read_bytes() == whole
    path.write_bytes(bytes(4096) + whole[4096:])
    assert SLOW.repaired(path.read_bytes()) == whole


def forged(data, entry, raw):
    """The file with other bytes in a section, and true checksums."""
    found, digest = handmade.section_bytes(raw)
    data[entry["at"] : entry["at"] + entry["extent"]] = found
    footer = data.rindex(b"RAGCOMIT")
    toc, size = struct.unpack_from("<2Q", data, footer + 16)
    row = data.index(struct.pack("<2Q", entry["at"], entry["size"]), toc) - 24
    struct.pack_into("<Q", data, row + 48, digest)
    struct.pack_into("<Q", data, footer + 32, handmade.xxh(bytes(data[toc : toc + size])))
    struct.pack_into("<Q", data, footer + 56, handmade.xxh(bytes(data[footer : footer + 56])))
    return bytes(data)


def test_a_signature_covers_what_a_list_says(tmp_path):
    path, key = grown(tmp_path / "a.ragfile", 20), tmp_path / "key"
    new_key(key)
    ragfile.sign(path, key)
    with ragfile.open(path, trusted=[f"{key}.pub"]) as rf:
        assert rf.search("cab", 3, mode="bm25")
    data = bytearray(path.read_bytes())
    entry = _core.Reader(_core.Map(path)).entry(LIST, max(listed(path)))
    raw = bytearray(data[entry["at"] : entry["at"] + entry["size"]])
    raw[24] ^= 1  # the items of the first section
    path.write_bytes(forged(data, entry, bytes(raw)))
    ragfile.open(path).close()
    with pytest.raises(ragfile.SignatureError):
        ragfile.open(path, trusted=[f"{key}.pub"])


def test_a_damaged_list_is_named(tmp_path):
    path = grown(tmp_path / "a.ragfile", 20)
    entry = _core.Reader(_core.Map(path)).entry(LIST, min(listed(path)))
    data = bytearray(path.read_bytes())
    data[entry["at"] + 20] ^= 1
    path.write_bytes(data)
    with pytest.raises(ragfile.CorruptError, match=r"rag\.sections"):
        ragfile.open(path)


def said(path, **options):
    """What a reader of the newest commit is told, or the error that it gets."""
    try:
        reader = _core.Reader(_core.Map(path, **options))
    except (FormatError, OSError) as error:
        return type(error), str(error)
    return reader.commit, reader.entries, reader.segments


def test_lists_read_from_the_file_are_those_of_its_map(tmp_path):
    path = grown(tmp_path / "a.ragfile", 30)
    assert said(path, opens=True) == said(path)
    both = _core.Map(path, opens=True)
    first, second = _core.Reader(both), _core.Reader(both)
    del first
    assert second.entries == _core.Reader(_core.Map(path)).entries
    assert _core.Reader(_core.Map(path, opens=True), 2).commit["generation"] == 2
    whole = path.read_bytes()
    for at in (3, 100, *(e["at"] + 20 for e in second.entries if e["name"] == LIST)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert said(path, opens=True) == said(path)
        assert isinstance(said(path)[0], type)
    path.write_bytes(b"")
    assert said(path, opens=True) == said(path)


def names_by_segment(reader):
    found = {0: set()} | {record.number: set() for record in reader.segments}
    for entry in reader.entries:
        found[entry["segment"]].add(entry["name"])
    return found


def test_neighbours_with_the_same_names_are_told_once(tmp_path):
    path = grown(tmp_path / "a.ragfile", 70)
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["m0003", "m0061"])
        w.update("m0005", metadata={"n": 99})
    reader = _core.Reader(_core.Map(path))
    slow = names_by_segment(reader)
    assert set(reader.name_sets()) == {frozenset(names) for names in slow.values()}
    assert len(reader.name_sets()) < len(slow)
    every = {name for names in slow.values() for name in names} | {"", "rag", "zzz"}
    for segment in (*slow, 10**6):
        there = {name for name in every if reader.entry(name, segment) is not None}
        assert there == slow.get(segment, set())


def test_older_generations_keep_their_lists(tmp_path):
    path = tmp_path / "a.ragfile"
    with ragfile.create(path, embedder=Letters()):
        pass
    for number in range(40):
        with ragfile.edit(path, embedder=Letters(), keep="all") as w:
            w.upsert([memory(number)])
    for generation in (2, 8, 17, 33, 41):
        with ragfile.open(path, generation=generation) as rf:
            assert len(rf) == generation - 1
    assert ragfile.verify(path)[0] == []


def test_dropping_the_past_keeps_lists(tmp_path):
    path = grown(tmp_path / "a.ragfile", 20)
    change(path, keep=2)
    copy = tmp_path / "b.ragfile"
    shutil.copy(path, copy)
    before, answered = listed(path), answers(path)
    made = _core.FileWriter.create(copy)
    GenerationCopy(1).add(made, _core.Reader(_core.Map(path)))
    assert listed(copy) == before
    assert answers(copy) == answered
    assert ragfile.verify(copy)[0] == []


def test_a_file_behind_a_url_takes_one_request_more_for_its_lists(tmp_path):
    path = grown(tmp_path / "a.ragfile", 300)
    assert len(listed(path)) > 4
    with RangeServer({"kb": path.read_bytes()}) as server, ragfile.open(path) as local:
        with ragfile.open(server.url("kb")) as far:
            assert far.file.entries == local.file.entries
            assert server.count <= 3
            assert far.search("cab face", mode="bm25") == local.search("cab face", mode="bm25")
        assert ragfile.verify(server.url("kb"))[0] == []


def test_pulling_a_file_with_lists_makes_the_same_bytes(tmp_path):
    path, copy = grown(tmp_path / "a.ragfile", 60), tmp_path / "b.ragfile"
    shutil.copy(path, copy)
    change(path)
    with RangeServer({"kb": path.read_bytes()}) as server:
        ragfile.pull(server.url("kb"), copy)
    assert copy.read_bytes() == path.read_bytes()


CHANGES = st.lists(
    st.tuples(st.sampled_from(["list", "plain", "again", "drop", "unlist", "forget"]), st.integers(0, 9)),
    min_size=1, max_size=6,
)  # fmt: skip


class Model:
    """What a file should hold after each commit, whoever lists the sections."""

    def __init__(self, path):
        self.path, self.held, self.commits = path, {}, 0

    def commit(self, changes):
        start = _core.FileWriter.edit if self.commits else _core.FileWriter.create
        self.commits += 1
        with closing(start(self.path)) as writer:
            before, self.unlisted = dict(self.held), set()
            for kind, number in changes:
                self.change(writer, kind, number, before)
            writer.commit()

    def change(self, writer, kind, number, before):
        if kind in ("list", "plain"):
            segment = writer.segment()
            writer.rows(segment, 0)
            for name in ("x.a", "x.b", "x.c")[: 1 + number % 3]:
                self.put(writer, name, segment, number)
            if kind == "list":
                writer.list_sections(segment)
        elif before:
            name, segment = sorted(before)[number % len(before)]
            if kind == "forget":
                if any(key[1] == segment and key not in before for key in self.held):
                    return  # this commit wrote a section of the segment
                writer.forget(segment)
                self.held = {key: raw for key, raw in self.held.items() if key[1] != segment}
            elif kind == "again":
                self.put(writer, name, segment, number)
            elif kind == "drop":
                writer.drop(name, segment)
                self.unlisted.add(segment)
                del self.held[name, segment]
            elif kind == "unlist" and segment in listed(self.path) - self.unlisted:
                writer.drop(LIST, segment)
                self.unlisted.add(segment)
            is_whole = kind == "forget"
            for key in [k for k in before if k == (name, segment) or is_whole * k[1] == segment]:
                del before[key]

    def put(self, writer, name, segment, number):
        self.held[name, segment] = f"{self.commits}/{number}".encode() * number
        writer.add(name, self.held[name, segment], segment)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=8))
def test_any_commits_with_lists_hold_what_was_written_to_both_readers(commits):
    slow = sys.modules["reader"]
    with tempfile.TemporaryDirectory() as folder:
        model = Model(Path(folder) / "a.ragfile")
        for changes in commits:
            model.commit(changes)
            reader = _core.Reader(_core.Map(model.path))
            keys = {(e["name"], e["segment"]) for e in reader.entries if e["name"] != LIST}
            assert keys == model.held.keys()
            assert all(bytes(reader.section(*key)) == model.held[key] for key in keys)
            assert reader.verify(full=True)[0] == []
        data = model.path.read_bytes()
        footer, _ = slow.newest(data, slow.front_page(data))
        found = slow.table(data, footer)[2]
        assert {(s["name"], s["segment"]) for s in found if s["name"] != LIST} == keys
        assert all(
            slow.contents(data, s) == model.held[s["name"], s["segment"]]
            for s in found if s["name"] != LIST
        )  # fmt: skip


def test_a_replaced_section_does_not_count_twice(tmp_path):
    path = tmp_path / "a.ragfile"
    writer = _core.FileWriter.create(path)
    for number in range(1, 128):  # 515 sections and their list each: four less than there can be
        writer.rows(writer.segment(), 0)
        for section in range(515):
            writer.add(f"x.s{section}", b"", number)
        writer.list_sections(number)
    writer.commit()
    writer = _core.FileWriter.edit(path)
    for number in range(1, 128):
        writer.add("x.s0", b"again", number)
    writer.commit()
    entries = _core.Reader(_core.Map(path)).entries
    assert len(entries) == 65536 - 4
    slow, data = sys.modules["reader"], path.read_bytes()
    assert len(slow.table(data, slow.newest(data, slow.front_page(data))[0])[2]) == len(entries)
    writer = _core.FileWriter.edit(path)
    for section in range(4):
        writer.add(f"x.new{section}", b"")
    with pytest.raises(FormatError, match="too many sections: compact the file"):
        writer.add("x.new4", b"")


def test_a_list_cannot_be_dropped_by_the_commit_that_writes_it(tmp_path):
    writer = _core.FileWriter.create(tmp_path / "a.ragfile")
    writer.rows(number := writer.segment(), 0)
    writer.add("x.a", b"", number)
    writer.list_sections(number)
    with pytest.raises(ValueError, match="this commit wrote the section"):
        writer.drop(LIST, number)
    writer.commit()
    writer = _core.FileWriter.edit(tmp_path / "a.ragfile")
    writer.drop(LIST, number)
    writer.commit()
    assert not listed(tmp_path / "a.ragfile")
    assert table_entries(tmp_path / "a.ragfile") == 1


def test_kept_generations_are_copied_when_one_of_them_gave_up_a_list(tmp_path):
    model = Model(tmp_path / "a.ragfile")
    model.commit([("list", 2), ("plain", 1)])
    model.commit([("drop", 1)])
    model.commit([("list", 5)])
    copy, copied = tmp_path / "b.ragfile", GenerationCopy(1)
    for generation in (1, 2, 3):
        start = _core.FileWriter.edit if generation > 1 else _core.FileWriter.create
        with closing(start(copy)) as made:
            copied.add(made, _core.Reader(_core.Map(model.path), generation))
        reader = _core.Reader(_core.Map(copy))
        assert listed(copy) == listed(model.path, generation)
        assert reader.verify(full=True)[0] == []
    assert {(e["name"], e["segment"]) for e in reader.entries if e["name"] != LIST} == set(
        model.held
    )
