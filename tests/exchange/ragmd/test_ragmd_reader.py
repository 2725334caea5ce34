"""A .ragmd file: what the seed shows loads, what is saved is read back, and nothing inside a value can break the file."""

import datetime
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import yaml
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import ragmd as ragmd_oracle
from oracles.ragmd_examples import EPOCH, collection, minimal, rendered

import ragfile
from ragfile.errors import CorruptError, FormatError, VersionError
from ragfile.exchange.collection import Collection
from ragfile.exchange.faiss import index as faiss_flat
from ragfile.exchange.ragmd import ragmd_reader

# --------------------------------------------------------------------------------------------------- what it shows ---


def test_the_minimal_example_loads():
    found = ragmd_reader.parse(minimal().encode())
    assert (found.dim, len(found), found.model_name) == (8, 3, "nomic-embed-text")
    assert [found.text(row) for row in range(3)] == [
        "This is a sample doc",
        "ument with multiple ",
        "chunks for testing.",
    ]
    assert np.array_equal(found.index.vectors, np.arange(24, dtype=np.float32).reshape(3, 8) / 8)


def test_the_placeholder_of_the_example_is_refused_with_its_line():
    text = minimal("aWRuZXhfZmxhdGlw... [base64-encoded FAISS index data] ...Qo=")
    with pytest.raises(FormatError, match=r"line 49: not a base64 character"):
        ragmd_reader.parse(text.encode())


def test_either_heading_of_the_vectors_is_read_and_the_short_one_written():
    found = ragmd_reader.parse(minimal().replace("## Vectors", "## Vectors (Base64)").encode())
    assert b"\n## Vectors\n" in rendered(found)


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t])
def test_line_ends_and_byte_order_marks_of_other_editors_are_read_and_not_written(change):
    changed = ragmd_reader.parse(change(minimal()).encode())
    assert rendered(changed) == rendered(ragmd_reader.parse(minimal().encode()))
    assert b"\r" not in rendered(changed)


def test_sections_need_no_fence():
    text = re.sub(r"```.*\n", "", minimal())
    assert (
        ragmd_reader.parse(text.encode()).documents
        == ragmd_reader.parse(minimal().encode()).documents
    )


def test_sections_may_stand_in_any_order():
    head, *sections = re.split(r"(?m)^(?=## )", minimal())
    text = head + "\n".join(reversed(sections))
    assert rendered(ragmd_reader.parse(text.encode())) == rendered(
        ragmd_reader.parse(minimal().encode())
    )


def test_documents_may_be_a_list():
    of = collection()
    text = rendered(of).decode()
    start = text.index("## Document Metadata\n\n```json\n") + len(
        "## Document Metadata\n\n```json\n"
    )
    end = text.index("\n```", start)
    listed = text[:start] + json.dumps(list(of.documents.values()), indent=1) + text[end:]
    assert ragmd_reader.parse(listed.encode()).documents == of.documents


@pytest.mark.parametrize(
    "stamp", ['"2026-02-14T10:00:00Z"', "2026-02-14T10:00:00Z", "2026-02-14 10:00:00"]
)
def test_the_time_of_creation_is_kept_as_it_was_written(stamp):
    text = minimal().replace('created_at: "2026-02-14T10:00:00Z"', f"created_at: {stamp}")
    found = ragmd_reader.parse(text.encode())
    found.touch()
    assert f"\ncreated_at: {stamp}\n".encode() in rendered(found)
    assert datetime.datetime.fromisoformat(found.created_at.replace("Z", "+00:00")).year == 2026


def test_a_file_without_a_time_of_creation_loads_and_gets_one(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    found = ragmd_reader.parse(re.sub(r"(created|updated)_at.*\n", "", minimal()).encode())
    ragmd_reader.save(tmp_path / "x.ragmd", found)
    assert ragmd_reader.load(tmp_path / "x.ragmd").created_at == "2001-09-09T01:46:40Z"


# ------------------------------------------------------------------------------------------------------ round trips ---


@pytest.mark.parametrize("metric", ["ip", "l2"])
@pytest.mark.parametrize("dim", [1, 3, 8, 64, 100, 384])
def test_what_is_saved_is_read_back(tmp_path, dim, metric):
    of = collection(dim=dim, metric=metric)
    ragmd_reader.save(tmp_path / "x.ragmd", of)
    found = ragmd_reader.load(tmp_path / "x.ragmd")
    assert (found.documents, found.refs, found.index) == (of.documents, of.refs, of.index)
    assert found.index.vectors.tobytes() == of.index.vectors.tobytes()
    assert rendered(found) == rendered(of)


def test_saving_twice_gives_the_same_bytes(tmp_path):
    of = collection()
    ragmd_reader.save(tmp_path / "a.ragmd", of)
    ragmd_reader.save(tmp_path / "b.ragmd", of)
    ragmd_reader.save(tmp_path / "c.ragmd", ragmd_reader.load(tmp_path / "a.ragmd"))
    assert len({(tmp_path / f"{name}.ragmd").read_bytes() for name in "abc"}) == 1


def test_the_frontmatter_says_what_the_file_holds():
    front = yaml.safe_load(rendered(collection()).decode().split("---\n")[1])
    assert front == {
        "format_version": "1.0",
        "model_name": "a-model",
        "embedding_dim": 16,
        "vector_count": 12,
        "document_count": 3,
        "index_type": "IndexFlatIP",
        "created_at": EPOCH,
        "updated_at": EPOCH,
        "vectors_checksum": front["vectors_checksum"],
        "document_checksums": front["document_checksums"],
    }


def test_the_sections_come_in_the_order_of_the_format():
    titles = re.findall(r"(?m)^## (.*)$", rendered(collection()).decode())
    assert titles == ["Documents", "Chunks", "Document Metadata", "Vectors"]


def test_unknown_keys_and_sections_survive_a_save():
    text = minimal().replace(
        "---\n\n## Doc",
        "# mine\nlicence: {name: CC0, year: 2026} # why\n---\n\nA note.\n\n## Doc",
        1,
    )
    text = text.replace(
        "## Vectors", "## Notes\n\n- one\n\n```python\n## not a heading\n```\n\n## Vectors"
    )
    found = ragmd_reader.parse(text.encode())
    again = rendered(found).decode()
    assert "# mine\nlicence: {name: CC0, year: 2026} # why\n" in again
    assert "\n\nA note.\n\n## Documents" in again
    assert "\n\n## Notes\n\n- one\n\n```python\n## not a heading\n```\n\n## Vectors" in again
    assert rendered(ragmd_reader.parse(again.encode())).decode() == again


def test_unknown_keys_of_documents_chunks_and_references_survive_a_save():
    of = collection()
    of.documents["doc-001"]["licence"] = {"name": "CC0", "also": [1, {"x": None}]}
    of.documents["doc-001"]["chunks"]["chunk-0"]["page"] = 4
    of.refs[2]["weight"] = 0.25
    found = ragmd_reader.parse(rendered(of))
    assert (found.documents, found.refs) == (of.documents, of.refs)


def test_the_order_of_documents_and_keys_is_kept():
    of = collection()
    of.documents = dict(reversed(of.documents.items()))
    of.documents["doc-001"] = dict(reversed(of.documents["doc-001"].items()))
    found = ragmd_reader.parse(rendered(of))
    assert json.dumps(found.documents) == json.dumps(of.documents)


HOSTILE = [
    "a | b",
    "two\nlines",
    "`code`",
    "## Vectors",
    "```\n## Chunks\n```",
    "---",
    "\u2028\x85\x00\x1b",
    "\ud800 alone",
    "…é漢",
]


@pytest.mark.parametrize("title", HOSTILE)
def test_no_title_breaks_the_file(title):
    of = collection()
    of.model_name = title
    of.documents["doc-001"]["content"]["title"] = title
    of.documents[title] = {
        "id": title,
        "content": {},
        "full_text": title,
        "source": title,
        "chunks": {},
    }
    found = ragmd_reader.parse(rendered(of))
    assert (found.documents, found.model_name) == (of.documents, title)
    table = rendered(of).decode().split("## Documents\n\n")[1].split("\n\n## Chunks")[0].split("\n")
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in table)


texts = st.text(st.characters(), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None, max_examples=examples(150))
@given(
    st.dictionaries(texts, st.dictionaries(texts, values, max_size=3), max_size=4),
    st.integers(1, 70),
    texts,
)
def test_any_json_comes_back_as_it_was(contents, dim, model):
    refs = [
        {"document_id": name, "chunk_key": key}
        for name, content in contents.items()
        for key in content
    ]
    documents = {
        name: {"id": name, "content": content, "chunks": {}} for name, content in contents.items()
    }
    vectors = np.arange(len(refs) * dim, dtype=np.float32).reshape(len(refs), dim)
    of = Collection(faiss_flat.Index.of(vectors), refs, documents, model, EPOCH, EPOCH)
    data = rendered(of)
    found = ragmd_reader.parse(data)
    assert (found.documents, found.refs, found.model_name, found.index) == (
        documents,
        refs,
        model,
        of.index,
    )
    assert rendered(found) == data
    assert ragmd_oracle.read(data)["documents"] == documents


def test_rows_that_come_one_by_one_make_the_index_that_comes_at_once():
    vectors = np.random.default_rng(2).standard_normal((40, 24)).astype(np.float32)
    index = faiss_flat.Index.of(vectors[:1], "l2")
    before = index.vectors
    for row in vectors[1:]:
        index.append(row)
    assert index == faiss_flat.Index.of(vectors, "l2")
    assert (index.count, index.vectors.shape) == (40, (40, 24))
    assert np.array_equal(before, vectors[:1])
    assert index.vectors.ctypes.data % 64 == 0


# --------------------------------------------------------------------------------------------------- texts of chunks ---


def test_a_chunk_without_a_span_is_the_field_of_its_name():
    of = collection()
    of.documents["doc-000"]["content"]["abstract (short)"] = "What it says."
    of.documents["doc-000"]["chunks"]["abstract (short)"] = {
        "i_start": None,
        "i_end": None,
        "faiss_id": 0,
    }
    of.refs[0]["chunk_key"] = "abstract (short)"
    del of.documents["doc-000"]["chunks"]["chunk-0"]
    assert ragmd_reader.parse(rendered(of)).text(0) == "What it says."


# ------------------------------------------------------------------------------------------------------- for people ---


def test_the_file_is_text():
    data = rendered(collection())
    assert 0 not in data
    assert all(len(line) < 10_000 for line in data.decode().split("\n"))


def test_the_table_counts_the_chunks_and_is_sorted():
    of = collection()
    of.documents = dict(reversed(of.documents.items()))
    rows = rendered(of).decode().split("## Documents\n\n")[1].split("\n\n")[0].split("\n")[2:]
    assert rows == [f"| doc-00{n} | doc-00{n}.txt | 4 | Title {n} |" for n in range(3)]


def test_a_markdown_parser_sees_one_table():
    markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    parser = markdown_it.MarkdownIt("commonmark").enable("table")
    body = rendered(collection()).decode().split("---\n", 2)[2]
    assert [token.type for token in parser.parse(body)].count("table_open") == 1


# ---------------------------------------------------------------------------------------------------------- refusals ---


def test_a_file_without_frontmatter_says_exactly_that(tmp_path):
    (tmp_path / "x.ragmd").write_text("# Hello\n")
    with pytest.raises(ValueError, match=r"^Missing frontmatter$"):
        ragmd_reader.load(tmp_path / "x.ragmd")


def test_a_plain_markdown_file_is_told_from_a_collection():
    plain = b"---\ntitle: My page\n---\n\n# Hello\n"
    assert not ragmd_reader.looks_like(plain)
    assert ragmd_reader.looks_like(minimal().encode())
    with pytest.raises(ragmd_reader.NotARagmd):
        ragmd_reader.parse(plain)


@pytest.mark.parametrize("version", ['"1.0"', '"1.0.3"', "1.0", "1"])
def test_every_version_one_is_read(version):
    ragmd_reader.parse(
        minimal().replace('format_version: "1.0"', f"format_version: {version}").encode()
    )


def test_a_newer_version_is_refused_as_such():
    with pytest.raises(VersionError, match=r"2\.0"):
        ragmd_reader.parse(minimal().replace('"1.0"', '"2.0"').encode())


REFUSED = {
    "vector_count: 3 -> vector_count: 4": "vector_count is 4, but the file holds 3",
    "embedding_dim: 8 -> embedding_dim: 9": "embedding_dim is 9, but the file holds 8",
    "document_count: 1 -> document_count: 2": "document_count is 2, but the file holds 1",
    "IndexFlatIP -> IndexFlatL2": "index_type is 'IndexFlatL2', but the file holds 'IndexFlatIP'",
    '"faiss_id": 2} -> "faiss_id": 3}': "faiss_id 3 in an index of 3 vectors",
    '{"faiss_id": 2, -> {"faiss_id": 1,': "line 18: the faiss_ids are not 0 to 2, each once",
    '{"faiss_id": 2, -> {"faiss_id": 2.0,': "the faiss_ids are not 0 to 2, each once",
    '"doc-001", "chunk_key": "chunk-2" -> "doc-002", "chunk_key": "chunk-2"': "'document_id': 'doc-002'",
    '"chunk_key": "chunk-2" -> "chunk_key": "chunk-7"': "'chunk_key': 'chunk-7'",
    '"chunk_key": "chunk-2" -> "chunk_key": 2': "chunk reference 2 needs",
    '"i_end": 20, "f -> "i_end": -1, "f': "has no span: 0 to -1",
    '"id": "doc-001", -> "id": "doc-1",': "calls itself 'doc-1'",
    "## Chunks -> ## Vectors": "'## Vectors' occurs twice",
    "## Chunks -> ## Chunky": "there is no section '## Chunks'",
    "```base64 -> ````base64": "line 48: this fence is not closed",
    "## Vectors\n -> ## Vectors\nhello\n": "line 47: text beside the fence",
    'example.txt", -> example.txt"': "line 35, column 5: Expecting ',' delimiter",
    'model_name: "nomic-embed-text" -> model_name: 7': "model_name is 7, not text",
    'model_name: -> model_name: "x"\nmodel_name:': "line 4: key 'model_name' occurs twice",
    "---\n\n## D -> \n\n## D": "the frontmatter has no end",
}


@pytest.mark.parametrize("change", REFUSED)
def test_a_file_that_contradicts_itself_is_refused(change):
    old, new = change.split(" -> ")
    text = minimal()
    assert old in text
    at = text.rindex(old) if old.startswith(('"chunk_key"', '"doc-001"')) else text.index(old)
    with pytest.raises(FormatError) as caught:
        ragmd_reader.parse((text[:at] + new + text[at + len(old) :]).encode())
    assert REFUSED[change] in str(caught.value)


def test_references_to_nothing_are_read_when_the_file_admits_them():
    of = collection()
    of.refs[5]["document_id"] = "gone"
    data = rendered(of)
    assert b"\ndangling_count: 1\n" in data
    assert ragmd_reader.parse(data).refs == of.refs


def test_a_changed_vector_is_noticed():
    data = bytearray(rendered(collection()))
    at = data.index(b"```base64\n") + 90
    data[at] = ord("A") if data[at] != ord("A") else ord("B")
    with pytest.raises(CorruptError, match="the vectors hash to"):
        ragmd_reader.parse(data)


def test_a_byte_that_is_not_utf8_is_named():
    data = minimal().encode()
    at = data.index(b"sample")
    with pytest.raises(FormatError, match=rf"line 35: not UTF-8 \(byte {at}\)"):
        ragmd_reader.parse(data[:at] + b"\xff" + data[at + 1 :])


def test_large_kinds_of_index_are_refused_unless_the_caller_insists(tmp_path):
    head = bytearray(faiss_flat.Index.of(np.zeros((3, 8))).data)
    head[:4] = b"IHNf"
    of = ragmd_reader.parse(minimal().encode())
    of.index = faiss_flat.Index(bytes(head))
    with pytest.raises(FormatError, match="IndexHNSWFlat does not belong"):
        ragmd_reader.save(tmp_path / "x.ragmd", of)
    ragmd_reader.save(tmp_path / "x.ragmd", of, allow_large=True)
    assert ragmd_reader.load(tmp_path / "x.ragmd").index.class_name == "IndexHNSWFlat"
    with pytest.raises(FormatError, match="allow_large"):
        ragmd_reader.load(tmp_path / "x.ragmd", allow_large=False)


def test_more_documents_than_a_text_file_is_good_for_are_warned_of(tmp_path):
    of = collection(documents=1)
    of.documents.update({f"d{n}": {"id": f"d{n}"} for n in range(10_000)})
    with pytest.warns(
        ragmd_reader.RagmdScaleWarning, match=r"10000 documents or 500 MB; a \.ragfile"
    ):
        ragmd_reader.save(tmp_path / "x.ragmd", of)


def test_only_numpy_and_yaml_are_needed(tmp_path):
    """By these modules; what `import ragfile` takes besides is another question, so the package is entered without it."""
    path = tmp_path / "x.ragmd"
    ragmd_reader.save(path, collection())
    blocked = ["faiss", "xxhash", "zstandard", "Stemmer", "click", "mmap_ninja", "httpx2"]
    code = f"""
import sys, types
package = types.ModuleType("ragfile")
package.__path__ = [{os.path.dirname(ragfile.__file__)!r}]
sys.modules.update(dict.fromkeys({blocked}), ragfile=package)
from ragfile.exchange.ragmd import ragmd_reader as ragmd
assert len(ragmd.load({os.fspath(path)!r})) == 12
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_suffix_has_a_type_after_registering():
    import mimetypes

    ragmd_reader.register_mime()
    assert mimetypes.guess_type("x.ragmd") == ("application/vnd.rag-markdown", None)
