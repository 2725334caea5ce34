"""Writes the options of ragfile.options into the docs' table and the browser's types, or checks them.

    python tools/option_tables.py            write
    python tools/option_tables.py --check    exit with 1 if a file would change

The table stands on the page of docs/ that has the markers.
"""

import json
import re
import sys
from pathlib import Path

from ragfile.ground.option_table import Option
from ragfile.options import SEARCH, K
from ragfile.search.option_schemas import schema_of

ROOT = Path(__file__).parent.parent
TYPES = ROOT / "ragfile/doors/browser/index.d.ts"
FIRST, LAST = "<!-- options of a search: tools/option_tables.py -->", "<!-- end of options -->"
INTERFACE = re.compile(r"(export interface SearchOptions extends Filter \{\n).*?(^\})", re.M | re.S)
FILTER = ("where", "tags_any", "tags_all")  # which the interface Filter declares
OPTIONS = {"k": K} | SEARCH.options
DOORS = {"rest": "REST", "cli": "command line", "browser": "browser"}


def page() -> Path:
    """Return the page with the markers."""
    [found] = [p for p in sorted((ROOT / "docs").rglob("*.md")) if FIRST in p.read_text()]
    return found


def with_table(text: str) -> str:
    """Return the page with the table of today."""
    before, _, rest = text.partition(FIRST)
    return f"{before}{FIRST}\n{table()}\n{LAST}{rest.partition(LAST)[2]}"


def table() -> str:
    lines = ["| option | default | effect | not in |", "|---|---|---|---|"]
    for name, option in OPTIONS.items():
        absent = "; ".join(f"{DOORS[door]}: {why}" for door, why in option.absent.items())
        help = option.description.replace("|", "\\|")
        lines.append(f"| `{name}` | {default_of(option)} | {help} | {absent} |")
    return "\n".join(lines)


def default_of(option: Option) -> str:
    return "" if option.default in (None, ()) else f"`{option.default!r}`"


def with_types(text: str) -> str:
    """Return index.d.ts with the options of today."""
    return INTERFACE.sub(lambda found: found[1] + members() + found[2], text)


def members() -> str:
    offered = (o for o in OPTIONS.values() if "browser" not in o.absent and o.name not in FILTER)
    return "".join(
        f"  /** {described(option)} */\n  {camel(option.name)}?: {type_of(option)};\n"
        for option in offered
    )


def described(option: Option) -> str:
    help = re.sub(r"`(\w+)`", lambda name: f"`{camel(name[1])}`", option.help).removesuffix(".")
    has_default = option.default not in (None, (), False, 0)
    return f"{help}; {json.dumps(option.default)}." if has_default else f"{help}."


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


def type_of(option: Option) -> str:
    """Return the TypeScript type of an option: the one that it declares, or that of its schema."""
    if option.typescript:
        return option.typescript
    schema = schema_of(option)
    if schema.get("type") == "array":
        return f"{plain(schema['items']['type'])}[]"
    return plain(schema["type"])


def plain(kinds: str | list[str]) -> str:
    names = [kinds] if isinstance(kinds, str) else kinds
    return " | ".join(dict.fromkeys("number" if n == "integer" else n for n in names))


def main() -> int:
    is_check, changed = "--check" in sys.argv[1:], False
    for path, renewed in ((page(), with_table), (TYPES, with_types)):
        text = path.read_text(encoding="utf-8")
        if (new := renewed(text)) != text:
            changed = True
            print(f"{path.relative_to(ROOT)} {'is out of date' if is_check else 'is written'}")
            if not is_check:
                path.write_text(new, encoding="utf-8")
    return int(is_check and changed)


if __name__ == "__main__":
    sys.exit(main())
