"""Files that are made to cost a loader more than their size: each case makes one of about `size` bytes.

Office files are zip containers, which hide a thousand bytes in one; their size is that of the XML inside.
"""

from oracles import source_files as made


def repeated(unit, size, before="", after=""):
    return (before + unit * (size // len(unit)) + after).encode()


def half_and_half(size, first, unit):
    """Half of the file is one long line, the other half many short ones below it."""
    return (first * (size // 2) + "\n" + unit * (size // 2 // len(unit))).encode()


def word(body):
    return made.docx(body)


def slides(body):
    return presentation({"slides/slide1.xml": made.slide(body)}, ["slides/slide1.xml"])


def nested(opening, closing, size):
    count = size // len(opening + closing)
    return opening * count + closing * count


def one_slide_many_times(size):
    return presentation(
        {"slides/slide1.xml": made.slide(made.shape("body", "word " * (size // 10)))},
        ["slides/slide1.xml"] * min(size // 1000, 10_000),
    )


def one_page_of_notes_many_times(size):
    notes = {
        f"slides/_rels/slide{n}.xml.rels": made.relations({"n": "../notesSlides/notes.xml"})
        for n in range(size // 1000)
    }
    slides = {f"slides/slide{n}.xml": made.slide("") for n in range(size // 1000)}
    page = made.slide(made.shape("body", "word " * (size // 10)))
    return presentation({**notes, **slides, "notesSlides/notes.xml": page}, list(slides))


def presentation(parts, shown):
    ids = "".join(f'<p:sldId r:id="r{n}"/>' for n in range(len(shown)))
    body = f"<p:presentation {made.NAMESPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    relations = made.relations({f"r{n}": name for n, name in enumerate(shown)})
    whole = {"presentation.xml": body, "_rels/presentation.xml.rels": relations, **parts}
    return made.packed({f"ppt/{name}": text for name, text in whole.items()})


def one_chart(size):
    chart = f'<c:chartSpace xmlns:c="{CHART}">{"<c:ser/>" * (size // 8)}</c:chartSpace>'
    parts = {
        "slides/slide1.xml": made.slide(""),
        "slides/_rels/slide1.xml.rels": made.relations({"c": "../charts/chart1.xml"}),
        "charts/chart1.xml": chart,
    }
    return presentation(parts, ["slides/slide1.xml"])


def one_page_many_times(size):
    refs = '<itemref idref="a"/>' * min(size // 20, 20_000)
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml"/></manifest>'
        f"<spine>{refs}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfile full-path="b.opf"/></container>'
    )
    page = "<p>" + "word " * (size // 10)
    return made.packed({"META-INF/container.xml": container, "b.opf": book, "a.xhtml": page})


def one_word_in_many_cells(size):
    cell = '<c t="s"><v>0</v></c>'
    rows = f"<row>{cell * (size // 40)}</row>"
    return made.xlsx({"a": rows}, words=["<t>" + "a" * (size // 2) + "</t>"])


def one_sheet_many_times(size):
    return made.xlsx(dict.fromkeys((f"s{n}" for n in range(size // 100)), ROW_OF_ONE))


def repeated_cells(size):
    cell = '<table:table-cell table:number-columns-repeated="999999999"><text:p>a</text:p></table:table-cell>'
    return f"<table:table><table:table-row>{cell * (size // len(cell))}</table:table-row></table:table>"


def open_document(body):
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    text = f"<office:body {names}><office:text>{body}</office:text></office:body>"
    kind = "application/vnd.oasis.opendocument.text"
    return made.stored(kind, {"content.xml": text})


ROW_OF_ONE = "<row><c><v>1</v></c></row>"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
ROW = "<w:tr><w:tc/></w:tr>"
YAML = 60_000  # characters: longer front matter is text
NEST = "<a:tbl><a:tr><a:tc>", "</a:tc></a:tr></a:tbl>"
CASES = {
    "md: a header of blanks": (".md", lambda size: repeated(" ", size, "# a", "\rb")),
    "md: a header of blanks and marks": (".md", lambda size: repeated(" #", size, "# a", "\rb")),
    "md: headers of blanks": (".md", lambda size: repeated("# " + " " * 900 + "\rb\n", size)),
    "md: a title of blanks": (
        ".md",
        lambda size: repeated(" ", size, "---\ntitle:", "\rb\n---\n"),
    ),
    "md: titles of blanks": (
        ".md",
        lambda size: repeated("title:" + " " * 900 + "\rb\n", size, "---\n", "---\n"),
    ),
    "md: a title of quotes": (".md", lambda size: repeated('" ', size, "---\ntitle:", "\n---\n")),
    "md: an open front matter": (".md", lambda size: repeated("title: \rb\n", size, "---\n")),
    "md: an anchor of blanks": (".md", lambda size: repeated(" ", size, "## a", "{#x} b\n")),
    "md: anchors": (".md", lambda size: repeated(" {#", size, "## a", "\n")),
    "md: closing marks": (".md", lambda size: repeated(" #", size, "## a", " b\n")),
    "md: closing marks after blanks": (".md", lambda size: repeated(" ", size, "## a", "#b\n")),
    "md: a long header over many": (".md", lambda size: half_and_half(size, "# a", "## b\n")),
    "md: long headers": (".md", lambda size: repeated("# " + "a" * 900 + "\n## b\n" * 9, size)),
    "md: open fences": (".md", lambda size: repeated("```\n~~~~\n", size)),
    "md: backticks": (".md", lambda size: repeated("`", size)),
    "md: open comments": (".md", lambda size: repeated("<!--\n", size)),
    "md: underlines": (".md", lambda size: repeated("a\n=" + " " * 90 + "x\n", size)),
    "md: an underline of blanks": (".md", lambda size: repeated(" ", size, "a\n==", "x")),
    "md: lines of nothing": (".md", lambda size: repeated(" \n", size)),
    "md: nested YAML": (".md", lambda size: repeated("[", min(size, YAML), "---\na: ", "\n---\n")),
    "md: open YAML keys": (".md", lambda size: repeated("? ", min(size, YAML), "---\n", "\n---\n")),
    "md: YAML keys": (".md", lambda size: repeated("? a\t\n", min(size, YAML), "---\n", "---\n")),
    "txt: marks": (".txt", lambda size: repeated("\u0315\u0300", size * 2 // 3, "a")),
    "txt: sentence marks": (".txt", lambda size: repeated('.""', size)),
    "txt: one word": (".txt", lambda size: repeated("a", size)),
    "txt: gaps": (".txt", lambda size: repeated("\n \n", size)),
    "html: cells": (".html", lambda size: repeated("<td>", size)),
    "html: cells with text": (".html", lambda size: repeated("<td>a", size)),
    "html: cells in code": (".html", lambda size: repeated("<td>", size, "<pre>")),
    "html: tags in the title": (".html", lambda size: repeated("a<b>", size, "<title>")),
    "html: open tags": (".html", lambda size: repeated("<a ", size)),
    "html: open quotes": (".html", lambda size: repeated("<a \"'", size)),
    "html: open comments": (".html", lambda size: repeated("<!--", size)),
    "html: open scripts": (".html", lambda size: repeated("<script>", size)),
    "html: lists": (".html", lambda size: repeated("<ul><li>a", size)),
    "html: breaks": (".html", lambda size: repeated("<br>", size)),
    "html: entities": (".html", lambda size: repeated("&amp", size)),
    "csv: a long name": (".csv", lambda size: half_and_half(size, "a", "1\n")),
    "csv: many names": (".csv", lambda size: half_and_half(size, "a,", "1,1,1\n")),
    "csv: an open quote": (".csv", lambda size: repeated('"', size)),
    "jsonl: nothing": (".jsonl", lambda size: repeated("x\n", size)),
    "jsonl: nested": (".jsonl", lambda size: repeated("[", size)),
    "jsonl: numbers": (".jsonl", lambda size: repeated("9", size)),
    "docx: empty paragraphs": (".docx", lambda size: word("<w:p/>" * (size // 6))),
    "docx: empty runs": (".docx", lambda size: word(f"<w:p>{'<w:r/>' * (size // 6)}</w:p>")),
    "docx: cells": (".docx", lambda size: word(f"<w:tbl>{ROW * (size // 20)}</w:tbl>")),
    "docx: nested parts": (".docx", lambda size: word(nested("<w:sdt>", "</w:sdt>", size))),
    "docx: nested tables": (".docx", lambda size: word(nested(*NEST, size).replace("a:", "w:"))),
    "pptx: a slide many times": (".pptx", one_slide_many_times),
    "pptx: a chart of empty series": (".pptx", one_chart),
    "md: small sections": (".md", lambda size: repeated("# a\nb\n", size)),
    "md: small sections in one another": (".md", lambda size: repeated("# a\nb\n## c\nd\n", size)),
    "md: tables": (".md", lambda size: repeated("|\n|\n\n", size)),
    "md: one table": (".md", lambda size: repeated("|a|b\n", size)),
    "md: fences in a section": (".md", lambda size: repeated("```\n```\n", size)),
    "md: fences that nothing closes": (".md", lambda size: repeated("~~~~\n```\n", size, "````\n")),
    "rst: underlines": (".rst", lambda size: repeated("a\n=\n", size)),
    "rst: marks": (".rst", lambda size: repeated("=-", size)),
    "rst: backticks": (".rst", lambda size: repeated("`a ", size)),
    "rst: two backticks": (".rst", lambda size: repeated("``a` ", size)),
    "rst: roles": (".rst", lambda size: repeated(":a:`<", size)),
    "rst: directives": (".rst", lambda size: repeated(".. a::\n", size)),
    "rst: code blocks": (".rst", lambda size: repeated("a::\n\n b\n", size)),
    "rst: nested directives": (
        ".rst",
        lambda size: "".join(f"{' ' * (n % 500)}.. note::\n" for n in range(size // 260)).encode(),
    ),
    "rst: borders": (".rst", lambda size: repeated("== ", size)),
    "adoc: open blocks": (".adoc", lambda size: repeated("----\n....\n", size)),
    "adoc: links": (".adoc", lambda size: repeated("link:a[", size)),
    "adoc: crosses": (".adoc", lambda size: repeated("<<a,", size)),
    "adoc: macros": (".adoc", lambda size: repeated("[[a", size)),
    "org: open blocks": (".org", lambda size: repeated("#+begin_a\n", size)),
    "org: drawers": (".org", lambda size: repeated(":A:\n", size)),
    "org: links": (".org", lambda size: repeated("[[a][", size)),
    "org: tags": (".org", lambda size: repeated(" :a", size, "* b")),
    "tex: braces": (".tex", lambda size: repeated("\\section{", size)),
    "tex: titles": (".tex", lambda size: repeated("\\title{a{", size)),
    "tex: commands": (".tex", lambda size: repeated("\\a[", size)),
    "tex: dollars": (".tex", lambda size: repeated("$a ", size)),
    "tex: comments": (".tex", lambda size: repeated("%", size)),
    "tex: verbatim": (".tex", lambda size: repeated("\\begin{verbatim}\n", size)),
    "man: escapes": (".1", lambda size: repeated("\\h'", size, ".TH A 1\n")),
    "man: arguments": (".1", lambda size: repeated('"" ', size, ".TH A 1\n.BR ")),
    "man: comments": (".1", lambda size: repeated('.\\" a\n', size)),
    "man: definitions": (".1", lambda size: repeated(".de a\n", size, ".TH A 1\n")),
    "man: phrases": (".1", lambda size: repeated("Op Fl a ", size, ".Dd A\n.Op ")),
    "ipynb: nested": (".ipynb", lambda size: repeated("[", size)),
    "ipynb: cells": (".ipynb", lambda size: repeated("{},", size, '{"cells": [', "{}]}")),
    "ipynb: outputs": (
        ".ipynb",
        lambda size: repeated(
            '{"text":"a"},', size, '{"cells":[{"cell_type":"code","outputs":[', "{}]}]}"
        ),
    ),
    "eml: a long header": (".eml", lambda size: repeated("=?utf-8?q?a?= ", size, "Subject: ")),
    "eml: headers": (".eml", lambda size: repeated("A: b\n", size)),
    "eml: parts": (
        ".eml",
        lambda size: repeated(
            "--x\n\na\n", size, 'Content-Type: multipart/mixed; boundary="x"\n\n'
        ),
    ),
    "eml: nested messages": (
        ".eml",
        lambda size: repeated("Content-Type: message/rfc822\n\n", size),
    ),
    "epub: pages many times": (".epub", one_page_many_times),
    "odt: nested lists": (
        ".odt",
        lambda size: open_document(
            nested("<text:list><text:list-item>", "</text:list-item></text:list>", size)
        ),
    ),
    "odt: blanks": (".odt", lambda size: open_document('<text:s text:c="9"/>' * (size // 20))),
    "odt: nested tables": (
        ".odt",
        lambda size: open_document(
            nested(
                "<table:table><table:table-row><table:table-cell>",
                "</table:table-cell></table:table-row></table:table>",
                size,
            )
        ),
    ),
    "py: brackets": (".py", lambda size: repeated("(", size)),
    "py: quotes": (".py", lambda size: repeated("\"'", size)),
    "py: nested classes": (
        ".py",
        lambda size: "".join(f"{' ' * n}class a:\n" for n in range(int(size**0.5))).encode(),
    ),
    "py: definitions": (".py", lambda size: repeated("def a():\n", size)),
    "py: typed lines": (".pyx", lambda size: repeated("cdef a ", size)),
    "py: decorators": (".py", lambda size: repeated("@a\n", size)),
    "c: braces": (".c", lambda size: repeated("{", size)),
    "c: classes": (".cpp", lambda size: repeated("class a {", size)),
    "c: groups": (".c", lambda size: repeated("((<", size, "", "{")),
    "c: many groups": (".c", lambda size: repeated("int f(a<b>) {}", size)),
    "c: open comments": (".c", lambda size: repeated("/*", size)),
    "c: raw strings": (".cpp", lambda size: repeated('R"a(', size)),
    "c: heads": (".c", lambda size: repeated("class ", size, "", "{")),
    "c: paragraphs": (".c", lambda size: repeated("a\n\n", size, "", "{")),
    "c: paragraphs and braces": (".c", lambda size: repeated("= a\n\n{}", size)),
    "rust: hashes": (".rs", lambda size: repeated('r#"', size)),
    "rust: lifetimes": (".rs", lambda size: repeated("'", size)),
    "go: ticks": (".go", lambda size: repeated("`\\", size)),
    "js: arrows": (".js", lambda size: repeated("a: b = ", size, "", "=> {")),
    "js: templates": (".js", lambda size: repeated("`${", size)),
    "sh: functions": (".sh", lambda size: repeated("a() {\n", size)),
    "java: notes": (".java", lambda size: repeated("@a(", size, "", "{")),
    "rb: definitions": (".rb", lambda size: repeated("def a\n", size)),
    "rb: comments": (".rb", lambda size: repeated("# a\n", size)),
    "rb: nested classes": (
        ".rb",
        lambda size: "".join(f"{' ' * n}class A\n" for n in range(int(size**0.5))).encode(),
    ),
    "sql: words": (".sql", lambda size: repeated("create or replace ", size)),
    "sql: blanks": (".sql", lambda size: repeated(" ", size, "create", "x")),
    "hs: names": (".hs", lambda size: repeated("a, ", size)),
    "hs: kinds": (".hs", lambda size: repeated("=> ", size, "data a ")),
    "lua: names": (".lua", lambda size: repeated("a.", size)),
    "php: hashes": (".php", lambda size: repeated("#[", size)),
    "swift: quotes": (".swift", lambda size: repeated('"""\n"', size)),
    "zig: lines": (".zig", lambda size: repeated("\\\\\n", size)),
    "json: one line": (".json", lambda size: repeated('{"a":[', size)),
    "vtt: arrows": (".vtt", lambda size: repeated("-->", size)),
    "vtt: tags": (".vtt", lambda size: repeated("<v a", size, "00:01.000 --> 00:02.000\n")),
    "vtt: blanks": (".vtt", lambda size: repeated(" \n", size, "00:01.000 --> 00:02.000\n")),
    "vtt: cues": (".vtt", lambda size: repeated("00:01.000 --> 00:02.000\na\n\n", size)),
    "vtt: entities": (".vtt", lambda size: repeated("&a", size, "00:01.000 --> 00:02.000\n")),
    "xlsx: empty rows": (".xlsx", lambda size: made.xlsx({"a": "<row/>" * (size // 6)})),
    "xlsx: cells": (
        ".xlsx",
        lambda size: made.xlsx({"a": "<row>" + "<c><v>1</v></c>" * (size // 15) + "</row>"}),
    ),
    "xlsx: one long word": (".xlsx", one_word_in_many_cells),
    "xlsx: a sheet many times": (".xlsx", one_sheet_many_times),
    "xlsx: formats": (
        ".xlsx",
        lambda size: made.xlsx(
            {"a": ""}, styles='<numFmt numFmtId="9" formatCode="{}"/>'.format("[" * size)
        ),
    ),
    "ods: repeated cells": (".ods", lambda size: made.ods(repeated_cells(size))),
    "ods: nested tables": (
        ".ods",
        lambda size: made.ods(
            nested(
                "<table:table><table:table-row><table:table-cell>",
                "</table:table-cell></table:table-row></table:table>",
                size,
            )
        ),
    ),
    "txt: no encoding": (".txt", lambda size: bytes(range(1, 256)) * (size // 255)),
    "pptx: notes many times": (".pptx", one_page_of_notes_many_times),
    "pptx: empty shapes": (".pptx", lambda size: slides("<p:sp/>" * (size // 7))),
    "pptx: nested shapes": (
        ".pptx",
        lambda size: slides(nested("<p:sp><a:p>", "</a:p></p:sp>", size)),
    ),
    "pptx: nested tables": (".pptx", lambda size: slides(nested(*NEST, size))),
}
