"""What was read comes back as it was read, to the character, whatever happens to the file in between."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragfile
from ragfile import _core
from ragfile.adapters import sqlrooms
from ragfile.errors import CorruptError
from ragfile.records import Document
from ragfile.text import LAYERS, ORIGINAL_LIMIT, normalize, restored

ODD = st.lists(
    st.sampled_from([
        "a", "b", " ", "\t", "\n", "\r", "\r\n", "\x0b", "\x85", "\u2028", "\xa0", "\u3000", "\u200b", "\ufeff", "\xad", "\0", "é", "e",
        "\u0301", "\u0323", "ᄒ", "ᅡ", "ᆫ", "字", "\U0001f600", "\u200d", "\ud800", "Å", "\u212b", "\n\n\n\n", "  \n",
    ]),
    max_size=40,
).map("".join)  # fmt: skip


@given(ODD)
def test_edits_lead_back_to_the_raw_text_through_json(raw):
    normal = normalize(raw)
    edits = json.loads(json.dumps(normal.edits()))
    assert restored(normal.text, edits) == raw
    assert bool(edits) == (normal.text != raw)


def test_a_text_with_one_kind_of_line_end_needs_few_bytes_to_come_back():
    raw = "\ufeff" + "".join(f"line {i}\r\n" for i in range(10_000))
    edits = normalize(raw).edits()
    assert len(json.dumps(edits)) < 60
    assert restored(normalize(raw).text, edits) == raw
    assert normalize("nothing to do\n").edits() == []


FILES = {
    "plain.txt": b"one\ntwo\n",
    "crlf.md": b"# A\r\n\r\nText with CRLF.   \r\n\r\n\r\n\r\n\r\nAnd gaps.\t\r\n",
    "bom.md": b"\xef\xbb\xbf---\r\ntitle: B\r\ntags: [x]\r\n---\r\n# Behind a mark\r\n\r\nText.\r\n",
    "mixed.txt": "a\rb\nc\r\nd\x85e\u2028f\x0cg\xa0h\u3000i\u200bj\xadk".encode(),
    "marks.txt": unicodedata.normalize("NFD", "Ünïcödé, Ångström, 한국어").encode() + b"  \n",
    "wide.txt": "\ufeffUTF-16 mit Ümlaut\r\n".encode("utf-16-le"),
    "nothing.txt": b"",
    "blanks.md": b" \t\r\n \r\n",
}


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, raw in FILES.items():
        (folder / name).write_bytes(raw)
    return folder


def decoded(name):
    return FILES[name].decode("utf-16-le" if name == "wide.txt" else "utf-8")


def assert_original(rf, names=tuple(FILES)):
    for name in names:
        document = rf.document(name)
        assert document.original == decoded(name)
        assert document.text == normalize(decoded(name)).text
    for row in rf.live_rows().tolist():
        chunk = rf.chunk(row)
        assert rf.document(chunk.doc_id).text[chunk.start : chunk.end] == chunk.content
    assert all(document.original == decoded(document.id) for document in rf.documents())


def test_sources_come_back_byte_for_byte(docs, tmp_path):
    ragfile.build([docs], tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as rf:
        assert_original(rf)
        found = rf.sources(["crlf.md#0", "bom.md#0"])
        assert [document.original.encode() for document in found] == [
            FILES["crlf.md"],
            FILES["bom.md"],
        ]
        assert [
            d["text"].encode()
            for d in sqlrooms.get_source_documents(["crlf.md#0"], str(tmp_path / "kb"))
        ] == [FILES["crlf.md"]]
        assert rf.file.verify()[0] == []
    assert ragfile.verify(tmp_path / "kb")[0] == []


def test_a_text_that_was_as_it_is_keeps_no_way_back(docs, tmp_path):
    ragfile.build([docs], tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as rf:
        said = {there.id: there.fields for there in rf.rows.segments[0].live_documents()}
    assert {name for name, fields in said.items() if "original" in fields} == set(FILES) - {
        "plain.txt",
        "nothing.txt",
    }


def test_edits_compaction_and_other_formats_keep_originals(docs, tmp_path):
    path = tmp_path / "kb"
    ragfile.build([docs], path)
    with ragfile.edit(path) as w:
        w.delete(["plain.txt"])
        w.upsert([Document("new", "a new one\n")])
    (docs / "crlf.md").write_bytes(FILES["crlf.md"].replace(b"gaps", b"holes"))
    ragfile.add(path, [docs / "crlf.md"], replace=True)
    ragfile.reindex(path, chunking="words:20/5")
    ragfile.compact(path)
    rest = tuple(set(FILES) - {"plain.txt", "crlf.md"})
    for src, dst in (
        (path, tmp_path / "kb.ragmd"),
        (tmp_path / "kb.ragmd", tmp_path / "back.ragfile"),
    ):
        ragfile.convert(src, dst)
    for name in ("kb", "back.ragfile"):
        with ragfile.open(tmp_path / name) as rf:
            assert {d.id: d.original for d in rf.documents() if d.id in rest} == {
                name: decoded(name) for name in rest
            }
            assert rf.document("crlf.md").original == decoded("crlf.md").replace("gaps", "holes")
            assert rf.document("new").original == "a new one\n"
            assert rf.document("bom.md").body > 0
    assert (tmp_path / "back.ragfile").read_bytes() == path.read_bytes()


def test_a_source_whose_line_ends_changed_is_another_version_of_its_document(tmp_path):
    ragfile.build([_written(tmp_path, b"one\ntwo\n")], tmp_path / "kb", embedder="none")
    with ragfile.edit(tmp_path / "kb") as w:
        same = next(w.archive.documents())
        w.upsert(
            [
                Document(
                    same.id,
                    same.text,
                    same.source,
                    same.metadata,
                    edits=normalize("one\r\ntwo\r\n").edits(),
                )
            ]
        )
        assert w.report["updated"] == 1
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("a.txt").original == "one\r\ntwo\r\n"


def _written(folder, raw):
    (folder / "a.txt").write_bytes(raw)
    return folder / "a.txt"


def test_extracted_documents_have_the_text_that_was_extracted(tmp_path):
    (tmp_path / "a.html").write_text("<p>one&nbsp;two</p><p>three</p>")
    (tmp_path / "b.csv").write_text("name,age\r\nann,3\r\n")
    (tmp_path / "c.jsonl").write_text('{"id": "x", "text": "one\\r\\ntwo"}\n')
    ragfile.build([tmp_path], tmp_path / "kb", embedder="none")
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("a.html").original == "one\xa0two\n\nthree\n"
        assert rf.document("b.csv").original == rf.document("b.csv").text == "name: ann\nage: 3"
        assert rf.document("c.jsonl#x").original == "one\r\ntwo"


@pytest.mark.parametrize(
    "edits",
    [
        ["no layer"], [[["a"]]], [[["a", 1]]], [[["a", "xx"]]], [[["a", "te", 0], ["b", "ex", 1]]], [[["a", "x", 0]]], [[["a", "", 5]]],
        [[["a", "", -1]]], [[["a", "", True]]], [[["a", "", 1.0]]], [[]] * (LAYERS + 1), [[["a", "", 10**40]]],
        [[["a" * 100, "", *[0] * 100]]], [[["a" * (ORIGINAL_LIMIT // 4 + 1), "", 0, 1, 1, 1]]], [[["a", "t"]] * 3],
    ],
    ids=lambda edits: repr(edits)[:40],
)  # fmt: skip
def test_edits_of_another_text_or_of_no_text_are_refused(edits):
    with pytest.raises(ValueError, match=r"edit|limit|layers"):
        restored("text", edits)
    with pytest.raises(CorruptError):
        _ = Document("d", "text", edits=edits).original


def test_a_writer_does_not_take_a_way_back_that_leads_nowhere(tmp_path):
    for document in (Document("d", "text", edits=[[["a", "", 5]]]), Document("d", "text", body=5)):
        with pytest.raises(ValueError, match=r"edit|body"), ragfile.create(tmp_path / "kb") as w:
            w.add_documents([document])


def test_verify_names_a_document_whose_original_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr("ragfile.write.staged_rows.restored", lambda text, edits: text)
    with ragfile.create(tmp_path / "kb") as w:
        w.add_documents([Document("d", "text", edits=[[["a", "", 5]]])])
    assert "original text of document 'd'" in ragfile.verify(tmp_path / "kb")[0][0][2]
    with ragfile.open(tmp_path / "kb") as rf:
        assert rf.document("d").text == "text"
        with pytest.raises(CorruptError, match="original text of document 'd'"):
            _ = rf.document("d").original
    assert _core.Reader(_core.Map(str(tmp_path / "kb"))).verify(True)[0] == []
