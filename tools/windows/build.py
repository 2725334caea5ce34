"""Build the wheel for 64-bit Windows into dist/, on any machine.

    python tools/windows/build.py [--aside]

Zig's clang compiles the extension, with Python's headers of this machine and pyconfig.h of this folder.
What it links against is made from the exports of python3.dll, so one wheel serves every Python from
3.11. The other files are those of the wheel for this machine. `--aside` makes a second wheel, for tests:
in it a replaced file always steps aside, as if a reader mapped it. That one is in build/windows.
"""

import shutil
import struct
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import pinned  # noqa: E402 - of tools/
from cross_wheel import System, convert, extension, wheel_of_this_machine, zig  # noqa: E402

BUILT = ROOT / "build/windows"


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


def windows(steps_aside):
    """Return the description of the system."""
    own = {"windows.c": ["-DRAG_STEP_ASIDE"]} if steps_aside else {}
    return System(
        "x86_64-windows-gnu",
        "cp311-abi3-win_amd64",
        BUILT / "objects",
        headers(),
        "_core.pyd",
        [],
        own,
    )


def main():
    aside = [True] if "--aside" in sys.argv[1:] else []
    with tempfile.TemporaryDirectory() as folder:
        source, library = wheel_of_this_machine(folder), import_library()
        for steps_aside in [*aside, False]:
            system = windows(steps_aside)
            core = extension(system, "-s", library, "-ladvapi32")
            print(convert(source, system, core, BUILT if steps_aside else ROOT / "dist"))


if __name__ == "__main__":
    main()
