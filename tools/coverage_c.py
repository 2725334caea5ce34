"""Report the branches of csrc/ that tests take, from gcovr's JSON, and list the others.

    python tools/coverage_c.py COVERAGE.json [--all]

A branch that no test can take has its reason in the source, in a comment that starts with
"unreached:". The comment precedes the statement or ends its first line, and covers those branches
of the statement that were not taken; the others count as usual. The list of reasons is printed, as
are reasons whose branches were all taken. --all also lists the branches without a reason.

Exits with 1 if fewer than 95 % of the counted branches were taken.
"""

import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

LEAST = 95.0
MARK = re.compile(r"/\*\s*unreached:\s*(.*?)\s*\*/", re.DOTALL)


@dataclass
class Reason:
    """The reason why some branches of the statement in lines `first` to `last` are never taken."""

    file: str
    first: int
    last: int
    text: str
    branches: int = 0


@dataclass
class File:
    branches: int = 0
    taken: int = 0
    reasons: int = 0
    lines: int = 0
    run: int = 0
    rest: dict = field(default_factory=lambda: defaultdict(int))  # line -> branches not taken

    @property
    def counted(self):
        return self.branches - self.reasons


def share(part, whole):
    return 100 * part / whole if whole else 100.0


def statement(lines, first):
    """Return the last line of the statement that begins in line `first`; both count from 1."""
    depth = 0
    for number in range(first, len(lines) + 1):
        code = re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", "", lines[number - 1])
        code = code.split("/*")[0].rstrip()
        depth += code.count("(") - code.count(")")
        if depth <= 0 and code.endswith((";", "{", "}", ":", "\\", ")")):
            return number
    return first


def reasons_of(name, text):
    """Return the reasons in a source, each with its statement."""
    lines = text.splitlines()
    for found in MARK.finditer(text):
        first = text.count("\n", 0, found.start()) + 1
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        after = text[found.end() :].partition("\n")[0]
        if not before.strip() and not after.strip():
            first = text.count("\n", 0, found.end()) + 2
        said = re.sub(r"\s*\n\s*\*?\s*", " ", found[1])
        yield Reason(name, first, statement(lines, first), said)


def measured(report, reasons):
    """Return each file's numbers, and count the branches that each reason covers."""
    files = {}
    by_line = {(r.file, n): r for r in reasons for n in range(r.first, r.last + 1)}
    for entry in report["files"]:
        one = files[entry["file"]] = File()
        for line in entry["lines"]:
            one.lines += 1
            one.run += line["count"] > 0
            for branch in line["branches"]:
                one.branches += 1
                reason = by_line.get((entry["file"], line["line_number"]))
                if branch["count"] > 0:
                    one.taken += 1
                elif reason:
                    one.reasons += 1
                    reason.branches += 1
                else:
                    one.rest[line["line_number"]] += 1
    return files


def print_table(files):
    print(f"{'file':<34}{'branches':>9}{'taken':>8}{'reasons':>9}{'rest':>6}{'share':>9}")
    for name, one in sorted(files.items(), key=lambda item: share(item[1].taken, item[1].counted)):
        numbers = f"{one.branches:>9}{one.taken:>8}{one.reasons:>9}{sum(one.rest.values()):>6}"
        print(f"{name:<34}{numbers}{share(one.taken, one.counted):>7.1f} %")


def print_reasons(reasons):
    print("\nNot taken, for the reason that the source gives:")
    for one in reasons:
        print(f"  {one.file}:{one.first}: {one.text} ({one.branches})")
    for one in reasons:
        if not one.branches:
            print(f"  {one.file}:{one.first}: needs no reason, all of its branches were taken")


def print_rest(files, root):
    print("\nNot taken, and reachable:")
    for name, one in sorted(files.items()):
        lines = (root / name).read_text().splitlines()
        for number, count in sorted(one.rest.items()):
            print(f"  {name}:{number}: {lines[number - 1].strip()} ({count})")


def main(path, everything):
    root = Path.cwd()
    report = json.loads(Path(path).read_text())
    reasons = [
        reason
        for entry in report["files"]
        for reason in reasons_of(entry["file"], (root / entry["file"]).read_text())
    ]
    files = measured(report, reasons)
    total = File(
        *(sum(getattr(one, f) for one in files.values()) for f in ("branches", "taken", "reasons"))
    )
    lines, run = (sum(getattr(one, f) for one in files.values()) for f in ("lines", "run"))
    print_reasons(reasons)
    if everything:
        print_rest(files, root)
    print()
    print_table(files)
    print(
        f"\nC: {share(total.taken, total.counted):.1f} % of branches: {total.taken} of {total.counted} were "
        f"taken; {total.reasons} more have a reason in the source ({share(total.taken, total.branches):.1f} % "
        f"with these); {share(run, lines):.1f} % of lines"
    )
    return share(total.taken, total.counted) < LEAST


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--all" in sys.argv[2:]))
