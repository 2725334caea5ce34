"""The AI SDK of the npm registry, unmodified, as a client.

AI_SDK names a folder where `npm i ai @ai-sdk/openai @ai-sdk/openai-compatible` was run.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from servers.chat_servers import Server as ChatServer

import ragfile

FOLDER = os.environ.get("AI_SDK")
SAID = ["Rotate the keys every 90 days ", "[1]. Backups are taken ", "every night [3]."]


@pytest.mark.skipif(not FOLDER, reason="AI_SDK does not name a folder with the AI SDK")
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_the_ai_sdk_reads_answers_sources_and_vectors(serving, path):
    with ChatServer(SAID) as chat:
        server = serving(path, model=chat.model())
        program = [shutil.which("node"), str(Path(__file__).with_name("ai_sdk.mjs"))]
        done = subprocess.run(
            [*program, FOLDER, server.url + "/v1"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["whole"] == said["streamed"] == said["plain"] == "".join(SAID)
    for sources in (said["sources"], said["streamedSources"]):
        assert len({source["url"] for source in sources}) == 3
        assert all(source["url"].startswith(server.url) for source in sources)
    with ragfile.open(path) as rf:
        expected = rf.embedder.embed(["keys", "pods"], "document")
    assert np.allclose(said["embeddings"], expected)
