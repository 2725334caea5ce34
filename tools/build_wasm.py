"""Compile the reading half of csrc/ to WebAssembly, for browsers and node.

tools/build_web.py writes the result. The compiler is pinned, so that every machine makes the same
bytes. Stored texts are decompressed by libzstd, of the same sources as in the extension
(tools/pinned.py).
"""

import gzip
import subprocess
import tempfile
from pathlib import Path

from pinned import compiler, zstd

ROOT = Path(__file__).parent.parent
# What writes, what asks the system for files, and formats that a page does not read.
LEFT_OUT = {
    "files", "thread_pool", "posix", "windows", "writer", "key_slots", "plain", "encrypted_file", "trailer", "bm25_build", "bm25_write", "embed_write", "base64",
    "faiss_flat", "markdown", "open_file", "path_vectors", "directory", "match_spans", "phrases",
    "positions_check", "positions_read", "positions_search", "positions_write", "gf16", "cauchy", "parity",
    "repair_file", "repair_section", "ids", "bounds", "hybrid", "clusters_build", "clusters_check", "clusters_train",
}  # fmt: skip
FLAGS = [
    "-target", "wasm32-wasi", "-mexec-model=reactor", "-std=gnu11", "-Oz", "-flto", "-DNDEBUG",
    "-ffp-contract=off", "-fvisibility=hidden", "-msimd128", "-mbulk-memory", "-g0",
    "-Wl,--strip-all", "-Wl,--gc-sections", "-Wl,--max-memory=4294901760",
]  # fmt: skip
FAST = ["dot", "bm25_kernels", "hash"]  # their loops are worth the larger code
SMALL_ZSTD = [
    "-DZSTD_STRIP_ERROR_STRINGS=1", "-DZSTD_LEGACY_SUPPORT=0", "-DZSTD_TRACE=0",
    "-DZSTD_DISABLE_ASM=1", "-DHUF_FORCE_DECOMPRESS_X1", "-DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT",
    "-DZSTD_NO_INLINE", "-DZSTDLIB_VISIBLE=", "-DZSTDERRORLIB_VISIBLE=", "-DZDICTLIB_VISIBLE=", "-w",
]  # fmt: skip


def packed():
    """Return the module's bytes, packed by gzip."""
    return gzip.compress(built(), 9, mtime=0)


def built():
    """Return the module's bytes."""
    found = sorted((ROOT / "csrc").glob("*/*.c"), key=lambda f: f.name)
    if gone := LEFT_OUT - {f.stem for f in found}:
        raise SystemExit(
            f"LEFT_OUT names files that csrc/ does not have: {', '.join(sorted(gone))}"
        )
    with tempfile.TemporaryDirectory() as folder:
        sources = [f for f in found if f.stem not in LEFT_OUT]
        sources += sorted((ROOT / "csrc/doors/wasm").glob("*.c"))
        there = zstd()
        out = Path(folder) / "ragfile.wasm"
        objects = [compiled(source, there, folder) for source in sources]
        objects.append(compiled(there / "zstd.c", there, folder))
        run(*FLAGS, *objects, "-lm", "-o", out)
        return out.read_bytes()


def compiled(source, zstd_folder, folder):
    """Compile one source. Paths are relative because some of them end up in the bytes."""
    out = Path(folder) / f"{source.parent.name}-{source.stem}.o"
    faster = ["-O3"] if source.stem in FAST else []
    small = SMALL_ZSTD if source.stem == "zstd" else ["-Wall", "-Wextra"]
    near = source.relative_to(ROOT) if source.is_relative_to(ROOT) else source
    run(
        *FLAGS,
        *faster,
        *small,
        "-Icsrc/include",
        "-Icsrc",
        f"-I{zstd_folder}",
        "-c",
        near,
        "-o",
        out,
    )
    return out


def run(*arguments):
    command, environment = compiler()
    subprocess.run([*command, *map(str, arguments)], check=True, cwd=ROOT, env=environment)
