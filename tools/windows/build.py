"""Build the wheel for 64-bit Windows into dist/, on any machine.

    python tools/windows/build.py [--aside]

Zig's clang compiles the extension, with Python's headers of this machine and pyconfig.h of this folder.
What it links against is made from the exports of python3.dll, so one wheel serves every Python from
3.11. The other files are those of the wheel for this machine. `--aside` compiles a wheel for tests in
which a replaced file always steps aside, as if a reader mapped it.
"""

import csv
import hashlib
import io
import os
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from base64 import urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import pinned  # noqa: E402 - of tools/

BUILT = ROOT / "build/windows"
TAG = "cp311-abi3-win_amd64"
FLAGS = ["-std=gnu11", "-O3", "-g0", "-ffp-contract=off", "-DNDEBUG"]
PYTHON_FLAGS = ["-O1", "-w", "-DPy_LIMITED_API=0x030B0000", "-DCYTHON_LIMITED_API=1"]
ZSTD_FLAGS = ["-O2", "-w", "-D__EMSCRIPTEN__", "-DZSTDLIB_VISIBLE=", "-DZSTDERRORLIB_VISIBLE=",
              "-DZDICTLIB_VISIBLE=",
              *(f"-DZSTD_EXCLUDE_{n}_BLOCK_COMPRESSOR" for n in ("GREEDY", "LAZY", "BTOPT", "BTULTRA"))]  # fmt: skip


def zig(*words):
    command, environment = pinned.compiler()
    subprocess.run([*command[:-1], *map(str, words)], env=environment, check=True)


# ------------------------------------------------------------------------------- Python for Windows


def python_of_windows():
    """Return python.org's embeddable Python, unpacked from a source distribution in the registry."""
    folder = BUILT / "python"
    if not folder.exists():
        package = pinned.unpacked(pinned.PYTHON_OF_WINDOWS)
        (data,) = package.rglob("data.zip")
        with zipfile.ZipFile(data) as file:
            file.extractall(folder)
    return next(folder.rglob("python3.dll")).parent


def exports(dll):
    """Yield the names that a DLL exports: the export directory of a PE32+ image."""
    data = dll.read_bytes()
    (pe,) = struct.unpack_from("<I", data, 0x3C)
    sections, optional = struct.unpack_from("<H", data, pe + 6)[0], pe + 24
    directory = struct.unpack_from("<I", data, optional + 112)[0]
    first = optional + struct.unpack_from("<H", data, pe + 20)[0]
    table = [struct.unpack_from("<IIII", data, first + 40 * n + 8) for n in range(sections)]

    def at(address):
        for size, start, raw_size, raw in table:
            if start <= address < start + max(size, raw_size):
                return address - start + raw
        raise ValueError(f"{dll}: no section has the address {address:#x}")

    count = struct.unpack_from("<I", data, at(directory) + 24)[0]
    names = at(struct.unpack_from("<I", data, at(directory) + 32)[0])
    for n in range(count):
        start = at(struct.unpack_from("<I", data, names + 4 * n)[0])
        yield data[start : data.index(b"\0", start)].decode()


def import_library():
    """Write the import library of python3.dll, which every Python 3 for Windows has."""
    library, definitions = BUILT / "python3.lib", BUILT / "python3.def"
    names = "\n".join(exports(python_of_windows() / "python3.dll"))
    definitions.write_text(f"LIBRARY python3.dll\nEXPORTS\n{names}\n")
    zig("dlltool", "-m", "i386:x86-64", "-d", definitions, "-l", library)
    return library


def headers():
    """Copy Python's headers beside the pyconfig.h for Windows."""
    folder = BUILT / "include"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), folder)
    shutil.copy(Path(__file__).parent / "pyconfig.h", folder)
    return folder


# ------------------------------------------------------------------------------------ the extension


def is_fresh(target, source, options):
    stamp = target.with_suffix(".options")
    newest = max(p.stat().st_mtime for p in [source, *ROOT.glob("csrc/**/*.h")])
    return target.exists() and target.stat().st_mtime > newest and stamp.read_text() == options


def compile_one(source, options):
    name = "_".join(source.relative_to(ROOT).parts[-3:])
    target = BUILT / "objects" / f"{name}.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    words = " ".join(map(str, options))
    if not is_fresh(target, source, words):
        zig("cc", "-target", "x86_64-windows-gnu", *options, "-c", source, "-o", target)
        target.with_suffix(".options").write_text(words)
    return target


def extension(steps_aside):
    """Compile and link the extension; return its path."""
    include, library, zstd = headers(), import_library(), pinned.zstd()
    folders = [f"-I{ROOT / 'csrc/include'}", f"-I{ROOT / 'csrc'}", f"-I{zstd}"]
    jobs = [(zstd / "zstd.c", [*FLAGS, *ZSTD_FLAGS])]
    for source in sorted(ROOT.glob("csrc/*/*.c")):
        own = ["-DRAG_STEP_ASIDE"] if steps_aside and source.name == "windows.c" else []
        jobs.append((source, [*FLAGS, *own, *folders]))
    for source in sorted(ROOT.glob("ragfile/_core*.c")):
        flag = f"-D__Pyx_ApplySequenceOrMappingFlag=flag_of{source.stem}"
        jobs.append((source, [*FLAGS, *PYTHON_FLAGS, flag, f"-I{include}", *folders]))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        objects = list(pool.map(lambda job: compile_one(*job), jobs))
    made = BUILT / "_core.pyd"
    zig("cc", "-target", "x86_64-windows-gnu", "-shared", "-s", "-o", made, *objects, library,
        "-ladvapi32")  # fmt: skip
    return made


# --------------------------------------------------------------------------------------- the wheel


def wheel_of_this_machine(folder):
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    (found,) = Path(folder).glob("ragfile-*.whl")
    return found


def digest(data):
    return "sha256=" + urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def convert(source, core, target):
    """Write a wheel with another extension, and tags for Windows."""
    rows = []
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            name, data = item.filename, old.read(item)
            if name.endswith("/RECORD"):
                record = name
                continue
            if name == "ragfile/_core.abi3.so":
                name, data = "ragfile/_core.pyd", core.read_bytes()
            if name.endswith("/WHEEL"):
                lines = [line for line in data.decode().splitlines() if not line.startswith("Tag:")]
                data = "\n".join([*(line for line in lines if line), f"Tag: {TAG}", ""]).encode()
            new.writestr(zipfile.ZipInfo(name, item.date_time), data, zipfile.ZIP_DEFLATED)
            rows.append((name, digest(data), len(data)))
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([*rows, (record, "", "")])
        new.writestr(record, out.getvalue())


def main():
    steps_aside = "--aside" in sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source = wheel_of_this_machine(folder)  # which has Cython write ragfile/_core*.c
        core = extension(steps_aside)
        name = source.name.split("-")
        target = (BUILT if steps_aside else ROOT / "dist") / "-".join([*name[:2], f"{TAG}.whl"])
        target.parent.mkdir(parents=True, exist_ok=True)
        convert(source, core, target)
    print(target)


if __name__ == "__main__":
    main()
