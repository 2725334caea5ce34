"""Opening: the content decides, and what cannot be opened is told what it is and what to do."""

import shutil
import subprocess

import numpy as np
import pytest
from places import ROOT

import ragfile
from ragfile.file.pairs_writer import write_pairs


@pytest.fixture
def kb(tmp_path):
    (tmp_path / "keys.md").write_text("# Keys\n\nRotate the keys every ninety days.")
    (tmp_path / "pods.md").write_text("# Pods\n\nRestart a pod with a rollout.")
    ragfile.build([tmp_path / "keys.md", tmp_path / "pods.md"], tmp_path / "kb.ragfile")
    return tmp_path / "kb.ragfile"


@pytest.mark.parametrize("half", ["x.faiss", "x.json"])
def test_either_half_of_a_pair_opens_the_whole(kb, tmp_path, half):
    ragfile.convert(kb, tmp_path / "x.faiss")
    with ragfile.open(tmp_path / half) as rf, ragfile.open(kb) as same:
        assert rf.info["format"] == "faiss+json"
        assert rf.search("rotate keys")[0].text == same.search("rotate keys")[0].text
        assert np.array_equal(rf.vectors(), same.vectors())


def test_an_index_without_its_metadata_is_said_to_be_one(kb, tmp_path):
    ragfile.convert(kb, tmp_path / "x.faiss")
    (tmp_path / "x.json").unlink()
    with pytest.raises(ragfile.FormatError, match=r"x\.json is not there"):
        ragfile.open(tmp_path / "x.faiss")


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("a.md", b"# Hello\n", r"a source \(md\); ragfile\.build"),
        (
            "a.md",
            b"---\ntitle: x\n---\n# Hello\n",
            r"ragfile\.build\(.*makes a RAGFile of Markdown",
        ),
        ("a.json", b'{"a": 1}', r"a source \(json\); ragfile\.build"),
        ("a.parquet", b"PAR1" * 30, r"holds parquet; ragfile\.convert"),
        ("a.ragfile", b"", "the file is empty"),
        ("a.bin", bytes(5000), "the first seven bytes are not RAGFILE"),
    ],
)
def test_what_is_not_a_ragfile_is_told_what_to_do(tmp_path, name, content, hint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ragfile.FormatError, match=hint) as refused:
        ragfile.open(tmp_path / name)
    assert name in str(refused.value)


def test_a_first_format_file_says_why_it_cannot_be_searched(tmp_path):
    write_pairs(tmp_path / "old.ragfile", [("a", "b")])
    with ragfile.open(tmp_path / "old.ragfile") as rf:
        assert not hasattr(rf, "search")
        with pytest.raises(AttributeError, match=r"pairs, not passages; lookup\(\), pairs\(\)"):
            rf.search("a")


def test_damage_that_a_question_finds_names_the_file(kb, tmp_path):
    raw = bytearray(kb.read_bytes())
    with ragfile.open(kb) as rf:
        at = next(entry["at"] for entry in rf.file.entries if entry["name"] == "vector")
    raw[at] ^= 1
    (tmp_path / "bad.ragfile").write_bytes(raw)
    with (
        ragfile.open(tmp_path / "bad.ragfile") as rf,
        pytest.raises(ragfile.CorruptError, match=r"bad\.ragfile: block checksum"),
    ):
        rf.search("keys", mode="vector")


@pytest.mark.skipif(not shutil.which("file"), reason="file(1) is not installed")
def test_file_knows_the_type_of_both_byte_orders(tmp_path):
    for order in ("little", "big"):
        path = tmp_path / f"{order}.ragfile"
        write_pairs(path, [("a", "b")], byteorder=order)
        call = ["file", "-b", "-m", ROOT / "spec" / "magic"]
        assert subprocess.check_output([*call, "--mime-type", path]) == b"application/vnd.ragfile\n"
        assert f"{order}-endian" in subprocess.check_output([*call, path]).decode()
