"""The generated files: what the module may call, and that their sources give the same bytes again."""

import subprocess
import sys

import pytest
from places import ROOT
from web_files import has_compiler


@pytest.mark.stress
@pytest.mark.skipif(not has_compiler(), reason="the pinned compiler is not installed: make web")
def test_a_second_build_gives_the_same_bytes():
    subprocess.run([sys.executable, "tools/build_web.py", "--check"], cwd=ROOT, check=True)


def test_the_module_imports_bytes_numbers_and_three_harmless_calls():
    """No clock, no random numbers, no files, no sockets reach the core."""
    import gzip

    module = gzip.decompress((ROOT / "ragfile/doors/browser/ragfile.wasm.gz").read_bytes())
    assert module[:8] == b"\0asm\1\0\0\0"
    assert sorted(imports(module)) == [
        "host.number",  # a number's text to its value, as JavaScript reads it
        "host.read",
        "wasi_snapshot_preview1.clock_time_get",  # the allocator's; it is told 0
        "wasi_snapshot_preview1.environ_get",
        "wasi_snapshot_preview1.environ_sizes_get",
        "wasi_snapshot_preview1.proc_exit",
    ]


def imports(module):
    """The names in a module's import section."""
    at = 8
    while at < len(module):
        kind, (size, at) = module[at], number(module, at + 1)
        if kind == 2:
            count, here = number(module, at)
            for _ in range(count):
                names = []
                for _ in range(2):
                    length, here = number(module, here)
                    names.append(module[here : here + length].decode())
                    here += length
                assert module[here] == 0  # a function
                _, here = number(module, here + 1)
                yield ".".join(names)
        at += size


def number(data, at):
    """A LEB128 number and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
