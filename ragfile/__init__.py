"""ragfile: one file that holds everything retrieval needs, opened by memory map, searched exactly."""

from ragfile.blocks import chunk, compress, fuse, rerank
from ragfile.building import BuildReport, build
from ragfile.converting import convert
from ragfile.editing import compact, edit
from ragfile.errors import (
    CorruptError,
    FormatError,
    LockedError,
    ModelError,
    ProviderError,
    RagfileError,
    VersionError,
)
from ragfile.opening import open, verify
from ragfile.pairs import PairFile, write_pairs
from ragfile.records import Chunk, Document
from ragfile.writing import create

__version__ = "0.1.0.dev0"

__all__ = [
    "BuildReport",
    "Chunk",
    "CorruptError",
    "Document",
    "FormatError",
    "LockedError",
    "ModelError",
    "PairFile",
    "ProviderError",
    "RagfileError",
    "VersionError",
    "build",
    "chunk",
    "compact",
    "compress",
    "convert",
    "create",
    "edit",
    "fuse",
    "open",
    "rerank",
    "verify",
    "write_pairs",
]
