"""The second reader of datasets and the package find the same, in the kept vectors and in datasets that are made here."""

import json
import os
import random
import sys
from pathlib import Path

import pytest
from places import ROOT
from shards import collections

import ragfile
from ragfile import dataset
from ragfile.shards.manifest import parse
from ragfile.shards.statistics import SECTION, sampled

sys.path.insert(0, str(ROOT / "spec"))
import dataset_reader
import reader

VECTORS = ROOT / "spec/vectors/dataset"


def plain(found):
    """As JSON has it."""
    return json.loads(json.dumps(found))


def compare(found, rf):
    """What the second reader found, against the open dataset."""
    assert found["generation"] == rf.generation
    assert [d["id"] for d in found["documents"]] == [d.id for d in rf.documents()]
    assert [d["text"] for d in found["documents"]] == [d.text for d in rf.documents()]
    hits = [rf.hit(row) for row in range(len(rf))]
    assert found["rows"] == [(hit.doc_id, hit.chunk_index) for hit in hits]
    assert found["totals"] == (len(rf), rf.rows.lexicon.total_length)
    assert found["sample"] == [
        (row.doc_id, row.chunk_index)
        for row in sorted(
            sampled(rf.rows.snapshot.whole().archive), key=lambda row: (row.doc_id, row.chunk_index)
        )
    ]
    terms = found["frequencies"]
    assert len(terms) == len(rf.rows.lexicon)
    assert all(rf.rows.lexicon.df(term) == rows for term, rows in terms.items())


def test_the_kept_dataset_is_read_by_both():
    found = dataset_reader.read(VECTORS / "kb")
    assert plain(found) == json.loads((VECTORS / "expected.json").read_text())
    assert found["frequencies"]["red"] == 2
    with ragfile.open(VECTORS / "kb") as rf:
        compare(found, rf)
        assert rf.search("red fox")[0].doc_id == "a.md"
    assert ragfile.verify(VECTORS / "kb")[0] == []


@pytest.mark.parametrize("by", ["range", "hash"])
def test_a_dataset_that_is_made_here_is_read_by_both(tmp_path, by):
    collections.write(tmp_path / "sources", 40, seed=6)
    dataset.build(tmp_path / "sources", tmp_path / "kb", shards=4, by=by)
    with ragfile.open(tmp_path / "kb") as rf:
        compare(dataset_reader.read(tmp_path / "kb"), rf)


def test_a_manifest_is_written_as_it_is_read():
    (path,) = (VECTORS / "kb/manifests").iterdir()
    raw = path.read_bytes()
    assert parse(raw, "kb", 1).dump() == raw


def test_the_names_of_a_later_generation_are_read_by_both(tmp_path):
    collections.write(tmp_path / "sources", 12, seed=6)
    kb = tmp_path / "kb"
    dataset.build(tmp_path / "sources", kb, shards=3)
    with ragfile.open(kb) as rf:
        dataset.delete(kb, rf.document_ids()[4])
    with ragfile.open(kb) as rf:
        compare(dataset_reader.read(kb), rf)
    path = min((kb / "manifests").iterdir())  # the newest
    raw = path.read_bytes()
    for name in (b"-3.ragfile", b"-1.ragfile", b"-02.ragfile", b"-.ragfile"):
        path.write_bytes(raw.replace(b"-2.ragfile", name))
        with pytest.raises(reader.Refused, match="10"):
            dataset_reader.read(kb)
        assert _is_refused(kb)


def test_the_second_reader_refuses_what_the_first_refuses(tmp_path):
    collections.write(tmp_path / "sources", 9, seed=2)
    dataset.build(tmp_path / "sources", tmp_path / "kb", shards=2)
    rng = random.Random(2)
    files = [p for p in (tmp_path / "kb").rglob("*") if p.is_file()]
    for path in files:
        data = path.read_bytes()
        at = rng.randrange(len(data))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises((reader.Refused, ValueError, KeyError, TypeError)):
            dataset_reader.read(tmp_path / "kb")
        assert _is_refused(tmp_path / "kb")
        path.write_bytes(data)
    assert dataset_reader.read(tmp_path / "kb")["generation"] == 1


def _is_refused(folder):
    try:
        return bool(ragfile.verify(folder)[0])
    except ragfile.FormatError:
        return True


def test_the_second_readers_command_prints_json(capsys):
    assert dataset_reader.main([os.fspath(VECTORS / "kb")]) == 0
    assert json.loads(capsys.readouterr().out)["generation"] == 1
    assert Path(dataset_reader.__file__).name == "dataset_reader.py"


def test_frequencies_stand_in_a_section_of_their_own():
    with ragfile.open(VECTORS / "kb") as rf:
        assert rf.rows.snapshot.whole().archive.file.section(SECTION) is not None
