"""Loading: formats to text with its places, bad files to a line in the report, folders in a fixed order."""

import hashlib
import json
import os
import types

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import source_files as made

import ragfile
from ragfile.ingest import loaders
from ragfile.ingest.chunker import split
from ragfile.ingest.document_loader import Duplicate, Loading, load, upload_path
from ragfile.ingest.loaders import Extracted, Limits, Loader, LoadError, UnsupportedType, sniff
from ragfile.ingest.source_files import find


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def only(path, **options):
    (document,) = load(path, **options)
    return document


def test_text_equals_the_file_after_normalisation(tmp_path):
    document = only(write(tmp_path, "a.txt", "\ufeffGrüße\r\n日本\xa0語\n"))
    assert document.text == "Grüße\n日本 語\n"
    assert document.id == "a.txt"


def test_a_document_says_what_its_file_is(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    raw = b"---\ntitle: 'The Guide'\n---\n# Other\n"
    write(tmp_path, "sub/folder/guide.md", raw)
    document = only(tmp_path)
    assert document.metadata == {
        "file_id": "sub/folder/guide.md",
        "path": "sub/folder/guide.md",
        "name": "guide.md",
        "folder_id": "sub/folder",
        "mime": "text/markdown",
        "checksum": hashlib.sha256(raw).hexdigest(),
        "created_at": "1970-01-02T00:00:00Z",
        "title": "The Guide",
    }
    assert document.source == "sub/folder/guide.md"


def test_a_pdf_keeps_its_pages_and_no_chunk_crosses_one(tmp_path):
    pytest.importorskip("pypdfium2", reason="the extra for PDF is not installed")
    document = only(
        write(tmp_path, "three.pdf", made.pdf("Page one.", "Page two.", "", "Page four."))
    )
    assert document.text == "Page one.\n\nPage two.\n\nPage four."
    assert [(c.content, c.metadata) for c in split(document)] == [
        ("Page one.", {"page": 1, "headers": "three"}),
        ("Page two.", {"page": 2, "headers": "three"}),
        ("Page four.", {"page": 4, "headers": "three"}),
    ]


def test_a_damaged_pdf_is_reported_and_the_rest_is_loaded(tmp_path):
    pytest.importorskip("pypdfium2", reason="the extra for PDF is not installed")
    write(tmp_path, "a.pdf", b"%PDF-1.4 nothing else")
    write(tmp_path, "b.txt", "fine")
    loading = Loading(tmp_path)
    assert [d.id for d in loading] == ["b.txt"]
    ((path, reason, kind),) = [(f.path, f.reason, f.kind) for f in loading.failures]
    assert path.endswith("a.pdf")
    assert "not a readable PDF" in reason
    assert kind == "LoadError"


def test_pages_are_limited(tmp_path):
    pytest.importorskip("pypdfium2", reason="the extra for PDF is not installed")
    with pytest.raises(LoadError, match="4 pages, the limit is 3"):
        load(write(tmp_path, "a.pdf", made.pdf("1", "2", "3", "4")), limits=Limits(max_pages=3))


def test_a_missing_pdf_library_names_the_extra(tmp_path, monkeypatch):
    write(tmp_path, "pypdfium2.py", "raise ModuleNotFoundError('none', name='pypdfium2')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LoadError, match=r"ragfile\[ingest\]"):
        load(write(tmp_path, "a.pdf", made.pdf("x")))


def test_a_docx_gives_headings_lists_and_tables(tmp_path):
    body = (
        made.paragraph("Intro", "berschrift1")
        + made.paragraph("Some &amp; text")
        + made.paragraph("Part", "Heading2")
        + "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p>"
        + "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>"
        + "<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        + "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        + "<w:r><w:t>kept</w:t><w:tab/><w:t>too</w:t></w:r></w:p>"
        + "<w:p><mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice>"
        + "<mc:Fallback><w:r><w:t>once</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>"
    )
    document = only(write(tmp_path, "a.docx", made.docx(body)))
    assert (
        document.text == "# Intro\n\nSome & text\n\n## Part\n\n- item\n\na | b\n\nkept\ttoo\n\nonce"
    )
    assert document.metadata["title"] == "A Title"
    paths = ["A Title > Intro", "A Title > Intro > Part"]
    assert [c.metadata["headers"] for c in split(document, {"version": 2})] == paths


def test_a_docx_of_python_docx_is_read(tmp_path):
    docx = pytest.importorskip("docx", reason="python-docx is not installed")
    document = docx.Document()
    document.add_heading("Top", 1)
    document.add_paragraph("Below.")
    document.add_table(1, 2).cell(0, 0).text = "cell"
    document.save(tmp_path / "b.docx")
    assert only(tmp_path / "b.docx").text == "# Top\n\nBelow.\n\ncell |"


def test_a_pptx_gives_slides_in_the_order_they_are_shown(tmp_path):
    document = only(write(tmp_path, "a.pptx", made.pptx()))
    assert [(c.content, c.metadata["slide"]) for c in split(document)] == [
        ("# First\n\nOne.\nTwo.\n\nSay hello.", 1),
        ("# Last\n\nThe end.", 2),
    ]


def test_a_pptx_of_python_pptx_is_read(tmp_path):
    pptx = pytest.importorskip("pptx", reason="python-pptx is not installed")
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Title", "Body"
    deck.save(tmp_path / "b.pptx")
    assert only(tmp_path / "b.pptx").text == "# Title\n\nBody"


def test_entity_bombs_and_inclusions_are_refused(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    with pytest.raises(LoadError, match="document type declaration"):
        load(write(tmp_path, "a.docx", made.docx("", document=bomb)))
    wide = bomb.encode("utf-16")
    with pytest.raises(LoadError, match="document type declaration"):
        load(write(tmp_path, "b.docx", made.packed({"word/document.xml": wide})))


def test_what_unpacks_to_too_much_is_refused_unread(tmp_path):
    body = made.paragraph("x" * 100_000)
    with pytest.raises(LoadError, match="unpacks to"):
        load(write(tmp_path, "a.docx", made.docx(body)), limits=Limits(max_expanded=50_000))


PAGE = """<!DOCTYPE html><html><head><title> My
 page</title><style>p { color: red }</style><script>if (a < b) document.write("<p>no</p>")</script></head>
<body><nav>Menu</nav><h1>Top &amp; <em>first</em></h1><p>One   <b>two</b><br>three &#8364;</p>
<ul><li>a<ul><li>b</li></ul></li><li>c</ul><ol><li>x<li>y</ol><!-- <h1>hidden</h1> -->
<h2 title="a > b">Code</h2><pre><code>  if x:
    # not a header
</code></pre><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>"""


def test_html_gives_text_with_headers_lists_code_and_tables(tmp_path):
    document = only(write(tmp_path, "a.html", PAGE))
    assert document.text == (
        "# Top & first\n\nOne two\nthree €\n\n- a\n  - b\n- c\n\n1. x\n2. y\n\n## Code\n\n"
        "```\n  if x:\n    # not a header\n```\n\nk | v\n1 | 2\n"
    )
    assert document.metadata["title"] == "My page"
    paths = ["My page > Top & first", "My page > Top & first > Code"]
    assert [c.metadata["headers"] for c in split(document, {"version": 2})] == paths


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a ",
        "<!--",
        '<a b="',
        "<a b='<",
        "<script>",
        "</",
        "<![CDATA[",
        "&",
        "&#",
        "<ul><li>",
        "<pre>",
        "<b>x",
    ],
)
def test_html_that_never_closes_is_read_in_linear_time(piece):
    raw = (piece * (600_000 // len(piece))).encode()
    (extracted,) = loaders.loader("html").parse(raw, Limits())
    assert isinstance(extracted.text, str)


def test_a_csv_row_is_a_segment_with_its_number(tmp_path):
    document = only(
        write(tmp_path, "a.csv", 'name;note\r\n"Ann; B";"two\r\nlines"\r\n\r\nCem;\r\n')
    )
    assert [(c.content, c.metadata) for c in split(document, "characters")] == [
        (
            "name: Ann; B\nnote: two\nlines",
            {"name": "Ann; B", "note": "two\r\nlines", "row": 2, "headers": "a"},
        ),
        ("name: Cem", {"name": "Cem", "row": 4, "headers": "a"}),
    ]


CELLS = {
    "numbers where all are numbers": ("id,year,code\n1,2024,007\n2,,010\n", [
        {"id": 1, "year": 2024, "code": "007"}, {"id": 2, "code": "010"},
    ]),
    "texts where one is a word": ("n\n1\n2\nthree\n", [{"n": "1"}, {"n": "2"}, {"n": "three"}]),
    "fractions": ("x\n1\n2.5\n-1e3\n", [{"x": 1}, {"x": 2.5}, {"x": -1000.0}]),
    "no number beyond a float": ("x\n1\n1e999\n", [{"x": "1"}, {"x": "1e999"}]),
    "nothing longer than 200": (f"a,b\nx,{'y' * 201}\nz,{'y' * 200}\n", [
        {"a": "x"}, {"a": "z", "b": "y" * 200},
    ]),
    "no keys of the engine": ("path,row,checksum,year\na,b,c,1\n", [{"year": 1}]),
    "no keys from cells": ("Ann,7\nBob,8\n", [{}]),
    "no keys that are there twice": ("a,a\n1,2\n", [{}]),
    "a row with more cells than names": ("a\n1,2\n", [{"a": 1}]),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_the_cells_of_a_row_are_its_metadata(tmp_path, name):
    content, expected = CELLS[name]
    document = only(write(tmp_path, "t.csv", content))
    found = [{k: v for k, v in s.metadata.items() if k != "row"} for s in document.segments]
    assert found == expected
    assert [[type(v) for v in one.values()] for one in found] == [
        [type(v) for v in one.values()] for one in expected
    ]


def test_a_filter_finds_the_rows_of_a_csv_in_a_folder(tmp_path):
    (tmp_path / "docs").mkdir()
    write(tmp_path / "docs", "birds.csv", "bird,year\nHeron,2023\nOwl,2024\nOwl,2021\n")
    ragfile.build(tmp_path / "docs", tmp_path / "kb.ragfile", embedder="none")
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        found = rf.search("owl heron", where={"year": {"$gte": 2022}, "bird": "Owl"})
        assert [(hit.text, hit.metadata["row"]) for hit in found] == [("bird: Owl\nyear: 2024", 3)]


def test_an_upload_cannot_name_its_origin_in_a_column(tmp_path):
    document = only(write(tmp_path, "t.csv", "mime,file_id,upload,a\nx,y,z,1\n"))
    assert [segment.metadata for segment in document.segments] == [{"a": 1, "row": 2}]


def test_json_lines_give_a_document_each_and_a_bad_line_a_failure(tmp_path):
    lines = [
        '{"id": 7, "text": "one", "lang": "en"}',
        "",
        "oops",
        '{"no": "text"}',
        '{"_id": "x", "text": "t", "n": NaN}',
    ]
    write(tmp_path, "a.jsonl", "\n".join([*lines, json.dumps({"content": "two"})]))
    loading = Loading(tmp_path)
    documents = list(loading)
    assert [(d.id, d.text, d.metadata.get("lang")) for d in documents] == [
        ("a.jsonl#7", "one", "en"),
        ("a.jsonl#6", "two", None),
    ]
    assert [f.reason.split(":")[0] for f in loading.failures] == ["line 3", "line 4", "line 5"]


@pytest.mark.parametrize(
    ("content", "suffix", "kind"),
    [
        (made.pdf("x"), ".txt", "pdf"),
        (made.docx(""), ".md", "docx"),
        (made.pptx(), "", "pptx"),
        (b"  <!DOCTYPE html><p>", ".txt", "html"),
        (b"# Title", ".md", "md"),
        (b"a,b\n", ".csv", "csv"),
        (b"plain", ".pdf", "txt"),
        (b"", ".md", "md"),
        ("text".encode("utf-16"), ".txt", "txt"),
        (b"MZ is how this sentence starts.", ".txt", "txt"),
    ],
)
def test_content_decides_what_a_file_is(content, suffix, kind):
    assert sniff(content, suffix) == kind


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"MZ\x90\x00\x03\x00\x00\x00", "Windows executable"),
        (b"\x7fELF\x02\x01\x01", "ELF executable"),
        (b"\x89PNG\r\n\x1a\n", "PNG image"),
        (b"some\x00binary", "binary data"),
        (made.packed({"x": "y"}), "zip archive"),
    ],
)
def test_what_is_not_text_is_refused_whatever_its_name(tmp_path, content, message):
    loading = Loading(write(tmp_path, "notes.md", content))
    assert list(loading) == []
    assert message in loading.failures[0].reason
    assert loading.failures[0].kind == "UnsupportedType"


def test_invalid_utf8_is_an_error_or_replaced_by_choice(tmp_path):
    path = write(tmp_path, "a.txt", "größer ".encode() + b"\xff bad")
    with pytest.raises(LoadError, match="not valid utf-8: byte 9"):
        load(path)
    assert only(path, errors="replace").text == "größer \ufffd bad"


def test_a_file_over_the_limit_is_not_parsed(tmp_path, monkeypatch):
    path = write(tmp_path, "a.txt", "x" * 101)
    with pytest.raises(LoadError, match="101 bytes, the limit is 100"):
        load(path, limits=Limits(max_bytes=100))
    with pytest.raises(LoadError, match="more than 100 characters"):
        load(path, limits=Limits(max_text=100))


def test_a_file_that_says_nothing_of_its_size_is_read_up_to_the_limit(tmp_path, monkeypatch):
    path = write(tmp_path, "grows.txt", "x" * 100)
    monkeypatch.setattr(
        "ragfile.ingest.document_loader.os.fstat",
        lambda _: types.SimpleNamespace(st_size=0, st_mtime=0, st_mtime_ns=0, st_ctime_ns=0),
    )
    with pytest.raises(LoadError, match="more than 99 bytes"):
        load(path, limits=Limits(max_bytes=99))
    assert only(path, limits=Limits(max_bytes=100)).text == "x" * 100


def test_a_file_that_changes_once_while_it_is_read_is_taken_whole(tmp_path, monkeypatch):
    """The change falls between its first half and its second, and both have one length."""
    path = write(tmp_path, "a.txt", "a" * 1000)
    changed_between(path, monkeypatch, ["b" * 1000])
    assert only(path).text == "b" * 1000


def test_a_file_that_keeps_changing_is_named_as_failed(tmp_path, monkeypatch):
    path = write(tmp_path, "a.txt", "a" * 1000)
    write(tmp_path, "b.txt", "another file")
    changed_between(path, monkeypatch, [letter * 1000 for letter in "bcdefghij"])
    loading = Loading(tmp_path)
    assert [document.id for document in loading] == ["b.txt"]
    [failure] = loading.failures
    assert (failure.path, failure.reason) == (
        str(path), "it was changed while it was read: read it again later",
    )  # fmt: skip


def changed_between(path, monkeypatch, texts):
    """Have the next reads of a file return one half, wait for a change, then return the other."""
    texts = list(texts)

    def halves(file, stated, most):
        if file.name != str(path) or not texts:
            return file.read()
        first = os.pread(file.fileno(), 500, 0)
        with open(path, "r+") as other:
            other.write(texts.pop(0))
        return first + os.pread(file.fileno(), 500, 500)

    monkeypatch.setattr("ragfile.ingest.document_loader._content", halves)


def test_the_same_bytes_are_noted_and_left_out_on_request(tmp_path):
    write(tmp_path, "a.txt", "same")
    write(tmp_path, "b.txt", "same")
    loading = Loading(tmp_path)
    assert [d.id for d in loading] == ["a.txt", "b.txt"]
    assert loading.duplicates == [Duplicate(str(tmp_path / "b.txt"), str(tmp_path / "a.txt"))]
    assert [d.id for d in Loading(tmp_path, dedupe=True)] == ["a.txt"]


def test_a_folder_is_walked_by_name_without_hidden_files_and_loops(tmp_path):
    for name in (
        "b/z.md",
        "b/a.md",
        "a.md",
        "c.md",
        ".hidden.md",
        ".git/x.md",
        "b/.x/y.md",
        "B.md",
        "data.bin",
    ):
        write(tmp_path / "root", name, name)
    write(tmp_path, "outside.md", "secret")
    root = tmp_path / "root"
    (root / "b" / "loop").symlink_to(root, target_is_directory=True)
    (root / "d.md").symlink_to(root / "c.md")
    (root / "e.md").symlink_to(tmp_path / "outside.md")
    (root / "broken.md").symlink_to(root / "nowhere.md")
    os.mkfifo(root / "pipe.md")
    skipped = []
    assert [s.id for s in find(root, skipped)] == ["B.md", "a.md", "b/a.md", "b/z.md", "c.md"]
    reasons = {os.path.basename(s.path): s.reason for s in skipped}
    assert reasons == {
        "loop": "a link to a folder seen before",
        "d.md": "a file that was read before, under this or another name",
        "e.md": "a link out of the folder",
        "broken.md": "No such file or directory",
        "pipe.md": "not a regular file",
        "data.bin": "no loader for this suffix",
    }


def test_markdown_files_found_equal_rglob(tmp_path):
    for i in range(30):
        write(tmp_path, "/".join(f"d{j}" for j in range(i % 5)) + f"/f{i}.md", str(i))
    assert {s.path for s in find(tmp_path)} == {str(p) for p in tmp_path.rglob("*.md")}


def test_globs_files_and_lists_are_sources_and_a_file_is_taken_once(tmp_path):
    for name in ("a.md", "b.md", "c.x", "sub/d.md"):
        write(tmp_path, name, name)
    assert [s.id for s in find(str(tmp_path / "*.md"))] == ["a.md", "b.md"]
    assert [s.id for s in find(str(tmp_path / "**/*.md"))] == ["a.md", "b.md", "d.md"]
    assert [s.id for s in find([tmp_path / "c.x", tmp_path / "b.md", tmp_path])] == [
        "c.x",
        "b.md",
        "a.md",
        "sub/d.md",
    ]
    write(tmp_path, "d.unknown", "words")
    assert only(tmp_path / "d.unknown").metadata["mime"] == "text/plain"


def test_equal_ids_are_told_apart_by_their_folders(tmp_path):
    write(tmp_path, "one/readme.md", "1")
    write(tmp_path, "two/readme.md", "2")
    assert [s.id for s in find([tmp_path / "one", tmp_path / "two"])] == [
        "one/readme.md",
        "two/readme.md",
    ]


def test_a_source_that_is_not_there_is_the_callers_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(Loading(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nothing matches"):
        list(Loading(str(tmp_path / "*.nothing")))


def test_a_name_that_is_not_utf8_gives_a_legible_id(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.md"
    with open(path, "wb") as file:
        file.write(b"x")
    assert [s.id for s in find(tmp_path)] == ["\ufffd.md"]


def test_a_registered_loader_reads_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(loaders, "_LOADERS", dict(loaders._LOADERS))

    def parse(raw, limits):
        yield Extracted(raw.decode().upper())

    write(tmp_path, "a.shout", "hello")
    write(tmp_path, "b.txt", "")
    assert [document.id for document in Loading(tmp_path)] == ["b.txt"]
    loaders.register(Loader("shout", "text/x-shout", (".shout",), parse))
    read = [(d.text, d.metadata["mime"]) for d in Loading(tmp_path)]
    assert read == [("HELLO", "text/x-shout"), ("", "text/plain")]


def test_a_loader_that_breaks_is_one_line_in_the_report(tmp_path, monkeypatch):
    monkeypatch.setattr(loaders, "_LOADERS", dict(loaders._LOADERS))

    def parse(raw, limits):
        raise RuntimeError("loader bug")
        yield

    loaders.register(Loader("bad", "x/bad", (".bad",), parse))
    write(tmp_path, "a.bad", "x")
    write(tmp_path, "b.md", "fine")
    loading = Loading(tmp_path)
    assert [d.text for d in loading] == ["fine"]
    assert [(f.reason, f.kind) for f in loading.failures] == [("loader bug", "RuntimeError")]


@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(["pdf", "docx", "pptx", "html", "csv", "jsonl"]), st.data())
def test_damaged_files_are_loaded_or_reported_and_nothing_else(tmp_path, kind, data):
    whole = {
        "pdf": made.pdf("One page."),
        "docx": made.docx(made.paragraph("Text")),
        "pptx": made.pptx(),
        "html": PAGE.encode(),
        "csv": b'a,b\n"1,2\n',
        "jsonl": b'{"text": "x"}\n',
    }[kind]
    raw = bytearray(whole)
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=8)):
        raw[at] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(1, len(raw)))]
    loading = Loading(write(tmp_path, f"damaged.{kind}", bytes(raw)))
    documents = list(loading)
    assert documents or loading.failures or kind == "jsonl"
    for document in documents:
        for chunk in split(document):
            assert document.text[chunk.start : chunk.end] == chunk.content


@pytest.mark.parametrize(
    "part",
    ["../../etc", "", ".", "..", "a/b", "a\\b", "a\0", "-x", ".hid", "a..b", "x" * 200, None],
)
def test_a_part_of_an_upload_path_cannot_lead_elsewhere(part):
    with pytest.raises(ValueError, match="not safe"):
        upload_path("/root", part, "2024-05-01", "0f")


def test_an_upload_path_is_user_date_and_name():
    assert (
        upload_path("/up", "ann@x.org", "2024-05-01", "0f.pdf") == "/up/ann@x.org/2024-05-01/0f.pdf"
    )


def test_unsupported_types_are_value_errors_of_ours():
    assert issubclass(UnsupportedType, ValueError)


def test_a_glob_passes_over_links_that_lead_nowhere_and_a_name_does_not(tmp_path):
    (tmp_path / "a.md").write_text("# A")
    (tmp_path / "b.md").symlink_to(tmp_path / "gone")
    skipped = []
    assert [s.id for s in find(str(tmp_path / "*.md"), skipped)] == ["a.md"]
    assert [(os.path.basename(s.path), s.reason) for s in skipped] == [
        ("b.md", "a link that leads nowhere")
    ]
    with pytest.raises(FileNotFoundError):
        list(find(tmp_path / "b.md"))


def test_a_failure_says_where_in_the_line_and_what_would_read_it(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "good"}\n{"text": }\n')
    (tmp_path / "b.txt").write_bytes("größer".encode()[:-1] + "ä".encode()[:1])
    loading = Loading(tmp_path)
    assert [document.text for document in loading] == ["good"]
    assert [failure.reason for failure in loading.failures] == [
        "line 2: not JSON: Expecting value at character 10",
        "not valid utf-8: byte 7 (unexpected end of data); encoding= names another, errors=replace reads it",
    ]


@pytest.mark.parametrize(("suffix", "kind"), [("", "txt"), (".eml", "eml")])
def test_a_text_that_mentions_the_mark_of_a_pdf_is_no_pdf(suffix, kind):
    assert sniff(b"Subject: marks\n\nA PDF begins with %PDF-1.7.\n", suffix) == kind
