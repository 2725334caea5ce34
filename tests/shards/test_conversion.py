"""A dataset as one file and back, and another model or chunk policy for all of it, against builds of one file."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.doors.cli.main import ragfile as command
from ragfile.errors import ConflictError
from ragfile.shards import shards as open_shards
from ragfile.shards.conversion import is_one_of

QUESTIONS, told = collections.QUESTIONS, collections.told


@pytest.fixture
def sources(tmp_path):
    return collections.write(tmp_path / "sources", 30)


@pytest.fixture
def one(sources, tmp_path):
    ragfile.build(sources, tmp_path / "one.ragfile")
    return tmp_path / "one.ragfile"


@pytest.fixture
def kb(sources, tmp_path):
    dataset.build(sources, tmp_path / "kb", shards=4, by="hash")
    return tmp_path / "kb"


def same(kb, one):
    with ragfile.open(kb) as mine, ragfile.open(one) as theirs:
        assert len(mine) == len(theirs)
        for mode in ("hybrid", "bm25", "vector"):
            for a, b in zip(
                mine.search_batch(QUESTIONS, 6, mode=mode),
                theirs.search_batch(QUESTIONS, 6, mode=mode),
                strict=True,
            ):
                assert told(a) == told(b)


def test_a_dataset_as_one_file_has_the_bytes_of_a_build(kb, one, tmp_path):
    report = dataset.convert(kb, tmp_path / "joined.ragfile")
    assert (report.documents, report.chunks) == (30, len(ragfile.open(one)))
    assert (tmp_path / "joined.ragfile").read_bytes() == one.read_bytes()
    dataset.delete(kb, "a/d001.md")
    dataset.compact(kb, shards=2)
    dataset.convert(kb, tmp_path / "less.ragfile")
    with ragfile.edit(one) as editor:
        editor.delete(["a/d001.md"])
    ragfile.compact(one, renumber=True)
    assert (tmp_path / "less.ragfile").read_bytes() == one.read_bytes()


def content(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("executor", [None, "process"])
def test_one_file_as_a_dataset_has_the_bytes_of_a_build(kb, one, tmp_path, executor):
    more = {"executor": executor, "workers": 2} if executor else {}
    dataset.convert(one, tmp_path / "dealt", shards=4, by="hash", **more)
    assert content(tmp_path / "dealt") == content(kb)
    same(tmp_path / "dealt", one)


def test_a_file_with_a_history_is_dealt_out_as_it_is_now(one, tmp_path):
    with ragfile.edit(one) as editor:
        editor.upsert([{"id": "new", "text": "a new pod"}])
        editor.delete(["a/d001.md", "b/d003.md"])
    dataset.convert(one, f"{tmp_path}/kb/", shards=3)
    same(tmp_path / "kb", one)
    assert dataset.verify(tmp_path / "kb")[0] == []
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.info["deleted"] == 0
        assert len(rf.manifest.shards) == 3


def test_other_stores_take_the_way_over_a_file(kb, one, tmp_path):
    dataset.convert(kb, tmp_path / "kb.ragmd")
    assert ragfile.open(tmp_path / "kb.ragmd").document_ids() == ragfile.open(one).document_ids()
    dataset.convert(tmp_path / "kb.ragmd", f"{tmp_path}/again/", shards=2)
    same(tmp_path / "again", one)


def test_what_cannot_be_converted_is_refused_in_words(kb, one, tmp_path):
    with pytest.raises(ValueError, match="is a dataset already"):
        dataset.convert(kb, f"{tmp_path}/other/")
    with pytest.raises(FileExistsError):
        dataset.convert(one, kb, shards=2)
    with pytest.raises(ValueError, match="neither"):
        dataset.convert(one, tmp_path / "two.ragfile")
    assert is_one_of(one, f"{tmp_path}/x/")
    assert not is_one_of(one, f"{tmp_path}/x/", to="npy+jsonl")
    assert not is_one_of(one, tmp_path / "x")
    ragfile.create(tmp_path / "empty.ragfile").__enter__().__exit__(None, None, None)
    with pytest.raises(ValueError, match="has no document"):
        dataset.convert(tmp_path / "empty.ragfile", f"{tmp_path}/none/")
    assert not (tmp_path / "none/manifests").exists()


def test_sections_of_other_programs_are_named_when_they_are_left(one, tmp_path):
    with ragfile.edit(one) as editor:
        editor.add_section("mine", b"x")
    with pytest.warns(UserWarning, match="sections mine"):
        dataset.convert(one, tmp_path / "kb", shards=2)


def test_stale_documents_stay_stale_on_the_way(one, tmp_path):
    with ragfile.edit(one, chunking="words:5/0") as editor:
        editor.upsert([{"id": "new", "text": "a new pod " * 9}])
    before = ragfile.stale(one)
    assert before
    dataset.convert(one, tmp_path / "kb", shards=3)
    assert dataset.stale(tmp_path / "kb") == before
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.info["stale"] == len(before)
    dataset.compact(tmp_path / "kb", shards=2)
    assert dataset.stale(tmp_path / "kb") == before
    dataset.convert(tmp_path / "kb", tmp_path / "back.ragfile")
    assert ragfile.stale(tmp_path / "back.ragfile") == before
    report = dataset.reindex(tmp_path / "kb")
    assert report["recut"] == len(before)
    assert dataset.stale(tmp_path / "kb") == {}
    ragfile.reindex(one)
    same(tmp_path / "kb", one)


class Counting:
    """A model of eight dimensions: how often a text has each of eight letters."""

    model = ragfile.Model("letters", 8)

    def embed(self, texts, *, role="document"):
        found = np.array([[t.count(c) + 0.5 for c in "abcdenow"] for t in texts], np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_another_model_for_all_of_it_gives_the_bits_of_one_file(kb, one):
    model = Counting()
    assert dataset.reindex(kb, embedder=model)["embedded"] > 0
    ragfile.reindex(one, embedder=model)
    with ragfile.open(kb, embedder=model) as mine, ragfile.open(one, embedder=model) as theirs:
        assert mine.info["model"] == theirs.info["model"]
        for question in QUESTIONS:
            assert told(mine.search(question)) == told(theirs.search(question))
    assert dataset.verify(kb)[0] == []
    assert dataset.reindex(kb, embedder=model) == {"recut": 0, "embedded": 0}
    with ragfile.open(kb) as rf:
        assert rf.generation == 2


def test_another_chunk_policy_for_all_of_it_gives_the_bits_of_one_file(kb, one):
    dataset.reindex(kb, chunking="words:9/2")
    ragfile.reindex(one, chunking="words:9/2")
    same(kb, one)
    assert dataset.verify(kb)[0] == []
    open_shards.forget()
    same(kb, one)


def test_a_change_meanwhile_is_a_conflict(kb, monkeypatch):
    from ragfile.shards import reindex

    done = []

    def slow(job, make=reindex.reindex_shard):
        if not done:
            done.append(dataset.delete(kb, "a/d001.md"))
        return make(job)

    monkeypatch.setattr(reindex, "reindex_shard", slow)
    with pytest.raises(ConflictError):
        dataset.reindex(kb, chunking="words:9/2")
    with ragfile.open(kb) as rf:
        assert rf.document("a/d001.md") is None
        assert rf.generation == 2


def test_the_commands_convert_and_reindex(kb, one, tmp_path):
    def run(*arguments):
        done = CliRunner().invoke(command, [str(one_) for one_ in arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("convert", kb, tmp_path / "joined.ragfile")
    assert (tmp_path / "joined.ragfile").read_bytes() == one.read_bytes()
    said = json.loads(run("convert", one, f"{tmp_path}/dealt/", "--shards", 3, "--json"))
    assert said["documents"] == 30
    same(tmp_path / "dealt", one)
    assert "stale" in run("stale", kb, "--chunking", "words:9/2")
    run("reindex", kb, "--chunking", "words:9/2")
    run("reindex", one, "--chunking", "words:9/2")
    same(kb, one)


def test_the_other_convert_says_where_datasets_go(kb, tmp_path):
    with pytest.raises(ragfile.FormatError, match=r"ragfile\.dataset\.convert"):
        ragfile.convert(kb, tmp_path / "x.ragfile")
