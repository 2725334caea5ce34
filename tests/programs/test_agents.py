"""Agents of five packages search a file by MCP and ask a collection, each by its own loop.

AGENT_PACKAGES names a folder with an environment for each package, which
`make -C tests programs-agents` creates. The model behind the agents is scripted, on a loopback port.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from programs.conftest import SAID
from servers import tool_callers

PLACE = os.environ.get("AGENT_PACKAGES", "")
PACKAGES = ("agno", "crewai", "dspy", "pydantic_ai", "smolagents")
QUIET = {
    "AGNO_TELEMETRY": "false", "CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true", "DO_NOT_TRACK": "1", "NO_PROXY": "*",
}  # fmt: skip


@pytest.mark.skipif(not PLACE, reason="AGENT_PACKAGES does not name a folder with the packages")
@pytest.mark.parametrize("package", PACKAGES)
def test_an_agent_finds_by_tool_what_only_the_file_says(answering, built, tmp_path, package):
    program = Path(__file__).with_name("agents") / f"{package}_agent.py"
    python = Path(PLACE).resolve() / package / "bin" / "python"
    with tool_callers.Server() as model:
        command = [python, program, model.url, answering.url, tool_callers.QUESTION]
        command += [sys.executable, built]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path,
            env={**os.environ, **QUIET, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        assert model.rounds >= 2
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith('{"')))
    assert tool_callers.FOUND in told["by_tool"], told
    assert told["by_collection"] == "".join(SAID)
