"""Edits: one writer, one commit, nothing lost and, after compaction, nothing left. test_histories.py goes through them at random."""

import datetime as dt
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import ragfile
from ragfile import _core
from ragfile.embedding.protocol import Model


class Letters:
    """An embedder that needs no model: how often each letter occurs."""

    model = Model("letters", 6)

    def __init__(self):
        self.asked = []

    def embed(self, texts, role="document"):
        self.asked.extend(texts)
        return np.array(
            [[t.count(c) + 0.5 for c in "abcdef"] for t in texts], dtype=np.float32
        ).reshape(len(texts), 6)


def facts(path):
    with ragfile.open(path) as rf:
        rows = [rf.row(f"{d.id}#{i}") for d in rf.documents() for i in range(100)]
        chunks = [(rf.chunk(r), rf.vector(r).tolist()) for r in rows if r is not None]
        return sorted((c.doc_id, c.chunk_index, c.content, v) for c, v in chunks), {
            d.id: d for d in rf.documents()
        }


def fresh(path, documents):
    with ragfile.create(path, chunking="characters:60/10", embedder=Letters()) as w:
        w.add_documents(documents)


def test_rows_are_numbered_through_segments_when_one_of_them_is_all_deleted(tmp_path):
    path = tmp_path / "f"
    fresh(path, [])
    for i in range(3):
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([{"id": f"d{i}", "text": "abc cab " * 3}, {"id": f"e{i}", "text": ""}])
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["d0", "d1"])
    with ragfile.open(path) as rf:
        rows, _ = rf.nearest(Letters().embed(["abc"]), 1)
        assert rf.chunk(int(rows[0, 0])).doc_id == "d2"
        rows, _ = rf.match(["cab"], 1)
        assert rf.chunk(int(rows[0, 0])).doc_id == "d2"


def test_an_edit_appends_and_changes_no_earlier_byte(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": f"d{i}", "text": "abc " * 100} for i in range(50)])
    before = path.read_bytes()
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "d3", "text": "new"}, {"id": "d99", "text": "newer"}])
        w.delete(["d5"])
    after = path.read_bytes()
    assert after[: len(before)] == before
    assert w.report == {"inserted": 1, "updated": 1, "unchanged": 0, "deleted": 1}


def test_only_chunks_with_new_text_are_embedded(tmp_path):
    path, embedder = tmp_path / "f", Letters()
    text = "".join(f"{c * 50}" for c in "abcdef")
    fresh(path, [{"id": "d", "text": text}])
    with ragfile.edit(path, embedder=embedder) as w:
        w.upsert([{"id": "d", "text": text[:200] + "f" * 100}])
    assert 0 < len(embedder.asked) < 6
    assert all(t not in text for t in embedder.asked)
    embedder.asked.clear()
    with ragfile.edit(path, embedder=embedder) as w:
        w.upsert([{"id": "d", "text": text[:200] + "f" * 100}])
    assert embedder.asked == []
    assert w.report["unchanged"] == 1
    with ragfile.open(path) as rf:
        assert rf.generation == 2


def test_an_edit_that_fails_changes_nothing_that_a_reader_sees(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "d", "text": "abc"}])
    before = facts(path)
    with pytest.raises(ZeroDivisionError), ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "d", "text": "other"}])
        raise ZeroDivisionError
    assert facts(path) == before
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "e", "text": "abc"}])
    assert sorted(facts(path)[1]) == ["d", "e"]


def test_older_generations_can_be_read_until_compaction(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "d", "text": "one"}])
    with ragfile.edit(path, embedder=Letters(), message="two") as w:
        w.upsert([{"id": "d", "text": "two"}])
    assert [ragfile.open(path, generation=g).document("d").text for g in (1, 2)] == ["one", "two"]
    assert ragfile.open(path).info["message"] == "two"
    ragfile.compact(path)
    with pytest.raises(ValueError, match="has generations 2 to 2, not 1"):
        ragfile.open(path, generation=1)


def test_after_compaction_no_byte_of_a_deleted_document_is_left(tmp_path):
    """Its text, title, ids, metadata, path, tags, the terms that nothing else holds, and its vectors in both precisions."""
    path, canary = tmp_path / "f", "Xq7zCanaryWord"
    vector = np.array([0.123456, -77.125, 3.1415926, 42.4242, -0.000123, 9.875], np.float32)
    with ragfile.create(path, dim=6, portable=True) as w:
        chunk = {
            "doc_id": canary + "Id",
            "chunk_index": 7,
            "content": canary + "Tale",
            "tags": [canary + "Tag"],
        }
        w.add(
            [{"doc_id": f"keep{i}", "chunk_index": 0, "content": f"text {i}"} for i in range(5)],
            np.eye(6)[:5],
        )
        w.add([{**chunk, "metadata": {canary + "Key": canary + "Value"}}], vector[None])
        document = {
            "id": "replaced",
            "text": canary + "Old",
            "source": f"/{canary}Path",
            "metadata": {"m": canary},
        }
        w.add_documents([document], np.array([vector]))
        w.add_documents([{"id": canary + "Empty", "text": "", "metadata": {"m": canary}}])
    with ragfile.edit(path, message=canary + "Message") as w:
        assert w.delete([canary + "Id", canary + "Empty", "unknown"]) == [
            canary + "Id",
            canary + "Empty",
        ]
        w.delete(["replaced"])
    with ragfile.edit(path) as w:
        w.add_documents([{"id": "replaced", "text": "new"}], np.ones((1, 6)))
    traces = [
        canary.encode(),
        canary.lower()[4:].encode(),
        vector.tobytes(),
        *(vector[i : i + 1].tobytes() for i in (0, 1, 2, 3, 5)),
    ]
    raw = path.read_bytes()
    assert all(trace in raw for trace in traces[2:])
    assert canary.lower()[4:12].encode() in bytes(ragfile.open(path).file.section("rag.terms"))
    ragfile.compact(path)
    raw = path.read_bytes()
    assert [trace for trace in traces if trace in raw] == []
    with ragfile.open(path) as rf:
        segment = rf.rows.segments[0]
        unpacked = segment.texts.read(0, segment.texts.size) + segment.meta.read(
            0, segment.meta.size
        )
        assert canary.encode() not in unpacked
        assert rf.match([canary, canary + "Tale"], 3)[0].max() == -1
        assert len(rf) == 6


def test_a_second_writer_is_told_who_holds_the_file(tmp_path):
    path = tmp_path / "f"
    fresh(path, [])
    with ragfile.edit(path), pytest.raises(ragfile.LockedError, match="this one"):
        ragfile.edit(path)


def test_a_document_that_is_there_is_not_added_again_by_mistake(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "d", "text": "one"}])
    with pytest.raises(ValueError, match="use upsert"), ragfile.edit(path, embedder=Letters()) as w:
        w.add_documents([{"id": "d", "text": "two"}])


def test_chunks_can_be_added_to_a_document_that_is_there(tmp_path):
    path = tmp_path / "f"
    with ragfile.create(path) as w:
        w.add(
            [
                {"doc_id": "d", "chunk_index": 0, "content": "a"},
                {"doc_id": "e", "chunk_index": 0, "content": "e"},
            ]
        )
    with ragfile.edit(path) as w:
        w.add([{"doc_id": "d", "chunk_index": 1, "content": "b"}])
    with ragfile.open(path) as rf:
        assert [rf.chunk(rf.row(f"d#{i}")).content for i in (0, 1)] == ["a", "b"]
        assert len(rf) == 3
    with pytest.raises(ValueError, match="added twice"), ragfile.edit(path) as w:
        w.add([{"doc_id": "d", "chunk_index": 1, "content": "b"}])


def test_sections_of_a_third_party_survive_compaction(tmp_path):
    path = tmp_path / "f"
    with ragfile.create(path) as w:
        w.add_documents([{"id": "d", "text": "one"}])
        w.add_section("my.graph", b"edges", items=2)
    with ragfile.edit(path) as w:
        w.delete(["d"])
    ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert bytes(rf.file.section("my.graph")) == b"edges"
        assert len(rf) == 0


def test_a_file_whose_newest_commit_is_damaged_is_not_edited_by_mistake(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "d", "text": "one"}])
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "d", "text": "two"}])
    raw = bytearray(path.read_bytes())
    raw[-10] ^= 1
    path.write_bytes(raw)
    with ragfile.open(path) as rf:
        assert rf.document("d").text == "one"
        assert rf.info["lost_generation"] == 2
    for change in (ragfile.edit, ragfile.compact):
        with pytest.raises(ragfile.CorruptError, match="generation 2"):
            change(path)
    with ragfile.edit(path, embedder=Letters(), accept_loss=True) as w:
        w.upsert([{"id": "d", "text": "three"}])
    with ragfile.open(path, strict=True) as rf:
        assert rf.document("d").text == "three"


def test_a_link_to_a_file_stays_a_link_when_the_file_is_compacted(tmp_path):
    path, link = tmp_path / "f", tmp_path / "link"
    fresh(path, [{"id": "d", "text": "one"}])
    link.symlink_to(path)
    ragfile.compact(link)
    assert link.is_symlink()
    assert ragfile.open(link).document("d").text == "one"


def test_a_footer_that_was_cut_short_is_no_lost_commit(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "d", "text": "one"}])
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "d", "text": "two"}])
    whole = path.read_bytes()
    for kept in range(1, 64):
        path.write_bytes(whole[: len(whole) - 64 + kept])
        ragfile.edit(path).discard()
        with ragfile.open(path, strict=True) as rf:
            assert rf.document("d").text == "one"
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([{"id": "d", "text": "three"}])
        assert ragfile.verify(path)[0] == []
        with ragfile.open(path, strict=True) as rf:
            assert (rf.document("d").text, rf.generation) == ("three", 2)


def test_verify_finds_legs_that_cover_other_rows_and_ids_that_live_twice(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": f"d{i}", "text": "one two three " * 9} for i in range(3)])
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([{"id": "e", "text": "four"}, {"id": "d0", "text": "five"}])
    assert ragfile.verify(path)[0] == []
    with ragfile.open(path) as rf:
        first, second = (segment.number for segment in rf.rows.segments)
    damages = {
        "is live in segments": lambda w: (w.drop("rag.tombs", first), w.rows(first, 9)),
        "is deleted in part": lambda w: (
            w.add("rag.tombs", b"\1" + bytes(7), first, items=1),
            w.rows(first, 9, 8),
        ),
        "have no rag.terms": lambda w: [
            w.drop(f"rag.{name}", second)
            for name in ("terms", "postings", "terms.1", "postings.1", "positions")
        ],
        "have no vector": lambda w: w.drop("vector", second),
    }
    whole = path.read_bytes()
    for said, damage in damages.items():
        path.write_bytes(whole)
        writer = _core.FileWriter.edit(path)
        damage(writer)
        writer.commit()
        faults, counts = ragfile.verify(path)
        assert said in faults[0][2]
        assert counts["faults"] == len(faults)


def test_damaged_vectors_are_not_carried_into_a_new_commit(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": f"d{i}", "text": "abc cab " * 40} for i in range(9)])
    with ragfile.open(path) as rf:
        entry = next(entry for entry in rf.file.entries if entry["name"] == "vector")
    raw = bytearray(path.read_bytes())
    raw[entry["at"] + 100] ^= 1
    path.write_bytes(raw)
    with pytest.raises(ragfile.CorruptError, match="checksum"):
        ragfile.compact(path)
    with (
        pytest.raises(ragfile.CorruptError, match="checksum"),
        ragfile.edit(path, embedder=Letters()) as w,
    ):
        w.upsert([{"id": "d0", "text": "abc cab " * 40 + "more"}])
    with pytest.raises(ragfile.CorruptError, match="checksum"):
        ragfile.open(path).vector(0)
    assert path.read_bytes() == raw


class CountedRecords:
    """The records of a segment, and which documents were asked for."""

    def __init__(self, records):
        self.records, self.asked = records, []

    def __getattr__(self, name):
        return getattr(self.records, name)

    def __len__(self):
        return len(self.records)

    def document(self, number):
        self.asked.append(number)
        return self.records.document(number)


def test_an_edit_reads_the_record_of_a_deleted_document_once(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": f"d{i}", "text": "abc " * 20} for i in range(9)])
    with ragfile.edit(path) as w:
        segment = w.archive.segments[0]
        segment._records = counted = CountedRecords(segment.records)
        w.delete(["d4"])
        assert counted.asked == [4]


def test_an_edit_maps_its_file_once(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "d", "text": "abc"}])
    with ragfile.edit(path) as w, open("/proc/self/maps", errors="surrogateescape") as maps:
        assert w.archive.document("d").text == "abc"
        assert sum(str(path) in line for line in maps) == 1


def test_a_file_outlives_the_editor_that_read_it(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "d", "text": "abc cab"}])
    with ragfile.edit(path) as w:
        vectors = w.archive.vectors()
        w.delete(["d"])
    assert vectors.tolist() == [[2.5, 2.5, 2.5, 0.5, 0.5, 0.5]]


FULL = """
    import os, resource, sys
    import numpy as np
    import ragfile
    path, room = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        with ragfile.edit(path) as w:
            chunks = [{"doc_id": f"n{i}", "chunk_index": 0, "content": ""} for i in range(2000)]
            w.add(chunks, np.random.default_rng(1).random((2000, 256), np.float32))
    except OSError as error:
        print(error.errno)
"""


def test_a_commit_that_failed_gives_its_room_back(tmp_path):
    path = tmp_path / "f"
    with ragfile.create(path, dim=256) as w:
        chunks = [{"doc_id": "a", "chunk_index": i, "content": "abc"} for i in range(3000)]
        w.add(chunks, np.ones((3000, 256), np.float32))
    before, reader = path.stat(), ragfile.open(path)
    room = before.st_size + (1 << 20)
    command = [sys.executable, "-c", textwrap.dedent(FULL), path, str(room)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "27\n"
    assert path.stat().st_size > before.st_size + (1 << 19)  # a reader may have mapped it
    assert path.stat().st_blocks <= before.st_blocks + 16
    assert reader.chunk(2999).content == "abc"
    faults, counts = ragfile.verify(path)
    assert (faults, counts["faults"], counts["tail"] > 1 << 19) == ([], 0, True)
    with ragfile.edit(path) as w:
        w.delete(["a"])
    with ragfile.open(path) as rf:
        assert (rf.generation, len(rf), ragfile.verify(path, full=True)[0]) == (2, 0, [])


@pytest.mark.parametrize("wrong", [True, False])
def test_a_bool_is_neither_a_generation_nor_a_number_of_them(tmp_path, wrong):
    path = tmp_path / "f"
    fresh(path, [{"id": "a", "text": "abc"}])
    for call in (ragfile.edit, ragfile.compact):
        with pytest.raises(ValueError, match="keep is"):
            call(path, keep=wrong)
    with pytest.raises(TypeError, match="generation is a whole number, not"):
        ragfile.open(path, generation=wrong)


AGAIN = {
    "upsert": lambda w: w.upsert([{"id": "a", "text": "a third text"}]),
    "update": lambda w: w.update("a", tags=["t"]),
    "update a chunk": lambda w: w.update("a#0", tags=["t"]),
    "delete": lambda w: w.delete(["a"]),
    "delete a chunk": lambda w: w.delete_chunks(["a#0"]),
    "replace": lambda w: w.replace("a", {"id": "a", "text": "a third text"}),
}


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("stored", ["a", "b"])
def test_an_edit_that_writes_a_document_twice_is_told_how_to_do_it(tmp_path, stored, again):
    path = tmp_path / "f"
    fresh(path, [{"id": stored, "text": "abc"}])
    before = path.read_bytes()

    def edited():
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([{"id": "a", "text": "another text"}])
            AGAIN[again](w)

    with pytest.raises(
        ValueError, match="'a' was written before by this same edit: end its `with`"
    ):
        edited()
    with ragfile.open(path) as rf:
        assert (rf.generation, [d.text for d in rf.documents()]) == (1, ["abc"])
    assert path.read_bytes()[: len(before)] == before
    for change in (lambda w: w.upsert([{"id": "a", "text": "another text"}]), AGAIN[again]):
        with ragfile.edit(path, embedder=Letters()) as w:
            change(w)


def test_generations_count_on_through_a_compaction(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "a", "text": "abc"}])
    for i in range(3):
        with ragfile.edit(path, embedder=Letters(), message=f"edit {i}") as w:
            w.upsert([{"id": f"d{i}", "text": "cab"}])
    for _ in range(2):  # again changes nothing
        ragfile.compact(path)
        with ragfile.open(path) as rf:
            assert (rf.generation, rf.info["generation"], len(rf)) == (4, 4, 4)
            assert {entry["generation"] for entry in rf.file.entries} == {4}
        with ragfile.open(path, generation=4) as rf:
            assert len(rf) == 4
        with pytest.raises(
            ValueError, match="has generations 4 to 4, not 1; older ones were dropped"
        ):
            ragfile.open(path, generation=1)
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["a"])
        assert w.archive.generation == 4
    assert [commit["generation"] for commit in ragfile.log(path)] == [5, 4]
    with ragfile.open(path, generation=4) as before, ragfile.open(path) as now:
        assert (before.generation, len(before), now.generation, len(now)) == (4, 4, 5, 3)
    with pytest.raises(ValueError, match="has generations 4 to 5, not 6"):
        ragfile.open(path, generation=6)


def test_a_compaction_that_renumbers_gives_the_bytes_of_a_fresh_build(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "a", "text": "abc"}, {"id": "b", "text": "abc"}])
    fresh(tmp_path / "fresh", [{"id": "a", "text": "abc"}])
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["b"])
    ragfile.compact(path)
    assert ragfile.open(path).file.config["first_generation"] == 2
    ragfile.compact(path, renumber=True)
    assert path.read_bytes() == (tmp_path / "fresh").read_bytes()


HOLD = """
    import sys, time
    import ragfile
    with ragfile.edit(sys.argv[1]):
        print("held", flush=True)
        sys.stdin.readline()
"""


def test_an_edit_waits_for_the_lock_as_long_as_it_is_told(tmp_path):
    path = tmp_path / "f"
    fresh(path, [{"id": "a", "text": "abc"}])
    command = [sys.executable, "-c", textwrap.dedent(HOLD), path]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        for wait in (0, 0.2):
            with pytest.raises(ragfile.LockedError, match=f"process {holder.pid}"):
                ragfile.edit(path, wait=wait)
        threading.Timer(0.2, holder.stdin.close).start()
        with ragfile.edit(path, wait=60) as w:
            assert w.delete(["a"]) == ["a"]


def test_numbers_of_numpy_and_times_become_what_json_holds(tmp_path):
    path, day = tmp_path / "f", dt.date(2026, 11, 18)
    metadata = {
        "n": np.int64(3), "x": np.float32(0.5), "all": np.arange(3), "day": day, "then": np.datetime64("2026-11-18"), "yes": np.bool_(True),
        "deep": [{"at": dt.datetime(2026, 11, 18, 23, 3, tzinfo=dt.UTC)}],
    }  # fmt: skip
    document = {"id": "a", "text": "abc", "metadata": metadata}
    fresh(path, [document])
    with ragfile.open(path) as rf:
        assert rf.document("a").metadata == {
            "n": 3, "x": 0.5, "all": [0, 1, 2], "day": "2026-11-18", "then": "2026-11-18", "yes": True,
            "deep": [{"at": "2026-11-18T23:03:00+00:00"}],
        }  # fmt: skip
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([document])
        assert w.report["unchanged"] == 1
    with pytest.raises(TypeError, match="'b' cannot be JSON: set is not a kind of JSON value"):
        fresh(path, [{"id": "b", "text": "", "metadata": {"x": {1}}}])


def test_metadata_alone_changes_without_a_call_to_the_embedder(tmp_path):
    path, embedder = tmp_path / "f", Letters()
    document = {"id": "a", "text": "abc " * 40, "metadata": {"year": 1, "x": 2}, "tags": ["old"]}
    fresh(path, [document, {"id": "b", "text": "cab"}])
    before, _ = facts(path)
    with ragfile.edit(path, embedder=embedder) as w:
        w.update("a", metadata={"year": 2}, tags=["new"], source="there")
        with pytest.raises(KeyError):
            w.update("nobody", tags=["new"])
    after, documents = facts(path)
    assert (after, embedder.asked) == (before, [])
    assert (documents["a"].metadata, documents["a"].tags) == ({"year": 2}, ("new",))
    assert (documents["a"].source, documents["a"].text) == ("there", document["text"])
    with ragfile.open(path) as rf:
        chunk = rf.chunk(rf.row("a#0"))
        assert (chunk.metadata, chunk.tags) == ({"year": 2}, ("new",))


def test_single_chunks_are_deleted_and_the_rest_keeps_its_vectors(tmp_path):
    path, embedder = tmp_path / "f", Letters()
    fresh(path, [{"id": "a", "text": "abc " * 40}, {"id": "b", "text": "cab"}])
    before, _ = facts(path)
    with ragfile.edit(path, embedder=embedder) as w:
        assert w.delete_chunks(["a#1", "b#0", "b#7", "nobody#0"]) == ["a#1", "b#0"]
    after, documents = facts(path)
    assert after == [fact for fact in before if fact[:2] not in (("a", 1), ("b", 0))]
    assert (documents["b"].text, embedder.asked) == ("cab", [])
    assert ragfile.verify(path, full=True)[0] == []


@pytest.mark.parametrize("begin", [ragfile.create, ragfile.edit], ids=["create", "edit"])
def test_a_document_takes_no_chunk_of_another(tmp_path, begin):
    path = tmp_path / "kb.ragfile"
    if begin is ragfile.edit:
        ragfile.build([{"id": "c", "text": "Herons stand."}], path)
    own, other = ragfile.Chunk("a", 0, "Owls"), ragfile.Chunk("b", 1, "fly")
    with begin(path) as w:
        with pytest.raises(ValueError, match="chunk 1 is of the document 'b', not of 'a'"):
            w.add_document({"id": "a", "text": "Owls fly"}, [own, other])
        w.add_document({"id": "a", "text": "Owls fly"}, [own])
    with ragfile.open(path) as rf:
        assert [hit.id for hit in rf.search("owls", 1)] == ["a#0"]
