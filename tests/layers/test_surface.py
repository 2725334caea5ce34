"""Every public name and every option of a question over layers: what one file says, in which they were upserted.

The table of names and options is that of datasets (tests/shards/test_surface.py). The layers below are a
file, two files, a dataset, and a file behind a URL.
"""

import contextlib
import itertools

import pytest
from servers.range_server import RangeServer
from shards import collections
from shards import test_surface as surface

import ragfile
from ragfile import dataset
from ragfile.knowledge_base import KnowledgeBase

QUESTIONS, told = collections.QUESTIONS, collections.told
# Names whose values belong to one file, and why.
ITS_OWN = {
    "generation": "the sum of the layers' generations",
    "count": "rows of hidden documents are numbered, too",
    "flags": "one for each of these rows",
    "vector_mask": "one for each of these rows",
    "strategies": "those of all layers",
    "config": "the lowest layer's, without what the commits after it record",
    "pairs": "are those of one file: ValueError",
    "sample_statistics": "the sample is that of the lowest layer",
    "passages": "numbers of rows",
    "verify": "counts the sections of all layers",
    "vectors": "also of rows that are deleted",
    "to_dataset": "numbers of rows",
    "check_live": "numbers of rows",
    "is_elsewhere": "whether a layer is behind a URL",
}


def page(name, text, **metadata):
    return {"id": name, "text": text, "metadata": metadata, "source": name}


UPSERTED = [
    page("a/d001.md", "The pod was drained, and w7 with it.", year=2003, kind="k1"),
    page("a/d007.md", "the same text about a pod and a node", year=2016),
    page("new.md", "A node of the new cluster drains w1 w2 w3.", year=2021, nested={"a": 1}),
]
DELETED = ["a/d002.md", "b/d003.md"]
AGAIN = [page("new.md", "A newer node with w5.", year=2022), page("b/d006.md", "pod pod pod")]


def change(target, upserts, deletions):
    with ragfile.edit(target) as writer:
        writer.delete(deletions)
        writer.upsert(upserts)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    sources = collections.write(folder / "in", 45)
    path = str(folder / "base.ragfile")
    ragfile.build(str(sources), path)
    return path


@pytest.fixture(scope="module")
def one(base, tmp_path_factory):
    """A file in which the upper layers were upserted."""
    path = tmp_path_factory.mktemp("one") / "one.ragfile"
    with open(base, "rb") as file:
        path.write_bytes(file.read())
    change(path, UPSERTED, DELETED)
    change(path, AGAIN, ["a/d001.md"])
    with ragfile.open(path) as rf:
        yield rf


@pytest.fixture(scope="module")
def started():
    """Servers that end after the tests."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module", params=["two files", "three files", "dataset", "URL"])
def view(request, base, started, tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    below = [base]
    if request.param == "dataset":
        below = [str(folder / "shards")]
        dataset.convert(base, below[0], shards=3)
    if request.param == "URL":
        pytest.importorskip("httpx2", reason="the http extra is not installed")
        with open(base, "rb") as file:
            server = RangeServer({"base": file.read()})
        below = [started.enter_context(server).url("base")]
    layers = [*below, str(folder / "middle.ragfile")]
    change(layers, UPSERTED, DELETED)
    if request.param == "three files":
        layers.append(str(folder / "top.ragfile"))
    change(layers, AGAIN, ["a/d001.md"])
    with ragfile.open(layers) as rf:
        yield rf


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", sorted(surface.SAME.keys() - ITS_OWN.keys()))
def test_what_a_name_says_is_what_one_file_says(one, view, name):
    if name in ("to_arrow", "to_pandas"):
        pytest.importorskip("pyarrow" if name == "to_arrow" else "pandas")
    mine, theirs = surface.SAME[name](view), surface.SAME[name](one)
    assert mine.equals(theirs) if name == "to_arrow" else mine == theirs


def said(rf, question, options):
    """What is said, or why nothing is, in words of one file."""
    try:
        return told(rf.search(question, **options))
    except (ValueError, TypeError) as error:
        return type(error), str(error).replace(rf.path, "")


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", surface.SINGLE)
def test_an_option_gives_the_bits_of_one_file(one, view, name):
    for value, question in itertools.product(surface.OPTIONS[name], QUESTIONS[:4]):
        options = {"k": 6, name: value}
        assert said(view, question, options) == said(one, question, options), (question, value)


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
def test_options_in_pairs_give_the_bits_of_one_file(one, view):
    for first, second in itertools.combinations(surface.SINGLE, 2):
        if {first, second} & {"threads", "request_id", "cache", "k"}:
            continue
        options = {first: surface.OPTIONS[first][0], second: surface.OPTIONS[second][-1]}
        assert said(view, "pod drain w7", options) == said(one, "pod drain w7", options), options


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", sorted(surface.parameters(KnowledgeBase.search_batch)))
def test_an_option_of_a_batch_gives_the_bits_of_one_file(one, view, name):
    if name == "columns":
        assert surface.columns(view) == surface.columns(one)
        return
    for value in surface.OPTIONS[name]:
        mine, theirs = (rf.search_batch(QUESTIONS, **{"k": 6, name: value}) for rf in (view, one))
        assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]


def test_answers_and_their_citations_are_those_of_one_file(one, view):
    for question in ("How is a pod drained?", "Which node is newer?", "w5?"):
        mine, theirs = (rf.ask(question, model=None, k=5) for rf in (view, one))
        assert mine.text == theirs.text
        assert [c.to_dict() for c in mine.citations] == [c.to_dict() for c in theirs.citations]


CODE = """def {name}_{n}(items):
    \"\"\"Count the {name} of all items.\"\"\"
    return sum({name} for item in items if item.{name} > {n})
"""


def write_code(folder, numbers, word):
    for n in numbers:
        path = folder / ("store" if n % 2 else "parse") / f"{word}_{n}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "import os\n\n\n" + CODE.format(name=word, n=n) + CODE.format(name="tally", n=n)
        )
    (folder / "guide.md").write_text(f"# {word}\n\n" + f"How {word} and tally are counted.\n\n" * 9)


def test_source_code_is_ranked_as_in_one_file(tmp_path):
    """By the names of files and folders, and by evidence of a document's further passages."""
    write_code(tmp_path / "old", range(12), "widget")
    write_code(tmp_path / "new", range(9, 15), "widget")
    base, mine, one = (str(tmp_path / f"{name}.ragfile") for name in ("base", "mine", "one"))
    ragfile.build(tmp_path / "old", base)
    ragfile.build(tmp_path / "new", mine)
    ragfile.build(tmp_path / "old", one)
    ragfile.add(one, tmp_path / "new", replace=True)
    questions = ["widget_11", "count widget in store", "parse tally", "how is widget counted?", "import os"]  # fmt: skip
    with ragfile.open([base, mine]) as view, ragfile.open(one) as rf:
        assert view.document_ids() == rf.document_ids()
        for question in questions:
            for options in (
                {},
                {"group": 2},
                {"mode": "bm25"},
                {"where": ["store/widget_11.py", "guide.md"]},
            ):
                assert said(view, question, options) == said(rf, question, options)
