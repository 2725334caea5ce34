"""Decrypts a RAGFile, slow and plain, written from parts/encryption.md alone.

`decrypted(data, key)` returns the inner file and the numbers of blocks that are not right, whose
bytes are zero in it. It raises `reader.Refused` for a header that breaks a rule, with the kinds of
reader.py, and with the kind `key` if no slot opens with the key.

`python spec/encryption.py FILE KEYFILE OUT` writes the inner file; the exit code is 0, or 2 after a
refusal. It needs the package `cryptography`.
"""

import hmac
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from reader import Refused, need, number, xxh3

PAGE, HEAD, SLOT = 4096, 8192, 128


def hkdf(key, salt, info):
    drawn = hmac.new(salt, key, "sha256").digest()
    return hmac.new(drawn, info + b"\1", "sha256").digest()


def opened(key, nonce, text, data):
    """The plain bytes, or None if the tag does not fit."""
    try:
        return AESGCM(key).decrypt(nonce, text, data)
    except InvalidTag:
        return None


def whole(page):
    return page[:8] == b"RAGCRYPT" and number(page, 4088) == xxh3(page[:4088])


def header(data):
    """(offset, page) of the page that holds."""
    need(data[:8] == b"RAGCRYPT", 0, "13.1", "no encrypted file")
    need(len(data) >= HEAD, len(data), "13.1", "cut inside the header", "corrupt")
    pages = [(at, data[at : at + PAGE]) for at in (0, PAGE)]
    right = [(at, page) for at, page in pages if whole(page)]
    need(right, 4088, "13.1", "no whole page", "corrupt")
    return max(right, key=lambda found: (number(found[1], 24), -found[0]))


def slots(at, page):
    """The key slots as (salt, nonce, wrapped), after all checks of the page."""
    known = (number(page, 8, 4), number(page, 12, 4)) == (1, 1)
    need(known, at + 8, "13.1", "another version or cipher", "version")
    stride, count = number(page, 16, 4), number(page, 20, 4)
    powers = [1 << n for n in range(12, 17)]
    need(stride in powers, at + 16, "13.1", "a stride that is no power of two in range")
    need(1 <= count <= 30, at + 20, "13.1", "the number of slots")
    need(not any(page[48:64]), at + 32, "13.1", "reserved bytes")
    found = []
    for i in range(count):
        slot, place = page[64 + i * SLOT : 64 + (i + 1) * SLOT], at + 64 + i * SLOT
        need(number(slot, 0, 4) == 1, place, "13.2", "another kind of slot", "version")
        need(not any(slot[4:8] + slot[100:]), place, "13.2", "reserved bytes")
        found.append((slot[8:40], slot[40:52], slot[52:100]))
    end = 64 + count * SLOT
    need(not any(page[end:4088]), at + end, "13.1", "reserved bytes")
    return found


def end_of_blocks(data, stride):
    """The size of the file without a trailer that ends it (13.6)."""
    mark = data[-64:]
    at, end = number(mark, 8), number(mark, 16)
    is_mark = mark[:8] == b"RAGTRAIL" and number(mark, 56) == xxh3(mark[:56])
    places = all(place >= HEAD and (place - HEAD) % stride == 0 for place in (at, len(data)))
    fits = HEAD < end <= at < end + stride and at < len(data)
    return end if is_mark and places and fits else len(data)


def data_key(found, key):
    for salt, nonce, wrapped in found:
        made = opened(hkdf(key, salt, b"ragfile slot 1"), nonce, wrapped, b"ragfile data key 1")
        if made is not None:
            return made
    raise Refused(64, "13.2", "no slot opens with the key", "key")


def block(data, at, stride, identity, index, key):
    """The bytes of a block, or None if it is not right."""
    room = data[at : at + stride]
    if len(room) <= 64:
        return None
    length = number(room, 44, 4)
    if not 1 <= length <= min(len(room), stride) - 64:
        return None
    salt, nonce, text = room[:32], room[32:44], room[48 : 48 + length + 16]
    about = identity + index.to_bytes(8, "little") + length.to_bytes(4, "little")
    return opened(hkdf(key, salt, b"ragfile block 1"), nonce, text, about)


def decrypted(data, key):
    at, page = header(data)
    secret = data_key(slots(at, page), key)
    stride, identity = number(page, 16, 4), page[32:48]
    data = data[: end_of_blocks(data, stride)]
    body, payload = len(data) - HEAD, stride - 64
    size = body // stride * payload + max(body % stride - 64, 0)
    inner, wrong = b"", []
    for index in range(-(-size // payload)):
        found = block(data, HEAD + index * stride, stride, identity, index, secret)
        if found is None:
            wrong.append(index)
        inner += (found or b"").ljust(min(payload, size - index * payload), b"\0")
    return inner, wrong


def main(path, key_file, out):
    with open(path, "rb") as file, open(key_file) as key:
        try:
            inner, wrong = decrypted(file.read(), bytes.fromhex(key.read()))
        except Refused as error:
            print(error)
            return 2
    with open(out, "wb") as file:
        file.write(inner)
    print(f"{len(inner)} bytes, blocks that are not right: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
