"""Tests of the npm package need its generated files, but for those of NEED_NOTHING."""

import pytest

NEED_NOTHING = ("test_joining", "test_absent")


@pytest.fixture(autouse=True, scope="module")
def _built(request):
    if request.module.__name__.rpartition(".")[2] not in NEED_NOTHING:
        request.getfixturevalue("web_files")
