"""Whatever is written over a file keeps that file's owner, group, mode and links, from the first byte on."""

import errno
import os
import stat

import numpy as np
import pytest
from oracles.ragmd_examples import collection

import ragfile
from ragfile.errors import LockedError
from ragfile.exchange import conversion
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.ragmd import ragmd_reader
from ragfile.file.pairs_writer import write_pairs
from ragfile.ground import atomic_replace

KEYWORDS = [("one", "two")]


def create(path):
    with ragfile.create(path, dim=2) as writer:
        writer.add([{"doc_id": "a", "chunk_index": 0, "content": "x"}], np.ones((1, 2), np.float32))


def compacted(path):
    create(path)
    with ragfile.edit(path) as writer:
        writer.add([{"doc_id": "b", "chunk_index": 0, "content": "x"}], np.ones((1, 2), np.float32))
    ragfile.compact(path)


DOORS = {
    "create": create,
    "compact": compacted,
    "pairs": lambda path: write_pairs(path, KEYWORDS),
    "ragmd": lambda path: ragmd_reader.save(path, collection()),
    "faiss": lambda path: json_pair.write(collection(), path, path.parent / "x.json"),
}
doors = pytest.mark.parametrize(
    "write", [pytest.param(write, id=name) for name, write in DOORS.items()]
)


@doors
def test_a_private_file_stays_private(tmp_path, write):
    path = tmp_path / "x"
    write(path)
    os.chmod(path, 0o600)
    write(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@doors
def test_a_link_stays_a_link_to_what_was_written(tmp_path, write):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "x", tmp_path / "x"
    write(target)
    link.symlink_to("real/x")
    os.link(target, tmp_path / "before")
    write(link)
    assert link.is_symlink()
    assert not target.samefile(tmp_path / "before")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@doors
def test_the_owner_and_the_group_stay(tmp_path, write):
    path = tmp_path / "x"
    write(path)
    os.chown(path, 4711, 4712)
    write(path)
    assert (os.stat(path).st_uid, os.stat(path).st_gid) == (4711, 4712)


@doors
def test_only_a_regular_file_is_replaced(tmp_path, write):
    path = tmp_path / "x"
    os.mkfifo(path)
    with pytest.raises(OSError, match="Invalid argument"):
        write(path)
    assert stat.S_ISFIFO(os.stat(path).st_mode)


def hidden_modes(folder):
    return [
        stat.S_IMODE(entry.stat().st_mode)
        for entry in os.scandir(folder)
        if entry.name.startswith(".")
    ]


def test_pairs_are_never_readable_by_others_while_they_are_written(tmp_path):
    path, seen = tmp_path / "x", []
    path.touch(0o600)

    def keywords():
        yield from KEYWORDS
        seen.extend(hidden_modes(tmp_path))

    write_pairs(path, keywords())
    assert seen == [0o600]


def test_a_ragmd_is_never_readable_by_others_while_it_is_written(tmp_path):
    path = tmp_path / "x.ragmd"
    ragmd_reader.save(path, collection())
    os.chmod(path, 0o600)
    with ragmd_reader.lock(path) as held:
        assert hidden_modes(tmp_path) == [0o600]
        ragmd_reader.save(path, collection(), held=held)
    assert hidden_modes(tmp_path) == []


def test_two_writers_of_pairs_do_not_meet(tmp_path):
    def keywords():
        yield from KEYWORDS
        write_pairs(tmp_path / "x", KEYWORDS)

    with pytest.raises(LockedError, match="this one"):
        write_pairs(tmp_path / "x", keywords())
    assert os.listdir(tmp_path) == []


def test_what_fails_leaves_nothing(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), atomic_replace.replacing(path) as file:
        file.write(b"new")
        _ = 1 / 0
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["x"])


def test_room_is_left_and_filled(tmp_path):
    with atomic_replace.replacing(tmp_path / "x") as file:
        file.skip_to(4)
        file.write(b"tail")
        file.write_at(0, b"head")
        assert bytes(memoryview(file.mapped())) == b"headtail"
        file.truncate(6)
    assert (tmp_path / "x").read_bytes() == b"headta"


def test_a_file_of_another_kind_is_spared(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="delete it or choose another path") as caught:
        atomic_replace.spare(path, lambda head: head.startswith(b"RAGFILE"), "RAGFile")
    assert (caught.value.errno, caught.value.filename) == (errno.EEXIST, str(path))


def test_an_address_is_not_written_to():
    with pytest.raises(ValueError, match="is read-only"):
        write_pairs("http://127.0.0.1/x", KEYWORDS)


LIBRARY = {
    "build": lambda path: ragfile.build(path, path),
    "create": create,
    "pairs": lambda path: write_pairs(path, KEYWORDS),
    "ragmd": lambda path: ragmd_reader.save(path, collection()),
    "faiss": lambda path: json_pair.write(collection(), path, path.parent / "x.json"),
    "json": lambda path: json_pair.write(collection(), path.parent / "x.faiss", path),
    "convert to a RAGFile": lambda path: conversion.write(collection(), path, to="ragfile"),
}


@pytest.mark.parametrize("write", [pytest.param(write, id=name) for name, write in LIBRARY.items()])
def test_no_door_of_the_library_replaces_a_document(tmp_path, write):
    page = tmp_path / "page.md"
    page.write_text("# Mine\n\nand nobody else's.\n")
    before = page.read_bytes()
    with pytest.raises(FileExistsError, match="delete it or choose another path"):
        write(page)
    assert page.read_bytes() == before
    assert os.listdir(tmp_path) == ["page.md"]


@pytest.mark.parametrize("kind", ["npy+jsonl", "pgvector"])
def test_a_folder_of_other_things_is_not_written_into(tmp_path, kind):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "note.json").write_text("mine")
    with pytest.raises(FileExistsError, match="choose another path"):
        conversion.write(collection(), tmp_path / "notes", to=kind)
    assert os.listdir(tmp_path / "notes") == ["note.json"]
    for _ in range(2):  # its own folder is replaced
        conversion.write(collection(), tmp_path / "new", to=kind)
    assert len(conversion.read(tmp_path / "new").documents) == len(collection().documents)
