"""A short time of `make -C tests soak-file`, and that it notices what it is there for."""

import numpy as np
import pytest
from checks import soak_file

import ragfile


def test_a_file_stands_readers_a_writer_compactions_and_kills():
    good, seen = soak_file.soak(seconds=1)
    assert good
    assert seen["commits"] > 0


@pytest.fixture
def file(tmp_path):
    """A few commits of its writer."""
    path = tmp_path / soak_file.NAME
    soak_file.make(path)
    for serial in range(1, 5):
        soak_file.commit(path, serial, tmp_path / "sources")
    return path


def opened(path, **options):
    return ragfile.open(path, embedder=soak_file.Words(), **options)


def test_every_generation_is_what_follows_from_its_number(file):
    for generation in range(1, 6):
        with opened(file, generation=generation) as rf:
            assert soak_file.look(rf) == generation - 1


def test_one_changed_text_is_noticed(file):
    with ragfile.edit(file, embedder=soak_file.Words()) as w:
        w.upsert([soak_file.record(soak_file.SERIAL, ("5", None)), {"id": "d9", "text": "other"}])
    with opened(file) as rf, pytest.raises(AssertionError):
        soak_file.look(rf)


def test_answers_are_those_of_a_fresh_build_and_of_no_other(file, tmp_path):
    with opened(file) as rf, soak_file.fresh(4, tmp_path) as fresh:
        assert soak_file.answers(rf, 1) == soak_file.answers(fresh, 1)
    with opened(file) as rf, soak_file.fresh(3, tmp_path) as fresh:
        assert soak_file.answers(rf, 1) != soak_file.answers(fresh, 1)


def test_growth_is_noticed():
    process = soak_file.Process.__new__(soak_file.Process)
    process.role, process.began = "reader", -1e9
    process.sizes = [(30.0, 5)] * 50 + [(30.0, 5 + i) for i in range(50)]
    assert [what.split(":")[1].split()[0] for what in process.growth()] == ["descriptors"]
    memory = np.linspace(30, 80, 100)
    process.sizes = [(size, 5) for size in memory]
    assert len(list(process.growth())) == 1
