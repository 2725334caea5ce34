"""Attack a server over loopback and report what each attack cost it: peak memory, CPU time, answers.

    python tests/checks/attacks.py [NAME …]

Each attack has a fresh server process. The bounds are asserted; the figures are printed.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ragfile

MIB = 1 << 20
WORD = "kube"
SEARCH = "/v1/collections/kb/search"


class Attacked:
    """A server process, and its costs since it started to listen."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "ragfile", "serve", str(folder / "kb.ragfile")]
        self._process = subprocess.Popen(
            [*command, "--port", "0", "--log", "error", *options], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(re.findall(r":(\d+)$", self._process.stdout.readline())[0])
        self.health()
        self._memory, self._seconds = self._peak(), self._spent()

    def __enter__(self) -> Attacked:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def _peak(self) -> float:
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", text)[0]) / 1024

    def _spent(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def costs(self) -> tuple[float, float]:
        """Return the growth of peak memory in MB, and CPU seconds."""
        return self._peak() - self._memory, self._spent() - self._seconds

    def connection(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def ask(self, method: str, path: str, body: object = None, key: str = "") -> tuple[int, float]:
        """Return the status of a request, and its seconds."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=200)
        headers = {"Content-Type": "application/json"} | ({"Authorization": key} if key else {})
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        status = connection.getresponse()
        status.read()
        connection.close()
        return status.status, time.monotonic() - began

    def health(self) -> float:
        return self.ask("GET", "/v1/health")[1]


def _sent(server: Attacked, pieces: object) -> bytes:
    """Send pieces until the server closes; return its answer."""
    with server.connection() as one:
        try:
            for piece in pieces:
                one.sendall(piece)
        except OSError:
            pass
        try:
            return one.recv(100)
        except OSError:
            return b"(closed)"


def headers(server: Attacked) -> str:
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    line = b"".join(b"X-%d: %s\r\n" % (i, b"v" * 50) for i in range(1000))
    return _sent(server, [head, *[line] * (88 * MIB // len(line))])[:12].decode()


def value(server: Attacked) -> str:
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: "
    return _sent(server, [head, *[b"v" * 65536] * (88 * MIB // 65536)])[:12].decode()


def pipelined(server: Attacked) -> str:
    return _sent(server, [b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20_000] * 4)[
        :12
    ].decode()


def signs(server: Attacked) -> str:
    phrases = " ".join(f'"{WORD} pod{i % 50} w{i}"' for i in range(20_000))
    status, seconds = server.ask("POST", SEARCH, {"query": phrases, "query_syntax": True})
    return f"{status} in {seconds:.1f} s"


def minus(server: Attacked) -> str:
    words = " ".join(f"-w{i}" for i in range(100_000))
    status, seconds = server.ask("POST", SEARCH, {"query": f"pods {words}", "query_syntax": True})
    return f"{status} in {seconds:.1f} s"


def readers(server: Attacked) -> str:
    found: list[tuple[int, float]] = []
    path = "/v1/collections/kb/documents/large.md"
    ask = lambda: found.append(server.ask("GET", path))  # noqa: E731
    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return " ".join(str(status) for status, _ in found)


def slow_bodies(server: Attacked) -> str:
    """400 bodies of one key that never end; another key asks."""
    slow = [server.connection() for _ in range(400)]
    for one in slow:
        one.sendall(
            b"POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: 9\r\n"
            b"Content-Type: application/json\r\n\r\n{" % (SEARCH.encode(), KEYS[0].encode())
        )
    time.sleep(1)
    status, seconds = server.ask("POST", SEARCH, {"query": "pods"}, f"Bearer {KEYS[1]}")
    for one in slow:
        one.close()
    return f"another key: {status} in {seconds:.1f} s"


KEYS: list[str] = []
# The growth of memory in MB and the CPU seconds that each attack may cost.
ATTACKS = {
    headers: (20, 1.0), value: (20, 1.0), pipelined: (40, 3.0), signs: (40, 1.0),
    minus: (40, 1.0), readers: (600, 30.0), slow_bodies: (40, 3.0),
}  # fmt: skip


def _built(folder: Path) -> None:
    """Build a file of 2,000 small documents and one of 60 MB."""
    texts = (" ".join(f"pod{i % 50} {WORD} w{i} w{j}" for j in range(40)) for i in range(2000))
    documents = [{"id": f"{i}.md", "text": text} for i, text in enumerate(texts)]
    large = {
        "id": "large.md",
        "text": "A line of the large document about pods.\n\n" * (60 * MIB // 42),
    }
    ragfile.build([*documents, large], folder / "kb.ragfile", embedder="none")


def main(names: list[str]) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _built(folder)
        for attack, (memory, seconds) in ATTACKS.items():
            if not names or attack.__name__ in names:
                options: list[str] = []
                if attack is slow_bodies:
                    from ragfile.doors.server.keys import KeyFile

                    keys = KeyFile(str(folder / "keys.json"))
                    KEYS[:] = [keys.add("one", "read"), keys.add("other", "read")]
                    options = ["--keys", keys.path]
                with Attacked(folder, *options) as server:
                    outcome = attack(server)
                    used, spent = server.costs()
                    health = server.health()
                is_bound = used <= memory and spent <= seconds
                failed += not is_bound
                mark = "" if is_bound else f"  over {memory} MB or {seconds} s"
                print(
                    f"{attack.__name__:12} +{used:7.1f} MB {spent:6.2f} CPU s "
                    f"health {health:.2f} s  {outcome}{mark}", flush=True,
                )  # fmt: skip
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
