"""Write the core's table of languages from spec/languages.toml.

python tools/languages.py            write csrc/text/language_tables.h
python tools/languages.py --check    exit with 1 if it is out of date
"""

import sys
import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "csrc/text/language_tables.h"
SLOTS = 4096
ACCENTS = {
    "strip": "RAG_ACCENTS_STRIP",
    "keep": "RAG_ACCENTS_KEEP",
    "fold": "RAG_ACCENTS_FOLD",
    "foreign": "RAG_ACCENTS_FOREIGN",
}
MADE = "Made by tools/languages.py from spec/languages.toml. Do not edit."


def languages():
    """Return the entries of spec/languages.toml in order."""
    return tomllib.loads((ROOT / "spec/languages.toml").read_text())["language"]


def common_words(table):
    """Return {word: bits of the languages that list it}, in byte order."""
    found = {}
    for number, language in enumerate(table):
        for word in (language["stop"] + " " + language["further"]).split():
            if len(word) == 1 and word.isascii():
                continue  # names and code are full of them
            found[word.encode()] = found.get(word.encode(), 0) | 1 << number
    return dict(sorted(found.items()))


def fnv(word):
    """Return the FNV-1a hash of a word, as language.c computes it."""
    found = 0x811C9DC5
    for byte in word:
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return found


def slots(words):
    """Return a table with the number of each word and one, 0 where there is none; collisions go to the next."""
    found = [0] * SLOTS
    for number, word in enumerate(words):
        at = fnv(word) % SLOTS
        while found[at]:
            at = (at + 1) % SLOTS
        found[at] = number + 1
    return found


def _string(text):
    raw = text.encode()
    return (
        '"'
        + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in raw)
        + '"'
    )


def _strings(text, indent):
    lines, line = [], ""
    for word in " ".join(text.split()).replace(" ", " \0").split("\0"):
        if len(_string(line + word)) + indent > 99:
            lines.append(line)
            line = ""
        line += word
    return "\n".join(" " * indent + _string(line) for line in [*lines, line])


def _numbers(values):
    return textwrap.fill(
        ", ".join(map(str, values)) + ",", 99, initial_indent="    ", subsequent_indent="    "
    )


def _language(one):
    words = " ".join(sorted(one["stop"].split(), key=str.encode))
    return (
        f'    {{"{one["code"]}", "{one["stemmer"]}", {_string(one.get("letters", ""))}, '
        f"{ACCENTS[one['accents']]},\n{_strings(words, 5)}}},"
    )


def _asked(one):
    """Return the words that claim nothing in a question of a language, and those that mark one."""
    words = set((one["stop"] + " " + one["further"]).split()) - set(one.get("claims", "").split())
    listed = (" ".join(sorted(some, key=str.encode)) for some in (words, one["asks"].split()))
    first, second = (_strings(text, 5) for text in listed)
    return f"    {{{first.lstrip()},\n{second}}},"


def header(table):
    """Return the text of the header."""
    words = common_words(table)
    pool, starts = b"", []
    for word in words:
        starts.append(len(pool))
        pool += bytes([len(word)]) + word
    entries = "\n".join(map(_language, table))
    asked = "\n".join(map(_asked, table))
    return f"""/* language_tables.h - the languages of `languages=1`, and their common words.
 *
 * {MADE} */
#ifndef RAG_LANGUAGE_TABLES_H
#define RAG_LANGUAGE_TABLES_H

#include "ragfile/languages.h"

/* clang-format off */
static const struct rag_language languages[] = {{
{entries}
}};

/* By number: words that claim nothing in a question, and words that mark one. */
static const struct rag_question_words question_words[] = {{
{asked}
}};

enum {{ LANGUAGES = {len(table)}, COMMON_SLOTS = {SLOTS}, COMMON_MOST = {max(map(len, words))} }};

/* The common words of all languages, each after a byte with its size. */
static const uint8_t common_words[] = {{
{_numbers(pool)}
}};

/* By number of a word: where it starts, and a bit for each language that lists it. */
static const uint16_t common_starts[] = {{
{_numbers(starts)}
}};
static const uint32_t common_languages[] = {{
{_numbers(words.values())}
}};

/* By hash: the number of a word and one, or 0. */
static const uint16_t common_slots[COMMON_SLOTS] = {{
{_numbers(slots(words))}
}};
/* clang-format on */

#endif
"""


def main():
    made = header(languages())
    if "--check" in sys.argv[1:]:
        sys.exit(TABLE.read_text() != made and f"{TABLE} is out of date: run tools/languages.py")
    TABLE.write_text(made)


if __name__ == "__main__":
    main()
