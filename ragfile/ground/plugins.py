"""Plugins: entry points of other packages, loaded when their names are first used.

A package names its functions in pyproject.toml, and touches nothing here:

    [project.entry-points."ragfile.loaders"]
    note = "my_package:parse"               # the suffix .note
    [project.entry-points."ragfile.embedders"]
    mine = "my_package:embedder"            # embedder="mine:MODEL"

Two packages that add one name are listed both, and neither is loaded: the order in which packages were
installed must not decide. A built-in name stays as it is.

The entry points of all packages are read once, when the first name is looked up that is not built in.
`import ragfile` reads and loads none.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from ragfile.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

GROUPS = ("loaders", "embedders", "chat", "rerankers")


class Plugin(NamedTuple):
    """A plugin of a package: its role, its name, the location of its code, and the package."""

    group: str
    name: str
    value: str
    package: str
    version: str


def installed() -> list[Plugin]:
    """Return the plugins of all groups, by group and name, without loading one."""
    points = (
        (group, point) for group in GROUPS for each in _points(group).values() for point in each
    )
    return [_described(group, point) for group, point in points]


def has(group: str, name: str) -> bool:
    """Return whether a package adds a name."""
    return name in _points(group)


def names(group: str) -> list[str]:
    """Return the names that packages add."""
    return list(_points(group))


@cache
def load(group: str, name: str) -> Callable[..., object]:
    """Load a plugin, once per process.

    Raises:
        ModelError: Its package cannot be imported, it cannot be called, or another package adds the
            same name.
    """
    point, *others = _points(group)[name]
    if others:
        packages = " and ".join(_described(group, each).package for each in [point, *others])
        raise ModelError(
            f"the packages {packages} add a plugin called {name!r}: uninstall all but one"
        )
    try:
        loaded: object = point.load()
    except Exception as error:  # of code that is not ours
        package = _described(group, point).package
        raise ModelError(
            f"the plugin {name} of the package {package} cannot be loaded: {error}"
        ) from error
    if not callable(loaded):
        raise ModelError(f"the plugin {name} is {type(loaded).__name__}, not a function or a class")
    return loaded


@cache
def _points(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name, in order."""
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=f"ragfile.{group}"), key=partial(_described, group)):
        found.setdefault(point.name, []).append(point)
    return found


def _described(group: str, point: EntryPoint) -> Plugin:
    package, version = ("", "") if point.dist is None else (point.dist.name, point.dist.version)
    return Plugin(group, point.name, point.value, package, version)
