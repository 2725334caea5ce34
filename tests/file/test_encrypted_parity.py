"""The parity of an encrypted file repairs it bit for bit, without its key."""

import random

import pytest

import ragfile
from ragfile import _core
from ragfile.errors import CorruptError

KEY = bytes(range(32))
HEADER, STRIDE, MARK = 8192, 4096, 64


def documents(count, seed=0):
    chance = random.Random(seed)
    words = ["pods", "gardens", "rivers", "clocks", "kettles", "bridges", "violins", "owls"]
    return [
        {"id": f"{seed}-{i:03}.md", "text": " ".join(chance.choices(words, k=60))}
        for i in range(count)
    ]


def edited(path, seed, count=2):
    with ragfile.edit(path, key=KEY, created=seed + 1) as w:
        w.upsert(documents(count, seed))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file of six commits, most of them protected by steps."""
    path = tmp_path_factory.mktemp("parity") / "kb.ragfile"
    ragfile.build(documents(400), path, key=KEY, parity=5)
    for seed in range(1, 6):
        edited(path, seed, 60 if seed == 3 else 2)
    return path.read_bytes()


@pytest.fixture
def path(made, tmp_path):
    path = tmp_path / "kb.ragfile"
    path.write_bytes(made)
    return path


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("RAGFILE_KEY", raising=False)
    monkeypatch.delenv("RAGFILE_KEY_FILE", raising=False)


def damaged(data, at, size, chance):
    hurt = bytearray(data)
    hurt[at : at + size] = bytes(b ^ chance.randrange(1, 256) for b in data[at : at + size])
    return bytes(hurt)


def first_commit(path):
    """Where the first trailer ends: its commit is protected as a whole, later ones by steps."""
    data = path.read_bytes()
    marks = [
        at for at in range(HEADER, len(data), STRIDE) if data[at - 64 : at - 56] == b"RAGTRAIL"
    ]
    return marks[0]


def test_a_file_with_parity_answers_like_one_without(path, tmp_path):
    plain = tmp_path / "plain.ragfile"
    ragfile.build(documents(400), plain)
    for seed in range(1, 6):
        edited(plain, seed, 60 if seed == 3 else 2)
    with ragfile.open(plain) as a, ragfile.open(path, key=KEY) as b:
        for question in ("owls and rivers", "kettles"):
            assert [(h.id, h.score) for h in a.search(question)] == [
                (h.id, h.score) for h in b.search(question)
            ]
        assert (a.info["parity"], b.info["parity"], b.info["tail"]) == (0, 5, 0)
    with ragfile.using_key(KEY):
        faults, counts = ragfile.verify(path)
    assert faults == []
    assert counts["abandoned"] == 0


def test_any_64_kib_of_a_large_commit_are_repaired(path, made):
    chance, end = random.Random(1), first_commit(path)
    for _ in range(12):
        at = chance.randrange(HEADER, end - 65536)
        path.write_bytes(damaged(made, at, 65536, chance))
        report = ragfile.repair(path)
        assert path.read_bytes() == made, at
        assert report.is_written
        assert report.restored


def test_any_kib_anywhere_is_repaired(path, made):
    chance = random.Random(2)
    for at in (0, 4096, 7168, len(made) - 1024, *chance.sample(range(len(made) - 1024), 40)):
        path.write_bytes(damaged(made, at, 1024, chance))
        assert ragfile.repair(path).is_repairable
        assert path.read_bytes() == made, at


def test_an_end_that_was_cut_off_is_restored(path, made):
    for cut in (1, 63, 64, 65, 1000, 2000):
        path.write_bytes(made[:-cut])
        ragfile.repair(path)
        assert path.read_bytes() == made, cut


def test_a_repair_with_the_key_also_verifies_what_the_file_holds(path, made):
    path.write_bytes(damaged(made, 20000, 100, random.Random(3)))
    with ragfile.using_key(KEY):
        assert ragfile.repair(path).is_written
    path.write_bytes(damaged(made, 20000, 100, random.Random(3)))
    with ragfile.using_key(b"x" * 32):  # that of another file
        assert ragfile.repair(path).is_written
    assert path.read_bytes() == made


def test_an_intact_file_needs_no_repair(path, made):
    report = ragfile.repair(path)
    assert not report.is_damaged
    assert path.read_bytes() == made


def test_more_damage_than_parity_is_refused_and_the_file_stays(path, made):
    hurt = damaged(made, HEADER, 300_000, random.Random(4))
    path.write_bytes(hurt)
    with pytest.raises(CorruptError, match="more is damaged than its parity brings back"):
        ragfile.repair(path)
    assert path.read_bytes() == hurt
    report = ragfile.repair(path, dry_run=True)
    assert report.lost
    both = bytearray(made)
    both[100] ^= 1
    both[4196] ^= 1
    path.write_bytes(both)
    with pytest.raises(CorruptError):
        ragfile.repair(path)


def test_a_file_without_parity_has_none_to_repair_from(tmp_path):
    path = tmp_path / "kb.ragfile"
    ragfile.build(documents(5), path, key=KEY)
    with pytest.raises(CorruptError, match="no parity"):
        ragfile.repair(path)


def test_verify_finds_damage_in_the_parity_itself(path, made):
    end = first_commit(path)
    path.write_bytes(damaged(made, end - 9000, 10, random.Random(5)))
    with ragfile.using_key(KEY):
        faults, _ = ragfile.verify(path)
        assert "the parity does not match" in faults[0][2]
        ragfile.repair(path)
        assert ragfile.verify(path)[0] == []


def test_a_writer_that_dies_before_its_parity_leaves_a_commit_that_the_next_one_protects(path):
    before = path.read_bytes()
    edited(path, 9)
    whole = path.read_bytes()
    with ragfile.open(path, key=KEY) as rf:
        generation = rf.info["generation"]
    blocks = int.from_bytes(whole[-48:-40], "little")
    at = int.from_bytes(whole[-56:-48], "little")
    assert len(before) < blocks <= at < len(whole) - MARK
    for size in (blocks, at, at + 100, at + 1000, len(whole) - MARK):
        path.write_bytes(whole[:size])
        with ragfile.open(path, key=KEY) as rf:
            assert rf.info["generation"] == generation
        edited(path, 10)
        with ragfile.using_key(KEY):
            assert ragfile.verify(path)[0] == []
        now = path.read_bytes()
        path.write_bytes(damaged(now, len(before) + 200, 1000, random.Random(size)))
        ragfile.repair(path)
        assert path.read_bytes() == now, size


def test_a_commit_changes_nothing_before_it_and_small_ones_have_little_parity(path):
    before = path.read_bytes()
    edited(path, 11, 1)
    after = path.read_bytes()
    assert after[: len(before)] == before
    assert len(after) - len(before) < 8 * STRIDE


def test_compaction_keeps_parity_and_an_edit_adds_or_drops_it(path, tmp_path):
    with ragfile.using_key(KEY):
        ragfile.compact(path)
        assert ragfile.verify(path)[0] == []
        whole = path.read_bytes()
        path.write_bytes(damaged(whole, 30000, 5000, random.Random(6)))
        ragfile.repair(path)
        assert path.read_bytes() == whole
        ragfile.compact(path, parity=0)
        with ragfile.open(path) as rf:
            assert rf.info["parity"] == 0
        with ragfile.edit(path, parity=3) as w:
            w.upsert(documents(1, 12))
        whole = path.read_bytes()
        path.write_bytes(damaged(whole, 30000, 5000, random.Random(7)))
        ragfile.repair(path)
        assert path.read_bytes() == whole
        assert ragfile.verify(path)[0] == []


def test_keys_are_changed_beside_parity(path, made):
    ragfile.rekey(path, key=KEY, add=b"k" * 32)
    now = path.read_bytes()
    path.write_bytes(damaged(now, HEADER + 5000, 3000, random.Random(8)))
    ragfile.repair(path)
    assert path.read_bytes() == now
    assert now[HEADER:] == made[HEADER:]


def test_a_mark_that_is_false_hides_no_more_than_a_cut(path, made):
    """Its numbers are used only where they fit the file."""
    spec = [(8, 0), (8, 8192), (8, 1 << 62), (16, 0), (16, 1 << 63), (16, len(made)), (24, 7)]
    for at, number in spec:
        mark = bytearray(made[-MARK:])
        mark[at : at + 8] = number.to_bytes(8, "little")
        mark[56:] = _core.hash64(bytes(mark[:56])).to_bytes(8, "little")
        path.write_bytes(made[:-MARK] + mark)
        try:
            with ragfile.open(path, key=KEY) as rf:
                assert rf.info["generation"] <= 6
        except ragfile.FormatError:
            pass
