"""The examples of spec/ragmd.md are what it says they are."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from oracles import ragmd as ragmd_oracle
from oracles.ragmd_examples import rendered
from places import ROOT

from ragfile.exchange.faiss.index import CLASS_NAMES, Index
from ragfile.exchange.ragmd import ragmd_reader

SPEC = (ROOT / "spec" / "ragmd.md").read_text()


def example():
    return SPEC.split("````markdown\n")[1].split("````")[0]


def test_the_example_file_is_what_a_save_writes():
    found = ragmd_reader.parse(example().encode())
    assert rendered(found).decode() == example()
    assert [found.text(row) for row in range(2)] == ["This is a sample.", "In short."]
    assert found.index.vectors.tolist() == [[1, 0], [0.5, -2]]


def test_the_example_bytes_are_the_index_of_the_example_file():
    rows = re.findall(r"(?m)^((?:[0-9a-f]{2} +){8,}[0-9a-f]{2})$", SPEC.split("## 9.")[1])
    assert bytes.fromhex("".join(rows)) == Index.of(np.array([[1, 0], [0.5, -2]])).data.tobytes()


def test_the_second_reader_reads_the_example():
    assert ragmd_oracle.read(example().encode())["count"] == 2


def test_every_class_name_is_in_the_table():
    for letters, name in CLASS_NAMES.items():
        assert f'"{letters}"' in SPEC or f"`{letters}`" in SPEC
        assert name in SPEC


def test_the_lock_has_the_name_of_the_specification(tmp_path):
    name = re.search(r"`flock` on the temporary file, `(.*?)`", SPEC)[1]
    with ragmd_reader.lock(tmp_path / "kb.ragmd"):
        assert [path.name for path in tmp_path.iterdir()] == [name.format(name="kb.ragmd")]


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="the recipe is for a POSIX shell")
def test_the_recipe_hides_the_vectors_from_a_diff(tmp_path):
    command = re.search(r'textconv "(.*)"', SPEC)[1]
    (tmp_path / "x.ragmd").write_text(example())
    shown = subprocess.run(
        ["sh", "-c", f"{command} x.ragmd"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert shown == re.sub(r"(?s)(```base64\n).*?(```)", r"\1\2", example())
