"""Compare the speed of this tree with an earlier commit.

    python bench/gate.py origin/main [--limit 10] [--turns 3] [--only "search or open"]
    python bench/gate.py BEFORE AFTER     two Pythons that have the package installed already

A commit is installed into an environment of its own. bench/regressions.py then runs in turns: before,
after, before again. Each test counts with its best round of all turns, in CPU time: other work on the
machine makes rounds longer, never shorter. The two runs of the older tree show the noise. The
comparison fails if a test takes longer by more than --limit per cent and its own noise together.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITE = ROOT / "bench" / "regressions.py"
OPTIONS = [
    "-q",
    "-p",
    "no:cacheprovider",
    "-o",
    "addopts=",
    "--benchmark-only",
    "--benchmark-quiet",
]


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def python_of(given, folder):
    """Return `given` if it is a Python, otherwise a new one with that commit installed."""
    if os.access(given, os.X_OK) and not os.path.isdir(given):
        return Path(given).absolute()
    tree = folder / "tree"
    run("git", "-C", ROOT, "worktree", "add", "-q", "--detach", tree, given)
    try:
        return installed(tree, folder / "before")
    finally:
        run("git", "-C", ROOT, "worktree", "remove", "--force", tree)


def installed(tree, folder):
    """Return a Python with that tree's package and its tests' requirements."""
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "-q", f"{tree}[test]")
    return folder / "bin" / "python"


def best_rounds(python, folder, only):
    """Return the seconds of the best round of each test.

    It runs outside any tree, where only the installed package can be imported.
    """
    report = folder / "report.json"
    chosen = ["-k", only] if only else []
    command = [python, "-m", "pytest", SUITE, *OPTIONS, *chosen, f"--benchmark-json={report}"]
    run(*command, cwd=folder, env={**os.environ, "PYTHONHASHSEED": "0"}, stdout=subprocess.DEVNULL)
    return {
        test["name"]: test["stats"]["min"]
        for test in json.loads(report.read_text())["benchmarks"]
        if test["stats"]["min"] > 0  # the clock of CPU time can stand still in a short round
    }


def slower(before, after, again, limit):
    """Print a line per test; return those slower by more than the limit and their noise."""
    found = []
    for name in sorted(before.keys() & after.keys() & again.keys()):
        fair = min(before[name], again[name])
        change = (after[name] / fair - 1) * 100
        noise = abs(again[name] / before[name] - 1) * 100
        found += [name] if change > limit + noise else []
        print(
            f"{name:42} {fair * 1e6:12.1f} µs {after[name] * 1e6:12.1f} µs "
            f"{change:+7.1f} %  noise {noise:5.1f} %"
        )
    for name in sorted(before.keys() ^ after.keys()):
        print(f"{name:42} ran on one of the trees alone")
    return found


def compare(options, folder):
    before = python_of(options.base, folder)
    after = Path(options.after).absolute() if options.after else installed(ROOT, folder / "after")
    best = {}, {}, {}
    for _ in range(options.turns):
        for known, python in zip(best, (before, after, before), strict=True):
            for name, seconds in best_rounds(python, folder, options.only).items():
                known[name] = min(seconds, known.get(name, seconds))
    return slower(*best, options.limit)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", help="the commit to compare with, or a Python that has it")
    parser.add_argument("after", nargs="?", help="a Python with the other tree; default: this tree")
    parser.add_argument("--limit", type=float, default=10, help="per cent beyond the noise")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", metavar="EXPRESSION", help="tests to run, as pytest's -k")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragfile-gate-") as folder:
        found = compare(options, Path(folder))
    if found:
        sys.exit(f"slower by more than {options.limit:g} % and noise: {', '.join(found)}")


if __name__ == "__main__":
    main()
