"""A real folder of documents, from one command to exact answers.

    python tests/checks/folder.py FOLDER [--questions 1000]

1. `ragfile build FOLDER -o kb.ragfile` under several locales, hash seeds, numbers of CPUs and SIMD targets: the same bytes.
2. Questions that were cut from the folder's own texts, in every mode: each hit has a source, its document is the file's text after
   normalisation, and its text is document[start:end]; Markdown below a heading has its header path.
"""

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time

import ragfile
from ragfile.ingest.document_loader import Loading

MODES = ("hybrid", "bm25", "vector")


def environments():
    """(settings, CPUs) that must not matter. A locale that this machine lacks is said to be missing."""
    yield {"LC_ALL": "C", "PYTHONHASHSEED": "0"}, 1
    yield {"LC_ALL": "C", "PYTHONHASHSEED": "1"}, os.cpu_count()
    yield {"LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "0"}, os.cpu_count()
    yield {"LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "1"}, 1
    yield (
        {
            "LC_ALL": "C.UTF-8",
            "PYTHONHASHSEED": "2",
            "TZ": "Pacific/Auckland",
            "RAGFILE_TARGET": "baseline",
        },
        1,
    )


def has_locale(settings):
    code = "import locale, sys; locale.setlocale(locale.LC_ALL, ''); print(locale.getlocale()[0])"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **settings}, capture_output=True, text=True
    )
    return done.returncode == 0


def check_builds(folder, out):
    """One command under each environment; the files' digests must be one. Leaves the last file at out."""
    digests = set()
    for settings, cpus in environments():
        chosen = set(sorted(os.sched_getaffinity(0))[:cpus])
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "ragfile", "build", folder, "-o", out], env={**os.environ, **settings}, check=True,
            stdout=subprocess.DEVNULL, preexec_fn=lambda chosen=chosen: os.sched_setaffinity(0, chosen),
        )  # fmt: skip
        with open(out, "rb") as file:
            digests.add(digest := hashlib.file_digest(file, "sha256").hexdigest())
        named = " ".join(f"{name}={value}" for name, value in settings.items())
        missing = "" if has_locale(settings) else "  (this machine has no such locale: C was used)"
        print(
            f"{digest[:16]}  {time.perf_counter() - began:5.1f} s, {len(chosen)} CPUs, {named}{missing}",
            flush=True,
        )
    if len(digests) != 1:
        raise SystemExit("the same folder made different files")


def questions_of(rf, count):
    """Runs of words from random passages, by a seed."""
    rng, found = random.Random(6), []
    while len(found) < count:
        words = rf.chunk(rng.randrange(len(rf))).content.split()
        if len(words) > 3:
            at = rng.randrange(len(words) - 3)
            found.append(" ".join(words[at : at + rng.randint(2, 9)]))
    return found


def check_answers(folder, path, count):
    """Every hit is its document's exact span, and says where it is from."""
    texts = {document.id: document.text for document in Loading(folder)}
    hits, paths = 0, 0
    with ragfile.open(path) as rf:
        for question in questions_of(rf, count):
            for mode in MODES:
                for hit in rf.search(question, mode=mode, cache=False):
                    where = f"{mode} {question!r}: {hit.id}"
                    (document,) = rf.sources([hit.id])
                    assert hit.text == document.text[hit.start : hit.end], (
                        f"{where}: not document[start:end]"
                    )
                    assert document.text == texts[hit.doc_id], (
                        f"{where}: not the text that was read"
                    )
                    assert hit.source, f"{where}: no source"
                    assert os.path.basename(hit.source) == os.path.basename(hit.doc_id), (
                        f"{where}: of {hit.source}"
                    )
                    hits += 1
                    paths += bool(hit.metadata.get("headers"))
    print(
        f"{count} questions in {len(MODES)} modes: {hits} hits, each its document's exact span; {paths} with a header path"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--questions", type=int, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "kb.ragfile")
        check_builds(arguments.folder, out)
        print(
            subprocess.run(
                [sys.executable, "-m", "ragfile", "info", out], capture_output=True, text=True
            ).stdout,
            end="",
        )
        check_answers(arguments.folder, out, arguments.questions)


if __name__ == "__main__":
    main()
