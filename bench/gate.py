"""Compare the speed of this tree with an earlier commit.

    python bench/gate.py origin/main [--limit 10] [--turns 2] [--only "search or open"] [--plain]
    python bench/gate.py BEFORE AFTER     two Pythons that have the package installed already

A commit is installed into an environment of its own, which stays in build/gate for the next run.
bench/regressions.py then runs in turns: before, after, before, after, before. Each test counts with its
best round of all turns, in CPU time: other work on the machine makes rounds longer, never shorter. The
runs of the older tree, every second one against the others, show the noise. The comparison fails if a
test takes longer by more than --limit per cent and its own noise together.

An old commit writes files without later features, such as positions of words and evidence of further
passages, which cost time where they are used. With --plain both trees write files without them, so the
comparison shows whether a call itself became slower.
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
KEPT = ROOT / "build" / "gate"
OPTIONS = [
    "-q",
    "-p",
    "no:cacheprovider",
    "-o",
    "addopts=",
    "--benchmark-only",
    "--benchmark-quiet",
    "-o",
    "faulthandler_timeout=0",
]


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def python_of(given):
    """Return `given` if it is a Python, otherwise one with that commit installed, made on first use."""
    if os.access(given, os.X_OK) and not os.path.isdir(given):
        return Path(given).absolute()
    name = subprocess.check_output(["git", "-C", ROOT, "rev-parse", given + "^{commit}"], text=True)
    tree, folder = KEPT / f"{name.strip()}.tree", KEPT / name.strip()
    if (folder / "is-whole").exists():
        return folder / "bin" / "python"
    run("git", "-C", ROOT, "worktree", "add", "-q", "--force", "--detach", tree, given)
    try:
        found = installed(tree, folder)
    finally:
        run("git", "-C", ROOT, "worktree", "remove", "--force", tree)
    (folder / "is-whole").touch()
    return found


def installed(tree, folder):
    """Return a Python with that tree's package and its tests' requirements."""
    run(sys.executable, "-m", "venv", "--clear", folder)
    run(folder / "bin" / "pip", "install", "-q", f"{tree}[test]")
    return folder / "bin" / "python"


def best_rounds(python, folder, options):
    """Return the seconds of the best round of each test.

    It runs outside any tree, where only the installed package can be imported.
    """
    report = folder / "report.json"
    chosen = ["-k", options.only] if options.only else []
    command = [python, "-m", "pytest", SUITE, *OPTIONS, *chosen, f"--benchmark-json={report}"]
    settings = {**os.environ, "PYTHONHASHSEED": "0", "PLAIN": str(int(options.plain))}
    run(*command, cwd=folder, env=settings, stdout=subprocess.DEVNULL)
    return {
        test["name"]: test["stats"]["min"]
        for test in json.loads(report.read_text())["benchmarks"]
        if test["stats"]["min"] > 0  # the clock of CPU time can stand still in a short round
    }


def best_of(runs):
    """Return the best round of each test of some runs."""
    names = set().union(*runs)
    return {name: min(run[name] for run in runs if name in run) for name in names}


def slower(before, after, limit):
    """Print a line per test of some runs of both trees; return those slower by more than limit and noise."""
    found, fair, now = [], best_of(before), best_of(after)
    even, odd = best_of(before[::2]), best_of(before[1::2])
    for name in sorted(now.keys() & even.keys() & odd.keys()):
        change = (now[name] / fair[name] - 1) * 100
        noise = abs(even[name] / odd[name] - 1) * 100
        found += [name] if change > limit + noise else []
        print(
            f"{name:42} {fair[name] * 1e6:12.1f} µs {now[name] * 1e6:12.1f} µs "
            f"{change:+7.1f} %  noise {noise:5.1f} %"
        )
    for name in sorted(fair.keys() ^ now.keys()):
        print(f"{name:42} ran on one of the trees alone")
    return found


def compare(options, folder):
    after = options.after and Path(options.after).absolute()
    pythons = python_of(options.base), after or installed(ROOT, folder / "after")
    runs = [], []
    for turn in range(2 * options.turns + 1):
        runs[turn % 2].append(best_rounds(pythons[turn % 2], folder, options))
    return slower(*runs, options.limit)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", help="the commit to compare with, or a Python that has it")
    parser.add_argument("after", nargs="?", help="a Python with the other tree; default: this tree")
    parser.add_argument("--limit", type=float, default=10, help="per cent beyond the noise")
    parser.add_argument("--turns", type=int, default=2, help="runs of the newer tree")
    parser.add_argument("--only", metavar="EXPRESSION", help="tests to run, as pytest's -k")
    parser.add_argument("--plain", action="store_true", help="files without later features")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragfile-gate-") as folder:
        found = compare(options, Path(folder))
    if found:
        sys.exit(f"slower by more than {options.limit:g} % and noise: {', '.join(found)}")


if __name__ == "__main__":
    main()
