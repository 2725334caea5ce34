"""Exit unless the repository is ready for a release: every address is set, every version agrees."""

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def problems():
    """Yield a sentence for each thing that a release needs."""
    contact = tomllib.loads((ROOT / ".github/contact.toml").read_text())
    yield from (
        f".github/contact.toml: set {name!r}" for name, value in contact.items() if not value
    )
    source = (ROOT / "ragfile/__init__.py").read_text()
    version = re.search(r'^__version__ = "(.+)"', source, re.MULTILINE)[1]
    found = {
        "ragfile/doors/browser/package.json": json.loads(
            (ROOT / "ragfile/doors/browser/package.json").read_text()
        )["version"],
        "CITATION.cff": re.search(
            r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE
        )[1],
    }
    for name, other in found.items():
        if other != version:
            yield f"{name}: version {other}, but ragfile.__version__ is {version}"


if __name__ == "__main__":
    sys.exit("\n".join(problems()) or None)
