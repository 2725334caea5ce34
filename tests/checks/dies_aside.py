"""Windows: a writer that dies between its two renames leaves the file to its next reader or writer.

Needs the wheel of `tools/windows/build.py --aside`, whose replacements end there if RAGFILE_DIE_ASIDE is set.
"""

import os
import subprocess
import sys
import tempfile

import ragfile


def texts(path):
    with ragfile.open(path) as rf:
        return sorted(document.text for document in rf.documents())


def dies(action, path):
    script = f"import ragfile, sys\n{action}"
    environment = {**os.environ, "RAGFILE_DIE_ASIDE": "1"}
    command = [sys.executable, "-c", script, path]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.returncode == 9, done.stderr
    assert not os.path.exists(path), "the writer died after it"


def main():
    build = "ragfile.build([{'id': 'b', 'text': 'second'}], sys.argv[1])"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "kb.ragfile")
        ragfile.build([{"id": "a", "text": "first"}], path)
        dies(build, path)
        assert texts(path) == ["first"], "a reader gets the file back"
        dies(build, path)
        with ragfile.edit(path) as writer:
            writer.upsert([{"id": "c", "text": "third"}])
        assert texts(path) == ["first", "third"], "a writer gets the file back"
        dies("ragfile.compact(sys.argv[1])", path)
        assert texts(path) == ["first", "third"]
        ragfile.compact(path)
        ragfile.build([{"id": "d", "text": "fourth"}], path)
        assert texts(path) == ["fourth"]
    print("a writer that dies between two renames loses nothing")


if __name__ == "__main__":
    main()
