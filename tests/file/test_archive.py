"""What is put into a file comes out of it: documents, chunks, spans, vectors, metadata, in order, to the byte."""

import itertools
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import ragfile
from ragfile import _core
from ragfile.errors import CorruptError
from ragfile.exchange.stores import knowledge_base
from ragfile.search.file_rows import rows_of

TEXT = "Grüße 😀 an alle. " * 60


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kb.ragfile"


def documents(count):
    return [
        {"id": f"doc{i}", "text": f"{i}: {TEXT}", "source": f"a/{i}.md", "metadata": {"n": i, "deep": {"x": [1, None]}}, "tags": ("t",)}
        for i in range(count)
    ]  # fmt: skip


def test_every_chunk_is_the_span_of_its_document_that_it_claims(path):
    with ragfile.create(path) as w:
        w.add_documents(documents(30))
    with ragfile.open(path) as rf:
        assert len(rf) > 30
        for row in range(len(rf)):
            chunk = rf.chunk(row)
            document = rf.document(chunk.doc_id)
            assert document.text[chunk.start : chunk.end] == chunk.content
            assert rf.row(f"{chunk.doc_id}#{chunk.chunk_index}") == row


def test_rows_are_ordered_by_utf8_bytes_of_the_id_and_then_by_index(path):
    ids = ["b", "a", "ab", "ü", "\uffff", "\U00010000", "Z", "\ud800"]
    with ragfile.create(path) as w:
        w.add(
            [
                {"doc_id": i, "chunk_index": n, "content": f"{n}"}
                for n in (2, 0, 300, 1)
                for i in ids
            ]
        )
    with ragfile.open(path) as rf:
        keys = [(rf.chunk(row).doc_id, rf.chunk(row).chunk_index) for row in range(len(rf))]
    assert keys == sorted(keys, key=lambda key: (key[0].encode("utf-8", "surrogatepass"), key[1]))
    assert len(keys) == 32


def test_vectors_are_a_strided_view_of_the_file_in_row_order(path):
    made = np.random.default_rng(1).standard_normal((50, 7)).astype(np.float32)
    with ragfile.create(path) as w:
        w.add([{"doc_id": f"d{i % 5}", "chunk_index": i, "content": ""} for i in range(50)], made)
    with ragfile.open(path) as rf:
        view = rf.vectors()
        assert view.strides == (7 * 4 + 16, 4)
        assert not view.flags.owndata
        assert all((rf.vector(row) == made[rf.chunk(row).chunk_index]).all() for row in range(50))


@pytest.mark.parametrize(
    "ask",
    [
        lambda rf: rf.vectors(),
        lambda rf: list(rf.file.pairs("vector")),
        lambda rf: knowledge_base.read(rf.path),
    ],
)
def test_vectors_that_were_damaged_are_not_handed_out(path, ask):
    with ragfile.create(path) as w:
        w.add(
            [{"doc_id": "d", "chunk_index": i, "content": ""} for i in range(9000)],
            np.ones((9000, 8), np.float32),
        )
    with ragfile.open(path) as rf:
        assert rf.vectors().sum() == 72000
        at = rf.file.reader.entry("vector", 1)["at"]
    raw = bytearray(path.read_bytes())
    raw[at + 64 + 48 * 8000] ^= 1
    path.write_bytes(raw)
    with ragfile.open(path) as rf:
        assert rf.vector(0).sum() == 8
        with pytest.raises(CorruptError, match="block checksum"):
            ask(rf)


def test_half_precision_halves_the_vectors_and_keeps_what_16_bits_can_hold(path):
    made = np.random.default_rng(1).standard_normal((10, 6)).astype(np.float32)
    with ragfile.create(path, precision=16) as w:
        w.add([{"doc_id": "d", "chunk_index": i, "content": ""} for i in range(10)], made)
    with ragfile.open(path) as rf:
        assert rf.vectors().dtype == np.dtype("<f2")
        assert (rf.vectors() == made.astype(np.float16)).all()


def test_metadata_of_document_and_chunk_are_one_and_the_chunk_wins(path):
    with ragfile.create(path) as w:
        w.add_document(
            {
                "id": "d",
                "text": "hello world",
                "source": "s",
                "metadata": {"a": 1, "b": 1},
                "tags": ("x",),
            },
            [
                ragfile.Chunk("d", 0, "hello", ("x",), {"b": 2}, 0, 5),
                ragfile.Chunk("d", 1, "elsewhere", ("y",), {}),
            ],
        )
    with ragfile.open(path) as rf:
        first, second = rf.hit(0), rf.hit(1)
    assert (first.metadata, first.tags, first.source, first.id) == (
        {"a": 1, "b": 2},
        ("x",),
        "s",
        "d#0",
    )
    assert (second.text, second.tags, second.start) == ("elsewhere", ("y",), -1)


def test_context_is_the_exact_text_around_a_chunk(path):
    with ragfile.create(path, chunking="characters:50/0") as w:
        w.add_documents([{"id": "d", "text": "".join(f"{i:04d}" for i in range(100))}])
    with ragfile.open(path) as rf:
        text = "".join(f"{i:04d}" for i in range(100))
        assert rf.context("d#1", 4, 4) == text[46:104]
        assert (rf.context("d#0", 1000, 4), rf.context("d#7", 4, 1000)) == (text[:54], text[346:])
        assert [d.id for d in rf.sources(["d#1", "d#0", "nobody#0", "nothing"])] == ["d"]
        assert rf.sources("d#1") == rf.sources(["d#1"])
        with pytest.raises(KeyError):
            rf.context("d#99")


def test_the_same_input_makes_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        with ragfile.create(tmp_path / name) as w:
            w.add_documents(documents(20) if name == "one" else reversed(documents(20)))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_writer_that_fails_leaves_nothing_behind(path):
    with pytest.raises(ZeroDivisionError), ragfile.create(path) as w:
        w.add_documents(documents(3))
        raise ZeroDivisionError
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize(
    ("chunks", "vectors", "reason"),
    [
        ([{"doc_id": "", "chunk_index": 0, "content": ""}], None, "not empty"),
        ([{"doc_id": "d", "chunk_index": -1, "content": ""}], None, "chunk index -1"),
        ([{"doc_id": "d", "chunk_index": 0, "content": ""}] * 2, None, "added twice"),
        (
            [{"doc_id": "d", "chunk_index": 0, "content": ""}],
            [[1.0], [2.0]],
            "1 chunks need 1 vectors",
        ),
        ([{"doc_id": "d", "chunk_index": 0, "content": ""}], [[float("nan")]], "vector 0"),
        (
            [{"doc_id": "d", "chunk_index": 0, "content": "", "metadata": {"x": float("inf")}}],
            None,
            "JSON",
        ),
    ],
)
def test_what_cannot_be_stored_is_refused_with_the_reason(path, chunks, vectors, reason):
    with pytest.raises(ValueError, match=reason), ragfile.create(path) as w:
        w.add(chunks, vectors)
    assert not path.exists()


def test_unknown_sections_are_kept_and_handed_out(path):
    with ragfile.create(path) as w:
        w.add_section("my.graph", b"nodes and edges", items=3)
    with ragfile.open(path) as rf:
        assert bytes(rf.file.section("my.graph")) == b"nodes and edges"
        assert "my.graph" in rf.file.strategies
        assert rf.file.section("nothing") is None


def test_an_open_file_can_be_pickled_and_used_in_another_process(path):
    with ragfile.create(path) as w:
        w.add_documents(documents(2))
    code = "import pickle, sys; rf = pickle.loads(sys.stdin.buffer.read()); print(len(rf), rf.chunk(0).doc_id)"
    with ragfile.open(path) as rf:
        done = subprocess.run(
            [sys.executable, "-c", code], input=pickle.dumps(rf), capture_output=True, check=True
        )
        assert done.stdout.split() == [str(len(rf)).encode(), b"doc0"]


def test_refresh_sees_a_newer_commit_and_a_replaced_file(path):
    with ragfile.create(path) as w:
        w.add_documents(documents(2))
    with ragfile.open(path) as rf:
        before = len(rf)
        assert rf.refresh() is False
        with ragfile.edit(path) as w:
            w.delete(["doc0"])
        assert len(rf) == before
        assert rf.refresh() is True
        assert len(rf) < before
        ragfile.compact(path)
        assert rf.refresh() is True
        assert rf.generation == 2


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
texts = st.text(st.characters(), max_size=200)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8),
        st.tuples(texts, st.dictionaries(st.text(), json_values, max_size=3)),
        max_size=8,
    )
)
def test_any_documents_come_back_as_they_went_in(tmp_path_factory, collection):
    path = tmp_path_factory.mktemp("any") / "f.ragfile"
    with ragfile.create(path, chunking="characters:60/10") as w:
        w.add_documents({"id": i, "text": t, "metadata": m} for i, (t, m) in collection.items())
    with ragfile.open(path) as rf:
        back = {d.id: (d.text, d.metadata) for d in rf.documents()}
        assert back == collection
        for row in range(len(rf)):
            chunk = rf.chunk(row)
            assert collection[chunk.doc_id][0][chunk.start : chunk.end] == chunk.content
        assert rf.file.verify() == ([], rf.file.verify()[1])


def test_every_flipped_bit_is_an_error_or_changes_nothing(tmp_path, path):
    """Through the whole archive: each value read from a damaged copy is the original's or a FormatError."""
    with ragfile.create(path) as w:
        w.add_documents(
            [{"id": f"d{i}", "text": f"text {i}", "metadata": {"n": i}} for i in range(4)]
        )
        w.add([{"doc_id": "x", "chunk_index": 0, "content": "loose"}])

    def read(name):
        rf = rows_of(name)
        return (
            [rf.hit(row) for row in rf.live_rows().tolist()],
            list(rf.documents()),
            rf.file.config,
        )

    good, raw, copy = read(path), bytearray(path.read_bytes()), tmp_path / "copy"
    for at in list(range(0, 300)) + list(range(3960, len(raw))):
        raw[at] ^= 1 << at % 8
        copy.write_bytes(raw)
        raw[at] ^= 1 << at % 8
        try:
            assert read(copy) == good, at
        except ragfile.FormatError:
            continue


def test_a_lying_record_is_refused_by_the_section_that_holds_it(path):
    """Checksums do not stop an attacker: tables with right sums and wrong contents are errors, never crashes."""
    with ragfile.create(path) as w:
        w.add_documents([{"id": "d", "text": "some text"}])
    for name, content in (
        ("rag.chunks", b"\xff" * 32),
        ("rag.documents", b"\xff" * 64),
        ("rag.ids", b"\xff" * 40),
        ("rag.ids", b""),
        ("rag.text", b"\xff" * 64),
        ("rag.text", b""),
        ("rag.meta", b"\xff" * 100),
    ):
        w = _core.FileWriter.edit(path)
        w.add(name, content, 1)
        w.commit()
        with pytest.raises(ragfile.FormatError):
            ragfile.open(path).hit(0)
        with ragfile.open(path, generation=1) as rf:
            assert rf.hit(0).text == "some text"


def test_a_portable_file_answers_a_reader_that_knows_only_pairs(path):
    """Vector to reference to text, with nothing but 0.1.0's own sections."""
    texts = [f"text - number {i} é" for i in range(20)]
    made = np.random.default_rng(2).standard_normal((20, 5)).astype(np.float32)
    with ragfile.create(path, portable=True) as w:
        w.add(
            [{"doc_id": f"d{i:02}", "chunk_index": 0, "content": t} for i, t in enumerate(texts)],
            made,
        )
    plain = ragfile.PairFile.over(path.read_bytes(), dialect="strict")
    assert plain.version == (1, 0, 0)
    found = [
        (vector.tolist(), plain.lookup(reference)) for vector, reference in plain.pairs("vector")
    ]
    assert found == [(vector.tolist(), [text]) for vector, text in zip(made, texts, strict=True)]
    with ragfile.open(path) as rf:
        assert rf.file.lookup("c0000000003") == ["text - number 3 é"]
        assert [text for _, text in rf.file.pairs("keyword")] == texts
        assert ragfile.verify(path)[0] == []


def test_a_text_that_pairs_cannot_hold_is_refused_in_a_portable_file(path):
    with pytest.raises(ValueError, match=r"NUL|null"), ragfile.create(path, portable=True) as w:
        w.add([{"doc_id": "d", "chunk_index": 0, "content": "a\0b"}])


def test_the_nearest_of_a_pair_file_are_found_in_place(tmp_path):
    made = np.random.default_rng(3).standard_normal((40, 6)).astype(np.float32)
    for precision, order in ((32, "little"), (32, "big"), (16, "big"), (64, "little")):
        name = tmp_path / f"{precision}{order}"
        ragfile.write_pairs(
            name,
            embeddings=[(v, f"row {i}") for i, v in enumerate(made)],
            precision=precision,
            byteorder=order,
        )
        with ragfile.open(name) as rf:
            rows, scores = rf.nearest(made[7], 3, metric="ip")
            assert rows[0, 0] == np.argmax(made @ made[7])
            assert scores[0, 0] == pytest.approx(float((made @ made[7]).max()), rel=1e-2)


def test_a_third_party_writes_and_searches_a_strategy_of_its_own(path):
    class Neighbours:
        def __init__(self, section, rf):
            self.edges, self.rf = bytes(section).decode().split(), rf

        def of(self, name):
            return [self.rf.document(edge[2]).text for edge in self.edges if edge[0] == name]

    ragfile.register("my.graph", Neighbours)
    with ragfile.create(path) as w:
        w.add_documents([{"id": i, "text": f"text of {i}"} for i in "abc"])
        w.add_section("my.graph", b"a-b a-c b-c")
    with ragfile.open(path) as rf:
        assert rf.strategy("my.graph").of("a") == ["text of b", "text of c"]
        with pytest.raises(KeyError, match=r"my\.other"):
            rf.strategy("my.other")
    with pytest.raises(ValueError, match="belongs to the format"):
        ragfile.register("rag.text", Neighbours)
    for name in ("graph", "hypergraph", "vector", "keyword"):
        with pytest.raises(ValueError, match="belongs to the format"):
            ragfile.register(name, Neighbours)


def test_any_partition_of_the_bytes_gives_every_live_row_once(path):
    with ragfile.create(path) as w:
        w.add_documents(documents(40))
    with ragfile.edit(path) as w:
        w.add_documents([{"id": f"new{i}", "text": TEXT} for i in range(9)])
        w.delete(["doc3", "doc8"])
    rng = np.random.default_rng(5)
    with ragfile.open(path) as rf:
        size = rf.info["size"]
        whole = rf.file.rows_in(0, size)
        assert len(whole) == len(rf)
        for parts in (1, 2, 7, 50):
            edges = [0, *sorted(rng.integers(0, size, parts - 1).tolist()), size]
            assert [
                row for a, b in itertools.pairwise(edges) for row in rf.file.rows_in(a, b)
            ] != []
            assert (
                sorted(row for a, b in itertools.pairwise(edges) for row in rf.file.rows_in(a, b))
                == whole
            )


@pytest.mark.parametrize(
    ("gone", "needs"),
    [("rag.text", "rag.text"), ("rag.postings", "rag.postings"), ("vector", "vector")],
)
def test_a_section_without_the_one_it_stands_on_is_refused_by_name(path, gone, needs):
    with ragfile.create(path) as w:
        w.add([{"doc_id": "d", "chunk_index": 0, "content": "text"}], [[1.0, 2.0]])
    w = _core.FileWriter.edit(path)
    w.drop(gone, 1)
    w.commit()
    with pytest.raises(ragfile.CorruptError, match=f"needs section {needs}"):
        ragfile.open(path)


def test_sources_come_once_in_order_of_first_mention(tmp_path):
    names = [f"d{i}" for i in (3, 9, 1, 7, 0, 8, 2, 6, 4, 5)]
    with ragfile.create(tmp_path / "kb") as w:
        w.add(
            [
                {"doc_id": name, "chunk_index": i, "content": "x"}
                for name in sorted(names)
                for i in range(2)
            ]
        )
    with ragfile.open(tmp_path / "kb") as rf:
        assert [
            d.id for d in rf.sources([f"{name}#{i}" for i in (1, 0) for name in names])
        ] == names


@pytest.mark.parametrize("leg", ["nearest", "match"])
def test_other_threads_run_while_a_file_is_searched(tmp_path, leg):
    """With a switch interval of minutes, only a released GIL lets the main thread see the work unfinished."""
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(50)])
    with ragfile.create(tmp_path / "kb", dim=64) as w:
        w.add(
            [
                {"doc_id": "d", "chunk_index": i, "content": " ".join(rng.choice(words, 20))}
                for i in range(3000)
            ],
            rng.standard_normal((3000, 64)),
        )
    with ragfile.open(tmp_path / "kb") as rf:
        asked = rng.standard_normal((3000, 64)) if leg == "nearest" else [" ".join(words)] * 3000
        before, started, finished = sys.getswitchinterval(), threading.Event(), []

        def work():
            started.set()
            getattr(rf, leg)(asked, 10, threads=1)
            finished.append(True)

        thread = threading.Thread(target=work)
        sys.setswitchinterval(1000)
        try:
            thread.start()
            started.wait()
            seen_unfinished = not finished
        finally:
            sys.setswitchinterval(before)
        thread.join()
    assert seen_unfinished


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        ({"doc_id": "a", "chunk_index": 0, "text": "x"}, "a chunk lacks content and does not know text; its fields are doc_id, "),
        ({"doc_id": "a"}, "a chunk lacks chunk_index, content; its fields are "),
        ("passage", "a chunk is a Chunk or a mapping, not str"),
    ],
)  # fmt: skip
def test_what_is_no_chunk_is_told_what_a_chunk_is(path, chunk, said):
    with pytest.raises(TypeError) as refused, ragfile.create(path) as w:
        w.add([chunk])
    assert str(refused.value).startswith(said)
    assert not path.exists()
