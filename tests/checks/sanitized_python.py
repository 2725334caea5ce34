"""Make the Python of a virtual environment load AddressSanitizer's library.

    python3 tests/checks/sanitized_python.py .venv-sanitize

The library must come first in a process that loads a sanitized extension. In the environment of the
suite it would also reach the programs that tests start, and ps or node hang or fail under it. So
`bin/python` becomes a script that preloads the library for the real Python, which removes it from
its environment before anything else runs. Children in Python start by the same script.
"""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """#!/bin/bash
export PRELOADED_BEFORE="${{LD_PRELOAD-}}" ASAN_OPTIONS="${{ASAN_OPTIONS-detect_leaks=0}}"
export LD_PRELOAD="{library}${{LD_PRELOAD:+:$LD_PRELOAD}}"
exec -a "$0" {python} "$@"
"""
AT_START = 'import os; os.environ["LD_PRELOAD"] = os.environ.pop("PRELOADED_BEFORE", "")\n'


def python_of(environment):
    """Return the path of the Python that made an environment."""
    lines = (environment / "pyvenv.cfg").read_text().splitlines()
    settings = dict(line.split(" = ", 1) for line in lines)
    return settings["executable"]


def library():
    """Return the path of AddressSanitizer's library, as the compiler names it."""
    command = [os.environ.get("CC", "cc"), "-print-file-name=libasan.so"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main():
    environment = Path(sys.argv[1]).absolute()
    text = SCRIPT.format(library=library(), python=python_of(environment))
    for program in environment.glob("bin/python*"):
        program.unlink()
        program.write_text(text)
        program.chmod(0o755)
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "sanitized_python.pth").write_text(AT_START)


if __name__ == "__main__":
    main()
