"""Compare searches over HTTP with Chroma's server, on the same passages, vectors and questions.

    pip install chromadb
    python bench/serving_chroma.py FILE [-k 10] [--count 2000] [--rounds 3]

Both servers have their own processes and four persistent connections. A request gives a vector and
returns k passages with text and metadata. Rounds alternate; the CPU time of the server's process
counts. Chroma's answers come from its HNSW graph: the share that an exact search also finds is
printed as well.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from serving import Client, Server, questions_of, rate, report, waits

import ragfile

BATCH = 1000
HERE = "/api/v2/tenants/default_tenant/databases/default_database/collections"


def fill(rf, folder):
    """Create a collection with the file's chunks."""
    import chromadb

    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(folder, settings=settings)
    made = client.create_collection(
        "passages", metadata={"hnsw:space": "cosine"}, embedding_function=None
    )
    vectors = rf.vectors()
    for first in range(0, len(rf), BATCH):
        hits = [rf.hit(row) for row in range(first, min(first + BATCH, len(rf)))]
        made.add(
            ids=[hit.id for hit in hits],
            documents=[hit.text for hit in hits],
            metadatas=[
                {"source": hit.source, "path": str(hit.metadata.get("headers") or "-")}
                for hit in hits
            ],
            embeddings=vectors[first : first + len(hits)],
        )
        print(f"\rfilling Chroma: {first + len(hits):,} of {len(rf):,}", end="", file=sys.stderr)
    print(file=sys.stderr)


class Chroma(Server):
    """`chroma run` as a process."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.host, self.port = free.getsockname()
        self.began, program = time.perf_counter(), Path(sys.executable).with_name("chroma")
        words = [program, "run", "--path", folder, "--host", self.host, "--port", str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.answers():
            assert self.process.poll() is None, "chroma run has ended"
            time.sleep(0.05)

    def answers(self):
        try:
            socket.create_connection((self.host, self.port)).close()
        except ConnectionRefusedError:
            return False
        return True


def found_of(answer):
    """Return the ids in either server's answer."""
    told = json.loads(answer)
    return [hit["id"] for hit in told["hits"]] if "hits" in told else told["ids"][0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    questions = questions_of(asked.file, None)
    with ragfile.open(asked.file) as rf, tempfile.TemporaryDirectory() as folder:
        vectors = [vector.tolist() for vector in rf.embedder.embed(questions, "query")]
        fill(rf, folder)
        name = os.path.basename(asked.file).rpartition(".")[0]
        words = [
            sys.executable,
            "-m",
            "ragfile",
            "serve",
            asked.file,
            "--port",
            "0",
            "--log",
            "error",
        ]
        with Server(*words) as ours, Chroma(folder) as theirs:
            compare(
                {
                    "ragfile serve": (ours, *our_question(name, questions, vectors, asked.k)),
                    "chroma run": (theirs, *their_question(theirs, vectors, asked.k)),
                },
                asked,
            )


def our_question(name, questions, vectors, k):
    """Return (URL, bodies) of searches by vector."""
    said = {"mode": "vector", "k": k, "cache": False}
    bodies = [{"query": q, "vector": v} | said for q, v in zip(questions, vectors, strict=True)]
    return f"/v1/collections/{name}/search", bodies


def their_question(server, vectors, k):
    """Return (URL, bodies) of the same for Chroma."""
    with urllib.request.urlopen(f"http://{server.host}:{server.port}{HERE}") as answer:
        [collection] = json.load(answer)
    said = {"n_results": k, "include": ["documents", "metadatas", "distances"]}
    bodies = [{"query_embeddings": [v]} | said for v in vectors]
    return f"{HERE}/{collection['id']}/query", bodies


def compare(sides, asked):
    """Run rounds in turn, then measure waiting times, then compare the answers."""
    best = {}
    for server, path, bodies in sides.values():
        rate(server, path, bodies, 400, 2)
    for _ in range(asked.rounds):
        for name, (server, path, bodies) in sides.items():
            told = rate(server, path, bodies, asked.count, 4)
            best[name] = max(best.get(name, told), told)
    half = min(told[0] for told in best.values()) / 2
    for name, (server, path, bodies) in sides.items():
        report(name, best[name], server)
        spread = [waits(server, path, bodies, half, asked.count) for _ in range(asked.rounds)]
        p50, p90, p99 = min(spread, key=lambda found: found[2])
        print(f"  at {half:,.0f} a second: {p50:.2f} ms half, {p90:.2f} ms 90 %, {p99:.2f} ms 99 %")
    found = [
        [found_of(Client(server, path).read(body)) for body in bodies[:500]]
        for server, path, bodies in sides.values()
    ]
    same = sum(len({*a} & {*b}) for a, b in zip(*found, strict=True))
    print(
        f"of {sum(map(len, found[0])):,} passages that are nearest, Chroma's graph found {same:,}"
    )


if __name__ == "__main__":
    main()
