"""fields=: other weights of the BM25 fields than a file's, with the answers of a file that was built with them."""

import random

import numpy as np
import pytest

import ragfile
from ragfile import _core, dataset
from ragfile.file import consistency, exact_retrievers
from ragfile.ingest.analysis import Analysis
from ragfile.records import Document
from ragfile.shards import shards

NAMES = ("zebra", "lion", "owl", "newt", "drum", "key", "node", "pod")


def document(n):
    words = " ".join(NAMES[(n * k) % 8] for k in range(1, 12 + n % 5))
    title, other = NAMES[n % 8], NAMES[(n // 8) % 8]
    text = f"# {title} {other}\n\n{words} {n}.\n\n## The {other}\n\nMore of {title} and {words}."
    return Document(f"d{n:04}", text, metadata={"n": n})


DOCUMENTS = [document(n) for n in range(120)]
ASKED = ("zebra of the node", "lion key", "newt newt drum", "rotating pods")
WEIGHTS = ({"headers": 1}, {"headers": 20, "text": 2}, {"headers": 0}, {"text": 0})


def analysis(weights):
    """Of a file that is built with such weights."""
    found = {"text": 1, "headers": 6} | weights
    return Analysis(fields=tuple((name, weight) for name, weight in found.items() if weight))


def written(path, documents, analysis=None, **options):
    analysis = analysis or Analysis(fields=(("text", 1), ("headers", 6)))
    with ragfile.create(path, analysis=analysis, chunking="markdown", **options) as writer:
        writer.add_documents(documents)
    return path


def told(hits):
    return [(hit.id, hit.score, hit.scores.get("bm25")) for hit in hits]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return written(tmp_path_factory.mktemp("fields") / "kb.ragfile", DOCUMENTS, embedder="default")


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
def test_an_answer_is_that_of_a_file_built_with_the_weights(
    path, tmp_path, weights, mode, monkeypatch
):
    other = written(tmp_path / "o.ragfile", DOCUMENTS, analysis(weights), embedder="default")
    with ragfile.open(path) as rf, ragfile.open(other) as built:
        for text in ASKED:
            asked = rf.search(text, 9, mode=mode, fields=weights)
            assert told(asked) == told(built.search(text, 9, mode=mode)), text
            assert told(asked) != told(rf.search(text, 9, mode=mode))
            grouped = rf.search(text, 4, mode=mode, fields=weights, group=2)
            assert told(grouped) == told(built.search(text, 4, mode=mode, group=2))
        monkeypatch.setattr(exact_retrievers, "BATCH_ROWS", 60)  # several rounds
        batch = rf.search_batch(ASKED, 9, mode=mode, fields=weights)
        assert list(map(told, batch)) == list(map(told, built.search_batch(ASKED, 9, mode=mode)))
        for one, two in zip(rf.match(ASKED, 7, fields=weights), built.match(ASKED, 7), strict=True):
            assert one.tobytes() == two.tobytes()
        rows = np.arange(len(rf))
        scores = rf.score(rows, text=ASKED[0], fields=weights)
        assert scores.tobytes() == built.score(rows, text=ASKED[0]).tobytes()
        every = rf.match(ASKED[0], None, min_score=0.5, fields=weights)
        assert every[0].tolist() == built.match(ASKED[0], None, min_score=0.5)[0].tolist()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_signs_wordings_and_filters_go_with_weights(path, tmp_path, weights):
    other = written(tmp_path / "o.ragfile", DOCUMENTS, analysis(weights), embedder="default")
    with ragfile.open(path) as rf, ragfile.open(other) as built:
        for options in (
            {"query_syntax": True, "mode": "bm25"}, {"rewrites": ["drum of lions"]},
            {"where": {"n": {"$lt": 40}}}, {"boost": {"field": "n", "weight": 1, "reference": 3, "half_life": 9}},
        ):  # fmt: skip
            text = "zeb* node" if "query_syntax" in options else "zebra node"
            one, two = (
                rf.search(text, 8, fields=weights, **options),
                built.search(text, 8, **options),
            )
            assert told(one) == told(two), options


def test_a_history_answers_as_a_fresh_build(path, tmp_path, monkeypatch):
    monkeypatch.setattr(exact_retrievers, "BATCH_ROWS", 60)  # several rounds
    here = written(tmp_path / "h.ragfile", DOCUMENTS[:50], embedder="default")
    for first in range(50, 120, 35):
        with ragfile.edit(here) as writer:
            writer.upsert([document(n + 1) for n in range(first, first + 35)])
            writer.delete([f"d{first - 3:04}"])
    gone = {"d0047", "d0082"}
    live = {d.id: d for d in [*DOCUMENTS[:50], *(document(n + 1) for n in range(50, 120))]}
    fresh = [live[i] for i in sorted(live) if i not in gone]
    for weights in WEIGHTS:
        other = written(tmp_path / "o.ragfile", fresh, analysis(weights), embedder="default")
        with ragfile.open(here) as rf, ragfile.open(other) as built:
            for text in ASKED:
                assert told(rf.search(text, 9, fields=weights)) == told(built.search(text, 9))
            batches = rf.search_batch(ASKED * 9, 9, fields=weights)
            assert list(map(told, batches)) == list(map(told, built.search_batch(ASKED * 9, 9)))
    ragfile.compact(here)
    plain = written(tmp_path / "p.ragfile", fresh, embedder="default")
    with ragfile.open(here) as rf, ragfile.open(plain) as built:
        for name in ("rag.terms.1", "rag.postings.1"):
            assert bytes(rf.file.section(name)) == bytes(built.file.section(name))
        assert told(rf.search("lion", fields={"headers": 2})) == told(
            built.search("lion", fields={"headers": 2})
        )
    assert ragfile.verify(here)[0] == []


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_dataset_answers_as_one_file(path, tmp_path, weights):
    sources = tmp_path / "docs"
    sources.mkdir()
    for one in DOCUMENTS:
        (sources / f"{one.id}.md").write_text(one.text)
    dataset.build(sources, tmp_path / "kb", shards=3)
    ragfile.build(sources, tmp_path / "one.ragfile")
    with ragfile.open(tmp_path / "kb") as many, ragfile.open(tmp_path / "one.ragfile") as one:
        for text in ASKED:
            for options in ({}, {"mode": "bm25"}):
                found = many.search(text, 9, fields=weights, **options)
                assert told(found) == told(one.search(text, 9, fields=weights, **options))
        together = many.search_batch(ASKED, 5, fields=weights)
        assert list(map(told, together)) == list(
            map(told, one.search_batch(ASKED, 5, fields=weights))
        )
        hit = one.search("lion key", 1, mode="bm25", fields=weights)[0]
        whys = [kb.explain("lion key", hit.id, mode="bm25", fields=weights) for kb in (many, one)]
        assert whys[0].terms == whys[1].terms
        with pytest.raises(ValueError, match="no field 'body': it has text, headers"):
            many.search("x", fields={"body": 1})


@pytest.mark.parametrize("weights", [{}, *WEIGHTS])
def test_an_explanation_sums_to_the_score(path, weights):
    with ragfile.open(path) as rf:
        for text in ASKED[:2]:
            for hit in rf.search(text, 3, mode="bm25", fields=weights):
                why = rf.explain(text, hit.id, mode="bm25", fields=weights)
                total = 0.0
                for term in why.terms:
                    total += term.contribution
                assert np.float32(total) == np.float32(hit.score)
                for term in why.terms:
                    by = {"text": 1, "headers": 6} | weights
                    assert term.tf == sum(by[name] * n for name, n in term.fields.items())


@pytest.mark.parametrize(
    ("fields", "error", "why"),
    [
        ({"title": 2}, ValueError, "no field 'title': it has text, headers"),
        ({"headers": 300}, ValueError, "a whole number from 0 to 255, not 'headers': 300"),
        ({"headers": -1}, ValueError, "from 0 to 255"),
        ({"headers": 1.5}, ValueError, "from 0 to 255"),
        ({"headers": True}, ValueError, "from 0 to 255"),
        ({"headers": [3]}, ValueError, "from 0 to 255"),
        ({"headers": 0, "text": 0}, ValueError, "every field the weight 0"),
        (["headers"], TypeError, "fields are weights by name"),
    ],
)
def test_odd_weights_are_refused(path, fields, error, why):
    with ragfile.open(path) as rf:
        for ask in (rf.search, rf.match):
            with pytest.raises(error, match=why):
                ask("lion", fields=fields)


def test_the_files_own_weights_are_no_others(path):
    with ragfile.open(path) as rf:
        plain = told(rf.search("lion"))
        for same in ({}, {"headers": 6}, {"text": np.int64(1)}):
            assert told(rf.search("lion", fields=same)) == plain


def test_answers_are_kept_by_weights(path):
    with ragfile.open(path) as rf:
        one, two = rf.search("lion", fields={"headers": 1}), rf.search("lion")
        assert told(one) != told(two)
        assert told(rf.search("lion", fields={"headers": 1})) == told(one)


def test_a_file_of_one_field_has_no_lists_of_fields(tmp_path):
    here = written(tmp_path / "t.ragfile", DOCUMENTS[:9], Analysis(), embedder="none")
    with ragfile.open(here) as rf:
        assert not [name for name in rf.file.strategies if name.startswith("rag.terms.")]
        assert told(rf.search("lion", fields={"text": 1})) == told(rf.search("lion"))
        assert rf.search("lion", fields={"text": 3})[0].score != rf.search("lion")[0].score


def test_a_file_that_does_not_keep_its_fields_apart_says_what_to_do(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Analysis, "own_fields", ())
        here = written(tmp_path / "old.ragfile", DOCUMENTS, embedder="none")
    with ragfile.open(here) as rf:
        assert rf.search("lion")
        with pytest.raises(ValueError, match=r"1 of 1 segments.*`ragfile compact`"):
            rf.search("lion", fields={"headers": 3})
    with ragfile.edit(here) as writer:
        writer.upsert([document(700)])
    with ragfile.open(here) as rf, pytest.raises(ValueError, match="1 of 2 segments"):
        rf.match("lion", fields={"headers": 3})
    ragfile.compact(here)
    with ragfile.open(here) as rf:
        assert rf.search("lion", fields={"headers": 3})


def test_hostile_lists_of_fields_are_errors_or_answers(path):
    """Whatever bytes stand there, a question ends in rows or in an error."""
    with ragfile.open(path) as rf:
        names = ("rag.terms", "rag.postings", "rag.terms.1", "rag.postings.1")
        sections = {name: bytearray(bytes(rf.file.section(name))) for name in names}
        analysis = rf.rows.analysis
    draw, kinds = random.Random(7), set()
    for _ in range(400):
        changed = {name: bytearray(raw) for name, raw in sections.items()}
        for name in draw.sample(names[2:], draw.randint(1, 2)):
            for _ in range(draw.randint(1, 20)):
                at = draw.randrange(len(changed[name]))
                changed[name][at] = draw.choice([0, 255, draw.randrange(256)])
        made = [_core.Section.over(bytes(changed[name])) for name in names]
        try:
            lexicon, own = _core.Lexicon(*made[:2]), _core.Lexicon(*made[2:])
            lexicon.attach([own], analysis.built_weights)
            lexicons = _core.Lexicons([(lexicon, None, 0)])
            for weights in ((1, 2), (0, 3), (9, 0)):
                queries = lexicons.weighed(list(ASKED), (), weights)
                rows, _ = lexicons.match(queries, 9, [None])
                assert rows.max() < len(lexicon)
            kinds.add("answer")
        except ragfile.FormatError:
            kinds.add("error")
    assert kinds == {"answer", "error"}


def test_verify_finds_lengths_of_fields_that_cannot_be(path, tmp_path):
    with ragfile.open(path) as rf:
        segment = rf.rows.segments[0]
        segment.attach_fields()
        assert not list(consistency.term_faults(segment))
        own = segment.lexicon.fields[0]
        more = _core.LexicalBuilder(segment.lexicon.analysis.of_field(1))
        more.add(["zebra " * 999] * len(own))
        postings, terms = bytearray(), bytearray()
        more.finish(postings.extend, terms.extend)
        long = _core.Lexicon(_core.Section.over(bytes(terms)), _core.Section.over(bytes(postings)))
        segment.lexicon.attach([long], segment.lexicon.analysis.built_weights)
        ((_, _, what, _),) = consistency.term_faults(segment)
        assert "row 0 of segment 1 has other lengths than its fields" in what


def test_a_dataset_without_its_shards_has_no_answer_by_weights_either(tmp_path):
    sources, kb = tmp_path / "docs", tmp_path / "kb"
    sources.mkdir()
    for one in DOCUMENTS[:20]:
        (sources / f"{one.id}.md").write_text(one.text)
    dataset.build(sources, kb, shards=2)
    for left, shard in zip((1, 0), sorted((kb / "shards").iterdir()), strict=True):
        shard.unlink()
        shards.forget()
        for weights in ({"headers": 1}, {"text": 0}):
            with ragfile.open(kb, allow_partial=True) as many:
                hits = many.search("lion key", mode="bm25", fields=weights)
                assert bool(hits) == bool(left)
                assert f"{2 - left} of 2 shards did not answer" in hits.degraded
