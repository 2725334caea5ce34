"""The examples in the docstrings of public names run."""

import ast
import inspect
import re

import pytest

import ragfile


def examples():
    """(name, example) for each indented block of Python in a public name's docstring that calls ragfile."""
    for name in ragfile.__all__:
        text = inspect.getdoc(getattr(ragfile, name)) or ""
        for block in re.findall(r"(?:^    .*\n?|^\n(?=    ))+", text, re.MULTILINE):
            source = inspect.cleandoc("\n" + block)
            if source.startswith(("with ragfile.", "rf = ragfile.", "ragfile.")):
                yield name, source


@pytest.mark.parametrize(("name", "source"), [pytest.param(*x, id=x[0]) for x in examples()])
def test_an_example_runs(name, source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name != "create":
        with ragfile.create("kb.ragfile", embedder="default") as writer:
            writer.add_documents([{"id": "old.md", "text": "How long do pods live? Not long."}])
    exec(compile(ast.parse(source), name, "exec"), {"ragfile": ragfile})


def test_there_are_examples():
    assert {"create", "edit", "open"} <= {name for name, _ in examples()}
