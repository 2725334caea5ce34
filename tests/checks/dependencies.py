"""The same folder under the oldest and the newest dependencies that pyproject.toml allows: the same bytes.

    python tests/checks/dependencies.py [--wheel FILE] PYTHON...

For each Python, two virtual environments are made: with the oldest of each dependency that has a wheel there, and with the
newest. In each, a folder of Markdown, text and HTML becomes a file, a file for the web, a dataset, a file after an edit, that file
compacted, and a .ragmd. One SHA-256 over all of them is printed for each environment; exits with 1 unless they are equal.
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = """<!doctype html><html lang="en"><head><title>Keys &amp; locks</title></head><body><h1>Keys</h1>
<p>Rotate a key each year.</p><h2>Locks</h2><ul><li>one lock</li><li>a second one</li></ul><table><tr><th>lock</th>
<th>key</th></tr><tr><td>A</td><td>7</td></tr></table></body></html>\n"""
FRONT = "---\ntitle: Maße\ntags: [a, b]\nyear: 2024\nwhen: 2024-02-29\nscore: 1.5\n---\n# Maße\n\nNäheres später.\n"
COMMANDS = [
    "build src -o a.ragfile",
    "build src -o web.ragfile --for web",
    "build src -o words.ragfile --embedder none",
    "build src -o parts --shards 3",
    "build src -o c.ragfile",
    "add c.ragfile more",
    "delete c.ragfile locks.html",
    "compact c.ragfile",
    "convert a.ragfile a.ragmd",
]


def dependencies():
    """The package's own dependencies: [(requirement, name, lower bound)]."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [re.match(r"(([\w.-]+)>=([\d.]+).*)", line).groups() for line in project["dependencies"]]


def oldest(python, name, bound):
    """The oldest allowed version with a wheel for a Python."""
    listed = run(python, "-m", "pip", "index", "versions", name)
    versions = re.search(r"Available versions: (.*)", listed)[1].split(", ")
    for version in sorted((v for v in versions if number(v) >= number(bound)), key=number):
        wanted = ["--no-deps", "--only-binary", ":all:", f"{name}=={version}"]
        if run(python, "-m", "pip", "install", "-q", "--dry-run", *wanted, check=False) is not None:
            return version
    raise SystemExit(f"{name} has no wheel for {python}")


def run(*command, check=True):
    """What a command prints, or None if it fails and may."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and check:
        raise SystemExit(f"{command}: {done.stderr[-2000:]}")
    return None if done.returncode else done.stdout


def number(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def environment(python, folder, wheel, is_oldest):
    """The Python of a new environment with the wheel, and its dependencies in words."""
    run(python, "-m", "venv", folder)
    inner = folder / "bin/python"
    install = [inner, "-m", "pip", "install", "-q", "--only-binary", ":all:"]
    allowed = dependencies()
    if is_oldest:
        run(*install, *(f"{name}=={oldest(inner, name, bound)}" for _, name, bound in allowed))
    else:
        run(*install, "--upgrade", *(requirement for requirement, _, _ in allowed))
    run(*install, "--no-deps", wheel)
    kept = {name.lower() for _, name, _ in allowed}
    lines = run(inner, "-m", "pip", "freeze").split()
    return inner, " ".join(line for line in lines if line.partition("==")[0].lower() in kept)


def sources(folder):
    """Fill folder/src and folder/more."""
    (folder / "src").mkdir(parents=True)
    (folder / "more").mkdir()
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "spec/parts").glob("*.md")]
    for path in pages:
        target = folder / "src" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (folder / "src/locks.html").write_text(PAGE)
    (folder / "src/front.md").write_text(FRONT)
    (folder / "src/plain.txt").write_text("Foxes run.\r\n\r\nGeese fly; naïve ones sleep.\r\n" * 50)
    (folder / "more/new.md").write_text("# New\n\nAdded by an edit.\n")


def digest(python, folder):
    """One SHA-256 over all files that the commands write."""
    sources(folder)
    settings = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    settings.pop("PYTHONPATH", None)
    for command in COMMANDS:
        subprocess.run([python, "-m", "ragfile", *command.split()], cwd=folder, env=settings,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
    every, single = hashlib.sha256(), {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name, data = str(path.relative_to(folder)), path.read_bytes()
        if not name.startswith(("src/", "more/")):
            single[name] = hashlib.sha256(data).hexdigest()
            every.update(f"{name}\0{len(data)}\0".encode() + data)
    return every.hexdigest(), single


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wheel")
    parser.add_argument("pythons", nargs="+")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as work:
        wheel = options.wheel
        if wheel is None:
            run(options.pythons[0], "-m", "pip", "wheel", "-q", "--no-deps", "-w", work, ROOT)
            wheel = next(Path(work).glob("*.whl"))
        for i, python in enumerate(options.pythons):
            for kind in ("oldest", "newest"):
                folder = Path(work) / f"{kind}-{i}"
                inner, versions = environment(python, folder / "venv", wheel, kind == "oldest")
                whole, found[python, kind] = digest(inner, folder / "files")
                print(f"{whole}  {python}, {kind}: {versions}", flush=True)
    first, *others = found.values()
    different = {name for other in others for name in first if other.get(name) != first[name]}
    if different or any(other.keys() != first.keys() for other in others):
        sys.exit(f"not the same bytes: {', '.join(sorted(different))}")


if __name__ == "__main__":
    main()
