"""Searches among the rows that a filter passes: few or many of them, one filter for all questions or one for each. The
answer is that of every such row scored."""

import numpy as np
import pytest
from effort import few
from oracles.vectors import METRICS, assert_same, canonical_scores, exact, shadow_of

from ragfile import _core
from ragfile.errors import CorruptError

ROWS = 4501
SHARES = (0, 0.0005, 0.003, 0.02, 0.1, 0.4, 0.99)


class Ranking:
    """All rows of each question in their order, from the slow oracle; then those of a filter."""

    def __init__(self, asked, rows, metric):
        self.rows, self.scores = exact(asked, rows, len(rows), metric)

    def passing(self, k, masks):
        """masks: one for each question."""
        rows = np.full((len(self.rows), k), -1, np.int64)
        scores = np.full((len(self.rows), k), -np.inf, np.float32)
        for i, mask in enumerate(masks):
            kept = np.flatnonzero((self.rows[i] >= 0) & mask[self.rows[i]])[:k]
            rows[i, : len(kept)] = self.rows[i, kept]
            scores[i, : len(kept)] = self.scores[i, kept]
        return rows, scores


def words(mask):
    return _core.row_set(mask, len(mask))


def uneven(count, dim, seed=0):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((dim, dim)))[0] * 0.93 ** np.arange(dim)[:, None]
    rows = (rng.standard_normal((count, dim)) @ axes + axes[1]).astype(np.float32)
    rows *= rng.uniform(0.1, 3, (count, 1)).astype(np.float32)
    rows[100:110] = rows[99]
    rows[120], rows[121, 3], rows[122], rows[123] = 0, np.nan, 1e35, 1e-35
    return rows


def questions(rows, count, seed=1):
    rng = np.random.default_rng(seed)
    near = rows[rng.integers(0, 120, count // 2)] + np.float32(0.1)
    far = rng.standard_normal((count - count // 2, rows.shape[1])).astype(np.float32)
    made = np.concatenate([near, far])
    made[-1] = 0  # a question without a direction
    return made


def matrix_of(rows, kind, metric):
    count, dim = rows.shape
    if kind == "none":
        return _core.Matrix(rows, count, dim, metric=metric)
    if kind == "planes":
        return _core.Matrix(rows, count, dim, metric=metric, shadow=shadow_of(rows_matrix(rows)))
    parts: list[bytes] = []
    _core.Shadow(rows_matrix(rows), rotate=False).write(lambda part: parts.append(bytes(part)))
    return _core.Matrix(rows, count, dim, metric=metric, shadow=b"".join(parts))


def rows_matrix(rows):
    return _core.Matrix(rows, *rows.shape)


@pytest.mark.parametrize("kind", ["planes", "shadow", "none"])
@pytest.mark.parametrize("metric", METRICS)
def test_any_share_of_rows_is_searched_exactly(metric, kind):
    rng = np.random.default_rng(3)
    rows = uneven(ROWS, 96)
    matrix = matrix_of(rows, kind, metric)
    for count in (1, 5, 70):
        asked = questions(rows, count + 1)
        ranking = Ranking(asked, rows, metric)
        for share in SHARES:
            mask = rng.random(len(rows)) < share
            for k, threads in ((1, 1), (10, 2), (90, 1)):
                found = matrix.nearest(asked, k, where=mask, threads=threads)
                assert_same(found, ranking.passing(k, [mask] * len(asked)))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dim", [1, 5, 16, 37, 64])
def test_few_rows_are_scored_together_as_each_alone(dim, metric):
    rng = np.random.default_rng(dim)
    rows = rng.standard_normal((1500, dim)).astype(np.float32)
    rows *= 10.0 ** rng.integers(-44, 38, (1500, 1)).astype(np.float32)
    rows[::7], rows[3::11] = rows[0], 0
    rows[5::13, 0], rows[6::17, -1] = np.nan, np.inf
    asked = np.concatenate([questions(rows[:120], 4), rows[8:9], np.float32(1e-42) + rows[:1] * 0])
    ranking = Ranking(asked, rows, metric)
    matrix = _core.Matrix(rows, *rows.shape, metric=metric)
    for passing in (1, 3, 4, 63, 64, 65, 511, 512, 513, 900):
        mask = np.arange(1500) < passing
        for k in (1, passing - 1, passing, passing + 1, 400):
            found = matrix.nearest(asked, k, where=mask)
            assert_same(found, ranking.passing(k, [mask] * len(asked)))
    numbers = rng.permutation(1500)[:300]
    for query in asked:
        expected = canonical_scores(query, rows[numbers], metric)
        found = matrix.scores(numbers, query)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(found[known].view(np.uint32), expected[known].view(np.uint32))


@pytest.mark.parametrize(
    "rows_that_pass", few([[4095, 4096], [], [63], [0], [64], [8999], [0, 9000]], 2)
)
def test_rows_at_the_edges_of_words_groups_and_slices_are_found(rows_that_pass):
    rows = uneven(9001, 96)
    matrix = matrix_of(rows, "planes", "cosine")
    mask = np.zeros(len(rows), bool)
    mask[rows_that_pass] = True
    mask[200:264] = True
    mask[300:420:4] = True
    for asked in (questions(rows, 2), questions(rows, 80)):
        for threads in (1, 2):
            found = matrix.nearest(asked, 12, where=mask, threads=threads)
            assert_same(found, exact(asked, rows, 12, "cosine", mask))


def test_bits_past_the_last_row_pass_nothing():
    rows = uneven(4099, 96)
    matrix = matrix_of(rows, "planes", "cosine")
    full = words(np.ones(4099, bool))
    full[-1] = 2**64 - 1
    for asked in (questions(rows, 2), questions(rows, 80)):
        assert_same(matrix.nearest(asked, 12, where=full), exact(asked, rows, 12, "cosine"))
    few = np.zeros_like(full)
    few[-1] = 2**64 - 1
    mask = np.arange(4099) >= 4096
    asked = questions(rows, 2)
    assert_same(matrix.nearest(asked, 12, where=few), exact(asked, rows, 12, "cosine", mask))


@pytest.mark.parametrize("kind", ["planes", "shadow", "none"])
@pytest.mark.parametrize("metric", METRICS)
def test_each_question_can_have_a_filter_of_its_own(metric, kind):
    rng = np.random.default_rng(5)
    rows = uneven(ROWS, 96)
    matrix = matrix_of(rows, kind, metric)
    masks = [rng.random(len(rows)) < share for share in SHARES] + [np.ones(len(rows), bool)]
    sets = [[words(mask)] for mask in masks[:-1]] + [[None]]
    for count in (1, 9, 150):
        numbers = rng.integers(0, len(sets), count)
        asked = questions(rows, count + 1)[:count]
        ranking = Ranking(asked, rows, metric)
        for k, threads in ((1, 2), (10, 1), (60, 2)):
            filters = _core.Filters(numbers, sets)
            found = matrix.nearest(asked, k, where=filters, threads=threads)
            assert_same(found, ranking.passing(k, [masks[n] for n in numbers]))


def test_filters_of_several_matrices_and_a_least_score():
    rng = np.random.default_rng(6)
    rows = uneven(13000, 96)
    parts = [rows[:9001], rows[9001:9100], rows[9100:]]
    matrices = [matrix_of(part, "planes" if len(part) > 200 else "none", "ip") for part in parts]
    masks = [[rng.random(len(part)) < share for part in parts] for share in (0.01, 0.3, 0.9)]
    numbers = rng.integers(0, 3, 40)
    asked = questions(rows, 41)[:40]
    least = rng.uniform(-1, 1, 40).astype(np.float32)
    filters = _core.Filters(numbers, [[words(mask) for mask in one] for one in masks])
    assert len(filters) == 40
    found = _core.nearest(matrices, asked, 7, filters, least=least)
    for i, number in enumerate(numbers):
        alone = _core.nearest(
            matrices, asked[i], 7, [words(mask) for mask in masks[number]], least=least[i : i + 1]
        )
        assert_same([part[i] for part in found], [part[0] for part in alone])


def test_filters_that_do_not_fit_are_refused():
    rows = uneven(300, 96)
    matrix, good = _core.Matrix(rows, 300, 96), words(np.ones(300, bool))
    with pytest.raises(ValueError, match="filters for 1 queries, but 2 queries"):
        matrix.nearest(rows[:2], 3, where=_core.Filters([0], [[good]]))
    with pytest.raises(ValueError, match="filters of 2 segments, but 1 segments"):
        matrix.nearest(rows[:1], 3, where=_core.Filters([0], [[good, good]]))
    with pytest.raises(ValueError, match="a filter of 2 words is too short for 300 rows"):
        matrix.nearest(rows[:1], 3, where=_core.Filters([0], [[good[:2]]]))
    with pytest.raises(ValueError, match="there are 1 filters, not 2"):
        _core.Filters([1], [[good]])
    with pytest.raises(ValueError, match="a row set for each segment"):
        _core.Filters([0, 1], [[good], [good, good]])
    with pytest.raises(ValueError, match="a row set for each segment"):
        _core.Filters([0], [[]])


def test_damage_in_a_row_of_codes_is_noticed_by_a_filtered_search(tmp_path):
    import ragfile

    path, rows = tmp_path / "a.ragfile", uneven(9000, 96)
    rows[120:124] = rows[1]
    with ragfile.create(path, dim=96) as writer:
        chunks = [{"doc_id": f"{i:05}", "chunk_index": 0, "content": "x"} for i in range(9000)]
        writer.add(chunks, vectors=rows)
    with ragfile.open(path) as archive:
        entry = next(e for e in archive.file.entries if e["name"] == "rag.planes")
    with open(path, "r+b") as file:
        file.seek(entry["at"] + entry["size"] - 64 - 50)  # the last row's codes
        flipped = bytes([file.read(1)[0] ^ 1])
        file.seek(-1, 1)
        file.write(flipped)
    for shape in (rows[7], rows[:40]):
        with ragfile.open(path) as archive:
            assert (archive.nearest(shape, 4, where=np.arange(200), threads=1)[0] < 200).all()
            with pytest.raises(CorruptError, match="checksum"):
                archive.nearest(shape, 4, where=np.arange(8800, 9000), threads=1)
