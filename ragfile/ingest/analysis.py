"""Analysis: how text becomes terms, and the parameters of BM25.

The choices are made when a file is built, and recorded in it.

The C core splits text into words (analyzer `rag-words-3`; files of earlier versions have
`rag-words-2`, or `rag-words-1` without pieces), and finds the language of each document. The steps
that depend on a language run here, once per distinct word: stop words are dropped, the rest are
stemmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, Self, cast

from ragfile.ingest.languages import TABLES, Language, by_code, languages

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragfile._core import Lexicon, Queries

# By whether there are pieces, and clusters.
ANALYZERS = {
    (False, False): "rag-words-1",
    (True, False): "rag-words-2",
    (True, True): "rag-words-3",
}

ENGLISH_1 = (
    "a an and are as at be but by eg for i if in into is it no not of on or such that the their then there these they "
    "this to was will with"
)

# Files name these lists, so a list never changes: a changed one gets a new name.
STOP_WORDS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "english-1": frozenset(ENGLISH_1.split()),
}


PAGE_FIELDS = (("text", 1), ("headers", 6))


class WordStemmer(Protocol):
    """A stemmer, named as in PyStemmer."""

    def stemWord(self, word: str, /) -> str: ...
    def stemWords(self, words: list[str], /) -> list[str]: ...


class _Snowball(Protocol):
    """The module of PyStemmer."""

    def Stemmer(self, algorithm: str, cache_size: int, /) -> WordStemmer: ...
    def algorithms(self) -> list[str]: ...


class Unstemmed:
    """The stemmer that leaves words unchanged."""

    def stemWord(self, word: str) -> str:
        return word

    def stemWords(self, words: list[str]) -> list[str]:
        return words


def stemmer(name: str) -> WordStemmer:
    """Return a Snowball stemmer by name ("english", "porter", "german", ...), or "none".

    Raises:
        ValueError: There is no stemmer of that name.
    """
    if name == "none":
        return Unstemmed()
    snowball = cast("_Snowball", import_module("Stemmer"))  # on use: a search may not need it
    try:
        return snowball.Stemmer(name, 0)
    except KeyError:
        known = snowball.algorithms()
        if name in known:  # PyStemmer raises KeyError when it runs out of memory, too
            raise MemoryError from None
        raise ValueError(f"no stemmer {name!r}; there are none, {', '.join(known)}") from None


@dataclass(frozen=True)
class Analysis:
    """The lexical choices of a file: how words become terms, and the parameters of BM25.

    Args:
        stemmer: The name of a Snowball stemmer, or "none". Default: "english".
        stop_words: The name of a list in STOP_WORDS ("english-1", "none"), or the words themselves.
        accents: "keep" them, or "strip" them from words and questions. Default: "strip" with languages,
            otherwise "keep".
        languages: Whether the words of each document follow the rules of its language, and the choices
            above are for documents in English and in languages without rules. Default: if stemmer,
            stop_words and accents have their defaults.
        fields: The parts of a row that are indexed, with whole weights from 1 to 255: a word of a field
            counts that many times. "text" is the chunk's text; other names are metadata.
        k1: How soon repetitions of a term stop adding to the score, 0 to 1000. Default: 1.2.
        b: How much long rows are penalised, 0 to 1. Default: 0.75.
        pieces: Whether the parts of identifiers are indexed, too: "pod" finds getPodStatus.
        clusters: Whether Chinese, Japanese, Korean and Thai are indexed by single characters, too,
            beside pairs of them; not without pieces. Default: as pieces.
        positions: Whether the index has the place of each word in the text, which phrases are found
            by; without them, phrases are looked for in the texts.

    Raises:
        ValueError: A choice is unknown or out of range.
    """

    stemmer: str = "english"
    stop_words: str | tuple[str, ...] = "english-1"
    accents: Literal["keep", "strip"] | None = None  # never None after __post_init__
    fields: tuple[tuple[str, int], ...] = (("text", 1),)
    k1: float = 1.2
    b: float = 0.75
    pieces: bool = True
    positions: bool = field(default=True, compare=False)  # they change no answer
    languages: bool | None = None  # never None after __post_init__
    clusters: bool | None = None

    def __post_init__(self) -> None:
        self._decide()
        if self.accents not in ("keep", "strip"):
            raise ValueError(f"accents is 'keep' or 'strip', not {self.accents!r}")
        if isinstance(self.stop_words, str) and self.stop_words not in STOP_WORDS:
            raise ValueError(
                f"no stop word list {self.stop_words!r}; there are {', '.join(STOP_WORDS)}"
            )
        if not (0 <= self.k1 <= 1000 and 0 <= self.b <= 1):
            raise ValueError(f"k1 is from 0 to 1000 and b from 0 to 1, not {self.k1} and {self.b}")
        if self.clusters and not self.pieces:
            raise ValueError("clusters need pieces")
        names = [name for name, _ in self.fields]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"fields needs one or more different names, not {names}")
        for name, weight in self.fields:
            if weight not in range(1, 256) or not name or set(name) & set("=:,\n"):
                raise ValueError(
                    f"a field needs a name without '=', ':' and ',', and a whole weight from 1 to 255, "
                    f"not {name!r}: {weight!r}"
                )
        if any("\n" in word or " " in word for word in self.stopped):
            raise ValueError("a stop word cannot have a space or line end in it")
        stemmer(self.stemmer)

    def _decide(self) -> None:
        """Replace defaults that depend on other choices."""
        is_default = (self.stemmer, self.stop_words, self.accents) == ("english", "english-1", None)
        languages = is_default if self.languages is None else self.languages
        object.__setattr__(self, "languages", languages)
        if self.accents is None:
            object.__setattr__(self, "accents", "strip" if languages else "keep")
        if self.clusters is None:
            object.__setattr__(self, "clusters", self.pieces)

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
        """The fields other than the text, as names in the metadata."""
        return tuple(name for name, _ in self.fields if name != "text")

    @property
    def rest(self) -> int:
        """The number of the field without lists of its own: the text, or else the first field."""
        names = [name for name, _ in self.fields]
        return names.index("text") if "text" in names else 0

    @property
    def placed_field(self) -> int:
        """The number of the field whose words have positions, the text; -1 for none."""
        names = [name for name, _ in self.fields]
        return names.index("text") if self.positions and "text" in names else -1

    @property
    def own_fields(self) -> tuple[int, ...]:
        """The numbers of the fields that have their own lists beside those of the whole row."""
        return tuple(i for i in range(len(self.fields)) if i != self.rest)

    def of_field(self, number: int) -> Analysis:
        """Return the analysis for the lists of one field, with the weight 1."""
        return replace(self, fields=((self.fields[number][0], 1),), positions=False)

    @property
    def built_weights(self) -> tuple[int, ...]:
        """The weights of a build: first that of the field without lists, then those of the others."""
        return tuple(self.fields[i][1] for i in (self.rest, *self.own_fields))

    def weights_for(self, chosen: Mapping[str, int]) -> tuple[int, ...] | None:
        """Return the weights with some replaced by name, or None if that changes nothing.

        Raises:
            ValueError: The file has no such field, or every weight is 0.
        """
        known, weights = dict(self.fields), checked_weights(chosen)
        for name in weights:
            if name not in known:
                raise ValueError(f"the file has no field {name!r}: it has {', '.join(known)}")
        known |= weights
        if not any(known.values()):
            raise ValueError("fields= gives every field the weight 0: nothing is left to search")
        found = tuple(known[self.fields[i][0]] for i in (self.rest, *self.own_fields))
        return None if found == self.built_weights else found

    def reweighed(self, total: int, own: Sequence[int], weights: Sequence[int]) -> int:
        """Convert a weighted total to other weights.

        `own` has the totals of the fields with their own lists.
        """
        built = self.built_weights
        rest = total - sum(w * n for w, n in zip(built[1:], own, strict=True))
        more = sum(w * n for w, n in zip(weights[1:], own, strict=True))
        return weights[0] * (max(rest, 0) // built[0]) + more

    def by_name(self, total: int, own: Sequence[int]) -> dict[str, int]:
        """Return the share of each field in a weighted total, before weights."""
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

    @classmethod
    def for_language(
        cls, language: str, *, fields: tuple[tuple[str, int], ...] = PAGE_FIELDS
    ) -> Self:
        """Return the analysis for texts of a language.

            ragfile.build("docs/", "kb.ragfile", analysis=ragfile.Analysis.for_language("de"))

        Args:
            language: Its code, such as "de" or "de-AT".
            fields: The parts of a row that are indexed, with weights.

        Raises:
            ValueError: There are no rules for the language.
        """
        code = language.lower().replace("_", "-").partition("-")[0]
        found = by_code().get(code)
        if found is None:
            raise ValueError(f"no language {language!r}; there are {', '.join(sorted(by_code()))}")
        is_english = found.code == "en"
        words = "english-1" if is_english else tuple(sorted(found.stop_words))
        accents: Literal["keep", "strip"] = "strip" if is_english else "keep"
        return cls(found.stemmer, words, accents, fields, languages=False)

    def reducer(self) -> Callable[[list[str]], list[str]]:
        """Return a function from distinct words to their terms, "" for stop words.

        The function is not safe for two threads at once.
        """
        stopped, stem = self.stopped, stemmer(self.stemmer).stemWords

        def plain(words: list[str]) -> list[str]:
            return [
                "" if word in stopped else term
                for word, term in zip(words, stem(words), strict=True)
            ]

        reduced = plain if stopped else stem

        @cache
        def stemmers(name: str) -> Callable[[list[str]], list[str]]:
            return stemmer(name).stemWords

        return _marked_reducer(reduced, stemmers) if self.languages else reduced

    def record(self, unicode_version: str) -> str:
        """Return the text that a file keeps: one `key=value` a line."""
        listed = (
            self.stop_words
            if isinstance(self.stop_words, str)
            else "=" + " ".join(sorted(set(self.stop_words)))
        )
        return (
            f"analyzer={ANALYZERS[self.pieces, bool(self.clusters)]}\nunicode={unicode_version}\naccents={self.accents}\nstemmer={self.stemmer}\n"
            f"stop_words={listed}\nfields={','.join(f'{name}:{weight}' for name, weight in self.fields)}\n"
            + "positions=yes\n" * self.positions
            + f"languages={TABLES[-1]}\n" * bool(self.languages)
        )

    @classmethod
    def recorded(cls, text: str, k1: float, b: float) -> Self:
        """Return the choices that a file recorded.

        Raises:
            ValueError: The file needs an analyzer that this version does not have.
        """
        values = dict(
            cast("tuple[str, str]", line.split("=", 1)) for line in text.splitlines() if "=" in line
        )
        if values.get("analyzer") not in ANALYZERS.values():
            raise ValueError(
                f"the file needs the analyzer {values.get('analyzer')!r}; "
                f"this version has {' and '.join(map(repr, ANALYZERS.values()))}"
            )
        table = values.get("languages")
        if table is not None and table not in TABLES:
            raise ValueError(f"the file needs the table of languages {table!r}")
        pieces, clusters = next(of for of, name in ANALYZERS.items() if name == values["analyzer"])
        listed = values.get("stop_words", "none")
        fields = tuple(field.rsplit(":", 1) for field in values.get("fields", "text:1").split(","))
        return cls(
            stemmer=values.get("stemmer", "none"),
            stop_words=tuple(listed[1:].split()) if listed.startswith("=") else listed,
            accents=cast('Literal["keep", "strip"]', values.get("accents", "keep")),
            fields=tuple((name, int(weight)) for name, weight in fields),
            k1=k1,
            b=b,
            pieces=pieces,
            positions=values.get("positions") == "yes",
            languages=table is not None,
            clusters=clusters,
        )


def _marked_reducer(
    plain: Callable[[list[str]], list[str]],
    stem: Callable[[str], Callable[[list[str]], list[str]]],
) -> Callable[[list[str]], list[str]]:
    """Return a function from distinct words to terms, where the words of languages have their marks.

    Args:
        plain: The function for words without a mark.
        stem: Returns the function that stems the words of an algorithm.
    """
    known = {language.code: language for language in languages()[1:]}

    def reduced(words: list[str]) -> list[str]:
        by_mark: dict[str, list[int]] = {}
        for i, word in enumerate(words):
            by_mark.setdefault(word.partition(":")[0] if ":" in word else "", []).append(i)
        if len(by_mark) == 1 and "" in by_mark:
            return plain(words)
        found = [""] * len(words)
        for mark, places in by_mark.items():
            some = [words[i] for i in places]
            terms = plain(some) if not mark else _terms_of(known[mark], some, stem)
            for i, term in zip(places, terms, strict=True):
                found[i] = term
        return found

    return reduced


def _terms_of(
    language: Language, marked: list[str], stem: Callable[[str], Callable[[list[str]], list[str]]]
) -> list[str]:
    mark = f"{language.code}:"
    words = [word[len(mark) :] for word in marked]
    return [term and mark + term for term in language.terms(words, stem(language.stemmer))]


def checked_weights(fields: Mapping[str, int]) -> dict[str, int]:
    """Check weights by field name, and return them as a dict.

    Whether a file has these fields is checked elsewhere.
    """
    if not isinstance(fields, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # a caller's value
        raise TypeError(f"fields are weights by name, such as {{'headers': 3}}, not {fields!r:.80}")
    for name, weight in fields.items():
        is_whole = hasattr(weight, "__index__") and not isinstance(weight, bool)
        is_text = isinstance(name, str)  # pyright: ignore[reportUnnecessaryIsInstance]  # a caller's
        if not is_text or not is_whole or not 0 <= weight <= 255:
            raise ValueError(
                f"the weight of a field is a whole number from 0 to 255, not {name!r}: {weight!r:.80}"
            )
    return {name: int(weight) for name, weight in fields.items()}


@dataclass(frozen=True)
class Statistics:
    """The numbers of a whole file that BM25 needs: rows, their total length, and rows by term.

    `df` is None if the terms of the queries have their frequencies already.
    """

    rows: int
    total_length: int
    df: dict[str, int] | None = None

    @classmethod
    def weighed(cls, queries: Queries) -> Self:
        """Return the statistics under the field weights that analysed queries have."""
        rows, length = queries.sizes
        return cls(rows, length, _frequencies(queries))

    @classmethod
    def over(
        cls, segments: Iterable[tuple[Lexicon, NDArray[np.uint64] | None]], queries: Queries
    ) -> Self:
        """Sum up (lexicon, live rows as bits or None) pairs for the terms of analysed queries."""
        terms = {term for terms in queries.terms() for term, _ in terms}
        sizes = [lexicon.live(where) for lexicon, where in segments]
        queries.set_df(
            {term: sum(lexicon.df(term, where) for lexicon, where in segments) for term in terms}
        )
        queries.join()
        rows, length = (sum(each) for each in zip(*sizes, strict=True))
        return cls(rows, length, _frequencies(queries))


def _frequencies(queries: Queries) -> dict[str, int]:
    both = zip(queries.terms(), queries.frequencies(), strict=True)
    return {
        term: rows for terms, counts in both for (term, _), rows in zip(terms, counts, strict=True)
    }
