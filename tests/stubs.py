"""Stubs of the packages that not every checkout has installed, so that type checkers see the same everywhere.

Each name that ragfile imports from such a package is a class of any attributes, or Any if it begins in lower case.
"""

import ast
import re
import tomllib
from collections import defaultdict

from places import ROOT

HEAD = """from typing import Any

class _Attributes(type):
    def __getattr__(cls, name: str) -> Any: ...

def __getattr__(name: str) -> Any: ...
"""
CLASS = """
class {}(Any, metaclass=_Attributes):
    def __init__(self, *args: Any, **options: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __iter__(self) -> Any: ...
    def __len__(self) -> int: ...
"""


def untyped_packages():
    """The packages that pyproject.toml names for mypy."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return {name.removesuffix(".*") for name in settings["tool"]["mypy"]["overrides"][0]["module"]}


def imported_names():
    """The names that ragfile uses, by module."""
    names = defaultdict(set)
    for path in (ROOT / "ragfile").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    names[alias.name] |= set()
            elif isinstance(node, ast.ImportFrom) and node.module:
                names[node.module] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Attribute):
                names[ast.unparse(node.value)].add(node.attr)
    return names


def write_stubs(folder):
    """Write the stubs of all untyped packages into a folder."""
    packages, names = untyped_packages(), imported_names()
    for module in packages | set(names):
        if module.partition(".")[0] in packages and re.fullmatch(r"\w+(\.[a-z]\w*)*", module):
            place = folder.joinpath(*module.split("."))
            place.mkdir(parents=True, exist_ok=True)
            classes = sorted(name for name in names[module] if name[0].isupper())
            (place / "__init__.pyi").write_text(HEAD + "".join(map(CLASS.format, classes)))
