"""A server under everything at once: slow clients and vanished ones, models that fail in every way,
uploads and deletions, a file that is replaced, damaged and removed.

    python tests/doors/server/soak.py --seconds 60 --slow 1000

It fails if an answer is none of those that the page on HTTP names, if an upload is lost, if the
server ends, or if memory or descriptors grow from the second half of the time to its end.
"""

from __future__ import annotations

import argparse
import collections
import http.client
import json
import os
import random
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import ragfile

sys.path.insert(0, str(Path(__file__).parents[2]))
from servers.chat_servers import Server as ChatServer

KB, TARGET = "/v1/collections/kb", "/v1/collections/target"
GROWTH = 24  # MB of memory, and descriptors, that may come and go
ALLOWED = {200, 202, 400, 404, 408, 409, 413, 415, 422, 502, 503}
PHRASES = ["rotate the keys", "restart a pod", "nightly backups", "count of herons"]


class Soak:
    """One server, its adversaries, and what they saw."""

    def __init__(self, seconds, slow, folder):
        self.folder, self.slow = Path(folder), slow
        self.until = time.monotonic() + seconds
        self.seen, self.faults = collections.Counter(), []
        self._build()

    def _build(self):
        docs = self.folder / "docs"
        docs.mkdir()
        for i in range(200):
            text = f"# Page {i}\n\n{random.choice(PHRASES)} " + "and more of it. " * 40
            (docs / f"{i}.md").write_text(text)
        os.chdir(self.folder)  # so that no document says where it lies
        for name in ("kb", "target"):
            ragfile.build("docs", self.folder / f"{name}.ragfile")
        self.good = (self.folder / "target.ragfile").read_bytes()

    def run(self, chat):
        words = [sys.executable, "-m", "ragfile", "serve", str(self.folder / "kb.ragfile"),
                 str(self.folder / "target.ragfile"), "--port", "0", "--write", "--log", "error",
                 "--model", chat.model(attempts=1, timeout=2)]  # fmt: skip
        with open(self.folder / "log", "w") as log:
            self.server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.server.stdout.readline()
        host, _, port = line.strip().rpartition("/")[2].rpartition(":")
        self.address = host, int(port)
        try:
            return self._soaked(chat)
        finally:
            self.server.terminate()
            self.server.wait(60)

    def _soaked(self, chat):
        works = [self.search, self.search, self.ask, self.hang_up, self.upload, self.replace,
                 self.talk_nonsense, self.compact, lambda: self.misbehave(chat)]  # fmt: skip
        threads = [threading.Thread(target=self._again, args=(work,)) for work in works]
        threads.append(threading.Thread(target=self.crawl))
        for thread in threads:
            thread.start()
        sizes = []
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.25)
            if self.server.poll() is not None:
                self.faults.append(f"the server ended with {self.server.returncode}")
                self.until = 0
            else:
                sizes.append(self._size())
        return self._judged(sizes)

    def _again(self, work):
        while time.monotonic() < self.until:
            try:
                work()
            except (OSError, http.client.HTTPException):
                self.seen["connection"] += 1
            except Exception:  # noqa: BLE001 - a fault of the server's, to be shown at the end
                self.faults.append(traceback.format_exc())

    def _size(self):
        """(MB of its own memory, without the files that it maps; descriptors) of the server."""
        with open(f"/proc/{self.server.pid}/status") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
        return memory / 1024, len(os.listdir(f"/proc/{self.server.pid}/fd"))

    def _judged(self, sizes):
        if self.server.poll() is None:
            time.sleep(3)
            end = self._size()
            sizes = sizes or [end]  # a machine that is slow enough comes to no look in between
            self._check_end()
            half = sizes[len(sizes) // 2 :] or sizes
            most = max(size[0] for size in sizes[: len(sizes) // 2 + 1])
            if max(size[0] for size in half) > most + GROWTH:
                self.faults.append(
                    f"memory grows: {most:.0f} MB, then {max(size[0] for size in half):.0f} MB"
                )
            if end[1] > sizes[0][1] + GROWTH:
                self.faults.append(f"descriptors stay open: {sizes[0][1]}, then {end[1]}")
            print(
                f"memory {sizes[0][0]:.0f} to {end[0]:.0f} MB, descriptors {sizes[0][1]} to {end[1]}"
            )
        print("answers:", dict(sorted(self.seen.items(), key=str)))
        for fault in self.faults[:5]:
            print("FAULT", fault)
        return not self.faults

    def _check_end(self):
        """Nothing waits, nothing is lost, and the server still answers."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            files = self.call("GET", KB + "/files")[1]["files"]
            if all(file["state"] != "queued" for file in files):
                break
            time.sleep(0.2)
        else:
            self.faults.append("uploads stay queued")
        there = {d["id"] for d in self.call("GET", KB + "/documents?limit=1000")[1]["documents"]}
        lost = [
            f["name"] for f in files if f["state"] == "indexed" and not set(f["documents"]) <= there
        ]
        if lost:
            self.faults.append(f"lost: {lost[:5]}")
        assert self.call("POST", KB + "/search", {"query": "keys"})[0] == 200

    # ------------------------------------------------------------------------------ adversaries ---

    def call(self, method, path, body=None, headers=()):
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        sent = dict(headers)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            data = response.read()
            self.seen[response.status] += 1
            if response.status not in ALLOWED:
                self.faults.append(f"{method} {path}: {response.status} {data[:300]!r}")
            if str(self.folder).encode() in data:
                self.faults.append(f"{method} {path} names the folder: {data[:300]!r}")
            is_json = response.headers.get_content_type() == "application/json"
            return response.status, json.loads(data) if is_json else data
        finally:
            connection.close()

    def search(self):
        place = random.choice([KB, TARGET])
        status, said = self.call("POST", place + "/search", {"query": random.choice(PHRASES)})
        if status == 200 and not all(hit["text"] for hit in said["hits"]):
            self.faults.append("a hit without text")

    def ask(self):
        body = {"question": random.choice(PHRASES), "stream": random.random() < 0.5}
        self.call("POST", KB + "/ask", body)

    def misbehave(self, chat):
        """The model's next answer is one of those that no model should give."""
        chat.script.append(random.choice(BAD_MODELS))
        time.sleep(0.3)

    def hang_up(self):
        """A client that is gone in the middle of an answer, or of its own question."""
        body = json.dumps({"question": "keys", "stream": True}).encode()
        head = f"POST {KB}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        data = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        with socket.create_connection(self.address) as connection:
            connection.sendall(data[: random.randint(1, len(data))])
            time.sleep(random.random() * 0.1)
        self.seen["vanished"] += 1

    def talk_nonsense(self):
        with socket.create_connection(self.address) as connection:
            connection.sendall(random.randbytes(random.randint(1, 3000)))
        body = random.randbytes(200)
        self.call("POST", KB + "/search", body, {"Content-Type": "application/json"})
        self.call("GET", "/" + "".join(random.choices("%./abc2e\u00e9", k=9)).encode("utf-8").hex())
        time.sleep(0.05)

    def upload(self):
        text = f"# Sent {random.random()}\n\n{random.choice(PHRASES)}, and was sent.\n"
        content = random.choice([text.encode(), b"%PDF-1.4 broken", random.randbytes(500)])
        body = (b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n'
                + content + b"\r\n--x--\r\n")  # fmt: skip
        status, said = self.call("POST", KB + "/files", body,
                                 {"Content-Type": "multipart/form-data; boundary=x"})  # fmt: skip
        if status == 202 and random.random() < 0.7:
            time.sleep(0.2)
            self.call("DELETE", f"{KB}/files/{said['files'][0]['id']}")
        time.sleep(0.2)

    def replace(self):
        """Another file in its place, then one that is damaged, then none. Always by a new file: one
        that is cut short in place would end any process that has it mapped.
        """
        target, new = self.folder / "target.ragfile", self.folder / "new"
        kind = random.choice(["good", "damaged", "cut", "none", "nonsense"])
        data = bytearray(self.good)
        if kind == "damaged":
            for _ in range(200):
                data[random.randrange(len(data))] ^= 0xFF
        if kind == "none":
            target.unlink(missing_ok=True)
        else:
            cut = {"cut": data[: len(data) // 3], "nonsense": b"no file at all"}
            new.write_bytes(cut.get(kind, data))
            os.replace(new, target)
        time.sleep(0.2)

    def compact(self):
        """Another process writes the file anew: a commit for each upload would make it ever longer."""
        time.sleep(2)
        ragfile.compact(self.folder / "kb.ragfile")
        self.seen["compacted"] += 1

    def crawl(self):
        """Clients that send a byte now and then, all at once."""
        held = []
        head = (
            b"POST /v1/collections/kb/search HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 900
        )
        while time.monotonic() < self.until:
            while len(held) < self.slow:
                try:
                    held.append((socket.create_connection(self.address), iter(head)))
                except OSError:
                    break
            for client in random.sample(held, len(held) // 10 + 1):
                try:
                    client[0].send(bytes([next(client[1])]))
                except (OSError, StopIteration):
                    client[0].close()
                    held.remove(client)
            time.sleep(0.1)
        for connection, _ in held:
            connection.close()


# ------------------------------------------------------------------- models that nobody should have


def garbage(handler, question):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(random.randbytes(2000))
    handler.close_connection = True


def stall(handler, question):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    time.sleep(3)
    handler.close_connection = True


def repeat(handler, question):
    pieces(handler, ["the same again " * 4] * 400)


def break_off(handler, question):
    pieces(handler, ["so far ", "so good "], is_whole=False)


def refuse(handler, question):
    handler.whole(500, {"error": {"message": f"failed at {os.getcwd()}"}})


def pieces(handler, texts, is_whole=True):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    for text in texts:
        chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
        handler.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
    handler.wfile.write(
        b"data: [DONE]\n\n" if is_whole else b'data: {"error": {"message": "x"}}\n\n'
    )
    handler.close_connection = True


BAD_MODELS = [garbage, stall, repeat, break_off, refuse]


def soak(seconds, slow):
    """Whether a server stood it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
    folder = tempfile.mkdtemp(prefix="ragfile-soak-")
    try:
        with ChatServer(["Rotate the keys ", "every 90 days [1]."]) as chat:
            chat.pause = 0.01
            return Soak(seconds, slow, folder).run(chat)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--slow", type=int, default=1000)
    said = parser.parse_args()
    sys.exit(not soak(said.seconds, said.slow))
