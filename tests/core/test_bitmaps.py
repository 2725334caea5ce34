"""The bitmaps of rag.tombs and rag.gone, and the row sets made of them, are numpy's bits."""

import numpy as np
import pytest

from ragfile import _core
from ragfile.errors import CorruptError


def section(data):
    return _core.Section.over(bytes(data), "rag.tombs")


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 63, 64, 65, 1000])
def test_a_bitmap_is_what_numpy_packs(count):
    flags = np.random.default_rng(count).random(count) < 0.4
    packed = np.packbits(flags, bitorder="little").tobytes()
    assert bytes(_core.bitmap(flags)) == packed
    words = bytes(_core.bitmap(flags, in_words=True))
    assert (words, len(words)) == (packed.ljust(len(words), b"\0"), (count + 63) // 64 * 8)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_the_rest_of_a_bitmap_is_the_rows_that_it_does_not_name(count):
    flags = np.random.default_rng(count).random(count) < 0.4
    rest = _core.rows_outside(section(_core.bitmap(flags, in_words=True)), count)
    assert np.array_equal(_core.flags_of(rest, count), ~flags)
    assert sum(int(word).bit_count() for word in rest) == count - flags.sum()


def test_a_bitmap_that_ends_early_is_refused():
    with pytest.raises(CorruptError, match="too small for 65 rows"):
        _core.rows_outside(section(bytes(8)), 65)


def test_an_item_past_the_end_of_a_bitmap_is_not_in_it():
    bits = section(b"\x81")
    assert [i for i in range(20) if _core.bitmap_has(bits, i)] == [0, 7]


def test_the_numbers_of_an_id_lie_after_the_count():
    assert [_core.id_offsets(i) for i in (0, 1, 5)] == [(8, 16), (16, 16), (48, 16)]
