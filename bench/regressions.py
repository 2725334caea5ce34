"""Time what users wait for on a small generated collection, one operation per test.

    python -m pytest bench/regressions.py -o addopts= --benchmark-only --benchmark-json=now.json
    python bench/gate.py origin/main      run this file on an older commit and on this tree, in turns

The tree is compared with itself, so there are no peers and the collection is small. Seconds are CPU
time of the process. Options that were renamed are tried under each of their names, so that trees
from before and after the renaming can be compared. A test asks for fixed rows, never for the best
ones, since another ranking would make it measure another passage.

With PLAIN=1 the files have none of the features that came later: positions of words, languages,
titles and evidence. So a call that a feature makes slower is distinguished from one that became slower.
"""

import asyncio
import os
import time

import numpy as np
import pytest

import ragfile
from ragfile import Analysis, Document, dataset
from ragfile.embedding import StaticEmbedder

ROWS, DIM, VOCABULARY = int(os.environ.get("ROWS", "20000")), 128, 5_000
RANDOM = np.random.default_rng(1)
WORDS = np.array([f"w{i:04d}" for i in range(VOCABULARY)])
FREQUENCIES = 1 / np.arange(1, VOCABULARY + 1)
FREQUENCIES /= FREQUENCIES.sum()

PLAIN = os.environ.get("PLAIN") == "1"
WITHOUT = {"accents": "keep", "positions": False, "languages": False, "clusters": False}

pytestmark = pytest.mark.benchmark(
    timer=time.process_time, max_time=0.3, warmup=True, warmup_iterations=10
)


def passages(count, words):
    """Return texts of words drawn with the frequencies of a language."""
    return [" ".join(drawn) for drawn in RANDOM.choice(WORDS, (count, words), p=FREQUENCIES)]


def passage(words):
    return passages(1, words)[0]


def chunks(prefix, count):
    return [
        {"doc_id": f"{prefix}{i // 4:05d}", "chunk_index": i % 4, "content": text, "metadata": {"year": 1990 + i % 40}}
        for i, text in enumerate(passages(count, 60))
    ]  # fmt: skip


def created(path, **options):
    """Return the writer of a new file, with PLAIN=1 of one that has no features of later trees."""
    if PLAIN:
        known = Analysis.__dataclass_fields__
        options["analysis"] = Analysis(**{k: v for k, v in WITHOUT.items() if k in known})
        options["config"] = {"fusion": {"method": "calibrated", "w": 4.0}}
    return ragfile.create(path, **options)


def vectors(count):
    """Return rows near a hundred centres, like embeddings of texts on a hundred topics."""
    centres = np.random.default_rng(2).standard_normal((100, DIM))
    return (
        centres[RANDOM.integers(0, 100, count)] + 0.7 * RANDOM.standard_normal((count, DIM))
    ).astype(np.float32)


def named(call, value, *names):
    """Return {name: value} for the first of an option's names that the call accepts."""
    for name in names:
        try:
            call(**{name: value})
        except TypeError:
            continue
        return {name: value}
    raise TypeError(f"{call} accepts none of {', '.join(names)}")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("regressions") / "kb.ragfile"
    with created(path, dim=DIM) as w:
        w.add(chunks("d", ROWS), vectors(ROWS))
    return path


@pytest.fixture(scope="module")
def rf(path):
    with ragfile.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def shards(path, tmp_path_factory):
    """The same rows as a dataset of four shards."""
    folder = tmp_path_factory.mktemp("shards") / "dataset"
    dataset.convert(path, folder, shards=4)
    with ragfile.open(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def clustered(path, tmp_path_factory):
    """The same rows with their vectors in clusters."""
    copy = tmp_path_factory.mktemp("clustered") / "kb.ragfile"
    copy.write_bytes(path.read_bytes())
    ragfile.compact(copy, clusters=True)
    with ragfile.open(copy) as opened:
        yield opened


@pytest.fixture(scope="module")
def small_files(tmp_path_factory):
    """A thousand files of eight passages."""
    folder, rows, made = tmp_path_factory.mktemp("small"), chunks("s", 8), vectors(8)
    for i in range(1_000):
        with created(folder / f"{i:03d}.ragfile", dim=DIM) as w:
            w.add(rows, made)
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    """A file of two thousand documents with the built-in embedder."""
    path = tmp_path_factory.mktemp("embedded") / "kb.ragfile"
    count = min(ROWS, 2_000)
    halves = zip(passages(count, 100), passages(count, 100), strict=True)
    texts = (f"# Part {i}\n\n{one}.\n\n{other}." for i, (one, other) in enumerate(halves))
    with created(path, embedder="default") as w:
        w.add_documents([Document(f"e{i}.md", text) for i, text in enumerate(texts)])
    with ragfile.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def question():
    return passage(5), vectors(1)[0]


@pytest.fixture
def search(rf, question):
    """rf.search for ten rows by words and vector, past the cache of answers."""
    text, vector = question

    def ask(text=text, **options):
        return rf.search(text, 10, vector=vector, cache=False, **options)

    return ask


def test_opening_and_closing(benchmark, path):
    benchmark(lambda: ragfile.open(path).close())


def test_nearest_of_one_vector(benchmark, rf, question):
    benchmark(rf.nearest, question[1], 10, threads=1)


def test_nearest_of_a_batch(benchmark, rf):
    benchmark(rf.nearest, vectors(64), 10, threads=1)


@pytest.mark.parametrize(("count", "k"), [(8, 10), (8, 100), (16, 10), (4, 1_000)])
def test_nearest_of_a_small_batch(benchmark, rf, count, k):
    benchmark(rf.nearest, vectors(count), k, threads=1)


def test_nearest_with_a_repeated_filter(benchmark, rf, question):
    benchmark(rf.nearest, question[1], 10, where={"year": 2001}, threads=1)


def test_nearest_with_a_new_filter(benchmark, rf, question):
    years = iter(range(10**9))
    benchmark(
        lambda: rf.nearest(question[1], 10, where={"year": {"$lt": 1991 + next(years) / 1e9}})
    )


def test_match_with_a_repeated_filter(benchmark, rf):
    benchmark(rf.match, passage(3), 10, where={"year": 2001}, threads=1)


def test_match_a_short_question(benchmark, rf):
    benchmark(rf.match, passage(3), 10, threads=1)


def test_match_a_long_question(benchmark, rf):
    benchmark(rf.match, passage(30), 10, threads=1)


def test_hybrid_search(benchmark, search):
    assert len(benchmark(search)) == 10


def test_hybrid_search_with_texts(benchmark, search):
    assert all(benchmark(lambda: [hit.text for hit in search()]))


def test_hybrid_search_of_a_hundred(benchmark, rf, question):
    text, vector = question
    benchmark(lambda: rf.search(text, 100, vector=vector, pool=100, cache=False))


def test_bm25_search(benchmark, search):
    benchmark(search, mode="bm25")


def test_vector_search(benchmark, search):
    benchmark(search, mode="vector")


def test_cached_search(benchmark, rf, question):
    text, vector = question
    benchmark(lambda: rf.search(text, 10, vector=vector))


def test_batch_search(benchmark, rf):
    texts, made = passages(64, 5), vectors(64)
    benchmark(lambda: rf.search_batch(texts, 10, vectors=made, threads=1))


def test_batch_search_as_columns(benchmark, rf):
    texts, made = passages(64, 5), vectors(64)
    benchmark(lambda: rf.search_batch(texts, 10, vectors=made, threads=1, columns=True))


def test_search_in_an_event_loop(benchmark, rf, question):
    text, vector = question
    loop = asyncio.new_event_loop()
    benchmark(lambda: loop.run_until_complete(rf.asearch(text, 10, vector=vector, cache=False)))
    loop.close()


def test_filtered_search(benchmark, search):
    assert len(benchmark(search, where={"year": {"$gte": 2020}})) == 10


def test_filtered_bm25_search(benchmark, search):
    benchmark(search, where={"year": {"$in": [2001, 2002]}}, mode="bm25")


def test_search_with_a_minimum_score(benchmark, search):
    benchmark(search, **named(search, 0.3, "min_score", "least"))


def test_search_without_repeats(benchmark, search):
    benchmark(search, **named(search, True, "drop_repeats", "distinct"))


def test_search_with_a_phrase(benchmark, rf, search):
    first, second, *rest = rf.hit(0).text.split()[:4]
    query = f'"{first} {second}" {" ".join(rest)}'
    benchmark(search, query, **named(search, True, "query_syntax", "operators"))


@pytest.mark.parametrize("signs", ["w00{:02d}*", "w1{:03d}~", "+w0{:03d} w0003", "-w0{:03d} w0003"])
def test_search_with_signs(benchmark, search, signs):
    numbers = iter(range(10**9))
    syntax = named(search, True, "query_syntax", "operators")
    benchmark(lambda: search(signs.format(next(numbers) % 100), mode="bm25", **syntax))


def test_search_with_a_new_phrase(benchmark, rf, search):
    words = [rf.hit(row).text.split() for row in range(0, ROWS, 40)]
    turns = iter(range(10**9))
    syntax = named(search, True, "query_syntax", "operators")

    def ask():
        turn = next(turns)
        found, at = words[turn % len(words)], turn // len(words) % 50
        search(f'"{found[at]} {found[at + 1]}"', mode="bm25", **syntax)

    benchmark(ask)


def test_search_with_less_effort(benchmark, clustered, question):
    benchmark(clustered.nearest, question[1], 10, effort=0.05, threads=1)


def test_a_question_to_each_of_a_thousand_files(benchmark, small_files):
    text, vector = passage(5), vectors(1)[0]

    def ask():
        for path in small_files:
            with ragfile.open(path) as opened:
                opened.search(text, 3, vector=vector, cache=False)

    benchmark.pedantic(ask, rounds=3, warmup_rounds=1)


def test_search_like_a_row(benchmark, rf):
    def ask(**options):
        return rf.search("", 10, mode="vector", cache=False, **options)

    benchmark(ask, **named(ask, 7, "similar_to", "like"))


def test_grouped_search(benchmark, search):
    benchmark(search, group=2)


def test_diverse_search(benchmark, search):
    benchmark(search, diversity=0.3)


def test_page_of_a_search(benchmark, search):
    benchmark(search, offset=20)


def test_dataset_search(benchmark, shards, question):
    text, vector = question
    benchmark(lambda: shards.search(text, 10, vector=vector, cache=False))


def test_dataset_bm25_search(benchmark, shards):
    text = passage(5)
    benchmark(lambda: shards.search(text, 10, mode="bm25", cache=False))


def test_dataset_batch_search(benchmark, shards):
    texts, made = passages(16, 5), vectors(16)
    benchmark(lambda: shards.search_batch(texts, 10, vectors=made, threads=1))


def test_search_from_text(benchmark, embedded):
    text = passage(5)
    benchmark(lambda: embedded.search(text, 10, cache=False))


def test_ask_without_a_model(benchmark, embedded):
    text = passage(5)
    benchmark(lambda: embedded.ask(text))


def test_explain(benchmark, embedded):
    text = " ".join(embedded.hit(7).text.split()[-5:])
    benchmark(lambda: embedded.explain(text, 7))


def test_excerpt_and_highlights(benchmark, embedded):
    hit = embedded.hit(7)
    text = " ".join(hit.text.split()[-5:])
    benchmark(lambda: (embedded.excerpt(text, hit), embedded.highlights(text, hit)))


def test_document_by_id(benchmark, embedded):
    assert benchmark(lambda: embedded.document("e7.md")).id == "e7.md"


def test_text_of_a_row(benchmark, rf):
    benchmark(lambda: [rf.hit(row) for row in range(0, ROWS, 200)])


def test_embedding_a_batch_of_passages(benchmark):
    benchmark(StaticEmbedder(threads=1).embed, passages(256, 60))


def test_cutting_a_long_document(benchmark):
    text = "\n\n".join(f"## Part {i}\n\n{passage(250)}." for i in range(200))
    assert len(benchmark(ragfile.chunk, Document("d", text))) > 200


def test_writing_a_file(benchmark, tmp_path):
    rows, made = chunks("d", 2_000), vectors(2_000)

    def write():
        with created(tmp_path / "kb", dim=DIM) as w:
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
