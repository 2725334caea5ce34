"""Transformers on this machine, from folders that are made here: tiny models whose vectors can be worked out by hand."""

import json

import numpy as np
import pytest
from local_models import by_hand

from ragfile.embedding.protocol import open_embedder
from ragfile.errors import ModelError


def assert_same(found, texts, pooling="mean"):
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [by_hand(text, pooling) for text in texts], atol=1e-6)


# ----------------------------------------------------------------------------------------------------- ONNX folder ---


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
