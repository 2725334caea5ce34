"""The rules of several languages (spec/parts/bm25.md, L.9) in plain Python, from the table itself."""

import tomllib
import unicodedata
from pathlib import Path

import Stemmer

from ragfile import _core

TABLE = tomllib.loads((Path(__file__).parents[2] / "spec/languages.toml").read_text("utf-8"))
LANGUAGES = TABLE["language"]
CODES = [one["code"] for one in LANGUAGES]
STOPS = [set(one["stop"].split()) for one in LANGUAGES]
COMMON = [set((one["stop"] + " " + one["further"]).split()) for one in LANGUAGES]
DENSE = ("HAN", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "CJK")


def parts(text, **rules):
    return [word for word, is_whole in _core.words(text, **rules) if not is_whole]


def scores(words, among):
    """The score of each language by the different words of a text."""
    found = [0] * len(LANGUAGES)
    for word in {word for word in words if not (len(word) == 1 and word.isascii())}:
        listed = [n for n in among if word in COMMON[n]]
        for n in listed:
            found[n] += 12 // len(listed)
    return found


def is_dense(word):
    return any(unicodedata.name(word[0], "").startswith(script) for script in DENSE)


def of_document(text):
    raw = text.encode()
    windows = [raw]
    if len(raw) > 3072:
        windows = [raw[(len(raw) - 384) // 7 * i :][:384] for i in range(8)]
    words = [word for window in windows for word in parts(window)]
    if 2 * sum(map(is_dense, words)) > len(words):
        return 0
    found = scores(words, range(len(LANGUAGES)))
    return found.index(max(found)) if max(found) >= 24 else 0


def asked(question, among):
    """The language of a question, one of several; None if it is unsure."""
    found = scores(parts(question), among)
    first, second = sorted(found)[-1:-3:-1]
    return found.index(first) if first >= 12 and first >= 2 * second else None


def stripped(word, letters):
    def bare(letter):
        first, *marks = unicodedata.normalize("NFD", letter)
        is_latin = "a" <= first <= "z" and all("\u0300" <= mark <= "\u036f" for mark in marks)
        return first if is_latin and letter not in letters else letter

    return "".join(map(bare, word))


def term(word, number):
    """The term of a part in a language, None for a stop word."""
    one = LANGUAGES[number]
    if word in STOPS[number] and (number == 0 or not is_dense(word)):
        return None
    if number == 0 or is_dense(word):
        return Stemmer.Stemmer("english").stemWord(word)
    letters = one.get("letters", "")
    read = stripped(word, letters) if one["accents"] == "foreign" else word
    stem = Stemmer.Stemmer(one["stemmer"]).stemWord(read)
    return f"{one['code']}:{stripped(stem, letters) if one['accents'] == 'fold' else stem}"


def words_in(text, number):
    """(term, share of a question, whether it adds to the length) of a text's words in a language; None for stops."""
    rules = {"pieces": True, "clusters": True, "strip_accents": number == 0}
    for word, is_whole in _core.words(text, **rules):
        dense = is_dense(word)
        share = (85 if is_whole or len(word) == 1 else 32) / 256 if dense else 1
        yield (word if is_whole else term(word, number)), share, not is_whole
