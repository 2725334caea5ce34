"""One way to open, whatever the content is."""

import os
import tempfile

from . import _core
from .agreement import disagreements
from .archive import Archive
from .errors import FormatError
from .pairs import PairFile
from .searching import KnowledgeBase


def open(path, *, embedder=None, dim=None, dialect="auto", generation=0, strict=False, embedding_cache=None):
    """Opens a knowledge base for reading. The content decides what it is, not the suffix.

    embedder is a name or an object that turns questions into vectors; without it the model that the file records is used.
    embedding_cache is a folder that keeps the vectors of questions (ragfile.embedding_cache). generation opens an older commit of
    a 1.0 file; strict refuses one whose newest commit is damaged. dim and dialect are for
    0.1.0 files: the dimension of vectors that do not state it, and "strict", "reference" (files by the reference script) or
    "auto" (strict, else reference with a warning).
    """
    head = bytes(memoryview(_core.Map(path))[:11])  # which does not wait for a pipe
    if head[:7] == b"RAGFILE" and head[7:8] == b"\0":
        return PairFile(path, dim=dim, dialect=dialect)
    if head[:7] == b"RAGFILE" or not _looks_like_text(head):
        return KnowledgeBase(
            path, embedder=embedder, generation=generation, strict=strict, embedding_cache=embedding_cache
        )
    return TextKnowledgeBase(path, embedder=embedder, embedding_cache=embedding_cache)


def _looks_like_text(head):
    return head.removeprefix(b"\xef\xbb\xbf")[:3] == b"---"


class TextKnowledgeBase(KnowledgeBase):
    """A .ragmd file opened for asking: its vectors and a BM25 index made of its texts are held in memory."""

    def _mapped(self):
        """The same collection as a .ragfile without a name, which goes with its last reader."""
        from .adapters import knowledge_base
        from .ragmd import load

        with tempfile.TemporaryDirectory(prefix="ragfile-") as folder:
            path = os.path.join(folder, "kb")
            knowledge_base.write(load(self.path), path)
            return _core.Map(path)

    @property
    def info(self):
        return super().info | {"format": "ragmd", "size": os.path.getsize(self.path)}

    @property
    def strategies(self):
        return ["vector", "bm25"]


def verify(path, *, full=True):
    """Checks every byte of a file, and that its sections agree with one another.

    Returns a list of faults (kind, offset, what, section), empty when all is well, and counts.
    """
    mapped = _core.Map(path)
    if _looks_like_text(bytes(memoryview(mapped)[:8])):
        from .ragmd import load

        load(path)
        return [], {"sections": 1, "blocks": 0, "commits": 1, "abandoned": 0, "faults": 0}
    if mapped.header()[0] == 0:
        return _verify_pairs(PairFile.over(mapped, dialect="strict"))
    faults, counts = _core.Reader(mapped).verify(full)
    if not faults:
        faults = _disagreements(path)
        counts["faults"] = len(faults)
    return faults, counts


def _disagreements(path):
    try:
        with Archive(path) as archive:
            return disagreements(archive)
    except FormatError as error:
        return [(type(error).__name__, error.at or 0, str(error), error.section or "")]


def _verify_pairs(file):
    """A 0.1.0 file has few checksums: every pair is walked."""
    faults, counts = [], {"sections": len(file.strategies), "blocks": 0, "commits": 0, "abandoned": 0, "faults": 0}
    for name in [name for name in ("keyword", "vector") if name in file.strategies]:
        try:
            counts["blocks"] += file.verify(name)
        except FormatError as error:
            faults.append((type(error).__name__, error.at, str(error), name))
    counts["faults"] = len(faults)
    return faults, counts
