"""The npm package in node, asked from here: a process that answers lines."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ASK = Path(__file__).parent / "ask.mjs"
MODEL = Path(__file__).parents[3] / "ragfile/data/potion-base-8M.ragmodel"


def node():
    """node's path; the test is skipped where there is none that is new enough."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    version = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=True
    ).stdout
    if int(version.lstrip("v").split(".")[0]) < 20:
        pytest.skip(f"node {version.strip()} is older than 20")
    return found


class Reader:
    """A file, opened in node."""

    def __init__(self, place, **options):
        place = Path(place).absolute().as_uri() if "://" not in str(place) else str(place)
        options = {"model": MODEL.as_uri()} | options
        self.process = subprocess.Popen(
            [node(), ASK, place, json.dumps(options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def answer(self, *call):
        """The whole answer to a call: result, or error, message and section."""
        self.process.stdin.write(json.dumps(call) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def __call__(self, *call):
        answer = self.answer(*call)
        assert "error" not in answer, answer["stack"]
        return answer["result"]
