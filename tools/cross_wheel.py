"""Make a wheel for another system: Zig's clang compiles the extension, the other files are this machine's.

tools/windows/build.py and tools/macos.py describe such systems.
"""

import csv
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pinned

ROOT = Path(__file__).parent.parent
FLAGS = ["-std=gnu11", "-O3", "-g0", "-ffp-contract=off", "-DNDEBUG"]
PYTHON_FLAGS = ["-O1", "-w", "-DPy_LIMITED_API=0x030B0000", "-DCYTHON_LIMITED_API=1"]
ZSTD_FLAGS = ["-O2", "-w", "-D__EMSCRIPTEN__", "-DZSTDLIB_VISIBLE=", "-DZSTDERRORLIB_VISIBLE=",
              "-DZDICTLIB_VISIBLE=",
              *(f"-DZSTD_EXCLUDE_{n}_BLOCK_COMPRESSOR" for n in ("GREEDY", "LAZY", "BTOPT", "BTULTRA"))]  # fmt: skip


def zig(*words):
    command, environment = pinned.compiler()
    subprocess.run([*command[:-1], *map(str, words)], env=environment, check=True)


@dataclass
class System:
    """A system that wheels are made for."""

    triple: str  # Zig's name of it
    tag: str  # of the wheel
    folder: Path  # of objects
    headers: Path  # of Python
    core: str  # name of the extension there
    flags: list[str] = field(default_factory=list)
    own_flags: dict[str, list[str]] = field(default_factory=dict)  # of a file of csrc/, by its name


# ------------------------------------------------------------------------------------ the extension


def is_fresh(target, source, options):
    stamp = target.with_suffix(".options")
    newest = max(p.stat().st_mtime for p in [source, *ROOT.glob("csrc/**/*.h")])
    return target.exists() and target.stat().st_mtime > newest and stamp.read_text() == options


def compile_one(system, source, options):
    name = "_".join(source.relative_to(ROOT).parts[-3:])
    target = system.folder / f"{name}.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    words = " ".join(map(str, options))
    if not is_fresh(target, source, words):
        zig("cc", "-target", system.triple, *options, "-c", source, "-o", target)
        target.with_suffix(".options").write_text(words)
    return target


def jobs(system):
    """Yield (source, options) of each object."""
    zstd, flags = pinned.zstd(), [*FLAGS, *system.flags]
    folders = [f"-I{ROOT / 'csrc/include'}", f"-I{ROOT / 'csrc'}", f"-I{zstd}"]
    yield zstd / "zstd.c", [*flags, *ZSTD_FLAGS]
    for source in sorted(ROOT.glob("csrc/*/*.c")):
        yield source, [*flags, *system.own_flags.get(source.name, []), *folders]
    for source in sorted(ROOT.glob("ragfile/_core*.c")):
        own = f"-D__Pyx_ApplySequenceOrMappingFlag=flag_of{source.stem}"
        yield source, [*flags, *PYTHON_FLAGS, own, f"-I{system.headers}", *folders]


def extension(system, *link):
    """Compile and link the extension; return its path."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        objects = list(pool.map(lambda job: compile_one(system, *job), jobs(system)))
    made = system.folder.parent / system.core
    zig("cc", "-target", system.triple, "-shared", "-o", made, *objects, *link)
    return made


# --------------------------------------------------------------------------------------- the wheel


def wheel_of_this_machine(folder):
    """Build a wheel, for which Cython writes ragfile/_core*.c."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    (found,) = Path(folder).glob("ragfile-*.whl")
    return found


def digest(data):
    return "sha256=" + urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def convert(source, system, core, folder):
    """Write a wheel with another extension and tag into a folder; return its path."""
    name = source.name.split("-")
    target = folder / "-".join([*name[:2], f"{system.tag}.whl"])
    target.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            name, data = item.filename, old.read(item)
            if name.endswith("/RECORD"):
                record = name
                continue
            if name == "ragfile/_core.abi3.so":
                name, data = f"ragfile/{system.core}", core.read_bytes()
            if name.endswith("/WHEEL"):
                lines = [line for line in data.decode().splitlines() if not line.startswith("Tag:")]
                tag = f"Tag: {system.tag}"
                data = "\n".join([*(line for line in lines if line), tag, ""]).encode()
            new.writestr(zipfile.ZipInfo(name, item.date_time), data, zipfile.ZIP_DEFLATED)
            rows.append((name, digest(data), len(data)))
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([*rows, (record, "", "")])
        new.writestr(record, out.getvalue())
    return target
