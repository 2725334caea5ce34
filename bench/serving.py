"""Measure HTTP beside a search, and how long clients wait.

    python bench/serving.py FILE [--questions FILE.txt]

Questions are the titles of the file's documents, uncached (cache: false), one by one and in batches,
over persistent connections. The server is `ragfile serve` in its own process. Its CPU time counts: searches per
second of one core, whatever else the machine does. Waiting times are by the wall clock, at a steady
half of that rate.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from itertools import cycle, islice
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
BATCH = 64


class Server:
    """A server process."""

    def __init__(self, *words):
        self.began = time.perf_counter()
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)  # fmt: skip
        line = self.process.stdout.readline()
        self.host, _, port = line.strip().rpartition("/")[2].rpartition(":")
        self.port = int(port)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait(40)

    def cpu(self):
        """Return the CPU seconds so far of the process and its loader."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(x.split()[1]) for x in file if x.startswith("VmRSS")) / 1024


class Client:
    """A persistent connection that reads no more of a response than it must."""

    def __init__(self, server, path):
        self.socket = socket.create_connection((server.host, server.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

    def ask(self, body):
        """Return the size of the answer."""
        return len(self.read(body))

    def send(self, body):
        data = json.dumps(body).encode()
        self.socket.sendall(f"{self.head}Content-Length: {len(data)}\r\n\r\n".encode() + data)

    def read(self, body):
        """Return the answer's body, whole or in chunks."""
        self.send(body)
        got = self.socket.recv(65536)
        while b"\r\n\r\n" not in got:
            got += self.socket.recv(65536)
        head, _, rest = got.partition(b"\r\n\r\n")
        assert head[9:10] == b"2", got[:500]
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        pieces, size = [rest], len(rest)
        while size < length:
            pieces.append(self.socket.recv(65536))
            size += len(pieces[-1])
        return b"".join(pieces)


def questions_of(path, given):
    if given:
        with open(given) as file:
            return [line.strip() for line in file if line.strip()]
    import ragfile

    with ragfile.open(path) as rf:
        found = [str(d.metadata.get("title") or d.id) for d in islice(rf.documents(), 2000)]
    return found


def bodies(questions, k):
    return [{"query": q, "k": k, "cache": False} for q in questions]


def batches(questions, k):
    """Return bodies of BATCH questions each."""
    whole = list(islice(cycle(questions), 25 * BATCH))
    return [{"queries": whole[i : i + BATCH], "k": k} for i in range(0, len(whole), BATCH)]


def rate(server, path, ready, count, connections):
    """Return searches per second by the server's CPU and by the clock, and bytes per answer."""
    lists = [list(islice(cycle(ready[i:] + ready[:i]), count // connections))
             for i in range(connections)]  # fmt: skip
    clients, sizes = [Client(server, path) for _ in lists], []
    threads = [threading.Thread(target=lambda c=c, b=b: sizes.extend(map(c.ask, b)))
               for c, b in zip(clients, lists, strict=True)]  # fmt: skip
    cpu, began = server.cpu(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent, wall = server.cpu() - cpu, time.perf_counter() - began
    return len(sizes) / spent, len(sizes) / wall, statistics.mean(sizes)


def waits(server, path, ready, per_second, count):
    """Return the milliseconds that clients wait at a steady rate on four connections."""
    clients = [Client(server, path) for _ in range(4)]
    asked, found, lock = iter(enumerate(islice(cycle(ready), count))), [], threading.Lock()
    start = time.perf_counter() + 0.1

    def work(client):
        while True:
            with lock:
                number, body = next(asked, (None, None))
            if body is None:
                return
            due = start + number / per_second
            time.sleep(max(0, due - time.perf_counter()))
            began = time.perf_counter()
            client.ask(body)
            found.append((time.perf_counter() - began) * 1e3)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.sort()
    return [found[int(len(found) * share)] for share in (0.5, 0.9, 0.99)]


def alone(path, questions, k, count):
    """Return the CPU ms of the same searches without HTTP, in this process."""
    import ragfile

    with ragfile.open(path) as rf:
        for question in questions[:50]:
            rf.search(question, k, cache=False)
        began = time.process_time()
        for question in islice(cycle(questions), count):
            rf.search(question, k, cache=False)
        return (time.process_time() - began) * 1e3 / count


def start_to_answer(path, words):
    """Return wall and CPU seconds from the start of a server to its first answer."""
    with Server(*words) as server:
        Client(server, path).ask({"query": "first", "k": 5})
        return time.perf_counter() - server.began, server.cpu()


# ---------------------------------------------------------------------------------- first token ---


def first_token(words, path, rounds=20):
    """Return the ms from a model's first token to the first of the answer: minimum, median."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from servers.chat_servers import Server as ChatServer

    spoken, found = [], []

    def speak(handler, question):
        handler.send_response(200)
        handler.end_headers()
        time.sleep(0.2)
        spoken.append(time.perf_counter())
        for text in ("one ", "two "):
            chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
            handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        handler.wfile.write(b"data: [DONE]\n\n")
        handler.close_connection = True

    with ChatServer() as chat, Server(*words, "--model", chat.model()) as server:
        for number in range(rounds):
            chat.script.append(speak)
            client, body = Client(server, path), {"question": f"what is {number}", "stream": True}
            client.send(body)
            got = b""
            while b"event: delta" not in got:
                got += client.socket.recv(65536)
            found.append((time.perf_counter() - spoken[-1]) * 1e3)
            client.socket.close()
    return min(found), statistics.median(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--questions")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    name = os.path.basename(asked.file).rpartition(".")[0]
    path = f"/v1/collections/{name}/search"
    words = [sys.executable, "-m", "ragfile", "serve", asked.file, "--port", "0", "--log", "error"]
    questions = questions_of(asked.file, asked.questions)
    starts = [start_to_answer(path, words) for _ in range(asked.rounds)]
    print(f"start to first answer: {min(s[0] for s in starts):.2f} s wall, "
          f"{min(s[1] for s in starts):.2f} s CPU")  # fmt: skip
    ms = min(alone(asked.file, questions, asked.k, asked.count // 4) for _ in range(asked.rounds))
    print(f"without HTTP: {ms:.3f} ms CPU a search")
    with Server(*words) as server:
        ready = bodies(questions, asked.k)
        rate(server, path, ready, 400, 2)
        best = max(rate(server, path, ready, asked.count, 4) for _ in range(asked.rounds))
        report("over HTTP", best, server)
        many = batches(questions, asked.k)
        a_core = max(
            rate(server, path, many, asked.count // BATCH, 4)[0] for _ in range(asked.rounds)
        )
        print(f"in batches of {BATCH}: {1e3 / a_core / BATCH:.3f} ms CPU a question")
        half = best[0] / 2
        spread = [waits(server, path, ready, half, asked.count) for _ in range(asked.rounds)]
        p50, p90, p99 = min(spread, key=lambda found: found[2])
        print(f"at {half:,.0f} a second: {p50:.2f} ms half, {p90:.2f} ms 90 %, {p99:.2f} ms 99 %")
    least, half = first_token(words, path.replace("/search", "/ask"))
    print(f"from a model's first token to the answer's: {least:.2f} ms, {half:.2f} ms half of them")


def report(what, told, server):
    a_core, by_the_clock, size = told
    print(f"{what}: {1e3 / a_core:.3f} ms CPU a search, {a_core:,.0f} a second of one core "
          f"({by_the_clock:,.0f} by the clock), {size:,.0f} bytes each, {server.memory():.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
