"""Write the lists of sections that the readers use from spec/sections.toml.

    python tools/sections.py            write them
    python tools/sections.py --check    exit with 1 if one is out of date

The lists: csrc/container/sections.h, ragfile/file/section_table.py, ragfile/doors/browser/section_needs.js and the
registry in spec/parts/container.md. No program reads the TOML when it runs.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MADE = "Made by tools/sections.py from spec/sections.toml. Do not edit."
BEGIN, END = f"<!-- {MADE} -->", "<!-- end of the registry -->"
LINE = 100


def table():
    """The entries of spec/sections.toml, with defaults, and the reserved names."""
    read = tomllib.loads((ROOT / "spec/sections.toml").read_text())
    defaults = {"needs": [], "must_read": False, "prefetch": False, "unsigned": False}
    return [defaults | entry for entry in read["section"]], read["reserved"]


def c_header(sections):
    names = [entry["name"] for entry in sections if not entry["name"].endswith(".N")]
    numbered = [entry["name"][:-1] for entry in sections if entry["name"].endswith(".N")]
    return f"""/* sections.h - the sections that this build has code for. Readers skip any other, unless its flags
 * forbid that.
 *
 * {MADE} */
#ifndef RAG_SECTIONS_H
#define RAG_SECTIONS_H

/* clang-format off */
static const char *const section_names[] = {{
{_c_list(names)}
}};

/* The names of a field's own sections end in its number. */
static const char *const numbered_section_names[] = {{
{_c_list(numbered)}
}};
/* clang-format on */

#endif
"""


def _c_list(names):
    return "\n".join(f'    "{name}",' for name in names)


def python_module(sections, reserved):
    def named(key, value=True):
        return tuple(entry["name"] for entry in sections if entry[key] == value)

    needs = {entry["name"]: tuple(entry["needs"]) for entry in sections if entry["needs"]}
    compaction = {entry["name"]: entry["compaction"] for entry in sections}
    return f'''"""The sections of a file, as constants.

{MADE}
"""

# Sections that must be present in the same segment; `.N` is a field's number.
{_assigned("NEEDS: dict[str, tuple[str, ...]]", needs)}

# How compaction treats each section: rebuilt from the documents, kept, or dropped.
{_assigned("COMPACTION", compaction)}

# Sections that an edit drops, because they describe the file before it.
{_assigned("DROPPED_BY_EDITS", named("edit", "dropped"))}

# Sections that no signature covers.
{_assigned("UNSIGNED", named("unsigned"))}

# Sections that are fetched before the first question if they are small.
{_assigned("PREFETCHED", named("prefetch"))}

# Names of later versions.
{_assigned("RESERVED: tuple[str, ...]", tuple(reserved))}
'''


def _assigned(name, value):
    """An assignment, formatted as `ruff format` would."""
    if isinstance(value, dict):
        lines = [f'    "{key}": {_literal(item, 8 + len(key))},' for key, item in value.items()]
        return "\n".join([f"{name} = {{", *lines, "}"])
    return f"{name} = {_literal(value, len(name) + 3, '')}"


def _literal(value, used, indent="    "):
    if isinstance(value, str):
        return f'"{value}"'
    items = [f'"{item}"' for item in value]
    flat = f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if used + len(flat) < LINE:
        return flat
    return "(\n" + "".join(f"{indent}    {item},\n" for item in items) + f"{indent})"


def javascript_module(sections):
    lines = []
    for entry in sections:
        if entry["needs"]:
            names = ", ".join(f'"{name}"' for name in entry["needs"])
            lines.append(f'  "{entry["name"]}": [{names}],')
    needs = "\n".join(lines)
    return f"""/* The sections that a section needs in its segment.

{MADE} */

const NEEDS = {{
{needs}
}};

/** The names that must be present in the segment of a section; N is a field's number. */
export function needsOf(name) {{
  const number = /\\.(\\d+)$/.exec(name)?.[1];
  const found = NEEDS[name] ?? NEEDS[name.replace(/\\.\\d+$/, ".N")] ?? [];
  return found.map((other) => other.replace(/\\.N$/, `.${{number}}`));
}}
"""


def registry(sections):
    """The table of part 3, one row for each section."""
    rows = [
        "| name | content | scope | items | defined in | edits | compaction |",
        "|" + "---|" * 7,
    ]
    for entry in sections:
        cells = (
            f"`{entry['name']}`",
            entry["content"],
            entry["scope"],
            entry["items"],
            link(entry["rule"]),
            entry["edit"],
            entry["compaction"],
        )
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join([BEGIN, "", *rows, "", END])


def link(rule):
    """A rule's number as a link to the page that defines it, seen from part 3's page."""
    page = PAGES[rule.split(".")[0]]
    return rule if page == "container.md" else f"[{rule}]({page})"


PAGES = {
    "1": "pairs.md",
    "2": "container.md",
    "3": "container.md",
    "4": "vectors.md",
    "L": "bm25.md",
    "8": "origin.md",
    "9": "signatures.md",
    "10": "dataset.md",
    "11": "parity.md",
    "12": "graph.md",
    "14": "weights.md",
}


def files():
    """{path: text} of every list."""
    sections, reserved = table()
    page = ROOT / "spec/parts/container.md"
    between = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    return {
        ROOT / "csrc/container/sections.h": c_header(sections),
        ROOT / "ragfile/file/section_table.py": python_module(sections, reserved),
        ROOT / "ragfile/doors/browser/section_needs.js": javascript_module(sections),
        page: between.sub(lambda _: registry(sections), page.read_text()),
    }


def out_of_date():
    """The paths of the lists that differ from the table."""
    return [path for path, text in files().items() if not path.exists() or path.read_text() != text]


def main(arguments):
    if "--check" in arguments:
        stale = out_of_date()
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run python tools/sections.py")
        return 1 if stale else 0
    for path, text in files().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
