"""A file that each released version wrote is read by this one, answers as it did, and can be edited."""

import json
import shutil
from pathlib import Path

import pytest
from releases.write import QUESTIONS, answers

import ragfile

RELEASES = sorted(path.parent for path in Path(__file__).parent.glob("*/answers.json"))


@pytest.fixture(params=RELEASES, ids=lambda folder: folder.name)
def release(request, tmp_path):
    """The folder of a release, and a copy of its file."""
    shutil.copy(request.param / "kb.ragfile", tmp_path)
    return request.param, tmp_path / "kb.ragfile"


def test_there_is_a_file_of_the_first_version():
    assert RELEASES[0].name == "0.1.0"


def test_it_answers_as_the_version_that_wrote_it(release):
    folder, path = release
    assert answers(path) == json.loads((folder / "answers.json").read_text("utf-8"))


def test_it_is_whole_and_has_its_past(release):
    _, path = release
    assert ragfile.verify(path)[0] == []
    with ragfile.open(path, generation=1) as rf:
        assert sorted(d.id for d in rf.documents()) == [
            "birds.txt",
            "guide/keys.md",
            "guide/pods.md",
        ]


def test_it_can_be_edited_and_compacted(release):
    _, path = release
    with ragfile.edit(path) as writer:
        writer.upsert([{"id": "new.md", "text": "New keys are blue."}])
        writer.delete(["guide/pods.md"])
    ragfile.compact(path)
    assert ragfile.verify(path)[0] == []
    with ragfile.open(path) as rf:
        assert {hit.doc_id for hit in rf.search(QUESTIONS[0], 3)} >= {"new.md", "guide/keys.md"}
