"""A filter that is asked again finds the same rows as at first, within the bytes that its sets may take."""

import hypothesis.strategies as st
import numpy as np
import pytest
from file.test_filters import METADATA, WHERE, passes
from hypothesis import HealthCheck, given, settings

import ragfile
from ragfile.file.row_set_cache import RowSetCache, filter_key
from ragfile.file.row_sets import RowSet

pytestmark = pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
ALIKE = [1, True, "1", 1.5, False, 0, None, [1], [True], "true"]


def written(path, metadata):
    """Write one row for each object, in two segments."""
    half = len(metadata) // 2
    for number, rows in enumerate((metadata[:half], metadata[half:])):
        with (ragfile.edit if number else ragfile.create)(path) as w:
            for i, one in enumerate(rows, number * half):
                w.add(
                    [
                        {
                            "doc_id": f"d{i:03d}",
                            "chunk_index": 0,
                            "content": f"pods {i}",
                            "metadata": one,
                        }
                    ]
                )


@pytest.fixture
def rf(tmp_path):
    written(tmp_path / "kb", [{"v": value} for value in ALIKE])
    with ragfile.open(tmp_path / "kb") as opened:
        yield opened


def found(rf, where, **tags):
    hits = rf.search("pods", 100, mode="bm25", where=where, cache=False, **tags)
    return sorted(int(hit.doc_id[1:]) for hit in hits)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(METADATA, min_size=2, max_size=8),
    st.lists(WHERE, min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_repeated_filters_equal_the_slow_predicate(tmp_path_factory, rows, wheres, random):
    path = tmp_path_factory.mktemp("kb") / "kb"
    written(path, rows)
    with ragfile.edit(path) as w:
        w.delete(["d000"])
    asked = wheres * 3
    random.shuffle(asked)
    with ragfile.open(path) as rf:
        for where in asked:
            passing = [i for i, row in enumerate(rows) if i and passes(where, row)]
            assert found(rf, where) == passing


def test_values_that_python_calls_equal_are_different_filters(rf):
    for _ in range(2):
        for i, value in enumerate(ALIKE):
            assert found(rf, {"v": value}) == [i]


def test_the_order_of_keys_does_not_matter():
    assert filter_key({"a": 1, "b": 2}, (), []) == filter_key({"b": 2, "a": 1}, [], ())


def test_tags_and_fields_are_told_apart():
    keys = [
        filter_key(None, ["a"], ()),
        filter_key(None, (), ["a"]),
        filter_key({"a": 1}, ["a"], ()),
        filter_key({"a": 1}, (), ()),
    ]
    assert len(set(keys) - {None}) == 4


@pytest.mark.parametrize("where", [{1: "x"}, {"a": {1: "x"}}, {"a": {"$in": [{None: 1}]}}])
def test_a_key_that_is_no_text_has_no_kept_set(where):
    assert filter_key(where, (), ()) is None


def test_a_number_as_key_is_refused_after_the_same_text_was_asked(rf):
    assert found(rf, {"1": 1}) == []
    with pytest.raises(ValueError, match="keys are strings"):
        rf.search("pods", where={1: 1}, mode="bm25")


@pytest.mark.parametrize("where", [{"v": {1}}, {"v": np.int64(1)}, {"v": object()}])
def test_values_that_json_does_not_hold_have_no_key(where):
    assert filter_key(where, (), ()) is None


def test_tags_that_can_be_read_only_once_have_no_key():
    assert filter_key({"a": 1}, iter(["x"]), ()) is None


def test_a_changed_mask_does_not_change_the_next_answer(rf):
    where = {"v": 1}
    mask = rf.rows.mask(where)
    mask[:] = True
    assert found(rf, where) == [0]


def test_another_commit_has_sets_of_its_own(rf, tmp_path):
    assert found(rf, {"v": "1"}) == [2]
    with ragfile.edit(tmp_path / "kb") as w:
        w.add([{"doc_id": "d010", "chunk_index": 0, "content": "pods", "metadata": {"v": "1"}}])
        w.delete(["d002"])
    rf.refresh()
    assert found(rf, {"v": "1"}) == [10]


def sets_of(count, words, tmp_path):
    """Return sets of one segment with this many words."""
    written(tmp_path / "one", [{}, {}])
    with ragfile.open(tmp_path / "one") as rf:
        segment = rf.rows.segments[:1]
        return [RowSet.of_segments(segment, [np.zeros(words, np.uint64)]) for _ in range(count)]


def test_the_least_recently_used_set_makes_room(tmp_path):
    cache = RowSetCache(3 * 10_000)
    sets = sets_of(4, 1_000, tmp_path)  # 8,000 bytes and those of their objects
    for name, one in zip("abc", sets, strict=False):
        cache.put(name, one)
    assert cache.get("a") is sets[0]
    cache.put("d", sets[3])
    assert cache.get("b") is None
    assert [cache.get(name) for name in "acd"] == [sets[0], sets[2], sets[3]]


def test_a_set_beyond_the_limit_is_not_kept(tmp_path):
    cache = RowSetCache(5_000)
    small, large = sets_of(1, 100, tmp_path)[0], sets_of(1, 1_000, tmp_path)[0]
    cache.put("small", small)
    cache.put("large", large)
    assert [cache.get("large"), cache.get("small")] == [None, small]


def test_putting_a_set_twice_counts_its_bytes_once(tmp_path):
    cache = RowSetCache(3 * 10_000)
    first, second = sets_of(2, 1_000, tmp_path)
    for _ in range(10):
        cache.put("a", first)
    cache.put("b", second)
    assert len(cache) == 2
