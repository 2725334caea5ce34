"""Format 0.1.0 and 1.0, converted both ways; its files are also written and read by its first script's rules."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from servers.embedding_servers import Server, vector_of

import ragfile
from ragfile.errors import FormatError
from ragfile.file.pairs import PairFile
from ragfile.file.pairs_writer import write_pairs

KEYWORDS = [
    ("AI", "Machines that learn."), ("RAG", "Answers from documents - found, then written."),
    ("Graph", "Nodes and edges."), ("AI", "Search and planning."), ("ML", "Machines that learn."),
    ("", "A content without a keyword."), ("Empty", ""),
]  # fmt: skip
TEXTS = ["Machines that learn.", "Nodes and edges.", "Vectors alone.", "Nodes and edges."]


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-m", "ragfile", *map(str, arguments)],
        capture_output=True, text=True,
    )  # fmt: skip


def embeddings(precision):
    rng = np.random.default_rng(precision)
    for text in TEXTS:
        row = rng.integers(-100, 100, 8) if precision == 8 else rng.standard_normal(8)
        yield row, text


def content(path):
    with PairFile(path) as file:
        vectors = [(v.tolist(), text) for v, text in file.pairs("vector")]
        return list(file.pairs("keyword")), vectors, file.byteorder, file.precision


@pytest.mark.parametrize("byteorder", ["little", "big"])
@pytest.mark.parametrize("padding", [4, 8, 16])
@pytest.mark.parametrize("precision", [8, 16, 32])
@pytest.mark.parametrize("sorted_keys", [False, True])
def test_the_way_there_and_back_gives_equal_bytes(
    tmp_path, byteorder, padding, precision, sorted_keys
):
    old, new, back = (tmp_path / name for name in ("old.ragfile", "new.ragfile", "back.ragfile"))
    write_pairs(
        old, KEYWORDS, embeddings(precision), padding=padding, precision=precision,
        byteorder=byteorder, sorted_keys=sorted_keys,
    )  # fmt: skip
    ragfile.convert(old, new)
    assert new.read_bytes()[:8] == b"RAGFILE\1"
    ragfile.convert(new, back, to="ragfile-0.1", padding=padding)
    assert back.read_bytes() == old.read_bytes()


def test_the_command_converts_both_ways_and_changes_the_layout(tmp_path):
    old, new, back = (tmp_path / name for name in ("old.ragfile", "new.ragfile", "back.ragfile"))
    write_pairs(old, KEYWORDS, embeddings(32), byteorder="big", padding=8)
    done = run("convert", old, new)
    assert (done.returncode, done.stderr) == (0, "")
    layout = ("--padding", "4", "--byte-order", "little", "--precision", "16")
    assert run("convert", new, back, "--to", "ragfile-0.1", *layout).returncode == 0
    keywords, vectors, byteorder, precision = content(back)
    assert (byteorder, precision, keywords) == ("little", 16, KEYWORDS)
    wanted = [row.astype("f4").astype("f2") for row, _ in embeddings(32)]
    np.testing.assert_array_equal([v for v, _ in vectors], wanted)
    assert [text for _, text in vectors] == TEXTS


def test_a_converted_file_is_searched_by_word_keyword_and_vector(tmp_path):
    write_pairs(tmp_path / "old", KEYWORDS, embeddings(32))
    ragfile.convert(tmp_path / "old", tmp_path / "new.ragfile")
    with ragfile.open(tmp_path / "old") as old, ragfile.open(tmp_path / "new.ragfile") as new:
        assert {hit.text for hit in new.search("AI", mode="keyword")} == set(old.lookup("AI"))
        assert new.search("planning", mode="bm25")[0].text == "Search and planning."
        query = np.arange(8, dtype=np.float32)
        rows, scores = old.nearest(query, 4)
        found = new.search("", vector=query, k=4, mode="vector")
        texts = [text for _, text in old.pairs("vector")]
        assert {hit.text for hit in found} == {texts[row] for row in rows[0]}
        assert sorted(hit.score for hit in found) == pytest.approx(sorted(scores[0].tolist()))


def test_pairs_without_vectors_or_without_keywords_convert(tmp_path):
    for name, given in (("k", (KEYWORDS,)), ("v", ((), embeddings(32))), ("none", ())):
        write_pairs(tmp_path / name, *given)
        ragfile.convert(tmp_path / name, tmp_path / f"{name}.ragfile")
        ragfile.convert(tmp_path / f"{name}.ragfile", tmp_path / f"{name}-2", to="ragfile-0.1")
        assert (tmp_path / f"{name}-2").read_bytes() == (tmp_path / name).read_bytes()


def script_file(path, keywords, vectors, padding=8, precision=32):
    """Write a file as the format's first script does, which records no dimension."""
    from test_pairs_reference import Script

    script = Script()
    script.keywords([("filler", "x" * 200), *keywords], padding)
    script.embeddings([(row, text) for row, text in vectors], padding, precision)
    path.write_bytes(script.finish())


def test_a_file_of_the_first_script_converts_with_a_dim(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(__import__("pathlib").Path(__file__).parents[2] / "file"))
    rows = [(np.full(8, 0.5), "Odd number of letters")] * 3
    script_file(tmp_path / "old.ragfile", KEYWORDS[:3], rows)
    done = run("convert", tmp_path / "old.ragfile", tmp_path / "new.ragfile", "--dim", "8")
    assert done.returncode == 0, done.stderr
    with ragfile.open(tmp_path / "new.ragfile") as rf:
        assert rf.rows.dim == 8
        assert rf.search("Graph", mode="keyword")[0].text == "Nodes and edges."


def ambiguous(path):
    """Write a file whose vectors fit several dimensions."""
    rows = [(np.full(8, 0.5), "Odd number of letters")] * 3 + [(np.arange(8), "Another text")]
    script_file(path, KEYWORDS[:3], rows)
    return path


def test_info_and_export_take_the_dim_that_a_file_does_not_record(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(__import__("pathlib").Path(__file__).parents[2] / "file"))
    old = ambiguous(tmp_path / "old.ragfile")
    shown = run("info", old)
    assert shown.returncode == 0, shown.stderr
    assert "could be any of 8 (32 bits)" in shown.stdout
    assert "dim  8" in run("info", old, "--dim", "8").stdout
    assert "vector" in run("inspect", old).stdout
    refused = run("export", old, tmp_path / "out.jsonl")
    assert (refused.returncode, "name it with --dim" in refused.stderr) == (5, True)
    done = run("export", old, tmp_path / "out.jsonl", "--dim", "8")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [0.5] * 8 in [line.get("embedding") for line in lines]


def test_a_file_that_was_cut_off_is_refused_wherever_it_was_cut(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(__import__("pathlib").Path(__file__).parents[2] / "file"))
    write_pairs(tmp_path / "strict", KEYWORDS, embeddings(32))
    for whole in (ambiguous(tmp_path / "script"), tmp_path / "strict"):
        data = whole.read_bytes()
        for size in [*range(0, 11), *range(12, len(data) - 1, 7), len(data) - 1]:
            (tmp_path / "cut").write_bytes(data[:size])
            with pytest.raises(FormatError), warnings.catch_warnings(action="ignore"):
                ragfile.convert(tmp_path / "cut", tmp_path / "new.ragfile", dim=8)
    assert not (tmp_path / "new.ragfile").exists()
    (tmp_path / "cut").write_bytes(data[:300])
    done = run("convert", tmp_path / "cut", tmp_path / "new.ragfile")
    assert done.returncode == 5
    assert "reaches beyond the end of the file" in done.stderr
    assert "neither parity nor older commits" in done.stderr
    (tmp_path / "cut").write_bytes(data[:11])
    assert "has no pairs" in run("convert", tmp_path / "cut", tmp_path / "new.ragfile").stderr


def test_the_command_line_looks_up_and_searches_a_file_of_pairs(tmp_path, monkeypatch):
    vectors = [(vector_of(text), text) for text in TEXTS[:3]]
    write_pairs(tmp_path / "old.ragfile", KEYWORDS, vectors)
    found = run("search", tmp_path / "old.ragfile", "AI", "--mode", "keyword", "--json")
    assert found.returncode == 0, found.stderr
    texts = {hit["text"] for hit in json.loads(found.stdout)["hits"]}
    assert texts == {"Machines that learn.", "Search and planning."}
    assert "Nodes and edges." in run("search", tmp_path / "old.ragfile", "edges").stdout
    assert "planning" in run("ask", tmp_path / "old.ragfile", "What is planning?").stdout
    assert run("show", tmp_path / "old.ragfile", "Graph").stdout == "Nodes and edges.\n"
    with Server() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        options = ("--embedder", "ollama:all-minilm", "--mode", "vector", "--json", "--dim", "8")
        found = run("search", tmp_path / "old.ragfile", "Vectors alone.", *options)
    assert json.loads(found.stdout)["hits"][0]["text"] == "Vectors alone."


def test_a_built_file_becomes_pairs_by_keyword_tag_and_id(tmp_path):
    documents = [
        ragfile.Document(
            "keys.md", "Keys rotate.", tags=["ops"], metadata={"keywords": ["rotation"]}
        ),
        ragfile.Document("a-b", "Dashes cannot be keywords.", tags=["ops"]),
    ]
    with ragfile.create(tmp_path / "kb.ragfile", embedder="default") as w:
        w.add_documents(documents)
    with pytest.warns(UserWarning, match=r"1 ids, tags and keywords are left out: they contain"):
        ragfile.convert(tmp_path / "kb.ragfile", tmp_path / "old", to="ragfile-0.1")
    with ragfile.open(tmp_path / "old") as old:
        assert old.lookup("rotation") == old.lookup("keys.md") == ["Keys rotate."]
        assert len(old.lookup("ops")) == 2
        assert old.dim == 256


def exclusive_reader(data, keyword, padding):
    """Look a keyword up as a reader does that takes the ends of sections as exclusive."""
    name = data.index(b"keyword-(") + len(b"keyword-(")
    at, end = map(int, data[name : data.index(b")", name)].split(b","))
    found = []
    while at < end:
        block = data[at : min(end, at + 256 * padding)]
        for record in block.split(b"\0"):
            key, dash, text = record.partition(b"-")
            if dash and key == keyword.encode():
                found.append(text.decode())
        at += len(block)
    return found


@pytest.mark.parametrize("padding", [8, 16])
def test_a_reader_with_exclusive_ends_loses_no_character_of_a_portable_file(tmp_path, padding):
    for size in range(1, 60):
        text = "x" * size + "y"
        with ragfile.create(tmp_path / "kb", portable=True, dim=2) as w:
            chunk = {"doc_id": "d", "chunk_index": 0, "content": text}
            w.add([chunk], vectors=np.ones((1, 2), np.float32))
        data = (tmp_path / "kb").read_bytes()
        assert exclusive_reader(data, "c0000000000", padding) == [text]
        (tmp_path / "kb").unlink()
