"""A process can fork while its threads ask: `make -C tests forks` does it a thousand times."""

import os

import pytest
from checks import first_use_forks, forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_children_forked_beside_threads_that_ask_answer_as_their_parent():
    assert forks.run(20) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_children_forked_during_a_first_call_make_the_same_call():
    assert first_use_forks.run(4) == []
