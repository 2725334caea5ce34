"""The two harnesses' calls, beside brute force in numpy."""

import importlib
import os
from types import SimpleNamespace

import numpy as np
import pytest

from ragfile.adapters.ann_benchmarks import Ragfile, RagfileFiltered

DATA = np.random.default_rng(1).normal(size=(700, 20)).astype(np.float32)
QUESTIONS = np.random.default_rng(2).normal(size=(9, 20)).astype(np.float32)


def distances(metric, questions=QUESTIONS):
    data, asked = DATA.astype(np.float64), questions.astype(np.float64)
    if metric == "euclidean":
        return ((asked[:, None] - data[None]) ** 2).sum(axis=2)
    if metric == "angular":
        data = data / np.linalg.norm(data, axis=1, keepdims=True)
    return -(asked @ data.T)


@pytest.mark.parametrize("metric", ["angular", "euclidean", "ip"])
def test_answers_are_those_of_brute_force_one_by_one_and_in_a_batch(metric):
    made = Ragfile(metric)
    made.fit(DATA)
    made.set_query_arguments()
    expected = np.argsort(distances(metric), axis=1, kind="stable")[:, :10]
    made.batch_query(QUESTIONS, 10)
    assert np.array_equal(made.get_batch_results(), expected)
    assert [made.query(q, 10).tolist() for q in QUESTIONS] == expected.tolist()
    assert made.get_memory_usage() > DATA.nbytes / 1024
    made.done()


def test_half_precision_answers_for_the_rounded_vectors():
    made = Ragfile("euclidean", 16)
    made.fit(DATA)
    rounded = DATA.astype(np.float16).astype(np.float64)
    far = ((QUESTIONS[:, None].astype(np.float64) - rounded[None]) ** 2).sum(axis=2)
    made.batch_query(QUESTIONS, 5)
    assert np.array_equal(made.get_batch_results(), np.argsort(far, axis=1, kind="stable")[:, :5])
    made.done()


class Tags:
    """The part of scipy's csr_matrix and csc_matrix that the harness hands over."""

    def __init__(self, rows, width):
        self.rows, self.width = rows, width
        self.indptr = np.cumsum([0, *map(len, rows)])
        self.indices = np.array([tag for row in rows for tag in row], dtype=np.int32)

    def tocsc(self):
        columns = [
            [n for n, row in enumerate(self.rows) if tag in row] for tag in range(self.width)
        ]
        return Tags(columns, len(self.rows))


def test_a_filtered_answer_has_all_tags_of_its_question():
    rng = np.random.default_rng(3)
    tags = [sorted(set(rng.integers(0, 6, 3).tolist())) for _ in DATA]
    asked = [[0], [1, 2], [], [5], [0, 1, 2, 3, 4, 5], [3], [2, 4], [1], [0, 5]]
    made = RagfileFiltered("euclidean", {})
    made.fit(SimpleNamespace(get_dataset=lambda: DATA, get_dataset_metadata=lambda: Tags(tags, 6)))
    made.set_query_arguments({})
    made.filtered_query(QUESTIONS, Tags(asked, 6), 10)
    far = distances("euclidean")
    for number, wanted in enumerate(asked):
        passing = [n for n, row in enumerate(tags) if set(wanted) <= set(row)]
        best = sorted(passing, key=lambda n: (far[number, n], n))[:10]
        assert made.get_results()[number].tolist() == best + [-1] * (10 - len(best))
    made.done()


def test_the_file_goes_with_the_algorithm_and_what_is_not_known_is_refused():
    made = Ragfile("angular")
    made.fit(DATA[:10])
    folder = made._folder.name
    assert os.path.exists(folder)
    made.done()
    assert not os.path.exists(folder)
    with pytest.raises(ValueError, match="metric"):
        Ragfile("hamming")
    with pytest.raises(ValueError, match="precision"):
        Ragfile("angular", 8)


# ---------------------------------------------------------------- the harnesses' own sequences ---


def constructed(module, constructor, *arguments):
    return getattr(importlib.import_module(module), constructor)(*arguments)


@pytest.mark.parametrize("is_batch", [False, True], ids=["single", "--batch"])
def test_the_calls_of_ann_benchmarks_in_their_order_succeed(is_batch):
    """run.py --local imports the submodule `module` of the configured one, and measures before fit."""
    made = constructed("ragfile.adapters.ann_benchmarks" + ".module", "Ragfile", "angular", 32)
    before = made.get_memory_usage()
    made.fit(DATA)
    assert made.get_memory_usage() - before > DATA.nbytes / 1024
    made.set_query_arguments(*[])
    if is_batch:
        made.batch_query(QUESTIONS, 10)
        found = made.get_batch_results()
    else:
        found = [made.query(question, 10) for question in QUESTIONS]
    expected = np.argsort(distances("angular"), axis=1, kind="stable")[:, :10]
    assert [[int(row) for row in rows] for rows in found] == expected.tolist()
    assert isinstance(made.get_additional(), dict)
    assert str(made) == made.name
    made.done()


def test_the_calls_of_big_ann_benchmarks_in_their_order_succeed():
    """Its runner imports the configured module itself, measures, and tries to load an index first."""
    made = constructed("ragfile.adapters.ann_benchmarks", "RagfileFiltered", "euclidean", {})
    before = made.get_memory_usage()
    assert made.load_index("random") is False
    tags = Tags([[n % 3] for n in range(len(DATA))], 3)
    dataset = SimpleNamespace(get_dataset=lambda: DATA, get_dataset_metadata=lambda: tags)
    made.fit(dataset)
    assert made.get_memory_usage() > before
    made.filtered_query(QUESTIONS, Tags([[1]] * len(QUESTIONS), 3), 5)
    assert all(row % 3 == 1 for row in made.get_results().ravel())
    made.done()
