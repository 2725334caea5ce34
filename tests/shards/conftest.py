"""What the tests of datasets share: the same sources as one file. Each module says what its sources are."""

import pytest

import ragfile


@pytest.fixture(scope="module")
def one(sources, tmp_path_factory):
    path = tmp_path_factory.mktemp("one") / "kb.ragfile"
    ragfile.build(sources, path)
    with ragfile.open(path) as rf:
        yield rf
