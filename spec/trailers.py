"""A second reader of the parity of encrypted files (13.6) in plain Python, without keys. Slow.

    python spec/trailers.py FILE OUT      write the repaired file

`repaired(data)` returns the bytes of the file as they were, or raises reader.Refused. `trailer(data, …)` makes
a trailer, for the vectors.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import parity
from reader import Refused, measure, xxh3

HEAD, PAGE = 8192, 4096


def next_block(at, stride):
    return HEAD + -(-(at - HEAD) // stride) * stride


def mark(head):
    raw = b"RAGTRAIL" + head["at"].to_bytes(8, "little") + head["previous"].to_bytes(8, "little")
    raw = raw.ljust(56, b"\0")
    return raw + xxh3(raw).to_bytes(8, "little")


def trailer(data, percent, stride=4096, before=None, is_step=False):
    """Return (filling and trailer, head) for a file that ends with a block; `before` is a head."""
    at = next_block(len(data), stride)
    filled = data + bytes(at - len(data))
    made = parity.step if is_step else parity.planned
    head = made(
        at, before["toc_at"] if before else HEAD, 0, percent, version=0, previous=len(data),
        before=before["at"] if before else 0, generation=before["generation"] + 1 if before else 1,
        identity=int.from_bytes(data[32:40], "little"), end=at,
    )  # fmt: skip
    head["end"] = next_block(head["toc_at"] + 64, stride)
    assert measure(head)
    return filled[len(data) :] + parity.section(filled, head, b"") + ending(head), head


def ending(head):
    """The zeros and the mark after the shares."""
    return bytes(head["end"] - 64 - head["toc_at"]) + mark(head)


def is_whole(page):
    return page[:8] == b"RAGCRYPT" and page[4088:] == xxh3(page[:4088]).to_bytes(8, "little")


def mend_header(data):
    """A page that is not whole becomes like the other one."""
    first, second = bytes(data[:PAGE]), bytes(data[PAGE:HEAD])
    if not is_whole(first) and not is_whole(second):
        raise Refused(4088, "13.1", "no whole page", "corrupt")
    parity.put(data, 0, first if is_whole(first) else second)
    parity.put(data, PAGE, second if is_whole(second) else first)


def repaired(data):
    data = bytearray(data)
    found = [head for head in parity.heads(data, True) if head["at"] <= len(data)]
    if not found:
        raise Refused(len(data), "13.6", "the file has no parity", "corrupt")
    head = found[-1]
    while head:
        for group in range(head["groups"]):
            parity.mend_group(data, head, group)
        parity.put(data, head["toc_at"], ending(head))
        head = next(
            (h for h in found if h["at"] == head["before"] and h["toc_at"] == head["from"]), None
        )
    mend_header(data)
    return bytes(data)


if __name__ == "__main__":
    try:
        Path(sys.argv[2]).write_bytes(repaired(Path(sys.argv[1]).read_bytes()))
    except Refused as error:
        sys.exit(f"{error.kind}: {error}")
