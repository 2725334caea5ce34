"""A life of a file, printed as lines that are the same on every system: python portable_life.py

tools/windows/try.sh compares the lines of Linux with those of Windows.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import ragfile

os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
WORDS = [
    "keys",
    "rotate",
    "pods",
    "restart",
    "été",
    "naïve",
    "node",
    "drain",
    "tokens",
    "λόγος",
    "文書",
    "volume",
    "backup",
    "restore",
]
QUESTIONS = ["rotate the keys", "restart a pod", "été", "backup and restore of a volume"]


def documents(count):
    for n in range(count):
        text = " ".join(WORDS[(n * k + k) % len(WORDS)] for k in range(1, 40))
        yield {"id": f"folder/d{n:04}", "text": text, "metadata": {"n": n, "even": n % 2 == 0}}


def bytes_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def answers(path):
    with ragfile.open(path) as rf:
        for mode in ("bm25", "vector", "hybrid"):
            for question in QUESTIONS:
                for hit in rf.search(question, 5, mode=mode, where={"n": {"$gte": 10}}):
                    yield f"{mode} {question}: {hit.id} {float(hit.score).hex()}"


def folder(root):
    for name, text in (("a.md", "# A\n\nRotate the keys."), ("sub/été.md", "# B\n\nDrain a node.")):
        path = Path(root, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def refused(path):
    """Try to write in another process at once, and return the error."""
    script = (
        "import ragfile, sys\ntry:\n ragfile.edit(sys.argv[1], wait=0).__enter__()\n"
        "except ragfile.LockedError as error:\n print(str(error).rpartition(' ')[2])"
    )
    command = [sys.executable, "-c", script, path]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout.strip() == f"{os.getpid()})", done.stderr


def waits(path):
    """Return whether a thread that waits for a writer gets its turn."""
    with ragfile.edit(path) as writer:
        writer.delete(["folder/d0001"])

        def other():
            with ragfile.edit(path, wait=60) as second:
                second.delete(["folder/d0002"])

        thread = threading.Thread(target=other)
        thread.start()
        print("another process:", refused(path))
    thread.join()
    with ragfile.open(path) as rf:
        return rf.document("folder/d0002") is None


def life(root):
    path = os.path.join(root, "kb.ragfile")
    ragfile.build(documents(600), path)
    print("built", bytes_of(path))
    yield from answers(path)
    with ragfile.open(path) as reader:
        for n in range(40):
            with ragfile.edit(path, created=1_700_000_000) as writer:
                writer.upsert([{"id": f"new{n}", "text": f"new words {n} about pods"}])
        print("a reader:", len(reader), reader.refresh(), len(reader))
        print("waited:", waits(path))
        ragfile.compact(path)
        print("compacted beside a reader:", len(reader), reader.refresh(), len(reader))
    print("compacted", bytes_of(path))
    yield from answers(path)
    print("verified", ragfile.verify(path)[0])
    folder(os.path.join(root, "docs"))
    ragfile.build(os.path.join(root, "docs"), path)
    print("a folder", bytes_of(path))
    ragfile.sync(path, os.path.join(root, "docs"))
    print("left:", sorted(name for name in os.listdir(root) if "partial" in name))


def main():
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        Path(root, "docs").mkdir()
        for line in life(root):
            print(line)


if __name__ == "__main__":
    main()
