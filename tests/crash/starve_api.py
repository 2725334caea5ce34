"""Each allocation of the extension fails once in each public call, under starve_api.c: one error, or the right answer; then all goes on.

    LD_PRELOAD=starve_api.so PYTHONMALLOC=malloc python tests/crash/starve_api.py FOLDER [MOST [NAME…]]

Each attempt has a process of its own, which must not end by a signal. What the call answers, if it
answers, is what it answers with memory; and the same call afterwards, in the same process, answers
that, too. A file that was being changed opens at the commit before, or at the new one. With MOST,
that many places of each call are tried, spread over all.
"""

import ctypes
import faulthandler
import os
import shutil
import sys
import traceback
from pathlib import Path

import ragfile
from ragfile.errors import RagfileError

TEXTS = {
    "keys": "# Keys\n\nTo rotate the keys, run the rotation job.\n\n## Old keys\n\nThey stay for ten years.",
    "pods": "# Pods\n\nA pod is restarted by deleting it. Its name is kept.",
    "birds": "Herons stand in shallow water, and wait.",
}
QUESTION = "how are keys rotated"
starve = ctypes.CDLL(None)
starve.starve_next.argtypes = [ctypes.c_long]
starve.starve_count.restype = ctypes.c_long


def shown(hits):
    return [(hit.id, hit.score, hit.text, dict(hit.metadata)) for hit in hits]


def asked(path, **options):
    with ragfile.open(path) as rf:
        return shown(rf.search(QUESTION, 3, cache=False, **options))


def batch(path):
    with ragfile.open(path) as rf:
        found = rf.search_batch([QUESTION, "pods"], 2, columns=True)
        return found.rows.tolist(), found.scores.tolist()


def legs(path):
    with ragfile.open(path) as rf:
        rows, scores = rf.match(["keys", "herons"], 3)
        near, cosines = rf.nearest(rf.vectors()[:2], 3)
        return rows.tolist(), scores.tolist(), near.tolist(), cosines.tolist()


def looked_up(path):
    with ragfile.open(path) as rf:
        told = [(d.id, d.text, d.original) for d in rf.documents()]
        return told, rf.rows.mask({"n": {"$gte": 1}}).tolist(), rf.hit(0).text, rf.document_ids()


def explained(path):
    with ragfile.open(path) as rf:
        return str(rf.explain(QUESTION, 0)), rf.file.config["chunking"], rf.info["chunks"]


def verified(path):
    return [fault[2] for fault in ragfile.verify(path)[0]]


def state(path):
    """What a file holds, by any way in."""
    with ragfile.open(path, strict=True) as rf:
        return sorted((d.id, d.text) for d in rf.documents()), len(rf)


def edited(path):
    with ragfile.edit(path) as editor:
        editor.upsert([{"id": "birds", "text": "Herons fly."}])
        editor.delete(["pods"])
    return state(path)


def compacted(path):
    with ragfile.edit(path) as editor:
        editor.delete(["pods"])
    ragfile.compact(path)
    return state(path)


def built(path):
    out = path.with_name("built.ragfile")
    if ragfile.build(path.parent / "sources", out).failures:
        raise MemoryError  # of one document, which is that document's failure
    return state(out), out.read_bytes()


def converted(path):
    twin, back = path.with_name("twin.ragmd"), path.with_name("back.ragfile")
    ragfile.convert(path, twin)
    ragfile.convert(twin, back)
    return state(back)


def protected(path):
    """A commit with parity, damage to it, and its repair."""
    with ragfile.edit(path, parity=2) as editor:
        editor.delete(["pods"])
    with path.open("r+b") as file:
        file.seek(5000)
        file.write(bytes(1000))
    ragfile.repair(path)
    return state(path)


READING = {
    "search": asked,
    "words": lambda path: asked(path, mode="bm25"),
    "filtered": lambda path: asked(path, where={"n": {"$in": [1, 2]}}),
    "batch": batch, "legs": legs, "lookups": looked_up, "explain": explained, "verify": verified,
}  # fmt: skip
WRITING = {
    "edit": edited, "parity": protected, "compact": compacted, "build": built, "convert": converted,
}  # fmt: skip


def prepare(folder):
    """The file that is read and changed, and the folder that is built."""
    path, sources = folder / "kb.ragfile", folder / "sources"
    sources.mkdir(parents=True)
    for name, text in TEXTS.items():
        (sources / f"{name}.md").write_text(text)
    with ragfile.create(path, embedder="default") as writer:
        writer.add(
            [{"doc_id": name, "chunk_index": 0, "content": text, "metadata": {"n": n}}
             for n, (name, text) in enumerate(TEXTS.items())]
        )  # fmt: skip
    return path


def is_right(error):
    """Whether it says that memory ran out, in our words or in those of numpy, CPython and zstd."""
    said = "without exception", "without setting an", "not PosixPath", "Allocation error"
    return isinstance(error, MemoryError | RagfileError | OSError) or any(
        words in str(error) for words in said
    )


def attempt(call, path, wanted, states, at):
    """What goes wrong when allocation `at` fails; "" for nothing."""
    try:
        starve.starve_next(at)
        found = call(path)
    except Exception as error:  # noqa: BLE001 - looked at when there is memory again
        found = error
    starve.starve_next(0)
    if isinstance(found, Exception) and not is_right(found):
        return f"{found!r}\n{''.join(traceback.format_tb(found.__traceback__)[-3:])}"
    if not isinstance(found, Exception) and found != wanted:
        return f"another answer: {found!r:.300}"
    if states and state(path) not in states:
        return f"the file holds something else after {found!r:.200}"
    if not states and call(path) != wanted:
        return f"another answer afterwards, after {found!r:.200}"
    return ""


def tried(folder, call, wanted, states, at):
    """The same in a child; how it ended, if not well."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder / "kept", work)
    child = os.fork()
    if child == 0:
        said = attempt(call, work / "kb.ragfile", wanted, states, at)
        if said:
            print(said, file=sys.stderr, flush=True)
        os._exit(bool(said))
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status)


def places(count, most):
    """Numbers of allocations, all or so many spread over all."""
    return range(1, count + 1, max(1, count // most if most else 1))


def main(folder, most, names):
    faulthandler.enable()
    path, findings, tries = prepare(folder / "kept"), 0, 0
    for name, call in {**READING, **WRITING}.items():
        if names and name not in names:
            continue
        work = folder / "work"
        for watched in (0, -1):  # the first call imports what it needs, which would count for long
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(path.parent, work)
            starve.starve_next(watched)
            wanted, count = call(work / "kb.ragfile"), starve.starve_count()
        starve.starve_next(0)
        states = [state(path), state(work / "kb.ragfile")] if name in WRITING else []
        bad = 0
        for at in places(count, most):
            tries += 1
            if ended := tried(folder, call, wanted, states, at):
                bad += 1
                print(f"{name}: allocation {at} of {count}: ended with {ended}", file=sys.stderr)
        print(f"{name}: {count} allocations, {bad} findings", flush=True)
        findings += bad
    print(f"{tries} attempts, {findings} findings")
    return findings


if __name__ == "__main__":
    place = Path(sys.argv[1])
    sys.exit(bool(main(place, int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:])))
