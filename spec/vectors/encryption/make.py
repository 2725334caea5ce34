"""Generate the encrypted files of this folder: `python spec/vectors/encryption/make.py`.

They are assembled field by field from parts/encryption.md. Salts, nonces and keys are fixed here, and
would be random elsewhere.
"""

import hashlib
import hmac
import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from reader import xxh3  # noqa: E402
from trailers import trailer  # noqa: E402

USER, OTHER, DATA = b"\x11" * 32, b"\x22" * 32, bytes(range(32))
ID = bytes(range(100, 116))
INNER = (HERE.parent / "good-1-commits.ragfile").read_bytes()


def u32(value):
    return value.to_bytes(4, "little")


def u64(value):
    return value.to_bytes(8, "little")


def hkdf(key, salt, info):
    return hmac.digest(hmac.digest(salt, key, "sha256"), info + b"\1", "sha256")


def slot(user, n=1, data=DATA):
    salt, nonce = bytes([n]) * 32, bytes([n]) * 12
    text = AESGCM(hkdf(user, salt, b"ragfile slot 1")).encrypt(nonce, data, b"ragfile data key 1")
    return (u32(1) + bytes(4) + salt + nonce + text).ljust(128, b"\0")


def page(slots, stride=4096, version=1, cipher=1, count=None, sequence=1, identity=ID):
    count = len(slots) if count is None else count
    head = b"RAGCRYPT" + u32(version) + u32(cipher) + u32(stride) + u32(count) + u64(sequence)
    raw = ((head + identity).ljust(64, b"\0") + b"".join(slots)).ljust(4088, b"\0")
    return raw + u64(xxh3(raw))


def block(index, data, salt=b"\x05" * 32, identity=ID, said=None):
    nonce = bytes([7]) * 8 + u32(index)
    length = u32(len(data) if said is None else said)
    key = hkdf(DATA, salt, b"ragfile block 1")
    return salt + nonce + length + AESGCM(key).encrypt(nonce, data, identity + u64(index) + length)


def blocks(inner=INNER, stride=4096, **options):
    payload = stride - 64
    parts = [inner[at : at + payload] for at in range(0, len(inner), payload)]
    return [block(i, part, **options) for i, part in enumerate(parts)]


def joined(pages, parts, stride=4096):
    return b"".join(pages) + b"".join(p.ljust(stride, b"\0") for p in parts[:-1]) + parts[-1]


def with_trailer(data, stride=4096):
    return data + trailer(data, 5, stride)[0]


def damaged(data, places):
    return bytes(b ^ (at in places) for at, b in enumerate(data))


def with_hash(raw):
    return raw[:4088] + u64(xxh3(raw[:4088]))


def files():
    """{name: (note, bytes)}"""
    one, parts = page([slot(USER)]), blocks()
    two = page([slot(OTHER, 1), slot(USER, 2)], sequence=2)
    broken = bytes([one[200] ^ 1])
    hurt = one[:200] + broken + one[201:]
    kind = with_hash(one[:64] + u32(2) + one[68:])
    dirty = with_hash(one[:170] + b"\1" + one[171:])
    tail = with_hash(one[:4000] + b"\1" + one[4001:])
    flip = lambda at: bytes(b ^ (i == at) for i, b in enumerate(parts[0]))  # noqa: E731
    short = [block(0, INNER[:100]), *parts[1:]]
    wide = blocks(stride=16384)
    bare = joined([one, one], parts)
    after, head = trailer(bare, 5)
    protected = bare + after
    twice = protected + block(len(protected) // 4096 - 2, bytes(100))
    again, _ = trailer(twice, 5, before=head, is_step=True)
    holes = damaged(protected, (300, 8200, 12300, len(bare) + 5000, len(protected) - 10))
    return {
        "one": ("one key; the inner file is good-1-commits", joined([one, one], parts)),
        "two-keys": ("the second of two slots", joined([two, two], parts)),
        "wide": ("a stride of 16384", joined([page([slot(USER)], stride=16384)] * 2, wide, 16384)),
        "first-page": ("the second page is damaged", joined([one, hurt], parts)),
        "second-page": ("the first page is damaged", joined([hurt, one], parts)),
        "newer-page": ("the second page has the higher sequence", joined([page([slot(OTHER)]), two], parts)),
        "older-page": ("the slot for the key is in the older page", joined([two, page([slot(OTHER)], sequence=3)], parts)),
        "other-key": ("only another key's slot", joined([page([slot(OTHER)])] * 2, parts)),
        "other-data-key": ("a slot with another data key", joined([page([slot(USER, data=bytes(32))])] * 2, parts)),
        "both-pages": ("both pages are damaged", joined([hurt, hurt], parts)),
        "short-header": ("cut inside the header", one + one[:100]),
        "version": ("another version", joined([page([slot(USER)], version=2)] * 2, parts)),
        "cipher": ("another cipher", joined([page([slot(USER)], cipher=2)] * 2, parts)),
        "stride": ("a stride that is no power of two", joined([page([slot(USER)], stride=5000)] * 2, parts)),
        "no-slots": ("no slot", joined([page([])] * 2, parts)),
        "many-slots": ("31 slots by the count", joined([page([slot(USER)], count=31)] * 2, parts)),
        "slot-kind": ("a slot of another kind", joined([kind, kind], parts)),
        "slot-reserved": ("reserved bytes of a slot", joined([dirty, dirty], parts)),
        "page-reserved": ("reserved bytes of a page", joined([tail, tail], parts)),
        "swapped": ("blocks 0 and 1 in each other's place, cut to one length",
                    joined([one, one], [block(1, INNER[:1408]), block(0, INNER[4032:])])),
        "other-file": ("a block of a file with another id",
                       joined([one, one], [blocks(identity=bytes(16))[0], *parts[1:]])),
        "flipped-text": ("one bit of a text", joined([one, one], [flip(60), *parts[1:]])),
        "flipped-tag": ("one bit of a tag", joined([one, one], [flip(len(parts[0]) - 1), *parts[1:]])),
        "flipped-salt": ("one bit of a salt", joined([one, one], [flip(0), *parts[1:]])),
        "flipped-nonce": ("one bit of a nonce", joined([one, one], [flip(32), *parts[1:]])),
        "length-zero": ("a length of 0", joined([one, one], [block(0, INNER[:4032], said=0), *parts[1:]])),
        "length-large": ("a length beyond the stride", joined([one, one], [block(0, INNER[:4032], said=4033), *parts[1:]])),
        "short-block": ("a short block; zeros follow", joined([one, one], short)),
        "cut": ("the last byte is cut off", joined([one, one], parts)[:-1]),
        "cut-block": ("the last block is cut off", joined([one, one], [*parts[:-1], b""])),
        "parity": ("a trailer after the blocks", protected),
        "parity-step": ("a block after the trailer, which belongs to no commit, and a step", twice + again),
        "parity-wide": ("a trailer after a block of 16384", with_trailer(joined([page([slot(USER)], stride=16384)] * 2, wide, 16384), 16384)),
        "parity-cut": ("the mark is cut off: the trailer reads as zeros", protected[:-64]),
        "parity-mark": ("one bit of the mark: the same", damaged(protected, [len(protected) - 60])),
        "parity-damaged": ("a page, two blocks, a share and the mark are damaged", holes),
    }  # fmt: skip


def main():
    sys.path.insert(0, str(HERE.parent.parent))
    import encryption
    import trailers
    from reader import Refused

    expected = {}
    for name, (note, data) in files().items():
        path = HERE / f"{name}.ragfile"
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        try:
            inner, wrong = encryption.decrypted(data, USER)
            found = {
                "sha256": hashlib.sha256(inner).hexdigest(),
                "wrong": wrong,
                "size": len(inner),
            }
        except Refused as error:
            found = {"refused": {"kind": error.kind, "at": error.at, "rule": error.rule}}
        if name.startswith("parity"):
            found["repaired"] = hashlib.sha256(trailers.repaired(data)).hexdigest()
        expected[name] = {"note": note, **found}
    (HERE / "expected.json").write_text(
        json.dumps({"key": USER.hex(), "files": expected}, indent=1) + "\n"
    )
    print(json.dumps(expected, indent=1))


if __name__ == "__main__":
    main()
