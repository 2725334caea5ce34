"""Exit unless a wheel has the generated files and all licences, is small, and has no test vectors: FILE.whl …"""

import sys
import zipfile

LARGEST = 7_500_000  # bytes; a core with a sanitizer or symbols takes two million more
WEB = "ragfile/doors/browser/"
FILES = (
    "ragfile.wasm.gz",
    "zstd.LICENSE",
    "unicode.LICENSE",
    "stemmers/LICENSE",
    "stemmers/english.js",
)
LICENCES = (
    "LICENSE",
    *(f"ragfile/data/{name}.LICENSE" for name in ("zstd", "potion-base-8M", "unicode")),
)


def check(path):
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        size = sum(entry.compress_size for entry in wheel.infolist())
    if missing := [name for name in FILES if WEB + name not in names]:
        sys.exit(f"{path} lacks {', '.join(missing)}: run tools/build_web.py before the build")
    licences = {name.partition(".dist-info/licenses/")[2] for name in names}
    if missing := [name for name in LICENCES if name not in licences]:
        sys.exit(f"{path} lacks the licences {', '.join(missing)}: see license-files")
    if vectors := [name for name in names if "/vectors/" in name]:
        sys.exit(f"{path} contains {len(vectors)} test vectors")
    if size > LARGEST:
        sys.exit(f"{path} has {size:,} bytes: more than {LARGEST:,}")
    print(f"{path}: {len(names)} files, {size:,} bytes")


for wheel in sys.argv[1:]:
    check(wheel)
