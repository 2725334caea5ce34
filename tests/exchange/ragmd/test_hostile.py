"""Files made to hurt: refused with a line, in bounded memory and time, and nothing in them runs."""

import subprocess
import sys
import textwrap

import pytest
from fuzz import ragmd as fuzz_ragmd
from oracles.ragmd_examples import minimal
from places import TESTS
from sanitizers import SANITIZED

from ragfile.errors import FormatError
from ragfile.exchange.ragmd import ragmd_reader


def front(extra):
    return minimal().replace("---\n\n## D", f"{extra}\n---\n\n## D").encode()


BOMB = "a0: &a0 [x, x]\n" + "\n".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)
)
UNSAFE = {
    "an object to build": front("x: !!python/object/apply:os.system ['touch /tmp/ragmd-ran']"),
    "a module to import": front("x: !!python/name:os.system"),
    "aliases that grow": front(BOMB),
    "a merge of aliases": front("a: &a {b: 1}\nc: {<<: *a}"),
    "a deep list in YAML": front("x: " + "[" * 30_000),
    "deep blocks in YAML": front("x:\n" + "".join(" " * n + "y:\n" for n in range(1, 300))),
    "an endless frontmatter": front("x: " + "y" * 100_000),
    "a number of many digits": front("x: " + "9" * 60_000),
    "deep arrays in JSON": minimal()
    .replace('"content": {}', '"content": ' + "[" * 100_000)
    .encode(),
    "deep objects in JSON": minimal()
    .replace('"content": {}', '"content": ' + '{"a":' * 100_000)
    .encode(),
    "an integer of many digits": minimal()
    .replace('"i_end": 59', '"i_end": ' + "9" * 100_000)
    .encode(),
    "headings without end": (minimal() + "## x\n" * 70_000).encode(),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_it_is_refused_with_its_line(name):
    with pytest.raises(FormatError, match=r"line \d+"):
        ragmd_reader.parse(UNSAFE[name])


def test_nothing_in_a_frontmatter_runs(tmp_path):
    mark = tmp_path / "ran"
    with pytest.raises(FormatError, match=r"line 10: could not determine a constructor"):
        ragmd_reader.parse(front(f"x: !!python/object/apply:os.system ['touch {mark}']"))
    assert not mark.exists()


def test_a_claim_of_a_gigabyte_in_a_kilobyte_costs_a_kilobyte():
    import base64

    from ragfile import _core

    head = _core.faiss_flat_head(1024, 262_144, True)
    text = minimal(base64.b64encode(head + bytes(900)).decode()).replace(
        "embedding_dim: 8", "embedding_dim: 1024"
    )
    with pytest.raises(FormatError, match="line 46: a flat FAISS index is longer or shorter"):
        ragmd_reader.parse(text.replace("vector_count: 3", "vector_count: 262144").encode())


@pytest.mark.parametrize(
    ("dim", "count"), [(0, 5), (65_537, 1), (2**32 - 1, 2**40), (65_536, 2**47), (4, 2**62)]
)
def test_a_head_whose_product_overflows_is_refused(dim, count):
    from ragfile import _core

    with pytest.raises(FormatError):
        _core.faiss_read(_core.faiss_flat_head(dim, count, True) + bytes(64))


@pytest.mark.skipif(SANITIZED, reason="AddressSanitizer reserves terabytes of addresses")
def test_refusals_need_little_memory():
    code = f"""
        import resource, sys
        sys.path.insert(0, {str(TESTS)!r})
        from exchange.ragmd.test_hostile import UNSAFE, ragmd_reader, FormatError
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        for data in UNSAFE.values():
            try:
                ragmd_reader.parse(data)
            except FormatError:
                continue
            sys.exit("it was read")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_millions_of_backticks_within_a_fence_are_read():
    text = (
        minimal().replace('"content": {}', '"content": {"x": "' + "`a" * 2_000_000 + '"}').encode()
    )
    assert ragmd_reader.parse(text).documents["doc-001"]["content"]["x"].count("`") == 2_000_000


@pytest.mark.parametrize("seed", [101, 202])
def test_two_readers_agree_on_damaged_files(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcomes = fuzz_ragmd.run(1000, seed)
    assert min(outcomes.values()) > 30, outcomes


def test_every_truncation_is_refused():
    data = minimal().encode()
    for size in range(len(data) - len(b"\n```\n")):
        with pytest.raises(FormatError):
            ragmd_reader.parse(data[:size])
