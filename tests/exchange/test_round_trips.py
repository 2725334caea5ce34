"""A .ragfile, too, holds a collection whole: both ways round, the bytes are the same, until somebody changes the .ragfile."""

import json

import numpy as np
import pytest
from exchange.test_conversion import unusual
from oracles.ragmd_examples import collection, minimal, rendered

import ragfile
from ragfile.exchange import conversion
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.records import Chunk, Document


def through(of, path):
    conversion.write(of, path)
    return conversion.read(path)


@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_a_ragmd_file_comes_back_byte_for_byte(tmp_path, metric):
    from ragfile.exchange.faiss.index import Index

    of = unusual()
    of.index = Index.of(of.index.vectors, metric)
    assert rendered(through(of, tmp_path / "x.ragfile")) == rendered(of)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("field", ["full_text", "abstract", "key", "source", "id"])
def test_lone_surrogates_come_back_wherever_they_stand(tmp_path, field):
    of, odd = collection(documents=2, chunks=1), "\ud800 alone"
    document = of.documents["doc-001"]
    if field == "full_text":
        document["full_text"] = odd + document["full_text"]
    elif field == "abstract":
        document["content"]["chunk-0"] = odd
        document["chunks"]["chunk-0"].update(i_start=None, i_end=None)
    elif field == "key":
        document["chunks"][odd] = document["chunks"].pop("chunk-0")
        of.refs[1]["chunk_key"] = odd
    elif field == "source":
        document["source"] = odd
    else:
        document["id"] = of.refs[1]["document_id"] = odd
        of.documents[odd] = of.documents.pop("doc-001")
    assert rendered(through(of, tmp_path / "x.ragfile")) == rendered(of)


def test_an_edited_ragmd_file_comes_back_byte_for_byte(tmp_path):
    text = minimal().replace("---\n\n## D", "# mine\nwhen: 2026-01-01\n---\n\n## D", 1)
    of = ragmd_reader.parse(text.replace("## Vectors", "## Notes\n\nmine\n\n## Vectors").encode())
    assert rendered(through(of, tmp_path / "x.ragfile")) == rendered(of)


def test_a_pair_comes_back_byte_for_byte(tmp_path):
    of = unusual()
    data = {"chunk_refs": of.refs, "documents": list(of.documents.values()), "more": 1}
    pair, again = (
        (tmp_path / "a.faiss", tmp_path / "a.json"),
        (tmp_path / "b.faiss", tmp_path / "b.json"),
    )
    pair[0].write_bytes(of.index.data.tobytes())
    pair[1].write_text(json.dumps(data, indent=3) + " ")
    with pytest.warns(
        UserWarning, match="1 of 15 rows refer to documents or chunks that are not there"
    ):
        conversion.convert(pair, tmp_path / "x.ragfile")
    conversion.write(conversion.read(tmp_path / "x.ragfile"), again)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in pair]


def test_the_archive_finds_what_the_collection_holds(tmp_path):
    of = collection(documents=4, dim=16)
    through(of, tmp_path / "x.ragfile")
    with ragfile.open(tmp_path / "x.ragfile") as rf:
        assert len(rf) == 16
        for row in range(16):
            rows, _ = rf.nearest(of.index.vectors[row], 1)
            hit = rf.chunk(int(rows[0, 0]))
            assert hit.content == of.text(row)
            assert f"{hit.doc_id} {hit.chunk_index}" == f"{of.refs[row]['document_id']} {row % 4}"


def archive(path):
    """A .ragfile that was never anything else: tags, metadata, loose chunks, holes in the numbers of chunks."""
    random = np.random.default_rng(5)
    with ragfile.create(path, dim=8, metric="cosine") as w:
        for n in range(3):
            document = Document(
                f"d{n}", "alpha beta gamma delta", f"d{n}.txt", {"year": 2000 + n}, ("t", f"x{n}")
            )
            chunks = [
                Chunk(f"d{n}", 0, "alpha beta", ("t", f"x{n}"), {}, 0, 10),
                Chunk(f"d{n}", 3, "gamma", ("own",), {"page": n}, 11, 16),
                Chunk(f"d{n}", 7, "loose words", ("t", f"x{n}"), {}),
            ]
            w.add_document(document, chunks, random.standard_normal((3, 8)).astype(np.float32))


def test_a_ragfile_comes_back_from_ragmd_byte_for_byte(tmp_path):
    archive(tmp_path / "a.ragfile")
    conversion.convert(tmp_path / "a.ragfile", tmp_path / "x.ragmd")
    conversion.convert(tmp_path / "x.ragmd", tmp_path / "b.ragfile")
    assert (tmp_path / "a.ragfile").read_bytes() == (tmp_path / "b.ragfile").read_bytes()


def test_a_changed_ragfile_gives_what_it_holds_now(tmp_path):
    of = collection(documents=3, dim=8)
    through(of, tmp_path / "x.ragfile")
    with ragfile.edit(tmp_path / "x.ragfile") as w:
        w.delete(ids=["doc-001"])
    found = conversion.read(tmp_path / "x.ragfile")
    assert set(found.documents) == {"doc-000", "doc-002"}
    assert len(found) == 8
    found.check()
    assert (
        json.loads(json_pair.text_of(found))["documents"][0]["full_text"]
        == of.documents["doc-000"]["full_text"]
    )
