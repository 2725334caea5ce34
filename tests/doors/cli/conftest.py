"""What the tests of the command line share: running it, and a small file."""

import logging
import os
from unittest import mock

import pytest

import ragfile
from ragfile.doors.cli.main import main


@pytest.fixture(autouse=True)
def log_as_before():
    """Undo what `ragfile serve` sets up in the process of the tests."""
    loggers = [
        logging.getLogger(name)
        for name in ("ragfile.serve", "ragfile.mcp", "uvicorn", "py.warnings")
    ]
    before = [(logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    yield
    logging.captureWarnings(False)
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.fixture
def run(capsys):
    """Runs a command: (exit code, stdout, stderr). What it leaves in the environment ends with the test."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    with mock.patch.dict(os.environ):
        yield call


@pytest.fixture
def kb(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "keys.md").write_text("# Keys\n\nRotate the keys every ninety days.")
    (folder / "pods.md").write_text("# Pods\n\nRestart a pod with a rollout.")
    ragfile.build(folder, tmp_path / "kb.ragfile")
    return tmp_path / "kb.ragfile"
