"""Writes Cython's declarations of the core from the headers in csrc/include/ragfile.

    python tools/write_pxd.py FOLDER

setup.py runs it before Cython. Each module of the extension has one file, FOLDER/rag/NAME.pxd, with
the headers that it uses. A struct that these headers only name, and no file that they build on
defines, is opaque there.

The headers are parsed by regular expressions, so they are plain: one declaration ends with one
semicolon at the start of a line's nesting, callbacks are written out or typedefs of functions, and
there are no macros but numbers.
"""

import keyword
import re
import sys
from pathlib import Path

HEADERS = Path(__file__).parent.parent / "csrc" / "include" / "ragfile"
# The modules of the extension, each with its headers; all build on the first.
ROOMS = {
    "shared": ["status", "machine", "section", "bits"],
    "files": ["files", "encryption", "container", "writer", "parity", "pairs"],
    "records": ["streams", "compression", "records", "columns", "graph", "formats"],
    "text": ["words", "languages", "bm25", "positions", "frequencies", "sparse"],
    "vectors": [
        "matrix", "shadows", "clusters", "search", "sample", "words", "titles", "fusion", "refinement", "model",
    ],
}  # fmt: skip
PREAMBLE = """\
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t, uint32_t, uint64_t, int64_t

cdef extern from "stdbool.h" nogil:
    ctypedef bint cbool "bool"  # bint is an int, and functions of it are of another type
"""
CALLBACK = re.compile(r"\(\*(\w+)\)\(([^()]*)\)")


def declarations(header):
    """The declarations of a header, each on one line, without comments and bodies."""
    code = re.sub(r"/\*.*?\*/", "", (HEADERS / f"{header}.h").read_text(), flags=re.DOTALL)
    numbers = re.findall(r"^#define (\w+) (\S.*)$", code, re.MULTILINE)
    yield from ((f"#define {name} {value}") for name, value in numbers)
    code = re.sub(r"^#.*$", "", code, flags=re.MULTILINE)
    depth, start = 0, 0
    for at, character in enumerate(code):
        depth += (character == "{") - (character == "}")
        inline = code[start:at].lstrip().startswith("static inline")
        if depth == 0 and ((character == ";" and not inline) or (character == "}" and inline)):
            text = " ".join(code[start:at].split())
            yield re.sub(r"^static inline (.*?) \{.*", r"\1", text)
            start = at + 1


def spelled(text):
    """A C type, parameter or signature as Cython writes it."""
    text = re.sub(r"\b(?:struct|enum) (?=rag_)", "", text)
    text = re.sub(r"\bbool\b", "cbool", text).replace("(void)", "()")
    text = re.sub(r" (\w+)\[\w*\](?=[,)])", r" *\1", text)  # a parameter that is an array
    return CALLBACK.sub(r"(*\1)(\2) noexcept nogil", text)


def fields_of(body):
    """The members of a struct, one statement each; a struct inside stands before it."""
    for field in filter(None, (part.strip() for part in body.split(";"))):
        listed = re.fullmatch(r"([\w ]+?) (\*+\w+(?:, \*+\w+)+)", field)
        one_each = [f"{listed[1]} {name}" for name in listed[2].split(", ")] if listed else [field]
        yield from (spelled(re.sub(r"\w+", renamed, one)) for one in one_each)


def renamed(word):
    """A member that Python has a keyword for gets an underscore."""
    return f'{word[0]}_ "{word[0]}"' if keyword.iskeyword(word[0]) else word[0]


def struct(name, body):
    inner = re.match(r"\s*struct (rag_\w+) \{(.*?)\} (.*)", body, re.DOTALL)
    if inner:
        yield from struct(inner[1], inner[2])
        body = f"{inner[1]} {inner[3]}"
    yield f"struct {name}:"
    yield from (f"    {field}" for field in fields_of(body))


def written(text, structs):
    """The lines of one declaration."""
    if number := re.fullmatch(r"#define (\w+) (.+)", text):
        kind = {"U": "uint32_t", "(": "size_t"}.get(number[2][0], "int")
        yield f"const {kind} {number[1]}"
    elif enum := re.fullmatch(r"enum( \w+)? \{(.*)\}", text):
        yield f"enum{enum[1] or ''}:"
        yield "    " + ", ".join(re.findall(r"(RAG_\w+)(?: = [^,]*)?", enum[2]))
    elif whole := re.fullmatch(r"struct (\w+) \{(.*)\}", text):
        yield from struct(whole[1], whole[2])
    elif text.startswith("typedef "):
        yield f"ctypedef {spelled(text.removeprefix('typedef '))} noexcept nogil"
    elif re.fullmatch(r"struct \w+", text):
        yield from ()  # see opaque()
    else:
        line = re.sub(
            r"\w+", lambda word: word[0] + "_" * keyword.iskeyword(word[0]), spelled(text)
        )
        name = re.search(r"(\w+)\(", line)[1]
        if name in structs:  # a function that shares its name with a struct
            line = line.replace(f"{name}(", f'{name.removeprefix("rag_")} "{name}"(', 1)
        yield line


def room(name):
    """The text of one module's declarations."""
    found = {header: list(declarations(header)) for header in ROOMS[name]}
    base = [] if name == "shared" else [d for h in ROOMS["shared"] for d in declarations(h)]
    text = [d for group in found.values() for d in group]
    structs = set(re.findall(r"struct (rag_\w+) \{", "\n".join(text)))
    known = structs | set(re.findall(r"struct (rag_\w+) \{", "\n".join(base)))
    named = re.findall(r"struct (rag_\w+)", "\n".join(text))
    opaque = sorted(set(named) - known)
    lines = [PREAMBLE if name == "shared" else "from rag.shared cimport *\n"]
    if opaque:
        lines += [f'cdef extern from "ragfile/{ROOMS[name][0]}.h" nogil:']
        lines += [f"    struct {one}:\n        pass" for one in opaque]
    for header, group in found.items():
        lines += [f'\ncdef extern from "ragfile/{header}.h" nogil:']
        lines += [f"    {line}" for one in ordered(group) for line in written(one, structs)]
    return "\n".join(lines) + "\n"


def ordered(group):
    """Structs, enums and callbacks before the functions that use them."""
    return sorted(group, key=lambda one: "(" in re.sub(r"\{.*\}", "", one) and "typedef" not in one)


def write(folder):
    """Writes what differs from the files that are there, so that Cython sees what changed."""
    Path(folder, "rag").mkdir(parents=True, exist_ok=True)
    texts = {f"rag/{name}.pxd": room(name) for name in ROOMS} | {"rag/__init__.pxd": ""}
    for name, text in texts.items():
        path = Path(folder, name)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    write(sys.argv[1])
