"""Bundle JavaScript modules into one file, so that a page makes one request instead of twenty.

Each module becomes a function that is called at once, after its imports, and returns its exports; its
other names stay private. Modules of other folders, and dynamic imports (`import(…)`), stay separate. Only
the syntax that modules of this package use is supported:

    import { a, b as c } from "./x.js";     import * as x from "./x.js";
    export { a } from "./x.js";             export * from "./x.js";
    export function, async function, class, const;   export { a, b };   export default a;
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

IMPORT = re.compile(r'^import\s+(\{[^}]*\}|\* as \w+)\s+from\s+"([^"]+)";[^\n]*\n', re.MULTILINE)
FROM = re.compile(r'^export\s+(\{[^}]*\}|\*)\s+from\s+"([^"]+)";[^\n]*\n', re.MULTILINE)
DECLARED = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) ([\w$]+))", re.MULTILINE)
LISTED = re.compile(r"^export \{([^}]*)\};[^\n]*\n", re.MULTILINE)
DEFAULT = re.compile(r"^export default (\w+);", re.MULTILINE)
LEFT = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)


def joined(
    entry: str, read: Callable[[str], str], elsewhere: Mapping[str, str] | None = None
) -> str:
    """Return the module `entry` bundled with all its imports from the same folder.

    Args:
        entry: The name of the module.
        read: Returns the text of a module by its name.
        elsewhere: Modules that another file contains; that file is imported for them.

    Raises:
        ValueError: The syntax of a module is not supported, or modules import one another in a circle.
    """
    bundle = _Bundle(read, elsewhere or {})
    exports = bundle.add(entry)
    named = ", ".join(sorted(set(exports) - {"default"}))
    ends = [f"export const {{ {named} }} = {_variable(entry)};"] if named else []
    if "default" in exports:
        ends.append(f"export default {_variable(entry)}.default;")
    return "\n".join([*bundle.outside, *bundle.modules, *ends]) + "\n"


class _Bundle:
    def __init__(self, read: Callable[[str], str], elsewhere: Mapping[str, str]) -> None:
        self.read, self.elsewhere = read, elsewhere
        self.exports: dict[str, list[str] | None] = {}  # None while a module is being added
        self.modules: list[str] = []
        self.outside: list[str] = []

    def add(self, name: str) -> list[str]:
        """Add a module after its imports, and return the names of its exports."""
        if name in self.exports:
            return self._exports_of(name)
        self.exports[name] = None
        text = self.read(name)
        found: dict[str, str] = {}
        text = IMPORT.sub(lambda match: self._imported(match[1], match[2]), text)
        text = FROM.sub(lambda match: self._reexported(match[1], match[2], found), text)
        found |= {own: own for own in DECLARED.findall(text)}
        text = DECLARED.sub("", text)
        for names in LISTED.findall(text):
            found |= {shown: own for own, shown in _names(names)}
        for own in DEFAULT.findall(text):
            found["default"] = own
        text = DEFAULT.sub("", LISTED.sub("", text))
        if (left := LEFT.search(text)) is not None:
            raise ValueError(f"{name} has unsupported syntax: {left[0]}")
        given = ", ".join(f"{name}: {own}" for name, own in found.items())
        body = f"const {_variable(name)} = (() => {{\n{text}\nreturn {{ {given} }};\n}})();"
        self.modules.append(body)
        exports = self.exports[name] = list(found)
        return exports

    def _exports_of(self, name: str) -> list[str]:
        exports = self.exports[name]
        if exports is None:
            raise ValueError(f"{name} imports itself through other modules")
        return exports

    def _module(self, place: str) -> str:
        """Add a module if it is missing, and return its variable."""
        name = place.removeprefix("./")
        if "/" not in name and name not in self.elsewhere:
            self.add(name)
            return _variable(name)
        name = self.elsewhere.get(name, name)
        if name not in self.exports:
            self.outside.append(f'import * as {_variable(name)} from "./{name}";')
            self.exports[name] = []
        return _variable(name)

    def _imported(self, names: str, place: str) -> str:
        module = self._module(place)
        if names.startswith("*"):
            return f"const {names.removeprefix('* as ')} = {module};\n"
        pairs = ", ".join(f"{exported}: {local}" for exported, local in _names(names.strip("{}")))
        return f"const {{ {pairs} }} = {module};\n"

    def _reexported(self, names: str, place: str, found: dict[str, str]) -> str:
        module = self._module(place)
        everything = [(name, name) for name in self._exports_of(place.removeprefix("./"))]
        listed = everything if names == "*" else _names(names.strip("{}"))
        found |= {shown: f"{module}.{name}" for name, shown in listed}
        return ""


def _names(listed: str) -> list[tuple[str, str]]:
    """Parse a list of `name` and `name as other` into pairs."""
    named = [name.strip().partition(" as ") for name in listed.split(",") if name.strip()]
    return [(name, other or name) for name, _, other in named]


def _variable(name: str) -> str:
    """Return the variable of a module in the bundle."""
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))
