"""Measure an installation: sizes, and the processor time of its first commands.

    python bench/install.py dist/ragfile-0.1.0-….whl

Installs a wheel into a new virtual environment, once alone and once with its dependencies.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 15


def cpu(*command: str | Path) -> float:
    """Return the processor seconds of a command, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(*command: str | Path) -> float:
    """Return the median over some rounds, after one that fills the caches."""
    cpu(*command)
    return statistics.median(cpu(*command) for _ in range(ROUNDS))


def megabytes(folder: Path) -> float:
    """Return the size of the files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def installed(folder: Path, *packages: str) -> Path:
    """Make an environment with some packages, and return its bin folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "-q"]
    subprocess.run([*pip, "--no-compile", *packages], check=True)
    return folder / "bin"


def show(name: str, value: float, unit: str) -> None:
    print(f"| {name} | {value:.3g} {unit} |")


def commands(programs: Path, folder: Path) -> None:
    """Time the first commands of a user."""
    python, ragfile, file = programs / "python", programs / "ragfile", folder / "kb.ragfile"
    (folder / "notes.md").write_text("# Keys\n\nRotate the keys every ninety days.\n")
    empty, numpy = median(python, "-c", ""), median(python, "-c", "import numpy")
    show(
        "`import ragfile`, beyond Python",
        1e3 * (median(python, "-c", "import ragfile") - empty),
        "ms",
    )
    opened = median(python, "-c", "from ragfile import open")
    show("`ragfile.open`, beyond numpy", 1e3 * (opened - numpy), "ms")
    show("`ragfile --version`", median(ragfile, "--version"), "s")
    show(
        "`ragfile build` of one file, with vectors",
        median(ragfile, "build", folder / "notes.md", "-o", file),
        "s",
    )
    show("`ragfile search` of it", median(ragfile, "search", file, "keys"), "s")


def main() -> None:
    wheel = sys.argv[1]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        print("| | |\n|---|---|")
        show("wheel", os.path.getsize(wheel) / 1e6, "MB")
        installed(folder / "alone", "--no-deps", wheel)
        show("installed, alone", megabytes(folder / "alone/lib"), "MB")
        programs = installed(folder / "whole", wheel)
        show(
            "installed, with numpy and the other dependencies",
            megabytes(folder / "whole/lib"),
            "MB",
        )
        commands(programs, folder)


if __name__ == "__main__":
    main()
