"""Files that several tests of this folder ask: the same rows at once, and in four segments after deletions."""

import numpy as np
import pytest
from oracles import search_cases as oracle
from oracles.search_cases import DIM, Hashed, pieced

import ragfile


@pytest.fixture(scope="session", params=[1, 4])
def asked_file(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("asked") / "kb.ragfile"
    pieced(path, oracle.corpus(np.random.default_rng(request.param), 300, DIM), request.param)
    with ragfile.open(path, embedder=Hashed()) as rf:
        yield rf
