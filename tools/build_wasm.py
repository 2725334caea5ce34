"""Builds ragfile/doors/browser/ragfile.wasm: the reading half of csrc/ for browsers and node.

    python tools/build_wasm.py             writes it
    python tools/build_wasm.py --check     fails unless a build gives the bytes that are there

The compiler is Zig's clang from the Python registry, in the version that PINNED names, so that every
machine makes the same bytes. Texts are unpacked by zstd's own decoder, taken from the source
distribution of python-zstandard (BSD); its hash is checked, and nothing of it is kept here.
"""

import gzip
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "ragfile/doors/browser/ragfile.wasm.gz"
PINNED = "0.17.0"
ZSTD = "zstandard-0.25.0.tar.gz"
ZSTD_SHA256 = "7713e1179d162cf5c7906da876ec2ccb9c3a9dcbdffef0cc7f70c3667a205f0b"
# What writes, what asks the system for files, and formats that a page does not read.
LEFT_OUT = {
    "map", "pool", "writer", "bm25_build", "bm25_write", "embed_write", "base64",
    "faiss_flat", "markdown", "context", "directory", "mention", "gf16", "cauchy", "parity",
    "mend", "repair", "ids", "bounds", "hybrid", "clusters_build", "clusters_check", "clusters_train",
}  # fmt: skip
FLAGS = [
    "-target", "wasm32-wasi", "-mexec-model=reactor", "-std=gnu11", "-Oz", "-flto", "-DNDEBUG",
    "-ffp-contract=off", "-fvisibility=hidden", "-msimd128", "-mbulk-memory", "-g0",
    "-Wl,--strip-all", "-Wl,--gc-sections", "-Wl,--max-memory=4294901760",
]  # fmt: skip
FAST = ["dot", "bm25_kernels", "hash"]  # whose loops are worth their size
SMALL_ZSTD = [
    "-DZSTD_STRIP_ERROR_STRINGS=1", "-DZSTD_LEGACY_SUPPORT=0", "-DZSTD_TRACE=0",
    "-DZSTD_DISABLE_ASM=1", "-DHUF_FORCE_DECOMPRESS_X1", "-DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT",
    "-DZSTD_NO_INLINE", "-DZSTDLIB_VISIBLE=", "-DZSTDERRORLIB_VISIBLE=", "-DZDICTLIB_VISIBLE=", "-w",
]  # fmt: skip


def zstd(folder):
    """The folder with zstd.c, of the pinned source distribution."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--no-build-isolation", "-d", folder, "zstandard==0.25.0"], check=True)
    archive = Path(folder) / ZSTD
    if hashlib.sha256(archive.read_bytes()).hexdigest() != ZSTD_SHA256:
        sys.exit(f"{ZSTD} has other bytes than it had")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return Path(folder) / "zstandard-0.25.0" / "zstd"


def built():
    """The module's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [f for f in sorted((ROOT / "csrc").glob("*.c")) if f.stem not in LEFT_OUT]
        sources += sorted((ROOT / "csrc/wasm").glob("*.c"))
        there = zstd(folder)
        out = Path(folder) / "ragfile.wasm"
        objects = [compiled(source, there, folder) for source in sources]
        objects.append(compiled(there / "zstd.c", there, folder))
        run(*FLAGS, *objects, "-lm", "-o", out)
        return out.read_bytes()


def compiled(source, zstd_folder, folder):
    """An object file. Paths are relative, for some end in the bytes."""
    out = Path(folder) / f"{source.parent.name}-{source.stem}.o"
    faster = ["-O3"] if source.stem in FAST else []
    small = SMALL_ZSTD if source.stem == "zstd" else ["-Wall", "-Wextra"]
    near = source.relative_to(ROOT) if source.is_relative_to(ROOT) else source
    run(*FLAGS, *faster, *small, "-Icsrc", f"-I{zstd_folder}", "-c", near, "-o", out)
    return out


def run(*arguments):
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", *map(str, arguments)], check=True, cwd=ROOT
    )


def main():
    try:
        found = version("ziglang")
    except PackageNotFoundError:
        found = "none"
    if found != PINNED:
        sys.exit(f"this needs ziglang {PINNED}, not {found}: pip install ziglang=={PINNED}")
    packed = gzip.compress(built(), 9, mtime=0)
    if "--check" not in sys.argv:
        BUILT.parent.mkdir(exist_ok=True)
        BUILT.write_bytes(packed)
    elif gzip.decompress(packed) != gzip.decompress(BUILT.read_bytes()):
        sys.exit(f"{BUILT} is not what csrc/ makes: run tools/build_wasm.py")
    print(f"{BUILT.relative_to(ROOT)}: {len(packed):,} bytes")


if __name__ == "__main__":
    main()
