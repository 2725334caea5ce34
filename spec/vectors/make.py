"""Generate every file of this folder: `python spec/vectors/make.py`.

Files are assembled field by field from the specification. Layouts that the package writes are also
written by the package, and must come out the same. Good files must hold their known content, bad
ones must be refused at the known byte, and both readers must agree. Existing bytes never change: a
difference is an error, unless the version below changes with the specification. Old files are kept,
because a format is never dropped.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "spec"), str(ROOT / "tests")]
sys.path.append(str(ROOT))  # last: an installed ragfile, which has its core, comes first

import bad_files  # noqa: E402
import good_files  # noqa: E402
import numpy as np  # noqa: E402
import reader  # noqa: E402

from ragfile import conformance  # noqa: E402

VERSION = "1.0.0"
ORACLE = lambda data, dim=None: conformance.answer(reader.read, data, dim)  # noqa: E731
PACKAGE = lambda data, dim=None: conformance.answer(conformance.read, data, dim)  # noqa: E731


def good(name, vector):
    """Return the expected content, once both readers have found it and it matches the input."""
    found = ORACLE(vector.data, vector.dim)
    assert "refused" not in found, (name, found)
    wrong = conformance.difference(vector.says, found) or conformance.difference(
        found, PACKAGE(vector.data, vector.dim)
    )
    assert wrong is None, (name, wrong)
    return (
        {"note": vector.note, "found": found}
        | ({"dim": vector.dim} if vector.dim else {})
        | vector.marks
    )


def bad(name, vector):
    found = ORACLE(vector.data, vector.dim)
    expected = {"kind": vector.kind, "at": vector.at, "rule": vector.rule}
    assert "refused" in found, f"{name} was accepted"
    if vector.at is None:
        del expected["at"]
    assert {key: found["refused"].get(key) for key in expected} == expected, (name, expected, found)
    wrong = conformance.compare({"refused": expected}, PACKAGE(vector.data, vector.dim))
    assert wrong is None, (name, wrong)
    return {"note": vector.note, "refused": expected} | ({"dim": vector.dim} if vector.dim else {})


def difference_from(data, base):
    """Return [[offset, hex], …] that change `base` to `data`."""
    patches, at = [], 0
    while at < len(data):
        if at < len(base) and data[at] == base[at]:
            at += 1
            continue
        end = at + 1
        while end < len(data) and data[end : end + 8] != base[end : end + 8]:
            end += 1
        patches.append([at, data[at:end].hex()])
        at = end
    return patches


def fewest_characters(data, base):
    """Return a lower bound of the length of `difference_from`: two characters a byte that differs."""
    shared = min(len(data), len(base))
    here, there = (np.frombuffer(each, np.uint8, shared) for each in (data, base))
    return 2 * (np.count_nonzero(here != there) + len(data) - shared)


def as_change(data, goods):
    """Express a bad 1.0 file as the shortest change of a good one; of equals, of the first."""
    bounds = {name: fewest_characters(data, base) for name, base in goods.items()}
    places = {name: place for place, name in enumerate(goods)}
    found = []
    for name in sorted(goods, key=bounds.get):
        if found and bounds[name] > min(found)[0]:
            break
        change = {"of": name, "size": len(data), "patches": difference_from(data, goods[name])}
        found.append((len(json.dumps(change)), places[name], change))
    return min(found)[2]


def all_files():
    """Return {file name: bytes}, and the same of files that are stored as changes."""
    expected, files, changed = {}, {}, {}
    for name, vector in sorted(good_files.vectors().items()):
        name = f"good-{name}.ragfile"
        expected[name], files[name] = good(name, vector), vector.data
    goods = {name: data for name, data in files.items() if name.startswith("good-1")}
    for name, vector in sorted(bad_files.vectors().items()):
        expected[f"bad-{name}.ragfile"] = bad(name, vector)
        if name.startswith("1"):
            expected[f"bad-{name}.ragfile"] |= as_change(vector.data, goods)
            changed[f"bad-{name}.ragfile"] = vector.data
        else:
            files[f"bad-{name}.ragfile"] = vector.data
    lines = [
        f"{json.dumps(name)}: {json.dumps(what, sort_keys=True)}" for name, what in expected.items()
    ]
    files["expected.json"] = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    return files, changed


def pins(files):
    rows = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in sorted(files.items())]
    return "\n".join([f"# specification {VERSION}", *rows, ""])


def promises(expected):
    """Return {name: expectation}, without the storage of its bytes."""
    return {
        name: {k: v for k, v in what.items() if k not in ("of", "size", "patches")}
        for name, what in expected.items()
    }


def broken(files, wanted):
    """List the names that differ from the pinned files. New names are fine."""
    if not (HERE / "SHA256SUMS").exists():
        return []
    pinned = (HERE / "SHA256SUMS").read_text().splitlines()
    if f"# specification {VERSION}" not in pinned:
        return []
    lines = [
        line
        for line in pinned
        if not line.endswith("  expected.json") and line not in wanted.splitlines()
    ]
    old, new = (
        promises(json.loads((HERE / "expected.json").read_text())),
        promises(json.loads(files["expected.json"])),
    )
    return [line.split("  ")[-1] for line in lines] + [
        name for name in old if old[name] != new.get(name)
    ]


def main():
    files, changed = all_files()
    wanted = pins(files | changed)
    if names := broken(files, wanted):
        print(
            "these would change, and the specification's version did not:",
            *sorted(set(names)),
            sep="\n  ",
        )
        return 1
    for name, data in files.items():
        if not (HERE / name).exists() or (HERE / name).read_bytes() != data:
            (HERE / name).write_bytes(data)
    (HERE / "SHA256SUMS").write_text(wanted)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
