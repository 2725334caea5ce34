"""The programs of docs/examples are run as their readers run them."""

import asyncio
import json
import os
import re
import subprocess
import sys

import pytest
from places import ROOT
from servers.model_servers import Server as ModelServer

EXAMPLES = ROOT / "docs/examples"


def block(page, language):
    """The first code block of a page in a language."""
    text = (EXAMPLES / page).read_text()
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder docs/ as the pages have it, as the current folder."""
    (tmp_path / "docs/old").mkdir(parents=True)
    (tmp_path / "docs/keys.md").write_text("# Keys\n\nTo rotate the keys, run the rotation job.\n")
    (tmp_path / "docs/old/page.md").write_text("# Old\n\nThis page is out of date.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, **environment):
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_local_model_answers_from_a_folder(desk):
    (desk / "rag.py").write_text(block("ollama-rag.md", "py"))
    command, *shown = block("ollama-rag.md", "text").splitlines()
    with ModelServer() as models:
        for _ in ("builds", "syncs"):
            printed = run("rag.py", "docs/", "how do I rotate the keys?", OLLAMA_HOST=models.url)
            assert printed.splitlines() == shown, command


def test_the_questions_of_a_folder_are_tested(desk):
    (desk / "test_retrieval.py").write_text(block("evaluation-in-ci.md", "py"))
    (desk / "questions.tsv").write_text(block("evaluation-in-ci.md", "tsv"))
    assert "2 passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_retrieval.py")
    (desk / "questions.tsv").write_text("how do I rotate the keys?\tlost.md\n")
    with pytest.raises(AssertionError, match="1 failed"):
        run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_retrieval.py")


@pytest.mark.parametrize("page", ["notebook.md", "../guides/memory-for-agents.md"])
def test_a_page_shows_what_its_program_prints(desk, capsys, page):
    exec(compile(block(page, "python"), page, "exec"), {})
    assert capsys.readouterr().out == block(page, "text")


def test_the_cells_of_the_notebook_run_in_order(desk, capsys):
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text())["cells"]
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    printed = capsys.readouterr().out
    assert "2 passages" in printed
    assert "[('keys.md'" in printed
    assert "run the rotation job" in printed


def test_the_service_answers(desk):
    fastapi = pytest.importorskip(
        "fastapi", reason="FastAPI, the example's subject, is not installed"
    )
    names = {"__name__": "service"}
    exec(compile(block("fastapi-service.md", "py"), "service.py", "exec"), names)
    app = names["app"]
    assert isinstance(app, fastapi.FastAPI)

    async def get(path, query=""):
        async with app.router.lifespan_context(app):
            sent = []
            scope = {
                "type": "http",
                "method": "GET",
                "path": path,
                "query_string": query.encode(),
                "headers": [],
            }

            async def receive():
                return {"type": "http.request", "body": b""}

            async def send(message):
                sent.append(message)

            await app(scope, receive, send)
            body = b"".join(message.get("body", b"") for message in sent)
            return sent[0]["status"], body.decode()

    _, shown = block("fastapi-service.md", "text").splitlines()
    status, hits = asyncio.run(get("/search", "q=rotate+the+keys&k=1"))
    assert (status, hits[: len(shown) - 3]) == (200, shown.removesuffix(", …"))
    status, document = asyncio.run(get("/documents/old/page.md"))
    assert (status, json.loads(document)["id"]) == (200, "old/page.md")
    assert asyncio.run(get("/documents/missing.md"))[0] == 404
    assert asyncio.run(get("/search", "q=keys&k=500"))[0] == 422


def test_the_job_answers_a_table_of_questions(desk):
    pytest.importorskip("ray", reason="Ray, the example's subject, is not installed")
    (desk / "job.py").write_text(block("ray-job.md", "py"))
    assert run("job.py").endswith(block("ray-job.md", "text"))
