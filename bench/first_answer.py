"""Measure a new process: its first answer from a file, and the commands that answer from it.

    python bench/first_answer.py FILE QUESTION [--rounds 15]

Times are CPU milliseconds, the best of some processes. Those of an answer begin after the imports;
those of a command are of the whole process, beside bare Python and the imports of numpy and click.
"""

import argparse
import json
import os
import subprocess
import sys

FIRST = """
import json, sys, time
import numpy, ragfile.knowledge_base, ragfile.opener
times = [time.process_time()]
rf = ragfile.open(sys.argv[1])
times.append(time.process_time())
for question in (sys.argv[2], sys.argv[2] + " again", sys.argv[2] + " and again"):
    rf.search(question, k=10)
    times.append(time.process_time())
print(json.dumps([(b - a) * 1e3 for a, b in zip(times, times[1:])]))
"""


def first_answer(file, question):
    command = [sys.executable, "-c", FIRST, file, question]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


def spent(words):
    """Return the CPU ms of a process."""
    nothing = [(os.POSIX_SPAWN_DUP2, NOWHERE, number) for number in (1, 2)]
    process = os.posix_spawn(
        sys.executable, [sys.executable, *words], os.environ, file_actions=nothing
    )
    _, status, usage = os.wait4(process, 0)
    assert status == 0, words
    return (usage.ru_utime + usage.ru_stime) * 1e3


NAMES = ("open", "first", "second", "third")
NOWHERE = os.open(os.devnull, os.O_WRONLY)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("question")
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command sets it
    answers = [first_answer(asked.file, asked.question) for _ in range(asked.rounds)]
    for name, times in zip(NAMES, zip(*answers, strict=True), strict=True):
        print(f"{name:10} {min(times):7.2f} ms CPU")
    commands = {
        "python": ["-c", "pass"], "numpy": ["-c", "import numpy"], "click": ["-c", "import click"],
        "--version": ["-m", "ragfile", "--version"], "--help": ["-m", "ragfile", "--help"],
        "search": ["-m", "ragfile", "search", asked.file, asked.question],
        "ask": ["-m", "ragfile", "ask", asked.file, asked.question],
        "info": ["-m", "ragfile", "info", asked.file],
    }  # fmt: skip
    for name, words in commands.items():
        print(f"{name:10} {min(spent(words) for _ in range(asked.rounds)):7.1f} ms CPU")


if __name__ == "__main__":
    main()
