"""A store of another kind that is not what it should be is refused, with what is wrong and where."""

import json

import numpy as np
import pytest
from oracles.ragmd_examples import collection, rendered

from ragfile.errors import FormatError
from ragfile.exchange import conversion
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.ragmd import ragmd_reader


@pytest.fixture
def folder(tmp_path):
    """A store of plain files."""
    path = tmp_path / "plain"
    conversion.write(collection(), path, to="npy+jsonl")
    return path


def lines(path):
    return path.read_text().splitlines()


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("documents", lambda said: [said[0], "{", *said[2:]], "documents.jsonl, line 2"),
        ("chunks", lambda said: [*said, "nonsense"], "chunks.jsonl, line 13"),
        ("chunks", lambda said: ['{"chunk_key": "a"}', *said[1:]], "document_id is missing"),
        ("chunks", lambda said: ["3", *said[1:]], "line 1 is not a JSON object"),
        ("documents", lambda said: ["{}", *said[1:]], "body is missing, or is not text"),
        ("documents", lambda said: ['{"body": "[]"}', *said[1:]], "body is not a JSON object"),
        ("documents", lambda said: ['{"body": "{}"}', *said[1:]], "body has no id"),
        ("documents", lambda said: ['{"body": "{"}', *said[1:]], "body is not JSON"),
        ("documents", lambda said: ['{"body": 3}', *said[1:]], "body is missing, or is not text"),
        ("chunks", lambda said: said[1:], ""),
    ],
)
def test_lines_that_are_no_records_are_named(folder, name, change, says):
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(change(lines(path))) + "\n")
    with pytest.raises(FormatError, match=says or None):
        conversion.read(folder)


@pytest.mark.parametrize("kind", ["npy+jsonl", "ragged-mmap"])
@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'"note"'])
def test_a_note_that_is_none_is_refused(tmp_path, kind, raw):
    conversion.write(collection(), tmp_path / "x", to=kind)
    (tmp_path / "x" / "note.json").write_bytes(raw)
    with pytest.raises(FormatError, match=r"note\.json is not"):
        conversion.read(tmp_path / "x")


@pytest.mark.parametrize("raw", [b"", b"no numbers", b"\x93NUMPY\x01\x00"])
def test_vectors_that_are_none_are_refused(folder, raw):
    (folder / "vectors.npy").write_bytes(raw)
    with pytest.raises((FormatError, ValueError, EOFError)):
        conversion.read(folder)


def test_a_table_without_texts_or_vectors_is_refused(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"words": ["a"]}), path)
    with pytest.raises(FormatError, match="no column has vectors among words: name it with --map"):
        conversion.read(path)


def test_lines_of_a_postgres_copy_have_all_fields(tmp_path):
    path = tmp_path / "copy"
    conversion.write(collection(), path, to="pgvector")
    said = lines(path / "chunks.copy")
    (path / "chunks.copy").write_text("\n".join([*said[:2], "7\tonly two", *said[3:]]) + "\n")
    with pytest.raises(FormatError, match=r"chunks.copy, line 3: 2 fields, not"):
        conversion.read(path)


def test_what_to_write_must_be_known(tmp_path):
    for name, to in (("x.what", None), ("x", "what")):
        with pytest.raises(ValueError, match="name the format with to=; one of"):
            conversion.write(collection(), tmp_path / name, to=to)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        ({"a": []}, "document 'a' is not an object"),
        ({"a": {"id": "b"}}, "document 'a' calls itself 'b'"),
        ({"a": {"id": "a", "chunks": []}}, "chunks and content are objects"),
        ({"a": {"id": "a", "full_text": 3}}, "full_text is text"),
        ({"a": {"id": "a", "chunks": {"x": 3}}}, "x"),
    ],
)
def test_documents_of_a_collection_are_checked(documents, says):
    of = collection()
    with pytest.raises(FormatError, match=says):
        Collection(of.index, of.refs, documents, "m").check()


@pytest.mark.parametrize("front", ["{a: 1}", "- a\n- b", "just text", "a: 1\na: 2", "? [x]\n: 1"])
def test_a_front_that_is_no_block_of_lines_is_refused(tmp_path, front):
    text = rendered(collection()).decode()
    _, _, rest = text.removeprefix("---\n").partition("\n---\n")
    path = tmp_path / "x.ragmd"
    path.write_text(f"---\n{front}\n---\n{rest}")
    with pytest.raises(FormatError):
        ragmd_reader.load(path)


def test_a_pair_is_two_files_of_these_kinds(tmp_path):
    with pytest.raises(ValueError, match=r"is neither \.faiss nor \.json"):
        json_pair.pair_paths(tmp_path / "x.bin")


def test_a_pair_whose_json_is_no_text_says_where(tmp_path):
    paths = tmp_path / "x.faiss", tmp_path / "x.json"
    conversion.write(collection(), paths, to="faiss+json")
    whole = paths[1].read_bytes()
    for raw, says in (
        (whole[:20] + b"\xff" + whole[20:], r"not UTF-8 \(byte 20\)"),
        (b"[]", "the JSON is not an object"),
        (b'{"documents": 1' + b"0" * 5000 + b"}", "."),
        (json.dumps({"documents": [3], "chunk_refs": []}).encode(), "."),
    ):
        paths[1].write_bytes(raw)
        with pytest.raises(FormatError, match=says):
            conversion.read(paths)
    assert np.isfinite(collection().index.vectors).all()
