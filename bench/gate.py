"""Is this tree slower than a commit before it?

    python bench/gate.py origin/main [--limit 33] [--turns 3]

Both are installed into environments of their own, and bench/regressions.py runs on them in turns. What counts is a test's best round of
all turns: the machine's other work makes rounds longer, never shorter. Fails where that is longer by more than --limit per cent.
"""

import argparse
import json
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


def install(tree, folder):
    """A Python with that tree's package and what its tests need."""
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "-q", f"{tree}[test]")
    return folder / "bin" / "python"


def best_rounds(python, folder):
    """Seconds of the best round of each test. It runs outside any tree, so that what is installed is what is imported."""
    report = folder / "report.json"
    run(python, "-m", "pytest", SUITE, *OPTIONS, f"--benchmark-json={report}", cwd=folder)
    return {
        test["name"]: test["stats"]["min"] for test in json.loads(report.read_text())["benchmarks"]
    }


def slower(before, after, limit):
    """Prints what became of each test, and returns those that are slower by more than limit per cent."""
    found = []
    for name in sorted(before.keys() & after.keys()):
        change = (after[name] / before[name] - 1) * 100
        found += [name] if change > limit else []
        print(
            f"{name:45} {before[name] * 1e6:12.1f} µs {after[name] * 1e6:12.1f} µs {change:+7.1f} %"
        )
    return found


def compare(base, limit, turns, folder):
    tree = folder / "tree"
    run("git", "-C", ROOT, "worktree", "add", "-q", "--detach", tree, base)
    try:
        pythons = [install(tree, folder / "before"), install(ROOT, folder / "after")]
    finally:
        run("git", "-C", ROOT, "worktree", "remove", "--force", tree)
    best = {}, {}
    for _ in range(turns):
        for known, python in zip(best, pythons, strict=True):
            for name, seconds in best_rounds(python, folder).items():
                known[name] = min(seconds, known.get(name, seconds))
    return slower(*best, limit)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--limit", type=float, default=33, help="per cent")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragfile-gate-") as folder:
        found = compare(options.base, options.limit, options.turns, Path(folder))
    if found:
        sys.exit(f"slower by more than {options.limit:g} %: {', '.join(found)}")


if __name__ == "__main__":
    main()
