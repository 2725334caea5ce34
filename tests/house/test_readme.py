"""The README and the pages of docs/ are true: their code blocks are run."""

import contextlib
import linecache
import os
import re
import runpy
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from servers.model_servers import Server as ModelServer
from servers.range_server import RangeServer

README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCREENS = 120  # lines: two screens
PORT, OTHER_PORT = "7433", "7434"  # in the pages; tests use free ones
CHANGES = r"\d\d\d\d-\d\d-\d\dT[\d:]+Z|[\d.,]+(?= (?:KB|MB|s|ms|chunks/s)\b)"  # from run to run


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def name(page):
    return str(page.relative_to(ROOT).with_suffix(""))


def examples(language):
    """A parameter for each block of each page."""
    return [
        pytest.param(page, block, id=f"{name(page)}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(language, page.read_text()))
    ]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder such as the pages imagine, and the servers of models that they name."""
    for folder in ("docs", "notes", "docs/old", "src"):
        (tmp_path / folder).mkdir()
    (tmp_path / "docs/keys.md").write_text("# Keys\n\nTo rotate the keys, run the rotation job.\n")
    (tmp_path / "docs/old/page.md").write_text("# Old\n\nNothing here is true any more.\n")
    (tmp_path / "src/routes.py").write_text("def register(route):\n    ROUTES.append(route)\n")
    (tmp_path / "notes/a.md").write_text("# A note\n\nRestart a pod by deleting it.\n")
    monkeypatch.chdir(tmp_path)
    with ModelServer() as models:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", models.url + "/v1")
        monkeypatch.setenv("OLLAMA_HOST", models.url)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
        yield tmp_path


@pytest.fixture
def far(desk):
    """The URL of a server that has the file that pages expect at example.org."""
    import ragfile

    ragfile.build("docs/", "far.ragfile")
    with RangeServer({"kb.ragfile": Path("far.ragfile").read_bytes()}) as server:
        yield server.url("").rstrip("/")


FRAMEWORKS = {  # adapter -> the package that it is about
    "langchain": ["langchain_core"],
    "llama_index": ["llama_index.core"],
    "haystack": ["haystack"],
}


@pytest.mark.parametrize(("page", "block"), examples("python"))
def test_the_python_examples_run(far, page, block):
    needed = re.findall(r"^(?:import|from) (duckdb|pyarrow|dspy|pydantic_ai|semantic_kernel|smolagents)\b",
                        block, re.MULTILINE)  # fmt: skip
    for adapter in re.findall(r"^from ragfile.adapters.(\w+) import", block, re.MULTILINE):
        needed += FRAMEWORKS.get(adapter, [])
    for package in needed:
        pytest.importorskip(
            package, reason=f"{package}, which this example is about, is not installed"
        )
    source, file = block.replace("https://example.org", far), f"<{page.name}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)  # for libraries that read it
    exec(compile(source, file, "exec"), {"__name__": "example"})


def commands(page):
    """(command, lines of its output that the page shows) for each line after a prompt."""
    found = []
    for line in "".join(blocks("console", page.read_text())).replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line)
    return found


@pytest.fixture
def terminal(desk, monkeypatch):
    """Runs a command in a shell whose `ragfile` is this tree's, and returns its output."""
    (desk / "bin").mkdir()
    (desk / "bin/ragfile").write_text(f'#!/bin/sh\nexec {sys.executable} -m ragfile "$@"\n')
    (desk / "bin/ragfile").chmod(0o755)
    monkeypatch.setenv("PATH", f"{desk / 'bin'}:{os.environ['PATH']}")
    ports = {PORT: str(free_port()), OTHER_PORT: str(free_port())}
    monkeypatch.setenv("RAGFILE_PORT", ports[PORT])
    with contextlib.ExitStack() as running:

        def run(line):
            for port, free in ports.items():
                line = line.replace(port, free)
            line = line.replace("0.0.0.0", "127.0.0.1")
            if line.endswith(" &"):
                return running.enter_context(server(line.removesuffix(" &")))
            done = subprocess.run(
                ["sh", "-c", line], capture_output=True, text=True, check=False, timeout=120
            )
            assert done.returncode == 0, (line, done.stderr)
            return done.stdout

        yield run


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def server(line):
    """A command that runs until the block ends, after the first line that it prints."""
    with subprocess.Popen(
        ["sh", "-c", f"exec {line} 2>server.log"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=name)
def test_the_commands_run(terminal, page, request):
    lines = commands(page)
    if any(line.startswith("ragfile site") for line, _ in lines):
        request.getfixturevalue("web_files")
    if any(line.startswith("curl") for line, _ in lines):
        pytest.importorskip("uvicorn", reason="the extra server is not installed")
        if not shutil.which("curl"):
            pytest.skip("curl is not installed")
    for line, shown in lines:
        output = terminal(line)
        if line.startswith("ragfile") and ">" not in line:
            assert output, line
        if line.startswith("curl"):
            assert '"error": {' not in output.replace('":{', '": {'), (line, output)
        printed = [re.sub(CHANGES, "N", text).strip() for text in output.splitlines()]
        for text in shown:
            assert re.sub(CHANGES, "N", text).strip() in printed, (line, text, output)


@pytest.mark.parametrize(
    ("page", "block"), [e for e in examples("bash") if e.values[0].name != "README.md"]
)
def test_the_commands_for_a_checkout_run(page, block):
    for line in block.splitlines():
        words = shlex.split(line)
        assert words[0] == "python"
        subprocess.run(
            [sys.executable, "-P", *words[1:]], cwd=ROOT, capture_output=True, check=True
        )


@pytest.fixture(scope="module")
def first_answer(tmp_path_factory):
    """What the first command prints, from `ragfile build` on."""
    steps, out = blocks("bash")[0].strip().split(" && "), tmp_path_factory.mktemp("first")
    assert steps[0].startswith("python3 -m venv")
    assert steps[1].startswith(".venv/bin/pip install")
    printed = ""
    for step in steps[2:]:
        words = shlex.split(step)
        assert words[0] == ".venv/bin/ragfile"
        words = [str(out / w) if w == "kb.ragfile" else w for w in words[1:]]
        printed += subprocess.run(
            [sys.executable, "-P", "-m", "ragfile", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return printed.replace(str(out / "kb.ragfile"), "kb.ragfile")


def test_the_first_command_builds_and_answers_from_the_documents_it_names(first_answer):
    assert "container.md" in first_answer
    assert "footer" in first_answer


def test_the_picture_shows_what_the_first_command_finds(first_answer):
    """The first hit's place and heading are compared: the rest moves with every sentence of spec/."""
    hit = re.compile(r"^(\d\.) [\d.]+  (\S+?):\d+-\d+  (.*)$", re.MULTILINE)
    shown, found = hit.findall(blocks("text")[0]), hit.findall(first_answer)
    assert shown
    assert shown[0] == found[0], "paste what the first command prints into README.md"


def test_the_second_command_is_what_continuous_integration_runs():
    install, run = blocks("bash")[1].strip().split(" && ")
    script = (ROOT / ".ci/run").read_text()
    assert (
        install.replace(".venv/bin/", '"$venv/bin/').replace("pip install", 'pip" install')
        in script
    )
    assert run.replace(".venv/bin/pytest", '"$venv/bin/pytest"') in script


MEASUREMENTS = "".join(path.read_text() for path in (ROOT / "bench").glob("[a-z]*.md"))


def measured(number):
    return re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", MEASUREMENTS)


def test_the_numbers_of_the_overview_are_those_of_its_pages():
    overview = (ROOT / "bench/README.md").read_text().partition("\n## ")[0]
    numbers = cells(re.findall(r"^\| (?!vectors|---).*$", overview, re.MULTILINE))
    assert len(numbers) > 60
    for number in numbers:
        assert measured(number), number


def cells(rows):
    return [
        number
        for row in rows
        for number in re.findall(r"(?<![\w.])[\d,]*\.?\d+\b", row.split("|", 2)[2])
    ]


def test_the_numbers_of_the_first_table_are_those_of_the_benchmarks():
    rows = [
        line
        for line in README.splitlines()
        if line.startswith("| the 10 ") or line.startswith("| 12 passages")
    ]
    assert len(rows) == 3
    assert len(cells(rows)) > 20
    for number in cells(rows):
        assert measured(number), number


def test_the_numbers_of_the_performance_page_are_those_of_the_benchmarks():
    text = (ROOT / "docs/reference/performance.md").read_text()
    numbers = cells(re.findall(r"^\| (?!task|---).*$", text, re.MULTILINE))
    numbers += re.findall(r"(?<!\w)\.\d{4}", text)
    assert len(numbers) > 15
    for number in numbers:
        assert measured(number), number


def test_the_bars_are_those_of_the_table():
    """`python bench/plots.py` draws them again."""
    plots = runpy.run_path(str(ROOT / "bench/plots.py"))
    assert plots["of_readme"](README) == (ROOT / "docs/images/bench-peers.svg").read_text()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_is_short(page):
    assert len(page.read_text().splitlines()) <= SCREENS


def test_the_website_and_the_index_have_every_page():
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    docs = ROOT / "docs"
    indexes = {
        page: page.read_text() for page in (docs / "index.md", docs / "reference/api/index.md")
    }
    for part in (ROOT / "spec/parts").glob("*.md"):
        assert f" {part.relative_to(ROOT)}\n" in nav, part
    for page in PAGES:
        assert f" {page.relative_to(ROOT)}\n" in nav, page
        assert page.name in ("README.md", "index.md") or any(
            f"]({page.relative_to(index.parent)})" in text
            for index, text in indexes.items()
            if page.is_relative_to(index.parent)
        ), page


def test_the_website_can_be_built(website):
    """And nothing in it is fetched from elsewhere, which `make docs` checks."""
    assert "ragfile.build" in (website / "docs/reference/api/files.html").read_text()
    assert (website / "ask/docs.ragfile").exists()


def test_every_file_that_the_readme_links_to_is_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert "://" in target or (ROOT / target).exists(), target


def test_the_tree_is_the_one_that_people_expect():
    names = (
        "pyproject.toml",
        "setup.py",
        "ragfile",
        "csrc",
        "tests",
        "bench",
        "spec",
        "docs",
        "README.md",
        "LICENSE",
    )
    for name in names:
        assert (ROOT / name).exists(), name
    assert shutil.which("cc") or shutil.which("gcc")
