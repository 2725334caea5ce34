"""A dataset answers as one file that holds everything: the same passages, order and score bits."""

import itertools
import json
import os
import pickle
import random
import threading

import numpy as np
import pytest
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.errors import CorruptError, FilterWarning, FormatError

QUESTIONS, told = collections.QUESTIONS, collections.told
SHAPES = [(1, "range"), (3, "range"), (7, "hash"), (12, "range"), (5, "random")]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return str(collections.write(tmp_path_factory.mktemp("sources")))


@pytest.fixture(scope="module", params=SHAPES, ids=lambda shape: f"{shape[0]}-{shape[1]}")
def kb(request, sources, tmp_path_factory):
    shards, by = request.param
    rng = random.Random(shards)
    out = tmp_path_factory.mktemp("kb")
    by = (lambda _: rng.randrange(shards)) if by == "random" else by
    dataset.build(sources, out, shards=shards, by=by)
    with ragfile.open(out) as rf:
        yield rf


def equal(mine, theirs):
    assert [told(hits) for hits in mine] == [told(hits) for hits in theirs]
    assert [hits.degraded for hits in mine] == [hits.degraded for hits in theirs]
    assert all(hits.complete and not hits.missing_shards for hits in mine)


@pytest.mark.filterwarnings("ignore::ragfile.errors.FilterWarning")
@pytest.mark.parametrize("fusion", [None, "rrf", "blend", ("calibrated", {"w": 3})])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25", "keyword"])
def test_every_mode_and_fusion_with_filters_gives_the_bits_of_one_file(one, kb, mode, fusion):
    for where, drop_repeats in itertools.product(collections.FILTERS, (False, True)):
        options = {
            "mode": mode,
            "fusion": fusion,
            "where": where,
            "drop_repeats": drop_repeats,
            "pool": 9,
        }
        equal(kb.search_batch(QUESTIONS, 5, **options), one.search_batch(QUESTIONS, 5, **options))


@pytest.mark.parametrize("mode", ["hybrid", "vector", "bm25"])
def test_answers_without_repeats_are_filled_up_to_the_bits_of_one_file(one, kb, mode):
    options = {"mode": mode, "drop_repeats": True, "pool": 3}
    equal(kb.search_batch(QUESTIONS, 40, **options), one.search_batch(QUESTIONS, 40, **options))
    for question in QUESTIONS:
        for more in ({"k": 5, "offset": 5}, {"k": 9, "group": 2}):
            mine, theirs = (rf.search(question, **more, **options) for rf in (kb, one))
            equal([mine], [theirs])
            assert mine or mode == "bm25"


def test_single_questions_tags_and_ids_give_the_bits_of_one_file(one, kb):
    ids = one.document_ids()[3:9]
    for options in ({}, {"tags_any": ["t1", "t2"]}, {"tags_all": ["t3"]}, {"where": ids}):
        for question in QUESTIONS:
            equal([kb.search(question, 7, **options)], [one.search(question, 7, **options)])


def test_a_filter_for_each_question_gives_the_bits_of_one_file(one, kb):
    where = [collections.FILTERS[i % 4] for i in range(len(QUESTIONS))]
    equal(kb.search_batch(QUESTIONS, where=where), one.search_batch(QUESTIONS, where=where))


def names(rf, rows):
    return [[rf.hit(row).id if row >= 0 else None for row in of_one] for of_one in rows.tolist()]


def test_match_nearest_and_score_give_the_bits_of_one_file(one, kb):
    vectors = np.array([one.vector(row) for row in (0, 9, 17)])
    for k in (1, 4, 1000):
        for mine, theirs in (
            (kb.match(QUESTIONS, k), one.match(QUESTIONS, k)),
            (kb.match("pod", k, k1=0.9, b=0.4), one.match("pod", k, k1=0.9, b=0.4)),
            (kb.nearest(vectors, k), one.nearest(vectors, k)),
            (kb.nearest(vectors[0], k, where={"year": 2003}), one.nearest(vectors[0], k, where={"year": 2003})),
        ):  # fmt: skip
            assert names(kb, mine[0]) == names(one, theirs[0])
            assert mine[1].tobytes() == theirs[1].tobytes()
    rows, scores = kb.match("pod drain", 20)
    assert kb.score(rows[0], text="pod drain").tobytes() == scores[0].tobytes()


def test_a_filter_as_a_mask_is_that_of_one_file(one, kb):
    for where in collections.FILTERS[1:]:
        mine, theirs = (
            sorted(rf.hit(row).id for row in np.flatnonzero(rf.rows.mask(where)).tolist())
            for rf in (kb, one)
        )
        assert mine == theirs
        assert len(kb.rows.mask(where)) == len(one.rows.mask(where)) == len(one)


def test_rows_of_an_answer_are_a_filter(kb):
    rows, _ = kb.match("pod", 6)
    again, _ = kb.match("pod", 100, where=rows[0][:3])
    assert sorted(row for row in again[0].tolist() if row >= 0) == sorted(rows[0][:3].tolist())


def test_the_surface_is_that_of_a_file(one, kb):
    assert len(kb) == len(one)
    assert kb.document_ids() == one.document_ids()
    assert sorted(d.id for d in kb.documents()) == sorted(d.id for d in one.documents())
    doc_id = one.document_ids()[7]
    assert kb.document(doc_id) == one.document(doc_id)
    assert kb.context(f"{doc_id}#0", 5, 5) == one.context(f"{doc_id}#0", 5, 5)
    assert kb.sources([f"{doc_id}#0"]) == one.sources([f"{doc_id}#0"])
    assert kb.document("nobody") is None
    assert kb.row("nobody#0") is None
    assert kb.hit(kb.row(f"{doc_id}#0")) == one.hit(one.row(f"{doc_id}#0"))
    assert kb.info["chunks"] == one.info["chunks"]
    assert kb.info["dim"] == one.info["dim"]
    assert sorted(kb.file.strategies) == sorted(one.file.strategies)
    with pytest.raises(IndexError):
        kb.hit(len(kb))


@pytest.mark.parametrize(
    "options",
    [
        {"offset": 3}, {"min_score": 0.3}, {"similar_to": "a/d001.md#0"}, {"rewrites": ("node cluster", "drain")},
        {"diversity": 0.5}, {"boost": {"field": "year", "weight": 0.3, "reference": 2015, "half_life": 4}}, {"group": 1},
        {"query_syntax": True}, {"rerank": "default"}, {"fields": {"headers": 1}},
    ],
    ids=lambda options: next(iter(options)),
)  # fmt: skip
def test_what_else_a_question_can_say_gives_the_bits_of_one_file(one, kb, options):
    for mode, question in itertools.product(("hybrid", "bm25", "vector"), QUESTIONS[:3]):
        mine = kb.search(question, 6, mode=mode, **options)
        assert told(mine) == told(one.search(question, 6, mode=mode, **options))


def test_bytes_are_those_of_single_files_and_nobody_signed(kb):
    assert kb.file.signatures == []
    for refused in (lambda: kb.file.footer, lambda: kb.file.raw(0, 1)):
        with pytest.raises(ValueError, match="is a dataset"):
            refused()
    with pytest.raises(ragfile.SignatureError):
        ragfile.open(kb.path, trusted=[])


def test_arrow_has_the_rows_of_one_file(one, kb):
    pytest.importorskip("pyarrow", reason="the arrow extra is not installed")
    mine, theirs = (rf.to_arrow().sort_by("node_id").drop_columns("row") for rf in (kb, one))
    assert mine.equals(theirs)


def test_a_dataset_that_is_sent_elsewhere_answers_the_same(kb):
    copy = pickle.loads(pickle.dumps(kb))
    assert told(copy.search("pod drain")) == told(kb.search("pod drain"))
    copy.close()
    with pytest.raises(ValueError, match="closed"):
        copy.search("pod")


def test_threads_share_a_dataset(kb):
    wanted = {q: told(kb.search(q, cache=False)) for q in QUESTIONS}
    wrong = []

    def ask():
        for question in QUESTIONS * 3:
            if told(kb.search(question, cache=False)) != wanted[question]:
                wrong.append(question)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_filter_on_a_key_that_no_shard_has_warns_once(kb):
    with pytest.warns(FilterWarning, match="yeer"):
        kb.search("pod", where={"yeer": 2001})
    assert kb.search("pod", where={"yeer": 2001}, cache=False) == []


def test_filters_pass_over_shards_that_cannot_have_a_row(sources, tmp_path):
    dataset.build(sources, tmp_path / "kb", shards=8)
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.search("pod", where={"year": {"$gt": 2100}}, mode="bm25").skipped == 8
        assert rf.search("pod", where=[rf.document_ids()[0]], mode="bm25").skipped == 7
        assert rf.search("pod", mode="bm25").skipped == 0


@pytest.fixture
def broken(sources, tmp_path):
    """A dataset of four shards without the first of them."""
    dataset.build(sources, tmp_path / "kb", shards=4)
    with ragfile.open(tmp_path / "kb") as rf:
        whole = {q: told(rf.search(q, 100, pool=100)) for q in QUESTIONS}
        record = rf.manifest.shards[0]
    os.rename(tmp_path / "kb" / record.path, tmp_path / "away.ragfile")
    return tmp_path, record, whole


def test_a_missing_shard_is_an_error_or_said(broken):
    folder, record, whole = broken
    from ragfile.shards import shards

    shards.forget()
    with ragfile.open(folder / "kb") as rf, pytest.raises(FileNotFoundError):
        rf.search("pod")
    with ragfile.open(folder / "kb", allow_partial=True) as rf:
        for question in QUESTIONS:
            hits = rf.search(question, 100, mode="bm25")
            there = [hit for hit in hits if not record.first <= hit.doc_id <= record.last]
            assert there == hits
            assert not hits.complete
            assert record.sha256 in hits.missing_shards[0]
            assert "1 of 4 shards" in hits.degraded
        os.rename(folder / "away.ragfile", folder / "kb" / record.path)
        assert rf.search("pod", 100).complete  # what was incomplete is not remembered
        assert told(rf.search("pod drain", 100, pool=100)) == whole["pod drain"]


def test_partial_answers_keep_the_scores_of_the_whole(broken):
    folder, _record, whole = broken
    with ragfile.open(folder / "kb", allow_partial=True) as rf:
        hits = rf.search("pod drain", 100, mode="bm25")
        scores = {name: parts["bm25"] for name, _, _, parts, *_ in whole["pod drain"]}
        assert hits
        assert all(hit.score == scores[hit.id] for hit in hits)


@pytest.mark.parametrize("how", ["truncated", "replaced", "emptied"])
def test_a_shard_that_is_another_file_is_refused(broken, how):
    folder, record, _ = broken
    data = (folder / "away.ragfile").read_bytes()
    target = folder / "kb" / record.path
    if how == "replaced":
        with ragfile.create(target) as writer:
            writer.add([{"doc_id": "x", "chunk_index": 0, "content": "pod"}])
    else:
        target.write_bytes(data[: len(data) // 2] if how == "truncated" else b"")
    from ragfile.shards import shards

    shards.forget()
    with ragfile.open(folder / "kb") as rf, pytest.raises((FormatError, OSError)):
        rf.search("pod")
    with ragfile.open(folder / "kb", allow_partial=True) as rf:
        assert not rf.search("pod").complete
    assert ragfile.verify(folder / "kb")[0]


def test_a_view_that_stays_counts_for_each_question_anew(kb):
    view = kb.at_commit()
    nothing = {"year": {"$gt": 2100}}
    counts = {view.search("pod", where=nothing, mode="bm25", cache=False).skipped for _ in range(3)}
    assert counts == {len(kb.manifest.shards)}


def test_a_folder_without_a_manifest_is_not_a_dataset(tmp_path):
    with pytest.raises(IsADirectoryError):
        ragfile.open(tmp_path)
    (tmp_path / "manifests").mkdir()
    with pytest.raises(FormatError, match="not a ragfile dataset"):
        ragfile.open(tmp_path)


def manifest_path(folder):
    return next((folder / "manifests").iterdir())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "other"), (("version",), [2, 0]), (("version",), None), (("reader_flags",), ["x"]),
        (("generation",), 2), (("generation",), "1"), (("shards",), {}), (("shards", 0, "rows"), -1),
        (("shards", 0, "rows"), 10**30), (("shards", 0, "live"), 1), (("shards", 0, "sha256"), "00"),
        (("shards", 0, "path"), "../../etc/passwd"), (("shards", 0, "first"), 3), (("shards", 0, "tags"), [1]),
        (("shards", 0, "radius"), "x"), (("shards", 0, "bounds"), []), (("statistics",), None),
        (("statistics", "rows"), 1), (("statistics", "file"), None), (("statistics", "total_length"), 0),
        (("config",), []), (("config", "dim"), "x"), (("analysis",), 3), (("previous",), 7), (("touched",), 1),
        (("assignment",), None), (("assignment",), {"by": "range", "from": 5}), (("assignment",), {"by": "moon"}),
        (("shards", 0, "bounds"), {"year": 5}), (("shards", 0, "bounds"), {"year": {"numbers": ["a", "b"]}}),
        (("shards", 0, "centroid"), [1, 2]), (("shards", 0, "sections"), [["vector"]]),
        (("previous",), {"name": "../../secret", "sha256": "0" * 64}), (("shards", 0, "rows"), 1 << 40), (("shards", 0), 5), (("writer_flags",), "x"),
    ],
)  # fmt: skip
def test_a_manifest_with_a_wrong_field_is_refused(sources, tmp_path, path, value):
    dataset.build(sources, tmp_path / "kb", shards=2)
    file = manifest_path(tmp_path / "kb")
    said = json.loads(file.read_text())
    *to, last = path
    place = said
    for step in to:
        place = place[step]
    place[last] = value
    file.write_text(json.dumps(said))
    with pytest.raises(FormatError):
        ragfile.open(tmp_path / "kb")


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100000, b"null"])
def test_a_manifest_that_is_not_one_is_refused(sources, tmp_path, raw):
    dataset.build(sources, tmp_path / "kb", shards=2)
    manifest_path(tmp_path / "kb").write_bytes(raw)
    with pytest.raises(FormatError):
        ragfile.open(tmp_path / "kb")


def test_statistics_of_another_generation_are_refused(sources, tmp_path):
    for name, count in (("kb", 2), ("other", 2)):
        more = sources if name == "kb" else str(collections.write(tmp_path / "x", 9, seed=4))
        dataset.build(more, tmp_path / name, shards=count)
    mine, theirs = (next((tmp_path / name / "statistics").iterdir()) for name in ("kb", "other"))
    os.replace(theirs, mine)
    with ragfile.open(tmp_path / "kb") as rf, pytest.raises(CorruptError):
        rf.search("pod")


@pytest.mark.stress
@pytest.mark.parametrize("fusion", [None, "rrf", "blend"])
def test_ten_thousand_questions_have_the_bits_of_one_file(tmp_path, fusion):
    rng = random.Random(9)
    sources = collections.write(tmp_path / "sources", 300)
    ragfile.build(sources, tmp_path / "one.ragfile")
    dataset.build(sources, tmp_path / "kb", shards=12, by=lambda _: rng.randrange(12))
    questions = [
        " ".join(rng.choices(collections.WORDS, k=rng.randint(1, 6))) for _ in range(10_000)
    ]
    with ragfile.open(tmp_path / "kb") as rf, ragfile.open(tmp_path / "one.ragfile") as one:
        for mode, where in itertools.product(["hybrid", "vector", "bm25"], collections.FILTERS[:4]):
            options = {"mode": mode, "fusion": fusion, "where": where, "pool": 20}
            for mine, theirs in zip(
                rf.search_batch(questions, 8, **options),
                one.search_batch(questions, 8, **options), strict=True,
            ):  # fmt: skip
                assert [(h.id, h.score, h.scores) for h in mine] == [
                    (h.id, h.score, h.scores) for h in theirs
                ]
