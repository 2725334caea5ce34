"""A file of many small commits keeps few segments, and answers as one that was built at once."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from write.test_editor import Letters

import ragfile
from ragfile import _core
from ragfile.ground.signing_keys import new_key
from ragfile.write.segment_merges import FANOUT, ROWS_MOST, chosen, tier

TEXTS = ["fed cab", "bead face", "deaf cafe fed", "cab cab", "face", "bead deaf cab fed"]


def memory(number):
    return {"id": f"m{number:04d}", "text": TEXTS[number % 6], "metadata": {"n": number % 7}}


def grown(path, count, **options):
    """A file of `count` commits of one document."""
    with ragfile.create(path, embedder=Letters(), **options):
        pass
    for number in range(count):
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([memory(number)])
    return path


def built(path, numbers, **options):
    with ragfile.create(path, embedder=Letters(), **options) as w:
        w.add_documents(map(memory, numbers))
    return path


def segments(path):
    return [record.rows for record in _core.Reader(_core.Map(path)).segments]


def answers(path):
    with ragfile.open(path, embedder=Letters()) as rf:
        modes = ("vector", "bm25", "hybrid")
        return [
            [(hit.id, hit.score, hit.text, hit.metadata) for hit in rf.search(text, 7, mode=mode)]
            for text in TEXTS for mode in modes
        ]  # fmt: skip


# ------------------------------------------------------------------------------------- the choice


@given(st.lists(st.integers(1, 40), max_size=120))
def test_tiers_stay_below_the_fanout_whatever_is_committed(commits):
    sizes, following = {}, 1
    for rows in commits:
        taken = chosen(sizes, rows)
        rows += sum(sizes.pop(number) for number in taken)
        sizes[following] = rows
        following += 1
    for level in range(tier(max(sizes.values(), default=1)) + 1):
        assert sum(tier(rows) == level for rows in sizes.values()) < FANOUT


@given(
    st.dictionaries(st.integers(1, 999), st.integers(1, ROWS_MOST), max_size=99), st.integers(0, 99)
)
def test_a_commit_never_writes_more_old_rows_than_the_limit(sizes, new):
    taken = chosen(sizes, new)
    assert new + sum(sizes[number] for number in taken) <= ROWS_MOST + new
    assert taken <= sizes.keys()


def test_one_segment_alone_is_not_written_again():
    assert chosen({1: 1}, 0) == set()
    assert chosen({}, 1) == set()


# ------------------------------------------------------------------------------------- the files


def test_many_commits_answer_as_one_build_to_the_bit(tmp_path):
    path = grown(tmp_path / "grown", 130)
    assert segments(path) == [64, 64, 1, 1]
    assert answers(path) == answers(built(tmp_path / "built", range(130)))
    assert ragfile.verify(path)[0] == []


def test_compaction_after_merges_gives_the_bytes_of_a_build(tmp_path):
    path = grown(tmp_path / "grown", 20)
    ragfile.compact(path, created=0, renumber=True)
    whole = built(tmp_path / "built", range(20))
    with ragfile.open(path) as one, ragfile.open(whole) as two:
        assert one.file.config == two.file.config
    ragfile.compact(whole, created=0, renumber=True)
    assert path.read_bytes() == whole.read_bytes()


def test_older_generations_open_with_their_own_rows_after_merges(tmp_path):
    path = grown(tmp_path / "grown", 70, keep="all")
    for generation in (1, 8, 9, 40, 65, 71):
        with ragfile.open(path, generation=generation) as rf:
            assert sorted(rf.document_ids()) == [memory(n)["id"] for n in range(generation - 1)]


def test_the_log_counts_new_rows_and_not_those_that_were_moved(tmp_path):
    path = grown(tmp_path / "grown", 20)
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["m0001", "m0002"])
        w.upsert([memory(3) | {"text": "other"}, memory(900)])
    counts = [(c["chunks"], c["added"], c["deleted"]) for c in ragfile.log(path)]
    assert counts[0] == (19, 2, 3)
    assert counts[1:-1] == [(n, 1, 0) for n in range(20, 0, -1)]


def test_updates_and_deletions_merge_only_what_is_live(tmp_path):
    path = grown(tmp_path / "grown", 15)
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["m0000", "m0009"])
        w.upsert([memory(5) | {"text": "cafe cafe"}])
    assert sum(segments(path)) == 13
    with ragfile.open(path) as rf:
        assert rf.document("m0005").text == "cafe cafe"
        assert rf.document("m0000") is None
        assert rf.info["deleted"] == 0


def test_documents_without_chunks_move_with_the_others(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, embedder=Letters()):
        pass
    for number in range(17):
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([{"id": f"d{number:02d}", "text": "" if number % 2 else "fed"}])
    with ragfile.open(path) as rf:
        assert sorted(rf.document_ids()) == [f"d{n:02d}" for n in range(17)]
        assert rf.info["segments"] < FANOUT
    assert ragfile.verify(path)[0] == []


def test_rows_without_vectors_keep_that_in_a_merge(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, dim=3):
        pass
    rng = np.random.default_rng(1)
    vectors = [None if n % 3 == 0 else rng.standard_normal(3) for n in range(20)]
    for number, vector in enumerate(vectors):
        chunk = {"doc_id": f"d{number:02d}", "chunk_index": 0, "content": "fed cab"}
        with ragfile.edit(path) as w:
            w.upsert([chunk], [vector])
    with ragfile.open(path) as rf:
        for number, vector in enumerate(vectors):
            row = rf.row(f"d{number:02d}#0")
            assert rf.vector_mask()[row] == (vector is not None)
            if vector is not None:
                assert np.array_equal(rf.vector(row), vector.astype(np.float32))
    assert ragfile.verify(path)[0] == []


def test_a_file_of_a_thousand_segments_is_healed_by_its_next_commit(tmp_path, monkeypatch):
    """As versions made them that did not merge."""
    with monkeypatch.context() as before:
        before.setattr("ragfile.write.segment_merges.chosen", lambda sizes, new: set())
        path = grown(tmp_path / "grown", 40)
    assert len(segments(path)) == 40
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert([memory(40)])
    assert segments(path) == [41]
    assert answers(path) == answers(built(tmp_path / "built", range(41)))


# ----------------------------------------------------------------------------- what is not merged


def test_a_segment_with_another_programs_section_stays(tmp_path):
    path = grown(tmp_path / "grown", 3)
    writer = _core.FileWriter.edit(path)
    writer.add("other.notes", b"mine", segment=2)
    writer.commit()
    for number in range(3, 20):
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([memory(number)])
    reader = _core.Reader(_core.Map(path))
    assert bytes(reader.section("other.notes", 2)) == b"mine"
    assert len(segments(path)) < FANOUT + 2


def test_segments_of_a_signed_generation_stay(tmp_path):
    path = grown(tmp_path / "grown", 5)
    new_key(tmp_path / "key")
    ragfile.sign(path, tmp_path / "key")
    signed = [record.number for record in _core.Reader(_core.Map(path)).segments]
    for number in range(5, 30):
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([memory(number)])
    now = [record.number for record in _core.Reader(_core.Map(path)).segments]
    assert now[:5] == signed
    ragfile.compact(path)
    with ragfile.open(path) as rf:
        assert "signed" not in rf.file.config


def test_segments_with_clusters_stay(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, embedder=Letters(), clusters=2) as w:
        w.add_documents(map(memory, range(40)))
    assert _core.Reader(_core.Map(path)).has("rag.clusters", 1)
    for number in range(40, 70):
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([memory(number)])
    assert _core.Reader(_core.Map(path)).has("rag.clusters", 1)


def test_a_damaged_segment_is_left_to_repair_and_commits_go_on(tmp_path):
    path = grown(tmp_path / "grown", 3)
    entry = _core.Reader(_core.Map(path)).entry("rag.text", 2)
    data = bytearray(path.read_bytes())
    data[entry["at"]] ^= 255
    path.write_bytes(data)
    for number in range(3, 12):
        with ragfile.edit(path, embedder=Letters()) as w:
            w.upsert([memory(number)])
    assert 2 in [record.number for record in _core.Reader(_core.Map(path)).segments]
    assert any("rag.text" in fault[3] for fault in ragfile.verify(path)[0])


# ----------------------------------------------------------------------------------- lean commits


def test_the_configuration_is_written_when_it_changes_or_is_far_from_the_end(tmp_path):
    path = grown(tmp_path / "grown", 40, keep="all")
    readers = [_core.Reader(_core.Map(path), g) for g in range(2, 42)]
    wrote = [r.entry("rag.config", 0)["generation"] == r.commit["generation"] for r in readers]
    assert 0 < sum(wrote) < 30
    assert all(r.commit["end"] - r.entry("rag.config", 0)["at"] < 16 << 10 for r in readers)
    with ragfile.edit(path, embedder=Letters(), parity=10) as w:
        w.upsert([memory(5)])
    reader = _core.Reader(_core.Map(path))
    assert reader.entry("rag.config", 0)["generation"] == reader.commit["generation"]
    assert json.loads(bytes(reader.section("rag.config")))["parity"] == 10


def test_few_rows_of_an_edit_have_no_shadow_and_the_same_answers(tmp_path):
    path = built(tmp_path / "kb", range(300))
    before = [record.number for record in _core.Reader(_core.Map(path)).segments]
    with ragfile.edit(path, embedder=Letters()) as w:
        w.upsert(map(memory, range(300, 320)))
    reader = _core.Reader(_core.Map(path))
    assert [reader.has("rag.shadow", s.number) for s in reader.segments] == [True, False]
    assert before == [reader.segments[0].number]
    assert answers(path) == answers(built(tmp_path / "whole", range(320)))


@pytest.mark.parametrize("seed", range(3))
def test_random_commits_equal_a_build(tmp_path, seed):
    rng, told, path = random.Random(seed), {}, tmp_path / "kb"
    with ragfile.create(path, embedder=Letters()):
        pass
    for _ in range(90):
        with ragfile.edit(path, embedder=Letters()) as w:
            gone = set(rng.sample(sorted(told), min(len(told), rng.randrange(3))))
            w.delete(gone)
            for doc_id in gone:
                del told[doc_id]
            new = {f"m{rng.randrange(200):04d}": rng.choice(TEXTS) for _ in range(rng.randrange(4))}
            new = {doc_id: text for doc_id, text in new.items() if doc_id not in gone}
            w.upsert([{"id": doc_id, "text": text} for doc_id, text in new.items()])
            told |= new
    with ragfile.create(tmp_path / "whole", embedder=Letters()) as w:
        w.add_documents({"id": doc_id, "text": text} for doc_id, text in told.items())
    assert answers(path) == answers(tmp_path / "whole")
    assert len(segments(path)) <= 3 * (FANOUT - 1)
    assert ragfile.verify(path)[0] == []
