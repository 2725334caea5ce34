"""Source code is ranked by its paths and files, too; spec/parts/pipeline.md has the rule."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import code_ranking as oracle

import ragfile
from ragfile import _core, dataset
from ragfile.errors import CorruptError, VersionError
from ragfile.ingest import loaders
from ragfile.ingest.loaders import text_formats

NAMES = ["app", "routes", "HTTPServer2", "test_app", "LoadTest", "index", "__init__", "größe", ".env", "a.min", "x_pb2", "api.d", "ROUTES"]  # fmt: skip
FOLDERS = ["", "src", "tests", "_examples", "core/routing", "vendor", "Examples/deep", "tests_"]
ENDINGS = [".py", ".ts", ".md", ".JSON", "", ".go", ".PY", ".d.ts", "."]
PATHS = st.builds(lambda a, b, c: f"{a}/{b}{c}" if a else b + c, *map(st.sampled_from, (FOLDERS, NAMES, ENDINGS)))  # fmt: skip
QUESTIONS = st.one_of(
    st.sampled_from(["how are routes registered", "HTTPServer", "tests of the app", "", "Größe", "an example", "routing"]),
    st.text(max_size=30),
)  # fmt: skip


@given(
    QUESTIONS,
    st.lists(st.tuples(PATHS | st.text(min_size=1, max_size=12), st.floats(-3, 3)), max_size=40),
)
@example("a b", [("a.py", 1.0), ("a.py", 1.0), ("b.py", 1.0), ("a.py", -0.0)])
@example("x " * 200, [("x/" * 80 + "xYz1" * 40 + ".py", 2.0)])
def test_the_core_ranks_as_the_oracle(question, found):
    found.sort(key=lambda one: -one[1])
    ids = [name.encode("utf-8", "surrogatepass") for name, _ in found]
    scores = [score for _, score in found]
    ranked = [(one.at, one.score) for one in _core.rank_code(question, ids, scores)]
    assert ranked == oracle.ranked(question, ids, scores)


def test_the_suffixes_are_those_of_the_loaders_that_find_definitions():
    found = {suffix for suffix in loaders.suffixes() if has_outline(suffix)}
    assert {suffix.lstrip(".") for suffix in found} == oracle.SUFFIXES
    for suffix in loaders.suffixes():
        assert (
            _core.is_code(f"a/b{suffix}")
            == _core.is_code(f"B{suffix.upper()}")
            == (suffix in found)
        )


def has_outline(suffix):
    one = loaders.loader(loaders.sniff(b"x = 1\n", suffix))
    return getattr(one.parse, "__qualname__", "") == f"{text_formats.code.__name__}.<locals>.parse"


# ------------------------------------------------------------------------------------- whole files

TEXTS = {
    "src/routes.py": "def add(rule):\n    return rule\n" * 60,
    "src/app.py": "def routes_of(app):\n    'Return the registered routes.'\n" * 50,
    "src/config.py": "def load(path):\n    return path\n",
    "tests/test_routes.py": "def test_routes_are_registered():\n    assert routes\n",
    "docs/routes.md": "# Routes\n\nRoutes are registered with a decorator.\n",
    "docs/app.md": "# Applications\n\nAn application has routes and a configuration.\n",
}
ASKED = [
    "how are routes registered",
    "load the configuration",
    "routes_of",
    "test of routes",
    "decorator",
]


def documents(names=tuple(TEXTS)):
    return [{"id": name, "text": TEXTS[name]} for name in names]


def ranking(kb, question, **options):
    hits = kb.search(question, k=20, **options)
    return [(hit.id, hit.score, *hit.scores.values()) for hit in hits]


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    path = tmp_path_factory.mktemp("code") / "kb.ragfile"
    ragfile.build(documents(), path)
    return path


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
@pytest.mark.parametrize("question", ASKED)
def test_an_answer_is_the_oracles_ranking_of_all_candidates(
    repository, mode, question, monkeypatch
):
    with ragfile.open(repository) as kb:
        found = ranking(kb, question, mode=mode)
        monkeypatch.setattr("ragfile.search.retrieval.Retrieval.ranks_code", lambda *_: False)
    with ragfile.open(repository) as kb:
        plain = kb.search(question, k=20, mode=mode)
    ids = [hit.doc_id.encode() for hit in plain]
    expected = oracle.ranked(question, ids, [hit.score for hit in plain])
    assert [(name, score) for name, score, *_ in found] == [
        (plain[i].id, score) for i, score in expected
    ]
    assert [rest for _, _, *rest in found] == [list(plain[i].scores.values()) for i, _ in expected]


def test_a_file_named_like_the_question_comes_before_its_test_and_before_more_of_one_file(
    repository,
):
    with ragfile.open(repository) as kb:
        hits = kb.search("how are routes registered", k=10)
    names = [hit.doc_id for hit in hits]
    assert names.index("src/routes.py") < names.index("tests/test_routes.py")
    assert len(set(names[:3])) == 3


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_segments_and_batches_give_the_bits_of_one_file(repository, tmp_path, mode):
    many, names = tmp_path / "many.ragfile", sorted(TEXTS)
    ragfile.build(documents(names[:1]), many)
    for name in names[1:]:
        with ragfile.edit(many) as w:
            w.upsert(documents([name]))
    with ragfile.open(repository) as one, ragfile.open(many) as several:
        expected = [ranking(one, question, mode=mode) for question in ASKED]
        assert [ranking(several, question, mode=mode) for question in ASKED] == expected
        batch = one.search_batch(ASKED, 20, mode=mode)
    assert [[(h.id, h.score, *h.scores.values()) for h in hits] for hits in batch] == expected


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_shards_give_the_bits_of_one_file(tmp_path, mode):
    folder = tmp_path / "repository"
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    ragfile.build(folder, tmp_path / "kb.ragfile")
    dataset.build(folder, tmp_path / "shards", shards=3)
    with ragfile.open(tmp_path / "kb.ragfile") as one, ragfile.open(tmp_path / "shards") as many:
        assert many.file.config["code"] == 1
        for question in ASKED:
            assert ranking(many, question, mode=mode) == ranking(one, question, mode=mode)


def test_layers_give_the_bits_of_one_file(repository, tmp_path):
    low, high, names = tmp_path / "low.ragfile", tmp_path / "high.ragfile", sorted(TEXTS)
    ragfile.build(documents(names[:2]), low)  # documentation
    ragfile.build(documents(names[2:]), high)
    with ragfile.open(repository) as one, ragfile.open([low, high]) as several:
        for question in ASKED:
            assert ranking(several, question) == ranking(one, question)


def config_of(path):
    with ragfile.open(path) as kb:
        return dict(kb.file.config)


def test_prose_records_no_ranking_and_a_file_without_the_record_ranks_as_before(tmp_path):
    path = tmp_path / "prose.ragfile"
    ragfile.build(documents(["docs/app.md", "docs/routes.md"]), path)
    assert "code" not in config_of(path)
    with ragfile.edit(path) as w:
        w.upsert(documents(["src/app.py"]))
    assert config_of(path)["code"] == 1
    with ragfile.edit(path) as w:
        w.delete(["src/app.py"])
    ragfile.compact(path)
    assert "code" not in config_of(path)


def test_vectors_only_and_passages_alike_are_not_ranked_again(repository, monkeypatch):
    def answers():
        with ragfile.open(repository) as kb:
            row = kb.search("routes", k=1)[0].id
            return ranking(kb, "routes", mode="vector"), ranking(kb, "", similar_to=row)

    found = answers()
    monkeypatch.setattr("ragfile.search.retrieval.Retrieval.ranks_code", lambda *_: False)
    assert answers()[0] == found[0]


@pytest.mark.parametrize(
    ("value", "error"),
    [(2, VersionError), (0, CorruptError), ("1", CorruptError), (True, CorruptError)],
)
def test_an_unknown_rule_is_refused(value, error):
    from ragfile.file.config import read_config

    with pytest.raises(error, match=r"source code|'code'"):
        read_config(json.dumps({"code": value}).encode(), "kb.ragfile")


def test_pages_join_and_repeats_and_diversity_keep_the_ranking(repository):
    with ragfile.open(repository) as kb:
        whole = [one[0] for one in ranking(kb, ASKED[0])]
        pages = [hit.id for at in range(0, 20, 5) for hit in kb.search(ASKED[0], k=5, offset=at)]
        assert pages == whole[: len(pages)]
        kept = [one[0] for one in ranking(kb, ASKED[0], drop_repeats=True)]
    assert kept == [name for name in whole if name in set(kept)]


def test_scores_that_are_not_positive_keep_their_ranking():
    found = _core.rank_code("routes", [b"a.py", b"routes.py"], [-1.0, -2.0])
    assert [(one.at, one.score) for one in found] == [(0, -1.0), (1, -2.0)]
    assert _core.rank_code("routes", [], []) == []
    with pytest.raises(ValueError, match="an id and a score"):
        _core.rank_code("routes", [b"a.py"], [])


def test_rows_without_a_segment_are_refused(repository):
    with ragfile.open(repository) as kb:
        rows = np.array([[10_000]], np.int64)
        with pytest.raises((ValueError, IndexError)):
            kb.rows.rank_code(["a"], rows, np.ones((1, 1)))


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_explanations_have_the_terms_of_source_code(repository, mode):
    with ragfile.open(repository) as kb:
        for rank, hit in enumerate(kb.search("how are routes registered", k=20, mode=mode), 1):
            found = kb.explain("how are routes registered", hit.id, mode=mode)
            assert (found.rank, found.score) == (rank, hit.score)
            assert bool(found.code) == hit.doc_id.endswith(".py")
            if found.code:
                fused, path, file, prior, discount = found.code.values()
                assert (max(fused, 0) + (path + file)) * prior * discount == hit.score
                assert "discount" in str(found)
