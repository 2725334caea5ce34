"""How much the suite tries: a part of it in `make test`, all of it in `make -C tests thorough`.

Property tests draw other examples in each run, so that the parts add up.
"""

import os

import pytest

FULL = bool(os.environ.get("RAGFILE_THOROUGH"))


def examples(most):
    """Return the number of examples that a property test tries: all, or a fifth and at least ten."""
    return most if FULL else max(10, most // 5)


def few(values, step):
    """Return parameters of which each step-th runs in `make test`; `make -C tests stress` runs the others."""
    return [
        pytest.param(value, marks=[] if place % step == 0 else pytest.mark.stress)
        for place, value in enumerate(values)
    ]
