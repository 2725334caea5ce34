"""Detect the encoding of text that is not UTF-8 and has no byte order mark."""

from __future__ import annotations

import codecs
import re

from ragfile.ground.extras import optional

SAMPLE = 64 << 10  # bytes from which the encoding is guessed
DAMAGED = 0.5  # below this share of invalid bytes, a text is UTF-8 with errors
_DECLARED = re.compile(rb"\A(?:[^\n]*\n)?[^\n]{0,100}?coding[:=][ \t]*([-\w.]{1,40})")
# Most preferred first.
CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp932", "euc_jp", "gb18030", "big5", "cp949",
]  # fmt: skip
# The encodings that a text can declare. Not every codec is an encoding, and some take quadratic time.
DECLARED = {
    *CANDIDATES,
    "cp437",
    "cp850",
    "cp866",
    "mac-roman",
    "koi8-u",
    "shift_jis",
    "gbk",
    "gb2312",
    "euc_kr",
    *(f"iso8859-{n}" for n in range(1, 17) if n != 12),
}


def wide(raw: bytes) -> str:
    """Return "utf-16-le" or "utf-16-be" if every other byte is zero, as in Western text, else ""."""
    sample = raw[:4096]
    half = len(sample) // 2
    if half < 2 or len(raw) % 2:
        return ""
    high, low = sample[::2].count(0), sample[1::2].count(0)
    if min(high, low) * 20 > half or max(high, low) * 2 < half:
        return ""
    return "utf-16-be" if high > low else "utf-16-le"


def detected(raw: bytes) -> str:
    """Return the name of an encoding, "" if none is found."""
    if name := wide(raw):
        return name
    if name := _declared(raw):
        return name
    if _is_damaged(raw[:SAMPLE]):
        return ""
    return "cp1252" if is_western(raw[:SAMPLE]) and _can(raw, "cp1252") else _best(raw)


def is_western(sample: bytes) -> bool:
    """Return whether text that is not UTF-8 is certainly of a Western language, in cp1252.

    Other alphabets give whole words of bytes above 127; Western ones have single such letters between
    letters of ASCII. The letters of Central European, Baltic and Turkish encodings are rare in cp1252.
    """
    high = [byte for byte in sample if byte > 0x7F]
    if not high or _UNUSED & set(high) or _is_damaged(sample) or _OLDER.search(sample):
        return False
    runs = sum(map(len, _RUN.findall(sample)))
    is_sparse = len(high) * 2 <= len(_LETTERS.findall(sample)) and runs * 4 <= len(high)
    return is_sparse and _is_western(sample) and not _is_turkish(sample)


_UNUSED = {0x81, 0x8D, 0x8F, 0x90, 0x9D}  # bytes that cp1252 does not have
_OLDER = re.compile(rb"[a-z][\x80-\x8b\x8d-\x91\x93-\x95\x98-\x9b\x9d-\x9f][a-z]")  # DOS, Mac
_RUN = re.compile(rb"[\xc0-\xff]{3,}")
_LETTERS = re.compile(rb"[A-Za-z]")
_TURKISH = frozenset(b"\xf0\xfd\xfe\xd0\xdd\xde")  # ğ ı ş, in cp1252 letters of Icelandic
_ICELANDIC = frozenset(b"\xe1\xe6\xed\xfa\xc1\xc6\xcd\xda")  # á æ í ú, which no Turkish word has


def _is_turkish(sample: bytes) -> bool:
    """Return whether letters of Turkish occur, and none that only Icelandic has."""
    found = set(sample)
    return bool(found & _TURKISH) and not found & _ICELANDIC


def _declared(raw: bytes) -> str:
    """Return the encoding that a program names in its first two lines, if it can decode the text."""
    m = _DECLARED.match(raw[:4096])
    try:
        name = codecs.lookup(m[1].decode()).name if m else ""
    except LookupError:
        return ""
    known = {codecs.lookup(each).name for each in DECLARED}
    return name if name in known and _can(raw, name) else ""


def _can(raw: bytes, name: str) -> bool:
    try:
        raw.decode(name)
    except (LookupError, ValueError):
        return False
    return True


def _is_damaged(sample: bytes) -> bool:
    """Return whether most of the characters outside ASCII are valid UTF-8."""
    text = sample.decode("utf-8", "replace")
    odd = text.count("\ufffd")
    other = sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text)))
    return odd < DAMAGED * (odd + other)


def _best(raw: bytes) -> str:
    """Return charset-normalizer's guess from the beginning, if it can decode the whole text."""
    library = optional("charset_normalizer", "reading text that is not UTF-8")
    sample = raw[:SAMPLE]
    if len(sample) < len(raw):  # end at a line, not inside a character
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    found = library.from_bytes(sample, cp_isolation=CANDIDATES, threshold=0.3).best()
    name = found.encoding if found is not None else ""
    if name == "cp1250" and _is_western(sample):
        name = "cp1252"
    return name if name and _can(raw, name) else ""


# Letters of cp1250 such as ě ř ž š ň ą ł ż ź ő ű; in cp1252 their bytes are letters rare in Western text.
_EASTERN = bytes.fromhex("ecf89e9af2b9b3bf9ff5fb8a8eccd8a3a5af")


def _is_western(sample: bytes) -> bool:
    """Return whether text that cp1250 and cp1252 both decode is Western.

    The library cannot decide between the two.
    """
    other = [byte for byte in sample if byte > 0x7F]
    nordic = {0xE5, 0xC5} & set(other)  # a text with å has ø, the byte of ř in cp1250
    odd = sum(byte in _EASTERN and not (nordic and byte in (0xF8, 0xD8)) for byte in other)
    return odd * 5 <= len(other)
