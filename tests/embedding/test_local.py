"""Transformers on this machine, from folders that are made here: tiny models whose vectors can be worked out by hand."""

import json

import numpy as np
import pytest

from ragfile.embedding.protocol import open_embedder
from ragfile.errors import ModelError

WORDS = ["[UNK]", "one", "two", "three", "query", "passage", ":"]
TABLE = np.random.default_rng(1).standard_normal((len(WORDS), 8)).astype(np.float32)


def ids_of(text):
    return [WORDS.index(word) if word in WORDS else 0 for word in text.replace(":", " : ").split()]


def by_hand(text, pooling="mean"):
    rows = TABLE[ids_of(text)].astype(np.float64)
    pooled = {"mean": rows.mean(axis=0), "cls": rows[0], "last": rows[-1]}[pooling]
    return pooled / np.linalg.norm(pooled)


def assert_same(found, texts, pooling="mean"):
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [by_hand(text, pooling) for text in texts], atol=1e-6)


@pytest.fixture
def tokenizer():
    tokenizers = pytest.importorskip("tokenizers", reason="the tokenizers library is not installed")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


# ----------------------------------------------------------------------------------------------------- ONNX folder ---


@pytest.fixture
def onnx_folder(tmp_path, tokenizer):
    """A folder with a model that looks each token up in a table."""
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    onnx = pytest.importorskip(
        "onnx", reason="onnx, which makes the test's model, is not installed"
    )
    tensor, floats, integers = (
        onnx.helper.make_tensor_value_info,
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.INT64,
    )
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "lookup",
        [tensor(name, integers, ["batch", "length"]) for name in ("input_ids", "attention_mask")],
        [tensor("last_hidden_state", floats, ["batch", "length", 8])],
        [onnx.numpy_helper.from_array(TABLE, "table")],
    )
    folder = tmp_path / "tiny"
    folder.mkdir()
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


TEXTS = ["one two three", "two", "three three one two one", "one"]


def test_an_onnx_folder_embeds_in_the_order_of_the_texts(onnx_folder):
    embedder = open_embedder(f"onnx:{onnx_folder}", batch=2)
    assert (embedder.model.name, embedder.model.dims) == ("onnx:tiny", 8)
    assert_same(embedder.embed(TEXTS), TEXTS)


@pytest.mark.parametrize("pooling", ["cls", "last", "mean"])
@pytest.mark.parametrize("stated", [True, False])
def test_an_onnx_folder_pools_as_it_says_or_as_it_is_told(onnx_folder, pooling, stated):
    options = {}
    if stated:
        (onnx_folder / "1_Pooling").mkdir()
        keys = {
            "cls": "pooling_mode_cls_token",
            "last": "pooling_mode_lasttoken",
            "mean": "pooling_mode_mean_tokens",
        }
        (onnx_folder / "1_Pooling" / "config.json").write_text(json.dumps({keys[pooling]: True}))
    else:
        options["pooling"] = pooling
    assert_same(open_embedder(f"onnx:{onnx_folder}", **options).embed(TEXTS), TEXTS, pooling)


def test_an_onnx_folder_has_its_own_prompts(onnx_folder):
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (onnx_folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    embedder = open_embedder(f"onnx:{onnx_folder}")
    assert_same(embedder.embed(["one"], "query"), ["query: one"])
    assert_same(embedder.embed(["one"], "document"), ["passage: one"])


def test_an_onnx_folder_cuts_a_text_at_its_length(onnx_folder):
    (onnx_folder / "sentence_bert_config.json").write_text('{"max_seq_length": 2}')
    assert_same(open_embedder(f"onnx:{onnx_folder}").embed(["one two three"]), ["one two"])


def test_blank_texts_are_zeros(onnx_folder):
    found = open_embedder(f"onnx:{onnx_folder}").embed(["", "one", "  "])
    assert (found[[0, 2]] == 0).all()
    assert_same(found[1:2], ["one"])


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_part_is_an_error_that_names_it(onnx_folder, missing):
    (onnx_folder / missing).unlink()
    with pytest.raises(ModelError, match=missing):
        open_embedder(f"onnx:{onnx_folder}")


# ------------------------------------------------------------------------------------------- sentence-transformers ---


@pytest.fixture
def transformer_folder(tmp_path, tokenizer):
    library = pytest.importorskip("sentence_transformers", reason="the extra 'st' is not installed")
    from sentence_transformers.models import StaticEmbedding

    module = StaticEmbedding(tokenizer, embedding_weights=TABLE)
    folder = tmp_path / "tiny-static"
    prompts = {"query": "query: ", "document": "passage: "}
    library.SentenceTransformer(modules=[module], prompts=prompts, device="cpu").save(str(folder))
    return folder


def test_a_sentence_transformer_puts_its_prompts_before_the_texts(transformer_folder):
    embedder = open_embedder(f"st:{transformer_folder}", offline=True, device="cpu")
    assert (embedder.model.name, embedder.model.dims) == ("st:tiny-static", 8)
    assert (embedder.model.query_prefix, embedder.model.document_prefix) == ("query: ", "passage: ")
    assert_same(embedder.embed(["one", "two"], "query"), ["query: one", "query: two"])
    assert_same(embedder.embed(["one", "two"]), ["passage: one", "passage: two"])


def test_a_sentence_transformer_takes_the_callers_prefixes_first(transformer_folder):
    embedder = open_embedder(
        f"st:{transformer_folder}", document_prefix="", query_prefix="two ", device="cpu"
    )
    assert_same(embedder.embed(["one"]), ["one"])
    assert_same(embedder.embed(["one"], "query"), ["two one"])


def test_a_sentence_transformer_gives_zeros_to_blank_texts(transformer_folder):
    found = open_embedder(f"st:{transformer_folder}", device="cpu").embed(["", "one"])
    assert (found[0] == 0).all()
    assert_same(found[1:], ["passage: one"])


@pytest.mark.parametrize(
    ("spec", "package"), [("st:x", "sentence_transformers"), ("onnx:x", "onnxruntime")]
)
def test_a_package_that_is_not_installed_is_named(spec, package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ModelError, match=r"pip install 'ragfile\["):
        open_embedder(spec)
