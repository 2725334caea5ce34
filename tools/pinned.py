"""Fetch the pinned compiler and sources of the generated web files from the Python registry.

Downloads are kept in build/pinned, so that a second build needs no network.
"""

import hashlib
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build/pinned"
ZIG = "0.17.0"  # Zig's clang: the same version makes the same bytes on every machine
# requirement: (archive, its SHA-256)
ARCHIVES = {
    "zstandard==0.25.0": (
        "zstandard-0.25.0.tar.gz",
        "7713e1179d162cf5c7906da876ec2ccb9c3a9dcbdffef0cc7f70c3667a205f0b",
    ),
    "snowballstemmer==3.1.1": (
        "snowballstemmer-3.1.1-py3-none-any.whl",
        "7e207fa178741da09cdee59d3ecec3827ad5f92b1fc5c9ff3755b639f71f5752",
    ),
}


def archive(requirement):
    """Return the path of a pinned archive, downloaded if needed; exit if its bytes differ."""
    name, expected = ARCHIVES[requirement]
    path = FOLDER / name
    if not path.exists():
        kind = "--no-binary" if name.endswith(".tar.gz") else "--only-binary"
        pip("download", "--no-build-isolation", kind, ":all:", "-d", FOLDER, requirement)
    if hashlib.sha256(path.read_bytes()).hexdigest() != expected:
        sys.exit(f"{path} does not have the pinned SHA-256: delete it and run this again")
    return path


def compiler():
    """Return (command, environment) of Zig's C compiler, installed in build/pinned if needed."""
    try:
        is_installed = version("ziglang") == ZIG
    except PackageNotFoundError:
        is_installed = False
    command = [sys.executable, "-m", "ziglang", "cc"]
    if is_installed:
        return command, dict(os.environ)
    if not (FOLDER / f"ziglang-{ZIG}.dist-info").exists():
        pip("install", "--upgrade", "--target", FOLDER, f"ziglang=={ZIG}")
    return command, {**os.environ, "PYTHONPATH": str(FOLDER)}


def pip(verb, *arguments):
    """Run pip without dependencies."""
    command = [sys.executable, "-m", "pip", verb, "-q", "--no-deps", *map(str, arguments)]
    subprocess.run(command, check=True)
