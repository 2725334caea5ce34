"""How text becomes terms, and by which numbers BM25 weighs them: chosen when a file is built,
recorded in it.

The words themselves come from the C core (analyzer `rag-words-1`). What happens here, once per
distinct word, is what depends on a language: stop words are dropped and the rest stemmed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal, Self

ANALYZER = "rag-words-1"

ENGLISH_1 = (
    "a an and are as at be but by eg for i if in into is it no not of on or such that the their then there these they "
    "this to was will with"
)

# Each list is for ever: a changed list gets a new name.
STOP_WORDS = {
    "none": frozenset(),
    "english-1": frozenset(ENGLISH_1.split()),
}


class Unstemmed:
    """The stemmer that leaves words as they are."""

    def stemWords(self, words):
        return words


def stemmer(name):
    """A Snowball stemmer by name ("english", "porter", "german", ...), or "none"."""
    if name == "none":
        return Unstemmed()
    import Stemmer

    try:
        return Stemmer.Stemmer(name, 0)
    except KeyError:
        raise ValueError(
            f"no stemmer {name!r}; there are none, {', '.join(Stemmer.algorithms())}"
        ) from None


@dataclass(frozen=True)
class Analysis:
    """The lexical choices of a file. `stop_words` names a list of STOP_WORDS or is the words
    themselves; `fields` are the parts of a row with their whole weights: a word of a field counts
    that many times.
    """

    stemmer: str = "english"
    stop_words: str | tuple[str, ...] = "english-1"
    accents: Literal["keep", "strip"] = "keep"
    fields: tuple[tuple[str, int], ...] = (("text", 1),)
    k1: float = 1.2
    b: float = 0.75

    def __post_init__(self):
        if self.accents not in ("keep", "strip"):
            raise ValueError(f"accents are kept or stripped, not {self.accents!r}")
        if isinstance(self.stop_words, str) and self.stop_words not in STOP_WORDS:
            raise ValueError(
                f"no stop word list {self.stop_words!r}; there are {', '.join(STOP_WORDS)}"
            )
        if not (0 <= self.k1 <= 1000 and 0 <= self.b <= 1):
            raise ValueError(
                f"k1 is a number from 0 to 1000 and b one from 0 to 1, not {self.k1} and {self.b}"
            )
        names = [name for name, _ in self.fields]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"fields have distinct names, and there is at least one: {names}")
        for name, weight in self.fields:
            if weight not in range(1, 256) or not name or set(name) & set("=:,\n"):
                raise ValueError(
                    f"a field has a plain name and a whole weight of 1 to 255, not {name!r}: {weight!r}"
                )
        if any("\n" in word or " " in word for word in self.stopped):
            raise ValueError("a stop word is a single word")
        stemmer(self.stemmer)

    @property
    def strip_accents(self) -> bool:
        """Whether words lose their accents."""
        return self.accents == "strip"

    @property
    def weights(self) -> tuple[int, ...]:
        """The weight of each field."""
        return tuple(weight for _, weight in self.fields)

    @property
    def metadata_fields(self) -> tuple[str, ...]:
        """The fields that are not the text: names in the metadata."""
        return tuple(name for name, _ in self.fields if name != "text")

    @property
    def stopped(self) -> frozenset[str]:
        """The stop words."""
        return (
            STOP_WORDS[self.stop_words]
            if isinstance(self.stop_words, str)
            else frozenset(self.stop_words)
        )

    def reducer(self) -> Callable[[list[str]], list[str]]:
        """A function from distinct words to their terms, "" for a stop word. Not for two threads at
        once.
        """
        stopped, stem = self.stopped, stemmer(self.stemmer).stemWords
        if not stopped:
            return stem
        return lambda words: [
            "" if word in stopped else term for word, term in zip(words, stem(words), strict=True)
        ]

    def record(self, unicode_version: str) -> str:
        """The text that a file keeps: one `key=value` a line."""
        listed = (
            self.stop_words
            if isinstance(self.stop_words, str)
            else "=" + " ".join(sorted(set(self.stop_words)))
        )
        return (
            f"analyzer={ANALYZER}\nunicode={unicode_version}\naccents={self.accents}\nstemmer={self.stemmer}\n"
            f"stop_words={listed}\nfields={','.join(f'{name}:{weight}' for name, weight in self.fields)}\n"
        )

    @classmethod
    def recorded(cls, text: str, k1: float, b: float) -> Self:
        """The choices that a file recorded; ValueError for an analyzer that this version does not
        have.
        """
        values: dict[str, Any] = dict(
            line.split("=", 1) for line in text.splitlines() if "=" in line
        )
        if values.get("analyzer") != ANALYZER:
            raise ValueError(
                f"the file needs the analyzer {values.get('analyzer')!r}; this version has {ANALYZER!r}"
            )
        listed = values.get("stop_words", "none")
        fields = tuple(field.rsplit(":", 1) for field in values.get("fields", "text:1").split(","))
        return cls(
            stemmer=values.get("stemmer", "none"),
            stop_words=tuple(listed[1:].split()) if listed.startswith("=") else listed,
            accents=values.get("accents", "keep"),
            fields=tuple((name, int(weight)) for name, weight in fields),
            k1=k1,
            b=b,
        )


@dataclass(frozen=True)
class Statistics:
    """What BM25 needs to know of the whole file: its live rows, their summed length, and in how
    many each term occurs; df is None where the queries' terms know that themselves.
    """

    rows: int
    total_length: int
    df: dict[str, int] | None = None

    @classmethod
    def over(cls, segments: Iterable[tuple[Any, Any]], queries: Any) -> Self:
        """Sums over (lexicon, live rows as bits or None) pairs for the terms of analysed
        queries.
        """
        terms = {term for terms in queries.terms() for term, _ in terms}
        sizes = [lexicon.live(where) for lexicon, where in segments]
        return cls(
            rows=sum(rows for rows, _ in sizes),
            total_length=sum(length for _, length in sizes),
            df={
                term: sum(lexicon.df(term, where) for lexicon, where in segments) for term in terms
            },
        )
