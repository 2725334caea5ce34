"""Write csrc/text/unicode_tables.h from one pinned version of the Unicode Character Database.

    python tools/unicode_tables.py DIRECTORY > csrc/text/unicode_tables.h

DIRECTORY holds the database's text files (Debian: package unicode-data 15.0.0-1,
/usr/share/unicode). The tables have for each code point its role in words (class), its canonical
combining class and its fold, NFD(NFKC_Casefold); and the pairs that canonical composition joins.
"""

import sys
from pathlib import Path

VERSION = "15.0.0"
LIMIT = 0x110000
PAGE = 128
OTHER, SPACED, DENSE, MARK, IGNORED = range(5)
DENSE_SCRIPTS = {"Han", "Hiragana", "Katakana", "Hangul", "Bopomofo", "Yi", "Nushu", "Tangut"}


def fields(path):
    """Yield the data lines of a database file as (first, last, other columns)."""
    for line in path.read_text(encoding="utf-8").splitlines():
        columns = [column.strip() for column in line.split("#")[0].split(";")]
        if len(columns) > 1:
            first, _, last = columns[0].partition("..")
            yield int(first, 16), int(last or first, 16), columns[1:]


def ranges(path, wanted):
    """Return the code points whose property is in `wanted`."""
    return {
        code
        for first, last, rest in fields(path)
        if rest[0] in wanted
        for code in range(first, last + 1)
    }


class Database:
    """The data for the tables, read once."""

    def __init__(self, directory):
        self.category, self.combining, self.canonical = {}, {}, {}
        self.read_characters(directory / "UnicodeData.txt")
        derived = directory / "DerivedNormalizationProps.txt"
        self.casefold = {}
        for first, last, rest in fields(derived):
            if rest[0] == "NFKC_CF":
                for code in range(first, last + 1):
                    self.casefold[code] = [int(part, 16) for part in rest[1].split()]
        self.excluded = ranges(derived, {"Full_Composition_Exclusion"})
        self.dense = ranges(directory / "Scripts.txt", DENSE_SCRIPTS)
        self.dense |= ranges(directory / "LineBreak.txt", {"SA"})
        self.dense |= ranges(directory / "auxiliary/WordBreakProperty.txt", {"Katakana"})

    def read_characters(self, path):
        opened = None
        for code, _, rest in fields(path):
            name, category, combining, decomposition = rest[0], rest[1], int(rest[2]), rest[4]
            if name.endswith("First>"):
                opened = code
            for point in range(opened if name.endswith("Last>") else code, code + 1):
                self.category[point] = category
                self.combining[point] = combining
            if decomposition and not decomposition.startswith("<"):
                self.canonical[code] = [int(part, 16) for part in decomposition.split()]

    def decomposed(self, code):
        if code not in self.canonical:
            return [code]
        return [part for piece in self.canonical[code] for part in self.decomposed(piece)]

    def fold(self, code):
        return [
            part for piece in self.casefold.get(code, [code]) for part in self.decomposed(piece)
        ]

    def plain_class(self, code):
        """Return the class by category alone."""
        category = self.category.get(code, "Cn")
        if category[0] == "M" or 0x1160 <= code <= 0x11FF:
            return MARK
        if category[0] in "LN":
            return DENSE if code in self.dense else SPACED
        return OTHER

    def word_class(self, code):
        """Return the class; a code point belongs to words only if its whole fold does."""
        fold = self.fold(code)
        if not fold:
            return IGNORED
        if any(self.plain_class(part) == OTHER for part in fold):
            return OTHER
        return self.plain_class(code)

    def compositions(self):
        for code, parts in sorted(self.canonical.items()):
            if len(parts) == 2 and code not in self.excluded:
                yield parts[0], parts[1], code


class Tables:
    """Pages of record numbers, records, and the folds longer than one code point."""

    def __init__(self, database):
        self.records, self.pool, self.pages, self.stages = {}, [], {}, []
        for start in range(0, LIMIT, PAGE):
            page = tuple(self.record(database, code) for code in range(start, start + PAGE))
            self.stages.append(self.pages.setdefault(page, len(self.pages)))

    def record(self, database, code):
        word_class = database.word_class(code)
        fold = database.fold(code) if word_class != OTHER else [code]
        if len(fold) == 1:
            value = fold[0] - code
        else:
            value = len(self.pool)
            self.pool.extend(fold)
        key = (word_class, database.combining.get(code, 0), len(fold), value)
        return self.records.setdefault(key, len(self.records))


def braced(numbers):
    return "{" + ",".join(map(str, numbers)) + "}"


def emit(name, kind, rows, per_line):
    print(f"static const {kind} {name}[] = {{")
    cells = [str(row) for row in rows]
    for start in range(0, len(cells), per_line):
        print("    " + ", ".join(cells[start : start + per_line]) + ",")
    print("};\n")


def main():
    database = Database(Path(sys.argv[1]))
    tables = Tables(database)
    pairs = sorted(database.compositions())
    print(f"""/* unicode_tables.h - written by tools/unicode_tables.py from the Unicode Character Database
 * {VERSION}; do not edit.
 *
 * Derived from data files that are copyright (c) 1991-2022 Unicode, Inc., under the Unicode License
 * (https://www.unicode.org/license.txt, SPDX Unicode-DFS-2016). */
#define UNICODE_VERSION "{VERSION}"
#define UNICODE_PAGE {PAGE}

enum word_class {{ WORD_OTHER, WORD_SPACED, WORD_DENSE, WORD_MARK, WORD_IGNORED }};

/* What folding makes of a code point: count code points; value is the difference for one, an index
 * into the pool for more. */
struct unicode_record {{
    uint8_t word_class, combining, count;
    int32_t value;
}};

struct unicode_pair {{
    uint32_t first, second, composed;
}};

/* clang-format off */""")
    emit("unicode_stages", "uint16_t", tables.stages, 24)
    emit("unicode_pages", "uint16_t", [cell for page in tables.pages for cell in page], 24)
    emit("unicode_records", "struct unicode_record", [braced(key) for key in tables.records], 7)
    emit("unicode_pool", "uint32_t", tables.pool, 16)
    emit("unicode_pairs", "struct unicode_pair", [braced(pair) for pair in pairs], 6)
    print("/* clang-format on */")


main()
