"""search(rerank=…): the first passages in a new order, by what their header paths and texts say."""

import pytest

import ragfile

PAGES = {
    "drain": "# Safely drain a node\n\nMove the pods away before you begin. " + "Words. " * 40,
    "runtime": "# Runtimes\n\n## Drain the node\n\nNode node node drain drain. " + "Words. " * 40,
    "other": "# Other\n\nA node is a machine. " + "Words. " * 40,
}


@pytest.fixture
def rf(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    ragfile.build([tmp_path / "docs"], tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as opened:
        yield opened


class Lengths:
    """A model that likes short texts, and remembers what it was given."""

    def score(self, query, texts):
        self.asked = query, list(texts)
        return [-len(text) for text in texts]


def test_a_model_reads_header_paths_and_texts_of_the_first_forty(rf):
    model = Lengths()
    hits = rf.search("drain a node", k=2, rerank=model)
    query, texts = model.asked
    assert query == "drain a node"
    assert any(text.startswith("Runtimes > Drain the node\n") for text in texts)
    assert len(texts) == len(rf)
    assert [hit.score for hit in hits] == sorted((-len(text) for text in texts), reverse=True)[:2]
    assert {hit.score_type for hit in hits} == {"rerank"}
    assert "calibrated" in hits[0].scores


def test_the_answer_without_it_stays_what_it_was(rf):
    before = [(h.id, h.score) for h in rf.search("drain a node")]
    rf.search("drain a node", rerank=Lengths())
    assert [(h.id, h.score) for h in rf.search("drain a node")] == before


def test_pages_go_on_in_the_new_order(rf):
    whole = [hit.id for hit in rf.search("drain a node", k=4, rerank=Lengths())]
    assert [hit.id for hit in rf.search("drain a node", k=2, offset=1, rerank=Lengths())] == whole[
        1:3
    ]


@pytest.mark.parametrize("option", [{"min_score": 0.1}, {"group": 2}, {"diversity": 0.5}])
def test_what_goes_by_the_replaced_scores_is_refused(rf, option):
    with pytest.raises(ValueError, match=f"cannot be combined with {next(iter(option))}"):
        rf.search("drain a node", rerank=Lengths(), **option)


def test_a_model_that_does_not_give_a_number_for_each_text_is_an_error(rf):
    class Broken:
        def score(self, query, texts):
            return [float("nan")] * len(texts)

    with pytest.raises(ValueError, match="one finite number per text"):
        rf.search("drain a node", rerank=Broken())


def test_nothing_found_is_nothing_reordered(rf):
    assert rf.search("drain a node", where={"no": "such"}, rerank=Lengths()) == []


@pytest.mark.parametrize("wrong", [True, 7, ["st:x"]])
def test_anything_but_a_model_is_refused(rf, wrong):
    with pytest.raises(TypeError, match="rerank"):
        rf.search("drain a node", rerank=wrong)


def test_a_question_without_text_has_nothing_to_read(rf):
    with pytest.raises(ValueError, match="rerank reads the text of the question"):
        rf.search("", similar_to=0, rerank=Lengths())
