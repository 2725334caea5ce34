"""Phrases of a file: by the positions of words, and by its texts where it has none."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from servers.range_server import RangeServer

import ragfile
import ragfile.dataset
from ragfile import _core
from ragfile.file.row_segment import RowSegment
from ragfile.ingest.analysis import PAGE_FIELDS, Analysis

WORDS = [
    "the",
    "of",
    "key",
    "keys",
    "rotate",
    "rotating",
    "getPodStatus",
    "pod",
    "status",
    "v0.1.0",
]
PLACED = Analysis(fields=PAGE_FIELDS)
UNPLACED = dataclasses.replace(PLACED, positions=False)
PHRASES = [
    "of the", "the", "the the", "rotate the key", "the keys", "pod status", "getPodStatus of",
    "0 of", "key key rotate", "nowhere", "of nowhere", "key",
]  # fmt: skip


def texts(seed, count):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=int(rng.integers(0, 14)))) for _ in range(count)]


def chunks(first, many):
    return [
        {
            "doc_id": f"d{first + i:04d}",
            "chunk_index": 0,
            "content": text,
            "metadata": {"headers": [WORDS[i % 9]]},
        }
        for i, text in enumerate(many)
    ]


def grown(path, analysis):
    """A file of several commits, with replaced and deleted documents."""
    with ragfile.create(path, analysis=analysis) as w:
        w.add(chunks(0, texts(1, 200)))
    with ragfile.edit(path) as w:
        w.add(chunks(200, texts(2, 90)))
    with ragfile.edit(path) as w:
        w.delete([f"d{i:04d}" for i in range(0, 250, 7)])
        w.add(chunks(300, texts(3, 5)))
    return path


def answers(path, **options):
    with ragfile.open(path, **options) as rf:
        return {
            (phrase, sign): [
                (hit.id, hit.score)
                for hit in rf.search(f'{sign}"{phrase}" keys', 400, mode="bm25", query_syntax=True)
            ]
            for phrase in PHRASES
            for sign in ("", "-")
        }


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    return grown(tmp_path_factory.mktemp("placed") / "kb.ragfile", PLACED)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return answers(grown(tmp_path_factory.mktemp("unplaced") / "kb.ragfile", UNPLACED))


def test_positions_change_no_answer(placed, expected):
    with ragfile.open(placed) as rf:
        assert all(segment.has("rag.positions") for segment in rf.rows.segments if segment.live)
    assert ragfile.verify(placed)[0] == []
    found = answers(placed)
    assert found == expected
    assert found["of the", ""]
    assert found["the", ""]
    assert found["of nowhere", ""] == []


@pytest.mark.parametrize("mode", ["bm25", "hybrid", "vector"])
@pytest.mark.parametrize("embedder", ["none", "default"])
def test_phrases_of_stop_words_alone_are_answered_in_every_mode(tmp_path, mode, embedder):
    pages = [("a", "in the beginning"), ("b", "the pod is in it"), ("c", "rows in the index")]
    path = tmp_path / "kb.ragfile"
    ragfile.build([{"id": i, "text": text} for i, text in pages], path, embedder=embedder)
    with ragfile.open(path) as rf:
        hits = rf.search('"in the"', query_syntax=True, mode=mode)
        assert {hit.doc_id for hit in hits} == {"a", "c"}
        assert next(hit.doc_id for hit in rf.search('"in the" index', query_syntax=True)) == "c"
        assert len(rf.search('"in the"', 1, offset=1, query_syntax=True, mode=mode)) == 1
        assert not rf.search("in the", mode="bm25")


def test_a_phrase_of_stop_words_alone_has_one_order_after_any_history(tmp_path):
    """Rows of equal scores follow document id and chunk index, not the commits that wrote them."""
    pages = [{"id": f"d{n}", "text": f"page {n} is in the index"} for n in range(9)]
    ragfile.build(pages, tmp_path / "whole", embedder="none")
    ragfile.build(pages[3::2], tmp_path / "grown", embedder="none")
    for page in (pages[8], pages[0], pages[6], pages[1], pages[4], pages[2]):
        with ragfile.edit(tmp_path / "grown") as writer:
            writer.upsert([page])
    found = []
    for name in ("whole", "grown"):
        with ragfile.open(tmp_path / name) as rf:
            found.append([hit.doc_id for hit in rf.search('"in the"', 7, query_syntax=True)])
    assert found == [[f"d{n}" for n in range(7)]] * 2


def test_positions_survive_compaction_and_stay_out_where_they_were(placed, expected, tmp_path):
    for analysis, has in ((PLACED, True), (UNPLACED, False)):
        path = grown(tmp_path / f"{has}.ragfile", analysis)
        ragfile.compact(path)
        with ragfile.open(path) as rf:
            assert [segment.has("rag.positions") for segment in rf.rows.segments] == [has]
            assert rf.rows.analysis.positions is has
        assert answers(path) == expected


def test_a_file_with_and_without_positions_is_searched_by_both(tmp_path, monkeypatch, expected):
    """The segments of a dataset's shards, or of a view, can differ."""
    path = grown(tmp_path / "kb.ragfile", PLACED)
    monkeypatch.setattr(RowSegment, "positions", property(only_later_segments))
    assert answers(path) == expected


def only_later_segments(segment):
    section = segment.section("rag.positions")
    return _core.Positions(section, segment.lexicon) if segment.number > 1 and section else None


def test_a_file_elsewhere_is_asked_in_few_requests(placed, expected):
    with RangeServer({"kb": placed.read_bytes()}) as server:
        assert answers(server.url("kb")) == expected
        with ragfile.open(server.url("kb"), embedder="none") as rf:
            rf.search("keys", mode="bm25")
            before = len(server.requests)
            rf.search('+"rotate the key"', mode="bm25", query_syntax=True)
            assert len(server.requests) - before <= 6


def test_the_command_leaves_positions_out(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# Keys\n\nRotate the keys of the cluster.\n")
    for options, has in ((), True), (("--no-positions",), False):
        out = tmp_path / f"{has}.ragfile"
        command = [sys.executable, "-m", "ragfile", "build", str(tmp_path / "docs"), "-o", str(out)]
        subprocess.run([*command, "--embedder", "none", *options], check=True, capture_output=True)
        with ragfile.open(out) as rf:
            assert rf.rows.segments[0].has("rag.positions") is has
            assert [hit.doc_id for hit in rf.search('"of the"', query_syntax=True)] == ["a.md"]


def test_a_dataset_finds_phrases(tmp_path):
    (tmp_path / "docs").mkdir()
    for i, text in enumerate(texts(5, 40)):
        (tmp_path / f"docs/{i}.txt").write_text(text + " end of the file")
    ragfile.dataset.build(tmp_path / "docs", tmp_path / "set/", shards=3, embedder="none")
    with ragfile.open(tmp_path / "set/") as ds:
        assert len(ds.search('"of the file"', 100, query_syntax=True)) == 40
        assert not ds.search('"the of file"', 100, query_syntax=True)


def test_an_index_without_the_text_has_no_positions(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path, analysis=Analysis(fields=(("headers", 1),))) as w:
        w.add(chunks(0, texts(1, 20)))
    with ragfile.open(path) as rf:
        assert not rf.rows.segments[0].has("rag.positions")
