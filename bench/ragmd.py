"""Measure one .ragmd file beside FAISS + JSON: 1000 documents of 10 chunks, 768 dimensions.

python bench/ragmd.py [documents]
"""

import json
import os
import sys
import tempfile
import time

import numpy as np

from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader

ESTIMATES = {
    "FAISS + JSON": ("~30 MB", "~200 ms", "~150 ms"),
    "one .ragmd": ("~40 MB", "~260 ms", "~200 ms"),
}


def example(documents=1000, chunks=10, dim=768, chunk_size=500, seed=1):
    """Return a collection like a knowledge base: spans of a full text, a title, a source."""
    random = np.random.default_rng(seed)
    words = [
        "retrieval",
        "vector",
        "index",
        "passage",
        "document",
        "chunk",
        "score",
        "query",
        "token",
        "Größe",
        "naïve",
    ]
    refs, held = [], {}
    for number in range(documents):
        name = f"doc-{number:04d}"
        text = " ".join(random.choice(words, chunk_size * chunks // 7))[: chunk_size * chunks]
        spans = {}
        for chunk in range(chunks):
            spans[f"chunk-{chunk}"] = {
                "faiss_id": len(refs),
                "i_start": chunk * chunk_size,
                "i_end": (chunk + 1) * chunk_size,
            }
            refs.append({"document_id": name, "chunk_key": f"chunk-{chunk}"})
        content = {"title": f"Title of document {number}", "authors": ["Smith, J.", "Jones, K."]}
        metadata = {"year": 2000 + number % 26, "lang": "en"}
        held[name] = {
            "id": name,
            "content": content,
            "full_text": text,
            "metadata": metadata,
            "source": f"{name}.txt",
        }
        held[name]["chunks"] = spans
    vectors = random.standard_normal((documents * chunks, dim), np.float32)
    return Collection(Index.of(vectors), refs, held, "nomic-embed-text")


def best(run, times=7):
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return 1000 * min(took)


def with_faiss(collection, folder):
    """Write and read the pair with its own library."""
    import faiss

    index, paths = faiss.IndexFlatIP(collection.dim), (f"{folder}/own.faiss", f"{folder}/own.json")
    index.add(np.ascontiguousarray(collection.index.vectors))
    data = {
        "model_name": collection.model_name,
        "embedding_dim": collection.dim,
        "chunk_refs": collection.refs,
    }
    data["documents"] = list(collection.documents.values())

    def save():
        faiss.write_index(index, paths[0])
        with open(paths[1], "w") as file:
            json.dump(data, file, indent=2)

    def load():
        faiss.read_index(paths[0])
        with open(paths[1]) as file:
            json.load(file)

    saved = best(save, 3)
    return sum(map(os.path.getsize, paths)), best(load), saved


def main():
    collection = example(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    with tempfile.TemporaryDirectory() as folder:
        ours, pair = f"{folder}/x.ragmd", (f"{folder}/x.faiss", f"{folder}/x.json")
        saved = best(lambda: ragmd_reader.save(ours, collection))
        loaded = best(lambda: ragmd_reader.load(ours))
        rows = [("one .ragmd", os.path.getsize(ours), loaded, saved)]
        saved = best(lambda: json_pair.write(collection, *pair), 3)
        rows.insert(
            0,
            (
                "FAISS + JSON, ragfile",
                sum(map(os.path.getsize, pair)),
                best(lambda: json_pair.read(*pair)),
                saved,
            ),
        )
        try:
            rows.insert(0, ("FAISS + JSON", *with_faiss(collection, folder)))
        except ImportError:
            print("faiss is not installed: its own row is left out")
        with open(ours, "rb") as file:
            text = file.read()
        vectors = text.index(b"```base64\n") + 10
        share = (text.index(b"```", vectors) - vectors) / len(collection.index.data)
    print(f"{'':24}{'size':>10}{'load':>10}{'save':>10}   estimated by the seed")
    for name, size, load, save in rows:
        print(
            f"{name:24}{size / 1e6:7.1f} MB{load:7.1f} ms{save:7.1f} ms   {', '.join(ESTIMATES.get(name, ()))}"
        )
    print(
        f"base64 takes {share:.4f} of the index's bytes; saves include an fsync in the .ragmd and ragfile rows"
    )


if __name__ == "__main__":
    main()
