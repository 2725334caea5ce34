"""Derive the expected values of this folder from part 6 of the specification alone. Slow.

    python derive.py      write the .json files beside it, except search.json

Chunks are cut character by character, fusion is computed in fractions that are rounded to binary64
after each operation, and the results of filters and of the normalisation were derived by hand.
"""

import hashlib
import json
import math
import pathlib
import struct
from fractions import Fraction

HERE = pathlib.Path(__file__).parent
VERSION = "1.0"  # of part 6; files that are pinned for a version do not change
BLANK = " \t\n"


def word_starts(text):
    """(start, end) of each word, one character at a time."""

    def alone(c):
        ranges = (
            (0xE01, 0xE4E),
            (0x3041, 0x30FF),
            (0x3400, 0x4DBF),
            (0x4E00, 0x9FFF),
            (0xF900, 0xFAFF),
            (0x20000, 0x3FFFD),
        )
        return any(low <= ord(c) <= high for low, high in ranges)

    words, at = [], 0
    while at < len(text):
        end = at + 1
        if text[at] not in BLANK:
            if not alone(text[at]):
                while (
                    end < len(text)
                    and end - at < 64
                    and text[end] not in BLANK
                    and not alone(text[end])
                ):
                    end += 1
            words.append((at, end))
        at = end
    return words


def characters(text, size, overlap):
    spans, i = [], 0
    while text.strip(BLANK) and (not spans or spans[-1][1] < len(text)):
        start = i * (size - overlap)
        spans.append((start, min(start + size, len(text))))
        i += 1
    return [(a, b, "") for a, b in spans]


def words(text, size, overlap):
    found, spans, i = word_starts(text), [], 0
    while found and (not spans or spans[-1][1] < found[-1][1]):
        group = found[i * (size - overlap) :][:size]
        spans.append((group[0][0], group[-1][1]))
        i += 1
    return [(a, b, "") for a, b in spans]


def windows(text, start, end, size, overlap):
    while end > start and text[end - 1] in BLANK:
        end -= 1
    spans, shown = [], start
    s = next((i for i in range(start, end) if text[i] not in BLANK), end)
    while s < end:
        e = end if end - s <= size else window_end(text, s, size)
        visible = e
        while visible > s + 1 and text[visible - 1] in BLANK:
            visible -= 1
        if visible > shown:
            spans.append((s, visible))
            shown = visible
        if e == end:
            break
        s = window_start(text, s, e, overlap)
    return spans


def window_end(text, s, size):
    limit, middle = s + size, s + (size + 1) // 2
    for mark in ("\n\n", "\n", ". ", "。", " "):
        places = [
            i for i in range(middle, limit - len(mark) + 1) if text[i : i + len(mark)] == mark
        ]
        if places:
            return places[-1] + len(mark)
    return limit


def window_start(text, s, e, overlap):
    r = max(e - overlap, s + 1)
    from_ = min(r, e)
    if r < e:
        for mark in "\n ":
            places = [i for i in range(r - 1, e - 1) if text[i] == mark]
            if places:
                from_ = places[0]
                break
    while text[from_] in BLANK:
        from_ += 1
    return from_


def unclosed(title):
    """A title without its closing #."""
    bare = title.rstrip("#")
    return bare.strip(BLANK) if not bare or bare[-1] in BLANK else title


def outline(text):
    """Line by line: (start, level, title) of the text before the first header and of each header."""
    lines, at, fence, front, found, before = (
        text.split("\n"),
        0,
        "",
        text.startswith("---\n"),
        [],
        None,
    )
    title = ""
    for number, line in enumerate(lines):
        bare = line.lstrip(" ")
        if front:
            if line.startswith("title: "):
                title = line[7:].strip("'\" ")
            front = number == 0 or line.strip(BLANK) != "---"
        elif fence:
            closing = bare.rstrip(BLANK)
            if len(closing) >= len(fence) and not closing.strip(fence[0]):
                fence = ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
        elif (
            bare.startswith("#")
            and (marks := len(bare) - len(bare.lstrip("#"))) <= 6
            and bare[marks : marks + 1] in ("", " ")
        ):
            found.append((at, marks, unclosed(bare[marks:].strip(BLANK))))
        elif before and len(line) >= 2 and (not line.strip("=") or not line.strip("-")):
            found.append((at - len(before) - 1, 1 if line[0] == "=" else 2, before))
        before = (
            bare if bare and bare[0] not in "-*+>|#<`~=: " and not fence and not front else None
        )
        at += len(line) + 1
    return [(0, 0, title), *found]


def sections(text):
    """(start, stop, numbers of the headers above it from the outermost, and its own) of each section."""
    starts = outline(text)
    for i, (start, level, _) in enumerate(starts):
        stop = starts[i + 1][0] if i + 1 < len(starts) else len(text)
        above, depth = [], 7
        for number in range(i, -1, -1):
            if starts[number][1] < depth:
                above, depth = [number, *above], starts[number][1]
        body = text[start:stop].split("\n", 1)[1:] if level else [text[start:stop]]
        empty = not "".join(body).strip(BLANK)
        if level and empty and i + 1 < len(starts) and starts[i + 1][1] > level:
            continue
        yield start, stop, above


def path_of(text, numbers):
    names = [outline(text)[n][2] for n in numbers]
    return " > ".join(name for name in names if name)


def markdown(text, size, overlap):
    return [
        (a, b, path_of(text, above))
        for start, stop, above in sections(text)
        for a, b in windows(text, start, stop, size, overlap)
    ]


def markdown_3(text, size, overlap):
    """Version 3: small sections under one header joined, fences and tables whole."""
    groups = []
    for start, stop, above in sections(text):
        kept = text[start:stop].strip(BLANK)
        if not kept:
            continue
        start += text[start:stop].index(kept)
        section = (start, start + len(kept), above)
        if groups and joins(groups[-1], section, size):
            groups[-1].append(section)
        else:
            groups.append([section])
    chunks = []
    for group in groups:
        start, stop = group[0][0], group[-1][1]
        path = path_of(text, above_all(group) if len(group) > 1 else group[0][2])
        spans = windows_3(text, start, stop, size, overlap)
        chunks += [(a, b, path) for a, b in spans]
    return chunks


def joins(group, section, size):
    if any(b - a >= size // 5 for a, b, _ in [*group, section]):
        return False
    if section[1] - group[0][0] > size:
        return False
    if len(group) > 1:
        return section[2][:-1] == above_all(group)
    first = group[0][2]
    if first == [0]:  # the text before all headers is a sibling of the outermost ones
        return len(section[2]) == 2
    return section[2][:-1] in (first[:-1], first)


def above_all(group):
    """The headers above all sections of a group: those above its last one."""
    return group[-1][2][:-1]


def blocks(text, start, stop, size):
    """Spans of fences and tables that fit in a window, line by line."""
    found, at, fence, rows = [], start, None, []

    def close_table():
        if len(rows) > 1:
            found.append((rows[0][0], rows[-1][1]))
        rows.clear()

    for line in text[start:stop].split("\n"):
        end, bare = at + len(line), line.lstrip(" \t")
        mark = bare[:1]
        marks = len(bare) - len(bare.lstrip(mark)) if mark and mark in "`~" else 0
        if fence:
            if mark == fence[1] and marks >= fence[2] and not bare[marks:].strip(" \t"):
                found.append((fence[0], end))
                fence = None
        elif not rows and marks >= 3 and (mark == "~" or "`" not in bare[marks:]):
            fence = (at, mark, marks)
        elif "|" in line:
            rows.append((at, end))
        else:
            close_table()
            if marks >= 3 and (mark == "~" or "`" not in bare[marks:]):
                fence = (at, mark, marks)
        at = end + 1
    close_table()
    if fence:
        found.append((fence[0], stop))
    return [(a, b) for a, b in found if b - a <= size]


def windows_3(text, start, end, size, overlap):
    spans, shown, s, whole = [], start, start, blocks(text, start, end, size)
    if end - start <= size:
        whole = []
    while s < end:
        e = end if end - s <= size else window_end_3(text, s, size, whole)
        visible = e
        while visible > s + 1 and text[visible - 1] in BLANK:
            visible -= 1
        if visible > shown:
            spans.append((s, visible))
            shown = visible
        if e == end:
            break
        s = window_start(text, s, e, overlap)
        for first, last in whole:
            if first < s < last <= e:
                s = last
        while s < end and text[s] in BLANK:
            s += 1
    return spans


def window_end_3(text, s, size, whole):
    limit, middle = s + size, s + (size + 1) // 2
    cut = [(a, b) for a, b in whole if a < limit < b]
    if cut and cut[0][0] - s >= size // 5:
        return cut[0][0]
    kept = [block for block in whole if block not in cut]
    for mark in ("\n\n", "\n", ". ", "。", " "):
        places = [
            i + len(mark)
            for i in range(middle, limit - len(mark) + 1)
            if text[i : i + len(mark)] == mark and not any(a < i + len(mark) < b for a, b in kept)
        ]
        if places:
            return places[-1]
    return limit


PROSE = (
    "One two three. Four five six seven. Eight!\n\nNine ten. 日本語のテキスト。 "
    + "x" * 70
    + " end of it\n"
)
GUIDE = """---
title: "Guide"
---
Before.

# Install
## Linux
```sh
# no header
```
Run it. Then run it again, and again, and once more. It works. It is done now.

Windows
-------
Run it.
# Use #
"""
# Sentences by hand: "Mr. X" and "e.g. so" do not end one, "?" and the list items do.
TALK = "Mr. X came. Why? He said e.g. so.\n- one item\n- two items\n\nLast one here"


def chunks():
    cases = []
    for name, cut, text, sizes in (
        ("characters", characters, PROSE, [(50, 10), (60, 0), (1000, 200)]),
        ("words", words, PROSE, [(5, 2), (3, 0), (200, 40)]),
        ("markdown", markdown, GUIDE, [(50, 10), (60, 20), (1000, 200)]),
    ):
        for size, overlap in sizes:
            cases.append(case(name, size, overlap, text, cut(text, size, overlap)))
    ends = {
        "Mr. X came.": 0,
        "Why?": 12,
        "He said e.g. so.": 17,
        "- one item": 34,
        "- two items": 45,
        "Last one here": 58,
    }
    spans = [(a, a + len(s)) for s, a in ends.items()]
    assert all(TALK[a:b] == s for (a, b), s in zip(spans, ends, strict=True))
    # size 50: sentences 1–4 end at 44, the fifth would end at 56; overlap 20 takes back the fourth (10 long) but
    # not the third (44 − 17 = 27); the second chunk then reaches from 34 to the end, 71.
    cases.append(case("sentences", 50, 20, TALK, [(0, 44, ""), (34, 71, "")]))
    # overlap 0: no sentence is repeated.
    cases.append(case("sentences", 50, 0, TALK, [(0, 44, ""), (45, 71, "")]))
    return cases


MANUAL = """# Manual
Short.
## Start
Press the button.
## Stop
Press it again.

| key | meaning |
|---|---|
| a | the first letter of all |
| b | another |

## Run
It runs, and here is how one can see that it does run, with a long sentence before the code:

  ```sh
  run | see

  # no header
  ```
Then more words follow below it. And more of them.
### Deep
One.
### Deeper
Two.
"""


def sections_3():
    """Cases of version 3."""
    cases = []
    for size, overlap in ((60, 15), (100, 20), (140, 30), (300, 60)):
        cases.append(case("markdown", size, overlap, MANUAL, markdown_3(MANUAL, size, overlap), 3))
    for size, overlap in ((50, 10), (1000, 200)):
        cases.append(case("markdown", size, overlap, GUIDE, markdown_3(GUIDE, size, overlap), 3))
    return [*cases, *source_code()]


def source_code():
    """Segments with a symbol: their path is given, and "#" begins no header. By hand."""
    text = "import os\n\n# note\ndef f():\n    return os\n"
    segments = [
        {"start": 0, "end": 9, "metadata": {}},
        {"start": 11, "end": 41, "metadata": {"symbol": "C > f", "line": 3}},
    ]
    assert text[:9] == "import os"
    assert text[11:41] == "# note\ndef f():\n    return os\n"
    spans = [(0, 9, "cli main"), (11, 40, "cli main > C > f")]
    made = case("markdown", 1000, 200, text, spans, 3)
    document = {"id": "src/cli_main.py", "metadata": {"path": "src/cli_main.py"}}
    return [made | {"document": {**document, "segments": segments}}]


def case(kind, size, overlap, text, spans, version=None):
    policy = {"kind": kind, "size": size, "overlap": overlap}
    return {
        "policy": policy if version is None else {**policy, "version": version},
        "text": text,
        "chunks": [{"start": a, "end": b, "headers": h, "content": text[a:b]} for a, b, h in spans],
    }


def fusion():
    """Fractions of binary64 inputs; converting one to float rounds it once, as binary64 does."""
    vector = [("a", 0, 0.9), ("b", 0, 0.5), ("b", 1, 0.25), ("c", 0, 0.1)]
    lexical = [("b", 1, 12.0), ("c", 0, 7.0), ("d", 0, 4.0)]
    keys = sorted({(d, i) for d, i, _ in vector + lexical})

    def rrf(k):
        total = dict.fromkeys(keys, 0.0)
        for leg in (vector, lexical):
            for rank, (d, i, _) in enumerate(leg, 1):
                total[d, i] = plus(total[d, i], float(Fraction(1, k + rank)))
        return total

    def blend(alpha):
        total = dict.fromkeys(keys, 0.0)
        for leg, weight in ((vector, alpha), (lexical, 1 - alpha)):
            low, high = min(s for *_, s in leg), max(s for *_, s in leg)
            for d, i, s in leg:
                unit = over(minus(s, low), minus(high, low))
                total[d, i] = plus(total[d, i], times(weight, unit))
        return total

    def calibrated(mean, deviation, w):
        dense = {("a", 0): 0.9, ("b", 0): 0.5, ("b", 1): 0.25, ("c", 0): 0.1, ("d", 0): 0.05}
        bm25 = dict.fromkeys(keys, 0.0) | {(d, i): s for d, i, s in lexical}
        best = max(bm25.values())
        return {
            k: plus(over(bm25[k], best), over(over(minus(dense[k], mean), deviation), w))
            for k in keys
        }

    whole = [*vector, ("d", 0, 0.05)]
    return [
        ranked("rrf", {}, [vector, lexical], rrf(60)),
        ranked("rrf", {"rrf_k": 1}, [vector, lexical], rrf(1)),
        ranked("blend", {"alpha": 0.5}, [vector, lexical], blend(0.5)),
        ranked("blend", {"alpha": 0.75}, [vector, lexical], blend(0.75)),
        ranked(
            "calibrated",
            {"mean": 0.125, "deviation": 0.25, "w": 6},
            [whole, lexical],
            calibrated(0.125, 0.25, 6),
        ),
    ]


def plus(a, b):
    return float(Fraction(a) + Fraction(b))


def minus(a, b):
    return float(Fraction(a) - Fraction(b))


def times(a, b):
    return float(Fraction(a) * Fraction(b))


def over(a, b):
    return float(Fraction(a) / Fraction(b))


def ranked(method, params, sets, scores):
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return {
        "method": method,
        "params": params,
        "sets": [[{"doc_id": d, "chunk_index": i, "score": s} for d, i, s in leg] for leg in sets],
        "fused": [{"doc_id": d, "chunk_index": i, "score": s} for (d, i), s in order],
    }


def filters():
    """Rows and, for each filter, the numbers of those that pass: by hand."""
    rows = [
        {"v": 1, "lang": "en", "a": {"b": 1}},
        {"v": "1", "lang": "de"},
        {"v": True, "a.b": 1},
        {"v": 1.0, "lang": "en", "a": {"b": "1"}},
        {"v": None},
        {},
        {"v": [1, "x", [2]]},
        {"v": {"n": [1]}},
        {"v": 9007199254740993},
        {"v": "zürich 10"},
    ]
    cases = [
        ({}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ({"v": 1}, [0, 3]),
        ({"v": {"$eq": "1"}}, [1]),
        ({"v": True}, [2]),
        ({"v": None}, [4]),
        ({"v": {"$exists": False}}, [5]),
        ({"v": {"$exists": True}}, [0, 1, 2, 3, 4, 6, 7, 8, 9]),
        ({"v": {"$ne": 1}}, [1, 2, 4, 5, 6, 7, 8, 9]),
        ({"v": {"$in": [1, None, [1, "x", [2.0]]]}}, [0, 3, 4, 6]),
        ({"v": {"$nin": [1, None]}}, [1, 2, 5, 6, 7, 8, 9]),
        ({"v": {"$gt": 1}}, [8]),
        ({"v": {"$gt": 9007199254740992}}, [8]),
        ({"v": {"$gte": 1, "$lt": 2}}, [0, 3]),
        ({"v": {"$gte": ""}}, [1, 9]),
        ({"v": {"$lt": "z"}}, [1]),
        ({"v": {"$contains": "x"}}, [6]),
        ({"v": {"$contains": "ü"}}, [9]),
        ({"v": {"$contains": [2]}}, [6]),
        ({"v": {"$any": [5, 1.0]}}, [6]),
        ({"v": {"$all": ["x", 1]}}, [6]),
        ({"v": {"$all": []}}, [6]),
        ({"v": {"$any": []}}, []),
        ({"v": {"n": [1]}}, [7]),
        ({"v.n": [1]}, [7]),
        ({"a.b": 1}, [0, 2]),
        ({"a": {"b": 1}}, [0]),
        ({"v": {"$not": {"$gte": 0}}}, [1, 2, 4, 5, 6, 7, 9]),
        ({"$not": {"lang": "en"}}, [1, 2, 4, 5, 6, 7, 8, 9]),
        ({"$or": [{"v": "1"}, {"$and": [{"v": 1}, {"a.b": "1"}]}]}, [1, 3]),
        ({"lang": "en", "v": 1, "a.b": {"$exists": True}}, [0, 3]),
    ]
    refused = [
        {"v": {"$regex": "x"}},
        {"$nor": [{}]},
        {"$and": []},
        {"v": {"$gt": None}},
        {"v": {"$in": 1}},
        {"v": {"$gt": 1, "n": 2}},
    ]
    tags = [[], ["a"], ["b"], ["a", "b"], ["a", "b", "c"]]
    by_tags = [
        ({"tags_any": ["a"]}, [1, 3, 4]),
        ({"tags_any": ["c", "b"]}, [2, 3, 4]),
        ({"tags_any": []}, [0, 1, 2, 3, 4]),
        ({"tags_all": ["a", "b"]}, [3, 4]),
        ({"tags_all": []}, [0, 1, 2, 3, 4]),
        ({"tags_all": ["x"]}, []),
    ]
    return {
        "rows": rows,
        "filters": [{"where": w, "rows": r} for w, r in cases],
        "refused": refused,
        "tags": tags,
        "tag_filters": [{**f, "rows": r} for f, r in by_tags],
    }


def normalization():
    """Raw text, normalised text, and [start, end, raw start, raw end] of some spans: by hand."""
    return [
        {"raw": "plain\ttext\n", "text": "plain\ttext\n", "spans": [[0, 5, 0, 5]]},
        {
            "raw": "a\r\nb\rc\x0bd\u2028e",
            "text": "a\nb\nc\nd\ne",
            "spans": [[1, 2, 1, 3], [2, 3, 3, 4], [8, 9, 9, 10]],
        },
        {"raw": "a\u00a0\u3000b", "text": "a  b", "spans": [[1, 2, 1, 2], [2, 4, 2, 4]]},
        {
            "raw": "\ufeffzero\u200bwidth so\u00adft\u0000",
            "text": "zerowidth soft",
            "spans": [[0, 4, 1, 5], [4, 9, 6, 11], [12, 14, 15, 17]],
        },
        {
            "raw": "\U0001f468\u200d\U0001f469",
            "text": "\U0001f468\u200d\U0001f469",
            "spans": [[0, 3, 0, 3]],
        },
        {
            "raw": "cafe\u0301 \u212b",
            "text": "caf\u00e9 \u00c5",
            "spans": [[3, 4, 3, 5], [5, 6, 6, 7]],
        },
        {"raw": "e\u200b\u0301", "text": "\u00e9", "spans": [[0, 1, 0, 3]]},
        {"raw": "\u1112\u1161\u11ab", "text": "\ud55c", "spans": [[0, 1, 0, 3]]},
        {
            "raw": "end \t\n\n \n\t\n\nb ",
            "text": "end\n\n\nb",
            "spans": [[0, 3, 0, 3], [6, 7, 12, 13]],
        },
        {"raw": "\ufb01", "text": "\ufb01", "spans": []},
    ]


def context():
    """Vectors of texts and paths, the weight, and the vector of the chunk: one binary64 operation after the other."""

    def f32(x):
        return struct.unpack("<f", struct.pack("<f", x))[0]

    def of_chunk(text, path, weight):
        total = [t + weight * p for t, p in zip(text, path, strict=True)]
        lanes = [0.0] * 16
        for j, s in enumerate(total):
            lanes[j % 16] += s * s
        for apart in (8, 4, 2, 1):
            for j in range(apart):
                lanes[j] += lanes[j + apart]
        length = math.sqrt(lanes[0])
        return [f32(s / length) for s in total] if any(path) and length else list(text)

    def unit(seed, dims):
        raw = [((seed * 7919 + j * 104729) % 2003 - 1001) / 1001 for j in range(dims)]
        length = math.sqrt(sum(x * x for x in raw))
        return [f32(x / length) for x in raw]

    cases = []
    for dims, weight in ((3, 1.0), (16, 1.0), (40, 0.5), (64, 1.0), (64, 0.1)):
        cases.append((unit(dims, dims), unit(dims + 1, dims), weight))
    zero, one = [0.0] * 3, [1.0, 0.0, 0.0]
    cases += [(one, zero, 1.0), (zero, one, 1.0), (one, [-1.0, 0.0, 0.0], 1.0), (zero, zero, 1.0)]
    return [{"text": t, "path": p, "weight": w, "vector": of_chunk(t, p, w)} for t, p, w in cases]


def paths():
    """A document and the path of its only chunk in version 2, by hand."""

    def case(kind, text, path, **document):
        return {"kind": kind, "document": {"id": "d", "text": text, **document}, "headers": path}

    def file(name):
        return {"id": name, "metadata": {"path": name}}

    return [
        case("markdown", "plain words", ""),
        case("markdown", "plain words", "A title", metadata={"title": " A  title "}),
        case("markdown", "plain words", "", metadata={"title": "  "}),
        case("markdown", "plain words", "", metadata={"title": 7}),
        case("words", "plain words", "A title", metadata={"title": "A title"}),
        case("characters", "# Header", "T", metadata={"title": "T"}),
        case("markdown", "# Header\nwords", "T > Header", metadata={"title": "T"}),
        case("markdown", "# T\nwords", "T", metadata={"title": "T"}),
        case("markdown", "# Tea\nwords", "T > Tea", metadata={"title": "T"}),
        case("markdown", "# T\n## U\nwords", "T > U", metadata={"title": "T"}),
        case("markdown", "plain words", "drain a node", **file("tasks/drain-a_node.md")),
        case("sentences", "plain words", "v1 2", **file("v1.2.txt")),
        case("markdown", "plain words", "tasks", **file("docs/tasks/_index.md")),
        case("markdown", "plain words", "README", **file("README.md")),
        case("markdown", "plain words", "hidden", **file(".hidden")),
        case("markdown", "# Header\nwords", "Header", **file("drain.md")),
        case("markdown", "plain words", "", id="12", metadata={"path": "lines.jsonl"}),
    ]


def write(name, text):
    """Write a file and its hash to SHA256SUMS; refuse to change a pinned one."""
    sums, header = HERE / "SHA256SUMS", f"# part 6, version {VERSION}"
    lines = sums.read_text().splitlines() if sums.exists() else []
    pinned = dict(reversed(line.split("  ")) for line in lines[1:]) if lines[:1] == [header] else {}
    digest = hashlib.sha256(text.encode()).hexdigest()
    if pinned.setdefault(name, digest) != digest:
        raise SystemExit(f"{name} would change, and the version of part 6 did not")
    (HERE / name).write_text(text, encoding="utf-8")
    sums.write_text(
        "\n".join([header, *(f"{pinned[name]}  {name}" for name in sorted(pinned))]) + "\n"
    )


def main():
    for make in (chunks, context, fusion, filters, normalization, paths, sections_3):
        write(
            f"{make.__name__}.json",
            json.dumps(make(), indent=1, ensure_ascii=True, sort_keys=True) + "\n",
        )


if __name__ == "__main__":
    main()
