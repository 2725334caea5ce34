"""Hostile files end the process that parses them, which is one failure of the build."""

import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from oracles import hostile_files
from oracles import source_files as made
from sanitizers import SANITIZED

import ragfile
from ragfile.ground import python_process
from ragfile.ingest import parser_process, parser_worker
from ragfile.ingest.document_loader import Loading, load
from ragfile.ingest.loaders import Limits, LoadError

OPEN_TEXT = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text>'
    "<text:p>A passage</text:p></office:text></office:body></office:document-content>"
)
LITTLE = Limits(parse_memory=64 << 20)
SAMPLES = {
    "a.pdf": made.pdf("First page", "Second page"),
    "a.docx": made.docx(made.paragraph("Text with \u2028, \U0001f600 and &#x85;")),
    "a.pptx": made.pptx(),
    "a.odt": made.odt(OPEN_TEXT),
    "a.epub": made.epub({"a.xhtml": "<title>t</title><p>A passage</p>"}, ["i0"]),
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of memory are POSIX")


BEFORE = set()  # children that earlier tests left to this process


@pytest.fixture(autouse=True)
def others():
    """Note the children that are none of the test's."""
    BEFORE.clear()
    BEFORE.update(children())


def children():
    """Return the pids of the children that a test has started, ended ones included."""
    found = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True
    ).stdout
    pids = [int(line.split()[0]) for line in found.splitlines() if "ps -o" not in line]
    return [pid for pid in pids if pid not in BEFORE]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("Pods live long.")
    (folder / "z.md").write_text("Nodes live longer.")
    return folder


def needs_pdf():
    pytest.importorskip("pypdfium2", reason="the extra 'ingest' is not installed")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_pdf_that_expands_is_a_failure_and_the_folder_is_built(tmp_path, folder, jobs):
    needs_pdf()
    bomb = hostile_files.bomb()
    assert len(bomb) < 50_000
    (folder / "bomb.pdf").write_bytes(bomb)
    (folder / "good.pdf").write_bytes(made.pdf("A good page"))
    report = ragfile.build(folder, tmp_path / "kb", limits=LITTLE, jobs=jobs, embedder="none")
    (failure,) = report.failures
    assert failure.path.endswith("bomb.pdf")
    assert "more than 64 MiB of memory: parse_memory= allows more" in failure.reason
    assert ragfile.open(tmp_path / "kb").document_ids() == ["a.md", "good.pdf", "z.md"]
    assert children() == []


def test_no_more_memory_is_taken_than_the_limit(tmp_path):
    needs_pdf()
    (tmp_path / "bomb.pdf").write_bytes(hostile_files.bomb())
    script = (
        "import resource, ragfile\n"
        "from ragfile.ingest.document_loader import Loading\n"
        f"loading = Loading({str(tmp_path)!r}, limits=ragfile.Limits(parse_memory=64 << 20))\n"
        "assert list(loading) == [] and len(loading.failures) == 1\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)\n"
    )
    used = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(used.stdout) < 64 + 100  # the interpreter and its modules


@pytest.mark.skipif(SANITIZED, reason="sanitizers take memory")
@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.docx", hostile_files.word_bomb(20 << 20)),
        ("a.epub", hostile_files.book_bomb(20 << 20)),
    ],
)
def test_an_archive_that_expands_is_a_failure(tmp_path, name, raw):
    (tmp_path / name).write_bytes(raw)
    loading = Loading(tmp_path, limits=replace(LITTLE, parse_memory=32 << 20))
    assert list(loading) == []
    ((reason, kind),) = [(failure.reason, failure.kind) for failure in loading.failures]
    assert "more than 32 MiB of memory" in reason
    assert kind == "LimitError"


def test_an_archive_of_many_entries_is_refused_unread(tmp_path):
    entry = b"PK\1\2" + b"\0" * 42
    (tmp_path / "a.docx").write_bytes(b"PK\3\4" + entry * 70_000)
    with pytest.raises(LoadError, match="more than 65536 entries"):
        load(tmp_path / "a.docx")


def test_a_file_that_takes_too_long_is_a_failure(tmp_path, folder):
    (folder / "slow.epub").write_bytes(hostile_files.book_bomb(20 << 20))
    loading = Loading(folder, limits=Limits(parse_seconds=0.2))
    assert [document.id for document in loading] == ["a.md", "z.md"]
    assert [failure.reason for failure in loading.failures] == [
        "parsing it takes more than 0.2 seconds: parse_seconds= allows more"
    ]
    assert children() == []


def test_an_answer_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(parser_process, "SLACK", -500)
    (tmp_path / "a.docx").write_bytes(made.docx(made.paragraph("x" * 100)))
    loading = Loading(tmp_path, limits=Limits(max_text=101))
    assert list(loading) == []
    assert loading.failures[0].reason == "more than 101 characters of text"
    assert children() == []


def test_pages_beyond_the_limit_of_text_end_the_process(tmp_path):
    needs_pdf()
    (tmp_path / "a.pdf").write_bytes(made.pdf("One page", "Two pages", "Three"))
    loading = Loading(tmp_path, limits=Limits(max_text=12))
    assert list(loading) == []
    assert loading.failures[0].reason == "more than 12 characters of text"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_reads_the_same_inside_and_outside_the_process(tmp_path, name):
    if name.endswith(".pdf"):
        needs_pdf()
    path = tmp_path / name
    path.write_bytes(SAMPLES[name])
    outside = load(path)
    assert outside == load(path, limits=Limits(parse_memory=0))
    assert outside[0].text


def test_the_worker_answers_what_the_loader_yields(monkeypatch):
    """The worker's loop itself, which no tool sees in another process."""
    raw, limits = SAMPLES["a.pptx"], Limits()
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(raw)}))
    monkeypatch.setattr(parser_worker.system, "limit_address_space", lambda size: None)
    watch = parser_worker._Watch(os.getppid())
    request = parser_process.request("pptx", raw, limits)
    assert parser_worker._answered(request, out, parser_worker.system.address_space(), watch)
    events = [line.split(b",")[0] for line in out.getvalue().splitlines()]
    assert events[0] == b'["document"'
    assert events[-1] == b'["end"'


def test_text_files_start_no_process(folder, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    assert len(list(Loading(folder))) == 2


def test_without_an_interpreter_the_reason_has_the_way_out(folder, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    (folder / "b.docx").write_bytes(SAMPLES["a.docx"])
    loading = Loading(folder)
    assert len(list(loading)) == 2
    assert "parse_memory=0 parses it in this one" in loading.failures[0].reason
    assert len(list(Loading(folder, limits=Limits(parse_memory=0)))) == 3


def test_a_process_that_does_not_start_is_a_failure(folder, monkeypatch):
    monkeypatch.setattr(python_process, "START", "import no_such_module_of_ours")
    (folder / "b.docx").write_bytes(SAMPLES["a.docx"])
    loading = Loading(folder)
    assert len(list(loading)) == 2
    assert loading.failures[0].reason == "the process to parse it did not start: it ended with 1"


def test_one_process_serves_all_files_and_a_killed_one_is_replaced(folder):
    for number in range(3):
        (folder / f"b{number}.docx").write_bytes(SAMPLES["a.docx"])
    (folder / "b1.docx").write_bytes(b"PK\3\4 damaged")
    loading, seen = Loading(folder), []
    for document in loading:
        if document.id.endswith(".docx"):
            seen += children()
            if document.id == "b2.docx":
                os.kill(seen[-1], signal.SIGKILL)
                os.waitid(os.P_PID, seen[-1], os.WEXITED | os.WNOWAIT)
    assert len(set(seen)) == 1
    assert [os.path.basename(failure.path) for failure in loading.failures] == ["b1.docx"]
    (path,) = folder.glob("b2.docx")
    source = next(one for one in loading.found() if one.path == str(path))
    assert [document.id for document in loading.file(source)] == ["b2.docx"]
    loading.parser.close()
    assert children() == []


def test_a_process_ends_with_the_loading(folder):
    (folder / "b.docx").write_bytes(SAMPLES["a.docx"])
    loading = Loading(folder)
    assert len(list(loading)) == 3
    assert len(children()) == 1
    del loading
    assert children() == []


UNGUARDED = """
import multiprocessing, threading
from ragfile.ingest.document_loader import load
def read():
    print(load({path!r})[0].text, flush=True)
thread = threading.Thread(target=read)
thread.start()
thread.join()
daemon = multiprocessing.get_context("fork").Process(target=read, daemon=True)
daemon.start()
daemon.join()
"""


@pytest.mark.parametrize("way", ["-c", "-"])
def test_threads_daemons_and_scripts_without_a_file_parse(tmp_path, way):
    path = tmp_path / "a.docx"
    path.write_bytes(made.docx(made.paragraph("A passage")))
    script = UNGUARDED.format(path=str(path))
    command, given = ([sys.executable, "-c", script], "") if way == "-c" else ([sys.executable, "-"], script)  # fmt: skip
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "A passage\n" * 2, "")


def test_a_process_whose_parent_was_killed_ends(tmp_path):
    path = tmp_path / "slow.epub"
    path.write_bytes(hostile_files.book_bomb(20 << 20))
    script = (
        "import os, subprocess, threading\n"
        "from ragfile.ingest import document_loader, parser_process\n"
        "start = subprocess.Popen\n"
        "def popen(*args, **options):\n"
        "    child = start(*args, **options)\n"
        "    print(child.pid, flush=True)\n"
        "    threading.Timer(1.0, os.kill, (os.getpid(), 9)).start()\n"
        "    return child\n"
        "parser_process.subprocess.Popen = popen\n"
        f"document_loader.load({str(path)!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert done.returncode == -signal.SIGKILL
    while os.path.exists(f"/proc/{int(done.stdout)}/fd/0"):
        time.sleep(0.05)


def test_a_command_of_an_error_is_one_of_the_command_line(tmp_path, folder):
    needs_pdf()
    (folder / "bomb.pdf").write_bytes(hostile_files.bomb())
    build = [sys.executable, "-m", "ragfile", "build", str(folder), "-o", str(tmp_path / "kb")]
    small = subprocess.run(
        [*build, "--parse-memory", str(64 << 20)], capture_output=True, text=True
    )
    assert small.returncode == 3
    assert "more than 64 MiB of memory: --parse-memory allows more" in small.stderr
    slow = subprocess.run([*build, "--parse-seconds", "0.01"], capture_output=True, text=True)
    assert slow.returncode == 3
    assert "--parse-seconds allows more" in slow.stderr


@pytest.mark.parametrize("wrong", [{"parse_memory": -1}, {"parse_seconds": 0.0}])
def test_wrong_limits_are_refused(wrong):
    with pytest.raises(ValueError, match="parse_memory is 0 or more bytes"):
        Limits(**wrong)
