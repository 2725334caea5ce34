"""Exit unless the repository is ready for a release: every address is set, every version agrees.

python tools/check_release.py [--tag v0.1.0]
"""

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path

from release_notes import notes

ROOT = Path(__file__).parent.parent


def version_of(path, pattern):
    return re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)[1]


def problems(tag=None):
    """Yield a sentence for each thing that a release needs."""
    contact = tomllib.loads((ROOT / ".github/contact.toml").read_text())
    yield from (
        f".github/contact.toml: set {name!r}" for name, value in contact.items() if not value
    )
    version = version_of("ragfile/__init__.py", r'^__version__ = "(.+)"')
    package = json.loads((ROOT / "ragfile/doors/browser/package.json").read_text())
    found = {
        "ragfile/doors/browser/package.json": package["version"],
        "CITATION.cff": version_of("CITATION.cff", r"^version: (.+)$"),
        **({"the tag": tag.removeprefix("v")} if tag else {}),
    }
    for name, other in found.items():
        if other != version:
            yield f"{name}: version {other}, but ragfile.__version__ is {version}"
    notes(version)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="the tag that is released")
    sys.exit("\n".join(problems(parser.parse_args().tag)) or None)
