"""A power cut after any operation of a recorded sequence leaves the last committed state or the one on its way.

tests/crash/replay.py says how; here every operation is crashed a few times, and the method itself is put to the test.
"""

import shutil
import sys

import pytest
from crash import replay

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux", reason="the recorder is preloaded by the Linux dynamic linker"
    ),
    pytest.mark.skipif(not shutil.which("cc"), reason="the recorder is compiled by the test"),
]


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    return replay.record(tmp_path_factory.mktemp("crash"))


def test_every_crash_leaves_a_whole_state(operations, tmp_path):
    assert replay.replay(operations, 4, 2026, tmp_path) == 4 * len(operations)


@pytest.mark.parametrize("kind", ["S", "D", "R"])
def test_without_syncs_or_renames_the_same_crashes_are_found_fatal(operations, tmp_path, kind):
    weakened = [operation for operation in operations if operation[0] != kind]
    with pytest.raises(AssertionError, match="operation"):
        replay.replay(weakened, 10, 1, tmp_path)


def test_footer_written_together_with_its_table_would_be_taken_for_a_loss(operations, tmp_path):
    weakened = list(operations)
    for i in range(1, len(weakened) - 1):
        table, sync, footer = weakened[i - 1 : i + 2]
        if (table[0], sync[0], footer[0]) == ("W", "S", "W") and footer[3].startswith(b"RAGCOMIT"):
            weakened[i - 1 : i + 1] = sync, table
    with pytest.raises(AssertionError, match=r"called lost|is not what was committed"):
        replay.replay(weakened, 30, 1, tmp_path)


def test_a_commit_syncs_before_and_after_its_footer_and_never_truncates(operations):
    kinds = [
        op[0] if op[0] != "W" else "F" if op[3].startswith(b"RAGCOMIT") else "W"
        for op in operations
    ]
    for i, kind in enumerate(kinds):
        if kind == "F" and kinds[i - 1] == "S":
            assert kinds[i + 1] == "S"
    # The footers of new files are in the same write as their tables: a rename publishes them.
    assert kinds.count("F") == 6
    assert all(kinds[i - 1] == "S" for i, kind in enumerate(kinds) if kind == "F")
    assert not [op for op in operations if op[0] == "T"]
