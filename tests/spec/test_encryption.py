"""Both readers of encrypted files agree on the vectors of part 13, byte for byte."""

import hashlib
import importlib.util
import json
import random
import sys

import pytest
from places import ROOT

import ragfile
from ragfile import _core
from ragfile.file.source import opened_map

FOLDER = ROOT / "spec" / "vectors" / "encryption"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
KEY = bytes.fromhex(EXPECTED["key"])
KINDS = {
    "key": ragfile.EncryptionError, "corrupt": ragfile.CorruptError, "version": ragfile.VersionError,
    "format": ragfile.FormatError,
}  # fmt: skip


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem + "_of_spec", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))  # a script adds folders of its own before it
    return module


SLOW = _load(ROOT / "spec" / "encryption.py")
TRAILERS = _load(ROOT / "spec" / "trailers.py")


@pytest.mark.parametrize("name", EXPECTED["files"])
def test_the_package_finds_what_a_vector_holds_or_refuses_it_at_its_byte(name):
    path, wanted = FOLDER / f"{name}.ragfile", EXPECTED["files"][name]
    if "refused" in wanted:
        kind = KINDS[wanted["refused"]["kind"]]
        with pytest.raises(kind) as refusal:
            opened_map(str(path), KEY)
        assert type(refusal.value) is kind
        assert getattr(refusal.value, "at", wanted["refused"]["at"]) == wanted["refused"]["at"]
        return
    found = opened_map(str(path), KEY)
    assert hashlib.sha256(bytes(found)).hexdigest() == wanted["sha256"]
    first = 8192 + 4096 * wanted["wrong"][0] if wanted["wrong"] else 0
    assert found.bad_blocks() == (len(wanted["wrong"]), first)


@pytest.mark.parametrize("name", EXPECTED["files"])
def test_the_slow_reader_finds_what_a_vector_holds_or_refuses_it_at_its_byte(name):
    wanted, data = EXPECTED["files"][name], (FOLDER / f"{name}.ragfile").read_bytes()
    if "refused" in wanted:
        with pytest.raises(SLOW.Refused) as refusal:
            SLOW.decrypted(data, KEY)
        error = refusal.value
        assert {"kind": error.kind, "at": error.at, "rule": error.rule} == wanted["refused"]
        return
    inner, wrong = SLOW.decrypted(data, KEY)
    assert (hashlib.sha256(inner).hexdigest(), wrong) == (wanted["sha256"], wanted["wrong"])


@pytest.mark.parametrize("name", [n for n, v in EXPECTED["files"].items() if "repaired" in v])
def test_both_readers_repair_a_vector_without_a_key(name, tmp_path):
    path, wanted = tmp_path / "kb.ragfile", EXPECTED["files"][name]["repaired"]
    data = (FOLDER / f"{name}.ragfile").read_bytes()
    assert hashlib.sha256(TRAILERS.repaired(data)).hexdigest() == wanted
    path.write_bytes(data)
    ragfile.repair(path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == wanted


def test_the_slow_repair_agrees_with_the_package_over_damage_of_its_files(tmp_path):
    path, chance = tmp_path / "kb.ragfile", random.Random(9)
    ragfile.build([{"id": "a.md", "text": "Pods live long."}], path, key=KEY, parity=5)
    with ragfile.edit(path, key=KEY) as w:
        w.upsert([{"id": "b.md", "text": "Gardens"}])
    whole = path.read_bytes()
    assert TRAILERS.repaired(whole) == whole
    for _ in range(3):
        hurt = bytearray(whole)
        for at in chance.sample(range(8192, len(whole)), 2):
            hurt[at] ^= 5
        path.write_bytes(hurt)
        ragfile.repair(path)
        assert TRAILERS.repaired(bytes(hurt)) == path.read_bytes() == whole


def test_the_vectors_are_what_their_script_makes():
    for name, (_, data) in _load(FOLDER / "make.py").files().items():
        assert (FOLDER / f"{name}.ragfile").read_bytes() == data, name


def test_good_vectors_hold_the_bytes_of_their_plain_file():
    plain = (FOLDER.parent / "good-1-commits.ragfile").read_bytes()
    for name in ("one", "two-keys", "wide", "first-page", "second-page", "newer-page"):
        assert bytes(opened_map(str(FOLDER / f"{name}.ragfile"), KEY)) == plain, name


def test_the_slow_reader_finds_the_plain_bytes_of_files_that_the_package_wrote(tmp_path):
    path = tmp_path / "kb.ragfile"
    documents = [
        {"id": f"{i}.md", "text": f"Pods live long. {i} " * (1 + i % 50)} for i in range(200)
    ]
    ragfile.build(documents, path, key=KEY)
    for i in range(3):
        with ragfile.edit(path, key=KEY) as w:
            w.upsert([{"id": f"{i}.md", "text": f"Gardens {i}"}])
    inner, wrong = SLOW.decrypted(path.read_bytes(), KEY)
    assert not wrong
    assert inner == bytes(opened_map(str(path), KEY))
    (tmp_path / "plain.ragfile").write_bytes(inner)
    assert ragfile.verify(tmp_path / "plain.ragfile")[0] == []


def test_any_byte_that_changes_is_found_or_changes_nothing(tmp_path):
    """A flipped byte makes one block wrong, or one of the header's pages, or is padding."""
    data = bytearray((FOLDER / "one.ragfile").read_bytes())
    plain, chance = bytes(opened_map(str(FOLDER / "one.ragfile"), KEY)), random.Random(5)
    path = tmp_path / "flipped.ragfile"
    for at in [*range(8192, 8192 + 48), *chance.sample(range(len(data)), 300)]:
        changed = bytearray(data)
        changed[at] ^= 1 << chance.randrange(8)
        path.write_bytes(changed)
        if at < 8:
            assert not _core.is_encrypted(bytes(changed[:8]))
            continue
        found = opened_map(str(path), KEY)
        if at < 8192:
            assert bytes(found) == plain
        else:
            assert found.bad_blocks() == (1, at // 4096 * 4096)
            block = (at - 8192) // 4096 * 4032
            assert bytes(found)[block : block + 4032] == bytes(len(plain[block : block + 4032]))


def test_every_cut_is_a_wrong_block_or_a_shorter_file(tmp_path):
    data = (FOLDER / "one.ragfile").read_bytes()
    path = tmp_path / "cut.ragfile"
    for size in [*range(8192, 8192 + 200), *range(8192 + 4000, len(data), 7)]:
        path.write_bytes(data[:size])
        assert bytes(opened_map(str(path), KEY)) == SLOW.decrypted(data[:size], KEY)[0]
