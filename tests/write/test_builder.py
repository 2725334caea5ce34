"""Builds: the same bytes from the same sources, an account of what was not taken, and nothing lost when one is killed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ragfile
from ragfile.embedding.protocol import Model
from ragfile.embedding.resume import Stash

TEXT = "The footer is written last. Grüße an İstanbul und ILLINOIS. " * 30


class Counting:
    """An embedder that is not static, so that its vectors are worth keeping; it can break down."""

    def __init__(self, dims=8, fail_after=None):
        self.model, self.texts, self.fail_after = Model("counting", dims), [], fail_after

    def embed(self, texts, role="document"):
        if self.fail_after is not None and len(self.texts) + len(texts) > self.fail_after:
            raise ConnectionError("the provider went away")
        self.texts += texts
        return np.array(
            [np.random.default_rng(len(t)).standard_normal(self.model.dims) for t in texts],
            np.float32,
        )


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep" / "er").mkdir(parents=True)
    for i in range(12):
        (folder / f"{i:02d}.md").write_text(f"# Page {i}\n\n{TEXT}\n\n## More {i}\n\n{i} {TEXT}\n")
    (folder / "deep" / "er" / "plain.txt").write_text("Nothing but text, deep down. " * 40)
    (folder / "deep" / "rows.csv").write_text("name,age\nann,3\nbob,4\n")
    return folder


def build(docs, out, **options):
    return ragfile.build([docs], out, **{"embedder": "none", **options})


# ---------------------------------------------------------------------------------------------------------- same bytes --


def test_twice_the_same_sources_are_twice_the_same_bytes(docs, tmp_path):
    for embedder in ("none", "default"):
        build(docs, tmp_path / "one", embedder=embedder)
        build(docs, tmp_path / "two", embedder=embedder)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.fixture
def environments(turkish):
    """Settings that must not matter."""
    return [
        {"LC_ALL": "C", "PYTHONHASHSEED": "0"},
        {**turkish, "PYTHONHASHSEED": "1"},
        {"LC_ALL": "C", "PYTHONHASHSEED": "1", "PYTHONUTF8": "0", "TZ": "Pacific/Auckland"},
    ]


BUILD = """
import contextlib, locale, sys, ragfile
with contextlib.suppress(locale.Error):
    locale.setlocale(locale.LC_ALL, "")
from ragfile.embedding import StaticEmbedder
ragfile.build([sys.argv[1]], sys.argv[2], embedder=StaticEmbedder(threads=int(sys.argv[3])))
"""


def test_neither_locale_nor_hash_seed_nor_threads_change_a_byte(docs, tmp_path, environments):
    made = set()
    for number, environment in enumerate(environments):
        out = tmp_path / f"{number}.ragfile"
        command = [sys.executable, "-c", BUILD, docs, out, str(1 + number % 2)]
        subprocess.run(command, env={**os.environ, **environment}, check=True)
        made.add(out.read_bytes())
    assert len(made) == 1


def test_a_file_does_not_depend_on_where_or_in_which_order_its_sources_were_made(docs, tmp_path):
    other = tmp_path / "elsewhere" / "docs"
    for path in sorted(docs.rglob("*"), reverse=True):
        if path.is_file():
            target = other / path.relative_to(docs)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
            os.utime(target, (path.stat().st_atime, path.stat().st_mtime))
    ids = []
    for name, folder in (("one", docs), ("two", other)):
        build(folder, tmp_path / name)
        with ragfile.open(tmp_path / name) as rf:
            ids.append([(d.id, d.text, d.metadata) for d in rf.documents()])
    assert ids[0] == ids[1]


def test_the_clock_is_what_source_date_epoch_says_and_otherwise_not_recorded(
    docs, tmp_path, monkeypatch
):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    build(docs, tmp_path / "none")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    build(docs, tmp_path / "epoch")
    with ragfile.open(tmp_path / "none") as rf:
        assert rf.info["created"] == 0
    with ragfile.open(tmp_path / "epoch") as rf:
        assert rf.info["created"] == 86400 * 10**9
        assert {d.metadata["created_at"] for d in rf.documents()} == {"1970-01-02T00:00:00Z"}


# ------------------------------------------------------------------------------------------------------------ accounts --


def test_what_could_not_be_read_is_reported_and_the_rest_is_built(docs, tmp_path):
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4\nnot really")
    (docs / "broken.md").write_bytes("# größer, soweit: ".encode() + b"\xff")
    (docs / "picture.xyz").write_bytes(b"\0\1\2")
    (docs / "copy.md").write_bytes((docs / "03.md").read_bytes())
    (docs / "loop").symlink_to(docs)
    report = build(docs, tmp_path / "kb")
    assert {os.path.basename(f.path) for f in report.failures} == {"broken.pdf", "broken.md"}
    assert all(f.reason for f in report.failures)
    assert [tuple(map(os.path.basename, (d.path, d.first))) for d in report.duplicates] == [
        ("copy.md", "03.md")
    ]
    skipped = {os.path.basename(s.path): s.reason for s in report.skipped}
    assert "suffix" in skipped["picture.xyz"]
    assert "link" in skipped["loop"]
    with ragfile.open(tmp_path / "kb") as rf:
        assert len(rf) == report.chunks
        assert sum(1 for _ in rf.documents()) == report.documents
        assert rf.document("03.md").text == rf.document("copy.md").text
    assert report.file_bytes == (tmp_path / "kb").stat().st_size


def test_duplicates_are_left_out_on_request(docs, tmp_path):
    (docs / "copy.md").write_bytes((docs / "03.md").read_bytes())
    report = build(docs, tmp_path / "kb", dedupe=True)
    assert len(report.duplicates) == 1
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("copy.md") is None
        assert rf.document("03.md") is not None


def test_every_hit_is_the_span_of_its_document_that_it_says(docs, tmp_path):
    build(docs, tmp_path / "kb", embedder="default")
    with ragfile.open(tmp_path / "kb") as rf:
        for question in ("footer", "İstanbul", "More 7", "deep down", "ann"):
            hits = rf.search(question, 20)
            assert hits
            assert hits.degraded == ""
            for hit in hits:
                assert rf.document(hit.doc_id).text[hit.start : hit.end] == hit.text
                assert hit.metadata["checksum"]


def test_tags_and_metadata_given_are_on_every_document(docs, tmp_path):
    build(docs, tmp_path / "kb", tags=["handbook"], metadata={"team": "ops"})
    with ragfile.open(tmp_path / "kb") as rf:
        assert len(rf.search("footer", 100, tags_any=["handbook"], where={"team": "ops"})) == len(
            rf.search("footer", 100)
        )


def test_tags_and_metadata_that_no_json_holds_are_refused_and_odd_ones_kept(docs, tmp_path):
    with pytest.raises(TypeError, match="cannot be JSON"):
        build(docs, tmp_path / "kb", metadata={"when": object()})
    build(docs, tmp_path / "kb", tags=["lone \ud800"])
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("03.md").tags == ("lone \ud800",)
        assert "labels" not in rf.file.config


def test_sources_without_a_document_are_an_error_and_leave_no_file(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no document"):
        build(tmp_path / "empty", tmp_path / "kb")
    with pytest.raises(FileNotFoundError):
        build(tmp_path / "nowhere", tmp_path / "kb")
    assert os.listdir(tmp_path) == ["empty"]


def test_progress_counts_up_to_what_the_report_says(docs, tmp_path):
    seen = []
    report = build(docs, tmp_path / "kb", progress=lambda *counts: seen.append(counts))
    assert seen == sorted(seen)
    assert seen[-1] == (report.documents, report.chunks, 1.0)


# --------------------------------------------------------------------------------------------------------- being killed --


def test_what_was_embedded_before_a_failure_is_not_embedded_again(docs, tmp_path, monkeypatch):
    monkeypatch.setattr("ragfile.write.builder.BATCH", 4)
    first, second = Counting(fail_after=30), Counting()
    with pytest.raises(ConnectionError):
        build(docs, tmp_path / "kb", embedder=first)
    assert not (tmp_path / "kb").exists()
    report = build(docs, tmp_path / "kb", embedder=second)
    assert not set(first.texts) & set(second.texts)
    assert report.embedded == len(second.texts)
    assert report.reused > 0
    build(docs, tmp_path / "plain", embedder=Counting(), resume=False)
    assert (tmp_path / "kb").read_bytes() == (tmp_path / "plain").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["docs", "kb", "plain"]


KILLED = """
import sys, time, numpy as np, ragfile, ragfile.write.builder
from ragfile.embedding import Model
ragfile.write.builder.BATCH = 2

class Slow:
    model, left = Model("slow", 8), int(sys.argv[4])
    def embed(self, texts, role="document"):
        if not self.left:
            time.sleep(600)  # until it is killed
        self.left -= 1
        with open(sys.argv[3], "a") as log:
            log.write(" ".join(map(hash_of, texts)) + "\\n")
        return np.array([np.random.default_rng(len(t)).standard_normal(8) for t in texts], np.float32)

def hash_of(text):
    import hashlib
    return hashlib.sha256(text.encode()).hexdigest()

ragfile.build([sys.argv[1]], sys.argv[2], embedder=Slow())
"""


@pytest.mark.parametrize("batches", [1, 4, 9])
def test_a_build_killed_in_the_middle_leaves_no_file_and_goes_on_from_what_was_embedded(
    docs, tmp_path, batches
):
    out, log = tmp_path / "kb", tmp_path / "log"
    command = [sys.executable, "-c", KILLED, docs, out, log]
    process = subprocess.Popen([*command, str(batches)])
    while process.poll() is None and (not log.exists() or log.read_text().count("\n") < batches):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not out.exists()
    before = log.read_text().splitlines()
    subprocess.run([*command, "1000"], check=True)
    again = log.read_text().splitlines()[len(before) :]
    kept = before[:-1]  # what was asked last may have been under way
    assert not set(" ".join(kept).split()) & set(" ".join(again).split())
    assert sorted(os.listdir(tmp_path)) == ["docs", "kb", "log"]
    assert ragfile.open(out).file.verify()[0] == []


# -------------------------------------------------------------------------------------------------------------- stashes --


def filled(folder, texts):
    stash = Stash(folder, "m", 3)
    stash.append(texts, np.arange(3 * len(texts), dtype=np.float32).reshape(-1, 3))
    return stash


def data_file(folder):
    return os.path.join(folder, "data.ninja")


def test_a_stash_remembers_across_runs_and_models_do_not_mix(tmp_path):
    folder = str(tmp_path / "stash")
    filled(folder, ["a", "b"])
    again = Stash(folder, "m", 3)
    assert again.find("b").tolist() == [3.0, 4.0, 5.0]
    assert again.find("c") is None
    assert Stash(folder, "other", 3).find("b") is None


@pytest.mark.parametrize("kept", [0, 1, 10, 35, 36, 37, 71])
def test_a_torn_tail_costs_the_row_that_it_tore(tmp_path, kept):
    folder = str(tmp_path / "stash")
    filled(folder, ["a", "b", "c"])
    width = 16 + 8 + 12
    os.truncate(data_file(folder), kept)
    torn = Stash(folder, "m", 3)
    assert [t for t in "abc" if torn.find(t) is not None] == list("abc")[: kept // width]
    torn.append(["d"], np.ones((1, 3)))
    again = Stash(folder, "m", 3)
    assert again.find("d").tolist() == [1.0, 1.0, 1.0]
    assert [t for t in "abc" if again.find(t) is not None] == list("abc")[: kept // width]


def test_bytes_behind_the_last_row_do_not_shift_what_comes_next(tmp_path):
    folder = str(tmp_path / "stash")
    filled(folder, ["a"])
    with open(data_file(folder), "ab") as file:
        file.write(b"half a row")
    Stash(folder, "m", 3).append(["b"], np.ones((1, 3)))
    again = Stash(folder, "m", 3)
    assert again.find("a").tolist() == [0.0, 1.0, 2.0]
    assert again.find("b").tolist() == [1.0, 1.0, 1.0]


def test_a_row_that_changed_is_not_taken(tmp_path):
    folder = str(tmp_path / "stash")
    filled(folder, ["a", "b"])
    path = data_file(folder)
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x7f")
    again = Stash(folder, "m", 3)
    assert again.find("a") is not None
    assert again.find("b") is None


@pytest.mark.parametrize("damage", ["nothing", "junk", "no data", "no shape"])
def test_a_folder_that_is_no_stash_is_made_anew(tmp_path, damage):
    folder = tmp_path / "stash"
    filled(str(folder), ["a"])
    for path in sorted(folder.iterdir()):
        is_data = str(path) == data_file(folder)
        if (
            damage == "nothing"
            or (damage == "no data" and is_data)
            or (damage == "no shape" and not is_data)
        ):
            path.unlink()
        elif damage == "junk":
            path.write_bytes(b"\xff\0junk")
    stash = Stash(str(folder), "m", 3)
    assert (stash.find("a") is not None) == (
        damage == "no shape"
    )  # the rows say themselves whether they are whole
    stash.append(["b"], np.ones((1, 3)))
    assert Stash(str(folder), "m", 3).find("b").tolist() == [1.0, 1.0, 1.0]


# ------------------------------------------------------------------------------------------------------- on the command --


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)],
        capture_output=True,
        text=True,
        **options,
    )


def test_the_command_takes_a_list_of_sources_from_stdin_and_is_quiet_without_a_terminal(
    docs, tmp_path
):
    listed = f"{docs / '01.md'}\n{docs / '02.md'}\n"
    done = run("build", "-", "-o", tmp_path / "kb", "--embedder", "none", "--json", input=listed)
    report = json.loads(done.stdout)
    assert (report["documents"], done.stderr, done.returncode) == (2, "", 0)
    with ragfile.open(tmp_path / "kb") as rf:
        assert [d.id for d in rf.documents()] == ["01.md", "02.md"]


def test_the_command_names_each_file_that_it_could_not_read(docs, tmp_path):
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4\nnot really")
    done = run("build", docs, "-o", tmp_path / "kb", "--embedder", "none")
    assert done.returncode == 3
    assert "broken.pdf" in done.stderr
    assert "; 1 file with errors" in done.stdout
    nothing = run("build", "-o", tmp_path / "none")
    assert (nothing.returncode, (tmp_path / "none").exists()) == (2, False)


def test_the_report_as_json_names_the_parts_of_what_it_lists(docs, tmp_path):
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4\nnot really")
    (docs / "picture.xyz").write_bytes(b"\0\1\2")
    (docs / "copy.md").write_bytes((docs / "03.md").read_bytes())
    report = json.loads(
        run("build", docs, "-o", tmp_path / "kb", "--embedder", "none", "--json").stdout
    )
    assert {key: set(report[key][0]) for key in ("failures", "duplicates", "skipped")} == {
        "failures": {"path", "reason", "kind"}, "duplicates": {"path", "first"}, "skipped": {"path", "reason"},
    }  # fmt: skip


LIMITED = """
import atexit, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from ragfile.doors.cli import main as cli
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), most))
atexit.register(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))  # what was measured is written then
cli.main(sys.argv[2:])
"""


@pytest.mark.parametrize("limit", [1000, 50_000, 150_000])
def test_a_disk_that_is_full_is_an_error_that_says_where(docs, tmp_path, limit):
    (tmp_path / "out").mkdir()
    for i in range(100):
        (docs / f"more{i}.md").write_text(f"# {i}\n\n" + " ".join(str(i * j) for j in range(300)))
    command = [
        sys.executable,
        "-c",
        LIMITED,
        str(limit),
        "build",
        str(docs),
        "-o",
        str(tmp_path / "out" / "kb"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"ragfile: {tmp_path / 'out'}")
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path / "out") == []


def test_an_id_that_is_there_twice_is_a_failure_and_not_the_end(tmp_path):
    (tmp_path / "rows.jsonl").write_text(
        '{"id": 1, "text": "one", "tags": ["a", 2]}\n{"id": "1", "text": "again"}\n{"text": "three"}\n'
    )
    report = ragfile.build([tmp_path / "rows.jsonl"], tmp_path / "kb", embedder="none")
    assert [f.reason for f in report.failures] == ["the id 'rows.jsonl#1' appears twice"]
    with ragfile.open(tmp_path / "kb") as rf:
        assert [(d.id, d.text, d.tags) for d in rf.documents()] == [
            ("rows.jsonl#1", "one", ("a", "2")), ("rows.jsonl#3", "three", ()),
        ]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text(
        '{"id": 1, "text": "one"}\n{"id": "1", "text": "again"}\n{"text": "four"}\n'
    )
    synced = ragfile.sync(tmp_path / "kb", [tmp_path / "rows.jsonl"])
    assert [f.reason for f in synced.failures] == ["the id 'rows.jsonl#1' appears twice"]


def test_text_that_is_not_utf8_can_be_read_with_marks_in_its_place(docs, tmp_path):
    (docs / "latin.txt").write_bytes("Grüße".encode("latin-1"))
    done = run(
        "build",
        docs / "latin.txt",
        "-o",
        tmp_path / "kb",
        "--embedder",
        "none",
        "--errors",
        "replace",
    )
    assert done.returncode == 0
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("latin.txt").text == "Gr\ufffd\ufffde"


def test_a_terminal_shows_the_rate_and_the_time_left(docs, tmp_path):
    import pty

    here, there = pty.openpty()
    command = [sys.executable, "-c", ONE_BY_ONE, str(docs), str(tmp_path / "kb")]
    process = subprocess.Popen(command, stderr=there, stdout=subprocess.PIPE)
    os.close(there)
    shown = b""
    try:
        while piece := os.read(here, 4096):
            shown += piece
    except OSError:  # how a terminal ends
        pass
    os.close(here)
    assert process.wait() == 0
    lines = shown.decode().split("\r")
    assert any(
        "documents" in line and "chunks/s" in line and "%" in line and " left" in line
        for line in lines
    )
    assert lines[-1].strip("\n") == "\x1b[K"  # nothing of it stays
    assert b"14 documents" in process.stdout.read()
    process.stdout.close()


ONE_BY_ONE = """
import sys, ragfile.write.builder
from ragfile.doors.cli import main as cli
ragfile.write.builder.BATCH = 1
cli.main(["build", sys.argv[1], "-o", sys.argv[2], "--embedder", "none"])
"""
