"""The table of sections, and everything that has to agree with it."""

import json
import re
import sys
import tomllib

import numpy as np
import pytest
from places import ROOT

import ragfile
from ragfile import _core, conformance
from ragfile.file import sections

sys.path.insert(0, str(ROOT / "spec"))
sys.path.insert(0, str(ROOT / "tools"))
import reader
import sections as lists
import signatures

VECTORS = ROOT / "spec" / "vectors"
TABLE = tomllib.loads((ROOT / "spec/sections.toml").read_text())["section"]
NAMES = [entry["name"] for entry in TABLE]
EXPECTED = json.loads((VECTORS / "expected.json").read_text())
PAGES = "\n".join(page.read_text() for page in sorted((ROOT / "spec/parts").glob("*.md")))
# Names in the directory of the front page (2.1), which are no sections.
DIRECTORY = {"rag.head", "rag.toc"}
each = pytest.mark.parametrize("entry", TABLE, ids=NAMES)


def numbered(name):
    """The name as the table has it: N for a field's number."""
    return re.sub(r"\.\d+$", ".N", name)


def test_the_lists_that_are_made_of_the_table_are_current():
    assert lists.out_of_date() == []


def test_the_table_is_complete_and_names_each_section_once():
    assert len(set(NAMES)) == len(NAMES)
    for entry in TABLE:
        assert entry["scope"] in ("segment", "file")
        assert entry["edit"] in ("kept", "updated", "dropped")
        assert entry["compaction"] in ("rebuilt", "kept", "dropped")
        assert {*entry.get("needs", ())} <= {*NAMES} - {entry["name"]}
        assert entry["compaction"] != "kept" or entry["scope"] == "file"


# ------------------------------------------------------------------------- a rule, vectors, a check


@each
def test_a_section_has_a_rule_in_the_specification(entry):
    """A heading with the rule's number, and the section's name below it."""
    heading = re.compile(rf"^#+ (?:Part )?{re.escape(entry['rule'])}\.? .*$", re.MULTILINE)
    found = heading.search(PAGES)
    assert found, f"no page of spec/parts has a heading for rule {entry['rule']}"
    level = len(found.group().split(" ")[0])
    below = re.split(rf"^#{{1,{level}}} ", PAGES[found.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    assert f"`{entry['name']}`" in found.group() + below


def names_in(data):
    """The names of the sections in a file."""
    if data[7] == 0:
        return {name for name, _, _ in reader.directory(data)}
    footer, _ = reader.newest(data, reader.front_page(data))
    count, segments, names = (reader.number(data, footer["toc"] + i, 4) for i in (24, 28, 32))
    at = footer["toc"] + 64 + 64 * count + 32 * segments
    found = reader.section_names(data, footer["toc"], at, names, count)
    return set(map(numbered, found))


def sections_in(data):
    """The sections of the newest generation."""
    footer, _ = reader.newest(data, reader.front_page(data))
    return reader.table(data, footer)[2]


def vector(name):
    """(bytes, expectation) of a file of spec/vectors by its name in the table."""
    folder, _, file = name.rpartition("/")
    if not folder:
        whole = f"{name}.ragfile"
        return next((d, e) for n, d, e in conformance.vectors(VECTORS) if n == whole)
    listed = json.loads((VECTORS / folder / "expected.json").read_text())
    expected = listed.get("files", listed)[file]
    data = bytearray((VECTORS / folder / f"{expected.get('of', file)}.ragfile").read_bytes())
    data = data[: expected.get("size", len(data))]
    for at, raw in expected.get("patches", ()):
        data[at : at + len(raw) // 2] = bytes.fromhex(raw)
    return bytes(data), expected


@each
def test_a_section_has_a_vector_that_readers_accept(entry):
    data, expected = vector(entry["accepted"])
    assert "refused" not in expected
    if data[7] == 0:
        return
    found = [s for s in sections_in(data) if numbered(s["name"]) == entry["name"]]
    assert found
    for section in found:
        assert bool(section["segment"]) == (entry["scope"] == "segment")
        assert section["flags"] == entry.get("must_read", False)
    assert expected.get("verdict", "holds") == "holds"


@each
def test_the_slow_reader_refuses_a_section_that_breaks_its_rule(entry):
    data, expected = vector(entry["refused"])
    if "found" in expected or "refused" in expected:
        with pytest.raises(reader.Refused) as refused:
            reader.read(data, expected.get("dim"))
        assert refused.value.rule.startswith(entry["rule"])
    elif "verdict" in expected:
        key = json.loads((VECTORS / "signatures/expected.json").read_text())["key"]
        assert signatures.judge(data, bytes.fromhex(key))["verdict"] != "holds"
    else:
        assert expected["repaired"] is None  # tests/spec/test_parity.py runs the second reader
    assert entry["name"] in names_in(data)


# Conversion reads the origin; a question checks the posting lists that it uses.
CHECKED_IN_USE = {"rag.origin", "rag.postings"}


@each
def test_verify_finds_a_section_that_breaks_its_rule(entry, tmp_path):
    if entry["name"] in CHECKED_IN_USE:
        pytest.skip("checked when it is used")
    data, expected = vector(entry["refused"])
    path = tmp_path / "a.ragfile"
    path.write_bytes(data)
    keys = None
    if "verdict" in expected:
        keys = [json.loads((VECTORS / "signatures/expected.json").read_text())["key"]]
    try:
        faults, _ = ragfile.verify(path, keys=keys)
    except ragfile.FormatError:
        return
    assert faults


def test_every_section_of_an_accepted_vector_is_in_the_table():
    own = {"foo", "bar", "baz", "late", "graph", "hypergraph", "rag.later", "v"}
    for name, expected in EXPECTED.items():
        for section in expected.get("found", {}).get("sections", ()):
            there = numbered(section["name"])
            assert there in NAMES or there in own or "/" in there or there[0] in "nv", (name, there)


# --------------------------------------------------------------------------------------- the readers


def test_the_slow_reader_knows_the_sections_of_the_table():
    assert sorted(reader.KNOWN) == sorted(NAMES)


def test_the_slow_readers_leave_the_same_sections_unsigned():
    assert sorted(signatures.OWN) == sorted(e["name"] for e in TABLE if e.get("unsigned"))


def must_read_file(path, name, segment):
    writer = _core.FileWriter.create(path)
    if segment:
        writer.rows(writer.segment(), 0)
        writer.add("my.other", b"", 1)
    writer.add(name, b"", segment, 1)
    writer.commit(0)


@pytest.mark.parametrize("name", [*NAMES, "rag.terms.12", "rag.postings.0"])
def test_both_readers_have_code_for_a_section_that_must_be_understood(tmp_path, name):
    path = tmp_path / "a.ragfile"
    if name == "rag.sections":  # is read with the table
        path.write_bytes(vector("good-1-sections")[0])
    else:
        must_read_file(path, name.replace(".N", ".3"), 0)
    segment = int(name == "rag.sections")
    assert _core.Reader(_core.Map(path)).has(name.replace(".N", ".3"), segment)
    data = path.read_bytes()
    reader.table(data, reader.newest(data, reader.front_page(data))[0])


@pytest.mark.parametrize(
    "name", ["rag.never", "rag.terms.", "rag.terms.x", "rag.terms.1x", "rag.ids.1", "rag", "my.own"]
)
def test_both_readers_refuse_a_section_that_must_be_understood_and_is_unknown(tmp_path, name):
    path = tmp_path / "a.ragfile"
    must_read_file(path, name, 0)
    with pytest.raises(ragfile.VersionError):
        _core.Reader(_core.Map(path))
    data = path.read_bytes()
    with pytest.raises(reader.Refused, match="must-understand"):
        reader.table(data, reader.newest(data, reader.front_page(data))[0])


def test_names_in_the_code_are_in_the_table():
    """A section that a program reads or writes without an entry is a section without a rule."""
    folders = {"ragfile": ("*.py", "*.pyx", "*.pxi", "*.js"), "csrc": ("*.c", "*.h")}
    known = {name.removesuffix(".N") for name in NAMES} | DIRECTORY
    for folder, patterns in folders.items():
        for path in (p for pattern in patterns for p in sorted((ROOT / folder).rglob(pattern))):
            if {"node_modules", "tests"} & set(path.parts[len(ROOT.parts) :]):
                continue
            text = re.sub(r"^#include.*$", "", path.read_text(), flags=re.MULTILINE)
            for name in re.findall(r"""["'`](rag\.[a-z_]+)(?=[.{"'`])""", text):
                assert name in known, f"{path.relative_to(ROOT)} uses {name}: add it to the table"


def test_names_in_the_specification_are_in_the_table():
    known = {*NAMES, *DIRECTORY}
    for page in sorted((ROOT / "spec").glob("**/*.md")):
        for name in re.findall(r"`(rag\.[a-z]+(?:\.N)?)`", page.read_text()):
            assert name in known, f"{page.relative_to(ROOT)} names {name}: add it to the table"


# ------------------------------------------------------------------------- edits, compaction, names


@pytest.fixture
def full(tmp_path):
    """A file with all sections that the package can write in one file."""
    path = tmp_path / "kb.ragfile"
    rng = np.random.default_rng(1)
    with ragfile.create(path, dim=4, portable=True, parity=5, clusters=2) as writer:
        for i in range(1200):
            text = f"text {i}"
            chunk = ragfile.Chunk(f"d{i:04}", 0, text, (), {"n": i, "headers": "a"}, 0, len(text))
            document = ragfile.Document(f"d{i:04}", text, "s.md", {"k": i})
            writer.add_document(document, [chunk], rng.standard_normal((1, 4), dtype=np.float32))
        writer.draft.add_section("rag.origin", b"origin", 7)
        writer.draft.add_section("rag.frequencies", b"frequencies")
        writer.draft.add_section("rag.never", b"of a later version", 3)
        writer.add_section("my.own", b"mine")
    return path


def entries(path):
    listed = _core.Reader(_core.Map(path)).entries
    return {(entry["name"], entry["segment"]): entry for entry in listed}


def test_an_edit_treats_each_section_as_the_table_says(full):
    before = entries(full)
    with ragfile.edit(full) as editor:
        editor.delete(["d0003"])
    after = entries(full)
    for (name, segment), entry in before.items():
        treated = {e["name"]: e["edit"] for e in TABLE}.get(numbered(name), "kept")
        there = after.get((name, segment))
        if treated == "dropped":
            assert there is None, name
        elif treated == "kept":
            assert there is not None, name
            assert (there["at"], there["size"]) == (entry["at"], entry["size"]), name
    assert ("rag.tombs", 1) in after


def test_a_compaction_treats_each_section_as_the_table_says(full):
    with ragfile.edit(full) as editor:
        editor.delete(["d0003"])
    before = entries(full)
    with ragfile.open(full) as rf:
        held = {name: bytes(rf.file.section(name)) for name, segment in before if not segment}
    ragfile.compact(full)
    after = entries(full)
    for name, segment in before:
        treated = {e["name"]: e["compaction"] for e in TABLE}.get(numbered(name), "kept")
        assert ((name, segment) in after) == (treated != "dropped"), name
        if treated == "kept":
            with ragfile.open(full) as rf:
                assert bytes(rf.file.section(name)) == held[name]
            assert after[name, segment]["items"] == before[name, segment]["items"]


def test_compaction_refuses_an_unknown_section_of_a_segment_by_name(tmp_path):
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path) as writer:
        writer.add([ragfile.Chunk("d", 0, "text")])
    writer = _core.FileWriter.edit(path)
    writer.add("rag.never", b"of a later version", 1)
    writer.commit(0)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"section rag\.never belongs to a segment"):
        ragfile.compact(path)
    assert path.read_bytes() == before
    with ragfile.open(path) as rf:
        assert rf.search("text")


@pytest.mark.parametrize("name", [n.replace(".N", ".1") for n in NAMES] + [
    "rag.never", "rag.", "graph", "hypergraph", "", "with space", "n" * 65,
])  # fmt: skip
def test_a_program_cannot_use_a_name_of_the_format(tmp_path, name):
    with pytest.raises(ValueError, match="name"):
        ragfile.register(name, lambda section, rf: None)
    with ragfile.create(tmp_path / "kb.ragfile") as writer:
        with pytest.raises(ValueError, match="name"):
            writer.add_section(name, b"x")
        writer.add_section("my.own", b"x")
    with ragfile.edit(tmp_path / "kb.ragfile") as editor, pytest.raises(ValueError, match="name"):
        editor.add_section(name, b"x")


def test_needs_are_those_of_the_table():
    for entry in TABLE:
        wanted = [name.replace(".N", ".7") for name in entry.get("needs", ())]
        assert list(sections.needs(entry["name"].replace(".N", ".7"))) == wanted
    assert sections.needs("my.own") == sections.needs("rag.later.1") == ()
    assert sections.compaction("my.own") == sections.compaction("rag.later") == "kept"
