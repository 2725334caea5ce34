"""The ranking of source code the slow way: from spec/parts/pipeline.md, with regular expressions."""

import re

SUFFIXES = frozenset(
    [
        "py",
        "pyi",
        "pyx",
        "pxd",
        "pyw",
        "c",
        "h",
        "cc",
        "cpp",
        "cxx",
        "hh",
        "hpp",
        "hxx",
        "c++",
        "h++",
        "java",
        "go",
        "rs",
        "js",
        "mjs",
        "cjs",
        "jsx",
        "ts",
        "tsx",
        "mts",
        "cts",
        "sh",
        "bash",
        "zsh",
        "ksh",
        "cs",
        "ex",
        "exs",
        "hs",
        "kt",
        "kts",
        "lua",
        "php",
        "ps1",
        "psm1",
        "rb",
        "rake",
        "gemspec",
        "scala",
        "sc",
        "sql",
        "swift",
        "zig",
    ]
)
COMMON = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "how",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "no",
        "not",
        "of",
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
    ]
)
ASIDE = frozenset(
    [
        "test",
        "tests",
        "testing",
        "testdata",
        "spec",
        "specs",
        "mock",
        "mocks",
        "fixture",
        "fixtures",
        "e2e",
        "example",
        "examples",
        "sample",
        "samples",
        "demo",
        "demos",
        "bench",
        "benchmark",
        "benchmarks",
        "generated",
        "vendor",
        "third_party",
        "node_modules",
        "dist",
    ]
)
TESTS = frozenset(["test", "tests", "spec", "conftest"])
MADE = (".pb.", "_pb2.", ".min.", ".generated.", "_generated.")
BARRELS = frozenset(
    [
        "__init__.py",
        "__init__.pyi",
        "index.js",
        "index.mjs",
        "index.cjs",
        "index.ts",
        "index.tsx",
        "index.jsx",
        "mod.rs",
        "doc.go",
        "package-info.java",
    ]
)
_WORD = re.compile(r"[A-Z]+(?![a-z\x80-\xff])|[A-Z]?[a-z\x80-\xff]+|[0-9]+")


def lowered(text):
    """Lower the case of ASCII letters alone."""
    return re.sub("[A-Z]", lambda m: m[0].lower(), text)


def words(text):
    """Words of a text whose characters are bytes, at most 64."""
    return [lowered(word) for word in _WORD.findall(text)[:64]]


def asked(question):
    raw = question.encode("utf-8", "surrogatepass").decode("latin-1")
    return list(dict.fromkeys(w for w in words(raw) if len(w) > 1 and w not in COMMON))


def alike(a, b):
    shorter = min(len(a), len(b))
    same = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    return a == b or (same == shorter and same >= 3) or (same == shorter - 1 and same >= 4)


def split(doc_id):
    """The folders and the name of a path."""
    *folders, name = doc_id.decode("latin-1").split("/")
    return folders, name


def suffix(name):
    stem, dot, last = name.rpartition(".")
    return lowered(last) if dot and stem else None


def is_code(doc_id):
    return suffix(split(doc_id)[1]) in SUFFIXES


def share(question, doc_id):
    folders, name = split(doc_id)
    stem = name[:1] + name[1:].partition(".")[0]
    known = (words(stem) + words(folders[-1] if folders else ""))[:64]
    wanted = asked(question)
    found = sum(any(alike(one, word) for word in known) for one in wanted)
    return found / len(wanted) if wanted else 0.0


def without_plural(word):
    return word[:-1] if len(word) > 1 and word.endswith("s") else word


def prior(question, doc_id):
    folders, name = split(doc_id)
    wanted = {without_plural(word) for word in asked(question)}

    def is_unasked(word):
        return without_plural(word) not in wanted

    aside = [lowered(folder).strip("_") for folder in folders]
    stem = name[: name.rfind(".")] if name.rfind(".") > 0 else name
    of_name = words(stem)
    is_aside = any(one in ASIDE and is_unasked(one) for one in aside)
    is_test = any(one in TESTS and is_unasked(one) for one in of_name[:1] + of_name[-1:])
    is_made = any(mark in lowered(name) for mark in MADE)
    factor = 0.3 if is_aside or is_test or is_made else 1.0
    return factor * (0.75 if lowered(name) in BARRELS or ".d.ts" in lowered(name) else 1.0)


def ranked(question, ids, scores):
    """[(number, score)] of candidates, best first."""
    if not len(ids) or scores[0] <= 0:
        return list(enumerate(scores))
    top, sums, places = scores[0], {}, {}
    for doc_id, score in zip(ids, scores, strict=True):
        sums[doc_id] = sums.get(doc_id, 0.0) + max(score, 0.0)
    found = []
    for i, (doc_id, score) in enumerate(zip(ids, scores, strict=True)):
        place = places[doc_id] = places.get(doc_id, -1) + 1
        if is_code(doc_id):
            path = top * (1.5 * share(question, doc_id))
            file = 0.0 if place else top * (0.4 * (sums[doc_id] / max(sums.values())))
            score = (max(score, 0.0) + (path + file)) * prior(question, doc_id) * 0.5**place
        found.append((i, score))
    return sorted(found, key=lambda one: (-one[1], one[0]))
