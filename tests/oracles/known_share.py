"""The share of a text that an embedded model knows, by the rule of the specification."""

import unicodedata

_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF))
_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def share(reader, text):
    """The share for a ModelReader, and a text without special pieces."""
    known = total = 0
    for word in _words(text):
        if (
            len(word) == 1
            and _is_alone(word)
            and (ord(word) < 0x3400 or 0xFE00 <= ord(word) < 0x10000)
        ):
            continue
        pieces = _pieces(reader, word) if len(word) <= 100 else []
        held = sum(_size(piece) for piece in pieces if len(piece) > 1 or piece.isascii())
        known += held * 65536 // len(pieces) if pieces else 0
        total += _size(word[:100])
    return known / (total * 65536.0) if total else 1.0


def _size(text):
    return len(text.encode())


def _words(text):
    word = ""
    for character in text:
        if character.isspace():
            word = yield from _ended(word)
        elif _is_ideograph(character):
            yield from _ended(word)
            word = yield from _ended(unicodedata.normalize("NFD", character))
        elif unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs"):
            for part in unicodedata.normalize("NFD", character):
                if unicodedata.category(part) == "Mn":
                    continue
                if _is_alone(part):
                    yield from _ended(word)
                    word = yield from _ended(part)
                else:
                    word += part.lower()
    yield from _ended(word)


def _ended(word):
    if word:
        yield word
    return ""


def _is_ideograph(character):
    return any(low <= ord(character) <= high for low, high in _IDEOGRAPHS)


def _is_alone(character):
    is_mark = character in _MARKS or unicodedata.category(character).startswith("P")
    return is_mark or _is_ideograph(character)


def _pieces(reader, word):
    """The longest pieces from the left, [] if there is a place without one."""
    found, at = [], 0
    while at < len(word):
        ends = (
            end
            for end in range(len(word), at, -1)
            if ("##" if at else "") + word[at:end] in reader.pieces
        )
        end = next(ends, None)
        if end is None:
            return []
        found.append(word[at:end])
        at = end
    return found
