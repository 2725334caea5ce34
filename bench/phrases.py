"""Measure phrases that are asked for the first time, through the public call.

    python bench/phrases.py --passages P.jsonl.xz [--keep kb.ragfile] ["of the" "the following example" …]

Each round opens the file anew, because an open file keeps the rows of its last phrases, and asks a
question without a phrase first. CPU milliseconds of one thread, the best of the rounds; also of the
core alone, and of the question without the phrase. The sizes are those of the words' sections.

If tantivy is installed (pip install tantivy), its ten best passages with the phrase are asked in
the same rounds, of an index with the same stemmer and positions, and without stop words' removal.
"""

import argparse
import os
import tempfile
import time

import numpy as np
from dict_filters import texts_of

import ragfile

PHRASES = ("of the", "in the", "the following example", "following example", "quick start")
SECTIONS = ("rag.terms", "rag.postings", "rag.positions")


def written(passages, path):
    texts = texts_of(passages)
    with ragfile.create(path, dim=2) as w:
        w.add(
            [
                {"doc_id": f"d{i:07d}", "chunk_index": 0, "content": text}
                for i, text in enumerate(texts)
            ],
            np.ones((len(texts), 2), np.float32),
        )


def milliseconds(call):
    start = time.process_time_ns()
    call()
    return (time.process_time_ns() - start) / 1e6


def asked(path, phrase):
    """Return the milliseconds of a phrase that is new to an open file, of its rows alone, and of the question
    without it; and how many rows have it."""
    with ragfile.open(path, embedder="none") as rf:
        options = {"mode": "bm25", "cache": False, "threads": 1}
        rf.search("a first question", 10, **options)
        whole = milliseconds(
            lambda: rf.search(f'example +"{phrase}"', 10, query_syntax=True, **options)
        )
        bits = rf.rows.phrases.get(tuple(phrase.split()))
        rows = sum(int(np.unpackbits(words.view(np.uint8)).sum()) for words in bits)
        plain = milliseconds(lambda: rf.search(f"example {phrase}", 10, **options))
        positions, words = rf.rows.segments[0].positions, phrase.split()
        if positions is None:
            return whole, np.nan, plain, rows
        terms = rf.rows.lexicon.asker.terms_of(words)
        marks = [(term or word, not term) for term, word in zip(terms, words, strict=True)]
        return whole, milliseconds(lambda: positions.phrase(marks)), plain, rows


def tantivy_index(passages, folder):
    """Return a function from a phrase to the milliseconds of tantivy, or None without it."""
    try:
        import tantivy
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="en_stem", index_option="position")
    os.makedirs(folder, exist_ok=True)
    index = tantivy.Index(builder.build(), path=folder)
    if not index.searcher().num_docs:
        writer = index.writer(heap_size=512 << 20, num_threads=1)
        for text in texts_of(passages):
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
    searcher = index.searcher()

    def ask(phrase):
        query = index.parse_query(f'"{phrase}"', ["text"])
        return milliseconds(lambda: searcher.search(query, 10))

    return ask


def print_sizes(path):
    with ragfile.open(path, embedder="none") as rf:
        sizes = {entry["name"]: entry["size"] for entry in rf.file.entries}
    words = sum(size for name, size in sizes.items() if name.startswith(SECTIONS[:2]))
    placed = sizes.get(SECTIONS[2], 0)
    print(f"words {words:,} bytes, positions {placed:,} (+{placed / words:.1%})")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", help="write the file here, or use the one that is there")
    parser.add_argument("phrases", nargs="*", default=PHRASES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or os.path.join(folder, "kb.ragfile")
        if not os.path.exists(path):
            written(args.passages, path)
        print_sizes(path)
        peer = tantivy_index(args.passages, f"{path}.tantivy")
        print(f"{'phrase':30} {'search':>9} {'rows':>9} {'plain':>9} {'tantivy':>9}   passages")
        for phrase in args.phrases:
            rounds = [
                (*asked(path, phrase), peer(phrase) if peer else np.nan) for _ in range(args.rounds)
            ]
            whole, alone, plain, _, other = (min(part) for part in zip(*rounds, strict=True))
            times = "".join(f" {each:9.3f}" for each in (whole, alone, plain, other))
            print(f"{phrase:30}{times}   {rounds[0][3]:,}")


if __name__ == "__main__":
    main()
