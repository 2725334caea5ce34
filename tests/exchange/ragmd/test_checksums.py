"""A document whose text was edited is refused by name, by whichever call opens the file."""

import random

import pytest
import xxhash
from oracles import ragmd as ragmd_oracle
from oracles.ragmd_examples import collection, minimal, rendered
from places import ROOT

import ragfile
from ragfile.errors import CorruptError, FormatError
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.exchange.ragmd.ragmd_writer import document_checksums

VECTORS = sorted((ROOT / "spec/vectors/ragmd").glob("*.ragmd"))
NAMES = {"bad-text": "'birds'", "bad-span": "'birds'", "bad-field": "'birds'", "bad-one-checksum": "the documents",
         "bad-absent": "'beasts'", "bad-kind": "not a mapping"}  # fmt: skip


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_both_readers_agree_on_the_vectors(path):
    data = path.read_bytes()
    if path.stem.startswith("good"):
        found = ragmd_reader.parse(data)
        assert found.documents == ragmd_oracle.read(data)["documents"]
        return
    with pytest.raises(FormatError, match=NAMES[path.stem]):
        ragmd_reader.parse(data)
    with pytest.raises(ragmd_oracle.Refused):
        ragmd_oracle.read(data)


@pytest.mark.parametrize("opened", [ragfile.open, ragfile.verify, ragmd_reader.load])
def test_an_edited_text_is_refused_with_the_name_of_its_document(tmp_path, opened):
    path = tmp_path / "kb.ragmd"
    ragmd_reader.save(path, collection())
    text = path.read_text()
    path.write_text(text.replace("Document 1. some", "Document 1. then some"))
    with pytest.raises(CorruptError, match=r"kb\.ragmd: .*document 'doc-001'"):
        opened(path)
    stale = [
        line for line in path.read_text().splitlines() if line.startswith('  "doc-001": "xxh3')
    ]
    path.write_text(path.read_text().replace(f"{stale[0]}\n", ""))  # as the error recommends
    assert ragmd_reader.load(path).documents["doc-001"]["full_text"].startswith("Document 1. then")


def test_a_save_renews_the_checksum_of_a_changed_document_only():
    first = collection()
    changed = ragmd_reader.parse(rendered(first))
    changed.documents["doc-002"]["full_text"] = "Z" + changed.documents["doc-002"]["full_text"][1:]
    before, after = (rendered(one).decode().splitlines() for one in (first, changed))
    lines = [line for line in after if line not in before]
    assert len(lines) == 2
    assert all("doc-002" in line or '"full_text": "Z' in line for line in lines)


def test_a_file_without_checksums_reads_as_before_and_gets_them_when_it_is_saved():
    found = ragmd_reader.parse(minimal().encode())
    assert "document_checksums" not in found.front.values
    again = ragmd_reader.parse(rendered(found))
    assert list(again.front.values["document_checksums"]) == ["doc-001"]


def test_documents_that_are_too_many_to_list_have_one_checksum():
    many = collection(documents=1, chunks=1)
    for number in range(1800):
        many.documents[f"empty-{number}"] = {"full_text": ""}
    data = rendered(many)
    assert ragmd_reader.parse(data).front.values["document_checksums"].startswith("xxh3-64:")
    assert ragmd_oracle.read(data)["count"] == 1
    with pytest.raises(CorruptError, match="the documents"):
        ragmd_reader.parse(data.replace(b"Document 0. some", b"Document 0. sore"))


def test_checksums_are_those_of_the_specification():
    dice = random.Random(7)
    texts = ["", "a", "naïve", "日本語", "\ud800", "a\nb", "\U0001f600 x"]
    for _ in range(300):
        content = {
            key: dice.choice([*texts, None, 7, ["x"], {"y": 1}]) for key in dice.sample("abcd", 2)
        }
        spans = [{"i_start": low, "i_end": low + dice.randrange(4)} for low in range(3)]
        spans += [{"i_start": None, "i_end": None}, {}]
        document = {"full_text": dice.choice([*texts, None]), "content": dice.choice([content, None]),
                    "chunks": {key: dice.choice(spans) for key in dice.sample("abcdef", 3)}}  # fmt: skip
        name = dice.choice(texts)
        wanted = xxhash.xxh3_64_hexdigest(ragmd_oracle.indexed(name, document))
        assert document_checksums({name: document}) == {name: f"xxh3-64:{wanted}"}


def test_a_damaged_first_line_is_not_taken_for_a_source(tmp_path):
    path = tmp_path / "kb.ragmd"
    ragmd_reader.save(path, collection())
    path.write_bytes(b"x" + path.read_bytes())
    for opened in (ragfile.open, ragfile.verify):
        with pytest.raises(
            FormatError, match=r"kb\.ragmd: a damaged \.ragmd: its first line is not ---"
        ):
            opened(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="the file is empty"):
        ragfile.open(path)
