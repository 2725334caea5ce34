"""What type checkers and editors see is what a program gets."""

import ast

from places import ROOT

import ragfile


def test_what_checkers_see_is_what_is_imported_on_use():
    tree = ast.parse((ROOT / "ragfile/__init__.py").read_text())
    shown = {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "importlib"
        for alias in node.names
    }
    assert shown == {name: f"ragfile.{home}" for name, home in ragfile._HOMES.items()}


def test_every_name_is_there():
    for name in ragfile.__all__:
        assert getattr(ragfile, name).__doc__, name
