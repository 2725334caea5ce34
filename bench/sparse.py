"""What does a question by weights of terms cost, and how many bytes does a weight take?

    python bench/sparse.py [--rows 20000] [--terms 24]

Makes rows with 120 weights of 30,000 terms, which are as frequent as words are, and questions with terms
of their rows. Prints CPU time of a question beside products of scipy's sparse matrices, the bytes of a
weight, and the share of the ten best by binary32 that ragfile finds.
"""

import argparse
import time

import numpy as np
import scipy.sparse

from ragfile import _core

VOCABULARY, WEIGHTS, QUESTIONS, K = 30_000, 120, 200, 10


def rows_of(count: int) -> scipy.sparse.csr_matrix:
    """Return random rows: half of the terms of a row are those of its topic."""
    rng = np.random.default_rng(1)
    share = 1 / (np.arange(VOCABULARY) + 20.0) ** 0.9
    topics = [rng.permutation(VOCABULARY) for _ in range(50)]
    rows, columns, values = [], [], []
    for row in range(count):
        drawn = rng.choice(VOCABULARY, WEIGHTS, p=share / share.sum())
        drawn[: WEIGHTS // 2] = topics[row % 50][drawn[: WEIGHTS // 2]]
        drawn = np.unique(drawn)
        rows.append(np.full(len(drawn), row))
        columns.append(drawn)
        values.append(np.log1p(rng.exponential(1.0, len(drawn))).astype(np.float32))
    places = np.concatenate(rows), np.concatenate(columns)
    return scipy.sparse.csr_matrix((np.concatenate(values), places), shape=(count, VOCABULARY))


def questions_of(matrix: scipy.sparse.csr_matrix, terms: int) -> list[dict[int, float]]:
    """Return weights of terms of random rows, and of a few frequent terms."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(QUESTIONS):
        own = matrix[rng.integers(matrix.shape[0])].indices
        chosen = np.unique(
            [*rng.choice(own, terms * 3 // 4, False), *rng.integers(0, 300, terms // 4)]
        )
        weights = np.log1p(rng.exponential(1.0, len(chosen))).astype(np.float32)
        found.append(dict(zip(chosen.tolist(), weights.tolist(), strict=True)))
    return found


def section_of(matrix: scipy.sparse.csr_matrix) -> bytes:
    """Return the bytes of rag.sparse."""
    packed = [
        _core.sparse_packed({f"t{c}": float(w) for c, w in zip(row.indices, row.data, strict=True)})
        for row in matrix
    ]
    builder, out = _core.SparseBuilder(128 << 20), bytearray()
    for one in packed:
        builder.count(one)
    for part in range(builder.plan()[1]):
        builder.begin(part, out.extend)
        for one in packed:
            builder.put(one)
        builder.end(out.extend)
    return bytes(out)


def microseconds(ask, questions) -> float:
    """Return the best CPU time of three rounds, per question."""
    spent = []
    for _ in range(3):
        begun = time.process_time()
        for question in questions:
            ask(question)
        spent.append((time.process_time() - begun) / len(questions) * 1e6)
    return min(spent)


def best_of(scores: np.ndarray) -> list[int]:
    near = np.argpartition(-scores, K)[:K]
    return near[np.lexsort((near, -scores[near]))].tolist()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--terms", type=int, default=24)
    options = parser.parse_args()
    matrix = rows_of(options.rows)
    questions = questions_of(matrix, options.terms)
    raw, by_term = section_of(matrix), matrix.tocsc()
    weights = _core.SparseWeights(_core.Section.over(raw))
    asked = [
        _core.SparseQuestion({f"t{term}": weight for term, weight in one.items()})
        for one in questions
    ]

    def ragfile_best(question: _core.SparseQuestion) -> list[int]:
        return _core.sparse_search([(weights, None)], [question], K)[0][0, 0].tolist()

    def by_columns(question: dict[int, float]) -> list[int]:
        return best_of(by_term[:, list(question)] @ np.array(list(question.values()), np.float32))

    def by_rows(question: dict[int, float]) -> list[int]:
        vector = np.zeros(VOCABULARY, np.float32)
        vector[list(question)] = list(question.values())
        return best_of(matrix @ vector)

    exact = [
        set(best_of(by_term[:, list(one)].astype(np.float64) @ np.array(list(one.values()))))
        for one in questions
    ]
    found = [
        len(wanted & set(ragfile_best(one))) / K for wanted, one in zip(exact, asked, strict=True)
    ]
    print(f"{options.rows:,} rows, {matrix.nnz:,} weights, {options.terms} terms a question")
    print(f"bytes a weight   {len(raw) / matrix.nnz:8.2f}")
    print(f"overlap@{K}       {np.mean(found):8.4f}")
    print(f"ragfile, us      {microseconds(ragfile_best, asked):8.1f}")
    print(f"scipy CSC, us    {microseconds(by_columns, questions):8.1f}")
    print(f"scipy CSR, us    {microseconds(by_rows, questions[:50]):8.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
