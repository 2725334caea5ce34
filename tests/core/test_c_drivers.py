"""C programs on the core alone: callers that break its contract, and kept inputs of the fuzzers, changed at random.

They are compiled without sanitizers, which `make -C tests fuzz` and `make -C tests fuzz-parity` have. With the variable RAGFILE_OBJECTS they are
linked with the objects of a build that counts branches (tools/coverage_c.sh), and RAGFILE_ROUNDS says how many changes of
each input are tried.
"""

import os
import shutil
import subprocess

import pytest
from core.test_clusters import topics
from core.test_vectors_planes import uneven
from crash.starving import some_texts
from places import ROOT, ZSTD

import ragfile

ROUNDS = int(os.environ.get("RAGFILE_ROUNDS", "300"))
FLAGS = [
    "-std=gnu11",
    "-O1",
    "-Wall",
    "-Wextra",
    f"-I{ROOT / 'csrc/include'}",
    f"-I{ROOT / 'csrc'}",
    f"-I{ZSTD}",
]

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="compiled by the test")


@pytest.fixture
def core(c_objects, libzstd):
    """The objects of the core, and what they are linked with."""
    return list(map(str, [*c_objects, *libzstd]))


def compiler():
    return os.environ.get("CC", "cc")


def run(core, folder, sources, *arguments):
    """What a program of these sources prints."""
    program = folder / "program"
    command = [compiler(), *FLAGS, *(f"csrc/tests/{name}" for name in sources), *core]
    subprocess.run([*command, "-lm", "-lpthread", "-o", program], cwd=ROOT, check=True)
    quiet = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        [program, *map(str, arguments)], env=quiet, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_caller_that_breaks_the_contract_is_refused(core, tmp_path):
    assert int(run(core, tmp_path, ["drivers/misuse.c"], tmp_path).split()[0]) > 80


def test_encrypted_files_hold_what_was_written_and_changed_ones_end_inside_their_bytes(
    core, tmp_path
):
    found = run(core, tmp_path, ["drivers/encrypted.c"], tmp_path, ROUNDS // 5)
    assert found == f"{ROUNDS // 5} rounds\n"


def some_file(path, rows, **options):
    """A file with texts, words and vectors, two passages a document."""
    chunks = [
        {
            "doc_id": f"d{i // 2:04d}" + "x" * (i // 2 % 40 * 25),
            "chunk_index": i % 2,
            "content": text,
            "metadata": {"n": i},
        }
        for i, text in enumerate(some_texts(len(rows)))
    ]
    with ragfile.create(path, dim=rows.shape[1], created=1, **options) as writer:
        writer.add(chunks, rows)
    return path


def test_bytes_that_are_lent_answer_as_bytes_in_memory_and_each_refusal_is_told(core, tmp_path):
    files = [
        some_file(tmp_path / "plain", topics(600, 24)),
        some_file(tmp_path / "clusters", topics(900, 16), clusters=30),
        some_file(tmp_path / "planes", uneven(4096, 96, fall=0.93)),
    ]
    said = run(core, tmp_path, ["drivers/lent.c"], max(10, ROUNDS // 30), *files)
    assert said.count("stretches lent") == len(files)


def test_containers_that_were_changed_are_read_or_refused(core, tmp_path):
    sources = ["fuzz/replay.c", "fuzz/container.c", "fuzz/mutate.c"]
    seeds = sorted((ROOT / "csrc/tests/fuzz/corpus").iterdir())
    assert f"{ROUNDS} changes of each" in run(core, tmp_path, sources, ROUNDS, *seeds)


def test_pairs_that_were_changed_are_read_or_refused(core, tmp_path):
    seeds = sorted((ROOT / "csrc/tests/fuzz/corpus_pairs").iterdir())
    sources = ["fuzz/replay.c", "fuzz/pairs.c"]
    assert f"{ROUNDS} changes of each" in run(core, tmp_path, sources, ROUNDS, *seeds)


def test_compressed_blocks_that_were_changed_are_read_or_refused(core, tmp_path):
    seeds = sorted((ROOT / "csrc/tests/fuzz/corpus_frames").iterdir())
    sources = ["fuzz/replay.c", "fuzz/frames.c"]
    assert f"{ROUNDS} changes of each" in run(core, tmp_path, sources, ROUNDS, *seeds)


def test_links_that_were_changed_are_read_or_refused(core, tmp_path):
    seeds = sorted((ROOT / "csrc/tests/fuzz/corpus_graph").iterdir())
    sources = ["fuzz/replay.c", "fuzz/graph.c"]
    assert f"{ROUNDS} changes of each" in run(core, tmp_path, sources, ROUNDS, *seeds)


def test_parity_that_was_changed_repairs_or_is_refused(core, tmp_path):
    files = sorted((ROOT / "spec/vectors/parity").glob("*.ragfile"))
    files += sorted((ROOT / "spec/vectors/encryption").glob("parity*.ragfile"))
    said = run(core, tmp_path, ["drivers/parity_fuzz.c"], ROUNDS // 3, 1, *files)
    assert "repairs" in said


def test_writers_wait_for_one_another_and_none_takes_the_lock_after_it_gave_up(core, tmp_path):
    assert run(core, tmp_path, ["drivers/lock_wait.c"], tmp_path) == "all had their turns\n"
