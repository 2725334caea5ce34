"""A file is compared with the folder that it was built from."""

import json
import os
import re
import shlex
import subprocess
import sys
import time

import pytest

import ragfile
from ragfile.search.file_rows import rows_of
from ragfile.write.source_state import SourceState, source_state


@pytest.fixture
def docs(tmp_path):
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.md"):
        (docs / name).write_text(f"# {name}\n\nText of {name}.\n")
    ragfile.build(docs, tmp_path / "kb.ragfile")
    return docs


def _state(docs):
    with rows_of(docs.parent / "kb.ragfile") as rows:
        return source_state(rows, docs)


def _later(path):
    """Give a file a time after the RAGFile's, as an edit does."""
    later = time.time() + 10
    os.utime(path, (later, later))


def _edit(path, text):
    path.write_text(text)
    _later(path)


def test_a_folder_that_did_not_change_is_up_to_date(docs):
    assert _state(docs) == SourceState(0, 0, 0)
    assert not _state(docs).is_newer


def test_a_touched_file_with_the_same_bytes_is_not_a_change(docs):
    _later(docs / "a.md")
    assert _state(docs) == SourceState(0, 0, 0)


def test_changed_added_and_missing_files_are_counted(docs):
    _edit(docs / "a.md", "# Other\n")
    (docs / "new.md").write_text("# New\n")
    (docs / "sub/c.md").unlink()
    assert _state(docs) == SourceState(changed=1, added=1, missing=1)
    ragfile.sync(docs.parent / "kb.ragfile", docs)
    assert _state(docs) == SourceState(0, 0, 0)


def test_files_that_the_build_left_out_are_not_new(docs):
    kb = docs.parent / "kb.ragfile"
    ragfile.build(docs, kb, exclude=["sub/"])
    assert _state(docs) == SourceState(0, 0, 0)


def test_documents_that_did_not_come_from_files_are_not_missing(docs):
    with ragfile.edit(docs.parent / "kb.ragfile") as w:
        w.add([{"doc_id": "by hand", "chunk_index": 0, "content": "a note"}])
    assert _state(docs) == SourceState(0, 0, 0)


def test_the_command_shows_it(docs):
    _edit(docs / "a.md", "# Other\n")
    command = [sys.executable, "-m", "ragfile", "info", str(docs.parent / "kb.ragfile")]
    shown = subprocess.run([*command, "--root", docs], capture_output=True, text=True, check=True)
    advice = re.search(r"sources  1 changed: run `ragfile (sync .*)`", shown.stdout)
    advised = [sys.executable, "-m", "ragfile", *shlex.split(advice[1])]
    found = subprocess.run(
        [*command, "--root", docs, "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(found.stdout)["sources"] == {"changed": 1, "added": 0, "missing": 0}
    plain = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(plain.stdout)["sources"] is None
    subprocess.run(advised, check=True, capture_output=True)
    assert _state(docs) == SourceState(0, 0, 0)
