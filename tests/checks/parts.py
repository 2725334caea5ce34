"""Run a long check in parts that add up, such as a night at a time.

    python tests/checks/parts.py run NAME 3/9 COMMAND…   run a part, and note how it ended
    python tests/checks/parts.py files 3/9 [ROOM …]      print the test files of a part of the suite, from tests/ on
    python tests/checks/parts.py show NAME               list the parts of a check that were run

The notes are in build/parts, and name the commit. `show` exits with 1 unless all parts of one division passed.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTES = ROOT / "build" / "parts"
SHOWN = 3  # last lines of a part
WITHOUT_CORE = {"house", "typing", "programs"}  # rooms that read sources, or start other programs


def numbers(part):
    """Return (i, n) of "i/n"."""
    i, n = map(int, part.split("/"))
    if not 1 <= i <= n:
        raise SystemExit(f"a part is 1/{n} to {n}/{n}, not {part}")
    return i, n


def run(name, part, *command):
    i, n = numbers(part)
    began, lines = time.monotonic(), []
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    for line in process.stdout:
        print(line, end="", flush=True)
        lines = [*lines, line.rstrip()][-SHOWN:]
    code = process.wait()
    note = {
        "part": i, "of": n, "exit": code, "commit": commit(), "last": lines,
        "minutes": round((time.monotonic() - began) / 60, 1),
    }  # fmt: skip
    place = NOTES / name / f"{i}-of-{n}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(note, indent=1) + "\n")
    return code


def commit():
    """Return the commit, with a "+" if the tree has changes."""
    told = [["git", "rev-parse", "--short", "HEAD"], ["git", "status", "--porcelain", "-uno"]]
    head, changes = (
        subprocess.run(one, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
        for one in told
    )
    return head + "+" * bool(changes)


def files(part, *rooms):
    i, n = numbers(part)
    places = [ROOT / "tests" / room for room in rooms] or [
        place for place in (ROOT / "tests").iterdir() if place.name not in WITHOUT_CORE
    ]
    found = sorted(
        str(path.relative_to(ROOT / "tests")) for p in places for path in p.rglob("test_*.py")
    )
    print(" ".join(found[i - 1 :: n]))
    return 0


def show(name):
    notes = [json.loads(path.read_text()) for path in sorted((NOTES / name).glob("*.json"))]
    for note in notes:
        print(
            f"{note['part']}/{note['of']} of {note['commit']}: exit {note['exit']} after "
            f"{note['minutes']} min: {note['last'][-1] if note['last'] else ''}"
        )
    counts = {note["of"] for note in notes}
    whole = [
        n for n in counts
        if {note["part"] for note in notes if note["of"] == n and note["exit"] == 0} == set(range(1, n + 1))
    ]  # fmt: skip
    print("all parts passed" if whole else "parts are missing, or failed")
    return not whole


if __name__ == "__main__":
    calls = {"run": run, "files": files, "show": show}
    sys.exit(calls[sys.argv[1]](*sys.argv[2:]))
