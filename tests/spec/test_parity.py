"""Parity as the specification says it: its vectors, its second reader, and the field's own laws."""

import importlib.util
import json
import random

import pytest
from oracles.handmade import Entry, Image, Table
from places import ROOT

import ragfile
from ragfile import _core

FOLDER = ROOT / "spec" / "vectors" / "parity"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SLOW = load(ROOT / "spec" / "parity.py")


def vector(name):
    """The bytes of a vector, by the README of its folder."""
    expected = EXPECTED[name]
    data = bytearray((FOLDER / f"{expected.get('of', name)}.ragfile").read_bytes())
    del data[expected.get("size", len(data)) :]
    for at, size in expected.get("inverted", []):
        data[at : at + size] = bytes(255 - byte for byte in data[at : at + size])
    for at, raw in expected.get("patches", []):
        data[at : at + len(raw) // 2] = bytes.fromhex(raw)
    return bytes(data)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_package_repairs_what_the_vector_says(name, tmp_path):
    path, back = tmp_path / "kb.ragfile", EXPECTED[name]["repaired"]
    path.write_bytes(vector(name))
    if back:
        ragfile.repair(path)
        assert path.read_bytes() == vector(back)
        assert ragfile.verify(path)[0] == []
        return
    faults = "CorruptError"
    try:
        faults = {fault[0] for fault in ragfile.verify(path)[0]}
        ragfile.repair(path)
    except ragfile.CorruptError:
        pass
    assert "CorruptError" in faults
    assert path.read_bytes() == vector(name)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_second_reader_repairs_what_the_vector_says(name):
    back = EXPECTED[name]["repaired"]
    if back:
        assert SLOW.repaired(vector(name)) == vector(back)
        return
    with pytest.raises(SLOW.Refused):
        SLOW.check(vector(name))


def test_the_vectors_are_what_their_script_makes():
    for name, data in load(FOLDER / "make.py").files().items():
        assert (FOLDER / name).read_bytes() == data, name


def test_the_package_writes_the_bytes_of_the_first_vector(tmp_path):
    make = load(FOLDER / "make.py")
    writer = _core.FileWriter.create(tmp_path / "kb.ragfile")
    writer.parity(2)
    for name, content in (make.FOO, make.BAR):
        writer.add(name, content)
    writer.commit()
    assert (tmp_path / "kb.ragfile").read_bytes() == vector("one")


def test_the_second_reader_repairs_files_that_the_package_made(tmp_path):
    path, rng = tmp_path / "kb.ragfile", random.Random(5)
    for generation in range(3):
        writer = _core.FileWriter.edit(path) if generation else _core.FileWriter.create(path)
        writer.parity(3)
        writer.add(f"part{generation}", rng.randbytes(rng.randrange(20000)))
        writer.commit(generation, f"commit {generation}")
    whole = path.read_bytes()
    assert SLOW.check(whole)
    first, *steps = SLOW.heads(whole)
    assert [head["block"] for head in steps] == [512, 512]
    places = [(at, 30000) for at in rng.sample(range(first["end"] - 30000), 2)]
    places += [(at, 1024) for at in rng.sample(range(first["end"], len(whole)), 4)]
    for at, size in places:
        data = bytearray(whole)
        data[at : at + size] = rng.randbytes(len(data[at : at + size]))
        assert SLOW.repaired(bytes(data)) == whole, at


def with_parity(image, table, head, toc):
    """A commit whose parity section has this head, which is of this table."""
    entry = table.entries[-1]
    entry.at, entry.items = head["at"], head["rows"]
    entry.size = head["rows"] * head["size"]
    _, _, entry.hash = image.put(SLOW.section(bytes(image.data), head, toc))
    image.seal(table)


def test_a_section_before_that_says_its_commit_is_longer_than_the_file_is_not_used(tmp_path):
    """The rest of what it says is in order, so its table would be written after the file's end."""
    image, long = Image(), 300_000
    first = Entry("a", *image.put(bytes(5000)))
    table = Table(1, 4096, entries=[first, Entry("rag.parity", 0, 0, 0)])
    head = SLOW.planned(len(image.data), 4096, long, 2, rows=4, quorum=4)
    with_parity(image, table, head, table.pack() + bytes(long - len(table.pack())))
    table = Table(2, len(image.data), entries=[first])
    table.entries += [
        Entry("b", *image.put(b"hello"), generation=2), Entry("rag.parity", 0, 0, 0, generation=2),
    ]  # fmt: skip
    later = SLOW.planned(
        len(image.data), head["toc_at"], len(table.pack()), 2, generation=2, rows=4, quorum=2,
        previous=image.previous, identity=image.identity, before=head["at"],
    )  # fmt: skip
    table.entries[-1].at, table.entries[-1].items = later["at"], 4
    table.entries[-1].size = 4 * later["size"]
    with_parity(image, table, later, table.pack())
    whole, path = image.bytes(), tmp_path / "kb.ragfile"
    assert head["end"] > len(whole)
    path.write_bytes(whole.replace(b"hello", b"hallo"))
    ragfile.repair(path)
    assert path.read_bytes() == whole
    assert SLOW.repaired(whole.replace(b"hello", b"hallo")) == whole


def test_the_field_is_a_field():
    rng = random.Random(1)
    for _ in range(1000):
        a, b, c = (rng.randrange(1, 65536) for _ in range(3))
        assert SLOW.product(a, SLOW.product(b, c)) == SLOW.product(SLOW.product(a, b), c)
        assert SLOW.product(a, b ^ c) == SLOW.product(a, b) ^ SLOW.product(a, c)
        assert SLOW.product(a, SLOW.inverse(a)) == 1
    assert len(SLOW.LOGS) == 65535


def test_the_worked_product_of_the_specification_holds():
    """x^15 times x is x^12 + x^3 + x + 1, by the polynomial that part 11 names."""
    assert SLOW.product(1 << 15, 2) == 1 << 12 | 1 << 3 | 1 << 1 | 1
