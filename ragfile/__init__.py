"""ragfile: one file that holds everything retrieval needs, opened by memory map, searched exactly."""

from ragfile.errors import (
    CorruptError,
    FormatError,
    LockedError,
    ModelError,
    ProviderError,
    RagfileError,
    VersionError,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "CorruptError",
    "FormatError",
    "LockedError",
    "ModelError",
    "ProviderError",
    "RagfileError",
    "VersionError",
]
