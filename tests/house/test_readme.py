"""The README and the pages of docs/ are true: their code blocks are run."""

import linecache
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from servers.range_server import RangeServer

README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SCREENS = 120  # lines: two screens


def blocks(language, text=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def examples(language):
    """A parameter for each block of each page."""
    return [
        pytest.param(page, block, id=f"{page.stem}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(language, page.read_text()))
    ]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder such as the pages imagine."""
    for name in ("docs", "notes", "docs/old"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs/keys.md").write_text("# Keys\n\nTo rotate the keys, run the rotation job.\n")
    (tmp_path / "docs/old/page.md").write_text("# Old\n\nNothing here is true any more.\n")
    (tmp_path / "notes/a.md").write_text("# A note\n\nRestart a pod by deleting it.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def far(desk):
    """The address of a server that has what example.org is said to have."""
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
    source, name = block.replace("https://example.org", far), f"<{page.name}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (
        len(source),
        None,
        lines,
        name,
    )  # for those that read a function's source
    exec(compile(source, name, "exec"), {"__name__": "example"})


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks("console", p.read_text())], ids=lambda p: p.stem
)
def test_the_commands_run(desk, page):
    command = {"ragfile": [sys.executable, "-m", "ragfile"]}
    for line in "".join(blocks("console", page.read_text())).splitlines():
        words = [
            w
            for part in shlex.split(line.removeprefix("$ "))
            for w in (sorted(map(str, Path().glob(part))) if "*" in part else [part])
        ]
        done = subprocess.run(
            command[words[0]] + words[1:], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
        assert done.stdout


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


def measured(number):
    return re.search(
        rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", (ROOT / "bench/README.md").read_text()
    )


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
    text = (ROOT / "docs/performance.md").read_text()
    numbers = cells(re.findall(r"^\| (?!task|---).*$", text, re.MULTILINE))
    numbers += re.findall(r"(?<!\w)\.\d{4}", text)
    assert len(numbers) > 15
    for number in numbers:
        assert measured(number), number


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_page_is_short(page):
    assert len(page.read_text().splitlines()) <= SCREENS


def test_the_website_has_every_page():
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    for page in PAGES:
        assert f" {page.relative_to(ROOT)}\n" in nav, page
        assert page.parent == ROOT or f"]({page.relative_to(ROOT)})" in README, page


def test_the_website_can_be_built(tmp_path):
    """Strictly: a link that leads nowhere fails it. And nothing in it is fetched from elsewhere."""
    pytest.importorskip("material", reason="the extra docs is not installed")
    for name in ("Makefile", "mkdocs.yml"):
        shutil.copy(ROOT / name, tmp_path)
    for path in [*ROOT.glob("*.md"), ROOT / "LICENSE", *(ROOT / "bench").glob("*.[mp][dy]")]:
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    for folder in ("docs", "spec"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    done = subprocess.run(
        ["make", "docs", f"PY={sys.executable}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "build/site/docs/python.html").exists()
    assert (tmp_path / "build/site/ask/docs.ragfile").exists()


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
