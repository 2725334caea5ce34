"""Hits are read on first look, and are plain records all the same."""

import copy
import os
import pickle
from dataclasses import asdict, replace

import numpy as np
import pytest
from oracles import search_cases as oracle
from oracles.search_cases import DIM, pieced
from servers.range_server import RangeServer

import ragfile
from ragfile.errors import ChangedError, CorruptError
from ragfile.file.passages import Passages
from ragfile.file.row_segment import RowSegment
from ragfile.records import PARTS, Hit


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.ragfile"
    pieced(path, oracle.corpus(np.random.default_rng(3), 60, DIM), 2)
    return path


@pytest.fixture
def reads(monkeypatch):
    """The parts of hits that are read, in order."""
    done = []
    for part in (*PARTS, "whole"):
        read = getattr(RowSegment, part)

        def noted(self, row, part=part, read=read):
            done.append(part)
            return read(self, row)

        monkeypatch.setattr(RowSegment, part, noted)
    return done


def vector(seed=1):
    return np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)


def asked(rf, **options):
    return rf.search("waa wab", 5, vector=vector(), **options)


class Nothing:
    """In the place of an archive that nobody reads."""


def test_a_hit_reads_what_is_looked_at_and_that_once(path, reads):
    with ragfile.open(path) as rf:
        hits = asked(rf, cache=False)
        assert reads == []
        assert [hit.id.rpartition("#")[0] for hit in hits] == [hit.doc_id for hit in hits]
        assert reads == ["identity"] * 5
        assert hits[0].text == hits[0].text != ""
        assert reads[5:] == ["passage"]
        assert (hits[0].metadata["lang"], hits[0].tags) is not None
        assert reads[6:] == ["labels"]


@pytest.mark.parametrize("skips_nan", [False, True])
def test_hits_of_arrays_are_those_that_are_made_one_by_one(skips_nan):
    rng = np.random.default_rng(5)
    rows = rng.integers(-1, 9, 40)
    scores = rng.normal(size=40)
    parts = {name: rng.normal(size=40).astype(np.float32) for name in ("bm25", "vector")}
    parts["vector"][::3] = np.nan
    found = Passages(Nothing()).hits(rows, scores, "calibrated", parts, skips_nan)
    expected = []
    for i in np.flatnonzero(rows >= 0).tolist():
        known = {n: float(part[i]) for n, part in parts.items()}
        known = {n: x for n, x in known.items() if not (skips_nan and x != x)}
        expected.append((int(rows[i]), float(scores[i]), "calibrated", known))
    told = [(hit.found_in[1], hit.score, hit.score_type, hit.scores) for hit in found]
    assert repr(told) == repr(expected)
    assert {type(value) for hit in found for value in hit.scores.values()} == {float}


def test_a_text_needs_no_metadata(path):
    with ragfile.open(path) as rf:
        texts = [hit.text for hit in rf.search("waa", 60, mode="bm25")]
        entry = next(e for e in rf.file.entries if e["name"] == "rag.meta")
    raw = bytearray(path.read_bytes())
    raw[entry["at"] : entry["at"] + 40] = os.urandom(40)
    path.write_bytes(raw)
    with ragfile.open(path) as rf:
        hits = rf.search("waa", 60, mode="bm25")
        assert [hit.text for hit in hits] == texts
        with pytest.raises(CorruptError, match=r"rag\.meta"):
            _ = hits[0].metadata


@pytest.mark.parametrize("cache", [True, False])
def test_hits_are_those_of_their_rows(path, cache):
    with ragfile.open(path) as rf:
        for _ in range(2):
            for hit in asked(rf, cache=cache):
                row = rf.row(hit.id)
                assert hit == rf.hit(row, hit.score, hit.score_type, hit.scores)
                assert np.array_equal(hit.vector, rf.vector(row))


def test_what_a_taker_changes_is_his_alone(path):
    with ragfile.open(path) as rf:
        first = asked(rf)
        first[0].metadata["lang"] = first[0].text = "mine"
        first[0].scores.clear()
        first.clear()
        second = asked(rf)
        assert "mine" not in (second[0].metadata["lang"], second[0].text)
        assert len(second) == 5
        assert second[0].scores
        assert second == asked(rf, cache=False)


def test_a_field_that_was_set_stays(path):
    with ragfile.open(path) as rf:
        hit = asked(rf)[0]
        hit.source = "elsewhere"
        assert hit.metadata["lang"]
        assert hit.source == "elsewhere"


def test_hits_can_be_copied_compared_pickled_and_spelled_out(path):
    with ragfile.open(path) as rf:
        hits, same = asked(rf, cache=False), asked(rf, cache=False)
        assert [asdict(hit) for hit in hits] == [asdict(hit) for hit in same]
        assert repr(asked(rf)) == repr(hits)
        for other in (copy.copy(hits[0]), copy.deepcopy(hits[0]), replace(hits[0])):
            assert other == same[0]
        kept = pickle.loads(pickle.dumps(asked(rf, cache=False)))
        assert list(kept) == list(hits)
        assert kept[0].vector is None
    assert pickle.loads(pickle.dumps(hits[0])) == same[0]


def test_hits_outlive_their_file(path):
    with ragfile.open(path) as rf:
        hits, expected = asked(rf, cache=False), [rf.hit(rf.row(h.id)).text for h in asked(rf)]
    os.unlink(path)
    assert [hit.text for hit in hits] == expected
    assert hits[0].vector is not None


def test_hits_are_of_the_commit_that_was_searched(path):
    with ragfile.open(path) as rf:
        hits = asked(rf, cache=False)
        expected = asked(rf)
        expected = [(h.id, h.text) for h in expected]
        with ragfile.edit(path) as w:
            w.delete({h.doc_id for h in asked(rf)})
        assert rf.refresh()
        assert [(h.id, h.text) for h in hits] == expected


def test_a_file_written_over_is_noticed_when_a_hit_is_looked_at(path):
    with ragfile.open(path) as rf:
        hits = asked(rf, cache=False)
        raw = bytearray(path.read_bytes())
        raw[100:4000] = bytes(3900)
        with open(path, "r+b") as file:
            file.write(raw)
        os.utime(path, ns=(1, 1))
        with pytest.raises(ChangedError):
            _ = hits[0].text


def test_a_damaged_text_names_its_file_and_section(path):
    with ragfile.open(path) as rf:
        entry = next(e for e in rf.file.entries if e["name"] == "rag.text")
    raw = bytearray(path.read_bytes())
    raw[entry["at"] : entry["at"] + 40] = os.urandom(40)
    path.write_bytes(raw)
    with ragfile.open(path) as rf:
        hits = rf.search("waa", 60, mode="bm25")
        with pytest.raises(CorruptError, match=r"kb\.ragfile"):
            _ = [hit.text for hit in hits]


def test_hits_of_a_file_behind_a_url_are_read_with_the_answer(path, reads):
    with RangeServer({"kb.ragfile": path.read_bytes()}) as server:
        with ragfile.open(server.url("kb.ragfile")) as rf:
            hits = asked(rf, cache=False)
        assert reads == ["whole"] * len(hits)
    assert all(hit.text for hit in hits)


def test_a_hit_of_ones_own_is_what_it_is_given():
    hit = Hit("a#0", "a", 0, "text", 1.0)
    assert (hit.vector, hit.metadata, hit.uuid) == (None, {}, hit.uuid)
    with pytest.raises(AttributeError, match="no attribute 'txt'"):
        _ = hit.txt
    assert not hasattr(hit, "_anything")
