"""Modules of JavaScript joined into one file, so that a page asks for one and not for twenty.

A module becomes a function that is called where it stands, after those that it imports, and gives what it
exports. The names of one module stay its own. Modules of other folders, and those that are loaded later
(`import(…)`), stay where they are. What modules of this package use is understood, and nothing else:

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
    """The module `entry` with all that it imports from its folder; `read` gives a module's text by its name.

    elsewhere names modules that another file has, which is loaded for them.
    """
    joining = _Joining(read, elsewhere or {})
    exports = joining.add(entry)
    named = ", ".join(sorted(set(exports) - {"default"}))
    ends = [f"export const {{ {named} }} = {_variable(entry)};"] if named else []
    if "default" in exports:
        ends.append(f"export default {_variable(entry)}.default;")
    return "\n".join([*joining.outside, *joining.modules, *ends]) + "\n"


class _Joining:
    def __init__(self, read, elsewhere):
        self.read, self.elsewhere, self.exports = read, elsewhere, {}
        self.modules, self.outside = [], []

    def add(self, name):
        """Adds a module after those that it needs; what it exports."""
        if name in self.exports:
            if self.exports[name] is None:
                raise ValueError(f"{name} imports itself by way of others")
            return self.exports[name]
        self.exports[name] = None
        text, found = self.read(name), {}
        text = IMPORT.sub(lambda match: self._taken(*match.groups()), text)
        text = FROM.sub(lambda match: self._passed_on(match[1], match[2], found), text)
        found |= {own: own for own in DECLARED.findall(text)}
        text = DECLARED.sub("", text)
        for names in LISTED.findall(text):
            found |= {shown: own for own, shown in _names(names)}
        for own in DEFAULT.findall(text):
            found["default"] = own
        text = DEFAULT.sub("", LISTED.sub("", text))
        if (left := LEFT.search(text)) is not None:
            raise ValueError(f"{name} has a line that is not understood: {left[0]}")
        given = ", ".join(f"{name}: {own}" for name, own in found.items())
        body = f"const {_variable(name)} = (() => {{\n{text}\nreturn {{ {given} }};\n}})();"
        self.modules.append(body)
        self.exports[name] = list(found)
        return self.exports[name]

    def _module(self, place):
        """The variable of a module, which is here from now on."""
        name = place.removeprefix("./")
        if "/" not in name and name not in self.elsewhere:
            self.add(name)
            return _variable(name)
        name = self.elsewhere.get(name, name)
        if name not in self.exports:
            self.outside.append(f'import * as {_variable(name)} from "./{name}";')
            self.exports[name] = []
        return _variable(name)

    def _taken(self, names, place):
        module = self._module(place)
        if names.startswith("*"):
            return f"const {names.removeprefix('* as ')} = {module};\n"
        pairs = ", ".join(f"{there}: {here}" for there, here in _names(names.strip("{}")))
        return f"const {{ {pairs} }} = {module};\n"

    def _passed_on(self, names, place, found):
        module = self._module(place)
        everything = [(name, name) for name in self.exports[place.removeprefix("./")]]
        listed = everything if names == "*" else _names(names.strip("{}"))
        found |= {shown: f"{module}.{name}" for name, shown in listed}
        return ""


def _names(listed):
    """(name, its other name) of each in a list; the same twice for most."""
    named = [name.strip().partition(" as ") for name in listed.split(",") if name.strip()]
    return [(name, other or name) for name, _, other in named]


def _variable(name):
    """What a module is called among the others."""
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))
