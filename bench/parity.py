"""Measure the cost of parity and the time of a repair.

    python bench/parity.py [--mib 256] [--parity 1 2 5] [--json out.json]

Writes a file of random bytes without and with parity, and verifies it. Then it damages half the
parity's percentage of its 64 KiB blocks and repairs them in a copy in memory. Each step runs three
times; the best wall-clock time counts, with one thread per processor.
"""

import argparse
import json
import os
import random
import tempfile
import time
from pathlib import Path

from ragfile import _core

BLOCK, MIB = 1 << 16, 1 << 20


def best(task, rounds=3):
    """Return (seconds, result) of the best round."""
    times = []
    for _ in range(rounds):
        before = time.perf_counter()
        found = task()
        times.append(time.perf_counter() - before)
    return min(times), found


def write(path, chunks, parity):
    path.unlink(missing_ok=True)
    writer = _core.FileWriter.create(path)
    writer.parity(parity)
    for i, chunk in enumerate(chunks):
        writer.add(f"part{i}", chunk)
    writer.commit()


def damage(path, percent):
    """Overwrite some blocks; return the original bytes."""
    whole, rng = path.read_bytes(), random.Random(1)
    blocks = len(whole) // BLOCK
    with path.open("r+b") as file:
        for i in rng.sample(range(blocks), max(1, int(blocks * percent / 100))):
            file.seek(i * BLOCK)
            file.write(rng.randbytes(BLOCK))
    return whole


def repaired(path):
    found = _core.Repair(_core.Map(path))
    copy = _core.Copy(path, found.size)
    assert not found.run(copy)[1]
    return copy


def measured(folder, mib, parities):
    chunks = [os.urandom(16 * MIB) for _ in range(mib // 16)]
    path, plain = Path(folder) / "kb.ragfile", None
    for parity in [0, *parities]:
        seconds, _ = best(lambda parity=parity: write(path, chunks, parity))
        size, reader = path.stat().st_size, _core.Reader(_core.Map(path))
        checked, (faults, _) = best(lambda reader=reader: reader.verify(True))
        assert faults == []
        plain = plain or (size, seconds)
        row = {
            "parity": parity,
            "bytes": size / plain[0] - 1,
            "write_s": seconds,
            "more_write_s": seconds - plain[1],
        }
        row["verify_s"] = checked
        if parity:
            whole = damage(path, parity / 2)
            row["repair_s"], copy = best(lambda: repaired(path))
            assert memoryview(copy) == whole
        yield row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--parity", type=int, nargs="*", default=[1, 2, 5])
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = list(measured(folder, options.mib, options.parity))
    for row in rows:
        print("  ".join(f"{name} {value:.4g}" for name, value in row.items()))
    if options.json:
        Path(options.json).write_text(json.dumps({"mib": options.mib, "rows": rows}, indent=1))
