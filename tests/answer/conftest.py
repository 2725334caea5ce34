"""The files that tests of searching ask, for tests of answers."""

from search.conftest import asked_file  # noqa: F401
