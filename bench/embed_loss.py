"""Measure the nDCG@10 that vector search loses or gains by four-bit rows and by word-piece weights.

    python bench/embed_loss.py FOLDER_OF_COLLECTIONS --potion FOLDER

No other model takes part, and no network. Each collection has the BEIR layout (corpus.jsonl, queries.jsonl, qrels/test.tsv); FOLDER is
potion-base-8M as published. Compares the published matrix with plain means, the same with the
shipped weights, and the shipped model.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from oracles.model_reader import ModelReader

from ragfile.embedding.protocol import DEFAULT_MODEL, StaticEmbedder

embedder = StaticEmbedder()


def read_collection(folder):
    """Return (document ids, texts, query texts, relevance of each query)."""
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    judged = defaultdict(dict)
    for line in (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, relevance = line.split("\t")
        judged[query][document] = int(float(relevance))
    queries = [query for query in queries if query["_id"] in judged]
    texts = [f"{document.get('title') or ''} {document['text']}".strip() for document in documents]
    asked, relevance = (
        [query["text"] for query in queries],
        [judged[query["_id"]] for query in queries],
    )
    return [document["_id"] for document in documents], texts, asked, relevance


def read_matrix(folder):
    """Return the published rows."""
    data = (folder / "model.safetensors").read_bytes()
    size = int.from_bytes(data[:8], "little")
    shape = json.loads(data[8 : 8 + size])["embeddings"]["shape"]
    return np.frombuffer(data, np.float32, offset=8 + size).reshape(shape)


def pooled(texts, rows, weights):
    """Return weighted means of rows, normalised, in binary64."""
    out = np.zeros((len(texts), rows.shape[1]))
    for i, text in enumerate(texts):
        ids = embedder.tokens(text)
        out[i] = weights[ids] @ rows[ids] if ids else 0
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-30)


def ndcg(names, documents, queries, judged):
    """Return the mean nDCG@10 of documents ranked by inner product, ties by position."""
    discounts, values = 1 / np.log2(np.arange(2, 12)), []
    for scores, relevance in zip(queries @ documents.T, judged, strict=True):
        best = np.argsort(-scores, kind="stable")[:10]
        gains = np.array([relevance.get(names[i], 0) for i in best])
        ideal = np.array(sorted(relevance.values(), reverse=True)[:10])
        values.append(gains @ discounts[: len(gains)] / max(ideal @ discounts[: len(ideal)], 1e-30))
    return float(np.mean(values))


def shipped_weights(rows):
    """Return the weight of each published row: its stored row, scaled, in its direction."""
    stored = ModelReader(DEFAULT_MODEL.read_bytes())
    scaled = stored.rows * stored.coefficients[:, None]
    return (scaled * rows).sum(axis=1) / np.maximum(
        (rows.astype(np.float64) ** 2).sum(axis=1), 1e-30
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", type=Path)
    parser.add_argument("--potion", type=Path, required=True)
    options = parser.parse_args()
    rows = read_matrix(options.potion)
    plain, weights = np.ones(len(rows)), shipped_weights(rows)
    plain[1] = 0  # [UNK] has no meaning
    ways = {
        "f32, mean": lambda texts: pooled(texts, rows, plain),
        "f32, shipped weights": lambda texts: pooled(texts, rows, weights),
        "shipped: 4 bits, weights": embedder.embed,
    }
    folders = sorted(path.parent for path in options.collections.glob("*/corpus.jsonl"))
    collections = [read_collection(folder) for folder in folders]
    print(f"{'':26}" + "".join(f"{folder.name[:12]:>14}" for folder in folders) + f"{'mean':>10}")
    for name, way in ways.items():
        found = [
            ndcg(names, way(texts), way(asked), judged)
            for names, texts, asked, judged in collections
        ]
        print(
            f"{name:26}" + "".join(f"{value:14.4f}" for value in found) + f"{np.mean(found):10.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
