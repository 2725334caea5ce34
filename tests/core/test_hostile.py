"""Files that nobody should have to open: cut, flipped, or built by an adversary with every checksum right.

Whatever the bytes are, opening and verifying end in an answer or a FormatError, quickly and in bounded memory; and no damage
goes unseen by both: an opened file that verifies without a fault is the file that was written.
"""

import random
import struct
import subprocess
import sys
from dataclasses import replace

import pytest
from effort import examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from oracles.handmade import (
    BLOCK,
    FRONT,
    SUPER,
    Commit,
    Entry,
    Footer,
    Image,
    Table,
    build,
    extent,
    front,
    xxh,
)
from sanitizers import SANITIZED

from ragfile import _core
from ragfile.errors import CorruptError, FormatError, VersionError

SMALL = [
    Commit(
        [("rag.docs", 0, 0, b"some text " * 9, 2), ("rag.ids", 1, 0, b"ids", 70)],
        rows={1: (70, 70)},
        message="one",
    ),
    Commit(
        [("rag.tombs", 1, 0, b"\x07" + bytes(15), 3)],
        rows={1: (70, 67)},
        garbage=b"died here",
        message="two",
    ),
    Commit([("rag.docs", 0, 0, b"other text", 1)], drops=[("rag.ids", 1)]),
]
FILES = {"empty": [Commit()], "one commit": SMALL[:1], "three commits": SMALL}


def answers(reader):
    """All that a user of this generation sees, or the error that stops him."""
    seen = [
        reader.commit["generation"],
        reader.commit["message"],
        reader.commit["created"],
        reader.segments,
    ]
    for e in reader.entries:
        section = reader.section(e["name"], e["segment"])
        section.check()
        seen.append((e["name"], e["segment"], e["items"], e["flags"], bytes(section)))
    return seen


def look(data):
    """(answers or None, faults): what opening, reading and verifying make of these bytes."""
    try:
        reader = _core.Reader(data)
    except FormatError:
        return None, ["refused"]
    try:
        found = answers(reader)
    except CorruptError:
        found = None
    faults = reader.verify()[0]
    assert found is not None or faults, "unreadable, but verified"
    return found, faults


def by_generation(data):
    reader = _core.Reader(data)
    return {n: answers(_core.Reader(data, n)) for n in range(1, reader.commit["generation"] + 1)}


# ------------------------------------------------------------------------------------------------------- cut and flipped


@pytest.mark.parametrize("name", FILES)
def test_every_truncation_is_refused_or_a_whole_older_generation(name):
    data = build(*FILES[name])
    good = by_generation(data)
    ends = {_core.Reader(data, n).commit["end"]: n for n in good}
    for size in range(len(data)):
        found, faults = look(data[:size])
        newest = max((n for end, n in ends.items() if end <= size), default=None)
        assert found == good.get(newest), size
        assert faults or size in ends, size


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_bit_is_refused_or_reported_and_answers_stay_true(name):
    data = build(*FILES[name])
    good = by_generation(data)
    newest = max(good)
    image = bytearray(data)
    for at in range(len(data)):
        for bit in range(8):
            image[at] ^= 1 << bit
            found, faults = look(image)
            assert faults, (at, bit)
            assert found is None or found in good.values(), (at, bit)
            if found is not None and found != good[newest]:
                assert _core.Reader(image).commit["lost_generation"] == newest, (at, bit)
            image[at] ^= 1 << bit


def test_damaged_newest_commit_is_called_lost_and_a_torn_one_is_not():
    data = build(*SMALL)
    end = _core.Reader(data, 2).commit["end"]
    for at in range(len(data) - 64, len(data)):
        image = bytearray(data)
        image[at] ^= 0x10
        commit = _core.Reader(image).commit
        assert (commit["generation"], commit["lost_generation"], commit["tail"]) == (
            2,
            3,
            len(data) - end,
        )
    for size in range(end, len(data)):
        commit = _core.Reader(data[:size]).commit
        assert (commit["generation"], commit["lost_generation"], commit["tail"]) == (
            2,
            0,
            size - end,
        )


@settings(max_examples=examples(150), deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_damage_never_passes_for_the_truth(rng):
    data = bytearray(build(*SMALL))
    good = list(by_generation(bytes(data)).values())
    for _ in range(rng.randint(1, 6)):
        at, size = rng.randrange(len(data)), rng.choice([1, 8, 64, 512])
        kind = rng.randrange(4)
        if kind == 0:
            data[at : at + size] = rng.randbytes(len(data[at : at + size]))
        elif kind == 1:
            data[at : at + size] = bytes(len(data[at : at + size]))
        elif kind == 2:
            del data[at : at + size]
        else:
            data[at:at] = data[at : at + size]
    found, faults = look(bytes(data))
    assert found in good or faults


# ------------------------------------------------------------------------------------ hostile tables with right checksums


def lying(change=lambda table: None, front=None, **lies):
    """One commit with two sections and a segment, changed before it is sealed, all checksums right."""
    image = Image()
    first, second = image.put(b"x" * 100), image.put(b"y" * 16)
    table = Table(
        entries=[Entry("rag.docs", *first), Entry("rag.tombs", *second, segment=1, items=3)],
        segments=[(1, 70, 67, 1)],
        next_segment=2,
    )
    change(table)
    return image.seal(table, front, **lies).bytes()


def set_entry(i, **fields):
    def change(table):
        table.entries[i] = replace(table.entries[i], **fields)

    return change


def set_table(**fields):
    def change(table):
        for name, value in fields.items():
            setattr(table, name, value)

    return change


HUGE = [(1 << 64) - 1, (1 << 64) - 64, (1 << 63), 1 << 60, (1 << 60) + 1, 1 << 40]
REFUSED = {
    "overlap": set_entry(1, at=FRONT),
    "overlap of the front page": set_entry(0, at=0),
    "overlap of the table": set_entry(1, at=FRONT + 256),
    "unaligned": set_entry(0, at=FRONT + 8),
    "out of order": lambda table: table.entries.reverse(),
    "reaching into the table": set_entry(1, size=4096),
    **{f"size {n:#x}": set_entry(1, size=n) for n in HUGE},
    **{f"offset {n:#x}": set_entry(1, at=n) for n in HUGE},
    **{f"items {n:#x}": set_entry(0, items=n) for n in HUGE if n > 1 << 40},
    "generation 0": set_entry(0, generation=0),
    "generation to come": set_entry(0, generation=2),
    "unknown flag": set_entry(0, flags=4),
    "reserved": set_entry(0, zero=1),
    "reserved 2": set_entry(0, zero_2=1),
    "segment that is not listed": set_entry(0, segment=9),
    "two of a name": set_entry(1, name="rag.docs", segment=0),
    "empty name": set_entry(0, name=""),
    "name with a dash": set_entry(0, name="a-b"),
    "name of 65": set_entry(0, name="a" * 65),
    "name with a control": set_entry(0, name="a\x01"),
    "names without end": set_table(names=b"rag.docs\0rag.tombs"),
    "names with more behind": set_table(names=b"rag.docs\0rag.tombs\0x\0"),
    "names shared": set_table(name_offsets=[0, 0]),
    "names outside": set_table(name_offsets=[0, 1 << 31]),
    "names crossed": set_table(name_offsets=[9, 0]),
    "no segments listed": set_table(segments=[]),
    "segment 0": set_table(segments=[(0, 70, 67, 1)]),
    "segment twice": set_table(segments=[(1, 70, 67, 1)] * 2),
    "segment to come": set_table(segments=[(1, 70, 67, 1), (2, 1, 1, 1)]),
    "more live than rows": set_table(segments=[(1, 70, 71, 1)]),
    "no rows": set_table(segments=[(1, 0, 0, 1)]),
    "rows beyond all limits": set_table(segments=[(1, 1 << 41, (1 << 41) - 3, 1)]),
    "segment of a later commit": set_table(segments=[(1, 70, 67, 2)]),
    "fewer deletions than said": set_table(segments=[(1, 70, 60, 1)]),
    "tombstones of another size": set_entry(1, size=8),
    "tombstones for no deletion": set_entry(1, items=0),
    **{f"count of {what}": set_table(counts={what: n}) for what in ("entries", "segments", "names", "message") for n in (0, 1 << 16, 1 << 32 - 1)
       if (what, n) != ("message", 0)},
    "start inside the front page": set_table(start=0),
    "start after the table": set_table(start=1 << 20),
    "start off the grid": set_table(start=FRONT + 1),
    "no next segment": set_table(next_segment=0),
    "next segment beyond 32 bits": set_table(next_segment=1 << 32),
    "message too long": set_table(message=b"m" * 4097),
}  # fmt: skip


def test_the_file_that_the_liars_change_is_a_good_one():
    image = lying()
    tombs = _core.Reader(image).entry("rag.tombs", 1)["at"]
    assert [
        f[1] for f in _core.Reader(image).verify()[0]
    ] != []  # its bitmap is noise; with a true one it is whole
    truth = Image()
    first, second = truth.put(b"x" * 100), truth.put(b"\x07" + bytes(15))
    table = Table(
        entries=[Entry("rag.docs", *first), Entry("rag.tombs", *second, segment=1, items=3)],
        segments=[(1, 70, 67, 1)],
        next_segment=2,
    )
    assert _core.Reader(truth.seal(table).bytes()).verify()[0] == []
    assert tombs == second[0]


@pytest.mark.parametrize("lie", REFUSED)
def test_table_with_this_lie_is_refused(lie):
    with pytest.raises(FormatError) as caught:
        _core.Reader(lying(REFUSED[lie]))
    assert caught.value.at is not None


def test_features_of_a_newer_version_refuse_readers_or_only_writers(tmp_path):
    with pytest.raises(VersionError):
        _core.Reader(lying(front={"read_features": 1 << 63}))
    assert _core.Reader(lying(front={"write_features": 1})).commit["read_only"]
    (tmp_path / "a").write_bytes(lying(front={"write_features": 1}))
    with pytest.raises(VersionError):
        _core.FileWriter.edit(tmp_path / "a")


FOOTER_LIES = ("generation", "toc_at", "toc_size", "toc_hash", "previous", "identity")


@pytest.mark.parametrize("field", FOOTER_LIES)
@pytest.mark.parametrize("value", [0, 1, 63, 64, FRONT, 1 << 32, *HUGE])
def test_footer_with_a_lie_is_no_footer(field, value):
    data = lying(**{field: value})
    if data == lying():
        return
    with pytest.raises(FormatError):
        _core.Reader(data)


@pytest.mark.parametrize(
    "bitmap", [b"\xff" * 16, bytes(16), b"\x03" + bytes(15), b"\x03" + bytes(14) + b"\x80"]
)
def test_lying_tombstones_are_reported(bitmap):
    image = Image()
    place = image.put(bitmap)
    table = Table(
        entries=[Entry("rag.tombs", *place, segment=1, items=3)],
        segments=[(1, 70, 67, 1)],
        next_segment=2,
    )
    faults = _core.Reader(image.seal(table).bytes()).verify()[0]
    assert faults
    assert {fault[3] for fault in faults} == {"rag.tombs"}


def second_commit(change=lambda table, first: None, **lies):
    image = Image()
    first = Entry("rag.docs", *image.put(b"x" * 100))
    image.seal(Table(entries=[first]))
    start = len(image.data)
    own = Entry("rag.ids", *image.put(b"ids"), generation=2)
    table = Table(2, start, entries=[replace(first), own])
    change(table, first)
    return image.seal(table, **lies).bytes()


def test_chain_that_skips_a_generation_is_reported_and_cannot_be_walked():
    data = second_commit(
        lambda table, first: setattr(table, "generation", 5) or set_generation(table, 5)
    )
    reader = _core.Reader(data)
    assert "chain of commits is broken" in str(reader.verify()[0])
    with pytest.raises(CorruptError, match="chain"):
        _core.Reader(data, 1)


def set_generation(table, generation):
    table.entries[1] = replace(table.entries[1], generation=generation)


@pytest.mark.parametrize("previous", [64, FRONT, FRONT + 64])
def test_chain_into_nowhere_is_reported(previous):
    with_chain = second_commit(previous=previous)
    try:
        reader = _core.Reader(with_chain)
    except FormatError:
        return
    assert "chain of commits is broken" in str(reader.verify()[0])


@pytest.mark.parametrize(
    "change",
    [
        {"size": 99},
        {"size": 1},
        {"items": 5},
        {"name": "rag.other"},
        {"at": FRONT + 64, "size": 8},
        {"flags": 2},
    ],
)
def test_older_section_told_otherwise_than_by_its_commit_is_reported(change):
    def tell(table, first):
        table.entries[0] = replace(first, **change)

    reader = _core.Reader(second_commit(tell))
    assert any("not the one that its commit wrote" in fault[2] for fault in reader.verify()[0])


def test_older_section_cannot_reach_over_the_commits_behind_it():
    with pytest.raises(CorruptError, match="reaches into this commit"):
        _core.Reader(second_commit(lambda table, first: set_entry(0, size=320)(table)))


number = st.one_of(
    st.integers(0, 5),
    st.integers(0, (1 << 64) - 1),
    st.sampled_from([FRONT, FRONT + 64, FRONT + 128, FRONT + 256, BLOCK, 1 << 32, *HUGE]),
)
small = st.one_of(st.integers(0, 3), st.integers(0, (1 << 32) - 1))
names = st.one_of(
    st.sampled_from(["rag.tombs", "rag.docs", "rag.head", "vector"]),
    st.text("abz.-\0é", max_size=6),
    st.just("n" * 64),
)
entries = st.builds(
    Entry,
    name=names, at=number, size=number, hash=number, segment=small, flags=st.one_of(st.integers(0, 3), small),
    items=number, generation=number, zero=st.sampled_from([0, 0, 0, 1]), zero_2=st.sampled_from([0, 0, 0, 1]),
)  # fmt: skip
segments = st.lists(st.tuples(small, number, number, number), max_size=4)


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(entries, max_size=5), segments, st.binary(max_size=9), small, number, st.data())
def test_any_table_at_all_is_answered(listed, parts, message, next_segment, abandoned, data):
    image = Image()
    for _ in range(3):
        image.put(b"z" * 70)
    table = Table(
        entries=listed, segments=parts, message=message, next_segment=next_segment, abandoned=abandoned,
        generation=data.draw(st.sampled_from([1, 1, 1, 2])), start=data.draw(st.sampled_from([FRONT, FRONT, FRONT + 64])),
    )  # fmt: skip
    lies = data.draw(
        st.one_of(st.just({}), st.dictionaries(st.sampled_from(FOOTER_LIES), number, max_size=2))
    )
    try:
        page = image.seal(table, **lies).bytes()
    except (struct.error, OverflowError):
        return
    look(page)


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=300))
@example(b"RAGFILE\1\0\0\0")
def test_any_bytes_at_all_are_answered(data):
    for sample in (data, b"RAGFILE\1\0\0" + data, b"RAGFILE\1\0\0\0" + bytes(5000) + data):
        with pytest.raises(FormatError):
            _core.Reader(sample)


def test_random_numbers_in_rehashed_files_are_answered():
    rng = random.Random(3)
    base = build(*SMALL)
    footers = [at for at in range(FRONT, len(base), 64) if base[at : at + 8] == b"RAGCOMIT"]
    for _ in range(4000):
        data = bytearray(base)
        footer = rng.choice(footers)
        toc_at, toc_size = struct.unpack_from("<QQ", data, footer + 16)
        at = rng.choice(
            [footer + 8 * rng.randrange(1, 6), toc_at + 4 * rng.randrange(toc_size // 4 - 1)]
        )
        struct.pack_into(
            "<Q", data, at, rng.choice([0, 1, rng.getrandbits(64), rng.getrandbits(16) * 64, *HUGE])
        )
        rehash(data, footers)
        look(bytes(data))


def rehash(data, footers):
    """Makes every checksum of tables, footers and front page right again."""
    for i, footer in enumerate(footers):
        toc_at, toc_size = struct.unpack_from("<QQ", data, footer + 16)
        if toc_at + toc_size <= len(data):
            struct.pack_into("<Q", data, footer + 32, xxh(data[toc_at : toc_at + toc_size]))
        identity = data[footers[0] + 32 : footers[0] + 40]
        data[footer + 48 : footer + 56] = identity
        struct.pack_into("<Q", data, footer + 56, xxh(data[footer : footer + 56]))
        if i == 0:
            data[SUPER + 40 : SUPER + 48] = identity
    struct.pack_into("<Q", data, SUPER + 112, xxh(data[: SUPER + 112]))


# ------------------------------------------------------------------------------------------------- time and memory bounds


def bounded(path, code, seconds=20, megabytes=64):
    """Runs code with little processor time and little memory beyond what an idle interpreter and the file need."""
    head = f"""
import os, resource
from ragfile import _core
from ragfile.errors import FormatError
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + {megabytes << 20} + os.path.getsize({str(path)!r})
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
path = {str(path)!r}
"""
    done = subprocess.run(
        [sys.executable, "-c", head + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout.strip()


limits = pytest.mark.skipif(
    sys.platform != "linux" or SANITIZED,
    reason="sets an address-space limit, which ASan's shadow does not fit in",
)
OPEN = """
try:
    reader = _core.Reader(_core.Map(path))
    print("opened", len(reader.entries), reader.verify()[1]["faults"])
except FormatError as error:
    print("refused", error)
"""


@limits
def test_thousands_of_fake_footers_over_large_tables_take_bounded_time(tmp_path):
    """Every footer is good by itself and claims the same 16 MB table: hashing each of them would take minutes."""
    image = Image()
    image.seal(Table())
    body = bytes(16 << 20)
    toc_at = len(image.data)
    image.data += body
    fakes = 0
    while fakes < 4000:
        at = len(image.data)
        size = at - toc_at - 1
        image.data += Footer(2, toc_at, size, 12345, image.previous, image.identity).pack()
        fakes += 1
    (tmp_path / "a").write_bytes(image.bytes())
    assert "too many damaged commits" in bounded(tmp_path / "a", OPEN, seconds=5)


@limits
def test_sixty_megabytes_of_broken_footers_take_bounded_time(tmp_path):
    image = Image().seal(Table())
    image.data += (b"RAGCOMIT" + bytes(56)) * (1 << 20)
    (tmp_path / "a").write_bytes(image.bytes())
    assert bounded(tmp_path / "a", OPEN, seconds=5).startswith("opened 0")


@limits
def test_as_many_sections_as_the_limit_allows_open_and_one_more_is_refused(tmp_path):
    for count, expected in ((65536, "opened 65536 0"), (65537, "refused")):
        image = Image()
        raw, digest = bytes(64), xxh(b"")
        image.data += raw * count
        table = Table(entries=[Entry(f"n{i:05x}", FRONT + 64 * i, 0, digest) for i in range(count)])
        (tmp_path / "a").write_bytes(image.seal(table).bytes())
        assert bounded(tmp_path / "a", OPEN, seconds=10).startswith(expected)


@limits
def test_claimed_sizes_are_not_allocated(tmp_path):
    for size in HUGE:
        (tmp_path / "a").write_bytes(lying(set_entry(1, size=size)))
        assert "refused" in bounded(tmp_path / "a", OPEN, megabytes=16)


@limits
def test_sparse_terabyte_with_a_section_to_its_end_is_opened_without_being_read(tmp_path):
    size = 1 << 40
    toc_at = FRONT + extent(size)
    table = Table(entries=[Entry("rag.docs", FRONT, size, 1)])
    toc = table.pack()
    footer_at = toc_at + len(toc) + 64 - len(toc) % 64
    try:
        with open(tmp_path / "a", "wb") as file:
            file.write(front(table, toc_at, toc, footer_at))
            file.seek(toc_at)
            file.write(toc)
            file.seek(footer_at)
            file.write(Footer(1, toc_at, len(toc), xxh(toc), 0, xxh(toc)).pack())
    except OSError:
        pytest.skip("this file system has no sparse terabytes")
    told = bounded(tmp_path / "a", "print(len(_core.Reader(_core.Map(path)).entries))", seconds=5)
    assert told == "1"
