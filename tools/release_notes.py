"""Print the section of CHANGELOG.md about a version: python tools/release_notes.py 0.1.0"""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parent.parent / "CHANGELOG.md"


def notes(version):
    """Return the text under `## version`; exit if there is none."""
    sections = re.split(r"^## (.+)\n", CHANGELOG.read_text(), flags=re.MULTILINE)
    found = dict(zip(sections[1::2], sections[2::2], strict=True)).get(version, "").strip()
    return found or sys.exit(f"CHANGELOG.md has nothing about {version}")


if __name__ == "__main__":
    print(notes(*sys.argv[1:]))
