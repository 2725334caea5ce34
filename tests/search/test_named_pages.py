"""Pages that the best passages name rise: as the slow rule says, whatever the history and the form of a file."""

import random

import pytest
from oracles.named import PAGES, WORDS, Pages, titles, words
from oracles.search_cases import Hashed
from shards.collections import OneByOne

import ragfile
from ragfile import _core, dataset

NOUNS = [a + b for a in ("Li", "Ga", "Al", "Ner", "En", "An", "Mar", "Ish") for b in ("lu", "ki", "zu", "gal", "duk", "tar", "mat", "su")]  # fmt: skip
PLAIN = "the of demon river city born wrote temple king daughter 1984 film naïve 日本語".split()  # noqa: SIM905
QUESTIONS = [
    "Who is the daughter of Enki?",
    "demon",
    "Lilu and Galu Alsu",
    "river Ishtar king",
    "the",
    "Nergal Temple 1984",
]
SHARE = 0.5


def title(rng):
    words = rng.sample(NOUNS, rng.choice([1, 1, 2, 3]))
    shown = " ".join(words) + rng.choice(["", "", " (demon)", " (1984 film) "])
    return rng.choice([shown, shown, shown.lower(), "", 7, "The " + shown, "日本語"])


def text(rng):
    names = [
        f"{rng.choice(NOUNS)}{rng.choice([' ', ', ', '. '])}{rng.choice(NOUNS)}" for _ in range(4)
    ]
    links = [link(rng) for _ in range(3)]
    found = rng.choices(PLAIN + names + links, k=rng.randint(1, 30))
    return " ".join(found)


def link(rng):
    number = rng.randrange(60)
    return rng.choice([f"[{rng.choice(PLAIN)}](d{number:03}.md)", f"[[d{number:03}|that]]", f"[[Also {number}]]",
                       f"[x](/folder/d{number:03})", "[none](nowhere.md)"])  # fmt: skip


def document(rng, number):
    parts = "\n\n".join(text(rng) for _ in range(rng.choice([1, 1, 1, 4])))
    metadata = {"year": 2000 + number % 9}
    if rng.random() < 0.9:
        metadata["title"] = title(rng)
    if rng.random() < 0.3:
        metadata["aliases"] = [f"also {rng.randrange(60)}"]
    return {"id": f"d{number:03}.md", "text": parts, "metadata": metadata}


def create(path, documents, **options):
    options = {"embedder": Hashed(), "chunking": "words:25/0"} | options
    with ragfile.create(path, **options) as w:
        w.add_documents(documents)
    return path


def answers(rf, **options):
    return [
        [(hit.id, hit.score) for hit in rf.search(question, cache=False, **options)]
        for question in QUESTIONS
    ]


@pytest.mark.parametrize("count", [5, 40, 41, 90, 91])
@pytest.mark.parametrize("options", [{}, {"mode": "bm25"}], ids=str)
def test_the_ranking_is_that_of_the_slow_rule(tmp_path, count, options):
    rng = random.Random(count)
    path = create(tmp_path / "a.ragfile", [document(rng, n) for n in range(count)])
    rose = 0
    with ragfile.open(path, embedder=Hashed()) as rf:
        pages = Pages(rf)
        for question in QUESTIONS:
            for hops in (1, 2):
                expected = pages.answer(question, hops, SHARE, **options)
                for k in (1, 3, 12, 30):
                    found = rf.search(question, k=k, hops=hops, cache=False, **options)
                    assert [(hit.id, hit.score) for hit in found] == expected[: len(found)]
                    assert len(found) == min(k, len(expected)) or options
                plain = rf.search(question, k=30, hops=0, cache=False, **options)
                rose += [hit.id for hit in plain] != [one for one, _ in expected[: len(plain)]]
    assert rose or count == 5


def history(rng, path):
    """Write a file in many commits; return the documents that are left."""
    left = {n: document(rng, n) for n in range(40)}
    create(path, left.values())
    for _ in range(12):
        changed = {n: document(rng, n) for n in rng.sample(range(60), rng.randint(0, 5))}
        gone = [n for n in rng.sample(range(60), 4) if n in left and n not in changed]
        with ragfile.edit(path, embedder=Hashed()) as w:
            w.upsert(list(changed.values()))
            w.delete([f"d{n:03}.md" for n in gone])
        left = {n: one for n, one in {**left, **changed}.items() if n not in gone}
    return [left[n] for n in sorted(left)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_edits_compaction_shards_and_layers_change_no_answer(tmp_path, seed):
    rng = random.Random(seed)
    edited = tmp_path / "edited.ragfile"
    left = history(rng, edited)
    whole = create(tmp_path / "whole.ragfile", left)
    dataset.convert(whole, tmp_path / "set", shards=3)
    below, above = (create(tmp_path / f"{n}.ragfile", part) for n, part in
                    enumerate(([*left[::2], left[1] | {"metadata": {"title": "Enki"}}], left[1::2])))  # fmt: skip
    compacted = tmp_path / "compacted.ragfile"
    compacted.write_bytes(edited.read_bytes())
    ragfile.compact(compacted)
    for options in ({"hops": 1}, {"hops": 2}, {"hops": 2, "mode": "bm25"}, {"where": {"year": {"$gt": 2003}}},
                    {"drop_repeats": True}, {"offset": 2}, {"rewrites": ["Gallu"]}, {"group": 2}):  # fmt: skip
        options = {"k": 7} | options
        with ragfile.open(whole, embedder=Hashed()) as rf:
            expected = answers(rf, **options)
        for source in (edited, compacted, tmp_path / "set", [below, above]):
            with ragfile.open(source, embedder=Hashed()) as rf:
                assert answers(rf, **options) == expected, (source, options)
        with ragfile.open(tmp_path / "set", embedder=Hashed(), executor=OneByOne()) as rf:
            assert answers(rf, **options) == expected, options


def test_links_in_passages_raise_pages(tmp_path):
    rng = random.Random(4)
    path = create(tmp_path / "a.ragfile", [document(rng, n) for n in range(60)])
    with ragfile.open(path, embedder=Hashed()) as rf:
        off = ("calibrated", {"linked": 0, "named": SHARE})
        assert answers(rf, fusion=off) != answers(
            rf, fusion=("calibrated", {"linked": 0.25, "named": SHARE})
        )
        pages = Pages(rf, linked=0)
        for question in QUESTIONS:
            found = rf.search(question, k=9, fusion=off, cache=False)
            assert [(hit.id, hit.score) for hit in found] == pages.answer(
                question, 1, SHARE, fusion=off
            )[:9]


def test_a_batch_answers_as_single_questions_do(tmp_path):
    rng = random.Random(9)
    path = create(tmp_path / "a.ragfile", [document(rng, n) for n in range(50)])
    with ragfile.open(path, embedder=Hashed()) as rf:
        for where in (None, [{"year": 2000 + i} for i in range(len(QUESTIONS))]):
            found = rf.search_batch(QUESTIONS, 8, where=where)
            for i, hits in enumerate(found):
                own = where[i] if where else None
                single = rf.search(QUESTIONS[i], 8, where=own, cache=False)
                assert [(h.id, h.score) for h in hits] == [(h.id, h.score) for h in single]


FOUR = [
    {"id": "film", "text": "Ashes was directed by Jane Doe in a small town.", "metadata": {"title": "Ashes (film)"}},
    {"id": "jane", "text": "Her father taught music near the coast.", "metadata": {"title": "Jane Doe"}},
    {"id": "town", "text": "A small town has a film festival.", "metadata": {"title": "Small Town"}},
    {"id": "music", "text": "Music lessons and music halls.", "metadata": {}},
]  # fmt: skip


@pytest.fixture
def four(tmp_path):
    return create(tmp_path / "four.ragfile", FOUR, embedder="default")


def test_the_page_that_the_best_passage_names_rises(four):
    with ragfile.open(four) as rf:
        question = "who directed the film Ashes"
        ranks = [
            [hit.doc_id for hit in rf.search(question, hops=hops)].index("jane")
            for hops in (0, 1, 2)
        ]
        assert ranks[1] < ranks[0]
        assert rf.search(question)[0].doc_id == "film"  # the first place stays


def test_a_file_that_does_not_record_the_rule_answers_as_before(tmp_path):
    config = {"fusion": {"method": "calibrated", "w": 4, "evidence": 0.05}}
    path = create(tmp_path / "old.ragfile", FOUR, config=config, embedder="default")
    with ragfile.open(path) as rf:
        assert rf.file.section("rag.titles", 1) is None
        assert answers(rf) == answers(rf, hops=0) == answers(rf, hops=2)


def test_a_question_can_turn_the_rule_off(four):
    with ragfile.open(four) as rf:

        def scores(**options):
            return [(hit.id, hit.score) for hit in rf.search("who directed Ashes", **options)]

        off = scores(fusion=("calibrated", {"named": 0}))
        assert off == scores(hops=0) != scores()


def test_a_wrong_share_in_a_file_is_refused(four):
    with ragfile.open(four) as rf:
        with pytest.raises(ValueError, match="named must be between 0 and 1"):
            rf.search("film", fusion=("calibrated", {"named": 2}))
        with pytest.raises(ValueError, match="hops"):
            rf.search("film", hops=3)


def test_a_row_that_the_filter_excludes_does_not_rise(four):
    with ragfile.open(four) as rf:
        found = rf.search("who directed the film Ashes", where={"title": {"$ne": "Jane Doe"}})
        assert "jane" not in [hit.doc_id for hit in found]


def test_a_hit_and_its_explanation_tell_who_named_it(four):
    question = "who directed the film Ashes"
    with ragfile.open(four) as rf:
        hits = {hit.doc_id: hit for hit in rf.search(question)}
        assert hits["jane"].named_by == ("film#0", "Jane Doe")
        assert hits["film"].named_by is None
        kept = {hit.doc_id: hit for hit in rf.search(question)}
        assert kept["jane"].named_by == ("film#0", "Jane Doe")
        told = rf.explain(question, "jane#0")
        plain = {hit.doc_id: hit.score for hit in rf.search(question, hops=0)}["jane"]
        assert told.named == {"gain": told.score - plain, "by": "film#0", "name": "Jane Doe"}
        assert "film#0 names 'Jane Doe'" in str(told)
        assert rf.explain(question, "jane#0", hops=0).named == {}
        asked = rf.explain("where was Jane Doe", "jane#0", hops=2)
        assert (asked.named["by"], asked.named["name"]) == ("", "Jane Doe")


def test_a_hit_tells_the_link_that_raised_it(tmp_path):
    notes = [
        {
            "id": "a.md",
            "text": "# Ashes\n\nThe film Ashes was directed by [her](people/jane.md) in [[Town]].",
        },
        {"id": "people/jane.md", "text": "Their father taught music near the coast."},
        {"id": "town.md", "text": "A small town has a film festival."},
    ]
    path = create(tmp_path / "notes.ragfile", notes, embedder="default")
    with ragfile.open(path) as rf:
        question = "who directed the film Ashes"
        hits = {hit.doc_id: hit for hit in rf.search(question)}
        assert hits["people/jane.md"].named_by == ("a.md#0", "her")
        assert hits["town.md"].named_by == ("a.md#0", "Town")
        assert rf.explain(question, "people/jane.md#0").named["name"] == "her"
        assert hits["people/jane.md"].score > rf.search(question, hops=0)[-1].score


def test_titles_have_the_keys_of_their_words():
    assert _core.title_keys("Lilu (mythology)") == sorted(
        _core.title_keys("lilu   MYTHOLOGY") + _core.title_keys("Lilu")
    )
    for none in ("", "( )", "a " * 11, "x" * 2001):
        assert _core.title_keys(none) == []
    assert len(_core.title_keys("(film)")) == 1
    assert len(_core.title_keys("Film (film")) == 1


# Runs of ASCII that are read at once, and forms for which the analyzer is asked.
FORMS = ["U.S.A.", "Don't", "O'Neil's", "'Quoted'", "Foo_Bar", "v1.2", "A.b", "A.", "C++", "C#", "(Enki)", "Éa", "Caf\u00e9", "It\u2019s", "日本語", "X" * 63, "X" * 64, "Y" * 130, "a", "B", "7", "--", "e.g.", "Foo/Bar", "\x00Z", "ﬁX"]  # fmt: skip


def slow_matches(text, known):
    """[(from, to, last, document)] of the titles in a text, in bytes."""
    found, all_ = set(), words(text)
    for i, (word, first, _) in enumerate(all_):
        if text[first] not in "0123456789" and text[first] == word[0]:
            continue
        for n in range(1, WORDS + 1):
            name = tuple(word for word, _, _ in all_[i : i + n])
            places = first, all_[min(i + n, len(all_)) - 1][2], all_[min(i + n, len(all_)) - 1][1]
            if i + n <= len(all_):
                at = [len(text[:place].encode()) for place in places]
                found |= {(*at, document) for document in known.get(name, ())[: PAGES + 1]}
    return sorted(found)


@pytest.mark.parametrize("seed", range(4))
def test_a_text_has_the_same_titles_with_and_without_the_filter(tmp_path, seed):
    rng = random.Random(seed)
    pool = FORMS + NOUNS[:12] + PLAIN
    joined = [" ".join(rng.choices(pool, k=rng.choice([1, 1, 2, 3, 9]))) for _ in range(60 + seed)]
    documents = [
        {"id": f"d{n:03}", "text": "x", "metadata": {"title": title}}
        for n, title in enumerate(joined)
    ]
    path = create(tmp_path / "a.ragfile", documents)
    known = {}
    for n, one in enumerate(joined):
        for name in dict.fromkeys(titles(one)):
            known.setdefault(name, []).append(n)
    with ragfile.open(path, embedder=Hashed()) as rf:
        parts = [(s.titles, s.records, s.alive, s.base) for s in rf.rows.segments]
        strips = {"strip_accents": rf.rows.lexicon.analysis.strip_accents}
        fast, plain = _core.Titles(parts, **strips), _core.Titles(parts, **strips, filters=False)
        total = 0
        for _ in range(150):
            text = rng.choice(["", " ", "\n\t"]).join(
                rng.choice(["", ", ", " ", "  ", "\n"]) + rng.choice(pool + joined)
                for _ in range(rng.randint(0, 40))
            )
            expected = slow_matches(text, known)
            assert sorted(fast.matches(text)) == sorted(plain.matches(text)) == expected
            total += len(expected)
    assert total > 100
