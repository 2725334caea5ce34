"""The stub of the compiled core says what the core has: the same names, methods and parameters."""

import ast
import re

from places import ROOT

from ragfile import _core

STUB = ROOT / "ragfile/_core.pyi"
SOURCES = [
    *sorted((ROOT / "ragfile").glob("_core*.pyx")),
    *sorted((ROOT / "ragfile/pxi").glob("*.pxi")),
]
SPECIAL = {
    "__init__",
    "__len__",
    "__iter__",
    "__next__",
    "__buffer__",
    "__class_getitem__",
}  # a class has those anyway


def stub_names():
    """{name: the names in it if it is a class} of what the stub declares for others."""
    found = {}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = set().union(*(declared(inner) for inner in node.body)) - SPECIAL
        else:
            found.update(dict.fromkeys(declared(node)))
    return {name: inner for name, inner in found.items() if not name.startswith("_")}


def declared(node):
    if isinstance(node, ast.AnnAssign):
        return {node.target.id}
    return {node.name} if isinstance(node, ast.FunctionDef) else set()


def core_names():
    """The same of the module: its classes, functions and constants, not what it imports."""
    found = {}
    for name, value in vars(_core).items():
        if isinstance(value, type) and (
            value.__module__.startswith(_core.__name__) or hasattr(value, "_fields")
        ):
            found[name] = {inner for inner in vars(value) if not inner.startswith("_")}
        elif name.isupper() or (callable(value) and value.__module__ == _core.__name__):
            found[name] = None
    return {name: inner for name, inner in found.items() if not name.startswith("_")}


def test_stub_and_core_have_the_same_names():
    stub, core = stub_names(), core_names()
    assert core.keys() - stub.keys() == set(), "ragfile/_core.pyi lacks these"
    assert stub.keys() - core.keys() == set(), "only ragfile/_core.pyi has these"
    for name in core.keys() - {"Directory"}:  # its attributes are set by __init__
        assert stub[name] == core[name], f"{name}: ragfile/_core.pyi, then the core"


def stub_parameters():
    """[(function, its parameters)] in the stub, in order of both; setters and what Python calls itself left out."""
    bodies = [
        node
        for node in ast.parse(STUB.read_text()).body
        if not getattr(node, "name", "").startswith("_")
    ]
    functions = [
        node for top in bodies for node in ast.walk(top) if isinstance(node, ast.FunctionDef)
    ]
    return sorted((f.name, parameters(f)) for f in functions if f.name not in SPECIAL)


def parameters(function):
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [a.arg for a in given if a.arg != "self"]


def source_parameters():
    """The same of the Cython sources, whose parameters are written `type name not None=default`."""
    found = []
    for path in SOURCES:
        for name, listed in re.findall(
            r"^(?:    )?def (\w+)\(([^()]*(?:\([^()]*\)[^()]*)*)\):", path.read_text(), re.MULTILINE
        ):
            if name.startswith("__"):
                continue
            parts = (part.split("=")[0].replace("not None", "").split() for part in _split(listed))
            found.append(
                (name, [part[-1] for part in parts if part and part[-1] not in ("self", "*")])
            )
    return sorted(found)


def _split(listed):
    """Parameters at commas that are not inside brackets."""
    return re.split(r",(?![^\[\]]*\])", listed)


def test_stub_and_core_have_the_same_parameters():
    stub, core = stub_parameters(), source_parameters()
    assert [f for f in core if f not in stub] == [], "ragfile/_core.pyi says other parameters"
    assert stub == core
