"""Exit unless the repository is ready for a release: every address is set, every version agrees.

python tools/check_release.py [--tag v0.1.0] [--write]

`--write` first copies the repository's URL from .github/contact.toml to pyproject.toml and to package.json. Without
it the npm registry refuses a package that records where it was built.
"""

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path

from release_notes import notes

ROOT = Path(__file__).parent.parent
PACKAGE, PYTHON = "ragfile/doors/browser/package.json", "pyproject.toml"
BEFORE = "[project.optional-dependencies]\n"  # the table of URLs stands before this one


def version_of(path, pattern):
    return re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)[1]


def contact():
    return tomllib.loads((ROOT / ".github/contact.toml").read_text())


def repository_of_package(url):
    return {"type": "git", "url": f"git+{url}.git", "directory": str(Path(PACKAGE).parent)}


def write(url):
    """Copy the repository's URL to the two files that the registries read."""
    path = ROOT / PACKAGE
    package = json.loads(path.read_text()) | {"repository": repository_of_package(url)}
    path.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n")
    path = ROOT / PYTHON
    text = re.sub(r"\[project\.urls\]\n(.+\n)*\n", "", path.read_text())
    path.write_text(text.replace(BEFORE, f'[project.urls]\nRepository = "{url}"\n\n{BEFORE}'))


def addresses(url):
    """Yield a sentence for each file that has another repository than the contact's."""
    if json.loads((ROOT / PACKAGE).read_text()).get("repository") != repository_of_package(url):
        yield f"{PACKAGE}: the repository is not {url}: run this with --write"
    project = tomllib.loads((ROOT / PYTHON).read_text())["project"]
    if project.get("urls", {}).get("Repository") != url:
        yield f"{PYTHON}: the repository is not {url}: run this with --write"


def problems(tag=None):
    """Yield a sentence for each thing that a release needs."""
    found = contact()
    yield from (f".github/contact.toml: set {name!r}" for name, value in found.items() if not value)
    if found["repository"]:
        yield from addresses(found["repository"])
    version = version_of("ragfile/__init__.py", r'^__version__ = "(.+)"')
    found = {
        PACKAGE: json.loads((ROOT / PACKAGE).read_text())["version"],
        "CITATION.cff": version_of("CITATION.cff", r"^version: (.+)$"),
        **({"the tag": tag.removeprefix("v")} if tag else {}),
    }
    for name, other in found.items():
        if other != version:
            yield f"{name}: version {other}, but ragfile.__version__ is {version}"
    notes(version)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tag", help="the tag that is released")
    parser.add_argument("--write", action="store_true", help="copy the repository's URL first")
    options = parser.parse_args()
    if options.write and (url := contact()["repository"]):
        write(url)
    sys.exit("\n".join(problems(options.tag)) or None)


if __name__ == "__main__":
    main()
