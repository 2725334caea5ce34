"""A server's worker is killed, or runs out of disk or descriptors, at each call on files of a request.

    python tests/crash/server_faults.py FOLDER [--step 3] [--part 2/9] [--only upload:kill …]

Run it under gate.c (see `make -C tests schedules`). A request goes to a worker in a process of its own. Then
another worker takes over, as a server starts it: what a client was told is done must be there, the file is
whole, and the request works when it is repeated. A worker that lives on answers with one clear error, and
works again as soon as there is room.
"""

import argparse
import collections
import errno
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from crash import schedules
from starlette.testclient import TestClient

import ragfile
from ragfile.doors.server.app import make_app
from ragfile.doors.server.settings import Settings

KB = "/v1/collections/kb"
FAULTS = {"kill": -2, "full disk": errno.ENOSPC, "no descriptors": errno.EMFILE}
CLEAR = (409, 503, 507)  # statuses of a failure that names its reason and may pass
PART = "part"  # of the request was done, and the answer lists the failures
AGAIN = (200, 202, 404)  # of the repeated request: it was done now, or before the fault
WAIT = 30.0


def client_of(folder):
    settings = Settings(
        (str(folder / "kb.ragfile"),), can_write=True, uploads=str(folder / "uploads"),
        sources=(("kb", str(folder / "sources")),),
    )  # fmt: skip
    return TestClient(make_app(settings), "http://localhost")


def upload(client):
    sent = {"file": ("sent.md", b"A page that was sent about keys.")}
    return client.post(KB + "/files", files=sent)


def is_uploaded(client):
    return "sent.md" in ids_of(client)


REQUESTS = {
    "upload": (upload, is_uploaded),
    "put": (
        lambda client: client.put(KB + "/documents/put", json={"text": "A page that was put."}),
        lambda client: "put" in ids_of(client),
    ),
    "delete": (
        lambda client: client.delete(KB + "/documents/doomed-A"),
        lambda client: "doomed-A" not in ids_of(client),
    ),
    "sync": (
        lambda client: client.post(KB + "/sync", json={}),
        lambda client: "new.md" in ids_of(client),
    ),
}


def ids_of(client):
    found = client.get(KB + "/documents")
    assert found.status_code == 200, found.text
    return {one["id"] for one in found.json()["documents"]}


def until(is_so, what):
    end = time.monotonic() + WAIT
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def attempt(folder, name, at, action):
    """Send the request to a worker in another process; return what it told before it ended or died."""
    heard, out = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            report = worker(folder, name, at, action, out)
        except BaseException as error:  # noqa: BLE001 - the other process reports it
            report = f"failed {type(error).__name__}: {error}"
        os.write(out, f"end {report}\n".encode())
        os._exit(0)
    os.close(out)
    lines = []
    while (line := schedules.line_of(heard)) is not None:
        lines += line.splitlines()
    os.close(heard)
    os.waitpid(pid, 0)
    return lines


def worker(folder, name, at, action, out):
    """Answer one request under a fault; then work on without it."""
    send, is_done = REQUESTS[name]
    with client_of(folder) as client:
        ids_of(client)  # opened before
        schedules.GATE.gate_arm(f"{folder}/".encode(), at, action, -1, -1)
        done = send(client)
        in_part = done.status_code < 300 and done.json().get("failures")  # what it could not read
        os.write(
            out, f"{PART if in_part else 'status'} {done.status_code} {done.text!r}\n".encode()
        )
        if name == "upload":
            time.sleep(0.05)  # it is indexed meanwhile
        hits = schedules.GATE.gate_count()
        schedules.GATE.gate_arm(b"", 0, 0, -1, -1)
        if done.status_code >= 300 or in_part:
            again = send(client)  # the fault may have come after the commit
            assert again.status_code in AGAIN, f"the request fails again: {again.text}"
        until(lambda: is_done(client), "the request is not done")
    return "beyond" if hits < at else "whole"


def check(folder, name, was_told):
    """Another worker: what a client was told is there, and the request can be repeated."""
    send, is_done = REQUESTS[name]
    with client_of(folder) as client:
        if was_told:
            until(lambda: is_done(client), "a request that was answered is lost")
        else:
            assert send(client).status_code in AGAIN, "the request fails again"
            until(lambda: is_done(client), "the repeated request is not done")
    with ragfile.open(folder / "kb.ragfile", strict=True) as rf:
        schedules.check_reading(rf)
    assert [one for one in ragfile.verify(folder / "kb.ragfile")[0] if not is_tail(one)] == []


def is_tail(fault):
    """Whether a fault is the bytes of a writer that died, which the next commit steps over."""
    return "belong to none" in str(fault)


def rounds(work, step=1, only=(), first=1):
    """Try requests with faults, all or those named "request:fault", at every `step`-th call; return counts.

    `first` is the call to begin with: parts with all numbers up to `step` add up to every call.
    """
    template = work / "template"
    schedules.prepare(template, "file")
    (template / "sources" / "new.md").write_text("A new page about keys.")
    counts = collections.Counter()
    for name in REQUESTS:
        for fault, action in FAULTS.items():
            if only and f"{name}:{fault}" not in only:
                continue
            at, lines = first, [""]
            while lines[-1:] != ["end beyond"]:
                folder = Path(tempfile.mkdtemp(dir=work))
                shutil.copytree(template, folder, dirs_exist_ok=True)
                lines = attempt(folder, name, at, action)
                judge(lines, name, fault, at, counts)
                told = any(line.startswith(("status 200", "status 202")) for line in lines)
                check(folder, name, told)
                shutil.rmtree(folder)
                at += step
            print(f"{name}, {fault}: {sum(counts.values())} faults so far", flush=True)
    shutil.rmtree(template)
    return counts


def judge(lines, name, fault, at, counts):
    """Fail unless a worker died, or answered well, or with one clear error."""
    where = f"{name}, {fault} at call {at}: {lines}"
    is_dead = not lines or not lines[-1].startswith("end")
    assert is_dead == (fault == "kill" and lines[-1:] != ["end beyond"]), where
    if is_dead:
        counts["killed"] += 1
        return
    assert lines[-1] in ("end whole", "end beyond"), where
    status = int(lines[0].split()[1])
    assert status < 300 or status in CLEAR, where
    if lines[-1] == "end whole":
        done = "answered in part" if lines[0].startswith(PART) else "answered"
        counts[done if status < 300 else f"refused with {status}"] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--part", help='as "2/9": every ninth call from the second on')
    parser.add_argument("--only", nargs="+", default=())
    args = parser.parse_args()
    first, step = map(int, args.part.split("/")) if args.part else (1, args.step)
    counts = rounds(args.folder.resolve(), step, args.only, first)
    print(f"{sum(counts.values())} faults, nothing lost: {dict(counts)}")


if __name__ == "__main__":
    main()
