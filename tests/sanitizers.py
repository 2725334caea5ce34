"""Whether this process runs under AddressSanitizer: see `make -C tests sanitize`."""

from pathlib import Path

MAPS = Path("/proc/self/maps")
SANITIZED = MAPS.exists() and "libasan" in MAPS.read_text()
