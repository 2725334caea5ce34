"""A build by several processes has the bytes and the report of a build by one, and leaves no process behind."""

import json
import os
import subprocess
import sys
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

import ragfile
from ragfile.doors.cli.main import ragfile as cli
from ragfile.embedding.protocol import Model
from ragfile.ground import python_process
from ragfile.write import builder, read_ahead


class Letters:
    """An embedder that only this process has."""

    model = Model("letters", 4)

    def embed(self, texts, role="document"):
        return np.array([[len(t), t.count("a"), t.count("e"), 1] for t in texts], np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    for i in range(40):
        part = folder / f"part{i % 5}"
        part.mkdir(exist_ok=True)
        text = (
            f"---\ntitle: Page {i}\ntags: [t{i % 3}]\nn: {i}\n---\n# Head {i}\n\nPods live here {i}. "
            + "é\r\nx " * i
        )
        (part / f"page{i:02d}.md").write_text(text)
    (folder / "same.md").write_bytes((folder / "part0" / "page00.md").read_bytes())
    (folder / "page.html").write_text("<html><title>T</title><p>An <b>html</b> page.</p>")
    (folder / "table.csv").write_text("a,b\n1,2\n3,4\n")
    lines = [{"id": "one", "text": "first"}, {"id": "one", "text": "again"}, {"text": 5}]
    (folder / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n{broken\n")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "image.md").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "empty.md").write_text("")
    return folder


def both(tmp_path, folder, **options):
    reports = []
    for jobs in (1, 2):
        out = tmp_path / f"{jobs}.ragfile"
        reports.append(ragfile.build([folder], out, jobs=jobs, created=1, **options))
    assert (tmp_path / "1.ragfile").read_bytes() == (tmp_path / "2.ragfile").read_bytes()
    return reports


def facts(report):
    return {name: getattr(report, name) for name in report.__slots__} if hasattr(report, "__slots__") else {
        name: value for name, value in vars(report).items() if name not in ("path", "seconds")
    }  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tags": ["all"], "metadata": {"title": "Ours", "year": 2026}, "dedupe": True, "errors": "replace"},
        {"embedder": Letters(), "chunking": "words:20/4", "encoding": "cp1252"},
        {"embedder": "none", "portable": True},
    ],
    ids=["default", "labels", "an object", "none"],
)  # fmt: skip
def test_two_processes_give_the_bytes_and_the_report_of_one(tmp_path, folder, options):
    one, two = both(tmp_path, folder, **options)
    assert facts(one) == facts(two)
    assert one.documents > 40
    assert one.failures


def test_tasks_of_one_file_and_large_files_make_no_difference(tmp_path, folder):
    with mock.patch.multiple(read_ahead, TASK_FILES=1, LARGE=300):
        both(tmp_path, folder, embedder="none")


def children():
    listed = subprocess.run(["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=True)  # fmt: skip
    return [line for line in listed.stdout.splitlines() if "read_worker" in line]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_build_that_is_interrupted_leaves_no_process_and_no_file(tmp_path, folder, error):
    seen = []

    class Stopping(Letters):
        def embed(self, texts, role="document"):
            seen.append(len(children()))
            raise error

    with mock.patch.object(builder, "BATCH", 1), pytest.raises(error):
        ragfile.build([folder], tmp_path / "kb", jobs=2, embedder=Stopping())
    assert seen == [2]
    assert children() == []
    assert os.listdir(tmp_path) == []


DYING = """import os
from ragfile.write import read_worker
read = read_worker.SourceReader.read
def deadly(self, source):
    if source.path.endswith(("page07.md", "page30.md")):
        os._exit(9)
    return read(self, source)
read_worker.SourceReader.read = deadly
"""


def test_a_file_that_ends_its_process_is_a_failure_and_the_rest_is_built(tmp_path, folder):
    start = python_process.START.replace("from {package}", DYING + "from {package}", 1)
    with mock.patch.object(python_process, "START", start.replace("; import os", "\nimport os")):
        report = ragfile.build([folder], tmp_path / "kb", jobs=2, embedder="none")
    died = [failure for failure in report.failures if failure.kind == "Died"]
    assert sorted(os.path.basename(each.path) for each in died) == ["page07.md", "page30.md"]
    assert "code 9" in died[0].reason
    ids = ragfile.open(tmp_path / "kb").document_ids()
    assert "part2/page12.md" in ids
    assert "part2/page07.md" not in ids


def test_a_process_that_does_not_start_is_an_error(tmp_path, folder):
    with (
        mock.patch.object(python_process, "START", "import no_such_module_of_ours"),
        pytest.raises(RuntimeError, match="did not start"),
    ):
        ragfile.build([folder], tmp_path / "kb", jobs=2, embedder="none")
    assert os.listdir(tmp_path) == []


def test_a_script_without_a_guard_builds(tmp_path, folder):
    script = tmp_path / "script.py"
    script.write_text(
        f"import ragfile\nprint(ragfile.build([{str(folder)!r}], {str(tmp_path / 'kb')!r}, jobs=2, embedder='none').documents)\n"
    )
    home = os.path.dirname(os.path.dirname(ragfile.__file__))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": home}, check=True)  # fmt: skip
    assert int(done.stdout) > 40
    assert len(done.stdout.split()) == 1


@pytest.mark.parametrize("jobs", [0, -1])
def test_fewer_than_one_process_is_refused(tmp_path, folder, jobs):
    with pytest.raises(ValueError, match="from 1"):
        ragfile.build([folder], tmp_path / "kb", jobs=jobs)


def test_the_command_takes_jobs_for_a_file_and_not_for_a_dataset(tmp_path, folder):
    run = CliRunner().invoke
    out = str(tmp_path / "kb")
    done = run(
        cli, ["build", str(folder / "part1"), "-o", out, "--jobs", "2", "--embedder", "none"]
    )
    assert done.exit_code == 0, done.output
    refused = run(
        cli, ["build", str(folder), "-o", f"{out}s/", "--jobs", "2", "--embedder", "none"]
    )
    assert refused.exit_code == 2
    assert "--workers" in refused.output


def test_jobs_need_an_interpreter_that_can_be_started(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(ValueError, match="no Python interpreter to start"):
        ragfile.build([folder], tmp_path / "kb", jobs=2, embedder="none")
