"""Whatever a process does with an encrypted file, no byte of its content reaches a file in plain text.

A life of a file runs under strace, with every byte that it writes to any file, pipe or socket, and is
searched for words of the texts, for ids, for metadata, and for vectors. So are the files that it
leaves. The same life of a plain file must be caught, or the search would prove nothing.
"""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

KEY = bytes(range(32))
WORDS = ("zanzibarium", "quokkaline", "vexillarion")
LIFE = """
import os, signal, sys
import numpy as np
import ragfile
path, key, ending = sys.argv[1], bytes.fromhex(sys.argv[2]) or None, sys.argv[3]
words = ("zanzibarium", "quokkaline", "vexillarion")
given = np.full((1, 256), 0.0123456, np.float32)

def documents(first, count):
    for i in range(first, first + count):
        noise = " ".join(f"w{(i * 7919 + j * 104729) % 99991}" for j in range(700))
        yield {"id": f"quokkaline-{i}.md", "text": f"zanzibarium {i} {noise}", "metadata": {"m": f"vexillarion {i}"}}

with ragfile.using_key(key):
    ragfile.build(documents(0, 400), path, key=key)
    with ragfile.edit(path) as w:
        w.upsert(documents(380, 120))
        w.delete(["quokkaline-3.md"])
        w.add([{"doc_id": "own", "chunk_index": 0, "content": "zanzibarium"}], given)
    with ragfile.open(path) as rf:
        rf.search("zanzibarium 7")
        rf.search_batch(["zanzibarium", "w5"], where={"m": "vexillarion 9"})
        rf.search('"zanzibarium 9"', query_syntax=True)
    ragfile.verify(path)
    ragfile.compact(path, clusters=4)
    with ragfile.edit(path, keep="all") as w:
        w.upsert(documents(0, 3))
    from ragfile.write.old_generations import drop_older
    with ragfile.edit(path, keep=2) as w:
        w.upsert(documents(4, 2))
    drop_older(path, 2)
    ragfile.reindex(path, chunking="words:100/10")
    with ragfile.edit(path) as w:
        w.upsert(documents(900, 50))
        w.draft.write()
        if ending == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        w.discard()
"""


def traced(folder, key, ending):
    """The bytes that a life of a file writes anywhere, as strace shows them."""
    log = folder / "trace.txt"
    command = [
        "strace", "-f", "--seccomp-bpf", "-qq", "-s", "100000000", "-xx", "-o", log, "-e",
        "trace=write,pwrite64,writev,pwritev,sendto,sendmsg,copy_file_range,sendfile,memfd_create,mmap,openat",
        sys.executable, "-c", LIFE, folder / "kb.ragfile", key.hex(), ending,
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, check=False)
    assert (run.returncode == 0) == (ending == "end"), run.stderr[-2000:]
    return log


def written(log):
    """All bytes of the calls that write; those to files in memory are no part of it."""
    memory, found = set(), bytearray()
    hexed = re.compile(rb'"((?:\\x[0-9a-f]{2})*)"')
    with open(log, "rb") as file:
        for line in file:
            _number, _, call = line.partition(b" ")
            call = call.strip()
            result = call.rsplit(b" = ", 1)[-1].split()[0] if b" = " in call else b""
            name, _, rest = call.partition(b"(")
            if name == b"memfd_create":
                memory.add(result)
            elif name in (b"openat",):
                memory.discard(result)
            elif name not in (b"mmap",) and rest.split(b",")[0] not in memory:
                for text in hexed.findall(rest):
                    found += bytes.fromhex(text.replace(rb"\x", b"").decode()) + b"|"
            elif name == b"mmap" and b"PROT_WRITE" in rest and b"MAP_SHARED" in rest:
                fd = rest.split(b",")[4].strip()
                assert b"MAP_ANONYMOUS" in rest or fd in memory, line
    return bytes(found)


def markers():
    vector = np.full(8, 0.0123456, np.float32)
    unit = np.full(8, 1 / 16, np.float32)  # as it is stored, if it is stored at length 1
    return [*(word.encode() for word in WORDS), vector.tobytes(), unit.tobytes()]


def leftovers(folder):
    return [p for p in folder.rglob("*") if p.is_file() and p.name != "trace.txt"]


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("ending", ["end", "kill"])
def test_no_byte_of_an_encrypted_file_is_written_in_plain_text(tmp_path, ending):
    found = written(traced(tmp_path, KEY, ending))
    assert b"RAGCRYPT" in found
    assert [m for m in markers() if m in found] == []
    for path in leftovers(tmp_path):
        data = path.read_bytes()
        assert [m for m in markers() if m in data] == [], path


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_the_same_search_finds_the_words_and_vectors_of_a_plain_file(tmp_path):
    found = written(traced(tmp_path, b"", "end"))
    assert [m for m in markers()[:3] if m not in found] == []
    assert any(m in found for m in markers()[3:])
