"""`ragfile repair`, `build --parity`, `compact --parity`, and what verify says of them."""

import json

import pytest

import ragfile


@pytest.fixture
def kb(tmp_path, run):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "keys.md").write_text("# Keys\n\nRotate the keys every ninety days.")
    run("build", folder, "-o", tmp_path / "kb.ragfile", "--embedder", "none", "--parity", 2)
    return tmp_path / "kb.ragfile"


def damage(path, at, size):
    data = bytearray(path.read_bytes())
    data[at : at + size] = bytes(255 - byte for byte in data[at : at + size])
    path.write_bytes(data)


def test_verify_says_how_to_repair_and_repair_does_it(kb, run):
    whole = kb.read_bytes()
    damage(kb, 4096, 5000)
    code, out, err = run("verify", kb)
    assert code == 5
    assert f"`ragfile repair {kb}` can repair it" in err
    code, out, err = run("repair", kb)
    assert (code, out.splitlines()[-1]) == (0, f"{kb}: repaired")
    assert kb.read_bytes() == whole
    assert run("repair", kb)[1] == f"{kb}: good; nothing to repair\n"
    assert run("verify", kb, "--full")[0] == 0


def test_a_file_that_does_not_open_is_told_how_to_be_repaired(kb, run):
    damage(kb, 0, 4096)
    code, _, err = run("verify", kb)
    assert code == 5
    assert f"`ragfile repair {kb}` can repair it" in err
    assert run("repair", kb)[0] == 0
    assert run("verify", kb)[0] == 0


def test_a_dry_run_writes_nothing(kb, run):
    damage(kb, 4096, 5000)
    broken = kb.read_bytes()
    code, out, _ = run("repair", "-n", kb)
    assert (code, kb.read_bytes()) == (0, broken)
    assert "all damage can be repaired; nothing was written" in out


def test_json_says_what_came_back_and_where(kb, run, tmp_path):
    damage(kb, 4096, 10)
    code, out, _ = run("repair", kb, "-o", tmp_path / "new.ragfile", "--json")
    said = json.loads(out)
    assert (code, said["is_written"], said["is_repairable"]) == (0, True, True)
    assert said["restored"][0] | {"size": 0} == said["restored"][0] | {"at": 4096, "size": 0}
    assert json.loads(run("verify", kb, "--json")[1])["is_repairable"] is True
    assert json.loads(run("verify", tmp_path / "new.ragfile", "--json")[1])["is_repairable"] is None


def test_damage_beyond_parity_ends_with_2_and_changes_nothing(kb, run):
    damage(kb, 4096, kb.stat().st_size - 9000)
    broken = kb.read_bytes()
    code, out, err = run("repair", kb)
    assert (code, kb.read_bytes()) == (5, broken)
    assert "CorruptError" not in err
    assert out or err


def test_a_file_without_parity_says_so(kb, run):
    run("compact", kb, "--parity", 0)
    assert ragfile.open(kb).info["parity"] == 0
    damage(kb, 4096, 10)
    code, _, err = run("repair", kb)
    assert code == 5
    assert "the file has no parity" in err
    assert "`ragfile repair" not in run("verify", kb)[2]


def test_each_file_of_a_dataset_has_its_parity(run, tmp_path, kb):
    out = tmp_path / "d"
    assert run("build", tmp_path / "docs", "-o", out, "--shards", 2, "--parity", 2)[0] == 0
    (shard, *_) = sorted((out / "shards").iterdir())
    before = shard.read_bytes()
    shard.write_bytes(before[:5000] + bytes(200) + before[5200:])
    assert run("verify", out)[0] == 5
    assert run("repair", shard)[0] == 0
    assert shard.read_bytes() == before
    assert run("verify", out)[0] == 0
    assert run("repair", f"{tmp_path}/docs/")[0] == 1
