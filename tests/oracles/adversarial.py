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
    "pptx: notes many times": (".pptx", one_page_of_notes_many_times),
    "pptx: empty shapes": (".pptx", lambda size: slides("<p:sp/>" * (size // 7))),
    "pptx: nested shapes": (
        ".pptx",
        lambda size: slides(nested("<p:sp><a:p>", "</a:p></p:sp>", size)),
    ),
    "pptx: nested tables": (".pptx", lambda size: slides(nested(*NEST, size))),
}
