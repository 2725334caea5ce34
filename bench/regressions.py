"""Has anything become slower? What users wait for, one thing a test, timed by pytest-benchmark on a collection that is made here.

    python -m pytest bench/regressions.py -o addopts= --benchmark-only --benchmark-json=now.json
    python bench/gate.py origin/main      the same on a commit before and on this tree, in turns; a third slower fails

Peers are in the other files: here a tree is compared with itself, so the collection is small and a run takes a minute.
"""

import os

import numpy as np
import pytest

import ragfile
from ragfile.embedding import StaticEmbedder
from ragfile.records import Document

ROWS, DIM, VOCABULARY = int(os.environ.get("ROWS", "20000")), 128, 5_000
RANDOM = np.random.default_rng(1)
WORDS = np.array([f"w{i:04d}" for i in range(VOCABULARY)])
FREQUENCIES = 1 / np.arange(1, VOCABULARY + 1)
FREQUENCIES /= FREQUENCIES.sum()


def passage(words):
    """Words with the frequencies of a language."""
    return " ".join(RANDOM.choice(WORDS, words, p=FREQUENCIES))


def chunks(prefix, count):
    return [
        {"doc_id": f"{prefix}{i // 4:05d}", "chunk_index": i % 4, "content": passage(60), "metadata": {"year": 1990 + i % 40}}
        for i in range(count)
    ]  # fmt: skip


def vectors(count):
    """Rows near some hundred centres, as embeddings of texts lie near their topics."""
    centres = np.random.default_rng(2).standard_normal((100, DIM))
    return (
        centres[RANDOM.integers(0, 100, count)] + 0.7 * RANDOM.standard_normal((count, DIM))
    ).astype(np.float32)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("regressions") / "kb.ragfile"
    with ragfile.create(path, dim=DIM) as w:
        w.add(chunks("d", ROWS), vectors(ROWS))
    return path


@pytest.fixture(scope="module")
def rf(path):
    with ragfile.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def question():
    return passage(5), vectors(1)[0]


def test_opening_and_closing(benchmark, path):
    benchmark(lambda: ragfile.open(path).close())


def test_the_nearest_of_one_vector(benchmark, rf, question):
    benchmark(rf.nearest, question[1], 10, threads=1)


def test_the_nearest_of_a_batch(benchmark, rf):
    benchmark(rf.nearest, vectors(64), 10, threads=1)


def test_words_of_a_short_question(benchmark, rf):
    benchmark(rf.match, passage(3), 10, threads=1)


def test_words_of_a_long_question(benchmark, rf):
    benchmark(rf.match, passage(30), 10, threads=1)


def test_both_legs_and_their_fusion(benchmark, rf, question):
    text, vector = question
    assert len(benchmark(rf.search, text, 10, vector=vector, cache=False)) == 10


def test_both_legs_under_a_filter(benchmark, rf, question):
    text, vector = question
    assert (
        len(
            benchmark(
                rf.search, text, 10, vector=vector, where={"year": {"$gte": 2020}}, cache=False
            )
        )
        == 10
    )


def test_the_text_of_a_row(benchmark, rf):
    benchmark(lambda: [rf.hit(row) for row in range(0, ROWS, 200)])


def test_embedding_a_batch_of_passages(benchmark):
    benchmark(StaticEmbedder(threads=1).embed, [passage(60) for _ in range(256)])


def test_cutting_a_long_document(benchmark):
    text = "\n\n".join(f"## Part {i}\n\n{passage(250)}." for i in range(200))
    assert len(benchmark(ragfile.chunk, Document("d", text))) > 200


def test_writing_a_file(benchmark, tmp_path):
    rows, made = chunks("d", 2_000), vectors(2_000)

    def write():
        with ragfile.create(tmp_path / "kb", dim=DIM) as w:
            w.add(rows, made)

    benchmark.pedantic(write, rounds=5, warmup_rounds=1)


def test_appending_a_commit(benchmark, path, tmp_path):
    copy, new, made = tmp_path / "kb", chunks("new", 40), vectors(40)

    def fresh():
        copy.write_bytes(path.read_bytes())

    def append():
        with ragfile.edit(copy) as w:
            w.add(new, made)

    benchmark.pedantic(append, setup=fresh, rounds=10)
