"""The numbers of csrc/container/format.h are those of the specification's tables."""

import re

import pytest
from places import ROOT

SPEC = (ROOT / "spec/parts/container.md").read_text()
HEADER = (ROOT / "csrc/container/format.h").read_text()
ENUM = {
    name: int(value)
    for name, value in re.findall(r"^    ([A-Z_0-9]+) = (\d+),", HEADER, re.MULTILINE)
}


def row(text):
    """(offset, type, what) of a line of a table."""
    return re.search(rf"(\d+)\s+(u32|u64) {re.escape(text)}", SPEC).groups()


# The words of the specification, and the name in C.
FIELDS = [
    ("document", "CHUNK_DOCUMENT"),
    ("chunk index", "CHUNK_INDEX"),
    ("first byte in the document's blob", "CHUNK_START"),
    ("bytes   ", "CHUNK_BYTES"),
    ("first code point in the document's text", "CHUNK_CHAR"),
    ("code points   ", "CHUNK_CHARS"),
    ("start of its JSON in rag.meta · 2²⁴", "CHUNK_META"),
    ("start of its blob in rag.text", "DOCUMENT_BLOB"),
    ("bytes of its text", "DOCUMENT_TEXT_BYTES"),
    ("bytes of its blob", "DOCUMENT_BLOB_BYTES"),
    ("bytes of it, 0 = none", "DOCUMENT_META_BYTES"),
    ("flags: 1 = has a text of its own", "DOCUMENT_FLAGS"),
    ("first row", "DOCUMENT_ROW"),
    ("rows\n", "DOCUMENT_ROWS"),
    ("code points of its text", "DOCUMENT_CHARS"),
    ("raw size  16", "STREAM_RAW_SIZE"),
    ("raw size of a block", "STREAM_BLOCK_SIZE"),
    ("blocks", "STREAM_BLOCKS"),
    ("offset of the table  40", "STREAM_TABLE_AT"),
]


@pytest.mark.parametrize(("words", "name"), FIELDS, ids=[name for _, name in FIELDS])
def test_a_field_lies_where_the_specification_says(words, name):
    offset, kind = row(words)
    assert ENUM[name] == int(offset)
    assert re.search(rf"\b{name} = {offset},\s+/\* {kind}", HEADER) or name.startswith("STREAM_")


def test_the_fields_of_a_record_fill_it_without_gaps():
    sizes = {"u32": 4, "u64": 8}
    for record, size in (("CHUNK", 32), ("DOCUMENT", 48)):
        fields = re.findall(
            rf"^    {record}_[A-Z_]+ = (\d+),\s+/\* (u\d\d):?", HEADER, re.MULTILINE
        )
        at = 0
        for offset, kind in sorted((int(offset), kind) for offset, kind in fields):
            assert offset == at
            at += sizes[kind]
        assert at == size
