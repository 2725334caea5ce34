"""BM25 over built sections against a plain oracle in binary64, on every shape of corpus and query that has its own path."""

import itertools
import math

import numpy as np
import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from targets import TARGETS, printed

from ragfile import _core
from ragfile.ingest.analysis import Analysis, Statistics

PLAIN = Analysis(stemmer="none", stop_words="none")


def sections(rows, analysis=PLAIN, **options):
    """rag.terms and rag.postings of some rows."""
    builder = _core.LexicalBuilder(analysis, **options)
    builder.add(rows)
    postings, terms = bytearray(), bytearray()
    builder.finish(postings.extend, terms.extend)
    return bytes(terms), bytes(postings)


def opened(terms, postings):
    return _core.Lexicon(_core.Section.over(terms), _core.Section.over(postings))


def lexicon(rows, analysis=PLAIN, **options):
    return opened(*sections(rows, analysis, **options))


def bits(mask):
    """A filter's words from booleans."""
    packed = np.packbits(np.asarray(mask, bool), bitorder="little")
    return np.pad(packed, (0, -len(packed) % 8)).view(np.uint64)


def oracle(documents, query, k, k1=1.2, b=0.75, keep=None, statistics=None):
    """The k best rows of tokenised documents, by the formula and nothing else."""
    kept = (
        [d for i, d in enumerate(documents) if keep is None or keep[i]]
        if statistics is None
        else statistics
    )
    n, total = len(kept), sum(map(len, kept))
    average = total / n if total else 1.0
    scores = []
    for row, document in enumerate(documents):
        score, norm = 0.0, k1 * (1 - b) + (k1 * b / average) * len(document)
        for term in dict.fromkeys(query):
            tf, df = document.count(term), sum(term in d for d in kept)
            if tf:
                score += (query.count(term) * math.log(1 + (n - df + 0.5) / (df + 0.5))) * (
                    tf / (tf + norm)
                )
        if score > 0 and (keep is None or keep[row]):
            scores.append((-np.float32(score), row))
    best = sorted(scores)[:k]
    return [row for _, row in best], np.array([-score for score, _ in best], np.float32)


def found(result, i=0):
    rows, scores = result[0][i], result[1][i]
    count = int((rows >= 0).sum())
    assert (rows[count:] == -1).all()
    assert np.isnan(scores[count:]).all()
    return rows[:count].tolist(), scores[:count]


def assert_same(result, expected, i=0):
    rows, scores = found(result, i)
    assert rows == expected[0]
    np.testing.assert_allclose(scores, expected[1], rtol=2e-7)


WORDS = [f"w{i}" for i in range(12)]
DOCUMENTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=40)
QUERIES = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=10)


@given(
    DOCUMENTS,
    QUERIES,
    st.integers(1, 45),
    st.sampled_from([(1.2, 0.75), (0, 0.75), (1.2, 0), (2, 1), (0.9, 0.4)]),
)
def test_small_corpora_rank_as_the_formula_says(documents, query, k, constants):
    k1, b = constants
    built = lexicon([" ".join(document) for document in documents])
    result = built.match([" ".join(query)], k, k1=k1, b=b)
    assert_same(result, oracle(documents, query, k, k1, b))


@given(DOCUMENTS, QUERIES, st.data())
def test_a_filter_is_applied_before_ranking(documents, query, data):
    keep = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    built = lexicon([" ".join(document) for document in documents])
    expected = oracle(documents, query, 5, keep=keep, statistics=documents)
    assert_same(built.match([" ".join(query)], 5, where=bits(keep)), expected)


@given(DOCUMENTS, QUERIES)
def test_given_rows_get_the_scores_that_ranking_gives(documents, query):
    built = lexicon([" ".join(document) for document in documents])
    rows, scores = found(built.match([" ".join(query)], len(documents)))
    ranked = dict(zip(rows, scores, strict=True))
    order = np.random.default_rng(0).permutation(np.arange(len(documents)).repeat(2))
    assert built.score(order, " ".join(query)).tolist() == [ranked.get(row, 0.0) for row in order]


@given(DOCUMENTS, QUERIES, st.data())
def test_a_corpus_in_segments_ranks_as_one(documents, query, data):
    cut = data.draw(st.integers(0, len(documents)))
    texts, asked = [" ".join(document) for document in documents], [" ".join(query)]
    whole, pieces = lexicon(texts), [(lexicon(texts[:cut]), None), (lexicon(texts[cut:]), None)]
    stats = Statistics.over(pieces, whole.queries(asked))
    merged = []
    for offset, (piece, _) in zip((0, cut), pieces, strict=True):
        rows, scores = found(piece.match(asked, 6, stats=stats))
        merged += [(-score, row + offset) for row, score in zip(rows, scores, strict=True)]
    expected = found(whole.match(asked, 6))
    assert [row for _, row in sorted(merged)[:6]] == expected[0]
    assert [-score for score, _ in sorted(merged)[:6]] == expected[1].tolist()


@given(DOCUMENTS, QUERIES, st.data())
def test_deleted_rows_leave_no_trace_in_the_scores(documents, query, data):
    keep = data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    built, live = lexicon([" ".join(document) for document in documents]), bits(keep)
    asked = built.queries([" ".join(query)])
    stats = Statistics.over([(built, live)], asked)
    assert_same(
        built.match(asked, 5, where=live, stats=stats), oracle(documents, query, 5, keep=keep)
    )


# ---------------------------------------------------------------------------------------------------- several segments


def in_pieces(texts, cuts, live):
    """Lexicons over texts cut at some rows, and the bounds of the pieces."""
    bounds = [0, *sorted(cuts), len(texts)]
    pieces = [
        (lexicon(texts[a:b]), None if live is None else bits(live[a:b]), a)
        for a, b in itertools.pairwise(bounds)
    ]
    return _core.Lexicons(pieces), bounds


def ranked_of(found, scores, k):
    rows, best = _core.ranked(found.reshape(-1), scores.reshape(-1), k)
    assert len(rows) <= k or (best[k - 1 :] == best[k - 1]).all()
    return rows[:k].tolist(), best[:k].tolist()


def assert_pieces_rank_as_one(texts, cuts, live, mask, asked, k, threads=1):
    """In pieces, each of which says what may be among the best of all, with dead rows and under a filter; scores included."""
    whole, (pieces, bounds) = lexicon(texts), in_pieces(texts, cuts, live)
    living = np.ones(len(texts), bool) if live is None else np.asarray(live)
    stats = Statistics.over([(whole, bits(living))], whole.queries(asked))
    passing = living if mask is None else living & np.asarray(mask)
    wheres = [
        None if live is None and mask is None else bits(passing[a:b])
        for a, b in itertools.pairwise(bounds)
    ]
    together = pieces.match(pieces.queries(asked), k, wheres, threads=threads)
    for i, text in enumerate(asked):
        expected = found(whole.match([text], k, where=bits(passing), stats=stats))
        assert ranked_of(together[0][i], together[1][i], k) == (expected[0], expected[1].tolist())
        rows = np.flatnonzero(passing)
        scored = pieces.score(rows, pieces.queries([text]))
        assert scored.tolist() == whole.score(rows, text, stats=stats).tolist()


@given(DOCUMENTS, st.lists(QUERIES, min_size=1, max_size=3), st.integers(1, 45), st.data())
def test_segments_that_are_asked_together_rank_as_one(documents, queries, k, data):
    texts, asked = [" ".join(d) for d in documents], [" ".join(q) for q in queries]
    cuts = data.draw(st.lists(st.integers(0, len(texts)), max_size=6))
    some = st.none() | st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))
    assert_pieces_rank_as_one(texts, cuts, data.draw(some), data.draw(some), asked, k)


@pytest.mark.parametrize("k", [1, 10, 100, 700])
@pytest.mark.parametrize("dead", [0, 0.003, 0.3])
def test_many_segments_rank_as_one_whatever_the_floor_rules_out(k, dead):
    rng = np.random.default_rng(k)
    texts = zipf_texts(3000, 5)
    live = None if not dead else rng.random(3000) > dead
    mask = None if k != 10 else rng.random(3000) > 0.4
    asked = [" ".join(rng.choice(" ".join(texts).split(), n)) for n in (1, 2, 4, 4, 30)]
    asked += [
        "t1 " * 3000 + asked[2],
        " ".join(f"t{i}" for i in range(400)),
    ]  # a weight that dwarfs all others; all words
    for cuts in ([2000, *range(2100, 3000, 30)], range(0, 3000, 300), [5, 5, 2990]):
        assert_pieces_rank_as_one(texts, cuts, live, mask, asked, k, threads=2)


def test_rows_out_of_order_are_not_scored_by_several_segments():
    pieces, _ = in_pieces(["a b", "b c", "c"], [1], None)
    with pytest.raises(ValueError, match="not in order"):
        pieces.score([2, 0], pieces.queries(["b"]))
    assert pieces.score([-5, 0, 9], pieces.queries(["a"])).tolist()[::2] == [0, 0]
    with pytest.raises(ValueError, match="filter for each"):
        pieces.match(pieces.queries(["b"]), 3, [None])


# ------------------------------------------------------------------------------------------- corpora of several windows


def zipf_texts(rows, seed, vocabulary=400, longest=12):
    """Rows of words whose frequencies fall off as in language, so that lists of every kind occur."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest, rows)
    drawn = np.minimum(random.zipf(1.3, lengths.sum()), vocabulary)
    names = np.array([f"t{i}" for i in range(vocabulary + 1)])[drawn]
    return [" ".join(piece) for piece in np.split(names, np.cumsum(lengths)[:-1])]


class Table:
    """The oracle for many rows: term by term over numpy arrays."""

    def __init__(self, texts):
        self.lengths = np.array([len(text.split()) for text in texts], np.float64)
        self.tfs = {}
        for row, text in enumerate(texts):
            for term in text.split():
                counts = self.tfs.setdefault(term, {})
                counts[row] = counts.get(row, 0) + 1

    def scores(self, query, k1=1.2, b=0.75):
        n, terms = len(self.lengths), query.split()
        norm = k1 * (1 - b) + (k1 * b / (self.lengths.sum() / n or 1.0)) * self.lengths
        scores = np.zeros(n)
        for term in dict.fromkeys(terms):
            rows, tf = (
                np.array(list(part))
                for part in (self.tfs.get(term, {}).keys(), self.tfs.get(term, {}).values())
            )
            if len(rows):
                idf = math.log(1 + (n - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += (terms.count(term) * idf) * (tf / (tf + norm[rows]))
        return scores.astype(np.float32)

    def best(self, query, k, keep=None, **constants):
        scores = self.scores(query, **constants)
        if keep is not None:
            scores = np.where(keep, scores, 0)
        order = np.lexsort((np.arange(len(scores)), -scores))[:k]
        order = order[scores[order] > 0]
        return order.tolist(), scores[order]


LARGE = zipf_texts(140_001, seed=3)


@pytest.fixture(scope="module")
def large_sections():
    return sections(LARGE)


@pytest.fixture(scope="module")
def large(large_sections):
    return opened(*large_sections)


@pytest.fixture(scope="module")
def table():
    return Table(LARGE)


def large_queries(seed=5):
    random = np.random.default_rng(seed)
    lengths = [1, 1, 1, 2, 2, 3, 4, 8, 12, 20, 70, 150]
    return [
        " ".join(f"t{min(word, 400)}" for word in random.zipf(zipf, length))
        for zipf in (1.2, 1.6)
        for length in lengths
    ]


@pytest.mark.parametrize("k", [1, 3, 10, 100, 1000, 20_000, 140_001])
def test_large_corpora_rank_as_the_formula_says(large, table, k):
    asked = large_queries()
    result = large.match(asked, k)
    for i, query in enumerate(asked):
        assert_same(result, table.best(query, k), i)


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.01, 0.5, 1.0])
def test_filters_of_any_width_are_exact(large, table, share):
    keep = np.random.default_rng(9).random(len(LARGE)) < share
    asked = large_queries(6)
    result = large.match(asked, 10, where=bits(keep))
    for i, query in enumerate(asked):
        assert_same(result, table.best(query, 10, keep), i)


@pytest.mark.parametrize(
    ("k1", "b"), [(0.0, 0.0), (0.5, 1.0), (1.2, 0.0), (3.0, 0.3), (100.0, 0.75)]
)
def test_constants_of_a_query_keep_bounds_valid(large, table, k1, b):
    asked = large_queries(7)[:12]
    result = large.match(asked, 10, k1=k1, b=b)
    for i, query in enumerate(asked):
        assert_same(result, table.best(query, 10, k1=k1, b=b), i)


@pytest.mark.parametrize(
    ("rows", "total"), [(1 << 20, 1 << 20), (1 << 20, 1 << 26), (200_000, 300_000)]
)
def test_statistics_from_outside_keep_bounds_valid(large, rows, total):
    asked = large.queries(large_queries(8))
    df = {term: large.df(term) + 7 for terms in asked.terms() for term, _ in terms}
    stats = Statistics(rows, total, df)
    few, all_rows = large.match(asked, 10, stats=stats), large.match(asked, 20_000, stats=stats)
    assert few[0].tolist() == all_rows[0][:, :10].tolist()
    assert few[1].tobytes() == all_rows[1][:, :10].tobytes()


def test_the_answer_does_not_depend_on_threads_or_batch(large):
    asked = large_queries() * 20
    together = large.match(asked, 10, threads=1)
    for threads in (2, 7):
        again = large.match(asked, 10, threads=threads)
        assert all(
            one.tobytes() == other.tobytes() for one, other in zip(together, again, strict=True)
        )
    alone = [large.match([query], 10) for query in asked[:24]]
    assert np.concatenate([rows for rows, _ in alone]).tolist() == together[0][:24].tolist()


TARGET_CODE = """
import hashlib
from core import test_bm25
from ragfile import _core
terms, postings = test_bm25.sections(test_bm25.LARGE)
large = test_bm25.opened(terms, postings)
digest = hashlib.sha256(terms + postings)
for k in (1, 10, 300):
    for part in large.match(test_bm25.large_queries(), k): digest.update(part.tobytes())
print(_core.target(), digest.hexdigest())
"""


def test_every_target_of_this_machine_gives_the_same_bits():
    digests = {}
    for target in TARGETS:
        if told := printed(target, TARGET_CODE):
            name, digests[target] = told.split()
            assert name == target
    assert "baseline" in digests
    assert len(set(digests.values())) == 1


# ---------------------------------------------------------------------------------------------------- corpora of one kind


@pytest.mark.parametrize(
    ("texts", "query"),
    [
        ([], "a"),
        ([""], "a"),
        (["", "", "a"], "a"),
        (["a"] * 70_000, "a"),
        (["a"] * 64, "a a a"),
        ([f"a b{i}" for i in range(300)], "a b7 b9"),
        (["a b c d"] * 33 + ["a"], "a d"),
        (["common " * 300 + "rare"] + ["common"] * 100, "rare common"),
        (["common rare"] * 3 + ["common"] * 2000, "rare common"),
        (["x " * 256, "x " * 257, "x " * 70_000, "x"] + ["x y"] * 60, "x"),
        ([" ".join(["z"] * i) for i in range(1, 400)], "z"),
    ],
    ids=[
        "nothing",
        "empty",
        "mostly-empty",
        "equal",
        "repeated",
        "distinct",
        "ties",
        "one",
        "fill-up",
        "long",
        "all-tfs",
    ],
)
@pytest.mark.parametrize("k", [1, 10, 100])
def test_unusual_corpora_rank_as_the_formula_says(texts, query, k):
    assert_same(
        lexicon(texts).match([query], k), Table(texts).best(query, k) if texts else ([], [])
    )


def test_a_row_of_a_million_words_is_exact():
    texts = ["word " * 1_000_000, "word other", "other " * 3] + ["more words here"] * 50
    built = lexicon(texts)
    assert built.rows("word")[1].tolist() == [1_000_000, 1]
    assert_same(built.match(["word other"], 10), Table(texts).best("word other", 10))


def test_thousands_of_query_terms_are_exact():
    texts = [f"a{i} a{i + 1} a{i + 2}" for i in range(5000)]
    query = " ".join(f"a{i}" for i in range(0, 5000, 2))
    assert_same(lexicon(texts).match([query], 20), Table(texts).best(query, 20))


def test_queries_without_a_known_term_find_nothing():
    built = lexicon(["the cat", "the dog"], Analysis())
    for query in ("", "the", "zebra", "!!!"):
        assert found(built.match([query], 3))[0] == []


# --------------------------------------------------------------------------------------------------- analysis in the file


def test_technical_terms_are_found():
    texts = [
        "written in C++ today",
        "OAuth2 tokens",
        "call snake_case now",
        "release v0.1.0",
        "use foo.bar() here",
        "c v0 1 0 snake foo",
    ]
    built = lexicon(texts, Analysis())
    for row, query in enumerate(["C++", "OAuth2", "snake_case", "v0.1.0", "foo.bar()"]):
        assert found(built.match([query], 1))[0] == [row]


def test_wholes_do_not_lengthen_a_row():
    assert lexicon(["snake_case v0.1.0", "one two three four five"]).lengths().tolist() == [5, 5]


def test_stemming_joins_the_forms_of_a_word():
    built = lexicon(["the connections", "connected and connecting", "unrelated"], Analysis())
    assert built.rows("connect")[0].tolist() == [0, 1]
    assert built.rows("connect")[1].tolist() == [1, 2]
    assert list(built.vocabulary()) == ["connect", "unrel"]


def test_field_weights_count_as_repetition():
    analysis = Analysis(stemmer="none", stop_words="none", fields=(("title", 2), ("body", 1)))
    built = lexicon([("red fox", "blue"), (None, "red red fox"), ("blue", "red")], analysis)
    repeated = ["red fox red fox blue", "red red fox", "blue blue red"]
    for query in ("red", "fox blue", "red red blue"):
        assert_same(built.match([query], 3), Table(repeated).best(query, 3))
    assert found(built.match(["blue"], 3))[0] == [2, 0]
    assert found(lexicon(["red fox blue", "red red fox", "blue red"]).match(["blue"], 3))[0] == [
        2,
        0,
    ]


def test_a_row_with_the_wrong_number_of_fields_is_refused():
    builder = _core.LexicalBuilder(Analysis(fields=(("title", 2), ("body", 1))))
    with pytest.raises(ValueError, match="2 fields"):
        builder.add([("only one",)])


def test_choices_are_recorded_and_used_on_open():
    analysis = Analysis(stemmer="porter", stop_words=("foo",), accents="strip", k1=0.9, b=0.4)
    built = lexicon(["crème foo", "brûlée relational"], analysis)
    assert built.analysis == analysis
    assert list(built.vocabulary()) == ["brule", "creme", "relat"]
    assert found(built.match(["CREME relation"], 2))[0] == [0, 1]


# -------------------------------------------------------------------------------------------------------------- building


@pytest.mark.parametrize("memory", [1, 1 << 16, 1 << 20])
def test_spilled_runs_give_the_same_bytes(memory, tmp_path):
    texts = [*zipf_texts(5000, seed=11, longest=60), "é" * 40, "東京都", "x_y.z"]
    whole = sections(texts)
    builder = _core.LexicalBuilder(PLAIN, memory=memory, directory=tmp_path)
    for start in range(0, len(texts), 700):
        builder.add(texts[start : start + 700])
    for _ in range(3):
        builder.add([])
    postings, terms = bytearray(), bytearray()
    builder.finish(postings.extend, terms.extend)
    assert (bytes(terms), bytes(postings)) == whole


def test_many_small_runs_merge_in_order():
    texts = zipf_texts(400, seed=12, longest=400, vocabulary=3000)
    builder = _core.LexicalBuilder(PLAIN, memory=1)
    for text in texts:
        builder.add([text + " " * (1 << 20)])
    postings, terms = bytearray(), bytearray()
    builder.finish(postings.extend, terms.extend)
    assert (bytes(terms), bytes(postings)) == sections(texts)


def test_terms_and_postings_are_what_was_given(large, table):
    assert large.term_count == len(table.tfs)
    assert list(large.vocabulary()) == sorted(table.tfs)
    assert large.lengths().tolist() == table.lengths.tolist()
    for term in list(table.tfs)[::7]:
        rows, tfs = large.rows(term)
        assert dict(zip(rows.tolist(), tfs.tolist(), strict=True)) == table.tfs[term]
        assert large.df(term) == len(table.tfs[term])
    assert large.df("absent") == 0


@pytest.mark.parametrize("dead", [0, 1, 3, 60, 2000, 70_000, 140_001])
def test_rows_that_hold_a_term_are_counted_among_some_rows(large, table, dead):
    alive = np.ones(len(LARGE), bool)
    alive[np.random.default_rng(dead).choice(len(LARGE), dead, replace=False)] = False
    for term in ("t1", "t2", "t7", "t40", "t399", "absent"):
        rows = np.array(list(table.tfs.get(term, ())), np.int64)
        assert large.df(term, bits(alive)) == alive[rows].sum()


def test_terms_that_share_their_beginnings_are_found():
    texts = (
        [f"prefixprefixprefix{i}" for i in range(500)]
        + [f"prefixp{'z' * i}" for i in range(50)]
        + ["a", "zzz"]
    )
    built = lexicon(texts)
    assert all(built.rows(text)[0].tolist() == [row] for row, text in enumerate(texts))
    for absent in (
        "prefixprefix",
        "prefixprefixprefix",
        "prefixprefixprefix500",
        "b",
        "zzzz",
        "",
        "prefixpz" + "y",
    ):
        assert built.df(absent) == 0


def test_an_error_while_writing_reaches_the_caller():
    def refuse(_):
        raise OSError("disk full")

    for sinks in ((refuse, bytes), (bytes, refuse)):
        builder = _core.LexicalBuilder(PLAIN)
        builder.add(["a b", "b c"])
        with pytest.raises(OSError, match="disk full"):
            builder.finish(*sinks)
        with pytest.raises(ValueError, match="finished"):
            builder.add(["more"])


def test_only_text_is_taken():
    with pytest.raises(TypeError):
        lexicon([7])
    with pytest.raises(TypeError):
        lexicon(["a"]).match("not a list")


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": -1},
        {"threads": 0},
        {"k1": -1},
        {"k1": math.nan},
        {"b": 2},
        {"where": np.zeros(0, np.uint64)},
    ],
)
def test_arguments_out_of_range_are_refused(arguments):
    with pytest.raises(ValueError, match=r"\w"):
        lexicon(["a", "b"]).match(["a"], **arguments)


def test_a_row_that_does_not_exist_has_no_score():
    for row in (-1, 2):
        with pytest.raises(ValueError, match="no such row"):
            lexicon(["a", "b"]).score([row], "a")


# ---------------------------------------------------------------------------------------------------------- hostile bytes

SMALL = sections(
    zipf_texts(3000, seed=21, vocabulary=60) + ["rare1 rare2", "rare1"] + ["z " * 300] * 40
)
ASKED = ["t1 t2 t3 t5 t9 rare1 z", "t1", "rare2 t40", " ".join(f"t{i}" for i in range(60))]


def exercise(terms, postings):
    """Everything that reads the sections; only clean errors may come out."""
    try:
        built = opened(terms, postings)
        built.match(ASKED, 10)
        built.match(ASKED, 3000)
        built.match(ASKED, 10, where=np.full(-(-len(built) // 64), 0x5555555555555555, np.uint64))
        built.score([0, len(built) - 1], ASKED[0])
        for term in ("t1", "t9", "z", "rare1"):
            built.rows(term)
        list(built.vocabulary())
        built.lengths()
    except (ValueError, MemoryError):
        pass


@settings(max_examples=examples(400), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=6
    ),
    st.booleans(),
)
def test_changed_bytes_never_crash(changes, early):
    parts = [bytearray(part) for part in SMALL]
    for postings, where, value in changes:
        part = parts[postings]
        at = int(where * (len(part) - 1) * (0.05 if early else 1))
        part[at] = value
    exercise(bytes(parts[0]), bytes(parts[1]))


@given(st.floats(0, 1), st.floats(0, 1))
def test_truncated_sections_are_refused(terms, postings):
    cut = (
        bytes(SMALL[0][: int(terms * (len(SMALL[0]) - 1))]),
        bytes(SMALL[1][: int(postings * len(SMALL[1]))]),
    )
    with pytest.raises(ValueError, match=r"\w"):
        opened(*cut)


def test_a_newer_version_is_refused():
    with pytest.raises(Exception, match="newer") as caught:
        opened(SMALL[0][:6] + b"9" + SMALL[0][7:], SMALL[1])
    assert type(caught.value).__name__ == "VersionError"
