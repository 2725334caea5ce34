"""Search for a text in all that a file can hold: raw bytes, every compressed frame, every generation."""

import contextlib

import zstandard

from ragfile import _core
from ragfile.file import config
from ragfile.file.row_segment import RowSegment

MAGIC = b"\x28\xb5\x2f\xfd"


def places_of(path, text):
    """Return where a rare word is in a file, as short names."""
    raw, needle = path.read_bytes(), text.encode()
    found = ["raw bytes"] if needle in raw else []
    found += [f"frame at {at}" for at, data in _frames(raw) if needle in data]
    return [*found, *_in_generations(path, text)]


def _frames(raw):
    """Yield every compressed frame, also those that no table of contents lists."""
    at = raw.find(MAGIC)
    while at >= 0:
        with contextlib.suppress(zstandard.ZstdError):
            yield at, zstandard.ZstdDecompressor().decompressobj().decompress(raw[at:])
        at = raw.find(MAGIC, at + 1)


def _in_generations(path, text):
    mapped = _core.Map(path)
    last = _core.Reader(mapped).commit["generation"]
    first = config.first_generation(_core.Reader(mapped), path)
    for generation in range(1, last + 1):
        reader = _core.Reader(mapped, generation)
        for record in reader.segments:
            segment = RowSegment(reader, record, 0)
            if any(text in _whole(segment, row) for row in range(segment.rows)):
                yield f"segment {record.number} of generation {first + generation - 1}"
            if text.lower() in segment.lexicon.vocabulary():
                yield f"terms of segment {record.number}"


def _whole(segment, row):
    return str(segment.whole(row))
