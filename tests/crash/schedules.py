"""Stop a public call before each of its calls on files, run another public call whole, and go on: nothing is lost.

    python tests/crash/schedules.py FOLDER [--step 3] [--only edit:compact …] [--kind file]

Run it under gate.c (see `make -C tests schedules`). Each pair is two processes, forked from one that has
imported everything. The second call does not wait for locks: if the first one holds the file, it is refused
as locked, and repeated when the first one has ended. Afterwards the file is verified, and every change whose
call returned must be in it.
"""

import argparse
import collections
import ctypes
import json
import os
import select
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["RAGFILE_WAIT"] = "0"

import ragfile
from ragfile import dataset
from ragfile.doors.server.app import make_app
from ragfile.doors.server.settings import Settings

GATE = ctypes.CDLL(None)
STOP, TIMEOUT = -1, 60.0
BASE = {f"base{n}": f"Passage {n} about keys and pods, number {n}." for n in range(12)}
ABSENT = {"doomed-A", "doomed-B"}


def page(name):
    return {"id": name, "text": f"A page of {name} about keys."}


class Call:
    """One public call on the files in a folder, under a name of its own ("A" or "B")."""

    adds = deletes = ""
    is_reader = False

    def run(self, folder, who):
        raise NotImplementedError


class Edit(Call):
    adds = "edited"

    def run(self, folder, who):
        with ragfile.edit(folder / "kb.ragfile") as writer:
            writer.upsert([page(f"edited-{who}")])


class Delete(Call):
    deletes = "doomed"

    def run(self, folder, who):
        with ragfile.edit(folder / "kb.ragfile") as writer:
            writer.delete([f"doomed-{who}"])


class KeepOne(Call):
    """An edit that drops the past, which replaces the file."""

    adds = "kept"

    def run(self, folder, who):
        with ragfile.edit(folder / "kb.ragfile", keep=1) as writer:
            writer.upsert([page(f"kept-{who}")])


class Compact(Call):
    def run(self, folder, who):
        ragfile.compact(folder / "kb.ragfile")


class Sync(Call):
    adds = "synced"

    def run(self, folder, who):
        (folder / "sources" / f"synced-{who}").write_text(f"A page of synced-{who} about keys.")
        ragfile.sync(folder / "kb.ragfile", folder / "sources")


class Search(Call):
    """Open, search, look for newer commits, and search again; documents of the base are always there."""

    is_reader = True

    def run(self, folder, who):
        with ragfile.open(folder / "kb.ragfile") as rf:
            for _ in range(2):
                check_reading(rf)
                rf.refresh()


class Upload(Call):
    """A file sent to a server, until it is indexed."""

    adds = "upload"

    def run(self, folder, who):
        from starlette.testclient import TestClient

        settings = Settings((str(folder / "kb.ragfile"),), can_write=True)
        client = TestClient(make_app(settings), "http://localhost")
        sent = {"file": (f"upload-{who}.md", f"A page of upload-{who} about keys.".encode())}
        found = client.post("/v1/collections/kb/files", files=sent)
        assert found.status_code == 202, found.text
        place = f"/v1/collections/kb/files/{found.json()['files'][0]['id']}"
        end = time.monotonic() + TIMEOUT / 2
        while (state := client.get(place).json())["state"] != "indexed":
            assert state["state"] != "error", state
            if "another writer" in state["error"]:  # the server would wait for it
                raise ragfile.LockedError(state["error"])
            assert time.monotonic() < end, state
            time.sleep(0.002)


class DatasetAdd(Call):
    adds = "added"

    def run(self, folder, who):
        file = folder / f"added-{who}"
        file.write_text(f"A page of added-{who} about keys.")
        dataset.add(folder / "shards", [file])


class DatasetDelete(Call):
    deletes = "doomed"

    def run(self, folder, who):
        dataset.delete(folder / "shards", [f"doomed-{who}"])


class DatasetCompact(Call):
    def run(self, folder, who):
        dataset.compact(folder / "shards", shards=2 if who == "A" else 3)


class Vacuum(Call):
    def run(self, folder, who):
        dataset.vacuum(folder / "shards", days=0)


class DatasetSearch(Call):
    is_reader = True

    def run(self, folder, who):
        with ragfile.open(folder / "shards") as rf:
            for _ in range(2):
                check_reading(rf)
                rf.refresh()


KINDS = {
    "file": {
        "edit": Edit(), "delete": Delete(), "keep": KeepOne(), "compact": Compact(), "sync": Sync(),
        "search": Search(), "upload": Upload(),
    },
    "dataset": {
        "add": DatasetAdd(), "delete": DatasetDelete(), "compact": DatasetCompact(),
        "vacuum": Vacuum(), "search": DatasetSearch(),
    },
}  # fmt: skip


def check_reading(rf):
    """Every document of the base is found, with its text."""
    found = {document.id: document.text for document in rf.documents()}
    assert {name: found.get(name) for name in BASE} == BASE
    ids = {hit.doc_id for hit in rf.search("passage keys pods", 50, mode="bm25", cache=False)}
    assert ids >= BASE.keys()


def prepare(folder, kind):
    """Make the files that each pair begins with."""
    folder.mkdir()
    path = folder / "kb.ragfile"
    documents = [{"id": name, "text": text} for name, text in BASE.items()]
    with ragfile.create(path, embedder=None) as writer:
        writer.add_documents(documents[:6])
    for doomed in sorted(ABSENT):
        with ragfile.edit(path) as writer:
            writer.upsert([page(doomed)])
    with ragfile.edit(path) as writer:
        writer.upsert(documents[6:])
    (folder / "sources").mkdir()
    if kind == "dataset":
        dataset.convert(path, folder / "shards", shards=2)


def forked(call, folder, who, at=0):
    """Run a call in a process of its own, stopped before call `at` on files; return (pid, heard, told)."""
    heard, out = os.pipe()
    into, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(out), os.close(into)
        return pid, heard, told
    try:
        GATE.gate_arm(f"{folder}/".encode(), at, STOP, out, into)
        try:
            call.run(folder, who)
            result = {"done": True}
        except BaseException as error:  # noqa: BLE001 - the other process reports it
            result = {"done": False, "error": type(error).__name__, "reason": str(error)}
        result["count"] = GATE.gate_count()
        GATE.gate_arm(b"", 0, 0, -1, -1)
        os.write(out, b"=" + json.dumps(result).encode() + b"\n")
    finally:
        os._exit(0)


def line_of(fd):
    """Return the next line of a process, None if it ends without one."""
    found, end = b"", time.monotonic() + TIMEOUT
    while not found.endswith(b"\n"):
        assert select.select([fd], [], [], end - time.monotonic())[0], "a call does not end"
        piece = os.read(fd, 1 << 16)
        if not piece:
            return None
        found += piece
    return found.decode()


def ended(pid, heard, told):
    """Wait for the result of a call."""
    line = line_of(heard)
    os.close(heard), os.close(told)
    os.waitpid(pid, 0)
    assert line is not None, "a process died"
    assert line.startswith("="), line
    return json.loads(line[1:])


def whole(call, folder, who):
    """Run a call without a stop."""
    return ended(*forked(call, folder, who))


def pair(first, second, template, work, at):
    """Run one pair; return (name of the call on files, first's result, second's result), None after the last."""
    folder = Path(tempfile.mkdtemp(dir=work))
    try:
        shutil.copytree(template, folder, dirs_exist_ok=True)
        process = forked(first, folder, "A", at)
        name = line_of(process[1])
        assert name is not None, "a process died"
        if name.startswith("="):
            os.close(process[1]), os.close(process[2])
            os.waitpid(process[0], 0)
            return None
        other = whole(second, folder, "B")
        os.write(process[2], b".")
        mine = ended(*process)
        if other.get("error") == "LockedError":
            other = whole(second, folder, "B")
            other["waited"] = True
        check(folder, (first, "A", mine), (second, "B", other))
        return name.strip(), mine, other
    finally:
        shutil.rmtree(folder)


ALLOWED = ("LockedError", "ConflictError")  # of the first call, if the second one changed the file


def check(folder, *calls):
    """Every change that returned is there, and nothing else is lost."""
    path = folder / ("shards" if (folder / "shards").exists() else "kb.ragfile")
    with ragfile.open(path, strict=True) if path.suffix else ragfile.open(path) as rf:
        check_reading(rf)
        found = set(rf.document_ids())
    if path.suffix:
        assert ragfile.verify(path)[0] == []
    else:
        assert dataset.verify(path)[0] == []
    for call, who, result in calls:
        if not result["done"]:
            assert who == "A", (type(call).__name__, result)
            assert result["error"] in ALLOWED, (type(call).__name__, result)
            continue
        if call.adds:
            assert {one for one in found if one.startswith(f"{call.adds}-{who}")}, (call.adds, who)
        if call.deletes:
            assert f"{call.deletes}-{who}" not in found
    expected = ABSENT - {f"{call.deletes}-{who}" for call, who, _ in calls if call.deletes}
    assert expected <= found, expected - found


def schedules(work, kind, step=1, only=()):
    """Run pairs of a kind, all or those named "a:b", at every `step`-th call on files; return counts."""
    template = work / f"template-{kind}"
    prepare(template, kind)
    counts = collections.Counter()
    for (a, first), (b, second) in chosen(KINDS[kind], only):
        at = 1 + (len(a) + len(b)) % step
        while (found := pair(first, second, template, work, at)) is not None:
            name, mine, other = found
            counts["pairs"] += 1
            counts["waited"] += bool(other.get("waited"))
            counts["refused"] += not mine["done"]
            counts[f"before {name}"] += 1
            at += step
        print(f"{kind}: {a} stopped, {b} in the gap: {counts['pairs']} pairs so far", flush=True)
    shutil.rmtree(template)
    return counts


def chosen(calls, only):
    return [
        (one, other) for one in calls.items() for other in calls.items()
        if not only or f"{one[0]}:{other[0]}" in only
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--only", nargs="+", default=())
    args = parser.parse_args()
    for kind in [args.kind] if args.kind else KINDS:
        counts = schedules(args.folder.resolve(), kind, args.step, args.only)
        pairs, waited, refused = (counts[name] for name in ("pairs", "waited", "refused"))
        print(f"{kind}: {pairs} pairs, 0 lost; the second call waited in {waited}, "
              f"the first was refused in {refused}")  # fmt: skip


if __name__ == "__main__":
    main()
