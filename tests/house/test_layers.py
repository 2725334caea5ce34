"""Imports point one way: down the list of rooms below, which the tree must match name by name."""

import ast
import re

import pytest
from places import ROOT

PACKAGE = ROOT / "ragfile"
# A module at the top of the package is public; a folder is a room of the house's own. Each may import those before it,
# and so do the doors among themselves.
ORDER = [
    "errors", "types", "text", "records", "_core", "ground", "options", "net", "ingest", "embedding", "chat", "file", "search",
    "answer", "graph", "knowledge_base", "layers", "write", "exchange", "shards", "opener", "dataset", "folder", "memories", "memory", "canonical", "qa", "evaluation", "adapters",
    "doors", "doors.mcp", "doors.server", "doors.site", "doors.cli", "conformance", "__init__", "__main__",
]  # fmt: skip
# What a room imports against the order, and why.
LATE = {
    (
        "records",
        "ground",
    ),  # annotations that load their modules late, and know nothing of this package
    ("_core", "ground"),  # the lock that a fork leaves open, which knows nothing of this package
    ("_core", "ingest"),  # an open lexicon hands out the Analysis that it was made with
}


def sources():
    """(room, path) of every module, with the parts of the extension."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield _room(path.relative_to(PACKAGE).with_suffix("").parts), path
    for path in sorted([*PACKAGE.glob("*.pyx"), *(PACKAGE / "pxi").glob("*.pxi")]):
        yield "_core", path


def imported(path):
    """Dotted names inside the package that a file imports, anywhere in it."""
    if path.suffix != ".py":
        lines = re.findall(
            r"^\s*(?:from|import|cimport) (ragfile[\w.]*)(?: c?import (\w+))?",
            path.read_text(),
            re.MULTILINE,
        )
        inside = (_inside(module, name) for module, name in lines)
        return ["_core" if room.startswith("_core") else room for room in inside]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if (node.module or "").split(".")[0] == "ragfile":
                found += [
                    _inside(node.module, alias.name)
                    for alias in node.names
                    if alias.name != "__version__"
                ]
        elif isinstance(node, ast.Import):
            found += [
                _inside(alias.name, None)
                for alias in node.names
                if alias.name.split(".")[0] == "ragfile"
            ]
    return found


def _inside(module, name):
    """The room that `from module import name` reaches."""
    parts = [*module.split(".")[1:], *([name] if name else [])]
    room = _room(parts) if parts else "__init__"
    return room if room in ORDER else "__init__"


def _room(parts):
    """The room of a module by the parts of its name; each door is one."""
    if parts[0].startswith("_core"):  # the modules of one extension
        return "_core"
    is_door = parts[0] == "doors" and parts[1:] and parts[1] != "__init__"
    return ".".join(parts[:2]) if is_door else parts[0]


def test_the_tree_has_the_rooms_of_the_list():
    assert {room for room, _ in sources()} == set(ORDER)


@pytest.mark.parametrize(
    ("room", "path"), [pytest.param(*x, id=str(x[1].relative_to(PACKAGE))) for x in sources()]
)
def test_imports_point_down(room, path):
    for other in imported(path):
        upward = ORDER.index(other) > ORDER.index(room)
        assert not upward or (room, other) in LATE, f"{room} imports {other}"


def test_a_wrong_import_would_be_seen(tmp_path):
    (tmp_path / "x.py").write_text("def f():\n    from ragfile.doors.cli.main import main\n")
    (tmp_path / "x.pxi").write_text("def f():\n    from ragfile.search.fusion import rrf\n")
    assert [imported(tmp_path / name) for name in ("x.py", "x.pxi")] == [["doors.cli"], ["search"]]


def tree_of_the_architecture():
    """The rooms in the tree that ARCHITECTURE.md draws, doors by their two names."""
    tree = (ROOT / "ARCHITECTURE.md").read_text().split("```text\n")[1].split("```")[0]
    lines = tree.partition("ragfile/")[2].partition("\ncsrc/")[0].splitlines()
    names = []
    for line in lines[1:]:
        door = "doors." if line.startswith("    ") else ""
        names += [door + name.rstrip("/") for name in line[:18].split()]
    return names


def test_the_architecture_draws_this_tree_in_this_order():
    rooms = [name for name in ORDER if not name.startswith("__")]
    assert [name for name in tree_of_the_architecture() if name != "doors.browser"] == rooms


def test_the_architecture_has_every_room_of_the_core():
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("| room of `csrc/` |")[2]
    rows = table.partition("\n\n")[0].splitlines()[2:]
    rooms = {folder.name for folder in (ROOT / "csrc").iterdir() if list(folder.glob("*.c"))}
    assert {re.match(r"\| `(\w+)`", row)[1] for row in rows} == rooms
