"""Signs in a question against a reading of every passage."""

import re
import subprocess
import sys

import numpy as np
import pytest
from doors.server.conftest import Serving
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import ragfile
import ragfile.dataset
from ragfile import _core
from ragfile.ingest.analysis import Analysis

WORDS = [
    "key",
    "keys",
    "rotate",
    "rotating",
    "pod",
    "the",
    "of",
    "kube",
    "kubelet",
    "kubernetes",
    "state",
    "art",
]


@pytest.fixture(scope="module")
def rf(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("query_syntax") / "kb.ragfile", np.random.default_rng(1)
    texts = [" ".join(rng.choice(WORDS, size=int(rng.integers(1, 9)))) for _ in range(240)]
    texts += [
        "State-of-the-art, they say.",
        "art of state",
        "C++ and foo.bar",
        "foo bar, C",
        "東京都 key",
    ]

    def chunks(first):
        return [
            {"doc_id": f"d{i}", "chunk_index": 0, "content": t}
            for i, t in enumerate(texts)
            if i % 2 == first
        ]

    with ragfile.create(path) as w:
        w.add(chunks(0))
    with ragfile.edit(path) as w:
        w.add([*chunks(1), {"doc_id": "gone", "chunk_index": 0, "content": "rotate the key"}])
    with ragfile.edit(path) as w:
        w.delete(["gone"])
    with ragfile.open(path) as rf:
        yield rf


STEMS = {
    "keys": "key",
    "rotate": "rotat",
    "rotating": "rotat",
    "kubernetes": "kubernet",
    "state": "state",
}


def stems(text):
    return [STEMS.get(word, word) for word in re.findall("[a-z]+", text.lower())]


def passing(rf, test):
    rows = rf.live_rows().tolist()
    return {rf.hit(row).id for row in rows if test(stems(rf.hit(row).text))}


def side_by_side(found, wanted):
    return any(found[i : i + len(wanted)] == wanted for i in range(len(found)))


def ids(rf, question, **options):
    hits = rf.search(question, len(rf), mode="bm25", query_syntax=True, cache=False, **options)
    return {hit.id for hit in hits}


PHRASES = ["rotate the keys", "key rotating", "state of the art", "pod", "the of", "kube kube"]


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_stands_side_by_side(rf, phrase):
    expected = passing(rf, lambda found: side_by_side(found, stems(phrase)))
    assert ids(rf, f'"{phrase}" key pod state rotate kube art') == {
        one for one in expected if ids_with_words(rf, one)
    }
    rest = passing(rf, lambda found: not side_by_side(found, stems(phrase)))
    assert ids(rf, f'-"{phrase}" key pod state rotate kube art') == {
        one for one in rest if ids_with_words(rf, one)
    }


def ids_with_words(rf, one):
    asked = {"key", "pod", "state", "rotat", "kube", "art"}
    return bool(asked & set(stems(rf.hit(rf.row(one)).text)))


def test_words_are_required_and_excluded(rf):
    both = passing(rf, lambda found: "key" in found and "pod" not in found)
    assert ids(rf, "+keys -pod") == both != set()
    assert ids(rf, "+key rotate") == passing(rf, lambda found: "key" in found)
    assert ids(rf, "key -key") == set()
    assert ids(rf, "the +the key") == ids(rf, "key")


def test_a_star_is_words_that_begin_so(rf):
    expected = passing(rf, lambda found: any(word.startswith("kube") for word in found))
    assert ids(rf, "kube*") == expected
    assert ids(rf, "+kubel* key") == passing(rf, lambda found: "kubelet" in found)
    assert ids(rf, "key -kube*") == passing(rf, lambda found: "key" in found) - expected
    assert ids(rf, "zzz*") == set()


def test_a_tilde_is_words_spelled_nearly_so(rf):
    assert ids(rf, "kuve~") == passing(rf, lambda found: "kube" in found)
    assert ids(rf, "kuvelt~") == set()
    assert ids(rf, "kuvelt~2") == passing(rf, lambda found: "kubelet" in found)


def test_scores_are_those_of_all_the_words_that_are_meant(rf):
    found = rf.search("kube* key", len(rf), mode="bm25", query_syntax=True)
    plain = rf.search("key kube kubelet kubernetes", len(rf), mode="bm25")
    assert {h.id: pytest.approx(h.score, rel=1e-6) for h in found} == {h.id: h.score for h in plain}


def test_signs_inside_words_and_alone_are_no_signs(rf):
    assert ids(rf, "+c++") == {"d242#0"}
    assert ids(rf, "+foo.bar") == {"d242#0"}
    assert ids(rf, "key + pod - art") == ids(rf, "key pod art")
    assert ids(rf, '"東京都"') == {"d244#0"}
    assert ids(rf, '"" key') == ids(rf, "key")
    assert ids(rf, '"pod art') == ids(rf, 'pod"art"') == ids(rf, "pod art")


def test_without_the_option_signs_are_punctuation(rf):
    assert rf.search('"rotate the key" -pod', 9, mode="bm25") == rf.search(
        "rotate the key pod", 9, mode="bm25"
    )


def test_signs_hold_for_every_mode_and_in_batches(rf):
    asked = ['+key -"rotating key"', "kube* -pod", "plain words key"]
    one_by_one = [rf.search(text, 7, query_syntax=True, cache=False) for text in asked]
    assert [list(h) for h in rf.search_batch(asked, 7, query_syntax=True)] == [
        list(h) for h in one_by_one
    ]
    where = [{"id": {"$ne": "d1#0"}}, None, ["d1", "d2"]]
    each = [rf.search(t, 7, query_syntax=True, where=w) for t, w in zip(asked, where, strict=True)]
    assert [list(h) for h in rf.search_batch(asked, 7, query_syntax=True, where=where)] == [
        list(h) for h in each
    ]


def test_groups_take_signs_but_not_spellings(rf):
    found = rf.search("+key rotate -pod", 5, mode="bm25", query_syntax=True, group=1)
    plain = rf.search("+key rotate -pod", 5, mode="bm25", query_syntax=True)
    assert [hit.id for hit in found] == [hit.id for hit in plain]
    with pytest.raises(ValueError, match=r"begin\* or speling~"):
        rf.search("kube*", 5, query_syntax=True, group=1)


def distance(a, b):
    """Restricted edit distance, by its definition."""
    d = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(
                d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            )
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d[i, j] = min(d[i, j], d[i - 2, j - 2] + 1)
    return d[len(a), len(b)]


TERMS = st.lists(st.text(alphabet="abcé東", min_size=1, max_size=7), min_size=1, max_size=60)


@given(
    terms=TERMS, word=st.text(alphabet="abcé東", min_size=1, max_size=7), edits=st.integers(0, 2)
)
def test_terms_of_the_dictionary_are_found_by_their_spelling(tmp_path_factory, terms, word, edits):
    path = tmp_path_factory.mktemp("terms") / "kb.ragfile"
    with ragfile.create(path, analysis=Analysis(stemmer="none", stop_words="none")) as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": " ".join(terms)}])
    with ragfile.open(path) as rf:
        lexicon = rf.rows.searched("rag.terms")[0].lexicon if rf.rows.has_bm25 else None
        if lexicon is None:
            return
        all_terms = list(lexicon.vocabulary())
        assert list(lexicon.beginning(word)) == [t for t in all_terms if t.startswith(word)]
        assert list(lexicon.beginning("")) == all_terms
        assert lexicon.beginning("") == {t: lexicon.df(t) for t in all_terms}
        assert list(lexicon.near(word, edits)) == [
            t for t in all_terms if distance(word, t) <= edits
        ]


@given(
    rows=st.lists(
        st.lists(st.text(alphabet="abcd", min_size=1, max_size=4), max_size=60),
        min_size=1,
        max_size=9,
    ),
    word=st.text(alphabet="abc", max_size=2),
)
def test_the_commonest_terms_are_the_first_of_all_in_order(tmp_path_factory, rows, word):
    path = tmp_path_factory.mktemp("terms") / "kb.ragfile"
    with ragfile.create(path, analysis=Analysis(stemmer="none", stop_words="none")) as w:
        w.add(
            [
                {"doc_id": "a", "chunk_index": i, "content": " ".join(row)}
                for i, row in enumerate(rows)
            ]
        )
    with ragfile.open(path) as rf:
        if not rf.rows.has_bm25:
            return
        lexicon = rf.rows.searched("rag.terms")[0].lexicon
        begun = lexicon.beginning(word)
        best = sorted(begun, key=lambda term: (-begun[term], term))[: _core.COMMONEST]
        assert lexicon.commonest(word) == {term: begun[term] for term in best}


@given(
    terms=st.lists(st.text(alphabet="abcd", min_size=1, max_size=6), min_size=200, max_size=300),
    word=st.text(alphabet="abcde", min_size=1, max_size=6),
    edits=st.integers(1, 3),
)
@settings(max_examples=examples(60), deadline=None)
def test_a_walk_skips_no_term_that_is_spelled_nearly_so(terms, word, edits):
    """Most of the dictionary is skipped; here many terms share beginnings, and swaps are near."""
    builder = _core.LexicalBuilder(Analysis(stemmer="none", stop_words="none"))
    postings, words = bytearray(), bytearray()
    builder.add([" ".join(terms)])
    builder.finish(postings.extend, words.extend)
    lexicon = _core.Lexicon(*(_core.Section.over(bytes(part)) for part in (words, postings)))
    all_terms = list(lexicon.vocabulary())
    assert list(lexicon.near(word, edits)) == [t for t in all_terms if distance(word, t) <= edits]


@given(
    terms=st.lists(st.text(alphabet="abcd", min_size=1, max_size=6), min_size=20, max_size=60),
    word=st.text(alphabet="abcde", min_size=1, max_size=6),
    language=st.integers(0, 3),
    edits=st.integers(0, 2),
)
@settings(max_examples=examples(60), deadline=None)
def test_a_word_with_a_mark_is_near_terms_of_its_language(terms, word, language, edits):
    builder = _core.LexicalBuilder(Analysis(stemmer="none", stop_words="none", languages=True))
    sections, table = [bytearray(), bytearray()], bytearray()
    for number in range(4):
        builder.add([" ".join(terms[number::4])], number)
    builder.finish(sections[0].extend, sections[1].extend)
    lexicon = _core.Lexicon(*(_core.Section.over(bytes(part)) for part in reversed(sections)))
    _core.merge_frequencies([(lexicon, None, False)], table.extend, 4, len(terms))
    frequencies = _core.Frequencies(_core.Section.over(bytes(table)))
    (marked,) = _core.language_words([word], language)
    wanted = [
        term for term in lexicon.vocabulary()
        if term.startswith(marked[: -len(word)]) and distance(marked, term) <= edits
    ]  # fmt: skip
    assert list(lexicon.near(marked, edits)) == wanted
    assert list(frequencies.near(marked, edits)) == wanted


def test_a_small_file_gives_distinct_answers_to_signs_and_to_filters_of_each_question(rf):
    """Distinct answers want four rows a place, and there are fewer."""
    found = rf.search("+key", 100, query_syntax=True, drop_repeats=True)
    assert {hit.id for hit in found} <= passing(rf, lambda words: "key" in words)
    assert found
    batch = rf.search_batch(
        ["key", "art"], 100, where=[None, {"$not": {"a": 1}}], drop_repeats=True
    )
    assert all(batch)


@pytest.mark.parametrize(
    "sign", ['"rotate keys"', "+keys", "-keys", '-"rotate keys"', "key*", "kys~"]
)
def test_a_question_has_at_most_so_many_operators(tmp_path, sign):
    ragfile.build([{"id": "a", "text": "Rotate keys."}], tmp_path / "kb", embedder="none")
    rf = ragfile.open(tmp_path / "kb")
    rf.search("keys " + " ".join([sign] * 256), query_syntax=True)
    with pytest.raises(ValueError, match="257 operators of query_syntax=; the limit is 256"):
        rf.search("keys " + " ".join([sign] * 257), query_syntax=True)
    assert len(rf.search("keys " * 2000 + sign.replace("-", "+"), query_syntax=True)) <= 1


@pytest.mark.parametrize("door", ["dataset", "cli", "rest"])
def test_every_door_limits_operators(tmp_path, door):
    question = "keys " + "-a " * 300
    pages = [{"id": f"{n}.md", "text": f"Rotate keys {n}."} for n in range(4)]
    path = tmp_path / "kb.ragfile"
    ragfile.build(pages, path, embedder="none")
    if door == "dataset":
        (tmp_path / "docs").mkdir()
        for page in pages:
            (tmp_path / "docs" / page["id"]).write_text(page["text"])
        ragfile.dataset.build(tmp_path / "docs", tmp_path / "set/", shards=2, embedder="none")
        with pytest.raises(ValueError, match="the limit is 256"):
            ragfile.open(tmp_path / "set/").search(question, query_syntax=True)
    elif door == "cli":
        command = [sys.executable, "-m", "ragfile", "search", str(path), question, "--query-syntax"]
        found = subprocess.run(command, capture_output=True, text=True)
        assert found.returncode == 1
        assert "300 operators of --query-syntax; the limit is 256" in found.stderr
    else:
        pytest.importorskip("uvicorn", reason="the extra server is not installed")
        with Serving(path) as server:
            answer = server.search({"query": question, "query_syntax": True})
        assert answer.status == 422
        assert "the limit is 256" in answer.error["message"]
