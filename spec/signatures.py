"""A second reader of signatures (part 9) in plain Python: hashes, JSON, Ed25519 (RFC 8032). Slow.

    python spec/signatures.py FILE KEY      KEY: the 32 bytes of a public key, in hexadecimal

Prints one JSON object: the signer's claims, and a verdict: `holds`; `stale` (the table or the seal
changed); `altered` (a block differs from its leaf); `not signed by this key`.
"""

import base64
import binascii
import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import reader

OWN = ("rag.seal", "rag.signatures", "rag.parity", "rag.parity.step")
TYPE = "application/vnd.in-toto+json"

# ---- Ed25519, RFC 8032, section 5.1 -------------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def recovered(y, sign):
    """Return the x of a point, or None if there is no such point."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    return P - x if x % 2 != sign else x


def point(raw):
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    x = recovered(y, sign) if y < P else None
    return None if x is None else (x, y, 1, x * y % P)


def added(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, p):
    total = (0, 1, 1, 0)
    while n:
        total = added(total, p) if n & 1 else total
        p, n = added(p, p), n >> 1
    return total


def is_same(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recovered(BASE_Y, 0), BASE_Y, 1, recovered(BASE_Y, 0) * BASE_Y % P)


def packed(p):
    inverse = pow(p[2], P - 2, P)
    x, y = p[0] * inverse % P, p[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def challenge(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % L


def accepts(key, signature, message):
    a = point(key)
    r = point(signature[:32]) if len(signature) == 64 else None
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    return is_same(times(s, BASE), added(r, times(challenge(signature[:32], key, message), a)))


def signed(secret, message):
    """Return (public key, signature) for the vectors; the secret is 32 bytes."""
    h = hashlib.sha512(secret).digest()
    a = int.from_bytes(h[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    key = packed(times(a, BASE))
    r = challenge(h[32:], message)
    first = packed(times(r, BASE))
    s = (r + challenge(first, key, message) * a) % L
    return key, first + s.to_bytes(32, "little")


# ---- 9.1: the content ---------------------------------------------------------------------------


def leaves_of(data):
    starts = range(0, len(data), 65536)
    return b"".join(hashlib.sha256(b"\0" + data[at : at + 65536]).digest() for at in starts)


def content_list(sections, segments):
    """Make the list from (name, segment, flags, items, size, leaves) and (number, rows, live)."""
    text = "ragfile content 1\n"
    for name, segment, flags, items, size, leaves in sections:
        root = hashlib.sha256(b"\1" + leaves).hexdigest()
        text += f"section {name} {segment} {flags} {items} {size} {root}\n"
    return text + "".join(f"segment {n} {rows} {live}\n" for n, rows, live in segments)


def encoded(payload):
    return f"DSSEv1 {len(TYPE)} {TYPE} {len(payload)} ".encode() + payload


def own_section(data, sections, name):
    place = next((s for s in sections if (s["name"], s["segment"]) == (name, 0)), None)
    return b"" if place is None else reader.contents(data, place)


def said_by(envelope):
    """Return (payload, signature, digest, predicate) of an envelope, or None if it is invalid."""
    try:
        (only,) = envelope["signatures"]
        payload = base64.b64decode(envelope["payload"], validate=True)
        signature = base64.b64decode(only["sig"], validate=True)
        statement = json.loads(payload)
        (subject,) = statement["subject"]
        named = (envelope["payloadType"], statement["_type"], statement["predicateType"])
        digest, predicate = subject["digest"]["sha256"], statement.get("predicate", {})
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
    ours = (TYPE, "https://in-toto.io/Statement/v1", "urn:ragfile:signature:1")
    return (payload, signature, digest, predicate) if named == ours else None


def judge(data, key):
    """Return {"verdict", "said"} of the newest commit for one public key."""
    head = reader.front_page(data)
    _, segments, sections = reader.table(data, reader.newest(data, head)[0])
    listed = sorted(
        (s for s in sections if s["name"] not in OWN), key=lambda s: (s["name"], s["segment"])
    )
    rows = [(s["name"], s["segment"], s["flags"], s["items"], s["size"]) for s in listed]
    seal, at, split = own_section(data, sections, "rag.seal"), 0, []
    for row in rows:
        size = 32 * -(-row[4] // 65536)
        split.append(seal[at : at + size])
        at += size
    whole = at == len(seal)
    text = content_list(
        [(*row, leaves) for row, leaves in zip(rows, split, strict=True)],
        [(s["number"], s["rows"], s["live"]) for s in segments],
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    bare = own_section(data, sections, "rag.signatures")
    verdict, said = "not signed by this key", None
    for envelope in json.loads(bare)["envelopes"] if bare else []:
        found = said_by(envelope)
        if found is None or not accepts(key, found[1], encoded(found[0])):
            continue
        if not (whole and found[2] == digest):
            verdict, said = ("stale", found[3]) if verdict != "holds" else (verdict, said)
            continue
        true = all(
            leaves_of(reader.contents(data, s)) == leaves
            for s, leaves in zip(listed, split, strict=True)
        )
        verdict, said = ("holds" if true else "altered"), found[3]
    return {"verdict": verdict, "said": said}


if __name__ == "__main__":
    print(json.dumps(judge(Path(sys.argv[1]).read_bytes(), bytes.fromhex(sys.argv[2]))))
