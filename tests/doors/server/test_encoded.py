"""JSON of responses: the bytes of json.dumps, with null for numbers that JSON lacks."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="the extra server is not installed")

from ragfile.doors.server.request import encoded

LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(codec=None)),
    st.text("\x00\x1f \"\\/\x7f\x80é日😀\n\r\t\b\f", max_size=9),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner), st.tuples(inner, inner), st.dictionaries(st.text(), inner)
    ),
    max_leaves=20,
)


def finite(value):
    """The value with null for NaN and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, list | tuple) else value


@given(VALUES)
def test_bytes_are_those_of_json_dumps(value):
    assert encoded(value) == json.dumps(finite(value), separators=(",", ":")).encode()


def test_every_character_is_escaped_as_json_dumps_does():
    text = "".join(map(chr, [*range(0x3000), *range(0xD7F0, 0xE010), 0xFFFF, 0x10000, 0x10FFFF]))
    assert encoded(text) == json.dumps(text).encode()


def test_values_of_other_types_are_those_of_json_dumps():
    class Name(str):
        pass

    value = {"a": Name("é"), 1: [np.float64(0.5)], "deep": []}
    for _ in range(400):
        value = [value]
    assert encoded(value) == json.dumps(value, separators=(",", ":")).encode()


def test_values_that_json_lacks_are_refused():
    with pytest.raises(TypeError):
        encoded({"a": {1, 2}})
    circle = []
    circle.append(circle)
    with pytest.raises((ValueError, RecursionError)):
        encoded(circle)
