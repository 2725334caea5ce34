"""Tiny models in the folders that real libraries load: each word of WORDS has a row of TABLE as its vector."""

import numpy as np
import pytest

WORDS = ["[UNK]", "one", "two", "three", "query", "passage", ":"]
TABLE = np.random.default_rng(1).standard_normal((len(WORDS), 8)).astype(np.float32)


def ids_of(text):
    return [WORDS.index(word) if word in WORDS else 0 for word in text.replace(":", " : ").split()]


def by_hand(text, pooling="mean"):
    rows = TABLE[ids_of(text)].astype(np.float64)
    pooled = {"mean": rows.mean(axis=0), "cls": rows[0], "last": rows[-1]}[pooling]
    return pooled / np.linalg.norm(pooled)


@pytest.fixture
def tokenizer():
    tokenizers = pytest.importorskip("tokenizers", reason="the tokenizers library is not installed")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made


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


@pytest.fixture
def transformer_folder(tmp_path, tokenizer):
    library = pytest.importorskip("sentence_transformers", reason="the extra 'st' is not installed")
    from sentence_transformers.models import StaticEmbedding

    module = StaticEmbedding(tokenizer, embedding_weights=TABLE)
    folder = tmp_path / "tiny-static"
    prompts = {"query": "query: ", "document": "passage: "}
    library.SentenceTransformer(modules=[module], prompts=prompts, device="cpu").save(str(folder))
    return folder
