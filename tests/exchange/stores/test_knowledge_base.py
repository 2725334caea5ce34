"""The .ragfile leg of conversions, and .ragmd files opened for asking."""

import json
import subprocess
import sys

import numpy as np
import pytest

import ragfile
from ragfile import _core
from ragfile.exchange import conversion

RNG = np.random.default_rng(11)


@pytest.fixture
def kb(tmp_path):
    """A file with all that a file can hold: spans, loose chunks, tags, metadata, an untold text."""
    path = tmp_path / "kb.ragfile"
    with ragfile.create(
        path, chunking="characters:80/10", precision=16, metric="l2", config={"note": "ours"}
    ) as w:
        for i in range(12):
            text = f"Document {i} says: grüße 😀 to everybody. " * 5
            made = {
                "id": f"d{i}",
                "text": text,
                "source": f"{i}.md",
                "metadata": {"n": i, "deep": {"a": [1, None]}},
                "tags": ("x", "y"),
            }
            w.add_documents(
                [made],
                RNG.standard_normal(
                    (len(ragfile.chunk(ragfile.Document(**made), "characters:80/10")), 8)
                ),
            )
        loose = [
            {
                "doc_id": "loose",
                "chunk_index": n,
                "content": f"loose {n}",
                "tags": ("z",),
                "metadata": {"m": n},
            }
            for n in (4, 1)
        ]
        w.add(
            [
                *loose,
                {
                    "doc_id": "seen",
                    "chunk_index": 0,
                    "content": "elsewhere",
                    "start": 10,
                    "end": 19,
                },
            ],
            RNG.standard_normal((3, 8)),
        )
        w.add_documents([{"id": "empty", "text": ""}])
    return path


@pytest.fixture
def pair(tmp_path):
    """FAISS + JSON as people have them: spans and fields, unclaimed rows, repeated references, a lone surrogate."""
    documents = [
        {"id": "b", "content": {"title": "B | b", "abstract (long)": "about b"}, "full_text": "one two three", "metadata": {"y": 1},
         "source": "b.pdf", "chunks": {"c 0": {"faiss_id": 2, "i_start": 0, "i_end": 7}, "abstract (long)": {"faiss_id": 0, "i_start": None, "i_end": None}}},
        {"id": "a", "content": {"title": "A"}, "full_text": "lone \ud800 text", "metadata": {}, "chunks": {"c": {"faiss_id": 3, "i_start": 0, "i_end": 4}}},
    ]  # fmt: skip
    refs = [
        ("b", "abstract (long)"),
        ("gone", "x"),
        ("b", "c 0"),
        ("a", "c"),
        ("b", "c 0"),
        ("gone", "x"),
    ]
    held = {
        "model_name": "m", "embedding_dim": 6,
        "chunk_refs": [{"document_id": d, "chunk_key": k} for d, k in refs], "documents": documents,
    }  # fmt: skip
    vectors = (RNG.standard_normal((6, 6)) * 20).astype(np.float32)
    vectors[4] = vectors[2]
    index, metadata = tmp_path / "v.faiss", tmp_path / "m.json"
    index.write_bytes(bytes(_core.faiss_flat_head(6, 6, True)) + vectors.tobytes())
    metadata.write_text(json.dumps(held, indent=2))
    return index, metadata


def back(pair, tmp_path, *stops):
    """The bytes of a pair that went through other stores."""
    here = pair
    for stop in stops:
        conversion.convert(here, tmp_path / stop)
        here = tmp_path / stop
    made = (tmp_path / "back.faiss", tmp_path / "back.json")
    conversion.convert(here, made)
    return [p.read_bytes() for p in made]


@pytest.mark.parametrize(
    "stops", [["x.ragfile"], ["x.ragmd"], ["x.ragfile", "y.ragmd"], ["x.ragmd", "y.ragfile"]]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_faiss_and_json_come_back_byte_for_byte(pair, tmp_path, stops):
    assert back(pair, tmp_path, *stops) == [p.read_bytes() for p in pair]


def test_a_ragfile_comes_back_byte_for_byte_from_ragmd(kb, tmp_path):
    conversion.convert(kb, tmp_path / "x.ragmd")
    conversion.convert(tmp_path / "x.ragmd", tmp_path / "again.ragfile")
    assert (tmp_path / "again.ragfile").read_bytes() == kb.read_bytes()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_vectors_of_a_pair_are_searched_in_the_ragfile(pair, tmp_path):
    conversion.convert(pair, tmp_path / "x.ragfile")
    vectors = np.frombuffer(pair[0].read_bytes()[45:], "<f4").reshape(6, 6)
    with ragfile.open(tmp_path / "x.ragfile") as rf:
        rows, scores = rf.nearest(vectors[3], 1)
        there = vectors[[0, 2, 3, 4]]  # rows 1 and 5 belong to a document that is gone
        assert scores[0, 0] == pytest.approx(float((there @ vectors[3]).max()), rel=1e-6)
        assert (rf.vector(int(rows[0, 0])) == there[np.argmax(there @ vectors[3])]).all()
        assert rf.search("two", mode="bm25")[0].text == "one two"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_edit_takes_the_origin_away_for_it_is_true_no_more(pair, tmp_path):
    conversion.convert(pair, tmp_path / "x.ragfile")
    ragfile.compact(tmp_path / "x.ragfile")
    assert ragfile.open(tmp_path / "x.ragfile").file.section("rag.origin") is not None
    with ragfile.edit(tmp_path / "x.ragfile") as w:
        w.delete(["a"])
    with ragfile.open(tmp_path / "x.ragfile") as rf:
        assert rf.file.section("rag.origin") is None
    assert list(conversion.read(tmp_path / "x.ragfile").documents) == ["b"]


def test_a_ragmd_is_opened_and_searched_like_any_file(kb, tmp_path):
    conversion.convert(kb, tmp_path / "x.ragmd")
    with ragfile.open(kb) as rf, ragfile.open(tmp_path / "x.ragmd") as text:
        query = RNG.standard_normal(8).astype(np.float32)
        assert [a.tolist() for a in rf.nearest(query, 5)] == [
            a.tolist() for a in text.nearest(query, 5)
        ]
        assert [h.id for h in rf.search("loose", 5, mode="bm25")] == [
            h.id for h in text.search("loose", 5, mode="bm25")
        ]
        assert text.info["format"] == "ragmd"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["kb.ragfile", "x.ragmd"]
        assert text.refresh() is False
        with ragfile.edit(kb) as w:
            w.delete(["d3"])
        before = len(text)
        conversion.convert(kb, tmp_path / "x.ragmd")
        assert text.refresh() is True
        assert len(text) < before


def test_a_markdown_file_that_is_no_ragmd_is_refused(tmp_path):
    for content in ("# Hello\n", "---\ntitle: x\n---\n# Hello\n", ""):
        (tmp_path / "x.md").write_text(content)
        with pytest.raises(ragfile.FormatError):
            ragfile.open(tmp_path / "x.md")


def test_a_file_without_vectors_says_why_it_cannot_become_a_pair(tmp_path):
    with ragfile.create(tmp_path / "t.ragfile") as w:
        w.add_documents([{"id": "d", "text": "hello"}])
    with pytest.raises(ValueError, match="no vectors"):
        conversion.convert(tmp_path / "t.ragfile", tmp_path / "t.ragmd")


def test_the_command_converts_as_the_proposal_wrote_it(pair, tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "ragfile", "convert", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=True,
        )

    run("--from-faiss", pair[0], "--from-json", pair[1], "--to-ragmd", tmp_path / "x.ragmd")
    run("--from-ragmd", tmp_path / "x.ragmd", "--to-ragfile", tmp_path / "x.ragfile")
    run(
        "--from-ragfile",
        tmp_path / "x.ragfile",
        "--to-faiss",
        tmp_path / "b.faiss",
        "--to-json",
        tmp_path / "b.json",
    )
    assert (tmp_path / "b.faiss").read_bytes() == pair[0].read_bytes()
    assert (tmp_path / "b.json").read_bytes() == pair[1].read_bytes()
