"""Evil files, our own and other programs', are refused within limits of time and memory, and run nothing."""

import json
import os
import signal
import sys
import warnings

import pytest
from attacks import evil_files
from places import ROOT
from sanitizers import SANITIZED

import ragfile
from ragfile import conformance

resource = pytest.importorskip("resource", reason="limits of a process are those of Unix")
pytestmark = [
    pytest.mark.skipif(SANITIZED, reason="sanitizers reserve terabytes of addresses"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status"),
]
SECONDS, BYTES = 20, 1 << 30
CLEAR = (
    "FormatError", "CorruptError", "VersionError", "ModelError", "ValueError", "OSError", "FileExistsError",
)  # fmt: skip


def limited(work):
    """Return what work() raised, as (type, reason), in a process with limits; None if it returned."""
    heard, out = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            signal.alarm(6 * SECONDS)  # for one that waits without end
            resource.setrlimit(resource.RLIMIT_DATA, (data_now() + BYTES, data_now() + BYTES))
            warnings.simplefilter("ignore")
            try:
                work()
                found = None
            except BaseException as error:  # noqa: BLE001 - the other process judges it
                found = [type(error).__name__, str(error)]
            os.write(out, json.dumps(found).encode()[:60_000])
        finally:
            os._exit(0)
    os.close(out)
    with open(heard, "rb") as file:
        raw = file.read()
    _, status = os.waitpid(pid, 0)
    assert raw, f"the process ended: {signal_of(status)}"
    return json.loads(raw)


def data_now():
    """The bytes of data of this process, which its children share."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData"))


def signal_of(status):
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else status


@pytest.mark.parametrize("attack", evil_files.ATTACKS, ids=lambda one: one.name)
def test_an_evil_file_is_refused_within_limits(tmp_path, attack):
    if attack.needs:
        pytest.importorskip(attack.needs, reason=f"{attack.needs} is not installed")
    folder = tmp_path / "from"
    folder.mkdir()
    path = made(attack, folder)
    before = sorted(os.listdir(folder))
    found = limited(lambda: ragfile.convert(path, tmp_path / "to.ragfile", **attack.options))
    assert found is not None, "it was converted"
    assert found[0] in CLEAR, found
    assert found[1], found
    assert evil_files.OWNED not in os.listdir(folder), "its program ran"
    assert sorted(os.listdir(folder)) == before
    assert evil_files.SECRET not in found[1]
    assert not (tmp_path / "to.ragfile").exists()


def made(attack, folder):
    """The evil file; some Pythons cannot make those of sqlite-vec."""
    try:
        return attack.make(folder)
    except ValueError as error:
        if "loadable extensions" in str(error):
            pytest.skip(str(error))
        raise


def refuse_vectors():
    """Read each vector that breaks a rule; tell how many were refused."""
    vectors = conformance.vectors(str(ROOT / "spec/vectors"))
    broken = [one for one in vectors if "refused" in one.expected]
    read = conformance.reader_of(None)
    accepted = [
        one.name for one in broken if "refused" not in read(one.data, one.expected.get("dim"))
    ]
    raise ValueError(f"{len(broken)} vectors, accepted: {accepted}")


def test_every_vector_that_breaks_a_rule_is_refused_within_limits():
    kind, told = limited(refuse_vectors)
    assert kind == "ValueError", told
    assert told.endswith("accepted: []"), told
    assert int(told.split()[0]) > 350


def test_the_list_of_attacks_is_that_of_the_script():
    assert (ROOT / "tests/attacks/README.md").read_text() == evil_files.table()
    assert len({one.name for one in evil_files.ATTACKS}) == len(evil_files.ATTACKS) > 35


def test_attacks_that_need_nothing_are_always_tried():
    assert sum(not one.needs for one in evil_files.ATTACKS) > 25
