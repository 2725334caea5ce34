"""The library refuses a wrong argument at once, in a sentence that names it, and leaves nothing behind."""

import numpy as np
import pytest

import ragfile
from ragfile.embedding.protocol import Model


class Four:
    """An embedder of four components."""

    model = Model("four/1", 4)

    def __init__(self, answer=None):
        self.answer = answer

    def embed(self, texts, role="document"):
        return (
            np.full((len(texts), 4), 0.5, np.float32) if self.answer is None else self.answer(texts)
        )


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Rotate the keys.")
    return path


@pytest.fixture
def kb(source, tmp_path):
    ragfile.build(source, tmp_path / "kb.ragfile")
    return tmp_path / "kb.ragfile"


def test_an_object_without_embed_is_no_embedder(source, tmp_path):
    class Silent:
        model = Model("m", 4)

    with pytest.raises(TypeError, match=r"Silent is not an embedder: it has no method embed"):
        ragfile.build(source, tmp_path / "kb.ragfile", embedder=Silent())


def test_a_model_that_is_a_string_is_refused_with_what_it_should_be(source, tmp_path):
    class Named(Four):
        model = "four"

    with pytest.raises(TypeError, match=r"Model\(name, dims\), not 'four'"):
        ragfile.build(source, tmp_path / "kb.ragfile", embedder=Named())


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda texts: np.full((len(texts), 4), np.nan), "not finite"),
        (lambda texts: np.ones((len(texts), 5)), r"of shape \(1, 5\)"),
        (lambda texts: np.ones((len(texts) + 1, 4)), r"of shape \(2, 4\)"),
        (lambda texts: [["a"] * 4], "not with rows of numbers"),
    ],
)
def test_a_wrong_answer_of_an_embedder_fails_the_build_and_is_not_taken_up_by_the_next(
    source, tmp_path, answer, says
):
    out = tmp_path / "kb.ragfile"
    with pytest.raises(ragfile.ModelError, match=says):
        ragfile.build(source, out, embedder=Four(answer))
    assert ragfile.build(source, out, embedder=Four()).embedded == 1


def test_a_closed_file_says_that_it_is_closed(kb):
    rf = ragfile.open(kb)
    rf.search("keys")
    rf.close()
    for ask in (
        lambda: rf.search("keys"),
        lambda: rf.match(["keys"]),
        lambda: len(rf),
        lambda: rf.info,
    ):
        with pytest.raises(ValueError, match="is closed"):
            ask()
    assert repr(rf).endswith("kb.ragfile, closed>")


def test_an_open_file_shows_what_it_is(kb):
    with ragfile.open(kb) as rf:
        assert repr(rf) == f"<KnowledgeBase {kb}, 1 chunks, generation 1>"


@pytest.mark.parametrize("question", [None, 3, b"keys"])
def test_a_question_is_a_text(kb, question):
    with ragfile.open(kb) as rf, pytest.raises(TypeError, match="a question is a str"):
        rf.search(question)


def test_a_batch_is_a_list_of_texts_with_a_vector_each(kb):
    with ragfile.open(kb) as rf:
        with pytest.raises(TypeError, match="a list of texts"):
            rf.search_batch("keys")
        for count in (1, 3):
            with pytest.raises(ValueError, match=f"2 questions have a vector each, not {count}"):
                rf.search_batch(["keys", "pods"], vectors=np.ones((count, rf.rows.dim)))


@pytest.mark.parametrize("k", [2.5, "3", None])
def test_k_is_a_whole_number(kb, k):
    with ragfile.open(kb) as rf, pytest.raises(TypeError):
        rf.search("keys", k=k)


def test_k_may_be_larger_than_anything(kb):
    with ragfile.open(kb) as rf:
        assert len(rf.search("keys", k=2**70)) == 1


@pytest.mark.parametrize("where", ["year=3", [0.5], [[0]]])
def test_a_filter_is_a_condition_a_mask_or_row_numbers(kb, where):
    with ragfile.open(kb) as rf, pytest.raises(TypeError, match=r"where is (a|one) filter"):
        rf.search("keys", where=where)


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ({"content": 3}, "content of chunk 0 of 'a'"),
        ({"metadata": [1]}, "metadata of chunk 0 of 'a' must be a dict"),
        ({"metadata": {"x": {1}}}, "metadata of chunk 0 of 'a' cannot be JSON"),
        (
            {"metadata": {2024: "x"}},
            "metadata of chunk 0 of 'a' cannot be JSON: the key 2024 is not a string",
        ),
        ({"metadata": {"x": [{"y": {None: 1}}]}}, "the key .* is not a string"),
        ({"metadata": {"x": ({True: 1},)}}, "the key .* is not a string"),
        ({"tags": "abc"}, "tags of chunk 0 of 'a' must be a list"),
        ({"tags": [3]}, "tags of chunk 0 of 'a' must be a list"),
    ],
)
def test_a_chunk_that_could_not_be_read_back_is_refused(tmp_path, field, says):
    chunk = {"doc_id": "a", "chunk_index": 0, "content": "x"} | field
    with pytest.raises(TypeError, match=says), ragfile.create(tmp_path / "a.ragfile") as w:
        w.add([chunk])
    assert not (tmp_path / "a.ragfile").exists()
