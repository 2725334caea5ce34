"""A restricted view answers as a file that never had the documents it hides: the same bits, links, counts."""

import pickle
import random

import pytest
from layers.test_layered_rows import ASKED, answers, change, create, paths, random_history
from layers.test_surface import ITS_OWN, said
from oracles.search_cases import Hashed
from shards import test_surface as surface

import ragfile
from ragfile import dataset
from ragfile.file.container import Container
from ragfile.layers.restricted_container import RestrictedContainer
from ragfile.layers.restricted_view import Restricted

FILTERS = [
    {"kind": {"$ne": "k1"}},
    {"year": {"$gte": 2006}},
    {"$or": [{"kind": "k0"}, {"year": {"$lt": 2004}}]},
    {"kind": "none of them"},
]


def fresh(path, rf, where):
    """A file of the documents that pass, built at once from what the other file says of them."""
    rows = [row for row in rf.live_rows().tolist() if rf.rows.mask(where)[row]]
    ids = {rf.chunk(row).doc_id for row in rows}
    create(path, [one for one in rf.documents() if one.id in ids])
    return path


@pytest.fixture(params=["file", "layers", "dataset"])
def kind(request):
    return request.param


def history(tmp_path, kind, seed):
    layers, one = paths(tmp_path, 3), str(tmp_path / "one.ragfile")
    random_history(random.Random(seed), layers, one)
    if kind == "dataset":
        dataset.convert(one, str(tmp_path / "shards"), shards=3)
    return {"file": one, "layers": layers, "dataset": str(tmp_path / "shards")}[kind]


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("number", range(len(FILTERS)))
def test_a_restricted_view_answers_as_a_file_without_the_others(tmp_path, kind, number):
    where = FILTERS[number]
    with ragfile.open(history(tmp_path, kind, number), embedder=Hashed()) as whole:
        view, path = Restricted(whole, where), fresh(tmp_path / "fresh.ragfile", whole, where)
        with ragfile.open(path, embedder=Hashed()) as rf:
            assert (len(view), view.document_ids()) == (len(rf), rf.document_ids())
            assert view.info["documents"] == rf.info["documents"]
            assert {d.id: d for d in view.documents()} == {d.id: d for d in rf.documents()}
            for options in ASKED if len(rf) else ():
                assert answers(view, options) == answers(rf, options), options
            assert view.broken_links() == rf.broken_links()
            assert view.rows.spelled("w", 0) == rf.rows.spelled("w", 0) if len(rf) else True
            for hidden in set(whole.document_ids()) - set(rf.document_ids()):
                assert view.document(hidden) is None
                assert view.row(f"{hidden}#0") is None


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A view, and a file of the documents that it shows."""
    folder = tmp_path_factory.mktemp("restricted")
    layers, one = paths(folder, 3), str(folder / "one.ragfile")
    random_history(random.Random(9), layers, one)
    with ragfile.open(one, embedder=Hashed()) as whole:
        path = fresh(folder / "fresh.ragfile", whole, FILTERS[0])
        with ragfile.open(path, embedder=Hashed()) as rf:
            yield Restricted(whole, FILTERS[0]), rf


# Names that lead to bytes of the file, which a view refuses; `read` takes numbers of rows.
HELD_BACK = {
    "info", "raw", "section", "lookup", "entries", "rows_in", "has_lost_commit", "signatures",
    "stale_records", "read",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", sorted(surface.SAME.keys() - ITS_OWN.keys() - HELD_BACK))
def test_what_a_name_says_is_what_a_file_without_the_others_says(pair, name):
    if name in ("to_arrow", "to_pandas"):
        pytest.importorskip("pyarrow" if name == "to_arrow" else "pandas")
    view, rf = pair
    found = []
    for one in (view, rf):
        try:
            found.append(surface.SAME[name](one))
        except (
            KeyError,
            ValueError,
            IndexError,
            AttributeError,
            TypeError,
            StopIteration,
        ) as error:
            found.append((type(error), str(error).replace(one.path, "")))
    mine, theirs = found
    assert mine.equals(theirs) if hasattr(mine, "equals") else mine == theirs


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", surface.SINGLE)
def test_an_option_gives_the_bits_of_a_file_without_the_others(pair, name):
    view, rf = pair
    for value in surface.OPTIONS[name]:
        options = {"k": 6, name: value}
        assert told(view, options) == told(rf, options)


def told(rf, options):
    try:
        return said(rf, "pod drain w7", options)
    except KeyError as error:
        return str(error).replace(rf.path, "")


def test_the_container_of_a_view_gives_no_bytes(pair):
    view, _ = pair
    members = {name for name in dir(Container) if name[0] != "_"}
    assert members <= set(dir(RestrictedContainer))
    given = {
        "section": ("rag.text",),
        "raw": (0, 9),
        "rows_in": (0, 9),
        "pairs": ("keyword",),
        "lookup": ("x",),
    }
    for name in members - {"config", "info", "path", "strategies"}:
        with pytest.raises(ValueError, match="is open with a filter"):
            member = getattr(view.file, name)
            member(*given.get(name, ()))
    assert view.file.strategies == []
    assert view.info["size"] == 0


def test_a_view_keeps_its_filter_when_it_is_pickled_and_refreshed(tmp_path):
    path = str(tmp_path / "kb.ragfile")
    create(path, [{"id": f"d{n}", "text": f"pod {n}", "metadata": {"n": n}} for n in range(6)])
    with ragfile.open(path, embedder=Hashed()) as whole:
        view = Restricted(whole, {"n": {"$lt": 3}})
        assert view.document_ids() == pickle.loads(pickle.dumps(view)).document_ids()
        assert view.document_ids() == ["d0", "d1", "d2"]
        fixed = view.at_commit()
        change(path, [{"id": "d9", "text": "pod", "metadata": {"n": 0}}], ["d1"])
        change(path, [{"id": "d0", "text": "pod", "metadata": {"n": 7}}], [])
        assert view.refresh()
        assert view.document_ids() == ["d2", "d9"]
        assert fixed.document_ids() == ["d0", "d1", "d2"]
        assert not view.refresh()


def test_an_empty_filter_is_refused(tmp_path):
    path = str(tmp_path / "kb.ragfile")
    create(path, [{"id": "d", "text": "pod"}])
    with ragfile.open(path) as whole, pytest.raises(ValueError, match="hides nothing"):
        Restricted(whole, {})
