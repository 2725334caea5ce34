"""A file that is edited often keeps its past only as far as its owner wants, and stays small."""

import json
import os
import random
import shutil
import subprocess
import sys

import pytest
from places import ROOT
from write.test_editor import Letters
from write.test_segment_merges import answers, memory

import ragfile
from ragfile import _core
from ragfile.ground import system
from ragfile.write import old_generations

BLOB = "fed cab bead " * 40


def edited(path, count, seed=1):
    """Commit documents of about a kilobyte, one after the other; every third replaces one."""
    rng = random.Random(seed)
    for number in range(count):
        with ragfile.edit(path, embedder=Letters()) as w:
            text = " ".join(rng.choice("abcdef") * rng.randrange(1, 9) for _ in range(150))
            w.upsert([{"id": f"m{number - number % 3 // 2:03d}", "text": text}])


def started(path, **options):
    with ragfile.create(path, embedder=Letters(), **options) as w:
        w.add_documents([memory(n) | {"text": BLOB} for n in range(3)])
    return path


def opened(path, **options):
    return ragfile.open(path, embedder=Letters(), **options)


@pytest.fixture(autouse=True)
def small_files_count(monkeypatch):
    monkeypatch.setattr(old_generations, "LEAST", 16 << 10)


def live_bytes(path):
    return sum(entry["extent"] for entry in _core.Reader(_core.Map(path)).entries)


def test_a_file_stays_within_a_multiple_of_its_live_content(tmp_path):
    path = started(tmp_path / "kb")
    for seed in range(12):
        edited(path, 10, seed)
        assert os.path.getsize(path) <= 4 * live_bytes(path) + old_generations.LEAST
    assert ragfile.verify(path)[0] == []


def test_rows_scores_and_generations_stay_when_the_past_is_dropped(tmp_path):
    path, whole = started(tmp_path / "kb"), started(tmp_path / "whole", keep="all")
    edited(path, 60)
    edited(whole, 60)
    assert os.path.getsize(path) < os.path.getsize(whole) / 2
    assert answers(path) == answers(whole)
    with opened(path) as one, opened(whole) as two:
        assert one.generation == two.generation == 61
        assert one.document_ids() == two.document_ids()
        assert (one.info["keep"], two.info["keep"]) == (1, "all")
    assert [c["generation"] for c in ragfile.log(whole)] == [*range(61, 0, -1)]
    kept = ragfile.log(path)
    assert [c["generation"] for c in kept] == [*range(61, 61 - len(kept), -1)]
    later = {c["generation"]: (c["chunks"], c["added"], c["deleted"]) for c in ragfile.log(whole)}
    assert all(later[c["generation"]] == (c["chunks"], c["added"], c["deleted"]) for c in kept[:-1])


def test_a_generation_that_is_gone_is_refused_by_name(tmp_path):
    path = started(tmp_path / "kb")
    edited(path, 60)
    first = ragfile.log(path)[-1]["generation"]
    assert first > 1
    with pytest.raises(ValueError, match=rf"has generations {first} to 61, not 1; older ones"):
        opened(path, generation=1)
    with opened(path, generation=first) as rf:
        assert rf.generation == first


@pytest.mark.parametrize("layout", ["default", "web"])
def test_a_number_of_generations_is_kept(tmp_path, layout):
    path = tmp_path / "kb"
    ragfile.build(
        [memory(n) | {"text": BLOB} for n in range(3)], path, embedder=Letters(), layout=layout,
        keep=5, parity=5 if layout == "web" else 0,
    )  # fmt: skip
    told = {}
    for seed in range(10):
        edited(path, 12, seed)
        with opened(path) as rf:
            told[rf.generation] = answers(path)
    log = ragfile.log(path)
    assert 5 <= len(log) < 60
    for generation in range(117, 122):
        with opened(path, generation=generation) as rf:
            assert rf.generation == generation
    assert told[121] == answers(path)
    assert ragfile.verify(path)[0] == []


def test_a_file_of_an_earlier_version_keeps_everything_until_its_owner_chooses(tmp_path):
    path = started(tmp_path / "kb")
    edited(path, 1)
    writer = _core.FileWriter.edit(path)
    record = json.loads(bytes(writer.take_reader().section("rag.config")))
    del record["keep"]
    writer.add("rag.config", json.dumps(record).encode(), items=1)
    writer.commit()
    edited(path, 40, seed=2)
    assert len(ragfile.log(path)) == 43
    with opened(path) as rf:
        assert rf.info["keep"] == "all"
    with ragfile.edit(path, embedder=Letters(), keep=1) as w:
        w.upsert([memory(7) | {"text": BLOB * 9}])
    edited(path, 20, seed=3)
    assert len(ragfile.log(path)) < 40


def test_readers_keep_what_they_opened_and_find_the_new_file(tmp_path):
    path = started(tmp_path / "kb")
    with opened(path) as rf:
        before = rf.document_ids()
        edited(path, 60)
        assert rf.document_ids() == before
        assert rf.refresh()
        assert rf.generation == 61


@pytest.mark.parametrize("keep", [1, 3])
def test_the_new_file_has_the_permissions_of_the_old_one(tmp_path, keep):
    path = started(tmp_path / "kb", keep=keep)
    path.chmod(0o600)
    with path.open("rb") as old:  # so that no new file gets its number
        edited(path, 60)
        assert path.stat().st_ino != os.fstat(old.fileno()).st_ino
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["kb"]


def test_a_signed_generation_is_never_dropped(tmp_path):
    path = started(tmp_path / "kb")
    ragfile.new_key(tmp_path / "key")
    edited(path, 2)
    ragfile.sign(path, tmp_path / "key")
    edited(path, 60)
    public = (tmp_path / "key.pub").read_text()
    with opened(path, generation=4, trusted=[public]) as rf:
        assert rf.generation == 4


def test_a_file_with_two_names_grows_instead(tmp_path):
    path = started(tmp_path / "kb")
    os.link(path, tmp_path / "other")
    edited(path, 60)
    assert len(ragfile.log(path)) == 61
    assert os.path.samefile(path, tmp_path / "other")


@pytest.mark.parametrize(("cause", "reason"), [
    ("links", "2 names"), ("folder", "folder"), ("portable", "portable"), ("mount", "mounted"),
])  # fmt: skip
def test_info_names_what_keeps_the_past(tmp_path, monkeypatch, cause, reason):
    path = started(tmp_path / "kb", portable=cause == "portable")
    assert opened(path).info["past"] == ""
    if cause == "links":
        os.link(path, tmp_path / "other")
    if cause == "mount":
        monkeypatch.setattr(system, "is_mounted", lambda place: place == str(path))
    monkeypatch.setattr(
        old_generations, "bound", lambda *_: None
    )  # which the cause would end without effect
    edited(path, 60)
    if cause == "folder":
        monkeypatch.setattr(system, "can_write_to", lambda place: place != str(tmp_path))
    with opened(path) as rf:
        assert reason in rf.info["past"]
    monkeypatch.undo()


def test_info_is_silent_about_a_past_that_is_wanted_or_gone(tmp_path):
    for name, keep in (("kb", 1), ("all", "all")):
        path = started(tmp_path / name, keep=keep)
        edited(path, 60)
        with opened(path) as rf:
            assert rf.info["past"] == ""


BUSY = """
import ctypes, errno, sys
import ragfile
from ragfile.write import old_generations
old_generations.LEAST = 16 << 10
faults = ctypes.CDLL(None)
faults.fault_next(b"rename", 1, errno.EBUSY)
for number in range(60):
    with ragfile.edit(sys.argv[1]) as w:
        w.upsert([{"id": f"m{number % 5}", "text": f"fed {number} cab " * 40}])
print(faults.fault_hits())
"""


def test_a_file_that_cannot_be_replaced_grows_instead(tmp_path):
    """A file that is mounted by itself gives EBUSY, as here."""
    library, path = tmp_path / "faults.so", tmp_path / "kb"
    ragfile.create(path, embedder="none").close()
    source = ROOT / "tests" / "crash" / "faults.c"
    build = ["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
    if shutil.which("gcc") is None or sys.platform != "linux":
        pytest.skip("no gcc for the library that fails")
    subprocess.run(build, check=True)
    ran = subprocess.run(
        [sys.executable, "-c", BUSY, path], capture_output=True, text=True, check=True,
        env=dict(os.environ) | {"LD_PRELOAD": str(library)},
    )  # fmt: skip
    assert int(ran.stdout) > 0
    assert len(ragfile.log(path)) == 61
    assert sorted(os.listdir(tmp_path)) == ["faults.so", "kb"]
    assert ragfile.verify(path)[0] == []


def test_a_damaged_file_keeps_its_past(tmp_path):
    path = started(tmp_path / "kb")
    entry = _core.Reader(_core.Map(path)).entry("rag.text", 1)
    data = bytearray(path.read_bytes())
    data[entry["at"]] ^= 255
    path.write_bytes(data)
    edited(path, 60)
    assert len(ragfile.log(path)) == 61


def test_what_keep_may_be_is_checked(tmp_path):
    for wrong in (0, -1, "never"):
        with pytest.raises(ValueError, match='keep is "all", a date, or a number'):
            ragfile.create(tmp_path / "kb", keep=wrong)
    with ragfile.create(tmp_path / "kb", keep="2026-01-31") as w:
        assert w.record["keep"] == "2026-01-31T00:00:00+00:00"


def test_a_date_keeps_the_commits_since_then(tmp_path):
    path = started(tmp_path / "kb", keep="2026-03-01")
    for number in range(60):
        when = int((1_769_900_000 + number * 86_400) * 1e9)  # from 2026-01-31 on
        with ragfile.edit(path, embedder=Letters(), created=when) as w:
            w.upsert([{"id": f"m{number % 7}", "text": BLOB + "a" * number}])
    since = 1_772_323_200 * 10**9  # 2026-03-01
    kept = [commit["created"] for commit in ragfile.log(path)]
    assert sum(created >= since for created in kept) == 31
    assert len(kept) < 50


def test_compaction_of_a_bounded_file_gives_the_bytes_of_a_build(tmp_path):
    path = started(tmp_path / "kb")
    edited(path, 1)
    with ragfile.edit(path, embedder=Letters()) as w:
        w.delete(["m000"])
    ragfile.compact(path, created=0, renumber=True)
    assert path.read_bytes() == started(tmp_path / "other").read_bytes()
