"""Clusters: the same on every machine, true of every row, never seen in an exact answer, and what a search with
less effort looks at, answers and says of itself."""

import threading
from pathlib import Path

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.clusters import Clusters, answer, clustered, made, up
from oracles.vectors import METRICS, assert_same, exact
from targets import TARGETS, printed

from ragfile import _core
from ragfile.embedding.protocol import StaticEmbedder
from ragfile.errors import CorruptError, FormatError, VersionError

ROOT = Path(__file__).resolve().parents[2]


def topics(count, dim, seed=0, centres=40, near=0.4, fall=0.97):
    """Rows around some points, unevenly many, of unequal lengths, that fill their space unevenly."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((centres, dim))
    which = np.minimum(rng.exponential(centres / 4, count).astype(int), centres - 1)
    far = near * np.sqrt(1 + which[:, None] / centres)
    rows = (points[which] + far * rng.standard_normal((count, dim))) * fall ** np.arange(dim)
    return (rows * rng.uniform(0.5, 2, (count, 1))).astype(np.float32)


def odd(rows):
    """With rows that bounds cannot hold, and some that tie."""
    rows = rows.copy()
    rows[3] = 0
    rows[7] *= np.float32(1e-36)
    rows[11] *= np.float32(1e35)
    rows[13, 1] = np.nan
    rows[17, 0] = np.inf
    rows[20:40] = rows[200]
    return rows


def asked(dim, count=8, seed=9):
    return np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)


# --------------------------------------------------------------------------------------------------- what is written --


@pytest.mark.parametrize(("count", "dim", "wanted"), [(3000, 20, 40), (900, 96, 33), (64, 7, 64)])
def test_every_row_has_one_place_within_its_clusters_radius_and_norms(count, dim, wanted):
    rows = odd(topics(count, dim)) if count > 200 else topics(count, dim)
    table, _ = made(rows, wanted)
    clusters = Clusters(table)
    assert 1 <= clusters.count <= wanted
    assert sorted(clusters.order.tolist()) == list(range(count))
    for c in range(clusters.count):
        some = rows[clusters.members(c)].astype(float)
        norms = np.linalg.norm(some, axis=1)
        usual = ((norms >= 2.0**-100) & (norms <= 2.0**100)) | (norms == 0)
        assert usual[np.isfinite(norms)].all() or clusters.radii[c] == np.inf
        units = some[usual] / np.where(norms[usual] > 0, norms[usual], 1)[:, None]
        far = np.linalg.norm(units - clusters.centroids[c], axis=1)
        assert (far <= clusters.radii[c]).all()
        assert (norms[usual] >= clusters.least[c]).all()
        assert (norms[usual] <= clusters.most[c]).all()


def test_clusters_bring_rows_together():
    """Against places dealt out in order: the distance to a cluster's centre is far smaller."""
    rows = topics(4000, 24)
    clusters = Clusters(made(rows, 64)[0])
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert np.mean(clusters.spreads) < 0.6 * np.linalg.norm(units - units.mean(0), axis=1).mean()


def test_any_number_of_threads_makes_the_same_bytes():
    rows = topics(9000, 33)
    first = made(rows, 90, threads=1)
    assert made(rows, 90, threads=2) == first == made(rows, 90, threads=5)


PROGRAM = """
import hashlib, sys
sys.path[:0] = ["tests", "."]
import numpy as np
from oracles.clusters import made
from core.test_clusters import asked, odd, topics
from ragfile import _core
rows, recall = odd(topics(5000, 96)), np.empty(8)
table, section = made(rows, 70)
matrix = _core.Matrix(rows, *rows.shape, metric="ip", shadow=section, clusters=table)
found = matrix.nearest(asked(96), 9, effort=0.1, recall=recall)
parts = table, section, *(a.tobytes() for a in (*found, recall))
print([hashlib.sha256(part).hexdigest() for part in parts])
"""


def test_every_target_makes_the_same_bytes_and_visits_the_same_clusters():
    said = set()
    for target in ("", *TARGETS):
        said.add(printed(target, PROGRAM))
    assert len(said - {None}) == 1


@pytest.mark.parametrize("wanted", [0, 1, 10_000])
def test_any_number_of_clusters_can_be_asked_for(wanted):
    rows = topics(50, 5)
    clusters = _core.Clustering(_core.Matrix(rows, 50, 5), wanted)
    assert len(clusters) <= 50
    assert (len(clusters) == 0) == (wanted == 0)
    if not wanted:
        with pytest.raises(ValueError, match="no clusters"):
            clusters.measure(_core.Matrix(rows, 50, 5))
        return
    with pytest.raises(ValueError, match="measured"):
        clusters.write(bytearray().extend)


# ------------------------------------------------------------------------------------------------------ exact answers --


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dim", [13, 96])
def test_exact_answers_do_not_know_of_clusters(metric, dim):
    rows = odd(topics(4500, dim))
    matrix, _ = clustered(rows, 60, metric)
    assert matrix.kept == (64 if dim == 96 else 0)
    queries = np.vstack([asked(dim, 70), rows[20:22], np.zeros((1, dim), np.float32)])
    some = np.random.default_rng(2).random(4500) < 0.2
    less = np.random.default_rng(3).random(4500) < 0.08
    few = np.arange(4500) % 400 == 3
    for where in (None, some, less, few):
        for k in (1, 10, 200):
            wanted = exact(queries, rows, k, metric, where)
            for threads in (1, 3):
                assert_same(matrix.nearest(queries, k, where=where, threads=threads), wanted)
            for q in (0, 70, 72):
                alone = matrix.nearest(queries[q], k, where=where, threads=1)
                assert_same(alone, (wanted[0][q : q + 1], wanted[1][q : q + 1]))


def test_bounds_are_those_of_the_rows_that_were_asked_for():
    rows = topics(900, 24)
    matrix, _ = clustered(rows, 20)
    plain = bytearray()
    _core.Shadow(_core.Matrix(rows, 900, 24)).write(plain.extend)
    some = np.array([5, 899, 0, 300])
    wanted = _core.Matrix(rows, 900, 24, shadow=bytes(plain)).bounds(some, rows[7])
    assert matrix.bounds(some, rows[7]).tolist() == wanted.tolist()


def test_several_segments_some_without_clusters_answer_as_one():
    rows = odd(topics(6000, 40))
    parts = [rows[:3500], rows[3500:3600], rows[3600:]]
    legs = [clustered(parts[0], 30)[0], _core.Matrix(parts[1], 100, 40), clustered(parts[2], 20)[0]]
    queries = asked(40)
    wanted = exact(queries, rows, 10, "cosine")
    found, scores = _core.nearest(legs, queries, 10)
    for i in range(len(queries)):
        every = [
            (-float(s), base + int(row))
            for part, base in zip(range(3), (0, 3500, 3600), strict=True)
            for row, s in zip(found[i, part], scores[i, part], strict=True)
            if row >= 0
        ]
        assert [row for _, row in sorted(every)][:10] == wanted[0][i].tolist()
    recall = np.empty(len(queries))
    _core.nearest(legs, queries, 10, effort=0.05, recall=recall)
    assert ((recall >= 0) & (recall <= 1)).all()


# ------------------------------------------------------------------------------------------------------- less effort --


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("effort", [0.001, 0.03, 0.2, 0.7])
def test_less_effort_answers_from_the_clusters_that_the_rule_names(metric, effort):
    rows = odd(topics(4500, 30))
    matrix, clusters = clustered(rows, 90, metric)
    queries, recall = np.vstack([asked(30, 6), rows[300:303]]), np.empty(9)
    some = np.random.default_rng(3).random(4500) < 0.3
    less = np.random.default_rng(4).random(4500) < 0.05
    for where in (None, some, less):
        for k in (1, 10):
            found = matrix.nearest(queries, k, where=where, effort=effort, recall=recall)
            for i, query in enumerate(queries):
                wanted = answer(clusters, rows, query, k, metric, effort, where)
                assert found[0][i].tolist() == wanted[0].tolist()
                assert found[1][i].tobytes() == wanted[1].tobytes()
                if recall[i] == 1:  # proved: then it is the exact answer
                    whole = matrix.nearest(query, k, where=where)
                    assert whole[0][0].tolist() == found[0][i].tolist()
                else:
                    assert recall[i] == pytest.approx(min(wanted[2], 1 - 2.0**-17), abs=2e-5)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(0, 2**32), st.integers(20, 900), st.integers(1, 40), st.integers(1, 60),
    st.integers(1, 30), st.floats(0.0001, 1), st.sampled_from(METRICS), st.floats(0, 1),
)  # fmt: skip
def test_any_effort_on_any_rows_follows_the_rule(
    seed, count, dim, wanted, k, effort, metric, share
):
    rng = np.random.default_rng(seed)
    rows = topics(count, dim, seed % 1000, centres=5)
    matrix, clusters = clustered(rows, wanted, metric)
    where = rng.random(count) < share
    query, recall = rng.standard_normal(dim).astype(np.float32), np.empty(1)
    found, scores = matrix.nearest(query, k, where=where, effort=effort, recall=recall, threads=1)
    whole = exact(query[None], rows, k, metric, where)
    if recall[0] == 1:
        assert_same((found, scores), whole)
    else:
        assert effort < 1
        told = answer(clusters, rows, query, k, metric, effort, where)
        assert found[0].tolist() == told[0].tolist()


def test_few_rows_that_pass_are_all_looked_at_and_the_answer_is_proven():
    rows = topics(6000, 40)
    matrix, clusters = clustered(rows, 60)
    queries, recall = asked(40, 6), np.empty(6)
    proven = []
    for count in (90, 200, 400, 800, 1600):
        where = np.random.default_rng(count).permutation(6000) < count
        wanted = [answer(clusters, rows, q, 10, "cosine", 0.05, where) for q in queries]
        found = matrix.nearest(queries, 10, where=where, effort=0.05, recall=recall)
        assert found[0].tolist() == [w[0].tolist() for w in wanted]
        proven.append((recall == 1).all())
        if 8 * count**2 <= 6000 * max(0.05 * count, 72):
            assert proven[-1]
            assert_same(found, exact(queries, rows, 10, "cosine", where))
    assert proven == [True, True, False, False, False]


def test_threads_and_batches_do_not_change_an_answer_of_less_effort():
    rows = topics(6000, 64)
    matrix, _ = clustered(rows, 80)
    queries = asked(64, 50)
    recall, other = np.empty(50), np.empty(50)
    first = matrix.nearest(queries, 10, effort=0.04, recall=recall, threads=1)
    assert_same(matrix.nearest(queries, 10, effort=0.04, recall=other, threads=4), first)
    assert recall.tolist() == other.tolist()
    for i in range(0, 50, 7):
        alone = matrix.nearest(queries[i], 10, effort=0.04)
        assert alone[0][0].tolist() == first[0][i].tolist()


def test_tight_clusters_prove_their_answers_with_little_effort():
    rng = np.random.default_rng(4)
    points = np.linalg.qr(rng.standard_normal((64, 64)))[0]
    rows = (np.repeat(points, 100, axis=0) + 0.002 * rng.standard_normal((6400, 64))).astype(
        np.float32
    )
    matrix, _ = clustered(rows, 64)
    queries, recall = rows[::640], np.empty(10)
    found = matrix.nearest(queries, 10, effort=0.02, recall=recall)
    assert (recall == 1).all()
    assert_same(found, exact(queries, rows, 10, "cosine"))


def told_and_true(rows, queries, wanted, effort):
    """(the mean estimate, the mean truth) of the ten best."""
    matrix, _ = clustered(np.ascontiguousarray(rows), wanted)
    recall = np.empty(len(queries))
    whole, _ = matrix.nearest(queries, 10)
    found, _ = matrix.nearest(queries, 10, effort=effort, recall=recall)
    pairs = zip(found.tolist(), whole.tolist(), strict=True)
    return recall.mean(), np.mean([len(set(a) & set(b)) / 10 for a, b in pairs])


@pytest.mark.parametrize("effort", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("near", [0.3, 0.6])
def test_the_estimate_is_near_the_recall_of_questions_that_are_held_out(near, effort):
    rows = topics(20_000, 48, 3, centres=300, near=near)
    noise = np.random.default_rng(5).standard_normal((200, 48))
    asked = (rows[:200] + 0.7 * np.abs(rows[:200]).mean() * noise).astype(np.float32)
    told, true = told_and_true(rows[200:], asked, 160, effort)
    assert abs(told - true) < 0.05


@pytest.fixture(scope="module")
def pages():
    """Vectors of the built-in model: stretches of this repository's pages, and other stretches as questions."""
    words = [w for path in sorted(ROOT.glob("*/**/*.md")) if ".venv" not in path.parts
             for w in path.read_text(encoding="utf-8").split()]  # fmt: skip
    model = StaticEmbedder(threads=1)
    starts = range(0, len(words) - 60, 5)
    rows = model.embed([" ".join(words[at : at + 15 + at % 23]) for at in starts])
    asked = model.embed([" ".join(words[at : at + 7]) for at in range(40, len(words) - 60, 197)])
    return rows, asked


@pytest.mark.parametrize("effort", [0.02, 0.05, 0.1, 0.3])
def test_the_estimate_holds_for_the_built_in_models_vectors(pages, effort):
    rows, asked = pages
    assert len(rows) > 5000
    told, true = told_and_true(rows, asked, 100, effort)
    assert abs(told - true) < 0.08


@pytest.mark.parametrize("effort", [0, -0.5, 1.5, float("nan")])
def test_an_effort_that_is_no_share_is_refused(effort):
    rows = topics(100, 8)
    with pytest.raises(ValueError, match="effort"):
        _core.Matrix(rows, 100, 8).nearest(rows[0], 3, effort=effort)


def test_without_clusters_every_effort_is_exact_and_proven():
    rows, recall = topics(3000, 16), np.zeros(2)
    matrix = _core.Matrix(rows, 3000, 16)
    found = matrix.nearest(rows[:2], 5, effort=0.01, recall=recall)
    assert_same(found, exact(rows[:2], rows, 5, "cosine"))
    assert recall.tolist() == [1, 1]


# ----------------------------------------------------------------------------------------------------- hostile bytes --


def opened(rows, table, section):
    return _core.Matrix(rows, *rows.shape, shadow=section, clusters=table)


def patched(data, at, by):
    return data[:at] + by + data[at + len(by) :]


@pytest.mark.parametrize(
    ("at", "by", "error"),
    [
        (0, b"X", FormatError), (8, b"\2", VersionError), (12, b"\7", FormatError), (16, b"\7", FormatError),
        (24, b"\0\0", FormatError), (24, b"\xff\xff\xff\xff", FormatError), (30, b"\1", FormatError),
        (64, b"\1", CorruptError), (68, b"\xff\xff\xff\xff", CorruptError), (68, bytes(4), CorruptError),
    ],
)  # fmt: skip
def test_a_broken_head_is_refused(at, by, error):
    rows = topics(1000, 24)
    table, section = made(rows, 20)
    with pytest.raises(error):
        opened(rows, patched(table, at, by), section)
    with pytest.raises(FormatError):
        opened(rows, table[:-64], section)


def test_a_place_that_holds_no_row_is_found_when_it_is_used():
    rows = topics(1000, 24)
    table, section = made(rows, 20)
    at = len(table) - -(-4000 // 64) * 64
    matrix = opened(rows, patched(table, at, b"\xff" * 4000), section)
    for effort in (0.1, 1.0):
        with pytest.raises(CorruptError, match="not there"):
            matrix.nearest(rows[0], 5, effort=effort, threads=1)
    with pytest.raises(CorruptError, match="not there"):
        matrix.check_shadow()


def test_changed_bytes_never_end_worse_than_in_an_error():
    rows = topics(700, 24)
    table, section = made(rows, 30)
    rng, queries = np.random.default_rng(6), asked(24, 3)
    for _ in range(400):
        which, data = rng.integers(2), [bytearray(table), bytearray(section)]
        for _ in range(rng.integers(1, 9)):
            data[which][rng.integers(len(data[which]))] = rng.integers(256)
        try:
            matrix = opened(rows, *map(bytes, data))
            for effort in (0.05, 1.0):
                found, _ = matrix.nearest(queries, 7, effort=effort)
                assert ((found >= -1) & (found < 700)).all()
            matrix.check_shadow()
        except FormatError:
            pass


def test_numbers_that_are_not_true_are_found_by_a_check():
    rows = topics(1000, 24)
    table, section = made(rows, 20)
    count = Clusters(table).count
    radii = 64 + -(-(4 * count + 4) // 64) * 64
    order = len(table) - -(-4000 // 64) * 64
    opened(rows, table, section).check_shadow()
    for at, by in ((radii, bytes(4)), (order, table[order + 4 : order + 8])):
        with pytest.raises(CorruptError):
            opened(rows, patched(table, at, by), section).check_shadow()
    with pytest.raises(CorruptError):  # in the order of the file
        plain = bytearray()
        _core.Shadow(_core.Matrix(rows, 1000, 24)).write(plain.extend)
        opened(rows, table, bytes(plain)).check_shadow()


def test_an_order_in_which_a_row_has_no_place_is_found_by_a_search_in_few_rows():
    rows = topics(3000, 24)
    table, section = made(rows, 20)
    order_at = len(table) - up(4 * 3000)
    few = np.arange(3000) % 20 == 3
    twice = patched(table, order_at + 40, table[order_at : order_at + 4])
    beyond = patched(table, order_at + 40, b"\xff" * 4)
    for broken in (twice, beyond):
        matrix = opened(rows, broken, section)
        for _ in range(2):
            with pytest.raises(CorruptError, match="row that is not there, or has another place"):
                matrix.nearest(rows[5], 3, where=few)
    found = opened(rows, table, section).nearest(rows[5:6], 3, where=few)
    assert_same(found, exact(rows[5:6], rows, 3, "cosine", few))


def test_many_threads_that_need_the_places_of_rows_at_once_get_the_same():
    rows = topics(20_000, 24)
    table, section = made(rows, 80)
    few = np.arange(20_000) % 50 == 3
    wanted = exact(rows[:2], rows, 7, "cosine", few)
    for _ in range(10):
        matrix, found = opened(rows, table, section), []
        threads = [
            threading.Thread(
                target=lambda m=matrix, f=found: f.append(m.nearest(rows[:2], 7, where=few))
            )
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 6
        for one in found:
            assert_same(one, wanted)
