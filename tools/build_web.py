"""Make the generated files of the npm package, which `ragfile site` copies into a site.

    python tools/build_web.py             make them, unless they are newer than their sources
    python tools/build_web.py --check     make them again and compare their bytes

These are ragfile.wasm.gz, the licences of its data, and stemmers/ in ragfile/doors/browser. They are not in git: the source
distribution and the wheels contain them. The first run downloads a compiler of about 100 MB.
"""

import os
import sys
import tempfile
from pathlib import Path

import build_stemmers
import build_wasm
from pinned import ROOT

WEB = ROOT / "ragfile/doors/browser"
LICENCES = ("zstd.LICENSE", "unicode.LICENSE")  # of code and data in the core


def made():
    """Return {path: bytes} of all generated files."""
    stemmers = {f"stemmers/{name}": text.encode() for name, text in build_stemmers.built().items()}
    licences = {name: (ROOT / "ragfile/data" / name).read_bytes() for name in LICENCES}
    return stemmers | licences | {"ragfile.wasm.gz": build_wasm.packed()}


def is_fresh():
    """Return whether the module was made after its sources and tools last changed."""
    module = WEB / "ragfile.wasm.gz"
    sources = list((ROOT / "csrc").rglob("*.[ch]"))
    sources += [
        ROOT / "tools" / f"{name}.py" for name in ("pinned", "build_wasm", "build_stemmers")
    ]
    try:
        made = module.stat().st_mtime
        return all(
            path.stat().st_mtime < made for path in [*sources, *(WEB / name for name in LICENCES)]
        )
    except FileNotFoundError:
        return False


def write(path, data):
    """Replace a file in one step: a second build may be at work beside this one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.chmod(name, 0o644)
    os.replace(name, path)


def check():
    """Exit unless a build without caches gives the bytes that are in place."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
        expected = made()
    there = {str(p.relative_to(WEB)) for p in WEB.glob("stemmers/*")}
    there |= {"ragfile.wasm.gz", *LICENCES}
    wrong = [name for name, data in expected.items() if read(WEB / name) != data]
    wrong += sorted(there - expected.keys())
    if wrong:
        sys.exit(
            f"not what the sources make: {', '.join(wrong)}: delete ragfile.wasm.gz and stemmers/ "
            "in ragfile/doors/browser, and run tools/build_web.py"
        )


def read(path: Path):
    return path.read_bytes() if path.exists() else None


def main():
    if "--check" in sys.argv:
        check()
    elif not is_fresh():
        for name, data in made().items():  # the module comes last: it shows that all is there
            write(WEB / name, data)
    size = (WEB / "ragfile.wasm.gz").stat().st_size
    stemmers = len(list(WEB.glob("stemmers/*.js"))) - 1  # without their index
    print(f"ragfile/doors/browser: ragfile.wasm.gz ({size:,} bytes) and {stemmers} stemmers")


if __name__ == "__main__":
    main()
