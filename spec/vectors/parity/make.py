"""Generate the files of this folder: `python spec/vectors/parity/make.py`.

Three files are stored whole, the others as changes of them. They are assembled by hand
(tests/oracles/handmade.py), with the parity of the second reader (spec/parity.py), and use nothing
of the package. The expected repairs are listed here, and the second reader must agree.
"""

import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "spec"), str(ROOT / "tests")]

import parity  # noqa: E402
import reader  # noqa: E402
from oracles.handmade import Entry, Image, Table  # noqa: E402

TEXT = hashlib.shake_256(b"ragfile").digest(9000)
FOO = ("foo", b"hello")
BAR = ("bar", TEXT)
CHANGED = ("foo", b"hello again")


def built(*commits, lie=None, steps=(), **numbers):
    """The file of these lists of sections. lie(head, section) changes a parity section.

    Generations in `steps` are protected by a step. numbers are fields of the other heads that
    differ from the recommended ones.
    """
    image, kept, before, whole = Image(), [], None, None
    for generation, sections in enumerate(commits, 1):
        table = Table(generation, len(image.data))
        for name, content in sections:
            at, size, digest = image.put(content)
            kept = [e for e in kept if e.name != name]
            kept.append(Entry(name, at, size, digest, generation=generation))
        at = len(image.data)
        is_step = generation in steps
        entry = Entry("rag.parity" + ".step" * is_step, at, 0, 0, generation=generation)
        stays = ("rag.parity",) if is_step else ()
        kept = [e for e in kept if e.name in stays or not e.name.startswith("rag.parity")]
        kept.append(entry)
        table.entries = kept
        after = before if is_step else whole
        head = (parity.step if is_step else parity.planned)(
            at, after["toc_at"] if after else 4096, len(table.pack()), 2, generation=generation,
            previous=image.previous, identity=image.identity, before=after["at"] if after else 0,
            **({} if is_step else numbers),
        )  # fmt: skip
        entry.items = head["groups"] * head["rows"]
        entry.size = entry.items * head["size"]
        raw = parity.section(bytes(image.data), head, table.pack())
        _, _, entry.hash = image.put(lie(head, raw) if lie else raw)
        image.seal(table)
        before, whole = head, whole if is_step else head
    return image.bytes()


def damaged(data, *places):
    """Return data with all bits flipped in these (offset, size)."""
    found = bytearray(data)
    for at, size in places:
        found[at : at + size] = bytes(255 - b for b in found[at : at + size])
    return bytes(found)


def swapped(head, raw):
    """Exchange the rows of two shares, with valid hashes."""
    first, second = raw[: head["size"]], raw[head["size"] : 2 * head["size"]]
    record_hash = reader.number(first, 104)
    return (
        parity.share(head, 0, record_hash, second[128:])
        + parity.share(head, 1, record_hash, first[128:])
        + raw[2 * head["size"] :]
    )


def reheaded(**lies):
    """Change every head, with a valid hash of its own."""

    def lie(head, raw):
        size, found = head["size"], b""
        for i in range(head["rows"]):
            share = raw[i * size : (i + 1) * size]
            found += parity.share(head | lies, i, reader.number(share, 104), share[128:])
        return found

    return lie


def cases():
    """{name: (bytes, name of the repaired file or None, note)}"""
    one, three = (
        built([FOO, BAR]),
        built([FOO, BAR], [CHANGED], [("more", TEXT[:5000])], rows=4, quorum=2),
    )
    more = [("more", TEXT[:1500])], [("less", TEXT[:300])], [FOO], [("last", TEXT[:600])]
    steps = built([FOO, BAR], *more, steps=(2, 3, 5), rows=4, quorum=2)
    silent = built(
        [FOO, BAR], more[0], steps=(2,), rows=4, quorum=2,
        lie=lambda head, raw: raw if head["block"] >= 4096 else bytes(len(raw)),
    )  # fmt: skip
    end, share = len(three), parity.heads(three)[-1]
    first, second, third, _, last = parity.heads(steps)
    return {
        "one": (one, "one", "one commit"),
        "three": (three, "three", "three commits"),
        "one-front": (damaged(one, (0, 4096)), "one", "no front page"),
        "one-footer": (damaged(one, (len(one) - 64, 64)), "one", "no footer"),
        "one-data": (damaged(one, (4096, 9100)), "one", "all bytes of all sections but the parity's"),
        "one-cut": (one[:-20000], "one", "the end is missing"),
        "three-footer": (damaged(three, (end - 64, 64)), "three", "the newest footer, all of it"),
        "three-end": (damaged(three, (end - 8192, 8192)), "three", "the last 8 KiB"),
        "three-bits": (
            damaged(three, *((at, 1) for at in range(5000, end, 15000))), "three",
            "a byte every 15,000",
        ),
        "three-shares": (
            damaged(three, (share["at"], 2 * share["size"])), "three", "two of four shares",
        ),
        "steps": (steps, "steps", "steps in generations 2, 3 and 5"),
        "steps-data": (
            damaged(steps, (last["from"] + 5000, 1024)), "steps", "a KiB that a step protects",
        ),
        "steps-share": (
            damaged(steps, (last["at"] - 300, 1024)), "steps", "a KiB across a step's first share",
        ),
        "steps-end": (damaged(steps, (len(steps) - 1024, 1024)), "steps", "the last KiB"),
        "steps-past": (
            damaged(steps, (second["at"], third["at"] - second["at"])), "steps",
            "a step and a commit that the section after it protects",
        ),
        "steps-front": (
            damaged(steps, (0, 4096), (first["at"] + 10000, 4096)), "steps",
            "the front page and two of four shares",
        ),
        "steps-beyond": (
            damaged(steps, (last["at"], 3 * last["size"]), (last["from"] + 700, 10)), None,
            "a byte, and more of the newest step's shares than can be lost",
        ),
        "steps-without": (silent, None, "a step without a share"),
        "one-beyond": (
            damaged(one, (4096, 9100), (parity.heads(one)[0]["at"], 18 * 4096)), None,
            "three blocks, and all but two shares",
        ),
        "without": (
            built([FOO, BAR], lie=lambda head, raw: bytes(len(raw)), rows=1, quorum=1), None,
            "a parity section without a share",
        ),
        "swapped": (built([FOO, BAR], lie=swapped), None, "two rows swapped, all hashes right"),
        "range": (
            built([FOO, BAR], lie=reheaded(**{"from": 8192})), None, "heads with another range",
        ),
        "rows": (built([FOO, BAR], lie=reheaded(rows=1024)), None, "heads with more rows than there are"),
        "groups": (
            built([FOO, BAR], lie=reheaded(groups=4294967295)), None, "heads with four billion groups",
        ),
    }  # fmt: skip


def change(data, base):
    """Return [offset, hex] of the differences."""
    patches, at = [], 0
    while at < len(data):
        end = at
        while data[end : end + 1] != base[end : end + 1] and end < len(data):
            end += 1
        if end > at:
            patches.append([at, data[at:end].hex()])
        at = end + 1
    return patches


def inverted(data, base):
    """Return [offset, size] of the flipped bytes, or None if others differ."""
    other = [i for i in range(len(data)) if data[i] != base[i]]
    if any(data[i] != 255 - base[i] for i in other):
        return None
    runs = []
    for i in other:
        if runs and sum(runs[-1]) == i:
            runs[-1][1] += 1
        else:
            runs.append([i, 1])
    return runs


def files():
    """{file name: bytes} of the folder."""
    made, expected, all_of = {}, {}, cases()
    for name, (data, back, note) in all_of.items():
        try:
            found = parity.repaired(data)
        except reader.Refused:
            found = None
        assert found == all_of[back][0] if back else found != data, name
        expected[name] = {"note": note, "repaired": back}
        if name in WHOLE:
            made[f"{name}.ragfile"] = data
            continue
        of = next(kept for kept in WHOLE if name.startswith(kept) or kept == "one")
        base = all_of[of][0]
        expected[name] |= {"of": of, "size": len(data)}
        runs = inverted(data, base)
        expected[name] |= (
            {"inverted": runs} if runs is not None else {"patches": change(data, base)}
        )
    made["expected.json"] = (
        json.dumps(expected, indent=None).replace("}, ", "},\n") + "\n"
    ).encode()
    return made


WHOLE = ("three", "steps", "one")

if __name__ == "__main__":
    for name, data in files().items():
        there = HERE / name
        if there.exists() and there.read_bytes() != data:
            sys.exit(f"{name} would change: a vector never does while part 11 stays as it is")
        there.write_bytes(data)
