"""The sample that `rag.sample` keeps together is the one of all rows' records, whatever happened to the file."""

import os
from unittest import mock

import numpy as np
import pytest
from fuzz.sections import sealed
from hypothesis import given, settings
from hypothesis import strategies as st
from servers.range_server import RangeServer

import ragfile
from ragfile import _core
from ragfile.errors import FormatError
from ragfile.file import sample_rows

DIM = 5
SMALL = {"TAKEN": 4, "KEPT": 6, "WORTH": 3}


def rows_of(first, count):
    rng = np.random.default_rng(first)
    chunks = [
        {"doc_id": f"d{i // 2:03d}", "chunk_index": i % 2, "content": f"pods {i}"}
        for i in range(first, first + count)
    ]
    return chunks, rng.standard_normal((count, DIM)).astype(np.float32)


def by_records(rf):
    """The slow way: every live row's key is hashed."""
    keys = []
    for row in rf.live_rows().tolist():
        segment, local = rf.rows.place(row)
        doc_id, index = segment.records.key(local)
        keys.append((_core.hash64(doc_id + index.to_bytes(4, "little")), row))
    return [row for _, row in sorted(keys)[: sample_rows.TAKEN]]


def check(path):
    with ragfile.open(path) as rf:
        found = sample_rows.sample(rf.rows.segments)
        assert found.rows.tolist() == by_records(rf)
        assert [v.tolist() for v in found.vectors] == [rf.vector(r).tolist() for r in found.rows]
        if found.vectors:
            query = np.linspace(-1, 1, DIM).astype(np.float32)
            read = _core.Sample(
                np.array(found.vectors, np.float32), rf.rows.config.get("metric", "cosine")
            )
            assert rf.rows.sample_statistics(query) == read.moments(query)
    assert ragfile.verify(path)[0] == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(1, 12)),
            st.tuples(st.just("delete"), st.sets(st.integers(0, 30), max_size=9)),
            st.tuples(st.just("compact"), st.none()),
        ),
        max_size=6,
    ),
    st.sampled_from([16, 32]),
)
def test_any_history_keeps_the_sample_true(tmp_path_factory, history, precision):
    path, count = tmp_path_factory.mktemp("sample") / "kb", 20
    with mock.patch.multiple(sample_rows, **SMALL):
        with ragfile.create(path, dim=DIM, precision=precision) as w:
            w.add(*rows_of(0, count))
        check(path)
        for kind, what in history:
            if kind == "compact":
                ragfile.compact(path)
            else:
                with ragfile.edit(path) as w:
                    if kind == "add":
                        w.add(*rows_of(count, what))
                    else:
                        w.delete([f"d{i:03d}" for i in what])
            count += what if kind == "add" else 0
            check(path)


def test_the_section_is_written_again_when_too_few_of_its_rows_live(tmp_path):
    path = tmp_path / "kb"
    with mock.patch.multiple(sample_rows, **SMALL):
        with ragfile.create(path, dim=DIM) as w:
            w.add(*rows_of(0, 40))
        (before,) = (e for e in ragfile.open(path).file.entries if e["name"] == "rag.sample")
        assert before["items"] == SMALL["KEPT"]
        for row in ragfile.open(path).rows.sample[:3].tolist():
            with ragfile.edit(path) as w:
                w.delete([ragfile.open(path).chunk(row).doc_id])
        (after,) = (e for e in ragfile.open(path).file.entries if e["name"] == "rag.sample")
        assert after["generation"] > before["generation"]
        check(path)


def test_a_file_whose_writer_did_not_know_the_section_answers_as_before(tmp_path):
    """As an older ragfile would leave it: rows deleted, the section as it was."""
    path = tmp_path / "kb"
    with mock.patch.multiple(sample_rows, **SMALL):
        with ragfile.create(path, dim=DIM) as w:
            w.add(*rows_of(0, 40))
        ids = {
            ragfile.open(path).chunk(row).doc_id for row in ragfile.open(path).rows.sample.tolist()
        }
        with (
            mock.patch.object(sample_rows, "is_short", return_value=False),
            ragfile.edit(path) as w,
        ):
            w.delete(ids)
        rf = ragfile.open(path)
        assert (
            sample_rows.living(sample_rows.stored_sample(rf.rows.segments[0]), rf.rows.segments[0])
            is None
        )
        check(path)


def test_moments_have_the_same_bits_with_and_without_the_section(tmp_path):
    vector = np.linspace(-1, 1, DIM).astype(np.float32)
    found = []
    for worth in (1, 10**6):
        path = tmp_path / f"{worth}"
        with mock.patch.multiple(sample_rows, WORTH=worth), ragfile.create(path, dim=DIM) as w:
            w.add(*rows_of(0, 3000))
        rf = ragfile.open(tmp_path / f"{worth}")
        assert ("rag.sample" in rf.file.strategies) == (worth == 1)
        found.append(rf.rows.sample_statistics(vector))
    assert found[0] == found[1]


@pytest.fixture
def parts(tmp_path):
    with mock.patch.multiple(sample_rows, **SMALL), ragfile.create(tmp_path / "kb", dim=DIM) as w:
        w.add(*rows_of(0, 30))
    rf = ragfile.open(tmp_path / "kb")
    found = []
    for e in rf.file.entries:
        raw = bytes(rf.file.section(e["name"], e["segment"]))
        found.append((e["name"], e["segment"], e["flags"], e["items"], raw, e["at"]))
    return found, rf.file.reader.segments


def lying(parts, change):
    entries, segments = parts
    changed = [(*p[:4], change(p[4]), p[5]) if p[0] == "rag.sample" else p for p in entries]
    return sealed(changed, segments)


def put(at, new):
    return lambda raw: raw[:at] + new + raw[at + len(new) :]


@pytest.mark.parametrize(
    "change",
    [
        put(0, b"x"),
        put(8, (2**63).to_bytes(8, "little")),
        put(8, b"\x1f"),
        put(16, b"\x01"),
        put(20, b"\x10"),
        put(40, b"\x01"),
        put(64, b"\xff" * 8),
        put(64 + 48, b"\xff" * 8),
        put(64 + 48, bytes(48)),
        lambda raw: raw[:-1],
        lambda raw: raw[:63],
        lambda raw: b"",
    ],
)
def test_a_section_that_does_not_hold_together_is_refused(tmp_path, parts, change):
    (tmp_path / "bad").write_bytes(lying(parts, change))
    with pytest.raises(FormatError) as caught:
        ragfile.open(tmp_path / "bad").rows.sample_statistics(np.ones(DIM, np.float32))
    assert caught.value.section == "rag.sample"
    assert ragfile.verify(tmp_path / "bad")[0]


@pytest.mark.parametrize("at", [-1, -7, 64])
def test_verify_finds_what_only_a_comparison_shows(tmp_path, parts, at):
    """A vector, or a hash, that is another row's."""

    def change(raw):
        raw = bytearray(raw)
        raw[at] ^= 1
        return bytes(raw)

    (tmp_path / "bad").write_bytes(lying(parts, change))
    with mock.patch.multiple(sample_rows, **SMALL):
        ragfile.open(tmp_path / "bad").rows.sample_statistics(np.ones(DIM, np.float32))
    assert {fault[3] for fault in ragfile.verify(tmp_path / "bad")[0]} == {"rag.sample"}


def test_the_first_hybrid_question_behind_a_url_reads_the_rows_together(tmp_path):
    """Their records would be a third of this file, scattered rows most of it."""
    rng, sent = np.random.default_rng(4), {}
    vectors = rng.standard_normal((9000, 64)).astype(np.float32)
    chunks = [
        {"doc_id": f"{'long-name-' * 12}{i}", "chunk_index": 0, "content": f"pods {i % 900}"}
        for i in range(9000)
    ]
    for worth in (1, 10**6):
        path = tmp_path / f"kb{worth}"
        with mock.patch.multiple(sample_rows, WORTH=worth), ragfile.create(path, dim=64) as w:
            w.add(chunks, vectors)
        with RangeServer({"kb": path.read_bytes()}) as server:
            with ragfile.open(path) as local, ragfile.open(server.url("kb")) as far:
                found = far.rows.sample_statistics(vectors[7])
                assert found == local.rows.sample_statistics(vectors[7])
            sent[worth] = server.sent / os.path.getsize(path)
    assert sent[1] < 0.25
    assert sent[1] < sent[10**6] / 2
