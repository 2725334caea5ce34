"""How text becomes terms, and by which numbers BM25 weighs them: chosen when a file is built,
recorded in it.

The words themselves come from the C core (analyzer `rag-words-2`, or `rag-words-1` without pieces). What happens here, once per
distinct word, is what depends on a language: stop words are dropped and the rest stemmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

ANALYZERS = {False: "rag-words-1", True: "rag-words-2"}  # by whether there are pieces

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
        known = Stemmer.algorithms()
        if name in known:  # what it says when it has no memory
            raise MemoryError from None
        raise ValueError(f"no stemmer {name!r}; there are none, {', '.join(known)}") from None


@dataclass(frozen=True)
class Analysis:
    """The lexical choices of a file. `stop_words` names a list of STOP_WORDS or is the words
    themselves; `pieces` says whether getPodStatus is found by its pieces, too; `fields` are the parts of a row with their whole weights: a word of a field counts
    that many times.
    """

    stemmer: str = "english"
    stop_words: str | tuple[str, ...] = "english-1"
    accents: Literal["keep", "strip"] = "keep"
    fields: tuple[tuple[str, int], ...] = (("text", 1),)
    k1: float = 1.2
    b: float = 0.75
    pieces: bool = True

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
    def rest(self) -> int:
        """The number of the field without lists of its own: the text, or else the first one."""
        names = [name for name, _ in self.fields]
        return names.index("text") if "text" in names else 0

    @property
    def own_fields(self) -> tuple[int, ...]:
        """The numbers of the fields that have lists of their own beside those of the whole row."""
        return tuple(i for i in range(len(self.fields)) if i != self.rest)

    def of_field(self, number: int) -> Analysis:
        """How the lists of one field are made: with the weight 1."""
        return replace(self, fields=((self.fields[number][0], 1),))

    @property
    def built_weights(self) -> tuple[int, ...]:
        """The weights of the build: the rest's, then those of the fields with lists of their own."""
        return tuple(self.fields[i][1] for i in (self.rest, *self.own_fields))

    def weights_for(self, chosen: Mapping[str, int]) -> tuple[int, ...] | None:
        """The same with a question's own weights by name, or None where these are no others."""
        known, chosen = dict(self.fields), checked_weights(chosen)
        for name in chosen:
            if name not in known:
                raise ValueError(f"the file has no field {name!r}: it has {', '.join(known)}")
        known |= chosen
        if not any(known.values()):
            raise ValueError("fields= gives every field the weight 0: nothing is left to search")
        found = tuple(known[self.fields[i][0]] for i in (self.rest, *self.own_fields))
        return None if found == self.built_weights else found

    def reweighed(self, total: int, own: Sequence[int], weights: Sequence[int]) -> int:
        """A total by other weights, given the totals of the fields that have numbers of their own."""
        built = self.built_weights
        rest = total - sum(w * n for w, n in zip(built[1:], own, strict=True))
        more = sum(w * n for w, n in zip(weights[1:], own, strict=True))
        return weights[0] * (max(rest, 0) // built[0]) + more

    def by_name(self, total: int, own: Sequence[int]) -> dict[str, int]:
        """What each field gives to a weighed number, before weights."""
        names = [self.fields[i][0] for i in (self.rest, *self.own_fields)]
        ones = (1, *[0] * len(own))
        found = dict(zip(names, [self.reweighed(total, own, ones), *own], strict=True))
        return {name: found[name] for name, _ in self.fields}

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
            f"analyzer={ANALYZERS[self.pieces]}\nunicode={unicode_version}\naccents={self.accents}\nstemmer={self.stemmer}\n"
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
        if values.get("analyzer") not in ANALYZERS.values():
            raise ValueError(
                f"the file needs the analyzer {values.get('analyzer')!r}; "
                f"this version has {' and '.join(map(repr, ANALYZERS.values()))}"
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
            pieces=values["analyzer"] == ANALYZERS[True],
        )


def checked_weights(fields: Mapping[str, int]) -> dict[str, int]:
    """Weights of fields by name as a dict. Whether there are such fields, a file says."""
    if not isinstance(fields, Mapping):
        raise TypeError(f"fields are weights by name, such as {{'headers': 3}}, not {fields!r:.80}")
    for name, weight in fields.items():
        is_whole = hasattr(weight, "__index__") and not isinstance(weight, bool)
        if not isinstance(name, str) or not is_whole or not 0 <= weight <= 255:
            raise ValueError(
                f"the weight of a field is a whole number from 0 to 255, not {name!r}: {weight!r:.80}"
            )
    return {name: int(weight) for name, weight in fields.items()}


@dataclass(frozen=True)
class Statistics:
    """What BM25 needs to know of the whole file: its live rows, their summed length, and in how
    many each term occurs; df is None where the queries' terms know that themselves.
    """

    rows: int
    total_length: int
    df: dict[str, int] | None = None

    @classmethod
    def weighed(cls, queries: Any) -> Self:
        """Those by the weights of fields that analysed queries bring."""
        both = zip(queries.terms(), queries.frequencies(), strict=True)
        df = {
            term: rows
            for terms, counts in both
            for (term, _), rows in zip(terms, counts, strict=True)
        }
        rows, length = queries.sizes
        return cls(rows, length, df)

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
