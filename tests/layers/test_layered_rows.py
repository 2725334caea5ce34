"""Layers answer as one file in which the documents of each were upserted: the same passages and score bits."""

import pickle
import random

import numpy as np
import pytest
from oracles.search_cases import Hashed
from servers.range_server import RangeServer
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.file.container import Container
from ragfile.layers.container import LayersContainer
from ragfile.options import BATCH

QUESTIONS = collections.QUESTIONS
ASKED = [
    {},
    {"mode": "bm25"},
    {"mode": "vector"},
    {"where": {"year": {"$gte": 2010}}},
    {"where": {"kind": {"$ne": "k1"}}, "mode": "bm25"},
    {"where": {"year": {"$in": [2001, 2003, 2010]}}, "mode": "vector"},
    {"tags_any": ["t1", "t3"]},
    {"group": 2},
    {"drop_repeats": True},
    {"diversity": 0.5},
    {"offset": 3, "min_score": 0.01},
    {"boost": [{"field": "year", "weight": 0.5, "reference": 2005, "half_life": 3}]},
    {"query_syntax": True},
    {"rewrites": ["pod node"]},
    {"fusion": "rrf"},
    {"fusion": "blend", "pool": 7},
]


def document(rng, doc_id):
    """A document of few words; one in ten has no text, and so no rows."""
    number = rng.randrange(1000)
    text = "" if number % 10 == 9 else collections.text(rng, number)
    metadata = {"year": 2000 + number % 20, "kind": f"k{number % 3}"}
    metadata["title"] = rng.choice(collections.TITLES)
    tags = [f"t{number % 5}"]
    return {"id": doc_id, "text": text, "metadata": metadata, "tags": tags, "source": doc_id[0]}


def create(path, documents):
    with ragfile.create(path, embedder=Hashed(), chunking="words:20/0") as writer:
        writer.add_documents(documents)


def change(path, upserts, deletions):
    with ragfile.edit(path, embedder=Hashed()) as writer:
        writer.delete(deletions)
        writer.upsert(upserts)


def random_history(rng, layers, one):
    """Change layers above a base at random, and one file in the same way."""
    ids = [f"{letter}/{n}" for letter in "abc" for n in range(20)]
    base = [document(rng, doc_id) for doc_id in rng.sample(ids, 40)]
    create(layers[0], base)
    create(one, base)
    for height in range(2, len(layers) + 1):
        for _ in range(rng.randint(1, 4)):
            upserts = [document(rng, doc_id) for doc_id in rng.sample(ids, rng.randint(0, 6))]
            named = {each["id"] for each in upserts}
            gone = [doc_id for doc_id in rng.sample(ids, rng.randint(0, 6)) if doc_id not in named]
            change(layers[:height], upserts, gone)
            change(one, upserts, gone)


def answers(rf, options):
    is_for_batches = options.keys() <= BATCH.options.keys()
    found = list(rf.search_batch(QUESTIONS, 6, **options)) if is_for_batches else []
    found += [rf.search(question, 6, **options) for question in QUESTIONS]
    return [(collections.told(hits), hits.degraded) for hits in found]


def paths(folder, count):
    return [str(folder / f"layer{n}.ragfile") for n in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_layers_answer_as_one_file_in_which_they_were_upserted(tmp_path, seed):
    rng, layers, one = random.Random(seed), paths(tmp_path, 2 + seed % 2), tmp_path / "one.ragfile"
    random_history(rng, layers, one)
    with (
        ragfile.open(layers, embedder=Hashed()) as view,
        ragfile.open(one, embedder=Hashed()) as rf,
    ):
        assert len(view) == len(rf)
        assert view.document_ids() == rf.document_ids()
        assert view.info["documents"] == rf.info["documents"]
        assert {d.id: d for d in view.documents()} == {d.id: d for d in rf.documents()}
        for options in ASKED:
            assert answers(view, options) == answers(rf, options), options
        for doc_id in rf.document_ids():
            assert view.document(doc_id) == rf.document(doc_id)


@pytest.mark.parametrize("seed", range(3))
def test_explanations_and_statistics_are_those_of_one_file(tmp_path, seed):
    layers, one = paths(tmp_path, 3), tmp_path / "one.ragfile"
    random_history(random.Random(100 + seed), layers, one)
    with (
        ragfile.open(layers, embedder=Hashed()) as view,
        ragfile.open(one, embedder=Hashed()) as rf,
    ):
        for question in QUESTIONS:
            assert view.rows.statistics_of(question) == rf.rows.statistics_of(question)
            for hit in rf.search(question, 3):
                mine, its = (kb.explain(question, hit.id, 3).to_dict() for kb in (view, rf))
                assert {**mine, "row": 0} == {**its, "row": 0}
        assert view.rows.spelled("w", 0) == rf.rows.spelled("w", 0)
        ask = [kb.ask("pod drain?", model=None, k=4).text for kb in (view, rf)]
        assert ask[0] == ask[1]


@pytest.fixture
def two(tmp_path):
    """A base of six documents, and a layer that replaces one, adds one and deletes one."""
    layers = paths(tmp_path, 2)
    create(layers[0], [{"id": f"d{n}", "text": f"pod number {n} drains"} for n in range(6)])
    change(
        layers, [{"id": "d1", "text": "a pod replaced"}, {"id": "new", "text": "a new pod"}], ["d2"]
    )
    return layers


def ids(rf, question="pod", **options):
    return sorted(hit.doc_id for hit in rf.search(question, 20, mode="bm25", **options))


SEEN = ["d0", "d1", "d3", "d4", "d5", "new"]


def test_a_deleted_document_stays_hidden_after_both_files_are_compacted(two):
    for path in two:
        ragfile.compact(path)
    with ragfile.open(two) as view, ragfile.open(two[0]) as base:
        assert ids(view) == SEEN
        assert view.document("d2") is None
        assert base.document("d2") is not None


@pytest.mark.parametrize("suffix", [".ragmd", ".jsonl"])
def test_a_converted_layer_hides_what_it_hid(two, tmp_path, suffix):
    other, back = tmp_path / f"top{suffix}", tmp_path / "back.ragfile"
    ragfile.convert(two[1], other)
    ragfile.convert(other, back)
    with ragfile.open([two[0], back]) as view:
        assert ids(view) == SEEN


def test_a_deleted_document_can_be_written_and_deleted_again(two):
    change(two, [{"id": "d2", "text": "a pod again"}], [])
    with ragfile.open(two) as view:
        assert view.document("d2").text == "a pod again"
        change(two, [], ["d2", "d1"])
        assert view.refresh()
        assert ids(view) == ["d0", "d3", "d4", "d5", "new"]


def test_a_commit_to_any_layer_is_seen_by_refresh(two):
    with ragfile.open(two) as view:
        before = view.generation
        assert not view.refresh()
        change(two[0], [{"id": "low", "text": "a low pod"}], ["d5"])
        assert view.refresh()
        assert view.generation == before + 1
        assert ids(view) == ["d0", "d1", "d3", "d4", "low", "new"]


def test_an_edit_of_layers_writes_to_the_highest_alone(two):
    with open(two[0], "rb") as file:
        before = file.read()
    change(two, [{"id": "d4", "text": "changed"}], ["d0"])
    with ragfile.edit(two, embedder=Hashed()) as writer:
        writer.update("d5", metadata={"seen": True})
    with open(two[0], "rb") as file:
        assert file.read() == before
    with ragfile.open(two) as view, ragfile.open(two[1]) as top:
        assert view.document("d5").metadata == {"seen": True}
        assert view.document("d5").text == top.document("d5").text == "pod number 5 drains"
        assert ids(view, where={"seen": True}) == ["d5"]


def test_a_deletion_by_filter_reaches_documents_below(two):
    with ragfile.edit(two[0], embedder=Hashed()) as writer:
        writer.update("d3", metadata={"old": True})
    with ragfile.edit(two, embedder=Hashed()) as writer:
        assert writer.delete(where={"old": True}) == ["d3"]
    with ragfile.open(two) as view:
        assert ids(view) == ["d0", "d1", "d4", "d5", "new"]


def test_chunks_of_a_document_below_are_changed_above(two):
    with ragfile.edit(two[0], embedder=Hashed()) as writer:
        writer.upsert([{"id": "long", "text": " ".join(f"pod{n} word" for n in range(40))}])
    with ragfile.open(two, embedder=Hashed()) as view:
        kept = view.vector(view.row("long#1")).tolist()
        with ragfile.edit(two, embedder=Hashed()) as writer:
            assert writer.delete_chunks(["long#0"]) == ["long#0"]
        view.refresh()
        assert view.row("long#0") is None
        assert view.vector(view.row("long#1")).tolist() == kept


def test_an_unchanged_document_of_a_layer_below_is_not_written(two):
    with ragfile.edit(two, embedder=Hashed()) as writer:
        writer.upsert([{"id": "d4", "text": "pod number 4 drains"}])
        assert writer.report["unchanged"] == 1
    with ragfile.open(two[1]) as top:
        assert top.document("d4") is None


def test_a_missing_top_layer_is_made_with_the_settings_of_the_lowest(two, tmp_path):
    third = str(tmp_path / "third.ragfile")
    with ragfile.edit([*two, third], embedder=Hashed()) as writer:
        writer.delete(["new"])
    with (
        ragfile.open([*two, third]) as view,
        ragfile.open(third) as top,
        ragfile.open(two[0]) as low,
    ):
        assert ids(view) == SEEN[:-1]
        for name in ("model", "metric", "chunking", "bm25"):
            assert top.file.config[name] == low.file.config[name]
    assert ragfile.verify(third)[0] == []


def test_an_edit_that_fails_hides_nothing(two):
    with pytest.raises(RuntimeError), ragfile.edit(two, embedder=Hashed()) as writer:
        writer.delete(["d0"])
        raise RuntimeError
    with ragfile.open(two) as view:
        assert ids(view) == SEEN


def test_layers_of_another_model_are_refused_by_name(two, tmp_path):
    class Other(Hashed):
        def __init__(self):
            super().__init__()
            self.model = ragfile.Model("another", self.model.dims)

    other = str(tmp_path / "other.ragfile")
    with ragfile.create(other, embedder=Other()) as writer:
        writer.add_documents([{"id": "x", "text": "a pod"}])
    with pytest.raises(ragfile.ModelError, match=r"layer0.ragfile has the model hashed.*other"):
        ragfile.open([two[0], other])


def test_layers_of_another_analysis_are_refused_by_name(two, tmp_path):
    other = str(tmp_path / "german.ragfile")
    with ragfile.create(
        other, embedder=Hashed(), analysis=ragfile.Analysis(stemmer="german")
    ) as writer:
        writer.add_documents([{"id": "x", "text": "a pod"}])
    with pytest.raises(ragfile.ModelError, match=r"stemmer='english', and .*stemmer='german'"):
        ragfile.open([two[0], other])


def test_options_of_one_file_are_refused_for_layers(two):
    with pytest.raises(ValueError, match=r"generation= is for one file"):
        ragfile.open(two, generation=1)
    with pytest.raises(TypeError, match="give at least one"):
        ragfile.open([])


def test_a_layer_can_be_a_dataset_or_an_open_file(two, tmp_path):
    shards = str(tmp_path / "shards")
    dataset.convert(two[0], shards, shards=3)
    with ragfile.open(two[0]) as base:
        with ragfile.open([shards, two[1]]) as view, ragfile.open([base, two[1]]) as other:
            for question in ("pod", "replaced new"):
                told = [
                    collections.told(kb.search(question, 9, mode="bm25")) for kb in (view, other)
                ]
                assert told[0] == told[1]
        assert len(base) == 6


def test_a_layer_can_be_behind_a_url(two):
    pytest.importorskip("httpx2", reason="the http extra is not installed")
    with open(two[0], "rb") as file:
        data = file.read()
    with (
        RangeServer({"base": data}) as server,
        ragfile.open([server.url("base"), two[1]], embedder=Hashed()) as view,
        ragfile.open(two, embedder=Hashed()) as local,
    ):
        for mode in ("bm25", "vector", "hybrid"):
            told = [collections.told(kb.search("a new pod", 9, mode=mode)) for kb in (view, local)]
            assert told[0] == told[1]


def test_views_and_their_hits_can_be_pickled(two):
    with ragfile.open(two) as view:
        copy = pickle.loads(pickle.dumps(view))
        assert ids(copy) == SEEN
        assert (
            copy.search("pod", 3, mode="bm25")[0].text == view.search("pod", 3, mode="bm25")[0].text
        )


def test_layers_have_what_a_file_has(two):
    names = [{n for n in dir(kind) if n[0] != "_"} for kind in (Container, LayersContainer)]
    assert names[0] == names[1]
    with ragfile.open(two) as view:
        assert view.paths == two
        assert [layer["path"] for layer in view.info["layers"]] == two
        assert view.file.verify()[0] == []
        assert view.file.section("rag.hidden") is not None
        with pytest.raises(ValueError, match="open one of them for its bytes"):
            view.file.raw(0, 4)


def test_rows_of_layers_are_numbered_without_gaps(two):
    with ragfile.open(two, embedder=Hashed()) as view:
        rows = view.live_rows()
        assert len(rows) == len(view) == 6
        assert {view.hit(int(row)).doc_id for row in rows} == set(SEEN)
        assert np.isfinite(view.rows.vectors_of(rows.tolist())).all()
        assert view.to_arrow().num_rows == 6 if pytest.importorskip("pyarrow") else True


@pytest.mark.parametrize("seed", range(4))
def test_a_refreshed_view_answers_like_one_that_is_opened_anew(tmp_path, seed):
    rng, layers = random.Random(seed), [tmp_path / f"{i}.ragfile" for i in range(3)]
    random_history(rng, layers, tmp_path / "one.ragfile")
    ids = [f"{letter}/{n}" for letter in "abc" for n in range(20)]
    with ragfile.open(layers, embedder=Hashed()) as rf:
        answers(rf, {})
        for _ in range(5):
            height = rng.randint(1, 3)
            named = rng.sample(ids, 6)
            upserts = [document(rng, doc_id) for doc_id in named[:3]]
            change(layers[:height] if height > 1 else layers[0], upserts, named[3:])
            rf.refresh()
            with ragfile.open(layers, embedder=Hashed()) as fresh:
                for options in ASKED[:6]:
                    assert answers(rf, options) == answers(fresh, options)


def test_a_commit_to_a_layer_leaves_the_segments_below_open(tmp_path):
    layers, rng = [tmp_path / "low.ragfile", tmp_path / "high.ragfile"], random.Random(3)
    create(layers[0], [document(rng, f"a/{n}") for n in range(30)])
    create(layers[1], [document(rng, "b/0")])

    def opened(rf):
        rf.search("pod", 3)
        (low,) = [s for s in rf.rows.segments if s.reader.path == str(layers[0])]
        return low.records, low.lexicon

    with ragfile.open(layers, embedder=Hashed()) as rf:
        before = opened(rf)
        change(layers, [document(rng, "b/1")], [])
        rf.refresh()
        assert [one is two for one, two in zip(opened(rf), before, strict=True)] == [True, True]
        change(layers, [document(rng, "a/1")], [])
        rf.refresh()
        assert opened(rf)[0] is not before[0]
