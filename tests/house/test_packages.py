"""Each package that the product says it stands on does work there: without it, or with another in its place, one of these fails."""

import os
import subprocess
import sys
import types

import numpy as np
import pytest
import xxhash
from mmap_ninja import numpy as ninja
from places import ROOT

import ragfile
from ragfile import _core
from ragfile.embedding.protocol import open_embedder
from ragfile.embedding.resume import Stash
from ragfile.search.reranker import simhash


@pytest.fixture
def path(tmp_path):
    with ragfile.create(tmp_path / "kb", dim=2) as w:
        w.add(
            [{"doc_id": n, "chunk_index": 0, "content": f"passage {n}"} for n in "ab"],
            [[1, 0], [0, 1]],
        )
    return tmp_path / "kb"


def without(package, code, *arguments):
    """Runs code where a package cannot be imported; what it said."""
    blocked = f"import sys; sys.modules[{package!r}] = None\n"
    command = [sys.executable, "-c", blocked + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_vectors_are_numpy_arrays_over_the_file(path):
    with ragfile.open(path) as rf:
        assert isinstance(rf.vectors(), np.ndarray)
        assert not rf.vectors().flags.owndata
    done = without("numpy", "import ragfile; ragfile.open(sys.argv[1])", path)
    assert "numpy" in done.stderr.splitlines()[-1]


def test_the_core_is_a_cython_module():
    assert _core.__test__ == {}  # Cython gives one to every module; C does not
    assert "cythonize(" in (ROOT / "setup.py").read_text()


def test_staged_vectors_are_a_matrix_that_mmap_ninja_opens(tmp_path):
    stash, folder = Stash(tmp_path / "stash", "m", 3), tmp_path / "stash"
    stash.append(["a", "b"], np.arange(6, dtype=np.float32).reshape(2, 3))
    stash.append(["c"], np.full((1, 3), 7, np.float32))
    rows = ninja.open_existing(folder)
    assert rows.shape == (3, 16 + 8 + 12)
    assert rows[:, 24:].copy().view("<f4").tolist() == [[0, 1, 2], [3, 4, 5], [7, 7, 7]]


def test_no_file_is_opened_or_asked_through_mmap_ninja(path):
    code = "import ragfile; rf = ragfile.open(sys.argv[1]); print(rf.search('passage', vector=[1, 0])[0].id, rf.file.lookup('x'))"
    assert without("mmap_ninja", code, path).stdout == "a#0 []\n"


def test_staged_rows_and_hashes_of_texts_are_of_xxhash(tmp_path):
    Stash(tmp_path / "stash", "m", 1).append(["text"], np.ones((1, 1)))
    row = ninja.open_existing(tmp_path / "stash")[0].tobytes()
    assert row[16:24] == xxhash.xxh3_64_digest(row[:16] + row[24:])
    assert simhash("word") == xxhash.xxh3_64_intdigest(b"word")
    code = "import ragfile.embedding.resume"
    assert "xxhash" in without("xxhash", code).stderr.splitlines()[-1]


def test_what_users_wait_for_is_timed_by_pytest_benchmark():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
        "--benchmark-disable",
    ]
    done = subprocess.run(
        [*command, ROOT / "bench" / "regressions.py"],
        env={**os.environ, "ROWS": "400"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "50 passed" in done.stdout


def test_a_sentence_transformer_is_opened_by_name_and_asked_in_batches(monkeypatch):
    asked = []

    class SentenceTransformer:
        prompts = {"query": "query: "}  # noqa: RUF012

        def __init__(self, name, device, local_files_only):
            asked.append((name, device, local_files_only))

        def get_sentence_embedding_dimension(self):
            return 2

        def encode(self, texts, **options):
            asked.append((texts, options["batch_size"], options["prompt"]))
            return np.array([[3.0, 4.0]] * len(texts))

    package = types.ModuleType("sentence_transformers")
    package.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    embedder = open_embedder("st:sentence-transformers/some-model", batch=7, offline=True)
    assert (embedder.model.name, embedder.model.dims) == ("st:some-model", 2)
    assert embedder.embed(["one", " "], "query").tolist() == [
        [np.float32(0.6), np.float32(0.8)],
        [0, 0],
    ]
    assert asked == [("sentence-transformers/some-model", None, True), (["query: one"], 7, "")]
