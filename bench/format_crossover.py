"""Find the number of chunks from which a .ragfile is faster than a .ragmd or FAISS + JSON.

    python bench/format_crossover.py [chunks …]

Two tasks, each in CPU milliseconds, the best of several interleaved rounds: open the collection and
answer one question; add one document and write it to the disk. ragfile reads and writes all three,
with the built-in model. The answers are the same passages.
"""

import os
import sys
import tempfile
import time

import numpy as np

import ragfile
from ragfile.adapters.single_file import Document, GenericRAGService, SingleFileRAGService
from ragfile.records import Document as Source
from ragfile.write.builder import build_from

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
WORDS = 80  # of a chunk
ROUNDS = 5
QUESTION = "how often are the keys rotated"
STORES = ("kb.ragfile", "kb.ragmd", "vectors-potion-base-8M-1.faiss")


def collection(folder, chunks, seed=1):
    """Write the same chunks to three stores, in documents of ten chunks of equal length."""
    random = np.random.default_rng(seed)
    words = [f"word{i}" for i in range(5000)] + QUESTION.split()
    texts = [
        " ".join(random.choice(words, WORDS * min(10, chunks))) for _ in range(max(1, chunks // 10))
    ]
    documents = [Source(f"doc-{i:05}.txt", text) for i, text in enumerate(texts)]
    build_from(documents, f"{folder}/kb.ragfile", chunking=f"words:{WORDS}/0")
    for store in STORES[1:]:
        ragfile.convert(f"{folder}/kb.ragfile", f"{folder}/{store}")


def opened(folder, store):
    with ragfile.open(os.path.join(folder, store)) as rf:
        return [hit.text for hit in rf.search(QUESTION, 3, mode="vector")]


def added(folder, store, number):
    """Write one more document."""
    text = f"Document {number} says how often keys are rotated."
    if store.endswith(".ragfile"):
        with ragfile.edit(os.path.join(folder, store)) as w:
            w.upsert([{"id": f"new-{number}", "text": text}])
        return
    model = "potion-base-8M/1"
    rag = (
        SingleFileRAGService("default", model, os.path.join(folder, store))
        if store.endswith(".ragmd")
        else GenericRAGService("default", model, folder)
    )
    rag.initialize_search_backend()
    chunks = {"chunk-0": {"i_start": 0, "i_end": len(text)}}
    rag.add_document_sync(Document(f"new-{number}", full_text=text, chunks=chunks))
    rag.save()


def _note(least, name, run, *words):
    began = time.process_time()
    run(*words)
    spent = 1000 * (time.process_time() - began)
    least[name] = min(spent, least.get(name, spent))


def measured(folder):
    """Return {(task, store): best milliseconds}."""
    least = {}
    for round_ in range(ROUNDS):
        for store in STORES:
            _note(least, ("open", store), opened, folder, store)
            _note(least, ("add", store), added, folder, store, round_)
    return least


def main(sizes):
    names = [".ragfile", ".ragmd", "FAISS + JSON"]
    print("| chunks |", " | ".join(f"{task}: {n}" for task in ("open", "add") for n in names), "|")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            collection(folder, size)
            assert (
                opened(folder, STORES[0]) == opened(folder, STORES[1]) == opened(folder, STORES[2])
            )
            least = measured(folder)
            row = [least[task, store] for task in ("open", "add") for store in STORES]
            print(f"| {size:,} |", " | ".join(f"{value:.1f}" for value in row), "|", flush=True)


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or SIZES)
