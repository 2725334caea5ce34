"""Local shards that are asked together: the rows, the order and the score bits of shards that are asked one by one."""

import random

import numpy as np
import pytest
from shards import collections

import ragfile
from ragfile import dataset

QUESTIONS, told = collections.QUESTIONS, collections.told
BOOST = {"field": "year", "weight": 0.3, "reference": 2015, "half_life": 4}


def documents(numbers, seed):
    """Documents of one passage and of several."""
    rng = random.Random(seed)
    for number in numbers:
        pieces = [collections.text(rng, number + i) for i in range(rng.choice([1, 1, 4]))]
        year, tags = 2000 + number % 20, (f"t{number % 5}",)
        title = collections.TITLES[number % len(collections.TITLES)]
        yield {
            "id": f"d{number:03}.md", "text": f"# {title}\n\n" + "\n\n".join(pieces), "tags": tags,
            "metadata": {"year": year, "kind": f"k{number % 3}"},
        }  # fmt: skip


def made(folder, seed):
    """A dataset of shards of several sizes, made from a file with a history and changed since."""
    rng = random.Random(seed)
    path = folder / "kb.ragfile"
    with ragfile.create(path, embedder="default", chunking="words:12/3") as w:
        w.add_documents(documents(range(60), seed))
    with ragfile.edit(path) as w:
        w.delete([f"d{number:03}.md" for number in rng.sample(range(60), 9)])
    by = rng.choice(["range", "hash"])
    dataset.convert(path, folder / "kb", shards=rng.randint(2, 9), by=by)
    dataset.add(folder / "kb", documents=documents(rng.sample(range(90), 8), seed + 1))
    dataset.delete(folder / "kb", [f"d{number:03}.md" for number in rng.sample(range(60), 5)])
    return folder / "kb"


def option(rng, name):
    """A random value of an option of a question."""
    return {
        "k": lambda: rng.choice([1, 3, 12, 200]),
        "mode": lambda: rng.choice(["hybrid", "bm25", "vector", "keyword"]),
        "where": lambda: rng.choice([*collections.FILTERS, ["d004.md", "d017.md#0"]]),
        "tags_any": lambda: rng.choice([(), ("t1", "t2")]),
        "pool": lambda: rng.choice([1, 5, 50]),
        "fusion": lambda: rng.choice([None, "rrf", "blend", ("calibrated", {"evidence": 0.5})]),
        "fields": lambda: rng.choice([None, {"headers": 0, "text": 2}]),
        "drop_repeats": lambda: rng.random() < 0.3,
        "offset": lambda: rng.choice([0, 0, 4]),
        "diversity": lambda: rng.choice([0.0, 0.0, 0.4]),
        "boost": lambda: rng.choice([(), [BOOST]]),
        "query_syntax": lambda: rng.random() < 0.3,
        "hops": lambda: rng.choice([0, 0, 2]),
        "effort": lambda: rng.choice([1.0, 1.0, 0.5]),
    }[name]()


def answer(rf, question, **options):
    """An answer, with the shards that were ruled out if bounds of vectors rule out none; or why it is refused."""
    try:
        hits = rf.search(question, cache=False, **options)
    except ValueError as error:
        return str(error)
    return told(hits), hits.skipped if options.get("mode") == "bm25" else None


NAMES = ("k", "mode", "where", "tags_any", "pool", "fusion", "fields", "drop_repeats", "offset")
MORE = ("diversity", "boost", "query_syntax", "hops", "effort")


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("seed", range(6))
def test_shards_that_are_asked_together_answer_as_those_that_are_asked_one_by_one(tmp_path, seed):
    path, rng = made(tmp_path, seed), random.Random(seed)
    with ragfile.open(path) as here, ragfile.open(path, executor=collections.OneByOne()) as apart:
        for _ in range(40):
            chosen = rng.sample([*NAMES, *MORE], 4)
            options = {name: option(rng, name) for name in chosen}
            mine, theirs = (rf.search_batch(QUESTIONS, **options) for rf in (here, apart))
            assert [told(hits) for hits in mine] == [told(hits) for hits in theirs], options
            question, group = rng.choice(QUESTIONS), rng.choice([0, 2])
            mine, theirs = (answer(rf, question, group=group, **options) for rf in (here, apart))
            assert mine == theirs, options


def test_questions_with_filters_of_their_own_are_asked_together(tmp_path):
    path = made(tmp_path, 3)
    wheres = [{"year": 2003}, None, {"year": {"$gte": 2010}}, {"year": 2003}, {"kind": "k1"}]
    with ragfile.open(path) as here, ragfile.open(path, executor=collections.OneByOne()) as apart:
        assert not here.rows.are_apart
        for mode in ("hybrid", "bm25", "vector"):
            mine, theirs = (
                rf.search_batch(QUESTIONS[:5], 7, where=wheres, mode=mode) for rf in (here, apart)
            )
            assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]


def test_rows_and_scores_have_the_same_bits(tmp_path):
    path = made(tmp_path, 5)
    with ragfile.open(path) as here, ragfile.open(path, executor=collections.OneByOne()) as apart:
        vectors = np.stack([here.vector(row) for row in here.live_rows()[:3].tolist()])
        for ask in (
            lambda rf: rf.nearest(vectors, 9),
            lambda rf: rf.nearest(vectors, None, min_score=0.2),
            lambda rf: rf.match(QUESTIONS, 9, k1=0.8, b=0.3),
            lambda rf: [rf.score(rf.live_rows(), text="pod w7 node")],
            lambda rf: [rf.rows.sample_statistics(vectors[0])],
        ):
            mine, theirs = ask(here), ask(apart)
            assert [np.asarray(one).tobytes() for one in mine] == [
                np.asarray(one).tobytes() for one in theirs
            ]


def test_a_shard_that_comes_back_is_asked_with_the_others(tmp_path):
    from ragfile.shards import shards

    path = made(tmp_path, 1)
    shards.forget()
    with ragfile.open(path) as rf:
        first = path / rf.manifest.shards[0].path
    first.rename(tmp_path / "away")
    with ragfile.open(path) as rf:
        with pytest.raises(FileNotFoundError):
            rf.search("pod")
        (tmp_path / "away").rename(first)
        assert rf.search("pod")
        assert rf.rows.local is not None
