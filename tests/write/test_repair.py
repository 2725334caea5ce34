"""Repair: what comes back, what is refused, and that nothing gets worse."""

import os
import random
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragfile
from ragfile import _core
from ragfile.ground.signing_keys import new_key

BLOCK = 65536
DIM = 8


def page(i, size=40):
    rng = random.Random(i)
    words = " ".join(rng.choice(("pod", "node", "drain", "taint", "label")) for _ in range(size))
    return {"id": f"page{i}", "text": f"Page {i}. {words} {rng.random()}"}


def vectors(count, seed=0):
    rng = random.Random(seed)
    return [[rng.uniform(-1, 1) for _ in range(DIM)] for _ in range(count)]


def make(path, pages=40, parity=2, **options):
    with ragfile.create(path, dim=DIM, parity=parity, **options) as w:
        for i in range(pages):
            w.add_documents([page(i)], vectors(1, i))
    return path


def add(path, i, **options):
    with ragfile.edit(path, created=i, **options) as w:
        w.add_documents([page(i)], vectors(1, i))


@pytest.fixture
def kb(tmp_path):
    """Four commits: a build, an addition, a deletion, another addition."""
    path = make(tmp_path / "kb.ragfile")
    add(path, 100)
    with ragfile.edit(path, created=1) as w:
        w.delete(["page3"])
    add(path, 101)
    return path


def damage(path, *places, fill=None):
    data = bytearray(path.read_bytes())
    for at, size in places:
        size = max(0, min(size, len(data) - at))
        data[at : at + size] = bytes(size) if fill is None else fill(size)
    path.write_bytes(data)


def sections(path):
    with ragfile.open(path) as rf:
        return {entry["name"]: entry for entry in rf.file.entries}


def invert(path, *places):
    data = bytearray(path.read_bytes())
    for at in places:
        data[at] ^= 255
    path.write_bytes(data)


# ----------------------------------------------------------------------------------- what comes back


def steps_from(path):
    """Return the end of the newest parity that is no step: steps protect the commits after it."""
    with ragfile.open(path) as rf:
        entry = next(e for e in rf.file.entries if e["name"] == "rag.parity")
    return entry["at"] + entry["extent"]


def test_64_kib_anywhere_come_back_before_the_newest_small_commits(kb):
    whole = kb.read_bytes()
    for at in range(0, steps_from(kb) - BLOCK, 13337):
        damage(kb, (at, BLOCK))
        report = ragfile.repair(kb)
        assert kb.read_bytes() == whole, at
        assert report.is_written
        assert report.restored


def test_a_kib_anywhere_comes_back_in_the_newest_small_commits(kb):
    whole, rng = kb.read_bytes(), random.Random(2)
    for at in range(steps_from(kb) - 1024, len(whole), 331):
        damage(kb, (at, 1024), fill=rng.randbytes)
        ragfile.repair(kb)
        assert kb.read_bytes() == whole, at


def test_a_mebibyte_of_small_commits_is_protected_like_a_large_one(tmp_path):
    path, rng, ends = tmp_path / "kb.ragfile", random.Random(8), []
    for generation in range(20):
        writer = _core.FileWriter.edit(path) if generation else _core.FileWriter.create(path)
        writer.parity(2)
        writer.add(f"part{generation}", rng.randbytes(60_000))
        writer.commit()
        ends.append(steps_from(path))
    whole = path.read_bytes()
    assert 1 < len(set(ends)) < 4
    for at in range(ends[0], ends[-1] - BLOCK, 83_000):
        damage(path, (at, BLOCK), fill=rng.randbytes)
        ragfile.repair(path)
        assert path.read_bytes() == whole, at


def test_a_commit_of_one_record_with_parity_writes_less_than_12_kb(tmp_path):
    path = tmp_path / "memory.ragfile"
    ragfile.create(path, dim=256, parity=5).close()
    grown = []
    for i in range(24):
        before = path.stat().st_size
        with ragfile.edit(path, created=i) as w:
            w.add_documents([page(i, 25)], [[random.Random(i).random() for _ in range(256)]])
        grown.append(path.stat().st_size - before)
    assert sorted(grown)[len(grown) // 2] < 12_000


def test_the_newest_footer_is_reported_when_nothing_of_it_is_left_and_comes_back(kb):
    whole = kb.read_bytes()
    damage(kb, (len(whole) - 64, 64))
    with ragfile.open(kb) as rf:
        assert rf.info["lost_generation"] == 4
        assert rf.file.has_lost_commit
    with pytest.raises(ragfile.CorruptError, match="generation 4 was committed"):
        ragfile.edit(kb)
    ragfile.repair(kb)
    assert kb.read_bytes() == whole


def test_without_parity_such_a_footer_is_a_dead_writer_s(tmp_path):
    path = make(tmp_path / "kb.ragfile", parity=0)
    add(path, 100)
    damage(path, (len(path.read_bytes()) - 64, 64))
    with ragfile.open(path) as rf:
        assert rf.info["lost_generation"] == 0
        assert rf.info["generation"] == 1


def test_front_page_and_every_footer_and_table_come_back_together(kb):
    whole = kb.read_bytes()
    places = [(0, 4096)]
    for generation in range(1, 5):
        commit = _core.Reader(_core.Map(kb), generation).commit
        places.append((commit["end"] - 64, 64))
        places.append((commit["end"] - 1024, 400))
    damage(kb, *places)
    with pytest.raises(ragfile.FormatError):
        ragfile.open(kb)
    ragfile.repair(kb)
    assert kb.read_bytes() == whole


def test_a_file_of_one_commit_whose_end_is_missing_comes_back(tmp_path):
    path = make(tmp_path / "kb.ragfile")
    whole = path.read_bytes()
    for missing in (1, 64, 700, 5000, 60000):
        path.write_bytes(whole[:-missing])
        ragfile.repair(path)
        assert path.read_bytes() == whole, missing


def test_one_per_cent_of_the_blocks_anywhere_come_back_in_a_large_commit(tmp_path):
    path, rng = tmp_path / "kb.ragfile", random.Random(3)
    writer = _core.FileWriter.create(path)
    writer.parity(2)
    writer.add("a", rng.randbytes(20 << 20))
    writer.add("b", rng.randbytes(5 << 20))
    writer.commit()
    whole = path.read_bytes()
    blocks = -(-len(whole) // BLOCK)
    for chosen in (
        rng.sample(range(blocks), blocks // 100),
        range(blocks - blocks // 100, blocks),  # the parity itself
        range(100, 100 + blocks // 100),
    ):
        damage(path, *((i * BLOCK, BLOCK) for i in chosen), fill=rng.randbytes)
        ragfile.repair(path)
        assert path.read_bytes() == whole


@given(st.data())
@settings(max_examples=25)
def test_random_damage_of_random_histories_comes_back(tmp_path_factory, data):
    """One block of 64 KiB for each 100 of them and one at least, in bursts or one by one, of each
    commit; every byte of a block or a few.
    """
    seed = data.draw(st.integers(0, 1 << 32), label="seed")
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("kb") / "kb.ragfile"
    make(path, pages=rng.randrange(1, 30), parity=rng.choice((1, 2, 5, 30)))
    for i in range(rng.randrange(5)):
        kind = rng.choice(("add", "delete", "compact", "parity"))
        if kind == "add":
            add(path, 100 + i)
        elif kind == "delete":
            with ragfile.edit(path, created=5) as w:
                w.delete([f"page{rng.randrange(30)}"])
        elif kind == "compact":
            ragfile.compact(path, created=0)
        else:
            with ragfile.edit(path, created=5, parity=rng.randrange(1, 20)):
                pass
    whole = path.read_bytes()
    for _ in range(3):
        at = rng.choice((0, len(whole) - 64, rng.randrange(len(whole))))
        size = rng.choice((1, 64, 4096, BLOCK))
        if at + size > steps_from(path):
            size = min(size, 1024)
        flips = [(at, size)] if rng.random() < 0.5 else [(at + rng.randrange(size), 1)]
        damage(path, *flips, fill=rng.randbytes)
        ragfile.repair(path)
        assert path.read_bytes() == whole, (seed, at, size)


def test_every_bit_of_the_ends_and_the_front_comes_back(tmp_path):
    path = make(tmp_path / "kb.ragfile", pages=1)
    whole = path.read_bytes()
    places = [*range(0, 120, 7), *range(3968, 4096, 5), *range(len(whole) - 64, len(whole))]
    for at in places:
        data = bytearray(whole)
        data[at] ^= 1 << at % 8
        path.write_bytes(data)
        ragfile.repair(path)
        assert path.read_bytes() == whole, at


@pytest.mark.parametrize(("parity", "size"), [(2, 6 << 20), (30, 1 << 20)])
def test_as_many_blocks_come_back_as_shares_are_left_and_not_one_more(tmp_path, parity, size):
    """Any pattern: b shares and a blocks of the group with a + b = m, as long as a quorum is left."""
    path, rng = tmp_path / "kb.ragfile", random.Random(parity)
    writer = _core.FileWriter.create(path)
    writer.parity(parity)
    writer.add("a", rng.randbytes(size))
    writer.commit()
    whole = path.read_bytes()
    entry = _core.Reader(_core.Map(path)).entry("rag.parity")
    at = entry["at"]
    block, groups, rows, quorum = (
        int.from_bytes(whole[at + i : at + i + 4], "little") for i in (80, 84, 88, 92)
    )
    blocks, share = -(-(at - 4096) // block), entry["size"] // rows
    assert (groups, blocks > rows) == (1, True)
    for lost_shares in (0, 1, rows - quorum):
        one_by_one = [at + i * share for i in rng.sample(range(rows), lost_shares)]
        chosen = rng.sample(range(blocks - 1), rows - lost_shares + 1)
        starts = [4096 + i * block + rng.randrange(block) for i in chosen]
        invert(path, *one_by_one, *starts[1:])
        ragfile.repair(path)
        assert path.read_bytes() == whole
        invert(path, *one_by_one, *starts)
        assert not ragfile.repair(path, dry_run=True).is_repairable
        path.write_bytes(whole)


def test_several_groups_come_back_after_a_burst(tmp_path):
    """A percentage that leaves few blocks to a group makes several groups of a small file."""
    path, rng = tmp_path / "kb.ragfile", random.Random(9)
    writer = _core.FileWriter.create(path)
    writer.parity(100)
    writer.add("a", rng.randbytes(9 << 20))
    writer.commit()
    whole = path.read_bytes()
    entry = _core.Reader(_core.Map(path)).entry("rag.parity")
    assert int.from_bytes(whole[entry["at"] + 84 : entry["at"] + 88], "little") == 3
    for at in (4096, 5 << 20, entry["at"] - 1000, len(whole) - (3 << 20)):
        damage(path, (at, 3 << 20))
        ragfile.repair(path)
        assert path.read_bytes() == whole


# ------------------------------------------------------------------------------------- what is refused


def test_damage_beyond_parity_is_refused_and_the_file_stays_as_it_is(tmp_path):
    kb = make(tmp_path / "kb.ragfile")
    places = sections(kb)
    text = places["rag.text"]
    entry = places["vector"]
    damage(kb, (entry["at"], text["at"] + text["extent"] - entry["at"] + 60000))
    damage(kb, (kb.stat().st_size - 40000, 30000), fill=random.Random(1).randbytes)
    broken = kb.read_bytes()
    with pytest.raises(ragfile.CorruptError, match="more is damaged than its parity brings back"):
        ragfile.repair(kb)
    assert kb.read_bytes() == broken
    assert os.listdir(kb.parent) == ["kb.ragfile"]
    report = ragfile.repair(kb, dry_run=True)
    assert not report.is_repairable


def test_what_is_lost_is_named_by_section_and_document(tmp_path):
    path, rng = tmp_path / "kb.ragfile", random.Random(4)
    with ragfile.create(path, parity=1) as w:
        for i in range(300):
            text = " ".join(f"{rng.random():.9f}" for _ in range(1500))
            w.add_documents([{"id": f"page{i:03}", "text": text}])
    entry = sections(path)["rag.text"]
    assert entry["size"] > 3 << 19
    damage(path, (entry["at"] + (1 << 19), 9 << 17), fill=rng.randbytes)
    report = ragfile.repair(path, dry_run=True)
    assert {stretch.section for stretch in report.lost} == {"rag.text"}
    assert 20 < len(report.lost_documents) < 290
    assert "page000" not in report.lost_documents
    with pytest.raises(
        ragfile.CorruptError, match=f"rag.text; lost with it: {report.lost_documents[0]}"
    ):
        ragfile.repair(path)


def test_a_damaged_file_without_parity_says_so(tmp_path):
    path = make(tmp_path / "kb.ragfile", parity=0)
    damage(path, (5000, 10))
    with pytest.raises(ragfile.CorruptError, match="has no parity"):
        ragfile.repair(path)


@pytest.mark.parametrize(
    "content", [b"", b"RAGFILE", b"---\ntitle: x\n", bytes(10000), b"RAGFILE\0\0\0\0"]
)
def test_what_is_no_file_with_parity_is_refused(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(ragfile.FormatError):
        ragfile.repair(path)
    assert path.read_bytes() == content


def test_a_good_file_is_left_alone(kb):
    before, inode = kb.read_bytes(), kb.stat().st_ino
    report = ragfile.repair(kb)
    assert not report.is_damaged
    assert not report.is_written
    assert (kb.read_bytes(), kb.stat().st_ino) == (before, inode)


def test_a_file_that_somebody_writes_to_is_not_repaired(kb):
    damage(kb, (5000, 10))
    with ragfile.edit(kb) as w, pytest.raises(ragfile.LockedError):
        w.delete([])
        ragfile.repair(kb)


# --------------------------------------------------------------------------------------- how it is done


def test_the_repaired_file_can_go_elsewhere(kb, tmp_path):
    whole = kb.read_bytes()
    damage(kb, (5000, 3000))
    broken = kb.read_bytes()
    report = ragfile.repair(kb, tmp_path / "new.ragfile")
    assert (report.is_written, kb.read_bytes()) == (True, broken)
    assert (tmp_path / "new.ragfile").read_bytes() == whole


def test_only_a_ragfile_is_replaced_by_the_repaired_one(kb, tmp_path):
    damage(kb, (5000, 3000))
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        ragfile.repair(kb, tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_dry_run_writes_nothing_and_says_what_would_come_back(kb):
    whole, entry = kb.read_bytes(), sections(kb)["vector"]
    damage(kb, (entry["at"] + 10, 100))
    broken = kb.read_bytes()
    report = ragfile.repair(kb, dry_run=True)
    assert (report.is_written, report.is_damaged, report.is_repairable) == (False, True, True)
    assert kb.read_bytes() == broken
    restored = bytearray(broken)
    for stretch in report.restored:
        restored[stretch.at : stretch.at + stretch.size] = whole[
            stretch.at : stretch.at + stretch.size
        ]
    assert restored == whole
    assert "vector" in {stretch.section for stretch in report.restored}


def test_mode_and_link_stay(kb, tmp_path):
    kb.chmod(0o640)
    (tmp_path / "link").symlink_to(kb)
    damage(kb, (5000, 10))
    ragfile.repair(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE(kb.stat().st_mode) == 0o640
    assert ragfile.verify(kb)[0] == []


def test_an_open_reader_keeps_its_map(kb):
    with ragfile.open(kb) as rf:
        first = rf.document("page1").text
        damage_at = sections(kb)["rag.parity"]["at"]
        with kb.open("r+b") as file:
            file.seek(damage_at + 200)
            file.write(b"damage")
        ragfile.repair(kb)
        assert rf.document("page1").text == first


def test_a_signed_file_is_signed_after_the_repair(kb, tmp_path):
    key = new_key(tmp_path / "ada.key")
    ragfile.sign(kb, tmp_path / "ada.key")
    whole = kb.read_bytes()
    for at in (
        5000,
        len(whole) - 64,
        sections(kb)["rag.seal"]["at"],
        sections(kb)["rag.parity"]["at"],
    ):
        damage(kb, (at, 64))
        ragfile.repair(kb)
        assert kb.read_bytes() == whole
    assert ragfile.verify(kb, keys=[key])[0] == []
    with ragfile.open(kb, trusted=[key]) as rf:
        assert rf.file.signatures[0].is_current
        assert rf.info["parity"] == 2


# ------------------------------------------------------------------------------- what files have parity


def test_parity_stays_through_edits_and_compaction_until_it_is_dropped(kb):
    assert ragfile.open(kb).info["parity"] == 2
    ragfile.compact(kb)
    assert "rag.parity" in sections(kb)
    with ragfile.edit(kb, parity=0):
        pass
    assert "rag.parity" not in sections(kb)
    assert ragfile.open(kb).info["parity"] == 0
    add(kb, 200)
    assert "rag.parity" not in sections(kb)
    ragfile.compact(kb, parity=3)
    assert ragfile.open(kb).info["parity"] == 3
    ragfile.compact(kb, parity=0)
    assert "rag.parity" not in sections(kb)


def test_parity_that_comes_later_protects_what_was_there(tmp_path):
    path = make(tmp_path / "kb.ragfile", parity=0)
    add(path, 100)
    with ragfile.edit(path, parity=4):
        pass
    whole = path.read_bytes()
    for at in (0, 5000, len(whole) // 2, len(whole) - 64):
        damage(path, (at, 4096))
        ragfile.repair(path)
        assert path.read_bytes() == whole


def test_a_compacted_file_has_the_bytes_of_a_build_with_parity(kb, tmp_path):
    ragfile.compact(kb, created=0, renumber=True)
    fresh = tmp_path / "fresh.ragfile"
    with ragfile.create(fresh, dim=DIM, parity=2, created=0) as w:
        for i in [i for i in range(40) if i != 3] + [100, 101]:
            w.add_documents([page(i)], vectors(1, i))
    assert kb.read_bytes() == fresh.read_bytes()


def test_build_takes_parity(tmp_path):
    (tmp_path / "a.md").write_text("# Pods\n\nThey live long.\n")
    ragfile.build(tmp_path / "a.md", tmp_path / "kb.ragfile", embedder="none", parity=2)
    assert ragfile.open(tmp_path / "kb.ragfile").info["parity"] == 2
    (tmp_path / "a.md").write_text("# Pods\n\nThey live for ever.\n")
    ragfile.sync(tmp_path / "kb.ragfile", tmp_path / "a.md")
    assert ragfile.open(tmp_path / "kb.ragfile").info["parity"] == 2


@pytest.mark.parametrize("parity", [-1, 101, 2.5, "2"])
def test_other_percentages_are_refused(tmp_path, parity):
    with pytest.raises((ValueError, TypeError)):
        ragfile.create(tmp_path / "kb.ragfile", dim=DIM, parity=parity)
    assert not (tmp_path / "kb.ragfile").exists()


def test_a_dead_writer_s_commit_is_not_brought_back(kb):
    """It died after its parity and before its footer; the next one steps over its bytes, and another
    dies. Then the file is longer than the first dead commit would have been."""
    whole = kb.read_bytes()
    add(kb, 300)
    dead = kb.read_bytes()[len(whole) : -64]
    kb.write_bytes(whole + dead)
    assert ragfile.open(kb).info["lost_generation"] == 0
    assert not ragfile.repair(kb).is_damaged
    assert kb.read_bytes() == whole + dead
    writer = _core.FileWriter.edit(kb)
    writer.add("x", bytes(200000))
    dying = kb.read_bytes()
    writer.close()
    kb.write_bytes(dying)
    assert len(dying) > len(whole + dead) + 64
    assert ragfile.open(kb).info["lost_generation"] == 0
    add(kb, 301)
    assert ragfile.verify(kb)[0] == []
    with ragfile.open(kb) as rf:
        assert rf.document("page301").text.startswith("Page 301.")
        assert rf.generation == 5


# ------------------------------------------------------------------------------------------ verifying


def test_verify_reads_parity_as_any_section(kb):
    entry = sections(kb)["rag.parity"]
    damage(kb, (entry["at"] + 1000, 1))
    faults, _ = ragfile.verify(kb)
    assert [(fault[0], fault[3]) for fault in faults] == [("CorruptError", "rag.parity")]
