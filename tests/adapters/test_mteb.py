"""mteb runs its own evaluation over a task of ours: with ragfile as the model, and as the index under another."""

import math
import os

import numpy as np
import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
pytest.importorskip("mteb", reason="mteb is not installed")

import mteb
from datasets import Dataset
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models import IndexEncoderSearchProtocol, SearchEncoderWrapper
from mteb.models.model_meta import ModelMeta, ScoringFunction
from mteb.models.models_protocols import SearchProtocol

import ragfile
from ragfile.adapters.mteb import RagfileIndex, RagfileSearch

PAGES = {
    "keys": ("Keys", "To rotate the keys, run the rotation job every ninety days."),
    "pods": ("Pods", "A pod restarts when its container fails."),
    "logs": ("", "Logs are kept for a week and then deleted."),
    "disk": ("Disks", "A disk that is full stops the writer."),
}
ASKED = {
    "q1": "how are keys rotated",
    "q2": "restart a failing pod",
    "q3": "how long are logs kept",
}
JUDGED = {"q1": {"keys": 1}, "q2": {"pods": 1}, "q3": {"logs": 1}}


class OurTask(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name="OurTask", description="Four pages.", reference=None, dataset={"path": "none", "revision": "1"},
        type="Retrieval", category="t2t", modalities=["text"], eval_splits=["test"],
        eval_langs=["eng-Latn"], main_score="ndcg_at_10", date=("2024-01-01", "2024-01-02"),
        domains=["Web"], task_subtypes=[], license="mit", annotations_creators="derived",
        dialect=[], sample_creation="found", bibtex_citation="",
    )  # fmt: skip

    def load_data(self, **_):
        corpus = [{"id": n, "title": t, "text": x} for n, (t, x) in PAGES.items()]
        queries = [{"id": n, "text": x} for n, x in ASKED.items()]
        split = {
            "corpus": Dataset.from_list(corpus), "queries": Dataset.from_list(queries),
            "relevant_docs": JUDGED, "top_ranked": None,
        }  # fmt: skip
        self.dataset = {"default": {"test": split}}
        self.data_loaded = True


def scores_of(model, tmp_path):
    found = mteb.evaluate(model, OurTask(), cache=None, overwrite_strategy="always")
    return found.task_results[0].scores["test"][0]


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_mteb_evaluates_ragfile_as_a_model(mode, tmp_path):
    model = RagfileSearch(mode=mode)
    assert isinstance(model, SearchProtocol)
    assert scores_of(model, tmp_path)["ndcg_at_10"] == pytest.approx(1.0)


def test_answers_are_those_of_a_file_that_is_built_from_the_same_pages(tmp_path):
    model = RagfileSearch(tmp_path / "kb.ragfile")
    corpus = [{"id": n, "title": t, "text": x} for n, (t, x) in PAGES.items()]
    model.index(corpus)
    found = model.search([{"id": n, "text": x} for n, x in ASKED.items()], top_k=3)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        for name, question in ASKED.items():
            hits = rf.search(question, 3)
            assert list(found[name].items()) == [(hit.doc_id, hit.score) for hit in hits]
    some = model.search(
        [{"id": "q1", "text": ASKED["q1"]}], top_k=3, top_ranked={"q1": ["disk", "logs"]}
    )
    assert set(some["q1"]) <= {"disk", "logs"}
    with pytest.raises(ValueError, match="index"):
        RagfileSearch().search([], top_k=1)


class Letters:
    """An encoder that counts letters: enough for two indexes to be compared."""

    def __init__(self, similarity=ScoringFunction.COSINE):
        self.mteb_model_meta = ModelMeta(
            loader=None, name="test/letters", revision="1", release_date=None, languages=None,
            n_parameters=None, memory_usage_mb=None, max_tokens=None, embed_dim=26, license=None,
            open_weights=None, public_training_code=None, public_training_data=None, framework=[],
            similarity_fn_name=similarity, use_instructions=False, training_datasets=None,
        )  # fmt: skip

    def encode(self, inputs, **_):
        texts = [text for batch in inputs for text in batch["text"]]
        return np.array(
            [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32
        )

    def similarity(self, a, b):
        from mteb.similarity_functions import cos_sim

        return cos_sim(a, b)

    def similarity_pairwise(self, a, b):
        raise NotImplementedError


def test_a_model_scores_the_same_with_ragfile_as_its_index_as_with_mtebs_own_search(tmp_path):
    model = Letters()
    index = RagfileIndex(model)
    ours = scores_of(SearchEncoderWrapper(model, index_backend=index), tmp_path)
    theirs = scores_of(SearchEncoderWrapper(model), tmp_path)
    assert ours["ndcg_at_10"] == pytest.approx(theirs["ndcg_at_10"])
    assert ours["map_at_10"] == pytest.approx(theirs["map_at_10"])


@pytest.mark.parametrize(
    "similarity", [ScoringFunction.COSINE, ScoringFunction.DOT_PRODUCT, ScoringFunction.EUCLIDEAN]
)
def test_the_index_equals_brute_force(similarity):
    rng = np.random.default_rng(1)
    rows, asked = rng.normal(size=(50, 8)), rng.normal(size=(4, 8))
    index = RagfileIndex(Letters(similarity))
    index.add_documents(rows[:20], [f"d{i}" for i in range(20)])
    index.add_documents(rows[20:], [f"d{i}" for i in range(20, 50)])
    scores, places = index.search(asked, 5, None)
    for number, question in enumerate(asked):
        if similarity == ScoringFunction.EUCLIDEAN:
            true = -np.linalg.norm(rows - question, axis=1)
        else:
            true = rows @ question
            if similarity == ScoringFunction.COSINE:
                true = true / np.linalg.norm(rows, axis=1) / np.linalg.norm(question)
        best = np.argsort(-true)[:5]
        assert places[number] == best.tolist()
        assert scores[number] == pytest.approx(true[best].tolist(), rel=1e-5)
    few, local = index.search(asked[:1], 5, None, {"q": ["d3", "d40", "d7"]}, {0: "q"})
    assert sorted(local[0]) == [0, 1, 2]
    assert few[0] == sorted(few[0], reverse=True)


def test_an_index_can_be_cleared_and_refuses_what_does_not_fit():
    index = RagfileIndex(Letters())
    assert hasattr(IndexEncoderSearchProtocol, "clear")
    with pytest.raises(ValueError, match="as many vectors"):
        index.add_documents(np.ones((2, 3)), ["a"])
    index.add_documents(np.ones((1, 3)), ["a"])
    assert not math.isnan(index.search(np.ones((1, 3)), 1, None)[0][0][0])
    index.clear()
    with pytest.raises(ValueError, match="add_documents"):
        index.search(np.ones((1, 3)), 1, None)
