"""Compare two runs: which answers changed, and whether one is better by more than chance.

    report = compare(before, after, k=10)              {"questions": …, "changed": […]}
    report = compare(before, after, qrels=qrels)       … and means, difference, interval, p

The test of significance is a paired bootstrap over questions with a fixed seed, so its numbers are
reproducible.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ragfile.evaluation.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ragfile.evaluation.measures import Measure, Qrels
    from ragfile.evaluation.runs import Run

    Float64s: TypeAlias = NDArray[np.float64]

DRAWS, SEED = 10_000, 20_240_229
BATCH = 250  # resamples that are drawn together
EQUAL = 1e-12  # differences of means that are errors of rounding


def compare(before: Run, after: Run, *, k: int = 10, qrels: Qrels | None = None) -> dict[str, Any]:
    """Report the differences among each question's first k results.

    Args:
        before: The first run, whose order of questions the report keeps.
        after: The second run.
        k: The number of results that are compared.
        qrels: Judgements; with them the report has measures and their significance.
    """
    names = [*before, *(name for name in after if name not in before)]
    changes = (change(name, before.get(name, []), after.get(name, []), k) for name in names)
    changed = [found for found in changes if found]
    report: dict[str, Any] = {"questions": len(names), "k": k, "changed": changed}
    if qrels is not None:
        report["measures"] = {
            name: significance(*_paired(measure, before, after, qrels))
            for name, measure in MEASURES.items()
        }
    return report


def change(
    name: str, before: Sequence[tuple[str, float]], after: Sequence[tuple[str, float]], k: int
) -> dict[str, Any] | None:
    """Report how the first k of one question differ; None if they are the same but for scores."""
    old, new = [d for d, _ in before[:k]], [d for d, _ in after[:k]]
    if old == new:
        return None
    return {
        "question": name,
        "gone": [d for d in old if d not in new],
        "came": [d for d in new if d not in old],
        "moved": [[d, old.index(d) + 1, new.index(d) + 1]
                  for d in new if d in old and old.index(d) != new.index(d)],
        "first": old[:1] != new[:1],
    }  # fmt: skip


def by_question(
    measure: Measure, run: Mapping[str, Sequence[tuple[str, float]]], qrels: Qrels
) -> dict[str, float]:
    """Return the measure of each judged question that has a relevant document."""
    return {
        name: measure([d for d, _ in run.get(name, [])], judged)
        for name, judged in qrels.items()
        if any(value > 0 for value in judged.values())
    }


def _paired(
    measure: Measure, before: Run, after: Run, qrels: Qrels
) -> tuple[list[float], list[float]]:
    """Return the measures of both runs, question by question."""
    old, new = by_question(measure, before, qrels), by_question(measure, after, qrels)
    return list(old.values()), [new[name] for name in old]


def significance(before: Sequence[float], after: Sequence[float]) -> dict[str, float]:
    """Return the means, their difference, its 95 % interval and its p-value."""
    if not before:
        return dict.fromkeys(("before", "after", "difference", "low", "high", "p"), 0.0)
    apart = [b - a for a, b in zip(before, after, strict=True)]
    mean = math.fsum(apart) / len(apart)
    (drawn,) = resampled([apart])
    low, high = _middle(drawn)
    beyond = int((np.abs(drawn - mean) >= abs(mean) - EQUAL).sum())
    return {
        "before": math.fsum(before) / len(before), "after": math.fsum(after) / len(after),
        "difference": mean, "low": low, "high": high,
        "p": 1.0 if mean == 0 else (beyond + 1) / (DRAWS + 1),
    }  # fmt: skip


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a mean."""
    return _middle(resampled([values])[0]) if values else (0.0, 0.0)


def _middle(drawn: Float64s) -> tuple[float, float]:
    ordered = np.sort(drawn)
    return float(ordered[DRAWS * 25 // 1000]), float(ordered[DRAWS * 975 // 1000 - 1])


def resampled(columns: Sequence[Sequence[float]]) -> list[Float64s]:
    """Return for each column the means of resamples of the questions, which are the same for all columns."""
    values = np.asarray(columns, np.float64).T
    count = len(values)
    random = np.random.RandomState(SEED)  # whose numbers are the same in every version of numpy
    means: list[Float64s] = []
    for _ in range(DRAWS // BATCH):
        picks = random.randint(0, count, (BATCH, count)) + np.arange(BATCH)[:, None] * count
        times = np.bincount(picks.ravel(), minlength=BATCH * count).reshape(BATCH, count)
        means.append(times @ values / count)
    return list(np.concatenate(means).T)
