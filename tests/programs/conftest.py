"""What these tests share: the files and servers of the doors' tests, and other programs' folders."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doors.server.conftest import _extra, _no_keys, built, path, root, serving, writable  # noqa: F401
from servers.chat_servers import Server as ChatServer

SAID = [
    "Rotate the keys every 90 days ", "[1]. Backups are taken ", "every night [3]. ",
    "Pods restart [2].",
]  # fmt: skip


@pytest.fixture
def answering(serving, path):  # noqa: F811
    """A server with a chat model that cites three passages."""
    with ChatServer(SAID) as chat:
        yield serving(path, model=chat.model())


@pytest.fixture
def run_node():
    """A function that runs a program beside this file with the packages of a folder."""

    def run(folder, program, *arguments):
        place = os.environ.get(folder)
        if not place or not shutil.which("node"):
            pytest.skip(f"{folder} does not name a folder with packages, or node is missing")
        command = ["node", str(Path(__file__).with_name(program)), place, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
