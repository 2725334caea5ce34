"""The checksum equals the xxhash library's on every length that takes another branch, and on every target."""

import numpy as np
import pytest
import xxhash
from targets import TARGETS, on

from ragfile import _core

SOURCE = np.random.default_rng(7).integers(0, 256, 1 << 18, dtype=np.uint8)


@pytest.mark.parametrize(
    "sizes", [range(0, 600), range(960, 1100), range(4000, 4200), [65535, 65536, 65537, 1 << 18]]
)
def test_hash_equals_the_xxhash_library(sizes):
    for size in sizes:
        data = SOURCE[:size]
        assert _core.hash64(data) == xxhash.xxh3_64_intdigest(data.tobytes()), size


@pytest.mark.parametrize("target", TARGETS)
def test_hash_is_the_same_on_every_target_of_this_machine(target):
    code = (
        "import numpy as np; from ragfile import _core;"
        "data = (np.arange(5000, dtype=np.uint32) * 2654435761 >> 13).astype(np.uint8);"
        "print(_core.target(), [_core.hash64(data[:n]) for n in (0, 3, 8, 16, 100, 200, 241, 1024, 5000)])"
    )
    name, hashes = on(target, code).split(" ", 1)
    assert name == target
    assert hashes == on("", code).split(" ", 1)[1]
