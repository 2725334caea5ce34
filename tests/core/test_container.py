"""The 1.0 container: what a writer writes, a reader reads back, and an independent writer would have written too."""

import contextlib
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from oracles.handmade import Commit, build, directory, extent

from ragfile import _core
from ragfile.errors import CorruptError, FormatError, LockedError, VersionError

SIZES = [
    0,
    1,
    7,
    8,
    55,
    56,
    63,
    64,
    65,
    65535,
    65536,
    65537,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
    3 * 65536 + 5,
]


def content(size, salt=0):
    """Bytes without a period that divides a block."""
    pattern = bytes((n * 7 + salt * 13 + 1) % 251 for n in range(251))
    return (pattern * (size // 251 + 1))[:size]


def apply(path, commit, *, first):
    """Does with the writer what the independent writer does with a Commit."""
    if commit.garbage:
        with open(path, "ab") as file:
            file.write(commit.garbage)
    writer = _core.FileWriter.create(path) if first else _core.FileWriter.edit(path)
    known = 0 if first else _core.Reader(_core.Map(path)).commit["next_segment"] - 1
    for _ in range(max(commit.rows, default=0) - known):
        writer.segment()
    for number, (rows, live) in commit.rows.items():
        writer.rows(number, rows, live)
    for name, segment, flags, data, items in commit.sections:
        writer.add(name, data, segment, flags, items)
    for name, segment in commit.drops:
        writer.drop(name, segment)
    writer.commit(created=commit.created, message=commit.message)


def write(path, *commits):
    for i, commit in enumerate(commits):
        apply(path, commit, first=i == 0)
    return Path(path).read_bytes()


def sections(*names, salt=0):
    return [(name, 0, 0, content(40 + n, salt), n) for n, name in enumerate(names)]


def reopened(path, generation=0):
    return _core.Reader(_core.Map(path), generation)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.ragfile")


THREE = [
    Commit(
        [("rag.docs", 0, 0, content(100), 2), ("rag.ids", 1, 1, content(70000), 70), ("foo@1/x", 1, 0, b"", 0)],
        rows={1: (70, 70)}, message="first — one", created=17,
    ),
    Commit(
        [("rag.ids", 2, 0, content(10, 3), 5), ("rag.tombs", 1, 0, b"\x07" + bytes(15), 3)],
        rows={1: (70, 67), 2: (5, 5)}, message="second", created=18, garbage=content(1000, 9),
    ),
    Commit(
        [("rag.docs", 0, 0, content(200, 4), 4), ("rag.tombs", 1, 0, b"\x0f" + bytes(15), 4)],
        drops=[("foo@1/x", 1)], rows={1: (70, 66)},
    ),
]  # fmt: skip


# ------------------------------------------------------------------------------------- bytes against the second writer


@pytest.mark.parametrize("size", SIZES)
def test_section_of_this_size_equals_the_independent_writer(path, size):
    commit = Commit([("rag.docs", 0, 0, content(size), 1), ("vector", 0, 0, content(size, 5), 2)])
    assert write(path, commit) == build(commit)
    reader = reopened(path)
    section = reader.section("rag.docs")
    section.check()
    assert bytes(section) == content(size)
    assert reader.entry("rag.docs")["extent"] == extent(size)
    assert reader.verify() == ([], reader.verify()[1])


@pytest.mark.parametrize("count", [0, 1, 2, 40, 85, 86, 90, 1000])
def test_any_number_of_sections_equals_the_independent_writer(path, count):
    commit = Commit(sections(*(f"rag.part{n:04d}" for n in range(count))))
    assert write(path, commit) == build(commit)
    found = directory(Path(path).read_bytes())
    assert ("rag.toc" in found) == (len(found) == count + 2)
    for name, (start, end) in list(found.items())[1:-1]:
        entry = reopened(path).entry(name)
        assert (start, end) == (entry["at"], entry["at"] + entry["extent"] - 2)


def test_commits_equal_the_independent_writer(path):
    assert write(path, *THREE) == build(*THREE)


def test_same_input_makes_the_same_bytes_in_any_pieces(tmp_path):
    data = content((1 << 20) + 70001)
    made = set()
    for step in (1 << 21, 65536, 65521, 4099):
        target = tmp_path / f"{step}.ragfile"
        writer = _core.FileWriter.create(target)
        writer.begin("rag.docs")
        for at in range(0, len(data), step):
            writer.write(data[at : at + step])
        writer.end(items=3)
        writer.commit()
        made.add(target.read_bytes())
    assert len(made) == 1


def test_front_directory_of_a_fresh_file_lists_every_section_for_a_0_1_0_reader(path):
    write(path, Commit(sections("vector", "keyword", "rag.docs")))
    assert list(directory(Path(path).read_bytes())) == [
        "rag.head",
        "vector",
        "keyword",
        "rag.docs",
        "rag.toc",
    ]


def test_front_directory_shows_the_base_after_later_commits(path):
    base = directory(write(path, THREE[0]))
    assert directory(write(path, *THREE)) == base


def test_commit_changes_no_earlier_byte(path):
    before = write(path, THREE[0])
    for commit in THREE[1:]:
        apply(path, commit, first=False)
        after = Path(path).read_bytes()
        assert after.startswith(before)
        before = after


# -------------------------------------------------------------------------------------------------------------- reading


def test_every_generation_stays_readable(path):
    write(path, *THREE)
    first, second, third = (reopened(path, n) for n in (1, 2, 3))
    assert [r.commit["generation"] for r in (first, second, third)] == [1, 2, 3]
    assert [len(r.entries) for r in (first, second, third)] == [3, 5, 4]
    assert bytes(first.section("rag.docs")) == bytes(second.section("rag.docs")) == content(100)
    assert bytes(third.section("rag.docs")) == content(200, 4)
    assert third.section("foo@1/x", 1) is None
    assert bytes(second.section("foo@1/x", 1)) == b""


def test_segments_count_rows_and_the_living(path):
    write(path, *THREE)
    assert reopened(path, 1).segments == [(1, 70, 70, 1)]
    assert reopened(path, 2).segments == [(1, 70, 67, 1), (2, 5, 5, 2)]
    assert reopened(path, 3).segments == [(1, 70, 66, 1), (2, 5, 5, 2)]


def test_commit_tells_of_itself(path):
    data = write(path, *THREE)
    first, last = reopened(path, 1).commit, reopened(path).commit
    assert (first["message"], first["created"], first["start"], first["previous"]) == (
        "first — one",
        17,
        4096,
        0,
    )
    assert (last["message"], last["created"], last["end"], last["tail"]) == ("", 0, len(data), 0)
    assert last["next_segment"] == 3
    assert last["lost_generation"] == 0
    assert first["identity"] == last["identity"]


def test_full_verification_counts_what_the_commits_hold(path):
    write(path, *THREE)
    faults, counts = reopened(path).verify()
    assert faults == []
    assert (counts["commits"], counts["abandoned"]) == (3, 1024)


def test_generation_that_never_was_is_a_plain_argument_error(path):
    write(path, THREE[0])
    with pytest.raises(ValueError, match="no such generation") as caught:
        reopened(path, 2)
    assert not isinstance(caught.value, FormatError)


def test_every_legal_name_is_found_and_every_other_refused(path):
    good = ["a", "Z", "0", "_", ".", "+", "@", "/", "x" * 64, "vector", "rag.x", "graph"]
    write(path, Commit(sections(*good)))
    assert [e["name"] for e in reopened(path).entries] == good
    assert all(reopened(path).section(name) is not None for name in good)
    writer = _core.FileWriter.edit(path)
    for name in ["", "x" * 65, "a-b", "a(b", "a b", "é", "a\0b", "rag.head", "rag.toc", "a\n"]:
        with pytest.raises(ValueError, match=r"name|null"):
            writer.begin(name)
    writer.commit()


def test_name_with_a_nul_finds_nothing(path):
    write(path, Commit(sections("rag.x")))
    assert reopened(path).section("rag.x\0y") is None
    assert reopened(path).entry("rag.x\0y") is None


def test_two_thousand_sections_in_segments_are_found(path):
    writer = _core.FileWriter.create(path)
    numbers = [writer.segment() for _ in range(500)]
    for number in numbers:
        writer.rows(number, number)
        for name in ("rag.ids", "rag.docs", "b", "a"):
            writer.add(name, f"{name} {number}".encode(), number)
    writer.commit()
    reader = reopened(path)
    assert len(reader.entries) == 2000
    assert all(
        bytes(reader.section(n, s)) == f"{n} {s}".encode()
        for s in numbers
        for n in ("a", "b", "rag.ids")
    )
    assert reader.verify()[0] == []


def test_read_only_part_of_a_newer_version_is_readable_and_refuses_writers(path):
    write(path, Commit([("newer", 0, 2, b"x", 0)]))
    assert reopened(path).commit["read_only"]
    assert bytes(reopened(path).section("newer")) == b"x"
    with pytest.raises(VersionError, match="only a newer ragfile may write"):
        _core.FileWriter.edit(path)


def test_unknown_part_that_must_be_understood_refuses_the_file_and_names_it(path):
    write(path, Commit([("newer", 0, 1, b"x", 0)]))
    with pytest.raises(VersionError, match=f"^{path}: .*section newer") as caught:
        reopened(path)
    assert caught.value.section == "newer"


def test_unknown_part_without_flags_is_listed_and_kept_by_later_commits(path):
    write(path, Commit([("newer", 0, 0, b"x", 0)]), Commit(sections("rag.docs")))
    assert bytes(reopened(path).section("newer")) == b"x"


def test_fault_on_the_longest_name_is_told_in_full(path):
    name = "n" * 64
    write(path, Commit([(name, 0, 1, b"x", 0)]))
    with pytest.raises(VersionError) as caught:
        reopened(path)
    assert caught.value.section == name


def test_damaged_block_is_named_by_offset_when_touched_and_not_before(path):
    data = bytearray(write(path, Commit([("rag.docs", 0, 0, content(200000), 0)])))
    data[4096 + 70000] ^= 1
    Path(path).write_bytes(data)
    section = reopened(path).section("rag.docs")
    section.check(0, 65536)
    section.check(131072)
    with pytest.raises(CorruptError, match="block checksum") as caught:
        section.check(65536, 1)
    assert caught.value.at == 65536
    assert reopened(path).verify()[0] == [
        ("CorruptError", 4096 + 65536, "block checksum does not match", "rag.docs")
    ]


def test_open_errors_name_the_path_and_the_offset(path):
    Path(path).write_bytes(b"RAGFILE\2\0\0\0")
    with pytest.raises(VersionError, match=f"^{path}: .*byte 7"):
        reopened(path)
    Path(path).write_bytes(b"")
    with pytest.raises(FormatError, match=f"^{path}: not a RAGFile"):
        reopened(path)
    with pytest.raises(FileNotFoundError, match=path):
        _core.Map(path + ".missing")
    with pytest.raises(IsADirectoryError):
        _core.Map(os.path.dirname(path))


def test_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        _core.Map(tmp_path / "pipe")


# -------------------------------------------------------------------------------------------------- what a writer refuses


def test_sums_that_the_reader_would_refuse_are_not_written(path):
    def attempt(change, match):
        writer = _core.FileWriter.create(path)
        number = writer.segment()
        writer.rows(number, 70)
        change(writer, number)
        with pytest.raises(ValueError, match=match):
            writer.commit()

    attempt(lambda w, n: w.rows(n, 70, 69), "deletions do not add up")
    attempt(lambda w, n: w.add("rag.tombs", bytes(16), n, items=1), "deletions do not add up")
    attempt(
        lambda w, n: (w.rows(n, 70, 69), w.add("rag.tombs", b"\1", n, items=1)),
        "deletions do not add up",
    )
    attempt(lambda w, n: (w.add("rag.ids", b"", n), w.forget(n)), "segment that has no rows")
    attempt(lambda w, n: w.add("rag.ids", b"", n + 1), "segment that has no rows")
    attempt(lambda w, n: w.begin("rag.ids"), "not ended")
    assert not os.path.exists(path)


def test_segment_without_rows_is_kept_and_a_forgotten_one_is_gone(path):
    writer = _core.FileWriter.create(path)
    for rows in (0, 5):
        number = writer.segment()
        writer.rows(number, rows)
        writer.add("rag.ids", b"ids", number)
    writer.commit()
    assert reopened(path).segments == [(1, 0, 0, 1), (2, 5, 5, 1)]
    editor = _core.FileWriter.edit(path)
    editor.drop("rag.ids", 2)
    editor.forget(2)
    editor.commit()
    assert reopened(path).segments == [(1, 0, 0, 1)]
    assert reopened(path).commit["next_segment"] == 3
    assert reopened(path).verify()[0] == []


def test_section_is_written_once_in_a_commit(path):
    write(path, Commit(sections("rag.docs")))
    writer = _core.FileWriter.edit(path)
    writer.add("rag.docs", b"new")
    with pytest.raises(ValueError, match="this commit wrote the section"):
        writer.begin("rag.docs")
    with pytest.raises(ValueError, match="this commit wrote the section"):
        writer.drop("rag.docs")
    writer.commit()
    assert reopened(path).verify()[0] == []


def test_message_of_4096_bytes_fits_and_one_more_is_refused(path):
    write(path, Commit(message="m" * 4096))
    assert reopened(path).commit["message"] == "m" * 4096
    writer = _core.FileWriter.edit(path)
    with pytest.raises(ValueError, match="4096"):
        writer.commit(message="m" * 4097)
    writer.commit(message="fits")
    assert reopened(path).commit["message"] == "fits"


def test_closed_writer_says_so(path):
    writer = _core.FileWriter.create(path)
    writer.close()
    writer.close()
    for call in (
        writer.segment,
        writer.end,
        writer.commit,
        lambda: writer.begin("a"),
        lambda: writer.write(b"x"),
    ):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_full_disk_leaves_the_last_commit_and_spoils_the_writer(path):
    write(path, Commit(sections("rag.docs")))
    before = Path(path).read_bytes()
    code = f"""
import resource, signal
from ragfile import _core
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
writer = _core.FileWriter.edit({path!r})
writer.begin("rag.big")
try:
    for _ in range(5):
        writer.write(bytes(1 << 20))
except OSError as error:
    print(error.filename)
for call in (lambda: writer.write(b"x"), writer.end, lambda: writer.begin("b"), writer.commit):
    try:
        call()
    except ValueError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == path
    assert len(lines) == 5
    assert all("can only be closed" in line for line in lines[1:])
    reader = reopened(path)
    assert reader.commit["generation"] == 1
    assert reader.commit["lost_generation"] == 0
    assert Path(path).read_bytes()[: len(before)] == before
    apply(path, Commit(sections("rag.late")), first=False)
    faults, counts = reopened(path).verify()
    assert faults == []
    assert counts["abandoned"] >= 1 << 20


# ---------------------------------------------------------------------------------------------------- files and locks


def test_new_file_appears_only_when_committed(path):
    writer = _core.FileWriter.create(path)
    writer.add("rag.docs", b"x")
    folder = Path(path).parent
    assert [p.name for p in folder.iterdir()] == [".a.ragfile.partial"]
    writer.commit()
    assert [p.name for p in folder.iterdir()] == ["a.ragfile"]


def test_abandoned_writer_leaves_nothing(path):
    writer = _core.FileWriter.create(path)
    writer.add("rag.docs", b"x")
    writer.close()
    assert list(Path(path).parent.iterdir()) == []


def test_partial_file_of_a_killed_writer_is_taken_over(path):
    partial = Path(path).parent / ".a.ragfile.partial"
    partial.write_bytes(b"left behind" * 10000)
    assert write(path, Commit(sections("rag.docs"))) == build(Commit(sections("rag.docs")))
    assert not partial.exists()


def test_two_creators_of_one_file_exclude_each_other(path):
    first = _core.FileWriter.create(path)
    with pytest.raises(LockedError, match=f"process {os.getpid()}, this one"):
        _core.FileWriter.create(path)
    first.commit()
    write(path, Commit())


def test_second_editor_is_told_who_holds_the_file(path):
    write(path, Commit())
    assert _core.writer_pid(path) == 0
    editor = _core.FileWriter.edit(path)
    assert _core.writer_pid(path) == os.getpid()
    with pytest.raises(LockedError, match=f"process {os.getpid()}, this one"):
        _core.FileWriter.edit(path)
    code = f"from ragfile import _core\ntry: _core.FileWriter.edit({path!r})\nexcept OSError as e: print(e)"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert f"process {os.getpid()})" in told
    editor.close()
    assert _core.writer_pid(path) == 0
    _core.FileWriter.edit(path).close()


def test_file_held_by_an_editor_is_not_replaced_by_a_creator(path):
    write(path, Commit(message="old"))
    editor, creator = _core.FileWriter.edit(path), _core.FileWriter.create(path)
    with pytest.raises(LockedError):
        creator.commit()
    creator.close()
    editor.commit(message="edited")
    assert reopened(path).commit["message"] == "edited"
    assert [p.name for p in Path(path).parent.iterdir()] == ["a.ragfile"]


def test_editor_can_read_while_readers_of_older_generations_live_on(path):
    write(path, *THREE)
    old = reopened(path)
    view = memoryview(old.section("rag.docs"))
    editor = _core.FileWriter.edit(path)
    compact = editor.replacement()
    compact.add("rag.docs", b"compacted")
    compact.commit()
    editor.close()
    assert bytes(view) == content(200, 4)
    assert bytes(reopened(path).section("rag.docs")) == b"compacted"
    assert _core.file_identity(path) != old.owner.identity
    assert [p.name for p in Path(path).parent.iterdir()] == ["a.ragfile"]


def test_editor_of_a_replaced_file_cannot_commit_into_nowhere(path):
    write(path, Commit(message="old"))
    editor = _core.FileWriter.edit(path)
    editor.replacement().commit(message="new")
    with pytest.raises(ValueError, match="replaced while this writer held it"):
        editor.commit(message="lost")
    assert reopened(path).commit["message"] == "new"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_replacement_is_never_readable_by_more_than_the_old_file(path, mode):
    write(path, Commit())
    editor = _core.FileWriter.edit(path)
    os.chmod(path, mode)
    compact = editor.replacement()
    assert os.stat(Path(path).parent / ".a.ragfile.partial").st_mode & 0o777 == mode
    compact.commit()
    editor.close()
    assert os.stat(path).st_mode & 0o777 == mode


def test_forked_child_neither_removes_nor_unlocks_nor_writes_its_parents_file(path):
    writer = _core.FileWriter.create(path)
    writer.add("rag.docs", b"x")
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            try:
                writer.begin("rag.more")
                writer.write(b"x")
                writer.end()
            except ValueError:
                writer.close()
                code = 0
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(LockedError):
        _core.FileWriter.create(path)
    writer.commit()
    assert reopened(path).verify()[0] == []


def test_lock_goes_with_the_writer_even_while_a_forked_child_lives(path):
    write(path, Commit())
    editor = _core.FileWriter.edit(path)
    read, hold = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hold)
        os.read(read, 1)
        os._exit(0)
    editor.close()
    _core.FileWriter.edit(path).close()
    os.close(hold)
    os.close(read)
    os.waitpid(child, 0)


# ------------------------------------------------------------------------------------------------------------ large files


def measured(code):
    """Runs code in a process of its own, which may call grown() for the growth of its resident memory in MB."""
    head = """
from ragfile import _core
def resident(which):
    return int(next(line for line in open("/proc/self/status") if line.startswith(which)).split()[1]) / 1024
before = resident("VmRSS:")
grown = lambda: resident("VmHWM:") - before
"""
    return subprocess.run(
        [sys.executable, "-c", head + code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_streaming_a_large_section_needs_memory_for_its_buffer_only(path):
    code = f"""
writer = _core.FileWriter.create({path!r})
writer.begin("rag.docs")
piece = bytes(1 << 20)
for _ in range(300):
    writer.write(piece)
writer.end()
writer.commit()
print(grown())
"""
    assert float(measured(code)) < 12
    assert os.path.getsize(path) > 300 << 20


def sparse_file(path, size):
    """A file with one section of zeros, mostly holes, by the independent writer's rules."""
    from oracles import handmade

    sums = handmade.blocks(bytes(handmade.BLOCK)) * (size // handmade.BLOCK)
    start = handmade.FRONT
    toc_at = start + extent(size)
    table = handmade.Table(entries=[handmade.Entry("rag.docs", start, size, handmade.xxh(sums))])
    toc = table.pack()
    footer_at = toc_at + len(toc) + 64 - len(toc) % 64
    footer = handmade.Footer(1, toc_at, len(toc), handmade.xxh(toc), 0, handmade.xxh(toc))
    with open(path, "wb") as file:
        file.write(handmade.front(table, toc_at, toc, footer_at))
        for at, data in ((start + size, sums), (toc_at, toc), (footer_at, footer.pack())):
            file.seek(at)
            file.write(data)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")
def test_ten_gigabytes_open_without_being_read(path):
    sparse_file(path, 10 << 30)
    code = f"""
reader = _core.Reader(_core.Map({path!r}))
section = reader.section("rag.docs")
section.check(5 << 30, 1)
section.check(len(section) - 1, 1)
print(grown())
"""
    assert float(measured(code)) < 10
    assert os.path.getsize(path) > 10 << 30
    assert os.stat(path).st_blocks * 512 < 4 << 20


def test_file_descriptors_are_not_leaked(path):
    write(path, *THREE)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for _ in range(min(soft, 1024) + 10):
        _core.FileWriter.edit(path).close()
        reopened(path)
    with pytest.raises(FormatError):
        _core.FileWriter.edit(__file__)
    _core.FileWriter.edit(path).close()
