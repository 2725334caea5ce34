"""A text's vector is the same whatever stands beside it: with real models, plain and quantised, made
here with onnx and onnxruntime's own quantisation.
"""

import json

import numpy as np
import pytest

import ragfile
from ragfile.embedding.protocol import open_embedder
from ragfile.errors import ModelError

WORDS = ["[UNK]", *(f"w{n}" for n in range(60))]
DIM = 16
TEXTS = [" ".join(f"w{(7 * n + i * i) % 60}" for i in range(1 + n * 5 % 23)) for n in range(40)]


def layer(onnx, rng):
    """A layer of attention without a mask, so that padding would count, and one of weights."""
    node, tensor = onnx.helper.make_node, onnx.numpy_helper.from_array
    floats, integers = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    weights = {
        "table": rng.standard_normal((len(WORDS), DIM)) * np.linspace(0.2, 3, len(WORDS))[:, None],
        "query": rng.standard_normal((DIM, DIM)), "out": rng.standard_normal((DIM, DIM)),
    }  # fmt: skip
    nodes = [
        node("Gather", ["table", "input_ids"], ["x"]),
        node("MatMul", ["x", "query"], ["q"]),
        node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        node("MatMul", ["q", "t"], ["s"]),
        node("Softmax", ["s"], ["p"], axis=-1),
        node("MatMul", ["p", "x"], ["m"]),
        node("MatMul", ["m", "out"], ["last_hidden_state"]),
    ]
    info = onnx.helper.make_tensor_value_info
    return onnx.helper.make_graph(
        nodes,
        "layer",
        [info("input_ids", integers, ["batch", "length"])],
        [info("last_hidden_state", floats, ["batch", "length", DIM])],
        [tensor(value.astype(np.float32), name) for name, value in weights.items()],
    )


def made(folder, kind, seed=1):
    """A folder with a model and its tokenizer."""
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    onnx = pytest.importorskip(
        "onnx", reason="onnx, which makes the test's model, is not installed"
    )
    tokenizers = pytest.importorskip("tokenizers", reason="the extra 'onnx' is not installed")
    folder.mkdir()
    opset = [onnx.helper.make_opsetid("", 17)]
    graph = layer(onnx, np.random.default_rng(seed))
    path = folder / "model.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))
    if kind == "quantised":
        quantization = pytest.importorskip("onnxruntime.quantization")
        quantization.quantize_dynamic(str(path), str(path))
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.parametrize("kind", ["plain", "quantised"])
def test_a_vector_does_not_depend_on_the_batch(kind, tmp_path):
    embedder = open_embedder(f"onnx:{made(tmp_path / 'tiny', kind)}", batch=8)
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    shuffled = embedder.embed(TEXTS[::-1])[::-1]
    if kind == "quantised":
        assert together.tobytes() == alone.tobytes() == shuffled.tobytes()
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(together, shuffled, atol=1e-6)


def test_the_quantised_model_of_this_test_does_depend_on_what_runs_with_it(tmp_path):
    """Else the test above would show nothing."""
    embedder = open_embedder(f"onnx:{made(tmp_path / 'tiny', 'quantised')}")
    alike = [text for text in TEXTS if len(text.split()) == 6][:2]
    encodings = embedder.tokenizer.encode_batch(alike)
    together, alone = embedder.run(encodings)[0], embedder.run(encodings[:1])[0]
    assert np.abs(together - alone).max() > 1e-5


def test_one_question_and_many_find_the_same(tmp_path):
    spec = f"onnx:{made(tmp_path / 'tiny', 'quantised')}"
    with ragfile.create(tmp_path / "kb", embedder=spec) as w:
        w.add([{"doc_id": f"d{n}", "chunk_index": 0, "content": t} for n, t in enumerate(TEXTS)])
    with ragfile.open(tmp_path / "kb", embedder=spec) as rf:
        for text, many in zip(TEXTS, rf.search_batch(TEXTS, 5, mode="vector"), strict=True):
            one = rf.search(text, 5, mode="vector", cache=False)
            assert [(h.id, h.score) for h in one] == [(h.id, h.score) for h in many]


def limit(folder, *, truncation=None, **files):
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    if truncation is not None:
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        tokenizer["truncation"] = {
            "direction": "Right", "max_length": truncation, "strategy": "LongestFirst", "stride": 0,
        }  # fmt: skip
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return open_embedder(f"onnx:{folder}").model.cut


def test_a_text_is_cut_where_the_model_says(tmp_path):
    folder = made(tmp_path / "tiny", "plain")
    assert limit(folder) == 512
    assert limit(folder, config={"max_position_embeddings": 40}) == 40
    assert limit(folder, config={"max_position_embeddings": 42, "model_type": "roberta"}) == 40
    assert limit(folder, truncation=20) == 20
    assert limit(folder, sentence_bert_config={"max_seq_length": 30}) == 30
    assert limit(folder, sentence_bert_config={"max_seq_length": 300}) == 40


def test_a_file_knows_the_weights_and_the_cut_of_its_model(tmp_path):
    folder, other = made(tmp_path / "tiny", "plain"), made(tmp_path / "b", "plain", seed=2)
    with ragfile.create(tmp_path / "kb", embedder=f"onnx:{folder}") as w:
        w.add([{"doc_id": "d", "chunk_index": 0, "content": "w1 w2"}])
    with ragfile.open(tmp_path / "kb", embedder=f"onnx:{folder}") as rf:
        recorded = rf.file.config["model"]
        assert recorded["cut"] == 512
        assert len(recorded["weights"]) == 32
    (folder / "model.onnx").write_bytes((other / "model.onnx").read_bytes())
    with pytest.raises(
        ModelError, match=r"built with onnx:tiny \(weights \w{8}, cut at 512 tokens\), not"
    ):
        ragfile.open(tmp_path / "kb", embedder=f"onnx:{folder}")
    with pytest.raises(ModelError, match="use reindex to change the model"):
        ragfile.edit(tmp_path / "kb", embedder=f"onnx:{folder}")
    assert list(ragfile.stale(tmp_path / "kb", embedder=f"onnx:{folder}")) == ["d"]
    ragfile.reindex(tmp_path / "kb", embedder=f"onnx:{folder}")
    ragfile.open(tmp_path / "kb", embedder=f"onnx:{folder}").close()
