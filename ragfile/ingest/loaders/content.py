"""Distinguish text from binary data by the first bytes of a file."""

from __future__ import annotations

import codecs
import re

from ragfile.ingest.loaders import encodings

SAMPLE = 64 << 10  # bytes that are looked at
FOREIGN = {
    b"MZ": "a Windows executable",
    b"\x7fELF": "an ELF executable",
    b"\xcf\xfa\xed\xfe": "a Mach-O executable",
    b"\xca\xfe\xba\xbe": "a Java class or Mach-O executable",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"(\xb5/\xfd": "a zstd archive",
    b"SQLite format 3": "an SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Office document (doc, xls, ppt)",
    b"RAGFILE": "a RAGFile",
    b"RAGCRYPT": "an encrypted RAGFile",
    b"wOF": "a font",
    b"OggS": "Ogg media",
    b"ID3": "MP3 audio",
    b"RIFF": "RIFF media",
}
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_CONTROL = re.compile(rb"[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f]")  # that no text has
_PROGRAM = re.compile(rb"\A#![^\n]{0,200}?\b(python|bash|zsh|ksh|dash|sh|node|ruby|php|lua|pwsh)")
_KINDS = {b"python": "python", b"node": "js", b"ruby": "ruby", b"php": "php", b"lua": "lua"}


def is_binary(raw: bytes) -> bool:
    """Return whether a file has bytes that no text has, in any of the encodings that are read."""
    return b"\0" in raw[:SAMPLE] and not raw.startswith(_WIDE) and not encodings.wide(raw)


def is_text(sample: bytes) -> bool:
    """Return whether the beginning of a file without a known suffix is certainly text."""
    if not sample or sample.startswith((b"%PDF-", b"PK\x03\x04", b"PAR1", *FOREIGN)):
        return False
    if sample.startswith(_WIDE) or encodings.wide(sample):
        return True
    if _CONTROL.search(sample):
        return False
    return _is_utf8(sample) or encodings.is_western(sample)


def _is_utf8(sample: bytes) -> bool:
    """Return whether a sample, which can end inside a character, is UTF-8."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def kind_of_program(raw: bytes) -> str:
    """Return the kind of source code that the first line of a program names, else ""."""
    m = _PROGRAM.match(raw)
    return _KINDS.get(m[1], "powershell" if m[1] == b"pwsh" else "shell") if m else ""
