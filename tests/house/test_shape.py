"""The shape of the package: what objects have instead of what they are, and how little they touch of one another."""

import ast
from functools import cache

import pytest
from places import ROOT

from ragfile.knowledge_base import KnowledgeBase
from ragfile.shards.open_dataset import Dataset

pytestmark = pytest.mark.xdist_group("parsed package")
PACKAGE = ROOT / "ragfile"
STOREYS = 2  # a class and its base
MOST_MEMBERS = 43  # three for links, which are asked for as often as documents
# Bases that are no storey, and those of records and roles, which may extend one another.
KINDS = {"Protocol", "NamedTuple", "TypedDict", "Generic", "Enum", "IntEnum", "StrEnum"}
RECORDS = {"Protocol", "NamedTuple", "TypedDict"}
# Names that begin with "_" and are another program's interface, and whose.
THEIRS = {
    "_replace": "named tuples",
    "_asdict": "named tuples",
    "_exit": "os",
    "_current_frames": "sys",
    "_import_from_c_capsule": "pyarrow",
    "_dict": "the document store of LangChain, which has no other way to read it",
}


@cache
def modules():
    """Return the name and the syntax tree of each module of the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append((name, ast.parse(path.read_text())))
    return found


@cache
def classes():
    """{(module, name): (module, name) of each base}, by what modules define and import."""
    found = {}
    for module, tree in modules():
        names = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                names |= {a.asname or a.name: (node.module, a.name) for a in node.names}
        here = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        names |= {node.name: (module, node.name) for node in here}
        for node in here:
            bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
            found[module, node.name] = [names.get(base, ("", base)) for base in bases]
    return found


def storeys(one):
    """How many classes of the package stand on one another; 0 for errors, records and other programs' classes."""
    bases = classes().get(one)
    if bases is None or is_error(one) or is_record(one):
        return 0
    return 1 + max((storeys(base) for base in bases if base[1] not in KINDS), default=0)


def is_error(one):
    return one[1].endswith(("Error", "Exception", "Warning")) or any(
        is_error(base) for base in classes().get(one, ())
    )


def is_record(one):
    return one[1] in RECORDS or any(is_record(base) for base in classes().get(one, ()))


def test_no_class_stands_on_more_than_one_other():
    assert {one for one in classes() if storeys(one) > STOREYS} == set()


def test_storeys_are_counted_through_imports():
    assert storeys(("ragfile.shards.open_dataset", "Dataset")) == 2
    assert storeys(("ragfile.knowledge_base", "KnowledgeBase")) == 1
    assert storeys(("ragfile.errors", "CorruptError")) == 0


def foreign(tree):
    """(line, name) of each private name of another object."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and node.attr.startswith("_")):
            continue
        is_special = node.attr.startswith("__") and node.attr.endswith("__")
        if not is_special and not is_own(node.value):
            yield node.lineno, node.attr


def is_own(value):
    if isinstance(value, ast.Name):
        return value.id in ("self", "cls")
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "super"


def test_nothing_touches_the_private_names_of_another_object():
    for module, tree in modules():
        for line, name in foreign(tree):
            assert name in THEIRS, f"{module}, line {line}: {name}"


def test_a_foreign_private_name_would_be_seen():
    tree = ast.parse("self._a; cls._b; super()._c; other._d; other.__len__; self._e._f")
    assert [name for _, name in foreign(tree)] == ["_d", "_f"]


def public(kind):
    named = {name for one in kind.__mro__ for name in getattr(one, "__annotations__", {})}
    return {name for name in {*dir(kind), *named} if not name.startswith("_")}


def test_a_knowledge_base_has_few_public_members():
    assert len(public(KnowledgeBase)) <= MOST_MEMBERS


@pytest.mark.parametrize("name", sorted(vars(Dataset)))
def test_a_dataset_only_adds_public_members(name):
    is_special = name.startswith("__") and name.endswith("__")
    assert is_special or (not name.startswith("_") and name not in public(KnowledgeBase))
