"""Writes the seed corpus of the fuzz target for compressed blocks: frames of every kind of block.

python csrc/tests/fuzz/frame_seeds.py csrc/tests/fuzz/corpus_frames
"""

import random
import sys
from pathlib import Path

import zstandard

TEXT = b"Seeds of frames: literals, sequences, repeats and repeats of repeats, in one text. " * 3
WORDS = b" ".join(random.Random(1).choices(TEXT.split(), k=900))
SEEDS = {
    "raw": (random.Random(2).randbytes(300), {}),
    "run": (b"a" * 5000, {}),
    "text": (TEXT, {}),
    "words": (WORDS, {}),
    "checksum": (TEXT, {"write_checksum": True}),
    "no-size": (TEXT, {"write_content_size": False}),
    "level-9": (WORDS, {"level": 9}),
    "level-22": (WORDS, {"level": 22}),
    "many-blocks": (b"".join(bytes([i]) * 20000 for i in range(8)), {}),
}


def main(folder):
    for name, (raw, options) in SEEDS.items():
        frame = zstandard.ZstdCompressor(**options).compress(raw)
        (Path(folder) / f"seed-{name}").write_bytes(frame)


if __name__ == "__main__":
    main(sys.argv[1])
