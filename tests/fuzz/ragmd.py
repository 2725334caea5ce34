"""Damages .ragmd files in every way that editors, merges and disks do, and compares two readers on each.

    python tests/fuzz/ragmd.py [how many] [seed]

Both must refuse (ours with a FormatError, never anything else) or both must find the same documents, references and index.
"""

import json
import random
import re
import sys
import time

from oracles import ragmd as ragmd_oracle
from oracles.ragmd_examples import collection, minimal, rendered

from ragfile.errors import FormatError
from ragfile.exchange.ragmd import ragmd_reader

PIECES = [b"## ", b"```", b"````", b"---\n", b"...\n", b"\n", b"\r\n", b"[", b"{", b'"', b"\\", b"=", b"\x00", b"\xff", b"-1", b": ",
          b"null", b"!!python/object", b"&a [*a]", b"|", b"#", b"'", b"\t", b"  ", b",", b"1e999", b"~~~", b"\xc2\x85", b"\xe2\x80\xa8",
          b"\xef\xbb\xbf", b"true", b"0.0", b"vector_count: 12\n", b"<<: {a: 1}\n", b"? x\n", b"%YAML 1.1\n"]  # fmt: skip


def seeds():
    """Files to damage: the small example, ours, one with everything unusual, one without a checksum."""
    odd = collection(documents=2, chunks=2, dim=3)
    odd.refs[1] = {"document_id": "gone", "chunk_key": "x", "more": [1]}
    odd.documents["doc-000"]["content"]["title"] = "a | b\n## Vectors ``` \ud800 é"
    odd.pair = {"indent": 4, "extra": {"kept": None}}
    odd.sections = [("Chunks", "Mine", "## Mine\n\n~~~\n## not\n~~~")]
    plain = minimal().encode()
    whole = rendered(collection(documents=2, chunks=2, dim=4))
    return [
        plain,
        whole,
        rendered(odd),
        *(re.sub(rb"document_checksums:\n(  .*\n)+", b"", one) for one in (whole, rendered(odd))),
        plain.replace(b"\n", b"\r\n"),
    ]


def damaged(data, dice):
    """One to four changes, each of another kind."""
    data = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        at, kind = dice.randrange(len(data) + 1), dice.randrange(8)
        length = dice.choice((1, 1, 2, 5, 40))
        if kind == 0 and at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = dice.choice(PIECES)
        elif kind == 3:
            data[at : at + length] = dice.choice(PIECES)
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            other = dice.randrange(len(data) + 1)
            data[at:at] = data[other : other + length * 4]
        elif kind == 6 and at < len(data):
            data[at] = dice.randrange(256)
        else:
            lines = data.split(b"\n")
            first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
            lines[first], lines[second] = (
                lines[second],
                lines[first] if dice.random() < 0.7 else lines[second],
            )
            data = bytearray(b"\n".join(lines))
        data = data or bytearray(b"-")
    return bytes(data)


def ours_of(data):
    try:
        return ragmd_reader.parse(data), ""
    except FormatError as error:
        return None, str(error)


def oracle_of(data):
    try:
        return ragmd_oracle.read(data), ""
    except ragmd_oracle.Refused as rule:
        return None, str(rule)


def same(data):
    """ "refused" or "read"; AssertionError when the readers disagree."""
    (ours, reason), (theirs, rule) = ours_of(data), oracle_of(data)
    assert (ours is None) == (theirs is None), (
        f"we say {reason or 'yes'!r}, the oracle {rule or 'yes'!r}"
    )
    if ours is None:
        assert reason == "Missing frontmatter" or reason.startswith("line "), reason
        return "refused"
    assert json.dumps(ours.documents) == json.dumps(theirs["documents"])
    assert json.dumps(ours.refs) == json.dumps(theirs["refs"])
    assert ours.index.data.tobytes() == theirs["index"]
    again = ragmd_reader.parse(rendered(ours))
    assert json.dumps([again.documents, again.refs]) == json.dumps([ours.documents, ours.refs])
    return "read"


def run(count, seed):
    dice, sources, outcomes = random.Random(seed), seeds(), {"refused": 0, "read": 0}
    for number in range(count):
        data = damaged(sources[number % len(sources)], dice)
        try:
            outcomes[same(data)] += 1
        except BaseException:
            with open(f"fuzz-ragmd-{seed}-{number}.bin", "wb") as file:
                file.write(data)
            print(
                f"file {number} of seed {seed} is kept in fuzz-ragmd-{seed}-{number}.bin",
                file=sys.stderr,
            )
            raise
    return outcomes


if __name__ == "__main__":
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    start = time.monotonic()
    print(
        run(total, int(sys.argv[2]) if len(sys.argv) > 2 else 1),
        f"in {time.monotonic() - start:.0f} s",
    )
