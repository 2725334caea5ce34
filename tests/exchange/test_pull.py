"""A pull makes a local file equal to the one at a URL, fetches what is new and loses nothing."""

import subprocess
import sys

import numpy as np
import pytest
from servers.range_server import RangeServer

import ragfile
from ragfile.embedding import Model
from ragfile.errors import (
    ConflictError,
    CorruptError,
    FormatError,
    LockedError,
    ModelError,
    RemoteError,
    SignatureError,
)
from ragfile.file import past_generations
from ragfile.write import old_generations

pytest.importorskip("httpx2", reason="the http extra is not installed")

DIM, ROWS = 64, 6000


def _documents(first, count):
    return [
        {"doc_id": f"d{i:05d}", "chunk_index": 0, "content": f"word{i % 97} text{i}"}
        for i in range(first, first + count)
    ]


def _vectors(seed, count):
    return np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)


def _made(path, **options):
    with ragfile.create(path, dim=DIM, **options) as w:
        w.add(_documents(0, ROWS), _vectors(1, ROWS))
    return path


@pytest.fixture
def there(tmp_path):
    (tmp_path / "there").mkdir()
    return _made(tmp_path / "there" / "kb.ragfile")


@pytest.fixture
def server(there):
    with RangeServer({"kb.ragfile": there.read_bytes()}) as server:
        yield server


def _publish(server, path):
    server.files["kb.ragfile"] = path.read_bytes()
    server.forget()


def test_a_first_pull_copies_the_file(server, there, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = ragfile.pull(server.url("kb.ragfile"))
    assert (tmp_path / "kb.ragfile").read_bytes() == there.read_bytes()
    assert report == ragfile.PullReport("kb.ragfile", there.stat().st_size, report.fetched, True, 1)
    assert report.size <= server.sent == report.fetched < report.size + 400_000


def test_a_second_pull_of_the_same_file_fetches_its_ends_and_writes_nothing(server, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    before = here.stat()
    server.forget()
    report = ragfile.pull(server.url("kb.ragfile"), here)
    assert not report.is_changed
    assert here.stat() == before
    assert server.sent == report.fetched < 500_000 < report.size


def test_new_commits_cost_their_own_bytes(server, there, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    for first in (ROWS, ROWS + 2000):
        with ragfile.edit(there) as w:
            w.add(_documents(first, 2000), _vectors(first, 2000))
            w.delete([f"d{first - 5:05d}"])
    grown = there.stat().st_size - here.stat().st_size
    _publish(server, there)
    report = ragfile.pull(server.url("kb.ragfile"), here)
    assert here.read_bytes() == there.read_bytes()
    assert (report.is_changed, report.generation) == (True, 3)
    assert report.fetched == server.sent < grown + 400_000
    assert ragfile.log(here) == ragfile.log(there)


def test_a_file_that_was_changed_here_is_not_replaced(server, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    with ragfile.edit(here) as w:
        w.delete(["d00001"])
    before = here.read_bytes()
    with pytest.raises(ConflictError, match=r"not an earlier state.*--replace"):
        ragfile.pull(server.url("kb.ragfile"), here)
    assert here.read_bytes() == before
    ragfile.pull(server.url("kb.ragfile"), here, replace=True)
    assert here.read_bytes() == server.files["kb.ragfile"]


def test_a_compacted_file_costs_the_blocks_that_are_new(server, there, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    with ragfile.edit(there) as w:
        w.add(_documents(ROWS, 50), _vectors(3, 50))
    ragfile.compact(there)
    _publish(server, there)
    report = ragfile.pull(server.url("kb.ragfile"), here, replace=True)
    assert here.read_bytes() == there.read_bytes()
    assert (
        report.fetched < 0.6 * report.size
    )  # rows of later ids leave the first vectors as they are


def _past(path):
    """The number of generations from before that a file names."""
    with ragfile.open(path) as rf:
        return sum(e["items"] for e in rf.file.entries if e["name"] == "rag.past")


def _grow_and_drop(path, commits, first):
    """Commit some times, and drop all generations but the newest."""
    for i in range(first, first + commits):
        with ragfile.edit(path, keep=1) as w:
            w.add(_documents(ROWS + i, 1), _vectors(i, 1))
    assert old_generations.drop_older(path, 1)


def test_a_copy_of_a_dropped_generation_is_an_earlier_state(server, there, tmp_path):
    """It is one that was dropped, one that was kept, and one from before two droppings."""
    here = [tmp_path / f"{name}.ragfile" for name in ("dropped", "kept", "long_ago")]
    ragfile.pull(server.url("kb.ragfile"), here[0])
    ragfile.pull(server.url("kb.ragfile"), here[2])
    with ragfile.edit(there, keep=1) as w:
        w.add(_documents(ROWS, 1), _vectors(0, 1))
    _publish(server, there)
    ragfile.pull(server.url("kb.ragfile"), here[1])
    assert old_generations.drop_older(there, 1)
    _publish(server, there)
    for path in here[:2]:
        report = ragfile.pull(server.url("kb.ragfile"), path)
        assert path.read_bytes() == there.read_bytes()
        assert report.fetched < 0.2 * report.size
    _grow_and_drop(there, 2, 1)
    _publish(server, there)
    assert ragfile.pull(server.url("kb.ragfile"), here[2]).generation == 1
    assert here[2].read_bytes() == there.read_bytes()
    assert ragfile.verify(there)[0] == []


def test_a_copy_that_was_changed_here_is_none_of_the_dropped_generations(server, there, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    _grow_and_drop(there, 3, 0)
    _publish(server, there)
    with ragfile.edit(here) as w:
        w.add(_documents(ROWS, 1), _vectors(9, 1))
    before = here.read_bytes()
    with pytest.raises(ConflictError, match="not an earlier state"):
        ragfile.pull(server.url("kb.ragfile"), here)
    assert here.read_bytes() == before


def test_a_file_remembers_so_many_dropped_generations(server, there, tmp_path, monkeypatch):
    monkeypatch.setattr(past_generations, "MOST", 4)
    first, fourth = tmp_path / "1.ragfile", tmp_path / "4.ragfile"
    ragfile.pull(server.url("kb.ragfile"), first)
    for i in range(4):
        with ragfile.edit(there, keep=1) as w:
            w.add(_documents(ROWS + i, 1), _vectors(i, 1))
        if i == 2:
            _publish(server, there)
            ragfile.pull(server.url("kb.ragfile"), fourth)
    assert old_generations.drop_older(there, 1)
    _publish(server, there)
    assert _past(there) == 4
    assert ragfile.pull(server.url("kb.ragfile"), fourth).is_changed
    with pytest.raises(ConflictError, match="dropped more than 256"):
        ragfile.pull(server.url("kb.ragfile"), first)


def test_compaction_forgets_the_dropped_generations(there):
    _grow_and_drop(there, 2, 0)
    assert _past(there) == 3
    ragfile.compact(there)
    assert _past(there) == 0


def test_an_open_reader_keeps_the_old_file_until_it_refreshes(server, there, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    with ragfile.edit(there) as w:
        w.add(_documents(ROWS, 1), _vectors(3, 1))
    _publish(server, there)
    with ragfile.open(here) as rf:
        ragfile.pull(server.url("kb.ragfile"), here)
        assert len(rf) == ROWS
        assert rf.refresh()
        assert len(rf) == ROWS + 1


def test_a_damaged_file_is_refused_and_the_local_one_stays(server, there, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    before = here.read_bytes()
    with ragfile.edit(there) as w:
        w.add(_documents(ROWS, 2000), _vectors(3, 2000))
    damaged = bytearray(there.read_bytes())
    damaged[len(before) + 50_000] ^= 1
    server.files["kb.ragfile"] = bytes(damaged)
    with pytest.raises(CorruptError):
        ragfile.pull(server.url("kb.ragfile"), here)
    assert here.read_bytes() == before


def test_a_commit_in_progress_is_left_out_and_the_next_pull_goes_on(server, there, tmp_path):
    here = tmp_path / "kb.ragfile"
    whole = there.read_bytes()
    server.files["kb.ragfile"] = whole + b"a commit that was not finished" * 300
    assert ragfile.pull(server.url("kb.ragfile"), here).size == len(whole)
    assert here.read_bytes() == whole
    assert not ragfile.pull(server.url("kb.ragfile"), here).is_changed
    there.write_bytes(server.files["kb.ragfile"])
    with ragfile.edit(there) as w:
        w.delete(["d00001"])
    _publish(server, there)
    assert ragfile.pull(server.url("kb.ragfile"), here).generation == 2
    assert here.read_bytes() == there.read_bytes()


def test_bytes_that_a_dead_writer_left_here_are_no_change(server, there, tmp_path):
    here = tmp_path / "kb.ragfile"
    here.write_bytes(there.read_bytes() + b"left by a dead writer" * 200)
    assert not ragfile.pull(server.url("kb.ragfile"), here).is_changed
    with ragfile.edit(there) as w:
        w.delete(["d00001"])
    _publish(server, there)
    assert ragfile.pull(server.url("kb.ragfile"), here).is_changed
    assert here.read_bytes() == there.read_bytes()


def test_a_file_with_another_model_needs_replace(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Keys\n\nRotate the keys.\n")
    here, there = tmp_path / "here.ragfile", tmp_path / "there.ragfile"
    ragfile.build(docs, here)
    with ragfile.open(here) as rf:
        model = rf.info["model"]

    class Other:
        model = Model("other-model", 8)

        def embed(self, texts, role):
            return np.ones((len(texts), 8), np.float32)

    ragfile.build(docs, there, embedder=Other())
    with RangeServer({"kb": there.read_bytes()}) as server:
        with pytest.raises(ModelError, match=rf"{model['name']}.*other-model.*--replace"):
            ragfile.pull(server.url("kb"), here)
        report = ragfile.pull(server.url("kb"), here, replace=True)
        assert (report.old_model, report.model) == (model["name"], "other-model")
        assert ragfile.pull(server.url("kb"), here).old_model is None
    assert here.read_bytes() == there.read_bytes()
    bare = tmp_path / "bare.ragfile"
    ragfile.build(docs, bare, embedder="none")
    with pytest.raises(ModelError, match="built with other-model, the remote file with none"):
        ragfile.pull(bare.as_uri(), here)
    done = run("pull", "--replace", bare.as_uri(), here)
    assert "; its model is none, and was other-model" in done.stdout


def test_a_file_of_this_machine_is_pulled_by_its_url(there, tmp_path):
    here = tmp_path / "here" / "kb.ragfile"
    here.parent.mkdir()
    assert ragfile.pull(there.as_uri(), here).is_changed
    assert here.read_bytes() == there.read_bytes()
    with ragfile.edit(there) as w:
        w.delete(["d00001"])
    report = ragfile.pull(there.as_uri(), here.as_uri())
    assert here.read_bytes() == there.read_bytes()
    assert (report.generation, report.fetched <= report.size) == (2, True)
    assert not ragfile.pull(there.as_uri(), here).is_changed
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(RemoteError, match="empty"):
        ragfile.pull((tmp_path / "empty").as_uri(), here)
    with pytest.raises(FileNotFoundError):
        ragfile.pull((tmp_path / "none").as_uri(), here)
    with pytest.raises(ValueError, match="another machine"):
        ragfile.pull("file://elsewhere/kb.ragfile", here)


def run(*arguments):
    command = [sys.executable, "-m", "ragfile", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_a_signed_file_is_replaced_by_a_signed_one_alone(server, there, tmp_path):
    pytest.importorskip("cryptography", reason="the sign extra is not installed")
    private, public = tmp_path / "key", tmp_path / "key.pub"
    ragfile.new_key(private)
    here, url = tmp_path / "kb.ragfile", server.url("kb.ragfile")
    ragfile.sign(there, private)
    _publish(server, there)
    ragfile.pull(url, here, trusted=[public])
    with pytest.raises(SignatureError, match=r"is signed: name the key.*--key"):
        ragfile.pull(url, here)
    with ragfile.edit(there) as w:
        w.delete(["d00001"])
    _publish(server, there)
    before = here.read_bytes()
    with pytest.raises(SignatureError, match="it is not signed"):
        ragfile.pull(url, here, trusted=[public])
    assert here.read_bytes() == before
    ragfile.sign(there, private)
    _publish(server, there)
    assert ragfile.pull(url, here, trusted=[public]).is_changed


def test_a_file_that_a_writer_holds_is_not_replaced(server, tmp_path):
    here = tmp_path / "kb.ragfile"
    ragfile.pull(server.url("kb.ragfile"), here)
    hold = "import ragfile, sys; w = ragfile.edit(sys.argv[1]).__enter__(); print(); input()"
    command = [sys.executable, "-c", hold, here]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        with pytest.raises(LockedError, match=str(holder.pid)):
            ragfile.pull(server.url("kb.ragfile"), here, wait=0)
        holder.communicate(b"\n")


def test_other_files_and_urls_are_refused(server, tmp_path):
    server.files |= {"old": b"RAGFILE\0\1\0" + bytes(100), "text": b"hello" * 100}
    for name in ("old", "text"):
        with pytest.raises(FormatError, match=r"only files of version 1\.0"):
            ragfile.pull(server.url(name), tmp_path / "kb")
    with pytest.raises(RemoteError, match="no such file"):
        ragfile.pull(server.url("none"), tmp_path / "kb")
    with pytest.raises(ValueError, match="is not a URL"):
        ragfile.pull(str(tmp_path / "kb"))
    with pytest.raises(ValueError, match="is a dataset"):
        ragfile.pull("s3://bucket/kb/")
    with pytest.raises(ValueError, match="ends without a name"):
        ragfile.pull(server.url(""))
    assert not (tmp_path / "kb").exists()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="is not a RAGFile"):
        ragfile.pull(server.url("kb.ragfile"), tmp_path / "notes.txt")


def test_the_command_pulls_and_reports(server, there, tmp_path):
    command = [sys.executable, "-m", "ragfile", "pull", server.url("kb.ragfile")]
    first = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "kb.ragfile: generation 1" in first.stdout
    assert (tmp_path / "kb.ragfile").read_bytes() == there.read_bytes()
    second = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "up to date" in second.stdout
