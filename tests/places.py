"""Where things lie, for tests in any folder."""

import runpy
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
ZSTD = runpy.run_path(str(ROOT / "tools/pinned.py"))["ZSTD"]  # libzstd's sources, after a build
