"""What the tests of MCP share: a file, and a server over it."""

import pytest
from servers.built_files import build_pages

from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.protocol import MODERN, Server
from ragfile.doors.mcp.tools import Tools

PAGES = {
    "keys.md": "# Guide\n\n## Keys\n\nRotate the keys every 90 days with the job.\n\n## More\n\n"
    + "".join(f"Line {i} of the page about keys.\n" for i in range(60)),
    "pods.md": "# Pods\n\nRestart a pod by deleting it.\n",
    "sub/night.md": "# Backups\n\nBackups are taken every night.\n",
}


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return build_pages(tmp_path_factory.mktemp("mcp"), PAGES)


@pytest.fixture
def path(built, tmp_path):
    copy = tmp_path / "kb.ragfile"
    copy.write_bytes(built.read_bytes())
    return copy


@pytest.fixture
def server(path):
    return Server(Tools(Files([str(path)])))


class Client:
    """Asks a server as a client of either era would."""

    def __init__(self, server, is_modern=False):
        self.server, self.is_modern = server, is_modern

    def __call__(self, method, params=None):
        params = dict(params or {})
        if self.is_modern:
            params["_meta"] = modern_meta()
        request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        response = self.server.handle(request)
        assert (response["jsonrpc"], response["id"]) == ("2.0", 7)
        return response

    def tool(self, name, **arguments):
        return self("tools/call", {"name": name, "arguments": arguments})["result"]


def modern_meta(version=MODERN):
    prefix = "io.modelcontextprotocol/"
    return {prefix + "protocolVersion": version, prefix + "clientCapabilities": {}}


@pytest.fixture(params=[False, True], ids=["handshake", "2026"])
def client(server, request):
    return Client(server, request.param)
