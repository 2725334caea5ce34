"""What we write is what FAISS writes, what FAISS writes we read, and both find the same rows."""

import base64
import json

import numpy as np
import pytest
from oracles.ragmd_examples import collection, rendered

from ragfile.errors import FormatError
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader

faiss = pytest.importorskip("faiss", reason="faiss-cpu is not installed")
faiss.omp_set_num_threads(1)  # its threads spin while they wait, which a busy machine pays for

KINDS = {"ip": "IndexFlatIP", "l2": "IndexFlatL2"}


def made_by_faiss(rows, kind):
    index = getattr(faiss, kind)(rows.shape[1])
    index.add(np.ascontiguousarray(rows))
    return index


@pytest.mark.parametrize("metric", KINDS)
@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (3, 8), (100, 100), (257, 384)])
def test_flat_indexes_are_byte_equal(shape, metric):
    rows = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    theirs = faiss.serialize_index(made_by_faiss(rows, KINDS[metric]))
    assert Index.of(rows, metric).data.tobytes() == theirs.tobytes()
    ours = Index(theirs)
    assert (ours.class_name, ours.metric, ours.dim, ours.count) == (
        KINDS[metric],
        metric,
        shape[1],
        shape[0],
    )
    assert np.array_equal(ours.vectors, rows)


@pytest.mark.parametrize("metric", KINDS)
def test_faiss_reads_the_vectors_of_a_ragmd_file(metric):
    of = collection(metric=metric, dim=48)
    text = rendered(of).split(b"```base64\n")[1].split(b"```")[0]
    index = faiss.deserialize_index(np.frombuffer(base64.b64decode(text), np.uint8))
    assert type(index).__name__ == KINDS[metric]
    assert np.array_equal(index.reconstruct_n(0, index.ntotal), of.index.vectors)


def test_files_of_faiss_come_back_byte_for_byte(tmp_path):
    of = collection(documents=20, dim=48)
    faiss.write_index(made_by_faiss(of.index.vectors, "IndexFlatIP"), str(tmp_path / "a.faiss"))
    data = {
        "model_name": "m",
        "embedding_dim": 48,
        "chunk_refs": of.refs,
        "documents": list(of.documents.values()),
    }
    (tmp_path / "a.json").write_text(json.dumps(data, indent=2))
    ragmd_reader.save(
        tmp_path / "x.ragmd", json_pair.read(tmp_path / "a.faiss", tmp_path / "a.json")
    )
    json_pair.write(
        ragmd_reader.load(tmp_path / "x.ragmd"), tmp_path / "b.faiss", tmp_path / "b.json"
    )
    for suffix in ("faiss", "json"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_an_inverted_file_index_goes_through_a_ragmd_file(tmp_path):
    of = collection(documents=20, dim=16)
    quantizer = faiss.IndexFlatL2(16)
    index = faiss.IndexIVFFlat(quantizer, 16, 4)
    index.train(np.ascontiguousarray(of.index.vectors))
    index.add(np.ascontiguousarray(of.index.vectors))
    of.index = Index(faiss.serialize_index(index))
    ragmd_reader.save(tmp_path / "x.ragmd", of)
    found = ragmd_reader.load(tmp_path / "x.ragmd")
    assert found.index.class_name == "IndexIVFFlat"
    assert found.index == of.index
    with pytest.raises(FormatError, match="need FAISS"):
        _ = found.index.vectors


@pytest.mark.parametrize("description", ["HNSW8", "PQ4", "SQ8"])
def test_large_kinds_are_refused_by_their_class_name(tmp_path, description):
    of = collection(documents=100, dim=16)
    index = faiss.index_factory(16, description)
    index.train(np.ascontiguousarray(of.index.vectors))
    index.add(np.ascontiguousarray(of.index.vectors))
    of.index = Index(faiss.serialize_index(index))
    assert of.index.class_name == type(index).__name__
    with pytest.raises(FormatError, match=f"an {type(index).__name__} does not belong"):
        ragmd_reader.save(tmp_path / "x.ragmd", of)


@pytest.mark.parametrize(
    "description",
    [
        "Flat",
        "IVF4,Flat",
        "HNSW8",
        "PQ4x4",
        "SQ8",
        "IVF4,PQ4x4",
        "IVF4,SQ8",
        "IDMap,Flat",
        "PCA8,Flat",
    ],
)
def test_the_class_of_every_usual_index_is_known(description):
    index = faiss.index_factory(16, description)
    if not index.is_trained:
        index.train(np.random.default_rng(0).standard_normal((400, 16)).astype(np.float32))
    if description == "IDMap,Flat":
        index.add_with_ids(np.ones((5, 16), np.float32), np.arange(5))
    found = Index(faiss.serialize_index(index))
    expected = "IndexFlatL2" if description == "Flat" else type(index).__name__
    assert (found.class_name, found.dim, found.count) == (expected, 16, index.ntotal)


@pytest.mark.parametrize("description", ["Flat", "IVF4,Flat", "IDMap,Flat", "HNSW8"])
def test_the_rows_of_an_index_that_keeps_them_are_had_through_faiss(description, tmp_path):
    from ragfile.exchange import conversion

    of = collection(documents=20, dim=16)
    index = faiss.index_factory(16, description)
    index.train(np.ascontiguousarray(of.index.vectors))
    if description == "IDMap,Flat":
        index.add_with_ids(np.ascontiguousarray(of.index.vectors), np.arange(80) * 7)
    else:
        index.add(np.ascontiguousarray(of.index.vectors))
    rows, of.index = of.index.vectors, Index(faiss.serialize_index(index))
    conversion.write(of, tmp_path / "folder", to="npy+jsonl")
    assert np.array_equal(conversion.read(tmp_path / "folder").index.vectors, rows)


def test_binary_indexes_are_refused():
    index = faiss.IndexBinaryFlat(16)
    with pytest.raises(FormatError, match="not a FAISS index of float vectors"):
        Index(faiss.serialize_index_binary(index))
