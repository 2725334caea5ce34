"""Find the declarations of csrc/include/ragfile that a C file uses, in one step or several.

setup.py compiles a file again if one of them changes, not if any other does. The headers are plain,
see write_pxd.py; a declaration in another form counts as used by every file.
"""

import re
from functools import cache

PUBLIC = "csrc/include/ragfile/"
WORD = re.compile(r"\w+")
COMMENT = re.compile(rb'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


@cache
def code_of(path):
    """Return the bytes of a file; without comments if it is in csrc/."""
    with open(path, "rb") as file:
        code = file.read()
    if "csrc/" in path:
        code = COMMENT.sub(lambda found: found[0] if found[0][:1] in b"\"'" else b" ", code)
    return code


@cache
def words_of(path):
    return frozenset(WORD.findall(code_of(path).decode(errors="replace")))


def used_declarations(sources, headers):
    """Return the texts of those declarations of headers that sources need, in order."""
    found = set().union(*map(words_of, sources))
    left, used = [one for header in headers for one in declarations(header)], []
    while now := [one for one in left if not one[0] or one[0] & found]:
        left = [one for one in left if one not in now]
        used += now
        found = found.union(*(WORD.findall(text) for _, text in now))
    return sorted(text for _, text in used)


@cache
def declarations(header):
    """Return (names, text) of each declaration, directive and rest; without names, it always counts."""
    code = code_of(header).decode()
    found = re.findall(r"^#.*(?:\\\n.*)*", code, re.MULTILINE)
    code = re.sub(r"^#.*(?:\\\n.*)*", "", code, flags=re.MULTILINE)
    depth, start = 0, 0
    for at, character in enumerate(code):
        depth += (character == "{") - (character == "}")
        is_inline = code[start:at].lstrip().startswith("static inline")
        if depth == 0 and character == ("}" if is_inline else ";"):
            found.append(code[start : at + 1])
            start = at + 1
    texts = (" ".join(text.split()) for text in [*found, code[start:]])
    return [(names_of(text), text) for text in texts if text]


def names_of(text):
    """Return the names that a declaration declares; none if its form is unknown."""
    if number := re.match(r"#define (\w+) \S", text):
        return {number[1]}
    head, _, body = text.partition("{")
    if body and re.fullmatch(r"enum( \w+)? ", head):
        return {*head.split()[1:], *re.findall(r"(?:^|,) ?(\w+)", body)}
    if body and re.fullmatch(r"struct \w+ ", head):
        return {head.split()[1]}
    if only_named := re.fullmatch(r"struct (\w+);", text):
        return {only_named[1]}
    function = None if text.startswith("#") else re.search(r"(\w+)\(", head)
    return {function[1]} if function and function[1].startswith("rag_") else set()
