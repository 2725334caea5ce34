"""Annotations of public names resolve at run time, for FastAPI, pydantic and programs like them."""

import importlib.util
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Any

import pytest
from places import ROOT

import ragfile
from ragfile import dataset

OPTIONAL = {
    "to_arrow",
    "to_dataset",
    "to_pandas",
    "to_networkx",
}  # methods whose results are of pyarrow and pandas
SPECIAL = {"__init__", "__enter__", "__exit__", "__iter__", "__len__", "__getitem__"}


def function_of(member: Any) -> Any:
    """Return the function inside a property, a class method or a cached property."""
    for name in ("__func__", "fget", "func"):
        member = getattr(member, name, member)
    return member


def annotated() -> Iterator[Any]:
    """Yield a parameter for each public function, class and public method."""
    names = {name: getattr(ragfile, name) for name in ragfile.__all__}
    names |= {f"dataset.{name}": getattr(dataset, name) for name in dataset.__all__}
    for name, thing in names.items():
        yield pytest.param(thing, id=name)
        for attribute in dir(thing) if isinstance(thing, type) else ():
            function = function_of(inspect.getattr_static(thing, attribute))
            is_ours = inspect.isfunction(function) and function.__module__.startswith("ragfile")
            is_public = not attribute.startswith("_") or attribute in SPECIAL
            if is_ours and is_public and attribute not in OPTIONAL:
                yield pytest.param(function, id=f"{name}.{attribute}")


@pytest.mark.parametrize("thing", list(annotated()))
def test_annotations_resolve(thing: Any) -> None:
    typing.get_type_hints(thing)


def test_hints_are_the_types_that_checkers_see() -> None:
    np = pytest.importorskip("numpy")
    hints = typing.get_type_hints(ragfile.Hit)
    assert hints["metadata"] == dict[str, Any]
    assert hints["tags"] == tuple[str, ...]
    vector = function_of(inspect.getattr_static(ragfile.Hit, "vector"))
    hint = typing.get_type_hints(vector)["return"]
    assert hint == np.typing.NDArray[np.floating[Any]] | None
    assert (
        typing.get_type_hints(ragfile.KnowledgeBase.document)["return"] == ragfile.Document | None
    )


@pytest.mark.parametrize("module", ["records", "types"])
def test_numpy_loads_only_when_an_annotation_is_resolved(module: str) -> None:
    code = f"import sys, ragfile.{module}; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def needs(package: str) -> Any:
    return pytest.mark.skipif(
        importlib.util.find_spec(package) is None, reason=f"{package} is not installed"
    )


@pytest.fixture
def hits(tmp_path: Any) -> Iterator[ragfile.Hits]:
    documents = [{"id": name, "text": f"passage {name}", "metadata": {"year": 1}} for name in "ab"]
    ragfile.build(documents, tmp_path / "kb.ragfile")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        yield rf.search("passage", 2)


RECORDS = [
    ragfile.Answer, ragfile.BuildReport, ragfile.Candidate, ragfile.Chunk, ragfile.Citation,
    ragfile.Document, ragfile.Hit, ragfile.Limits, ragfile.Model, ragfile.Policy, ragfile.Signature,
    ragfile.Span, ragfile.SyncReport,
]  # fmt: skip


@needs("pydantic")
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_pydantic_makes_a_schema_of_a_record(record: type) -> None:
    from pydantic import TypeAdapter

    schema = TypeAdapter(list[record]).json_schema()  # type: ignore[valid-type]
    assert schema["type"] == "array"


@needs("pydantic")
def test_pydantic_writes_and_reads_hits(hits: ragfile.Hits) -> None:
    from pydantic import TypeAdapter

    adapter = TypeAdapter(list[ragfile.Hit])
    assert adapter.validate_json(adapter.dump_json(hits)) == list(hits)


@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=needs(name)) for name in ("polars", "pandas")]
)
def test_hits_make_a_data_frame(hits: ragfile.Hits, library: str) -> None:
    frame = importlib.import_module(library).DataFrame(hits)
    assert list(frame["doc_id"]) == [hit.doc_id for hit in hits]
    assert list(frame["score"]) == [hit.score for hit in hits]


@pytest.fixture(scope="module")
def own_jedi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield jedi with a cache of its own: processes that share one read half-written files."""
    import jedi

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jedi.settings, "cache_directory", str(tmp_path_factory.mktemp("jedi")))
        yield jedi


@needs("jedi")
@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("ragfile.open('x').sea", "search"),
        ("ragfile.open('x').search('q')[0].doc", "doc_id"),
        ("ragfile.build('x').skip", "skipped"),
    ],
)
def test_an_editor_completes(own_jedi: Any, program: str, name: str) -> None:
    script = own_jedi.Script(f"import ragfile\n{program}", project=own_jedi.Project(ROOT))
    found = script.complete()
    assert name in {completion.name for completion in found}
