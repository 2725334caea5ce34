"""Each allocation and each system call of the core fails once, under starve_core.c: one error, or the right answer; and
the same call answers afterwards.

    LD_PRELOAD=starve_core.so python tests/crash/starve_core.py FOLDER [MOST [NAME…]]

The library knows the core's own calls by where they come from, so all failures happen in this one process. With MOST,
that many places of each scenario are tried, spread over all.
"""

import ctypes
import gc
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from crash.starving import SCENARIOS

from ragfile import _core

starve = ctypes.CDLL(None)
starve.starve_inside.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
starve.starve_next.argtypes = [ctypes.c_long]
starve.starve_count.restype = ctypes.c_long
starve.starve_failed.restype = ctypes.c_char_p


def code_of_core():
    """Where the extension's code lies in this process."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    ours = [line.split()[0] for line in maps if line.endswith(_core.__file__) and "r-xp" in line]
    low, high = ours[0].split("-")[0], ours[-1].split("-")[1]
    return int(low, 16), int(high, 16)


def said_by(error):
    return "".join(traceback.format_tb(error.__traceback__)[-3:]) if error else ""


def attempt(call, folder, wanted, at):
    """Whether the at-th call was reached, and what went wrong when it failed; "" for nothing."""
    error = None
    starve.starve_next(at)
    try:
        found = call(folder)
    except Exception as raised:  # noqa: BLE001 - looked at when calls succeed again
        error = raised
    hit = starve.starve_failed()
    starve.starve_next(0)
    if error is None and found != wanted:
        return hit, f"another answer: {found!r:.300}"
    if error is not None and not isinstance(error, MemoryError | OSError):
        return hit, repr(error)
    try:  # while the error is still known, and with it what its frames hold
        again = call(folder)
    except Exception as raised:  # noqa: BLE001 - told with its number
        return hit, f"{raised!r} afterwards, after {error!r} {said_by(error)}"
    return hit, "" if again == wanted else f"another answer afterwards, after {error!r}"


def starved(name, folder, most):
    """Makes every call of a scenario fail; how many did, and the findings."""
    call = SCENARIOS[name](folder)
    for _ in range(2):  # the first starts threads and imports what it needs
        starve.starve_next(-1)
        wanted, count = call(folder), starve.starve_count()
    starve.starve_next(0)
    step, at, tries, findings = max(1, count // most if most else 1), 1, 0, []
    while True:
        hit, said = attempt(call, folder, wanted, at)
        if said:
            findings.append(f"{name}, {hit} {at} of {count}: {said}")
        if not hit:
            return tries, findings
        tries, at = tries + 1, at + step


def main(folder, most, names):
    starve.starve_inside(*code_of_core())
    gc.disable()  # what it would free is freed where it is made
    total = found = 0
    for name in names or SCENARIOS:
        work = folder / name
        work.mkdir(parents=True)
        tries, findings = starved(name, work, most)
        print(f"{name}: {tries} calls failed, {len(findings)} findings", flush=True)
        print(*findings, sep="\n", end="\n" if findings else "", file=sys.stderr)
        total, found = total + tries, found + len(findings)
    print(f"{total} failed calls, {found} findings")
    return found


if __name__ == "__main__":
    place = Path(sys.argv[1])
    sys.exit(bool(main(place, int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:])))
