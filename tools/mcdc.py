"""Report the branches and the conditions (MC/DC) that tests take, from llvm-cov's export.

    python tools/mcdc.py EXPORT.json

A branch that no test can take has its reason in the source (tools/coverage_c.py); branches and decisions on such
lines that were not taken are counted apart. Branches and conditions that are left are listed.
"""

import json
import sys
from pathlib import Path

from coverage_c import reasons_of, share


def missed_branches(found):
    """Yield (line, whether it was taken) for each way of each branch."""
    for first, _, _, _, true, false, *_ in found:
        yield first, true > 0
        yield first, false > 0


def conditions(found):
    """Yield (line, whether it was shown to decide) for each condition."""
    for record in found:
        for is_covered in next(part for part in record if isinstance(part, list)):
            yield record[0], is_covered


def counted(pairs, excused):
    """Return (covered, excused, lines of the rest)."""
    pairs = list(pairs)
    rest = [line for line, is_taken in pairs if not is_taken]
    left = [line for line in rest if line not in excused]
    return len(pairs) - len(rest), len(rest) - len(left), left


def main(path):
    root, totals, listed = Path.cwd(), [0] * 6, []
    print(f"{'file':<36}{'branches':>9}{'rest':>6}{'':>9}{'conditions':>12}{'rest':>6}")
    for one in json.loads(Path(path).read_text())["data"][0]["files"]:
        name = str(Path(one["filename"]).resolve().relative_to(root))
        text = (root / name).read_text()
        reasons = list(reasons_of(name, text))
        excused = {line for r in reasons for line in range(r.first, r.last + 1)}
        branches = counted(missed_branches(one.get("branches", ())), excused)
        decided = counted(conditions(one.get("mcdc_records", ())), excused)
        for kind, (taken, reasoned, left) in enumerate((branches, decided)):
            for i, number in enumerate((taken, reasoned, len(left))):
                totals[3 * kind + i] += number
            what = ("branch", "condition")[kind]
            lines = text.splitlines()
            listed += [f"  {name}:{n}: {what}: {lines[n - 1].strip()}" for n in sorted(left)]
        (took, _, rest), (decides, _, open_) = branches, decided
        print(
            f"{name:<36}{took:>9}{len(rest):>6}{share(took, took + len(rest)):>7.1f} %"
            f"{decides:>12}{len(open_):>6}{share(decides, decides + len(open_)):>7.1f} %"
        )
    print("\nNot taken:", *listed, sep="\n")
    took, reasoned, rest, decides, excused, open_ = totals
    print(
        f"\n{share(took, took + rest):.1f} % of branches: {took} of {took + rest}, {reasoned} more have a reason; "
        f"{share(decides, decides + open_):.1f} % of conditions: {decides} of {decides + open_}, {excused} have a reason"
    )


if __name__ == "__main__":
    main(sys.argv[1])
