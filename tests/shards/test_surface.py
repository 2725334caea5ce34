"""The whole surface of an open file over datasets: a table with a line for every public name and every option of a question.

A name or an option that is new needs a line here: what it says must be what one file says, or there is a reason.
"""

import inspect
import itertools

import numpy as np
import pytest
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.answer.ask_options import AskOptions
from ragfile.file.container import Container
from ragfile.file.stored_rows import StoredRows
from ragfile.knowledge_base import KnowledgeBase
from ragfile.search.question import Notes
from ragfile.search.rows_protocol import SearchedRows
from ragfile.shards import task_runner
from ragfile.shards.container import DatasetContainer
from ragfile.shards.dataset_rows import DatasetRows
from ragfile.shards.open_dataset import Dataset
from ragfile.shards.snapshot import DatasetSnapshot

QUESTIONS, told = collections.QUESTIONS, collections.told
DOC = "a/d004.md"
NEAR = np.arange(256, dtype=np.float32) - 100


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return str(collections.write(tmp_path_factory.mktemp("sources"), 45))


@pytest.fixture(
    scope="module",
    params=[("range", None), ("hash", None), ("hash", collections.OneByOne())],
    ids=["range", "hash", "hash-one-by-one"],
)
def kb(request, sources, tmp_path_factory):
    out = tmp_path_factory.mktemp("kb")
    by, executor = request.param
    dataset.build(sources, out, shards=5, by=by)
    with ragfile.open(out, executor=executor) as rf:
        yield rf


def names(rf, rows):
    return [rf.hit(row).id for row in np.ravel(rows).tolist() if row >= 0]


def by_name(rf, mask):
    return {rf.hit(row).id for row in np.flatnonzero(mask).tolist()}


def explained(rf, name, **options):
    """What does not depend on the numbers that rows have."""
    said = rf.explain(QUESTIONS[0], name, 5, **options).to_dict()
    return {key: value for key, value in said.items() if key != "row"}


def answered(rf, **options):
    said = rf.ask("pod drain?", model=None, k=4, **options)
    return said.text, [(c.start, c.end, c.number) for c in said.citations]


def asked(rf, where=None):
    return rf.as_tool(k=3)[1](QUESTIONS[0], where=where)


def in_order(rf):
    """The names of all rows, in their order among equal scores."""
    rows = np.asarray(rf.live_rows())
    return names(rf, rows[np.argsort(rf.rows.ties_each([rows], Notes())[0])])


def columns(rf):
    found = rf.search_batch(QUESTIONS, 5, columns=True)
    parts = {name: part.tobytes() for name, part in found.parts.items()}
    return found.ids, found.scores.tobytes(), parts, [told(found.hits(i)) for i in range(3)]


# What a file says, by the public name that says it.
SAME = {
    "search": lambda rf: told(rf.search("pod drain", 5)),
    "search_batch": columns,
    "ask": answered,
    "as_tool": asked,
    "explain": lambda rf: [explained(rf, f"{DOC}#0", mode=m) for m in ("hybrid", "bm25", "vector")],
    "highlights": lambda rf: rf.highlights("pods drained w7", rf.row(f"{DOC}#0")),
    "excerpt": lambda rf: rf.excerpt("pods drained w7", rf.row(f"{DOC}#0"), 60),
    "match": lambda rf: [names(rf, rf.match("pod", k)[0]) for k in (4, None)],
    "nearest": lambda rf: rf.nearest(NEAR, None, min_score=0.02)[1].tobytes(),
    "score": lambda rf: rf.score([rf.row(f"{DOC}#0")], text="pod node").tobytes(),
    "scores_of": lambda rf: rf.rows.scores_of(np.array([rf.row(f"{DOC}#0")]), vector=NEAR).tobytes(),
    "mask": lambda rf: [by_name(rf, rf.rows.mask(w)) for w in collections.FILTERS[1:]],
    "select": lambda rf: names(rf, rf.match("pod", 9, where=rf.rows.select({"year": 2003}))[0]),
    "hit": lambda rf: rf.hit(rf.row(f"{DOC}#0")),
    "chunk": lambda rf: rf.chunk(rf.row(f"{DOC}#0")),
    "metadata_of": lambda rf: rf.rows.metadata_of(rf.row(f"{DOC}#0")),
    "vector": lambda rf: rf.vector(rf.row(f"{DOC}#0")).tobytes(),
    "row": lambda rf: rf.row("nobody#0"),
    "find": lambda rf: rf.rows.find(DOC).read(),
    "document": lambda rf: rf.document(DOC),
    "documents": lambda rf: sorted(d.id for d in rf.documents()),
    "document_ids": lambda rf: rf.document_ids(),
    "sources": lambda rf: rf.sources([f"{DOC}#0", "nobody#0"]),
    "context": lambda rf: rf.context(f"{DOC}#0", 9, 9),
    "live_rows": lambda rf: len(rf.live_rows()),
    "ties_each": in_order,
    "vectors_of": lambda rf: rf.rows.vectors_of([rf.row(f"{DOC}#0")]).tobytes(),
    "vector_mask": lambda rf: rf.vector_mask().tolist(),
    "has_bare_rows": lambda rf: rf.rows.has_bare_rows,
    "vectors": lambda rf: sorted(row.tobytes() for row in rf.vectors()),
    "has_vectors": lambda rf: rf.rows.has_vectors,
    "has_bm25": lambda rf: rf.rows.has_bm25,
    "has_values_at": lambda rf: [rf.rows.has_values_at(path) for path in ("year", "yeer", "nested.a")],
    "has_lost_commit": lambda rf: rf.file.has_lost_commit,
    "sample_statistics": lambda rf: rf.rows.sample_statistics(NEAR),
    "fusion_method": lambda rf: rf.rows.fusion_method,
    "has_names": lambda rf: rf.rows.has_names,
    "has_sparse": lambda rf: rf.rows.has_sparse,
    "rarest": lambda rf: rf.rows.rarest(["pod drain", "zzz", "w7"], Notes()),
    "first_rows": lambda rf: names(rf, rf.rows.first_rows(np.array([rf.row(f"{DOC}#0")]), Notes())),
    "names_each": lambda rf: [
        (name, names(rf, sorted(rows))) for name, rows in rf.rows.names_each(["W7 node, Pod w1"], Notes())[0]
    ],
    "has_further_passages": lambda rf: rf.rows.has_further_passages,
    "passages": lambda rf: sorted(rf.rows.passages().ids([3, 7]).values()) and None,
    # numbers of rows are a dataset's own
    "to_arrow": lambda rf: rf.to_arrow().sort_by("node_id").drop_columns("row"),
    "to_dataset": lambda rf: rf.to_dataset().to_table().sort_by("node_id").drop_columns("row"),
    "to_pandas": lambda rf: sorted(rf.to_pandas()["node_id"]),
    "strategies": lambda rf: sorted(rf.file.strategies),
    "dim": lambda rf: rf.rows.dim,
    "config": lambda rf: {n: v for n, v in rf.file.config.items() if n != "first_generation"},
    "generation": lambda rf: rf.generation,
    "stale_records": lambda rf: rf.file.stale_records,
    "embedder": lambda rf: type(rf.embedder),
    "lookup": lambda rf: rf.file.lookup("pod"),
    "pairs": lambda rf: sorted(vector.tobytes() for vector, _ in rf.file.pairs("vector")),
    "columns": lambda rf: sorted(rf.rows.columns.names),
    "at_commit": lambda rf: told(rf.at_commit().search("w1 w2", 3)),
    "refresh": lambda rf: rf.refresh(),
    "verify": lambda rf: rf.file.verify()[0],
    "lexicon": lambda rf: rf.rows.lexicon.terms("running pods"),
    "alive": lambda rf: rf.rows.alive(np.ones(rf.rows.count, bool)).sum(),
    "analysis": lambda rf: rf.rows.analysis,
    "signatures": lambda rf: rf.file.signatures,
    "live": lambda rf: rf.rows.live,
    "count": lambda rf: rf.rows.count,
    "flags": lambda rf: rf.rows.flags(rf.rows.select({"year": 2003}), Notes()).sum(),
    "listing": lambda rf: by_name(rf, rf.rows.listing("pod", Notes())),
    "queries": lambda rf: rf.rows.queries(["pod drain"]).terms(),
    "statistics_of": lambda rf: rf.rows.statistics_of("pod drain"),
    "spelled": lambda rf: rf.rows.spelled("no", 0),
    "looked_at": lambda rf: list(rf.rows.looked_at("contents", [rf.row(f"{DOC}#0")]).values()),
    "vector_or_nan": lambda rf: rf.rows.vector_or_nan(rf.row(f"{DOC}#0")).tobytes(),
    "read": lambda rf: rf.rows.read(rf.row(f"{DOC}#0"), "whole"),
    "live_mask": lambda rf: rf.rows.live_mask.sum(),
    "check_live": lambda rf: rf.rows.check_live(np.arange(3)),
    "check_unchanged": lambda rf: rf.rows.check_unchanged(),
}  # fmt: skip
# What is another thing for many files than for one, and why.
OTHER = {
    "asearch": "search in a thread",
    "sparse_best": "of search, compared in tests/search/test_sparse_weights.py",
    "sparse_scores": "of search, compared there, too",
    "linked_each": "of search, compared in tests/search/test_named_pages.py",
    "asearch_batch": "search_batch in a thread",
    "aask": "ask in a thread",
    "close": "ends it",
    "file": "is a container, of which the members are here",
    "rows": "are the rows, of which the members are here",
    "path": "is its own",
    "reader": "has none: ValueError",
    "hybrid": "is what search asks",
    "named_pages": "is None: shards are asked step by step",
    "least": "is what explain asks",
    "rank_code": "is what search asks",
    "hits": "are what search returns",
    "are_apart": "is how questions with a filter each are asked",
    "segments": "are those of all shards",
    "live_place": "numbers of rows are a dataset's own",
    "compaction": "is about the bytes of a file",
    "info": "has its own fields",
    "entries": "count in their shards",
    "section": "is of a shard",
    "segment_columns": "are those of all shards",
    "strategy": "is of a file's section",
    "is_sealed": "is of a file's bytes",
    "is_elsewhere": "is also true of shards that another engine asks",
    "chunks_of": "takes a document of a segment",
    "place": "numbers of rows are a dataset's own",
    "rows_in": "divides rows, not bytes",
    "raw": "has no bytes of its own: ValueError",
    "footer": "has none: ValueError",
    "links": "is compared in tests/graph",
    "backlinks": "is compared in tests/graph",
    "broken_links": "is compared in tests/graph",
    "graph": "is compared in tests/graph",
}


def public(kind):
    return {name for name in dir(kind) if not name.startswith("_")}


def members(kind):
    return public(kind) | {n for n in kind.__annotations__ if not n.startswith("_")}


def test_every_public_name_has_a_line():
    kinds = KnowledgeBase, SearchedRows, StoredRows, Container
    named = set().union(*map(members, kinds)) | {"fusion_method"}
    assert named - {"counters"} | {"mask"} == SAME.keys() | OTHER.keys()


def test_a_dataset_has_what_a_file_has():
    assert members(SearchedRows) | members(StoredRows) <= members(DatasetRows) | {
        "path", "config", "generation", "count", "live", "is_elsewhere",
    }  # fmt: skip
    assert public(Container) == public(DatasetContainer)
    assert public(KnowledgeBase) <= public(Dataset)


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", SAME)
def test_what_a_name_says_is_what_one_file_says(one, kb, name):
    is_table = name in ("to_arrow", "to_dataset")
    if is_table or name == "to_pandas":
        pytest.importorskip("pyarrow" if is_table else "pandas")
    mine, theirs = SAME[name](kb), SAME[name](one)
    assert mine.equals(theirs) if is_table else mine == theirs


# Values of every option of a question, beside the ordinary ones.
BOOST = {"field": "year", "weight": 0.3, "reference": 2015, "half_life": 4}
OPTIONS = {
    "k": [0, 1, 1000], "mode": ["vector", "bm25", "keyword"], "where": [*collections.FILTERS[1:], [DOC], ["a/d001.md#0", "nobody"]],
    "tags_any": [["t1", "t2"], ["nobody"]], "tags_all": [["t3"], ["t1", "t2"]], "pool": [0, 1, 7],
    "fusion": ["rrf", "blend", "calibrated", ("rrf", {"rrf_k": 5}), ("blend", {"alpha": 0.2})],
    "fields": [{"headers": 1}, {"headers": 0, "text": 2}, {}],
    "drop_repeats": [True], "offset": [1, 4, 999], "min_score": [0.3, 5.0], "diversity": [0.3, 1.0],
    "boost": [BOOST, [BOOST, {**BOOST, "field": "nested.a", "reference": 1}]], "query_syntax": [True],
    "hops": [0, 2], "threads": [1, 2], "request_id": ["r"], "effort": [1.0, 0.5],
    # of search alone
    "similar_to": [f"{DOC}#0"], "rewrites": [("node cluster", "drain")], "group": [1, 3], "rerank": ["default"], "sparse": [{"fox": 1.5}],
    "vector": [NEAR], "cache": [False],
    # of search_batch alone
    "vectors": [np.tile(NEAR, (len(QUESTIONS), 1))], "columns": [True],
}  # fmt: skip


def parameters(call):
    found = list(inspect.signature(call).parameters)
    return set(found[2:])  # without self and the question


def test_every_option_of_a_question_has_values():
    listed = parameters(KnowledgeBase.search) | parameters(KnowledgeBase.search_batch)
    assert listed == OPTIONS.keys()
    assert parameters(KnowledgeBase.explain) - {"passage"} <= listed
    for name in ("search", "search_batch", "explain", "ask", "match", "nearest", "score"):
        assert parameters(getattr(Dataset, name)) == parameters(getattr(KnowledgeBase, name))


SINGLE = sorted(parameters(KnowledgeBase.search))


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", SINGLE)
def test_an_option_gives_the_bits_of_one_file(one, kb, name):
    for value, question in itertools.product(OPTIONS[name], QUESTIONS[:4]):
        options = {"k": 6, name: value}
        assert refused(kb, question, options) == refused(one, question, options)


def refused(rf, question, options):
    """What is said, or why nothing is."""
    try:
        return told(rf.search(question, **options))
    except (ValueError, TypeError) as error:
        return type(error), str(error).replace(rf.path, "")


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
def test_options_in_pairs_give_the_bits_of_one_file_or_are_refused_as_there(one, kb):
    for first, second in itertools.combinations(SINGLE, 2):
        if {first, second} & {"threads", "request_id", "cache", "k"}:
            continue
        options = {first: OPTIONS[first][0], second: OPTIONS[second][-1]}
        for question in ("pod drain w7", "w1"):
            assert refused(kb, question, options) == refused(one, question, options), options


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("name", sorted(parameters(KnowledgeBase.search_batch) - {"columns"}))
def test_an_option_of_a_batch_gives_the_bits_of_one_file(one, kb, name):
    for value in OPTIONS[name]:
        mine = kb.search_batch(QUESTIONS, **{"k": 6, name: value})
        theirs = one.search_batch(QUESTIONS, **{"k": 6, name: value})
        assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]


@pytest.mark.parametrize(
    "question",
    [
        'w*', 'w1* pod', '+w2* drain', '-w3* pod', 'nod~', 'poe~ w1', 'clister~2', '+drian~ w*', 'zzz*', '+zzz* pod', 'zz~',
        '"same text"', '"pod and a node" w1', '-"the same text" pod', '+pod -drain', '+"a pod" w4*', '日*', 'naive*', '-w* pod', '"the"', '+the pod', '*', '~', '"', 'w1~ w1*',
    ],
)  # fmt: skip
def test_signs_give_the_bits_of_one_file(one, kb, question):
    for mode, fusion in itertools.product(("hybrid", "bm25", "vector"), (None, "rrf", "blend")):
        options = {"mode": mode, "fusion": fusion, "query_syntax": True}
        for where in (None, {"year": {"$gte": 2010}}):
            mine = refused(kb, question, {**options, "where": where})
            assert mine == refused(one, question, {**options, "where": where})
    batch = [question, "pod", question]
    mine, theirs = (
        rf.search_batch(batch, 5, query_syntax=True, drop_repeats=True) for rf in (kb, one)
    )
    assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]


def test_a_word_with_a_star_stands_for_the_commonest_terms_of_the_whole(tmp_path):
    """More terms begin so than a word may stand for; each shard has other ones."""
    (tmp_path / "in").mkdir()
    for number in range(120):
        text = " ".join(f"x{i:03}" for i in range(number, 200, 7))
        (tmp_path / "in" / f"{number:03}.txt").write_text(text)
    ragfile.build(tmp_path / "in", tmp_path / "one.ragfile")
    dataset.build(tmp_path / "in", tmp_path / "kb", shards=6)
    with ragfile.open(tmp_path / "kb") as rf, ragfile.open(tmp_path / "one.ragfile") as one:
        for question in ("x*", "x1*", "x10~ x0*", "-x199 x*"):
            mine = rf.search(question, 20, query_syntax=True, mode="bm25")
            assert told(mine) == told(one.search(question, 20, query_syntax=True, mode="bm25"))
            assert mine


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
def test_rows_are_found_with_a_filter_for_all_or_for_each(one, kb):
    texts, vectors = ["pod drain", "w1 w2", "node"], np.stack([NEAR, -NEAR, NEAR[::-1]])
    each = [{"year": {"$gte": 2010}}, None, {"year": {"$gte": 2010}}]
    for where in (None, {"year": 2003}, [DOC], each, [*each[:2], {"nobody": 1}]):
        for min_score in (None, 0.01):
            more = {"where": where, "min_score": min_score}
            for ask in (
                lambda rf, more=more: rf.match(texts, 5, **more),
                lambda rf, more=more: rf.match(texts, 5, k1=0.7, b=0.2, fields={"headers": 1}, **more),
                lambda rf, more=more: rf.nearest(vectors, 5, threads=2, **more),
                lambda rf, more=more: rf.nearest(vectors, None, **more),
            ):  # fmt: skip
                mine, theirs = ask(kb), ask(one)
                assert mine[1].tobytes() == theirs[1].tobytes()
                assert names(kb, mine[0]) == names(one, theirs[0])
    for rf in (one, kb):
        with pytest.raises(ValueError, match="2 filters for 3 questions"):
            rf.match(texts, 5, where=each[:2])


def test_ask_takes_the_options_of_a_search(one, kb):
    assert {"where", "k"} <= set(AskOptions.__annotations__)
    assert answered(kb, where={"year": 2003}) == answered(one, where={"year": 2003})


def test_hits_know_their_vectors_and_what_stands_around_them(one, kb):
    for mine, theirs in zip(kb.search("pod", 6), one.search("pod", 6), strict=True):
        assert mine.vector.tobytes() == theirs.vector.tobytes()
        assert mine.context(before=1, after=1) == theirs.context(before=1, after=1)


class Elsewhere:
    """An executor whose shards only it can reach."""

    def __init__(self):
        self.is_asked = False

    def run(self, tasks):
        self.is_asked = True
        try:
            return [task_runner.attempt(task) for task in tasks]
        finally:
            self.is_asked = False

    def close(self):
        pass


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
def test_a_question_opens_no_shard_but_where_it_is_asked(kb, monkeypatch):
    """Whatever a question says, all of it goes through the executor. A chunk to be like is read where the question comes from."""
    engine = Elsewhere()
    with ragfile.open(kb.path, executor=engine) as rf:

        def refuse(self, number, notes=None):
            raise AssertionError("a shard was opened here")

        monkeypatch.setattr(DatasetSnapshot, "segments_of", refuse)
        monkeypatch.setattr(DatasetSnapshot, "shard", refuse)
        for name in SINGLE:
            for value in OPTIONS[name] if name != "similar_to" else ():
                if (name, value) != ("mode", "keyword"):
                    rf.search("pod w*", **{"k": 5, name: value})
        assert rf.search_batch(QUESTIONS, columns=True, query_syntax=True).ids[0]
        rf.highlights("pod", rf.search("pod")[0])
        assert rf.rows.mask({"year": 2003}).any()
