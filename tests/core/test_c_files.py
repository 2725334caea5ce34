"""The C files themselves: their offsets are the specification's, their global names are ours."""

import re
import shutil
import subprocess

import pytest
from places import ROOT

C_FILES = sorted(p for p in (ROOT / "csrc").rglob("*.[ch]") if not p.name.endswith("_tables.h"))
KERNELS = [p for p in C_FILES if p.suffix == ".c" and "__attribute__((target" in p.read_text()]
COMPILER = shutil.which("cc")

# For each prefix of offsets: where they are defined, the table of the specification that has them
# (a part, and a word that only its block has), and what stands at each offset there.
OFFSETS = {
    "SUPER": ("container/format.h", "container.md", "RAGHEAD1", {
        "READ_FEATURES": "8 +u64 read features",
        "WRITE_FEATURES": "8 +u64 write features",
        "TOC_AT": "8 +u64 offset of the base's table",
        "TOC_SIZE": "8 +u64 size of that table",
        "TOC_HASH": "8 +u64 xxh3 of that table",
        "FOOTER_AT": "8 +u64 offset of the base's footer",
        "CREATED": "8 +u64 time of creation",
        "HASH": "8 +u64 xxh3 of bytes",
    }),
    "TOC": ("container/format.h", "container.md", "RAGTOC01", {
        "GENERATION": "8 +u64 generation",
        "CREATED": "8 +u64 time of the commit",
        "ENTRIES": "4 +u32 entries",
        "SEGMENTS": "4 +u32 segments",
        "NAMES": "4 +u32 bytes of names",
        "MESSAGE": "4 +u32 bytes of the message",
        "START": "8 +u64 start",
        "NEXT_SEGMENT": "8 +u64 next segment number",
        "ABANDONED": "8 +u64 hash of abandoned bytes",
    }),
    "ENTRY": ("container/format.h", "container.md", "entry  ", {
        "FLAGS": "u32 flags",
        "SEGMENT": "u32 segment",
        "NAME": "u32 offset of the name",
        "ZERO": "u32 zero",
        "GENERATION": "u64 generation that wrote it",
        "AT": "u64 offset",
        "BYTES": "u64 size",
        "ITEMS": "u64 items",
        "HASH": "u64 xxh3 of its block hashes",
        "ZERO_2": "u64 zero",
    }),
    "SEGMENT": ("container/format.h", "container.md", "entry  ", {
        "NUMBER": "u32 number",
        "ZERO": "u32 zero",
        "ROWS": "u64 rows",
        "LIVE": "u64 live rows",
        "GENERATION": "u64 generation that added it",
    }),
    "FOOTER": ("container/format.h", "container.md", "RAGCOMIT", {
        "GENERATION": "8 +u64 generation",
        "TOC_AT": "8 +u64 offset of the table",
        "TOC_SIZE": "8 +u64 its size",
        "TOC_HASH": "8 +u64 its xxh3",
        "PREVIOUS": "8 +u64 offset of the previous footer",
        "IDENTITY": "8 +u64 identity",
        "HASH": "8 +u64 xxh3 of bytes",
    }),
    "SHARD": ("parity/shard.h", "parity.md", "RAGPAR01", {
        "GENERATION": "8 +u64 generation of the commit",
        "AT": "8 +u64 offset of the section",
        "FROM": "8 +u64 from",
        "BEFORE": "8 +u64 offset of the parity section before",
        "END": "8 +u64 end of the commit",
        "PREVIOUS": "8 +u64 offset of the footer before",
        "IDENTITY": "8 +u64 identity of the file",
        "WRITE_FEATURES": "8 +u64 write features",
        "TOC_SIZE": "4 +u32 size T",
        "VERSION": "3 +u8 major",
        "BLOCK": "4 +u32 B",
        "GROUPS": "4 +u32 G",
        "ROWS": "4 +u32 m",
        "QUORUM": "4 +u32 h",
        "NUMBER": "4 +u32 number of this share",
        "ZERO": "4 +zero",
        "RECORD_HASH": "8 +u64 xxh3 of the group's record",
        "BODY_HASH": "8 +u64 xxh3 of the share's bytes",
        "HASH": "8 +u64 xxh3 of bytes 0",
    }),
    "CHUNK": ("container/format.h", "container.md", "chunk, 32 bytes", {
        "DOCUMENT": "u32 document",
        "INDEX": "u32 chunk index",
        "START": "u32 first byte in the document's blob",
        "BYTES": "u32 bytes",
        "CHAR": "u32 first code point",
        "CHARS": "u32 code points",
        "META": "u64 start of its JSON",
    }),
    "DOCUMENT": ("container/format.h", "container.md", "document, 64 bytes", {
        "BLOB": "u64 start of its blob",
        "TEXT_BYTES": "u32 bytes of its text",
        "BLOB_BYTES": "u32 bytes of its blob",
        "META": "u64 start of its JSON",
        "META_BYTES": "u32 bytes of it",
        "FLAGS": "u32 flags",
        "ROW": "u64 first row",
        "ROWS": "u32 rows",
        "CHARS": "u32 code points of its text",
        "ZERO": "zero",
    }),
    "STREAM": ("container/format.h", "container.md", "RAGBLK01", {
        "RAW_SIZE": "u64 raw size",
        "BLOCK_SIZE": "u64 raw size of a block",
        "BLOCKS": "u64 blocks",
        "TABLE_AT": "u64 offset of the table",
        "ZERO": "zero",
    }),
    "LEX_AT": ("text/bm25.h", "bm25.md", "RAGLEX1", {
        "ROWS": "8 +rows",
        "TERMS": "8 +terms",
        "TOTAL_LENGTH": "8 +total length",
        "POSTINGS": "8 +postings",
        "POSTINGS_SIZE": "8 +size of rag.postings",
        "K1": "8 +f64 k1",
        "B": "8 +f64 b",
        "CONFIG_SIZE": "4 +C, size of the configuration",
        "LENGTH_WIDTH": "4 +W, bytes of a length",
        "DICTIONARY_SIZE": "8 +D, size of the dictionary",
        "SHORTEST": "4 +shortest length",
        "LONGEST": "4 +longest length",
    }),
    "SHADOW_AT": ("shadows/shadow.c", "vectors.md", "RAGSHADW", {
        "VERSION": "4 +u32 version",
        "DIM": "4 +u32 dim",
        "ROWS": "8 +u64 rows",
        "GROUP_ROWS": "4 +u32 group_rows",
        "KEPT": "36 +zero",
    }),
    "MODEL": ("model/wordpiece.h", "embedder.md", "RAGMODEL", {
        "VERSION_AT": "4 +version",
        "DIMS_AT": "4 +dims",
        "WORDS_AT": "4 +words",
        "BUCKET_BITS_AT": "4 +bucket_bits",
        "UNKNOWN_AT": "4 +unknown",
        "LONGEST_AT": "4 +longest",
        "SECTIONS_AT": "8 +rows_at",
        "SIZE_AT": "8 +size of the whole file",
        "HASH_AT": "8 +xxh3",
        "NAME_AT": "64 +name",
    }),
}  # fmt: skip
# Numbers of the same prefixes that are no offsets.
OTHERS = {
    "SUPER_AT", "SUPER_SIZE", "TOC_HEAD_SIZE", "ENTRY_SIZE", "SEGMENT_SIZE", "FOOTER_SIZE",
    "DOCUMENT_HAS_TEXT", "STREAM_ALIGN", "SHARD_HEAD_SIZE",
}  # fmt: skip


def numbers(header):
    """Every enumerator of a C file whose value is written as one number."""
    found = re.findall(r"\b([A-Z][A-Z0-9_]+)\s*=\s*(\d+)\b", (ROOT / "csrc" / header).read_text())
    return {name: int(value) for name, value in found}


def table(part, mark):
    """The first block of a part of the specification that holds `mark`."""
    blocks = (ROOT / "spec" / "parts" / part).read_text().split("```")[1::2]
    return next(block for block in blocks if mark in block)


@pytest.mark.parametrize("prefix", OFFSETS)
def test_the_offsets_in_c_are_those_of_the_specification(prefix):
    header, part, mark, fields = OFFSETS[prefix]
    known, block = numbers(header), table(part, mark)
    base = known["SUPER_AT"] if prefix == "SUPER" else 0
    for field, words in fields.items():
        at = base + known[f"{prefix}_{field}"]
        assert re.search(rf"(?<![\w.]){at} +{words}", block), f"{prefix}_{field} = {at}"


@pytest.mark.parametrize("prefix", OFFSETS)
def test_every_offset_in_c_is_compared(prefix):
    header, _, _, fields = OFFSETS[prefix]
    named = {n for n in numbers(header) if n.startswith(f"{prefix}_")} - OTHERS
    named = {n for n in named if prefix != "MODEL" or n.endswith("_AT")}
    assert named == {f"{prefix}_{field}" for field in fields}


@pytest.mark.parametrize("path", C_FILES, ids=lambda p: p.name)
def test_lines_have_at_most_100_columns(path):
    assert [line for line in path.read_text().splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("path", C_FILES, ids=lambda p: p.name)
def test_a_file_opens_with_what_it_is(path):
    assert path.read_text().startswith(f"/* {path.name} - ")


@pytest.mark.skipif(not (COMPILER and shutil.which("nm")), reason="no C compiler here")
def test_every_global_symbol_of_the_core_begins_with_rag(c_objects):
    listed = subprocess.run(
        ["nm", "-g", "--defined-only", *map(str, c_objects)],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    names = {line.split()[2] for line in listed.splitlines() if len(line.split()) == 3}
    assert len(names) > 150
    assert {name for name in names if not re.match(r"_?rag_", name)} == set()


@pytest.mark.skipif(not COMPILER, reason="no C compiler here")
@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.name)
def test_a_kernel_file_built_wider_than_its_floor_is_refused(path):
    machine = subprocess.run([COMPILER, "-dumpmachine"], capture_output=True, text=True).stdout
    if not machine.startswith("x86_64"):
        pytest.skip("the floor is that of x86-64")
    flags = [
        "-std=gnu11",
        "-mavx2",
        "-fsyntax-only",
        f"-I{ROOT / 'csrc/include'}",
        f"-I{ROOT / 'csrc'}",
    ]
    built = subprocess.run([COMPILER, *flags, str(path)], capture_output=True, text=True)
    assert built.returncode != 0
    assert "wider instructions" in built.stderr
