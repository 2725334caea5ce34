"""In which encoding a text is that is not UTF-8 and has no byte order mark."""

from __future__ import annotations

import codecs
import re

from ragfile.ground.extras import optional

SAMPLE = 64 << 10  # bytes that are looked at
DAMAGED = 0.5  # below this share of odd bytes, a text is UTF-8 with errors
_DECLARED = re.compile(rb"\A(?:[^\n]*\n)?[^\n]{0,100}?coding[:=][ \t]*([-\w.]{1,40})")
# In the order in which equal ones are preferred.
CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp932", "euc_jp", "gb18030", "big5", "cp949",
]  # fmt: skip
# What a text can say of itself. Not every codec is an encoding, and some take time with the square of
# the text.
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
}
DECLARED |= {f"iso8859-{n}" for n in range(1, 17) if n != 12}


def wide(raw):
    """ "utf-16-le" or "utf-16-be" where every other byte is zero, as in text of this script; else ""."""
    sample = raw[:4096]
    half = len(sample) // 2
    if half < 2 or len(raw) % 2:
        return ""
    high, low = sample[::2].count(0), sample[1::2].count(0)
    if min(high, low) * 20 > half or max(high, low) * 2 < half:
        return ""
    return "utf-16-be" if high > low else "utf-16-le"


def detected(raw):
    """The name of an encoding, "" where the text is not known to be in any."""
    if name := wide(raw):
        return name
    if name := _declared(raw):
        return name
    if _is_damaged(raw[:SAMPLE]):
        return ""
    return _best(raw)


def _declared(raw):
    """The encoding that a program names in its first two lines, if it is one and the text is in it."""
    m = _DECLARED.match(raw[:4096])
    try:
        name = codecs.lookup(m[1].decode()).name if m else ""
    except LookupError:
        return ""
    known = {codecs.lookup(each).name for each in DECLARED}
    return name if name in known and _can(raw, name) else ""


def _can(raw, name):
    try:
        raw.decode(name)
    except (LookupError, ValueError):
        return False
    return True


def _is_damaged(sample):
    """Whether most of what is not ASCII is UTF-8."""
    text = sample.decode("utf-8", "replace")
    odd = text.count("\ufffd")
    other = sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", text)))
    return odd < DAMAGED * (odd + other)


def _best(raw):
    """What charset-normalizer says of the beginning, if all of the text can be read so."""
    library = optional("charset_normalizer", "reading text that is not UTF-8")
    sample = raw[:SAMPLE]
    if len(sample) < len(raw):  # not in the middle of a character
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    found = library.from_bytes(sample, cp_isolation=CANDIDATES, threshold=0.3).best()
    name = found.encoding if found is not None else ""
    if name == "cp1250" and _is_western(sample):
        name = "cp1252"
    return name if name and _can(raw, name) else ""


# Letters of cp1250 whose bytes are letters that are rare in the West: ě ř ž š ň ą ł ż ź ő ű and such.
_EASTERN = bytes.fromhex("ecf89e9af2b9b3bf9ff5fb8a8eccd8a3a5af")


def _is_western(sample):
    """Both read the same bytes as letters, and the library cannot tell them apart."""
    other = [byte for byte in sample if byte > 0x7F]
    nordic = {0xE5, 0xC5} & set(other)  # å stands beside ø, which is ř
    odd = sum(byte in _EASTERN and not (nordic and byte in (0xF8, 0xD8)) for byte in other)
    return odd * 5 <= len(other)
