"""The compiled module under ThreadSanitizer: threads of one process at everything that they may share.

    RAGFILE_SANITIZE=thread python -m pip install --no-deps --target build/race-module .
    python tests/checks/race_module.py build/race-module --rounds 10

racing.py is what the threads do. Python itself is not instrumented. Its global lock is a mutex, which the
sanitizer sees, so what is ordered by it counts as ordered; race_module.supp says what is left out, and
why. A first run with a planted race (csrc/container/guard.c) must be reported, or the second one says nothing.
"""

import argparse
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOUND = 66  # the exit code of a process that the sanitizer has something to say about
REPORT = re.compile(rb"^WARNING: ThreadSanitizer", re.M)


def library():
    """Where gcc or clang keeps the sanitizer, to be loaded before Python."""
    compiler = os.environ.get("CC", "cc").split()
    words = [*compiler, "-print-file-name=libtsan.so"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def fixed_addresses():
    """Older sanitizers do not know the addresses that newer kernels choose."""
    with contextlib.suppress(OSError):
        if shutil.which("setarch") and not subprocess.run(["setarch", "-R", "true"]).returncode:
            return ["setarch", "-R"]
    return []


def run(package, rounds, seed, **variables):
    options = f"exitcode={FOUND} die_after_fork=0 suppressions={HERE / 'race_module.supp'}"
    environment = {
        **os.environ, "LD_PRELOAD": library(), "TSAN_OPTIONS": options, "PYTHONPATH": str(package),
        "PYTHONMALLOC": "malloc", **variables,
    }  # fmt: skip
    words = [sys.executable, HERE / "racing.py", str(rounds), str(seed)]
    return subprocess.run([*fixed_addresses(), *words], env=environment, stderr=subprocess.PIPE)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("package", type=Path, help="the folder of the instrumented package")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seed", type=int, default=random.randrange(10**6))
    chosen = options.parse_args()
    package = chosen.package.resolve()
    compiled = next(package.glob("ragfile/_core*.so")).read_bytes()
    if b"__tsan_func_entry" not in compiled:
        sys.exit(f"{package}: built without RAGFILE_SANITIZE=thread")
    planted = run(package, 1, chosen.seed, RAGFILE_PLANTED_RACE="1")
    if planted.returncode != FOUND or b"set_bit" not in planted.stderr:
        sys.stderr.buffer.write(planted.stderr[-5000:])
        sys.exit("the planted race was not seen")
    found = run(package, chosen.rounds, chosen.seed)
    if found.returncode:
        sys.stderr.buffer.write(found.stderr)
    races, of_planted = (len(REPORT.findall(ended.stderr)) for ended in (found, planted))
    print(
        f"{chosen.rounds} rounds, seed {chosen.seed}: {races} races; planted: {of_planted} reports"
    )
    return found.returncode


if __name__ == "__main__":
    sys.exit(main())
