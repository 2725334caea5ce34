"""The tables of the reference pages have every option, command and operator of the package."""

import inspect
import re
import shlex

import click
import pytest
from places import ROOT

import ragfile
from ragfile import options as search_options
from ragfile import types
from ragfile.doors.cli.main import Doors
from ragfile.doors.cli.main import ragfile as command_line

REFERENCE = ROOT / "docs/reference"


def first_cells(page):
    """The names in backquotes in the first column of a page's tables."""
    rows = re.findall(r"^\| (.*?) \|", (REFERENCE / page).read_text(), re.MULTILINE)
    return {name for cell in rows for name in re.findall(r"`([^`\s]+)`", cell)} | {
        name for cell in rows for name in re.findall(r"\(batch: `(\w+)`\)", cell)
    }


def parameters(function):
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {
        name
        for name, p in inspect.signature(function).parameters.items()
        if name not in ("self", "query", "queries", "question") and p.kind not in kinds
    }


@pytest.mark.parametrize(
    "options",
    [
        lambda: parameters(ragfile.KnowledgeBase.search),
        lambda: parameters(ragfile.KnowledgeBase.search_batch),
        lambda: set(search_options.SearchOptions.__annotations__),
        lambda: set(search_options.BatchOptions.__annotations__),
    ],
    ids=["search", "search_batch", "SearchOptions", "BatchOptions"],
)
def test_every_search_option_is_in_the_table(options):
    assert options() <= first_cells("search-options.md")


def test_every_answer_option_is_in_the_table():
    page = (REFERENCE / "answer-options.md").read_text()
    known = first_cells("answer-options.md") | first_cells("search-options.md")
    assert parameters(ragfile.KnowledgeBase.ask) <= known, page


def test_every_command_is_in_the_table():
    assert set(Doors.PLACES) <= first_cells("command-line.md")


def test_every_operator_is_in_the_table():
    operators = {*types.Operators.__annotations__, *types.Logic.__annotations__}
    text = (REFERENCE / "filters.md").read_text()
    assert operators <= set(re.findall(r"\$\w+", text))


def test_every_mode_and_fusion_is_in_the_table():
    names = {*types.Mode.__args__, *types.Fusion.__args__}
    assert names <= first_cells("search-options.md")


def commands_of_pages():
    """The commands that pages name inside a sentence; blocks are run by test_readme.py."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for found in re.findall(r"(?<!`)`ragfile ([a-z][^`]*)`(?!`)", page.read_text()):
            yield pytest.param(shlex.split(found), id=f"{page.name}: {' '.join(found.split())}")


@pytest.mark.parametrize("words", list(commands_of_pages()))
def test_a_command_that_a_page_names_exists_with_its_options(words):
    command, known = command_line, {"--help"}
    for word in words:
        if isinstance(command, click.Group) and not word.startswith("-"):
            found = command.get_command(click.Context(command), word)
            command = found if found is not None else command
        known |= {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
        assert not word.startswith("-") or word.partition("=")[0] in known, word
    assert command is not command_line
