"""Processes that write to one file at the same time: none is refused, and no put is lost.

    python tests/checks/writers_in_turn.py [--door edit|mcp|adapter] [--processes 4] [--puts 1000]

Each process puts one document a commit, each right after the last, through `ragfile.edit`, through
`ragfile mcp --write` over stdio, or through the store of the adapters, which also creates the file.
Prints how long a put took, and ends with code 1 if one was refused or lost.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

import ragfile


def names(writer, puts):
    """The ids of the documents that a process puts."""
    return [f"w{writer}-{i:05d}" for i in range(puts)]


def put_by_edit(path, doc_id):
    """Put a document in a commit of its own."""
    with ragfile.edit(path) as w:
        w.upsert([{"id": doc_id, "text": f"the memory {doc_id} of an agent"}])


class Agent:
    """An MCP server with write access, and a client of it."""

    def __init__(self, path):
        command = [sys.executable, "-m", "ragfile", "mcp", "--write", str(path)]
        self._process = subprocess.Popen(command, stdin=-1, stdout=-1, text=True, bufsize=1)
        self._numbers = count(1)
        client = {"name": "check", "version": "1"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)

    def _ask(self, method, **params):
        request = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        self._process.stdin.write(json.dumps(request) + "\n")
        return json.loads(self._process.stdout.readline())["result"]

    def put(self, _, doc_id):
        """Put a document with the tool."""
        arguments = {"id": doc_id, "text": f"the memory {doc_id} of an agent"}
        result = self._ask("tools/call", name="put", arguments=arguments)
        if result["isError"]:
            raise RuntimeError(result["content"][0]["text"])


def putter(door, path):
    """Return the function that puts a document through a door."""
    if door == "edit":
        return put_by_edit
    if door == "mcp":
        return Agent(path).put
    from ragfile.adapters.passages import Passage, PassageStore

    store = PassageStore(path)
    return lambda _, doc_id: store.put([Passage(doc_id, f"the memory {doc_id}")])


def write(door, path, writer, puts):
    """Put documents, and print the seconds of each put and the refusals as JSON."""
    put, times, refused = putter(door, path), [], []
    put(path, f"first-{writer}")  # which imports what a put needs
    print("ready", flush=True)
    sys.stdin.readline()
    for doc_id in names(writer, puts):
        begun = time.perf_counter()
        try:
            put(path, doc_id)
        except (RuntimeError, OSError) as error:
            refused.append(f"{doc_id}: {error}")
        times.append(time.perf_counter() - begun)
    print(json.dumps({"times": times, "refused": refused}), flush=True)


def run(door, path, processes, puts):
    """Run the writers at once, and return the times of all puts and the refusals."""
    command = [sys.executable, __file__, "--door", door, "--puts", str(puts), "--path", str(path)]
    writers = [
        subprocess.Popen([*command, "--writer", str(i)], stdin=-1, stdout=-1, text=True)
        for i in range(processes)
    ]
    for one in writers:
        assert one.stdout.readline() == "ready\n"
    for one in writers:
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [json.loads(one.communicate()[0]) for one in writers]
    return [t for one in told for t in one["times"]], [r for one in told for r in one["refused"]]


def lost(path, processes, puts):
    """Return the ids that the file lacks."""
    with ragfile.open(path) as rf:
        wanted = {name for writer in range(processes) for name in names(writer, puts)}
        return sorted(wanted - set(rf.document_ids()))


def main():
    """Run as a check, or as one of its writers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--door", choices=["edit", "mcp", "adapter"], default="edit")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--puts", type=int, default=1000)
    parser.add_argument("--writer", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer is not None:
        return write(given.door, given.path, given.writer, given.puts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "memory.ragfile")
        if given.door != "adapter":
            ragfile.create(path).close()
        begun = time.perf_counter()
        times, refused = run(given.door, path, given.processes, given.puts)
        missing = lost(path, given.processes, given.puts)
        times.sort()
        print(
            f"{given.door}: {given.processes} × {given.puts} puts in {time.perf_counter() - begun:.1f} s;"
            f" {len(refused)} refused, {len(missing)} lost; a put took {times[len(times) // 2] * 1e3:.1f} ms"
            f" (p99 {times[len(times) * 99 // 100] * 1e3:.1f}, worst {times[-1] * 1e3:.0f});"
            f" {os.path.getsize(path) / 1e6:.1f} MB"
        )
        print(*(refused + missing)[:5], sep="\n", end="\n" if refused or missing else "")
        sys.exit(bool(refused or missing))


if __name__ == "__main__":
    main()
