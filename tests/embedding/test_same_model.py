"""One comparison of models: hashes of weights, then names without their scheme."""

import json

import pytest

import ragfile
from ragfile.embedding.protocol import Model, same_model

HUB = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("nomic-embed-text", "nomic-embed-text", True),
        ("nomic-embed-text", "ollama:nomic-embed-text", True),
        ("nomic-embed-text", "ollama:nomic-embed-text:latest", True),
        ("nomic-embed-text:latest", "openai:nomic-embed-text", True),
        ("ollama:nomic-embed-text", "openai:nomic-embed-text", False),
        ("ollama:nomic-embed-text", "ollama:mxbai-embed-large", False),
        ("qwen3-embedding:0.6b", "ollama:qwen3-embedding:0.6b", True),
        ("qwen3-embedding:0.6b", "qwen3-embedding:4b", False),
        ("openai:text-embedding-3-small?dimensions=512", "text-embedding-3-small", True),
        (HUB, "st:all-MiniLM-L6-v2", True),
        ("BAAI/bge-small-en-v1.5", "st:BAAI/bge-small-en-v1.5", True),
        ("bge-small-en-v1.5", "st:BAAI/bge-small-en-v1.5", False),
        ("default", "potion-base-8M/1", True),
        ("nomic-embed-text", "Nomic-embed-text", False),
    ],
)
def test_names_are_compared_without_the_scheme_that_one_lacks(one, other, same):
    assert same_model({"name": one}, {"name": other}) is same
    assert same_model({"name": other}, {"name": one}) is same


def record(name="m", **more):
    return {"name": name, **more}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (record("onnx:a", weights="1"), record("st:b", weights="1"), True),
        (record("onnx:a", weights="1"), record("onnx:a", weights="2"), False),
        (record("onnx:a", weights="1"), record("onnx:a"), True),
        (record("onnx:a", weights="1"), record("a"), False),
        (record("onnx:a", weights="1", cut=256), record("onnx:a", weights="1", cut=512), False),
        (record("a", dims=768), record("ollama:a", dims=512), False),
        (record("a", dims=768), record("ollama:a", dims=None), True),
        (record("a", dims=768), record("ollama:a"), True),
    ],
)
def test_weights_decide_and_a_folder_is_no_name(one, other, same):
    assert same_model(one, other) is same
    assert same_model(other, one) is same


def test_a_model_compares_itself_with_a_record():
    assert Model("ollama:nomic-embed-text", None).is_of({"name": "nomic-embed-text", "dims": 768})
    assert not Model("ollama:nomic-embed-text", 3).is_of({"name": "nomic-embed-text", "dims": 768})


def test_a_file_of_another_program_names_its_model_where_no_embedder_is_recorded(tmp_path):
    rows = [{"id": "a", "text": "Owls fly.", "embedding": [1.0, 0.5]}]
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows[0]))
    kb = tmp_path / "kb.ragfile"
    ragfile.convert(tmp_path / "rows.jsonl", kb, embedder="nomic-embed-text")
    with ragfile.open(kb) as rf:
        reason = rf.search("owls", mode="vector").degraded
    assert "of nomic-embed-text: name one (embedder=, --embedder), such as ollama:nomic" in reason
