"""Generate the files of this folder: `python spec/vectors/signatures/make.py`.

Files are assembled by hand (tests/oracles/handmade.py) and signed in plain Python
(spec/signatures.py) with the secret key of RFC 8032's first test; they use nothing of the package.
The expected verdicts are listed here, and the second reader must agree.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "spec"), str(ROOT / "tests")]

import signatures  # noqa: E402
from oracles.handmade import Commit, build  # noqa: E402

SECRET = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
OTHER = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
KEY, _ = signatures.signed(SECRET, b"")
FOO = ("foo", 0, 0, b"hello", 0)
BAR = ("bar", 0, 0, bytes(range(256)) * 300, 3)  # two blocks


def listed(*sections):
    return [(n, s, f, i, len(d), signatures.leaves_of(d)) for n, s, f, d, i in sorted(sections)]


def digest_of(*sections):

    return hashlib.sha256(signatures.content_list(listed(*sections), []).encode()).hexdigest()


def envelope(digest, secret=SECRET, **said):
    record = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "content", "digest": {"sha256": digest}}],
        "predicateType": "urn:ragfile:signature:1",
        "predicate": said,
    }
    payload = json.dumps(record).encode()
    key, signature = signatures.signed(secret, signatures.encoded(payload))
    return {
        "payloadType": signatures.TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {"keyid": hashlib.sha256(key).hexdigest(), "sig": base64.b64encode(signature).decode()}
        ],
    }


def commit(sections, envelopes, seal=None):
    """The signing commit: a seal of these sections, and the envelopes."""
    leaves = b"".join(row[5] for row in listed(*sections)) if seal is None else seal
    raw = json.dumps({"version": 1, "envelopes": envelopes}).encode()
    return Commit(
        [
            ("rag.seal", 0, 0, leaves, len(leaves) // 32),
            ("rag.signatures", 0, 0, raw, len(envelopes)),
        ]
    )


def cases():
    """{name: (bytes, verdict for KEY, the signer's claims, note)}"""
    base, right = Commit([FOO, BAR]), digest_of(FOO, BAR)
    good = envelope(right, signer="Ada", signed="2026-01-31T12:00:00Z")
    said = {"signer": "Ada", "signed": "2026-01-31T12:00:00Z"}
    changed = ("foo", 0, 0, b"hallo", 0)
    flipped = {**good, "signatures": [{**good["signatures"][0]}]}
    sig = bytearray(base64.b64decode(flipped["signatures"][0]["sig"]))
    sig[40] ^= 1
    flipped["signatures"][0]["sig"] = base64.b64encode(bytes(sig)).decode()
    other_text = {**good, "payload": envelope(right, signer="Eve")["payload"]}
    no = "not signed by this key"
    return {
        "signed": (build(base, commit([FOO, BAR], [good])), "holds", said, "one signature"),
        "two": (
            build(base, commit([FOO, BAR], [envelope(right, OTHER, signer="Bob"), good])),
            "holds", said, "two signatures, this key's is the second",
        ),
        "empty": (
            build(Commit([("none", 0, 0, b"", 0)]), commit([("none", 0, 0, b"", 0)], [envelope(digest_of(("none", 0, 0, b"", 0)))])),
            "holds", {}, "a section without bytes, and a signer who says nothing",
        ),
        "unsigned": (build(base), no, None, "nobody signed it"),
        "other-key": (build(base, commit([FOO, BAR], [envelope(right, OTHER)])), no, None, "signed by another key"),
        "flipped": (build(base, commit([FOO, BAR], [flipped])), no, None, "one bit of the signature is another"),
        "other-payload": (build(base, commit([FOO, BAR], [other_text])), no, None, "the signature of another statement"),
        "changed": (
            build(base, commit([FOO, BAR], [good]), Commit([("foo", 0, 0, b"hello!", 0)])),
            "stale", said, "a later commit changed a section and kept the signature",
        ),
        "added": (
            build(base, commit([FOO, BAR], [good]), Commit([("more", 0, 0, b"x", 0)])),
            "stale", said, "a later commit added a section",
        ),
        "dropped": (
            build(base, commit([FOO, BAR], [good]), Commit(drops=[("bar", 0)])),
            "stale", said, "a later commit dropped a section",
        ),
        "forged": (
            build(Commit([changed, BAR]), commit([FOO, BAR], [good])),
            "altered", said, "the seal is the signed one, a section's bytes are not: checksums hold, leaves do not",
        ),
        "altered-later": (
            build(base, commit([FOO, BAR], [good]), Commit([changed])),
            "altered", said, "a later commit put other bytes of the same size into a section",
        ),
        "items": (
            build(Commit([FOO, (*BAR[:4], 4)]), commit([FOO, BAR], [good])),
            "stale", said, "the table counts other items than the signed one",
        ),
        "short-seal": (
            build(base, commit([FOO, BAR], [good], seal=b"".join(r[5] for r in listed(FOO, BAR))[:-32])),
            "stale", said, "the seal has a leaf too few",
        ),
        "swapped-seal": (
            build(base, commit([FOO, BAR], [good], seal=b"".join(r[5] for r in reversed(listed(FOO, BAR))))),
            "stale", said, "the leaves are in another order",
        ),
    }  # fmt: skip


def files():
    """{file name: bytes} of the folder."""
    made, expected = {}, {}
    for name, (data, verdict, said, note) in cases().items():
        found = signatures.judge(data, KEY)
        assert found == {"verdict": verdict, "said": said}, (name, found)
        made[f"{name}.ragfile"] = data
        expected[name] = {"note": note, "verdict": verdict, "said": said}
    expected = {"key": KEY.hex(), "files": expected}
    made["expected.json"] = (json.dumps(expected, indent=1) + "\n").encode()
    return made


if __name__ == "__main__":
    for name, data in files().items():
        there = HERE / name
        if there.exists() and there.read_bytes() != data:
            sys.exit(f"{name} would change: a vector never does while part 9 stays version 1")
        there.write_bytes(data)
