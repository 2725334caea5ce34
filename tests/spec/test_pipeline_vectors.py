"""The specification's vectors for the pipeline: the library gives every expected value, to the last bit."""

import hashlib
import importlib.util
import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from places import ROOT

from ragfile.file.filters import Dicts, compile
from ragfile.ingest.chunker import Policy, split
from ragfile.records import Candidate, Document, Segment
from ragfile.search.fusion import fuse
from ragfile.text import normalize

VECTORS = ROOT / "spec" / "vectors" / "pipeline"
SEARCHES = ("search.json", "evidence.json")


def load_derivation():
    spec = importlib.util.spec_from_file_location("derive", VECTORS / "derive.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SLOW = load_derivation()


def read(name):
    return json.loads((VECTORS / f"{name}.json").read_text())


@pytest.mark.parametrize("case", read("normalization"), ids=lambda case: ascii(case["raw"]))
def test_normalisation_equals_the_vectors(case):
    normalized = normalize(case["raw"])
    assert normalized.text == case["text"]
    for start, end, raw_start, raw_end in case["spans"]:
        assert normalized.raw_span(start, end) == (raw_start, raw_end)


@pytest.mark.filterwarnings("ignore:chunks of")
@pytest.mark.parametrize(
    "case", read("chunks"), ids=lambda case: "-".join(map(str, case["policy"].values()))
)
def test_chunks_equal_the_vectors(case):
    for version in (1, 2):
        policy = Policy.of({**case["policy"], "version": version})
        assert cut(Document("d", normalize(case["text"]).text), policy) == case["chunks"]


@pytest.mark.parametrize("case", read("sections_3"), ids=lambda case: str(case["policy"]["size"]))
def test_sections_equal_the_vectors(case):
    said = dict(case.get("document", {"id": "d"}))
    segments = [Segment(**segment) for segment in said.pop("segments", [])]
    document = Document(**said, text=normalize(case["text"]).text, segments=segments)
    assert cut(document, Policy.of(case["policy"])) == case["chunks"]


def cut(document, policy):
    """What the vectors say of each chunk."""
    return [
        {
            "start": c.start,
            "end": c.end,
            "headers": c.metadata.get("headers", ""),
            "content": c.content,
        }
        for c in split(document, policy)
    ]


@pytest.mark.parametrize(
    "case", read("fusion"), ids=lambda case: f"{case['method']} {case['params']}"
)
def test_fusion_equals_the_vectors_to_the_last_bit(case):
    sets = [[Candidate(content="", **candidate) for candidate in leg] for leg in case["sets"]]
    fused = fuse(sets, case["method"], case["params"])
    assert [
        {"doc_id": c.doc_id, "chunk_index": c.chunk_index, "score": c.score} for c in fused
    ] == case["fused"]


FILTERS = read("filters")


@pytest.mark.parametrize("case", FILTERS["filters"], ids=lambda case: json.dumps(case["where"]))
def test_filters_equal_the_vectors(case):
    assert (
        np.flatnonzero(compile(case["where"]).mask(Dicts(FILTERS["rows"]))).tolist() == case["rows"]
    )


@pytest.mark.parametrize("case", FILTERS["tag_filters"], ids=json.dumps)
def test_tags_equal_the_vectors(case):
    arguments = {k: v for k, v in case.items() if k != "rows"}
    columns = Dicts([{}] * len(FILTERS["tags"]), FILTERS["tags"])
    assert np.flatnonzero(compile(**arguments).mask(columns)).tolist() == case["rows"]


@pytest.mark.parametrize("where", FILTERS["refused"], ids=json.dumps)
def test_filters_without_a_meaning_are_refused(where):
    with pytest.raises(ValueError, match=r".+"):
        compile(where)


PIECES = [*"abc  \n\n.#=-日é", "x" * 30, ". ", "# ", "\n## ", "\n```\n"]
PROSE = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)


@pytest.mark.filterwarnings("ignore:chunks of")
@pytest.mark.parametrize("kind", ["characters", "words", "markdown"])
@given(PROSE, st.integers(1, 60), st.data())
def test_chunks_equal_those_of_the_slow_derivation(kind, raw, size, data):
    text, overlap = normalize(raw).text, data.draw(st.integers(0, size - 1))
    found = [
        (c.start, c.end, c.metadata.get("headers", ""))
        for c in split(Document("d", text), Policy(kind, size, overlap, 2))
    ]
    assert found == getattr(SLOW, kind)(text, size, overlap)


BLOCKS = st.lists(
    st.sampled_from([*PIECES, "|", "\n| a\n", " ~~~\n", "### b\n", "\n# c\n"]), max_size=80
)


@pytest.mark.filterwarnings("ignore:chunks of")
@given(BLOCKS.map("".join), st.integers(1, 60), st.data())
def test_joined_sections_equal_those_of_the_slow_derivation(raw, size, data):
    text, overlap = normalize(raw).text, data.draw(st.integers(0, size - 1))
    chunks = split(Document("d", text), Policy("markdown", size, overlap))
    found = [(c.start, c.end, c.metadata.get("headers", "")) for c in chunks]
    assert found == SLOW.markdown_3(text, size, overlap)


def test_the_vectors_are_what_their_derivation_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(SLOW, "HERE", tmp_path)
    SLOW.main()
    names = sorted(path.name for path in tmp_path.glob("*.json"))
    assert names == sorted(
        path.name for path in VECTORS.glob("*.json") if path.name not in SEARCHES
    )
    assert all((tmp_path / name).read_bytes() == (VECTORS / name).read_bytes() for name in names)


def test_the_vectors_are_those_that_were_pinned():
    header, *lines = (VECTORS / "SHA256SUMS").read_text().splitlines()
    assert header == f"# part 6, version {SLOW.VERSION}"
    pinned = dict(reversed(line.split("  ")) for line in lines)
    assert pinned == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in VECTORS.glob("*.json")
    }


def test_a_vector_that_would_change_is_refused_unless_the_version_moves(tmp_path, monkeypatch):
    monkeypatch.setattr(SLOW, "HERE", tmp_path)
    SLOW.main()
    before = (tmp_path / "chunks.json").read_bytes()
    with pytest.raises(SystemExit, match="version of part 6"):
        SLOW.write("chunks.json", "[]\n")
    assert (tmp_path / "chunks.json").read_bytes() == before
    monkeypatch.setattr(SLOW, "VERSION", "1.1")
    SLOW.write("chunks.json", "[]\n")
    assert (tmp_path / "SHA256SUMS").read_text().startswith("# part 6, version 1.1\n")


@pytest.mark.parametrize(("name", "share"), [("search.json", 0.0), ("evidence.json", 0.05)])
def test_the_golden_searches_are_those_of_the_slow_search(name, share):
    from oracles import search_cases as search_oracle

    assert json.loads((VECTORS / name).read_text()) == json.loads(
        json.dumps(search_oracle.SLOW.golden(share))
    )


@pytest.mark.parametrize(("name", "count"), [("search.json", 50), ("evidence.json", 10)])
def test_the_library_answers_the_golden_searches(name, count):
    from ragfile.conformance import _searches

    outcomes = list(_searches(json.loads((VECTORS / name).read_text())))
    assert len(outcomes) == count
    assert all(outcomes)
