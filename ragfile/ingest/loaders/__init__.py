"""Extract text from the bytes of a file: a module per family of formats, and the table of loaders.

A loader's `parse(raw, limits)` yields `Extracted`, lazily where it can, so that limits apply before
memory runs out. The content decides the kind of a file (`sniff`); a suffix only chooses among the
kinds of plain text and those that users register.

Everything but PDF is read with the standard library alone, deliberately: a file then gives the same
text whatever else is installed, and no parser brings its own limits. Formats other than plain text
become Markdown, so that chunks get header paths; source code stays as it is and is cut by its
definitions.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterable

from ragfile.ingest.loaders import (
    asciidoc,
    content,
    epub_odt,
    html,
    mail,
    man_pages,
    notebook,
    office,
    open_sheets,
    org,
    parquet,
    pdf,
    restructured_text,
    sheets,
    subtitles,
    tex,
    text_formats,
)
from ragfile.ingest.loaders.content import is_text
from ragfile.ingest.loaders.contract import (
    Extracted,
    LimitError,
    Limits,
    Loader,
    LoadError,
    UnsupportedType,
)
from ragfile.ingest.loaders.front_matter import FrontMatter, front_matter
from ragfile.ingest.loaders.plugin_loaders import is_plugged, plugged

__all__ = [
    "Extracted",
    "FrontMatter",
    "LimitError",
    "Limits",
    "LoadError",
    "Loader",
    "UnsupportedType",
    "front_matter",
    "has_loader",
    "is_isolated",
    "is_text",
    "loader",
    "register",
    "sniff",
    "suffixes",
]


def register(loader: Loader) -> None:
    """Add a loader, or replace the one of its kind.

    If loaders share a suffix or magic, the one registered last is used.
    """
    _LOADERS.pop(loader.kind, None)
    _LOADERS[loader.kind] = loader


def loader(kind: str) -> Loader:
    """Return the loader of a kind, which can be the name of a plugin."""
    return _LOADERS[kind] if kind in _LOADERS else plugged(kind)


def has_loader(suffix: str) -> bool:
    """Return whether a loader or a plugin reads files with a suffix."""
    return suffix in suffixes() or is_plugged(suffix)


def are_built_in() -> bool:
    """Return whether no loader was registered, so that another process has the same ones."""
    return _LOADERS == _OURS


def is_isolated(one: Loader) -> bool:
    """Return whether files of a kind are parsed in a process of their own."""
    return one.kind in _ISOLATED and _OURS[one.kind] is one


def suffixes() -> set[str]:
    """Return the suffixes by which files are found in a folder."""
    return {suffix for one in _LOADERS.values() for suffix in one.suffixes}


def _text(kind: str, mime: str, suffixes: str, parse: Callable[..., Iterable[Extracted]]) -> Loader:
    return Loader(kind, mime, tuple(suffixes.split()), parse, is_text=True)


_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_LOADERS: dict[str, Loader] = {}
for _loader in (
    _text(
        "txt",
        "text/plain",
        ".txt .text .log .awk .bat .clj .cmake .cmd .dart .diff .el .gradle .graphql .groovy .jl .nix .patch .pl .pm "
        ".proto .r .svelte .tf .vim .vue",
        text_formats.text,
    ),
    _text("md", "text/markdown", ".md .markdown .mdx", text_formats.markdown),
    _text("rst", "text/x-rst", ".rst .rest", restructured_text.parse),
    _text("adoc", "text/asciidoc", ".adoc .asciidoc", asciidoc.parse),
    _text("org", "text/org", ".org", org.parse),
    _text("tex", "text/x-tex", ".tex .ltx", tex.parse),
    _text("man", "text/troff", ".1 .2 .3 .4 .5 .6 .7 .8 .man .mdoc", man_pages.parse),
    _text("ipynb", "application/x-ipynb+json", ".ipynb", notebook.parse),
    _text("html", "text/html", ".html .htm .xhtml", html.parse),
    _text("csv", "text/csv", ".csv .tsv", text_formats.table),
    _text("jsonl", "application/jsonl", ".jsonl .ndjson", text_formats.json_lines),
    _text("python", "text/x-python", ".py .pyi .pyx .pxd .pyw", text_formats.code("python")),
    _text("c", "text/x-c", ".c .h .cc .cpp .cxx .hh .hpp .hxx .c++ .h++", text_formats.code("c")),
    _text("java", "text/x-java", ".java", text_formats.code("java")),
    _text("go", "text/x-go", ".go", text_formats.code("go")),
    _text("rust", "text/x-rust", ".rs", text_formats.code("rust")),
    _text(
        "js", "text/javascript", ".js .mjs .cjs .jsx .ts .tsx .mts .cts", text_formats.code("js")
    ),
    _text("shell", "text/x-shellscript", ".sh .bash .zsh .ksh", text_formats.code("shell")),
    _text("csharp", "text/x-csharp", ".cs", text_formats.code("csharp")),
    _text("elixir", "text/x-elixir", ".ex .exs", text_formats.code("elixir")),
    _text("haskell", "text/x-haskell", ".hs", text_formats.code("haskell")),
    _text("kotlin", "text/x-kotlin", ".kt .kts", text_formats.code("kotlin")),
    _text("lua", "text/x-lua", ".lua", text_formats.code("lua")),
    _text("php", "application/x-php", ".php", text_formats.code("php")),
    _text("powershell", "text/x-powershell", ".ps1 .psm1", text_formats.code("powershell")),
    _text("ruby", "text/x-ruby", ".rb .rake .gemspec", text_formats.code("ruby")),
    _text("scala", "text/x-scala", ".scala .sc", text_formats.code("scala")),
    _text("sql", "application/sql", ".sql", text_formats.code("sql")),
    _text("swift", "text/x-swift", ".swift", text_formats.code("swift")),
    _text("zig", "text/x-zig", ".zig", text_formats.code("zig")),
    _text("css", "text/css", ".css .scss .less", text_formats.text),
    _text("json", "application/json", ".json", text_formats.text),
    _text(
        "toml",
        "application/toml",
        ".toml .ini .cfg .conf .cnf .properties .service",
        text_formats.text,
    ),
    _text("xml", "application/xml", ".xml .xsd", text_formats.text),
    _text("yaml", "application/yaml", ".yaml .yml", text_formats.text),
    _text("subtitles", "text/vtt", ".srt .vtt", subtitles.parse),
    Loader("eml", "message/rfc822", (".eml",), mail.parse),
    Loader(
        "parquet", "application/vnd.apache.parquet", (".parquet",), parquet.parse, magic=b"PAR1"
    ),
    Loader("pdf", "application/pdf", (".pdf",), pdf.parse),
    Loader("docx", f"{_OFFICE}.wordprocessingml.document", (".docx",), office.word),
    Loader("pptx", f"{_OFFICE}.presentationml.presentation", (".pptx",), office.slides),
    Loader("xlsx", f"{_OFFICE}.spreadsheetml.sheet", (".xlsx", ".xlsm"), sheets.xlsx),
    Loader("odt", f"{_OPEN}.text", (".odt",), epub_odt.odt),
    Loader("ods", f"{_OPEN}.spreadsheet", (".ods",), open_sheets.ods),
    Loader("epub", "application/epub+zip", (".epub",), epub_odt.epub),
):
    register(_loader)

_BUILT_IN = frozenset(_LOADERS)
_OURS = dict(_LOADERS)
# Binary formats, that strangers can make expensive to parse.
_ISOLATED = frozenset({"pdf", "docx", "pptx", "xlsx", "odt", "ods", "epub"})
_ENTRY, _ENTRIES = b"PK\1\2", 65_536  # the beginning of an entry of a directory, and the limit
_MEMBERS = (
    ("docx", "word/document.xml"),
    ("pptx", "ppt/presentation.xml"),
    ("xlsx", "xl/workbook.xml"),
    ("epub", "META-INF/container.xml"),
    ("odt", "content.xml"),
    ("ods", "content.xml"),
)
_WRITTEN = {"odt": b"opendocument.text", "ods": b"opendocument.spreadsheet"}  # near the beginning
_HTML = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html[\s>])",
    re.IGNORECASE,
)


def sniff(raw: bytes, suffix: str = "") -> str:
    """Return the kind of a file: by content, and among plain texts by suffix.

    Raises:
        UnsupportedType: No loader reads such content; the message names its kind.
        LoadError: The file is a damaged zip container.
    """
    for one in reversed(_LOADERS.values()):
        if one.magic and raw.startswith(one.magic):
            return one.kind
    by_suffix = next(
        (one.kind for one in reversed(_LOADERS.values()) if suffix in one.suffixes), ""
    )
    is_ours = bool(by_suffix) or not is_plugged(suffix)
    if is_ours and _is_pdf(raw, by_suffix):
        return "pdf"
    if is_ours and raw.startswith(b"PK\x03\x04"):
        return _sniff_zip(raw, suffix)
    if by_suffix and by_suffix not in _BUILT_IN:
        return by_suffix
    if not is_ours:
        return suffix[1:]
    for magic, name in content.FOREIGN.items():
        if raw.startswith(magic) and (len(magic) > 3 or content.is_binary(raw)):
            raise UnsupportedType(f"this is {name}")
    if content.is_binary(raw):
        raise UnsupportedType("binary data of an unknown kind")
    if _HTML.match(raw):
        return "html"
    is_known = by_suffix and (_LOADERS[by_suffix].is_text or by_suffix == "eml")
    return by_suffix if is_known else ("" if suffix else content.kind_of_program(raw)) or "txt"


def _is_pdf(raw: bytes, by_suffix: str) -> bool:
    """Return whether a file is a PDF: its mark can follow other bytes, but a text can mention it."""
    if raw.startswith(b"%PDF-"):
        return True
    is_text = by_suffix in _BUILT_IN and _LOADERS[by_suffix].is_text
    return b"%PDF-" in raw[:1024] and not is_text and (by_suffix == "pdf" or content.is_binary(raw))


def _sniff_zip(raw: bytes, suffix: str) -> str:
    if raw.count(_ENTRY) > _ENTRIES:
        raise LimitError(f"a zip container with more than {_ENTRIES} entries")
    try:
        names = set(zipfile.ZipFile(io.BytesIO(raw)).namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise LoadError(f"a damaged zip container: {error}") from error
    for kind, member in _MEMBERS:
        if member in names and _WRITTEN.get(kind, b"") in raw[:200]:
            return kind
    for one in reversed(_LOADERS.values()):
        if suffix in one.suffixes and one.kind not in _BUILT_IN:
            return one.kind
    raise UnsupportedType("this is a zip archive")
