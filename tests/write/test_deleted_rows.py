"""Few deletions in a large segment are a list beside its bitmap; answers do not depend on the form."""

import random
import runpy
from pathlib import Path

import numpy as np
import pytest

import ragfile
from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.write import deletions, old_generations

READER = Path(__file__).resolve().parents[2] / "spec/reader.py"
ROWS, DIM = 800, 4


def made(path, rows=ROWS, **options):
    vectors = np.random.default_rng(1).standard_normal((rows, DIM)).astype(np.float32)
    with ragfile.create(path, dim=DIM, **options) as w:
        w.add(
            [{"doc_id": f"d{i:05}", "chunk_index": 0, "content": f"word{i % 7} n{i}"} for i in range(rows)],
            vectors,
        )  # fmt: skip
    return path


def forms(path):
    """Whether the first segment has a bitmap, and whether it has rows in a list."""
    opened = _core.Reader(_core.Map(path))
    listed = opened.entry("rag.deleted", 1)
    return opened.has("rag.tombs", 1), listed is not None and listed["items"] > 0


def ids(path):
    with ragfile.open(path) as rf:
        return [rf.chunk(int(row)).doc_id for row in rf.live_rows()]


@pytest.mark.parametrize("seed", range(3))
def test_lists_and_bitmaps_say_the_same(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(deletions, "LISTED_FROM", 64)
    path, plain = made(tmp_path / "kb.ragfile"), made(tmp_path / "plain.ragfile")
    rng, left, seen = random.Random(seed), [f"d{i:05}" for i in range(ROWS)], set()
    for _ in range(25):
        gone = rng.sample(left, rng.choice([1, 1, 2, 5, 40]))
        left = [name for name in left if name not in gone]
        for each, listed_from in ((path, 64), (plain, 1 << 40)):
            monkeypatch.setattr(deletions, "LISTED_FROM", listed_from)
            with ragfile.edit(each, created=1) as w:
                assert sorted(w.delete(gone)) == sorted(gone)
        seen.add(forms(path))
        assert ids(path) == left
        assert ragfile.verify(path)[0] == []
        with ragfile.open(path) as one, ragfile.open(plain) as other:
            hits, expected = (
                [(hit.id, hit.score) for hit in rf.search("word3", 20, vector=np.ones(DIM))]
                for rf in (one, other)
            )
        assert hits == expected
    assert seen >= {(True, False), (True, True)} or seen >= {(False, True), (True, True)}
    found = runpy.run_path(str(READER))["read"](path.read_bytes())
    assert found["segments"][0]["tombs"] == [n for n in range(ROWS) if f"d{n:05}" not in set(left)]
    for each in (path, plain):
        ragfile.compact(each)
    assert ids(path) == left == ids(plain)


def test_a_deletion_in_a_large_segment_writes_a_few_bytes(tmp_path):
    path = made(tmp_path / "kb.ragfile", 20_000, analysis=None)
    sizes = []
    for number in range(3):
        with ragfile.edit(path) as w:
            w.delete([f"d{number:05}"])
        sizes.append(path.stat().st_size)
    assert forms(path) == (False, True)
    assert sizes[2] - sizes[1] < 20_000 // 8
    assert ids(path)[0] == "d00003"


def test_generations_that_are_kept_keep_their_lists(tmp_path, monkeypatch):
    monkeypatch.setattr(deletions, "LISTED_FROM", 64)
    path = made(tmp_path / "kb.ragfile", keep=2)
    for number in range(4):
        with ragfile.edit(path) as w:
            w.delete([f"d{number:05}"])
    monkeypatch.setattr(old_generations, "limit", lambda live: 0)
    with ragfile.edit(path) as w:
        w.delete(["d00004"])
        w.record["keep"] = 2
    assert ids(path)[0] == "d00005"
    with ragfile.open(path, generation=ragfile.open(path).generation - 1) as rf:
        assert len(rf) == ROWS - 4
    assert ragfile.verify(path)[0] == []


@pytest.mark.parametrize("rows", [[3, 3], [1], [130]])
def test_a_list_that_contradicts_the_segment_is_refused(rows):
    bitmap = np.zeros(130, bool)
    bitmap[1] = True
    tombs = _core.Section.over(bytes(_core.bitmap(bitmap, in_words=True)), "rag.tombs")
    listed = _core.Section.over(np.array(rows, "<u4").tobytes(), "rag.deleted")
    with pytest.raises(CorruptError, match="listed twice, or is not among 130 rows"):
        _core.rows_outside(tombs, 130, listed)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_a_list_is_the_rows_of_a_set_in_order(count):
    flags = np.random.default_rng(count).random(count) < 0.3
    packed = bytes(_core.row_list(_core.row_set(flags, count), count))
    assert packed == np.flatnonzero(flags).astype("<u4").tobytes()
    rest = _core.rows_outside(None, count, _core.Section.over(packed, "rag.deleted"))
    assert np.array_equal(_core.flags_of(rest, count), ~flags)
