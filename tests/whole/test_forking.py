"""A process can fork while its threads ask: `make -C tests forks` does it a thousand times."""

import os

import pytest
from checks import forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_children_forked_beside_threads_that_ask_answer_as_their_parent():
    assert forks.run(100) == []
