"""Measure how long an MCP client waits: from the start to the handshake and to the first answer.

python bench/mcp_startup.py kb.ragfile "a question" [runs]
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

HELLO = {
    "protocolVersion": "2025-11-25", "capabilities": {},
    "clientInfo": {"name": "bench", "version": "0"},
}  # fmt: skip


def run(path, question):
    """Return (CPU s, wall s to the handshake, wall s to the first answer, resident MB)."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "ragfile", "mcp", path]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as server:

        def ask(method, params):
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())["result"]

        ask("initialize", HELLO)
        shaken = time.perf_counter() - began
        found = ask("tools/call", {"name": "search", "arguments": {"query": question}})
        answered = time.perf_counter() - began
        assert found["content"][0]["text"].startswith("[1] "), "nothing found"
        lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
        resident = next(line for line in lines if line.startswith("VmRSS"))
        server.stdin.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, shaken, answered, int(resident.split()[1]) // 1024


def main():
    path, question, runs = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["5"])[0])
    cpu, shaken, answered, resident = min(run(path, question) for _ in range(runs))
    print(f"best of {runs}: {cpu:.2f} s CPU, handshake after {shaken:.2f} s, first answer after "
          f"{answered:.2f} s, {resident} MB resident")  # fmt: skip


if __name__ == "__main__":
    main()
