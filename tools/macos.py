"""Build a wheel for each processor of macOS into build/macos, on any machine, and check what they ask of a system.

    python tools/macos.py

A release has the wheels of the workflow's runners, whose tests use them. These show on Linux that the core and the
extension compile and link for macOS, with libSystem as the only library.
"""

import struct
import sys
import sysconfig
import tempfile
from pathlib import Path

from cross_wheel import ROOT, System, convert, extension, wheel_of_this_machine

BUILT = ROOT / "build/macos"
OLDEST = (11, 0)
MAGIC, X86_64, ARM64 = 0xFEEDFACF, 0x01000007, 0x0100000C
SYMBOLS, LIBRARY, SIGNATURE, VERSION = 0x02, 0x0C, 0x1D, 0x32  # load commands
UNDEFINED_OF_ANY_LIBRARY = 0xFE
PROCESSORS = {"arm64": ("aarch64", ARM64), "x86_64": ("x86_64", X86_64)}


def macos(processor):
    """Return the description of the system."""
    zig_name, _ = PROCESSORS[processor]
    return System(
        f"{zig_name}-macos.{OLDEST[0]}.{OLDEST[1]}",
        f"cp311-abi3-macosx_{OLDEST[0]}_{OLDEST[1]}_{processor}",
        BUILT / processor / "objects",
        Path(sysconfig.get_path("include")),
        "_core.abi3.so",
        ["-fvisibility=hidden"],
    )


def commands(image):
    """Yield (kind, bytes) of the load commands of a Mach-O image of 64 bits."""
    (count,) = struct.unpack_from("<I", image, 16)
    at = 32
    for _ in range(count):
        kind, size = struct.unpack_from("<II", image, at)
        yield kind & 0x7FFFFFFF, image[at : at + size]
        at += size


def undefined(image, command):
    """Yield the names that the image expects of whoever loads it: Python's, and no library's."""
    symbols, count, names, _ = struct.unpack_from("<IIII", command, 8)
    for n in range(count):
        name, kind, _, about, _ = struct.unpack_from("<IBBHQ", image, symbols + 16 * n)
        if kind & 0x0E == 0 and kind & 0x01 and about >> 8 == UNDEFINED_OF_ANY_LIBRARY:
            yield image[names + name : image.index(b"\0", names + name)].decode()


def problems(image, processor):
    """Yield a sentence for each thing that macOS or Python would refuse."""
    magic, kind = struct.unpack_from("<II", image)
    if (magic, kind) != (MAGIC, PROCESSORS[processor][1]):
        yield f"not a Mach-O image for {processor}"
        return
    found = list(commands(image))
    libraries = {data[24:].partition(b"\0")[0] for kind, data in found if kind == LIBRARY}
    if others := libraries - {b"/usr/lib/libSystem.B.dylib"}:
        yield f"needs {others}"
    for kind, data in found:
        if kind == VERSION and struct.unpack_from("<I", data, 12)[0] > OLDEST[0] << 16:
            yield f"needs a newer macOS than {OLDEST}"
        if kind == SYMBOLS and (
            strange := [name for name in undefined(image, data) if not name.startswith("_Py")]
        ):
            yield f"no library of macOS has {strange}"
    if VERSION not in dict(found) or (processor == "arm64" and SIGNATURE not in dict(found)):
        yield "lacks the version of the system, or the signature that ARM64 asks for"


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = wheel_of_this_machine(folder)
        for processor in PROCESSORS:
            system = macos(processor)
            core = extension(system, "-undefined", "dynamic_lookup", "-Wl,-dead_strip", "-s")
            if found := list(problems(core.read_bytes(), processor)):
                sys.exit(f"{core}: {'; '.join(found)}")
            print(convert(source, system, core, BUILT), f"{core.stat().st_size:,} bytes of code")


if __name__ == "__main__":
    main()
