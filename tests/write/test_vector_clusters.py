"""Files with clusters: written when it pays or on request, kept by edits and compaction, and searched with less
effort through every door."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from core.test_clusters import topics

import ragfile
from ragfile.doors.cli.main import ragfile as command
from ragfile.write import vector_clusters

DIM = 24
ROWS = 3000


def chunks(count, first=0):
    return [
        {
            "doc_id": f"d{i:05}",
            "chunk_index": 0,
            "content": f"text {i % 50}",
            "metadata": {"n": i % 7},
        }
        for i in range(first, first + count)
    ]


@pytest.fixture(scope="module")
def rows():
    return topics(2 * ROWS, DIM, centres=60)


@pytest.fixture
def path(tmp_path, rows):
    path = str(tmp_path / "kb.ragfile")
    with ragfile.create(path, dim=DIM, clusters=40) as writer:
        writer.add(chunks(ROWS), rows[:ROWS])
    return path


def clusters_of(path):
    with ragfile.open(path) as rf:
        return [segment.matrix.clusters for segment in rf.rows.segments]


def same_answers(rf, other, queries):
    for where in (None, {"n": 3}):
        for k in (1, 20):
            for one, two in zip(
                rf.nearest(queries, k, where=where),
                other.nearest(queries, k, where=where),
                strict=True,
            ):
                assert one.tobytes() == two.tobytes()


def test_a_file_with_clusters_answers_as_one_without(tmp_path, path, rows):
    plain = str(tmp_path / "plain.ragfile")
    with ragfile.create(plain, dim=DIM, clusters=False) as writer:
        writer.add(chunks(ROWS), rows[:ROWS])
    assert clusters_of(path)[0] > 20
    assert clusters_of(plain) == [0]
    with ragfile.open(path) as rf, ragfile.open(plain) as other:
        assert "rag.clustered" in rf.file.strategies
        assert "rag.shadow" not in rf.file.strategies
        same_answers(rf, other, rows[ROWS : ROWS + 5])
    assert not ragfile.verify(path)[0]


def test_edits_deletions_and_compaction_keep_clusters(path, rows):
    with ragfile.edit(path) as writer:
        writer.add(chunks(ROWS, ROWS), rows[ROWS:])
        writer.delete([f"d{i:05}" for i in range(0, ROWS, 3)])
    before = clusters_of(path)
    assert len(before) == 2
    assert min(before) > 20
    with ragfile.open(path) as rf:
        assert not ragfile.verify(path)[0]
        queries, recall = rows[10:20], np.empty(10)
        whole, _ = rf.nearest(queries, 10)
        found, _ = rf.nearest(queries, 10, effort=0.2, recall=recall)
        assert not any(row % 3 == 0 for row in found.ravel().tolist() if row < ROWS)
        pairs = zip(found.tolist(), whole.tolist(), strict=True)
        assert np.mean([len(set(a) & set(b)) / 10 for a, b in pairs]) > 0.8
        ids = [[rf.chunk(row).doc_id for row in each] for each in whole.tolist()]
    ragfile.compact(path)
    assert len(clusters_of(path)) == 1
    with ragfile.open(path) as rf:
        assert [
            [rf.chunk(row).doc_id for row in each] for each in rf.nearest(queries, 10)[0].tolist()
        ] == ids
    ragfile.compact(path, clusters=False)
    assert clusters_of(path) == [0]
    ragfile.compact(path)
    assert clusters_of(path) == [0]
    ragfile.compact(path, clusters=True)
    assert clusters_of(path)[0] > 10


def test_the_same_rows_make_the_same_file(tmp_path, rows):
    made = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.ragfile"
        with ragfile.create(str(path), dim=DIM, clusters=30) as writer:
            some = chunks(ROWS) if name == "a" else chunks(ROWS)[::-1]
            writer.add(some, rows[:ROWS] if name == "a" else rows[:ROWS][::-1])
        made.append(path.read_bytes())
    assert made[0] == made[1]


def test_a_search_says_whether_its_answer_is_proven(path, rows):
    with ragfile.open(path) as rf:
        exact = rf.search("text", 10, vector=rows[5], mode="vector")
        assert exact.exact
        assert exact.estimated_recall == 1
        low = rf.search("text", 10, vector=rows[5], mode="vector", effort=0.02)
        assert low.estimated_recall < 1
        assert not low.exact
        assert rf.search("text", 10, vector=rows[5], mode="vector").exact  # not the kept one
        again = rf.search("text", 10, vector=rows[5], mode="vector", effort=0.02)
        assert (again.estimated_recall, [h.id for h in again]) == (
            low.estimated_recall,
            [h.id for h in low],
        )
        full = {hit.id: hit.score for hit in rf.search("text", ROWS, vector=rows[5], mode="vector")}
        assert all(full[hit.id] == hit.score for hit in low)
        for options in (
            {"group": 2},
            {"drop_repeats": True},
            {"rerank": "default"},
            {"where": {"n": 2}},
            {"rewrites": ["word"]},
        ):
            vector = rows[5:7] if "rewrites" in options else rows[5]
            hits = rf.search("text", 5, vector=vector, effort=0.05, **options)
            assert 0 <= hits.estimated_recall <= 1
            assert len(hits)


def test_a_batch_tells_the_recall_of_each_answer(path, rows):
    texts, vectors = ["text 1", "text 2", "nothing"], rows[100:103]
    with ragfile.open(path) as rf:
        found = rf.search_batch(texts, 8, vectors=vectors, effort=0.04, mode="vector")
        table = rf.search_batch(texts, 8, vectors=vectors, effort=0.04, mode="vector", columns=True)
        assert [hits.estimated_recall for hits in found] == table.estimated_recall.tolist()
        assert table.hits(1).estimated_recall == found[1].estimated_recall
        each = [{"n": 1}, None, {"n": 2}]
        apart = rf.search_batch(texts, 8, vectors=vectors, effort=0.04, mode="vector", where=each)
        assert apart[1].estimated_recall == found[1].estimated_recall
        for i, where in enumerate(each):
            alone = rf.search(
                texts[i], 8, vector=vectors[i], effort=0.04, mode="vector", where=where
            )
            assert apart[i].estimated_recall == pytest.approx(alone.estimated_recall)
            assert [h.id for h in apart[i]] == [h.id for h in alone]


@pytest.mark.parametrize("effort", [0, 1.01, -1])
def test_an_effort_that_is_no_share_is_refused(path, rows, effort):
    with ragfile.open(path) as rf:
        for ask in (rf.search, rf.nearest):
            with pytest.raises(ValueError, match="effort"):
                ask(*(["text"] if ask == rf.search else [rows[0]]), effort=effort)


@pytest.mark.parametrize(
    ("clusters", "error"),
    [(0, ValueError), (65537, ValueError), ("many", TypeError), (2.5, TypeError)],
)
def test_a_number_of_clusters_that_cannot_be_is_refused(tmp_path, clusters, error):
    with pytest.raises(error, match="clusters"):
        ragfile.create(str(tmp_path / "a.ragfile"), dim=3, clusters=clusters)
    assert not list(tmp_path.iterdir())


def test_segments_have_as_many_clusters_as_suit_them():
    worth = 1 << 20
    assert vector_clusters.wanted({}, worth, 8) == 0
    assert vector_clusters.wanted({"clusters": False}, worth, 8) == 0
    assert vector_clusters.wanted({"clusters": True}, worth, 8) == worth // vector_clusters.EACH
    assert vector_clusters.wanted({"clusters": True}, 5120, 8) == 20
    assert vector_clusters.wanted({"clusters": 500}, 5120, 8) == 320
    assert vector_clusters.wanted({"layout": "web"}, worth, 8) == 0
    assert vector_clusters.wanted({"clusters": True}, worth, 5000) == 0
    assert vector_clusters.wanted({"clusters": "odd"}, 5120, 8) == 0  # a stranger's file


def test_vectors_beyond_memory_are_brought_into_order_first(tmp_path, rows, monkeypatch):
    """The same file, though vectors come from a copy that is written in parts."""
    made = []
    for mapped in (vector_clusters.MAPPED, 1):
        monkeypatch.setattr(vector_clusters, "MAPPED", mapped)
        monkeypatch.setattr(vector_clusters, "PART", 20_000)
        monkeypatch.setattr(vector_clusters, "READ", 700)
        path = tmp_path / f"{mapped}.ragfile"
        with ragfile.create(str(path), dim=DIM, clusters=30) as writer:
            writer.add(chunks(ROWS), rows[:ROWS])
        made.append(path.read_bytes())
    assert made[0] == made[1]


def test_the_command_line_builds_compacts_and_asks(tmp_path):
    folder, out = tmp_path / "docs", str(tmp_path / "kb.ragfile")
    folder.mkdir()
    for i in range(1500):
        (folder / f"{i:03}.txt").write_text(
            f"Chapter {i} is about the number {i * i} and the word w{i % 9}."
        )
    run = CliRunner().invoke
    assert run(command, ["build", str(folder), "-o", out, "--clusters", "20"]).exit_code == 0
    assert clusters_of(out)[0] > 5
    found = run(
        command, ["search", out, "which number", "--mode", "vector", "--effort", "0.05", "--json"]
    )
    told = json.loads(found.stdout)
    assert told["exact"] is False
    assert 0 <= told["estimated_recall"] < 1
    exact = json.loads(run(command, ["search", out, "which number", "--json"]).stdout)
    assert exact["exact"] is True
    assert run(command, ["compact", out, "--clusters", "no"]).exit_code == 0
    assert clusters_of(out) == [0]
    for wrong in ("0", "many", "70000"):
        assert run(command, ["compact", out, "--clusters", wrong]).exit_code != 0
    assert run(command, ["search", out, "x", "--effort", "0"]).exit_code != 0


def test_a_dataset_passes_effort_to_its_shards(tmp_path, path, rows):
    root = str(tmp_path / "parts") + "/"
    from ragfile.shards.conversion import convert

    convert(path, root, shards=3)
    queries, recall = rows[40:50], np.zeros(10)
    with ragfile.open(path) as rf:
        whole = rf.nearest(queries, 10)
    with ragfile.open(root) as ds:
        assert [each.tobytes() for each in ds.nearest(queries, 10)] == [e.tobytes() for e in whole]
        ds.nearest(queries, 50, effort=0.05, recall=recall)
        assert (recall < 1).any()
        hits = ds.search("text", 10, vector=queries[0], mode="vector", effort=0.05)
        assert hits.estimated_recall == pytest.approx(recall[0])
        assert ds.search("text", 10, vector=queries[0], mode="vector").exact
