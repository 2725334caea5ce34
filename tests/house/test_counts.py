"""Counts of what is left to do in the package's Python, as ceilings that may only fall.

`python tests/house/test_counts.py` prints the numbers room by room. Lower a ceiling with the change
that allows it.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "ragfile"
pytestmark = pytest.mark.xdist_group("parsed package")
CEILINGS = {
    "unannotated functions": 0,
    "annotations that are Any": 49,
    "of these, without a reason": 0,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    """Yield every function and method, nested ones included; a lambda has no annotations."""
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def parameters(function: Function) -> list[ast.arg]:
    """Return the parameters that can be annotated: all but self and cls."""
    a = function.args
    named = [*a.posonlyargs, *a.args]
    if named and named[0].arg in ("self", "cls"):
        named = named[1:]
    return [*named, *a.kwonlyargs, *(one for one in (a.vararg, a.kwarg) if one)]


def is_annotated(function: Function) -> bool:
    """Return whether every parameter and the return have an annotation."""
    return function.returns is not None and all(p.annotation for p in parameters(function))


def is_any(annotation: ast.expr | None) -> bool:
    """Return whether an annotation is Any itself, not a type that has Any inside."""
    return ast.unparse(annotation) in ("Any", "typing.Any") if annotation else False


def anys(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the annotations of parameters, variables and returns that are exactly Any."""
    for node in ast.walk(tree):
        found = node.annotation if isinstance(node, ast.arg | ast.AnnAssign) else None
        found = node.returns if isinstance(node, Function) else found
        if found is not None and is_any(found):
            yield found


def counted(source: str) -> Counter[str]:
    """Count one module by the names of CEILINGS, and all its functions."""
    tree, lines = ast.parse(source), source.splitlines()
    all_functions, all_anys = list(functions(tree)), list(anys(tree))
    return Counter(
        {
            "functions": len(all_functions),
            "unannotated functions": sum(not is_annotated(f) for f in all_functions),
            "annotations that are Any": len(all_anys),
            "of these, without a reason": sum(
                "# Any: " not in lines[annotation.lineno - 1] for annotation in all_anys
            ),
        }
    )


@cache
def by_room() -> dict[str, Counter[str]]:
    """Count the modules at the top of the package, and each folder with all below it."""
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(PACKAGE.rglob("*.py")):
        rooms[path.relative_to(PACKAGE).parts[0]] += counted(path.read_text())
    return rooms


@pytest.mark.parametrize("name", CEILINGS)
def test_a_count_is_not_above_its_ceiling(name: str) -> None:
    rooms = {room: counts[name] for room, counts in by_room().items() if counts[name]}
    assert sum(rooms.values()) <= CEILINGS[name], rooms


EXAMPLE = """
from typing import Any
def annotated(a: int, *, b: str = "") -> None: ...
def without_return(a: int): ...
def without_parameter(a, b: int) -> None: ...
def without_rest(*a, **b) -> None: ...
class C:
    field: Any  # Any: JSON
    inside: list[Any]
    def method(self) -> Any:
        def nested(x): ...
    @classmethod
    def make(cls, one: Any) -> None: ...
"""


def test_an_example_is_counted() -> None:
    assert counted(EXAMPLE) == {
        "functions": 7,
        "unannotated functions": 4,
        "annotations that are Any": 3,
        "of these, without a reason": 2,
    }


def table() -> Iterator[str]:
    """Yield the lines of a table of all rooms, with a last line for the package."""
    rooms = by_room()
    rooms["all"] = sum(rooms.values(), Counter())
    yield f"{'room':16} functions annotated   Any  without a reason"
    for room, counts in rooms.items():
        unannotated, any_count, without = (counts[name] for name in CEILINGS)
        share = 1 - unannotated / (counts["functions"] or 1)
        yield f"{room:16} {counts['functions']:9} {share:9.1%} {any_count:5} {without:17}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in table())
