"""Sections that lie under true checksums: every call ends in an answer or in one of ragfile's own errors."""

import json
from unittest import mock

import numpy as np
import pytest
from effort import examples
from fuzz.sections import DIM, QUERY, Hashed, good_files, hostile, run, sealed

import ragfile
from ragfile import _core
from ragfile.errors import CorruptError, FormatError, VersionError


def lying(path, name, change, which=0, segment=None):
    """A good file with one section changed by a function of its bytes."""
    parts, segments = good_files()[which]
    at = next(i for i, part in enumerate(parts) if part[0] == name and segment in (None, part[1]))
    parts = list(parts)
    parts[at] = *parts[at][:4], change(parts[at][4]), parts[at][5]
    path.write_bytes(sealed(parts, segments))
    return path


def with_config(path, **fields):
    return lying(path, "rag.config", lambda raw: json.dumps({**json.loads(raw), **fields}).encode())


def test_mutated_sections_end_in_answers_or_in_errors_of_our_own():
    leaks = []
    run(range(examples(300)), lambda *leak: leaks.append(leak))
    assert leaks == []


@pytest.mark.parametrize("total", [0, 2**62, 2**64 - 1])
def test_a_total_length_that_its_rows_cannot_have_is_damage(tmp_path, total):
    """Two segments whose lengths are added up: their sum once overflowed in Python."""

    def lie(raw):
        return raw[:24] + total.to_bytes(8, "little") + raw[32:]

    files = good_files()
    assert any(len(segments) > 1 for _, segments in files)
    for which in range(len(files)):
        kb = ragfile.open(lying(tmp_path / f"{which}", "rag.terms", lie, which))
        for _ in range(2):
            with pytest.raises(CorruptError, match="total length"):
                kb.search("pods", mode="bm25")


def test_postings_of_other_rows_are_damage_however_often_they_are_asked():
    leaks = []
    run([77000840], lambda *leak: leaks.append(leak))
    assert leaks == []


def test_a_document_that_is_live_in_part_is_damage_when_it_is_cut_again():
    leaks = []
    run([770292], lambda *leak: leaks.append(leak))
    assert leaks == []


def test_the_files_that_are_mutated_are_good_ones(tmp_path):
    for parts, segments in good_files():
        (tmp_path / "a").write_bytes(sealed(parts, segments))
        assert ragfile.verify(tmp_path / "a")[0] == []
        assert ragfile.open(tmp_path / "a").search("pods", vector=QUERY)


def test_vectors_that_are_no_numbers_leave_the_statistics_of_the_sample_alone(tmp_path):
    good = np.arange(-50, 50, dtype=np.float32)
    for odd in (np.nan, np.inf, -np.inf):
        mixed = np.insert(good, [0, 50, 100] * 400, np.float32(odd))
        assert _core.moments(mixed) == _core.moments(good)
    assert _core.moments(np.full(1000, np.nan, np.float32)) == (0, 0)

    def all_nan(raw):
        return raw[:64] + b"".join(
            (b"\xff" * 4 * DIM) + raw[at + 4 * DIM : at + 4 * DIM + 16]
            for at in range(64, len(raw), 4 * DIM + 16)
        )

    kb = ragfile.open(lying(tmp_path / "a", "vector", all_nan))
    for fusion in ("calibrated", "rrf", "blend"):
        assert all(np.isfinite(hit.score) for hit in kb.search("pods", vector=QUERY, fusion=fusion))


def test_vectors_of_huge_norms_are_fused_by_finite_scores(tmp_path):
    with ragfile.create(tmp_path / "a", dim=2, metric="ip") as w:
        rows = np.array([[3e38, 3e38], [-3e38, -3e38], [1, 1], [0, 0]], np.float32)
        w.add([{"doc_id": f"d{i}", "chunk_index": 0, "content": "pods"} for i in range(4)], rows)
    kb = ragfile.open(tmp_path / "a")
    for fusion in ("calibrated", "rrf", "blend"):
        hits = kb.search("pods", vector=[2.0, 2.0], fusion=fusion)
        assert hits[0].doc_id == "d0"
        assert len(hits) == 4


def test_a_search_for_distinct_passages_that_finds_none_is_empty(tmp_path):
    with ragfile.create(tmp_path / "a", dim=2) as w:
        w.add(
            [{"doc_id": "d", "chunk_index": 0, "content": "pods", "tags": ["t"]}],
            np.ones((1, 2), np.float32),
        )
    for mode in ("hybrid", "vector", "bm25"):
        assert (
            ragfile.open(tmp_path / "a").search(
                "pods", mode=mode, vector=[1.0, 0.0], drop_repeats=True, tags_any=["no"]
            )
            == []
        )


ODD = [None, True, 0, -1, 2**70, float("nan"), "", "x", [], [1], {}, {"a": 1}]


@pytest.mark.parametrize(
    "field",
    ["dim", "metric", "precision", "portable", "bm25", "model", "fusion", "chunking", "labels"],
)
def test_configuration_of_a_wrong_type_is_refused_or_harmless(tmp_path, field):
    for odd in ODD:
        path = with_config(tmp_path / "a", **{field: odd})
        try:
            kb = ragfile.open(path)
        except FormatError:
            continue
        kb.search("pods", vector=QUERY)
        ragfile.stale(path)
        (tmp_path / "new.md").write_text("new pods")
        ragfile.add(path, [tmp_path / "new.md"], embedder=Hashed())
        with ragfile.edit(path, embedder=Hashed(), chunking="words:20/2") as w:
            w.delete(["d001"])


@pytest.mark.parametrize(
    "inner",
    [{"w": "6"}, {"w": 0}, {"w": float("inf")}, {"method": 1}, {"rrf_k": []}, {"alpha": None}],
)
def test_fusion_of_a_wrong_type_is_refused(tmp_path, inner):
    with pytest.raises(CorruptError, match="fusion"):
        ragfile.open(with_config(tmp_path / "a", fusion=inner))


def test_an_unknown_metric_is_of_a_newer_version(tmp_path):
    with pytest.raises(VersionError):
        ragfile.open(with_config(tmp_path / "a", metric="manhattan"))


@pytest.mark.parametrize(
    "raw",
    [
        b"[]",
        b"1",
        b"",
        b"\xff",
        b"[" * 100_000,
        b'{"a":' * 300 + b"1" + b"}" * 300,
        b'{"a": "\\ud800"}',
    ],
)
def test_a_configuration_that_is_no_sane_object_is_refused(tmp_path, raw):
    with pytest.raises(CorruptError):
        ragfile.open(lying(tmp_path / "a", "rag.config", lambda _: raw))


def test_metadata_nests_so_deep_and_no_deeper(tmp_path):
    def nested(depth):
        value = {}
        for _ in range(depth):
            value = {"a": value}
        return [{"id": "d", "text": "pods", "metadata": value}]

    with ragfile.create(tmp_path / "a") as w:
        w.add_documents(nested(200))
    assert ragfile.open(tmp_path / "a").document("d").metadata == nested(200)[0]["metadata"]
    with pytest.raises(ValueError, match="nest"), ragfile.create(tmp_path / "b") as w:
        w.add_documents(nested(300))


def test_a_block_that_is_no_frame_is_corrupt(tmp_path):
    def without_magic(raw):
        return b"\0" + raw[1:]

    for which in range(len(good_files())):
        kb = ragfile.open(lying(tmp_path / "a", "rag.text", without_magic, which))
        with pytest.raises(CorruptError):
            kb.hit(0)


def test_texts_outside_their_document_are_corrupt(tmp_path):
    def far(raw):
        return raw[:8] + b"\xff\xff\xff\xff" + raw[12:]

    kb = ragfile.open(lying(tmp_path / "a", "rag.chunks", far))
    with pytest.raises(CorruptError):
        kb.hit(0)
    kb = ragfile.open(lying(tmp_path / "b", "rag.documents", lambda raw: b"\xff" * 8 + raw[8:]))
    with pytest.raises(CorruptError):
        kb.hit(0)


def damaged(tmp_path, seed):
    """A good file with a few bytes of its records, metadata or bitmaps changed."""
    rng = np.random.default_rng(seed)
    name = ["rag.documents", "rag.meta", "rag.chunks", "rag.tombs"][seed % 4]

    def change(raw):
        raw = bytearray(raw)
        for at in rng.integers(0, len(raw), 1 + seed % 3).tolist():
            raw[at] ^= int(rng.choice([1, 0x20, 0x80, 0xFF]))
        return bytes(raw)

    return lying(tmp_path / f"{seed}", name, change, which=1)


def test_verify_finds_what_a_look_at_every_document_finds(tmp_path):
    """The core leaves out documents that it knows to be right."""
    every = lambda records, *_: list(range(records.documents))  # noqa: E731
    found = 0
    for seed in range(60):
        path = damaged(tmp_path, seed)
        fast = ragfile.verify(path)
        with mock.patch.object(_core, "doubtful_documents", every):
            assert ragfile.verify(path) == fast
        found += bool(fast[0])
    assert found > 20


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(402, id="a document that is live in part, upserted"),
        pytest.param(5206, id="a column with a code of no value, as Arrow"),
        pytest.param(5263, id="a document with an empty id, cut again"),
        pytest.param(5303, id="a chunk that is not its stretch of the text, rewritten"),
        pytest.param(5689, id="vectors without a dimension, as Arrow"),
    ],
)
def test_damage_that_was_another_error_is_one_of_our_own(seed):
    leaks = []
    run([seed], lambda *leak: leaks.append(leak))
    assert leaks == []


@pytest.mark.parametrize(
    ("seed", "why"), [(185, "has NUL at character"), (382, "cannot hold a lone surrogate")]
)
def test_stored_values_that_a_new_file_must_not_have_are_damage_to_a_compaction(
    tmp_path, seed, why
):
    (tmp_path / "kb").write_bytes(hostile(seed))
    with pytest.raises(CorruptError, match=why):
        ragfile.compact(tmp_path / "kb")
