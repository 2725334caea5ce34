"""The core's base64 equals the standard library's, on every target, length and wrapping."""

import base64

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from targets import TARGETS, on

from ragfile import _core
from ragfile.errors import FormatError

SOURCE = np.random.default_rng(3).integers(0, 256, 1 << 20, dtype=np.uint8).tobytes()


def wrapped(data, head=0, row=0):
    out = bytearray()
    _core.base64_wrap(data, out.extend, head, row)
    return bytes(out)


def unwrapped(text):
    out = np.empty(len(text) // 4 * 3 + 3, np.uint8)
    return out[: _core.base64_unwrap(text, out)].tobytes()


@pytest.mark.parametrize("row", [0, 48, 49, 50, 192, 1024, 3072])
def test_every_length_goes_there_and_back(row):
    for size in [*range(300), 4095, 4096, 4097, 262_144, 1 << 20]:
        text = wrapped(SOURCE[:size], 45, row)
        assert base64.b64decode(text) == SOURCE[:size], size
        assert unwrapped(text) == SOURCE[:size], size


@pytest.mark.parametrize("columns", [4, 5, 60, 63, 64, 65, 76, 100, 10_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \n", b"\n\n"])
def test_any_wrapping_is_read(columns, end):
    text = base64.b64encode(SOURCE[:5000])
    lines = [text[at : at + columns] for at in range(0, len(text), columns)]
    assert unwrapped(end.join(lines) + end) == SOURCE[:5000]


@settings(deadline=None)
@given(st.binary(max_size=400), st.integers(0, 400), st.integers(48, 200))
def test_lines_begin_where_rows_begin(data, head, row):
    lines = wrapped(data, head, row).split(b"\n")[:-1]
    starts, at = set(), 0
    for line in lines:
        starts.add(at)
        at += len(line) // 4 * 3
    rows = {at // 3 * 3 for at in range(head, len(data), row)}
    assert rows - {0} <= starts
    assert base64.b64decode(b"".join(lines)) == data


@settings(deadline=None, max_examples=examples(300))
@given(st.binary(min_size=1, max_size=300), st.integers(0, 10_000), st.integers(0, 255))
def test_one_wrong_character_is_found_where_it_is(data, where, character):
    text = bytearray(wrapped(data))
    where %= len(text)
    text[where] = character
    packed = bytes(text).translate(None, b" \t\r\n")
    try:
        expected = base64.b64decode(packed, validate=True)
        canonical = base64.b64encode(expected) == packed
    except ValueError:
        canonical = False
    if canonical:
        assert unwrapped(text) == expected
    else:
        with pytest.raises(FormatError) as caught:
            unwrapped(text)
        assert caught.value.at >= where - 1 or chr(character) in "= \t\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "QQ",
        "QQ=",
        "QQ===",
        "QQ=Q",
        "=",
        "====",
        "QR==",
        "QUJ=",
        "QQ==QQ==",
        "QUJD-",
        "QUJD\x00",
        "é",
    ],
)
def test_what_is_not_base64_is_refused(text):
    with pytest.raises(FormatError):
        unwrapped(text.encode())


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_writes_and_reads_the_same(target):
    code = """
import hashlib, numpy as np
from ragfile import _core
data = (np.arange(70001, dtype=np.uint32) * 2654435761 >> 13).astype(np.uint8)
text = bytearray(); _core.base64_wrap(data, text.extend, 45, 1024)
out = np.empty(len(text), np.uint8); count = _core.base64_unwrap(text, out)
print(_core.target(), hashlib.sha256(text).hexdigest(), bool((out[:count] == data).all()))
for at in range(0, 200):
    broken = text[:]; broken[at] = 64
    try: _core.base64_unwrap(broken, out)
    except ValueError as error: print(error.at)
"""
    name, told = on(target, code).split(" ", 1)
    assert name == target
    assert told == on("baseline", code).split(" ", 1)[1]
    assert " True\n" in told
