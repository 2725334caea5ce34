"""Makes every file of this folder again: `python spec/vectors/make.py`.

Files are put together here, field by field, from what the specification says; those of a layout that the package writes are
also written by the package, and must come out the same. The good ones must hold what they were made of, the bad ones must be
refused at the byte that is said here, and both readers must agree. Bytes that are there already never change: a difference is
an error, unless the version below moves with the specification (and the old files stay, for a format is read for ever).
"""

import hashlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "spec"), str(ROOT / "tests"), str(ROOT)]

import bad_files  # noqa: E402
import good_files  # noqa: E402
import reader  # noqa: E402

from ragfile import conformance  # noqa: E402

VERSION = "1.0.0"
ORACLE = lambda data, dim=None: conformance.answer(reader.read, data, dim)  # noqa: E731
PACKAGE = lambda data, dim=None: conformance.answer(conformance.read, data, dim)  # noqa: E731


def good(name, vector):
    """What a reader must find, once both have found it and it is what the file was made of."""
    found = ORACLE(vector.data, vector.dim)
    assert "refused" not in found, (name, found)
    wrong = conformance.difference(vector.says, found) or conformance.difference(
        found, PACKAGE(vector.data, vector.dim)
    )
    assert wrong is None, (name, wrong)
    return {"note": vector.note, "found": found} | ({"dim": vector.dim} if vector.dim else {}) | vector.marks


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


def all_files():
    """{file name: bytes} of everything that is pinned."""
    expected, files = {}, {}
    for kind, check, vectors in (("good", good, good_files.vectors()), ("bad", bad, bad_files.vectors())):
        for name, vector in sorted(vectors.items()):
            name = f"{kind}-{name}.ragfile"
            expected[name], files[name] = check(name, vector), vector.data
    lines = [
        f"{json.dumps(name)}: {json.dumps(what, sort_keys=True, ensure_ascii=True)}" for name, what in expected.items()
    ]
    files["expected.json"] = ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    return files


def pins(files):
    rows = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in sorted(files.items())]
    return "\n".join([f"# specification {VERSION}", *rows, ""])


def main():
    files, there = all_files(), HERE / "SHA256SUMS"
    wanted = pins(files)
    if there.exists() and there.read_text() != wanted:
        old, new = set(there.read_text().splitlines()), set(wanted.splitlines())
        if f"# specification {VERSION}" in old and any(not line.startswith("#") for line in old - new):
            print("these bytes would change, and the specification's version did not:", *sorted(old - new), sep="\n  ")
            return 1
    for name, data in files.items():
        if not (HERE / name).exists() or (HERE / name).read_bytes() != data:
            (HERE / name).write_bytes(data)
    there.write_text(wanted)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")
    return 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
