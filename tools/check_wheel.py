"""Exit unless a wheel contains the generated files and leaves out the tests' vectors: FILE.whl …"""

import sys
import zipfile

WEB = "ragfile/doors/browser/"
REQUIRED = [WEB + name for name in ("ragfile.wasm.gz", "stemmers/LICENSE", "stemmers/english.js")]


def check(path):
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        size = sum(entry.compress_size for entry in wheel.infolist())
    if missing := [name for name in REQUIRED if name not in names]:
        sys.exit(f"{path} lacks {', '.join(missing)}: run tools/build_web.py before the build")
    if vectors := [name for name in names if "/vectors/" in name]:
        sys.exit(f"{path} contains {len(vectors)} test vectors")
    print(f"{path}: {len(names)} files, {size:,} bytes")


for wheel in sys.argv[1:]:
    check(wheel)
