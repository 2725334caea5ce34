"""Compressed blocks: the frames that libzstd 1.5.7 writes, and what a reader refuses.

The oracle is the package `zstandard`, of the release that the core's libzstd comes from.
"""

import contextlib
import random
import resource
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from oracles.streams import blocks_of, stream_of
from places import ROOT

from ragfile import _core
from ragfile.errors import CorruptError

KIB = 1 << 10
WORDS = (ROOT / "spec/parts/container.md").read_bytes()


def written(raw, block, level):
    out = bytearray()
    builder = _core.StreamBuilder(out.extend, block, level)
    builder.write(raw)
    builder.finish()
    return bytes(out)


def opened(section):
    return _core.Stream(_core.Section.over(section, "rag.text"))


def read(frame, raw_size):
    """The content of one frame, as the only block of a stream."""
    return opened(stream_of([(frame, True)], raw_size, max(raw_size, 1))).read(0, raw_size)


def some_raw(rng, size):
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(size)
    if kind == 1:
        return bytes([rng.randrange(256)]) * size
    start = rng.randrange(len(WORDS))
    raw = (WORDS[start:] + WORDS * (size // len(WORDS) + 1))[:size]
    return raw if kind == 2 else rng.randbytes(size // 3) + raw[size // 3 :]


SIZES = [1, 2, 100, 4 * KIB, 16 * KIB, 16 * KIB + 1, 64 * KIB, 128 * KIB, 256 * KIB + 1, 1 << 20]


@pytest.mark.skipif(
    zstandard.ZSTD_VERSION != (1, 5, 7), reason="another libzstd writes other frames"
)
@pytest.mark.parametrize("level", [3, 9])
@pytest.mark.parametrize("size", SIZES)
def test_frames_are_those_of_zstandard(size, level):
    rng = random.Random(size)
    for _ in range(8 if size < 1 << 18 else 3):
        raw = some_raw(rng, size)
        frame = zstandard.ZstdCompressor(level=level).compress(raw)
        expected = [(frame, True)] if len(frame) < len(raw) else [(raw, False)]
        assert blocks_of(written(raw, size, level)) == (expected, size)


@pytest.mark.skipif(
    zstandard.ZSTD_VERSION != (1, 5, 7), reason="another libzstd writes other frames"
)
def test_one_builder_writes_many_blocks_as_many_compressors_would():
    raw = some_raw(random.Random(1), 300 * KIB) + WORDS
    pieces = [raw[at : at + 4 * KIB] for at in range(0, len(raw), 4 * KIB)]
    frames = [zstandard.ZstdCompressor(level=3).compress(piece) for piece in pieces]
    expected = [
        (f, True) if len(f) < len(p) else (p, False) for f, p in zip(frames, pieces, strict=True)
    ]
    assert blocks_of(written(raw, 4 * KIB, 3))[0] == expected


@given(st.binary(max_size=5000), st.integers(1, 6000), st.sampled_from([3, 9]))
def test_what_was_written_is_read(raw, block, level):
    stream = opened(written(raw, block, level))
    assert stream.read(0, len(raw)) == raw


@pytest.mark.parametrize("options", [{}, {"write_checksum": True}, {"level": 1}, {"level": 19}])
def test_frames_of_other_writers_are_read(options):
    raw = WORDS[: 60 * KIB]
    assert read(zstandard.ZstdCompressor(**options).compress(raw), len(raw)) == raw


@pytest.mark.parametrize("level", [-1, 0, 1, 4, 22])
def test_a_builder_has_two_levels(level):
    with pytest.raises(ValueError, match="a level other than 3 and 9"):
        _core.StreamBuilder(bytearray().extend, 4096, level)


RAW = WORDS[:4000]
FRAME = zstandard.ZstdCompressor(level=3).compress(RAW)
SKIPPABLE = b"\x50\x2a\x4d\x18\4\0\0\0abcd"
DICTIONARY = zstandard.ZstdCompressionDict(
    WORDS[5000:9000], dict_type=zstandard.DICT_TYPE_RAWCONTENT
)
HOSTILE = {
    "a head alone": (FRAME[:5], "does not state its size"),
    "not a frame": (b"x" * len(FRAME), "does not state its size"),
    "without a size": (
        zstandard.ZstdCompressor(write_content_size=False).compress(RAW),
        "does not state its size",
    ),
    "of another size": (zstandard.ZstdCompressor().compress(RAW + b"x"), "states a wrong one"),
    "cut short": (FRAME[:-1], "not exactly one frame"),
    "followed by a byte": (FRAME + b"\0", "not exactly one frame"),
    "followed by a frame": (FRAME + FRAME, "not exactly one frame"),
    "followed by an empty frame": (FRAME + SKIPPABLE, "not exactly one frame"),
    "after an empty frame": (SKIPPABLE + FRAME, "does not state its size"),
    "with a dictionary": (
        zstandard.ZstdCompressor(dict_data=DICTIONARY).compress(RAW[:20] + WORDS[5000:8980]),
        "does not decompress",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_block_that_is_not_one_whole_frame_is_refused(name):
    frame, expected = HOSTILE[name]
    with pytest.raises(CorruptError, match=expected):
        read(frame, len(RAW))


def test_a_refusal_names_the_place():
    section = stream_of([(FRAME, True), (FRAME[:-1], True)], 2 * len(RAW), len(RAW))
    stream = opened(section)
    assert stream.read(0, len(RAW)) == RAW
    with pytest.raises(CorruptError) as refused:
        stream.read(len(RAW), 10)
    assert refused.value.at == len(FRAME)


def test_a_wrong_checksum_is_refused():
    frame = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(RAW))
    frame[-1] ^= 1
    with pytest.raises(CorruptError, match="does not decompress"):
        read(bytes(frame), len(RAW))


def test_every_changed_byte_is_refused_or_gives_a_block_of_the_same_size():
    rng = random.Random(3)
    for _ in range(3000):
        frame = bytearray(FRAME)
        for _ in range(rng.choice([1, 1, 2, 5])):
            frame[rng.randrange(len(frame))] = rng.randrange(256)
        with contextlib.suppress(CorruptError):
            assert len(read(bytes(frame), len(RAW))) == len(RAW)
        assert read(FRAME, len(RAW)) == RAW  # the context is as good as new


@pytest.mark.skipif(sys.platform != "linux", reason="kilobytes there, bytes elsewhere")
def test_a_window_of_two_gigabytes_asks_for_no_memory():
    """A frame of its own window (31 is the largest exponent), of one raw block."""
    window, raw = (31 - 10) << 3, RAW[:2000]
    head = bytes.fromhex("28b52ffd") + bytes([0b01000000, window]) + struct.pack("<H", 2000 - 256)
    frame = head + (1 | len(raw) << 3).to_bytes(3, "little") + raw
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read(frame, len(raw)) == raw
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * KIB


def test_threads_read_and_write_beside_each_other():
    """More threads than contexts that are kept idle."""
    raws = [some_raw(random.Random(i), 30 * KIB) for i in range(24)]
    expected = [written(raw, 4 * KIB, 3) for raw in raws]
    barrier = threading.Barrier(24)

    def work(i):
        barrier.wait()
        for turn in range(12):
            at = (i + turn) % len(raws)
            assert written(raws[at], 4 * KIB, 3) == expected[at]
            assert opened(expected[at]).read(0, len(raws[at])) == raws[at]

    with ThreadPoolExecutor(24) as pool:
        list(pool.map(work, range(24)))
