"""Searches of a folder: the copy always has the folder's content, stays in the cache, and is bounded."""

import json
import multiprocessing
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragfile
from ragfile.exchange.folder_copies import copied_folder
from ragfile.exchange.kept_copies import CopyCache

TEXTS = ("the red fox", "a blue whale sings", "drain the node", "# Keys\n\nRotate the keys.", "")
NAMES = ("a.md", "b.txt", "sub/c.md", "sub/deep/d.md")
QUESTIONS = ("red fox", "keys rotate", "drain", "whale node")


@pytest.fixture(autouse=True)
def bytes_of_copies(monkeypatch):
    monkeypatch.setenv("RAGFILE_CACHE_BYTES", str(1 << 30))


def folder_of(path, **texts):
    for name, text in (texts or {"keys": "Rotate the keys.", "nodes": "Drain the node."}).items():
        path.mkdir(exist_ok=True)
        (path / f"{name}.md").write_text(text)
    return path


def asked(path):
    """Every question's hits with the bits of their scores."""
    with ragfile.open(path) as rf:
        return [
            [(hit.id, hit.score.hex(), hit.text) for hit in rf.search(question, mode=mode)]
            for question in QUESTIONS
            for mode in ("bm25", "hybrid")
        ]


def tree(folder):
    """Every path below a folder with its bytes and its times."""
    return sorted(
        (str(path), path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in [folder, *folder.rglob("*")]
    )


def test_second_use_builds_nothing_and_writes_nothing_into_the_folder(tmp_path):
    folder, cache = folder_of(tmp_path / "docs"), tmp_path / "cache"
    before = tree(folder)
    with copied_folder(folder, cache=cache) as first:
        assert "read 2 files" in first.summary
        assert f"kept in {cache / 'copies'}" in first.summary
        status = os.stat(first.path)
    with copied_folder(folder, cache=cache) as second:
        assert "nothing changed in 2 files" in second.summary
        assert (second.path, os.stat(second.path)[:9]) == (first.path, status[:9])
    assert tree(folder) == before


def test_a_change_that_keeps_size_and_times_is_noticed(tmp_path):
    folder = folder_of(tmp_path / "docs", keys="Rotate the keys.")
    page = folder / "keys.md"
    with copied_folder(folder, cache=tmp_path / "cache"):
        pass
    before = page.stat()
    page.write_text("Destroy the keys"[:15] + ".")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert page.stat().st_size == before.st_size
    with copied_folder(folder, cache=tmp_path / "cache") as copy, ragfile.open(copy.path) as rf:
        assert "1 changed" in copy.summary
        assert rf.search("keys")[0].text.startswith("Destroy")


changes = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from([*TEXTS, None])), min_size=1, max_size=4
)


@settings(max_examples=25)
@given(st.lists(changes, min_size=1, max_size=4))
def test_a_copy_answers_as_a_fresh_build_of_the_folder(tmp_path_factory, rounds):
    home = tmp_path_factory.mktemp("home")
    folder = folder_of(home / "docs", always="A page that stays.")
    for changed in rounds:
        for name, text in changed:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True) if text is None else path.write_text(text)
        fresh = home / "fresh.ragfile"
        ragfile.build([folder], fresh)
        with copied_folder(folder, cache=home / "cache") as copy:
            assert asked(copy.path) == asked(fresh)


def test_a_folder_whose_files_all_went_is_an_error_and_no_old_answer(tmp_path):
    folder, cache = folder_of(tmp_path / "docs"), tmp_path / "cache"
    with copied_folder(folder, cache=cache):
        pass
    for page in folder.iterdir():
        page.unlink()
    with (
        pytest.raises(ValueError, match=f"no document in {folder}"),
        copied_folder(folder, cache=cache),
    ):
        pass
    assert CopyCache(cache).copies() == []


def test_a_damaged_copy_is_made_again(tmp_path):
    folder, cache = folder_of(tmp_path / "docs"), tmp_path / "cache"
    with copied_folder(folder, cache=cache) as copy:
        Path(copy.path).write_bytes(b"RAGFILE\1" + bytes(100))
    with copied_folder(folder, cache=cache) as copy, ragfile.open(copy.path) as rf:
        assert "read 2 files" in copy.summary
        assert rf.search("drain the node")[0].doc_id == "nodes.md"


def test_an_unreadable_file_is_named_and_read_again_only_when_its_bytes_change(tmp_path):
    folder, cache = folder_of(tmp_path / "docs"), tmp_path / "cache"
    (folder / "bad.ipynb").write_text('{"cells": [')
    (folder / "empty.jsonl").write_text("")
    with copied_folder(folder, cache=cache) as copy:
        assert "could not be read, such as" in copy.summary
        assert "bad.ipynb" in copy.summary
    with copied_folder(folder, cache=cache):
        pass  # tries what gave nothing once more, and notes its bytes
    with copied_folder(folder, cache=cache) as copy:
        assert "nothing changed in 2 files" in copy.summary
        assert "without text" in copy.summary
    cell = {"cell_type": "markdown", "source": "Now it is a whale.", "metadata": {}}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "bad.ipynb").write_text(json.dumps(notebook))
    with copied_folder(folder, cache=cache) as copy, ragfile.open(copy.path) as rf:
        assert rf.search("whale", 1)[0].doc_id == "bad.ipynb"


def test_a_cache_inside_the_folder_is_not_written(tmp_path):
    folder = folder_of(tmp_path / "docs")
    before = tree(folder)
    with copied_folder(folder, cache=folder / "cache") as copy, ragfile.open(copy.path) as rf:
        assert copy.summary.endswith("not kept")
        assert rf.search("drain the node")[0].doc_id == "nodes.md"
        path = copy.path
    assert tree(folder) == before
    assert not os.path.exists(path)


@pytest.mark.parametrize("value", ["0", "many"])
def test_the_limit_is_a_number_of_bytes_and_zero_keeps_nothing(tmp_path, monkeypatch, value):
    monkeypatch.setenv("RAGFILE_CACHE_BYTES", value)
    folder = folder_of(tmp_path / "docs")
    if value == "many":
        with (
            pytest.raises(ValueError, match="RAGFILE_CACHE_BYTES is 'many'"),
            copied_folder(folder, cache=tmp_path / "cache"),
        ):
            pass
        return
    with copied_folder(folder, cache=tmp_path / "cache") as copy:
        assert copy.summary.endswith("not kept")
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_cannot_be_listed_is_one_error(tmp_path):
    with pytest.raises(FileNotFoundError), copied_folder(tmp_path / "none", cache=tmp_path / "c"):
        pass
    folder = folder_of(tmp_path / "docs")
    folder.chmod(0)
    if os.access(folder, os.R_OK):
        pytest.skip("this user can read every folder")
    with pytest.raises(PermissionError), copied_folder(folder, cache=tmp_path / "c"):
        pass


def test_the_least_recently_used_copies_go_and_those_of_deleted_folders(tmp_path, monkeypatch):
    cache = CopyCache(tmp_path / "cache")
    folders = [folder_of(tmp_path / name) for name in ("one", "two", "three")]
    for number, folder in enumerate(folders):
        with copied_folder(folder, cache=tmp_path / "cache") as copy:
            os.utime(Path(copy.path).with_suffix(".json"), (number, number))
    assert [copy.origin for copy in cache.copies()] == [str(f) for f in reversed(folders)]
    size = cache.copies()[0].size
    monkeypatch.setenv("RAGFILE_CACHE_BYTES", str(5 * size // 2))
    with copied_folder(folder_of(tmp_path / "four"), cache=tmp_path / "cache"):
        pass
    assert [copy.origin for copy in cache.copies()] == [str(tmp_path / "four"), str(folders[2])]
    shutil.rmtree(folders[2])
    with copied_folder(folder_of(tmp_path / "four", keys="Other keys."), cache=tmp_path / "cache"):
        pass
    assert [copy.origin for copy in cache.copies()] == [str(tmp_path / "four")]


def test_leftovers_of_dead_writers_go_after_a_day(tmp_path):
    with copied_folder(folder_of(tmp_path / "docs"), cache=tmp_path / "cache"):
        pass
    fresh, old = (tmp_path / "cache" / "copies" / name for name in (".new", ".old"))
    fresh.write_text("of a writer that is alive")
    old.write_text("of one that died")
    os.utime(old, (1, 1))
    with copied_folder(folder_of(tmp_path / "other"), cache=tmp_path / "cache"):
        pass
    assert fresh.exists()
    assert not old.exists()


def test_copies_are_readable_by_their_owner_alone(tmp_path):
    with copied_folder(folder_of(tmp_path / "docs"), cache=tmp_path / "cache") as copy:
        folder = os.path.dirname(copy.path)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700


def _search(folder, cache, page, queue):
    os.environ["RAGFILE_CACHE_BYTES"] = str(1 << 30)
    try:
        if page:
            Path(folder, f"{page}.md").write_text(f"The page of {page} has a whale.")
        with copied_folder(folder, cache=cache) as copy, ragfile.open(copy.path) as rf:
            queue.put([hit.doc_id for hit in rf.search(page or "drain the node")])
    except BaseException as error:  # noqa: BLE001  # the parent fails with it
        queue.put(repr(error))


@pytest.mark.parametrize("changes", [False, True])
def test_processes_that_search_at_once_all_get_the_answer(tmp_path, changes):
    folder, cache = folder_of(tmp_path / "docs"), tmp_path / "cache"
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    pages = [f"page{number}" if changes else "" for number in range(6)]
    workers = [
        context.Process(target=_search, args=(str(folder), str(cache), page, queue))
        for page in pages
    ]
    for worker in workers:
        worker.start()
    found = [queue.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    first = {answer[0] if isinstance(answer, list) else answer for answer in found}
    assert first == ({f"{page}.md" for page in pages} if changes else {"nodes.md"})


def test_another_model_has_a_copy_of_its_own(tmp_path):
    folder, cache = folder_of(tmp_path / "docs"), tmp_path / "cache"
    with copied_folder(folder, cache=cache) as with_vectors:
        pass
    with copied_folder(folder, cache=cache, embedder="none") as without:
        assert without.path != with_vectors.path
        with ragfile.open(without.path) as rf:
            assert not rf.rows.has_vectors


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)],
        capture_output=True, text=True, check=False,
        env={**os.environ, **environment}, timeout=60,
    )  # fmt: skip


def test_a_translated_copy_is_used_again_and_made_again_when_the_file_changes(tmp_path):
    folder_of(tmp_path / "docs")
    ragfile.build([tmp_path / "docs"], tmp_path / "kb.ragfile")
    ragfile.convert(tmp_path / "kb.ragfile", tmp_path / "kb.ragmd")
    cache = CopyCache(tmp_path / "cache")
    with ragfile.open(tmp_path / "kb.ragmd") as fresh:
        expected = [(hit.id, hit.score.hex()) for hit in fresh.search("rotate the keys")]
    for _ in range(2):
        with ragfile.open(tmp_path / "kb.ragmd", cache=tmp_path / "cache") as rf:
            assert [(hit.id, hit.score.hex()) for hit in rf.search("rotate the keys")] == expected
    (one,) = cache.copies()
    assert one.origin == str(tmp_path / "kb.ragmd")
    folder_of(tmp_path / "docs", keys="Rotate the whales.")
    ragfile.build([tmp_path / "docs"], tmp_path / "kb.ragfile")
    ragfile.convert(tmp_path / "kb.ragfile", tmp_path / "kb.ragmd")
    with ragfile.open(tmp_path / "kb.ragmd", cache=tmp_path / "cache") as rf:
        assert rf.search("whales", 1)[0].text == "Rotate the whales."
    (other,) = cache.copies()
    assert other.path != one.path


def test_the_second_opening_does_not_translate(tmp_path, monkeypatch):
    folder_of(tmp_path / "docs")
    ragfile.build([tmp_path / "docs"], tmp_path / "kb.ragfile")
    ragfile.convert(tmp_path / "kb.ragfile", tmp_path / "kb.ragmd")
    ragfile.open(tmp_path / "kb.ragmd", cache=tmp_path / "cache").close()
    monkeypatch.setattr("ragfile.exchange.ragmd.ragmd_reader.load", None)
    with ragfile.open(tmp_path / "kb.ragmd", cache=tmp_path / "cache") as rf:
        assert len(rf.search("keys")) == 2


def test_the_command_line_searches_and_asks_folders(tmp_path):
    folder, own = folder_of(tmp_path / "docs"), {"RAGFILE_CACHE": str(tmp_path / "cache")}
    found = run("search", folder, "rotate the keys", "-k", 1, **own)
    assert f"{folder}/keys.md:1" in found.stdout
    assert found.stderr.startswith(f"ragfile: {folder}: read 2 files in ")
    found = run("search", folder, "rotate the keys", "--json", **own)
    assert json.loads(found.stdout)["hits"][0]["doc_id"] == "keys.md"
    assert "nothing changed in 2 files" in found.stderr
    answered = run("ask", folder, "how are keys rotated?", **own)
    assert "Rotate the keys." in answered.stdout
    assert f"{folder}/keys.md" in answered.stdout
    listed = run("cache", "--json", **own)
    assert [copy["origin"] for copy in json.loads(listed.stdout)["copies"]] == [str(folder)]
    assert "deleted 1 copy" in run("cache", "--clear", folder, **own).stdout
    assert ": 0 copies" in run("cache", **own).stdout


def test_the_command_line_has_one_line_for_a_folder_without_texts(tmp_path):
    (tmp_path / "empty").mkdir()
    own = {"RAGFILE_CACHE": str(tmp_path / "cache")}
    failed = run("search", tmp_path / "empty", "keys", **own)
    assert failed.returncode == 1
    assert failed.stderr == f"ragfile: no document in {tmp_path / 'empty'}\n"
    refused = run("search", folder_of(tmp_path / "docs"), "keys", "--generation", 2, **own)
    assert refused.returncode == 2
    assert "not for a folder" in refused.stderr


def test_a_folder_named_manifests_makes_no_dataset_of_its_parent(tmp_path):
    folder = folder_of(tmp_path / "docs")
    folder_of(folder / "manifests", pods="A pod manifest.")
    own = {"RAGFILE_CACHE": str(tmp_path / "cache")}
    assert "pods.md" in run("search", folder, "pod manifest", **own).stdout
    ragfile.dataset.build([folder], tmp_path / "parts/", shards=2)
    found = run("search", tmp_path / "parts", "pod manifest", "-k", 1, **own)
    assert "pods.md" in found.stdout
    assert found.stderr == ""
