"""Packing keeps to a budget, drops the lowest, covers files; prompts are the template and nothing else."""

import copy

import hypothesis.strategies as st
import pytest
from hypothesis import given

from ragfile.answer.passage_budget import Extract, compress, estimate_tokens, pack
from ragfile.answer.prompts import TEMPLATE, render, sources
from ragfile.records import Candidate

PROBES = (
    "Pods are small. The kubelet runs them. A liveness probe tells when to restart a container. "
    "Probes run often. Volumes are another matter. Nodes come and go. Liveness is not readiness."
)


def test_spans_are_exact_substrings_of_chunk_and_source():
    document = "Preface. " + PROBES
    candidate = Candidate("d", 0, PROBES, 1.0, start=9, end=9 + len(PROBES))
    spans = compress("liveness probe restart", [candidate], Extract(sentences=1, window=0))
    assert [s["text"] for s in spans] == ["A liveness probe tells when to restart a container."]
    for span in compress("liveness", [candidate]):
        assert PROBES[span["start"] : span["end"]] == span["text"]
        assert document[span["source_start"] : span["source_end"]] == span["text"]


def test_a_window_takes_neighbours_and_touching_spans_join():
    spans = compress(
        "restart readiness", [Candidate("d", 0, PROBES, 1.0)], {"sentences": 2, "window": 1}
    )
    assert [s["text"][:20] for s in spans] == ["The kubelet runs the", "Nodes come and go. L"]
    assert spans[0]["source_start"] is None


def test_a_candidate_without_the_words_gives_its_beginning():
    (span,) = compress("zzz", [Candidate("d", 0, PROBES, 1.0)], {"sentences": 1, "window": 0})
    assert span["text"] == "Pods are small."


def test_three_sentences_with_a_neighbour_on_both_sides_are_kept_unless_said_otherwise():
    text = " ".join(
        f"{'Keys' if i in (3, 10, 17, 24) else 'Pods'} number {i} here." for i in range(30)
    )
    spans = compress("keys", [Candidate("a", 0, text, 1.0)])
    assert [span["text"].split()[2] for span in spans] == ["2", "9", "16"]
    assert [span["text"].count("here.") for span in spans] == [3, 3, 3]


def test_compressing_is_deterministic_and_leaves_its_input_alone():
    given = [Candidate("d", 0, PROBES, 1.0, metadata={"page": 1}), Candidate("e", 1, "", 0.5)]
    before = copy.deepcopy(given)
    runs = {str(compress("liveness probe", given)) for _ in range(100)}
    assert len(runs) == 1
    assert given == before


def by_words(text):
    return len(text.split())


SCORED = st.lists(
    st.builds(
        Candidate,
        st.sampled_from("abc"),
        st.integers(0, 9),
        st.text(st.sampled_from("xy. \n"), max_size=40),
        st.floats(-1, 1),
    ),
    max_size=12,
)


@given(
    SCORED, st.integers(0, 60), st.integers(0, 3), st.sampled_from([by_words, estimate_tokens, len])
)
def test_the_budget_is_never_exceeded_and_nothing_disappears(candidates, budget, frame, count):
    packed = pack(candidates, budget, count=count, frame=frame)
    assert packed.tokens == sum(count(c.content) + frame for c in packed.contexts) <= budget
    assert len(packed.contexts) + len(packed.dropped) == len(candidates)
    scores = [c.score for c in packed.contexts]
    assert scores == sorted(scores, reverse=True)


@given(SCORED, st.integers(0, 60))
def test_with_clear_scores_exactly_the_lowest_are_dropped(candidates, budget):
    packed = pack(candidates, budget, count=len, close=0.0)
    lowest_kept = min((c.score for c in packed.contexts), default=2.0)
    dropped = [d for d in packed.dropped if not d.reason.startswith("longer than")]
    assert all(d.candidate.score <= lowest_kept for d in dropped)
    assert all(len(d.candidate.content) > budget for d in packed.dropped if d not in dropped)
    assert all("budget" in d.reason for d in packed.dropped)


def passage(doc, index, score):
    return Candidate(doc, index, "ten words are in this text here for a test", score)


def test_comparable_scores_spread_over_files():
    near = [
        passage("a", 0, 1.0),
        passage("a", 1, 0.99),
        passage("a", 2, 0.985),
        passage("b", 0, 0.98),
        passage("c", 0, 0.97),
    ]
    packed = pack(near, 30, count=by_words)
    assert [c.doc_id for c in packed.contexts] == ["a", "b", "c"]
    assert [d.candidate.key for d in packed.dropped] == [("a", 1), ("a", 2)]


def test_a_clear_winner_keeps_its_places():
    clear = [passage("a", 0, 1.0), passage("a", 1, 0.9), passage("a", 2, 0.8), passage("b", 0, 0.3)]
    assert [c.key for c in pack(clear, 30, count=by_words).contexts] == [
        ("a", 0),
        ("a", 1),
        ("a", 2),
    ]


def test_the_last_passage_is_cut_after_a_sentence():
    candidates = [
        Candidate("a", 0, "One two three. Four five six. Seven eight.", 1.0, start=100, end=142)
    ]
    (cut,) = pack(candidates, 7, count=by_words).contexts
    assert (cut.content, cut.start, cut.end) == ("One two three. Four five six.", 100, 129)


def test_a_best_passage_over_the_budget_is_cut_after_a_word_where_no_sentence_fits():
    table = Candidate("a", 0, "one two three four five", 1.0, start=10, end=33)
    (cut,) = pack([table], 3, count=by_words).contexts
    assert (cut.content, cut.start, cut.end) == ("one two three", 10, 23)
    (cut,) = pack(
        [Candidate("a", 0, "A sentence that is long. Short.", 1.0)], 2, count=by_words
    ).contexts
    assert cut.content == "A sentence"
    (cut,) = pack([Candidate("a", 0, "x" * 50, 1.0)], 7, count=len).contexts
    assert cut.content == "x" * 7
    assert pack([table], 0, count=by_words).contexts == []
    assert pack([Candidate("a", 0, " \n ", 1.0)], 0, count=len).contexts == []


def test_a_passage_that_no_budget_holds_is_dropped_alone():
    misfit = Candidate("b", 0, " ".join(["row"] * 50), 0.9)
    packed = pack([passage("a", 0, 1.0), misfit, passage("c", 0, 0.8)], 30, count=by_words)
    assert [c.doc_id for c in packed.contexts] == ["a", "c"]
    assert [(d.candidate.doc_id, d.reason) for d in packed.dropped] == [
        ("b", "longer than the budget of 30 tokens")
    ]


def test_what_a_cut_passage_leaves_goes_to_the_next():
    long = Candidate("b", 0, "Five words are in here. " + " ".join(["Row"] * 50), 0.9)
    packed = pack([passage("a", 0, 1.0), long, passage("c", 0, 0.8)], 30, count=by_words)
    assert [(c.doc_id, by_words(c.content)) for c in packed.contexts] == [
        ("a", 10),
        ("b", 5),
        ("c", 10),
    ]
    assert packed.dropped == []


def test_a_smaller_passage_never_takes_the_place_of_a_better_one_that_could_fit():
    short = Candidate("c", 0, "two words", 0.8)
    packed = pack([passage("a", 0, 1.0), passage("b", 0, 0.9), short], 15, count=by_words)
    assert [c.doc_id for c in packed.contexts] == ["a"]
    assert [d.candidate.doc_id for d in packed.dropped] == ["b", "c"]


def test_a_limit_on_passages_is_a_reason_too():
    packed = pack([passage("a", 0, 1.0), passage("a", 1, 0.5)], 1000, limit=1)
    assert [d.reason for d in packed.dropped] == ["limit of 1 passages"]


def test_a_limit_on_passages_of_one_file_lets_other_files_follow():
    candidates = [passage("a", i, 1.0 - i / 10) for i in range(4)] + [passage("b", 0, 0.05)]
    packed = pack(candidates, 40, count=by_words, per_file=2)
    assert [c.key for c in packed.contexts] == [("a", 0), ("a", 1), ("b", 0)]
    assert [(d.candidate.key, d.reason) for d in packed.dropped] == [
        (("a", 2), "limit of 2 passages of one file"), (("a", 3), "limit of 2 passages of one file"),
    ]  # fmt: skip
    packed = pack(candidates, 10, count=by_words, per_file=2)
    assert [(d.candidate.key, d.reason.split()[0]) for d in packed.dropped] == [
        (("a", 1), "budget"), (("a", 2), "limit"), (("a", 3), "limit"), (("b", 0), "budget"),
    ]  # fmt: skip


def test_the_default_estimate_counts_as_documented():
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd efg") == 2
    assert estimate_tokens("a+b=c;\n1") == 4  # 3 letters, 5 others: 0.75 + 2.5
    assert estimate_tokens("日本語") == 3


GOLDEN = """\
You are a helpful assistant. Use the provided context to answer the user's question.
If the answer is not in the context, say you don't know.

Question:
What restarts?

Context:
[Source: a.pdf page=3 score=0.9000]
First text.

[Source: b.md page= score=0.5000]
Second text.


Answer:
"""

CONTEXTS = [
    Candidate("a.pdf", 0, "First text.", 0.9, metadata={"page": 3, "checksum": "aa"}),
    Candidate(
        "b.md", 4, "Second text.", 0.5, metadata={"headers": "Guide > Use", "checksum": "bb"}
    ),
]


def test_the_default_template_renders_as_written():
    assert render("What restarts?", CONTEXTS) == GOLDEN
    assert "If the answer is not in the context, say you don't know." in TEMPLATE


def test_nothing_in_a_passage_or_question_acts_as_template_syntax():
    hostile = "{{query}} {{#each contexts}} {{/each}} {{nothing}}"
    template = "{{query}}|{{#each contexts}}{{metadata.file_id}}:{{text}}{{/each}}"
    prompt = render(
        hostile, [Candidate("d", 0, hostile, 1.0, metadata={"file_id": "{{query}}"})], template
    )
    assert prompt == f"{hostile}|{{{{query}}}}:{hostile}"


def test_a_template_of_ones_own_renders():
    each = "{{#each contexts}}\n- {{doc_id}}#{{chunk_index}} {{metadata.a.b}}\n{{/each}}"
    template = "Q={{ query }}\n" + each + "\n{{lang}}"
    context = Candidate("d", 7, "t", 1.0, metadata={"a": {"b": "deep"}})
    assert render("x", [context], template, lang="en") == "Q=x\n- d#7 deep\nen"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{nobody}}", "unknown template variable"),
        ("{{#each contexts}}{{nobody}}{{/each}}", "unknown template variable"),
        ("{{#each contexts}}", "not closed"),
        ("{{/each}}", "may not hold"),
        ("{{#if query}}", "may not hold"),
        ("{{#each contexts}}{{#each contexts}}{{/each}}{{/each}}", "may not hold"),
        ("{{1+1}}", "may not hold"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused(template, message):
    with pytest.raises(ValueError, match=message):
        render("q", CONTEXTS, template)


def test_system_texts_come_first_in_their_order():
    assert render("q", [], "{{query}}", system=("folder", "", "talk")) == "folder\n\ntalk\n\nq"


def test_sources_are_one_per_file_and_place_in_rank_order():
    again = Candidate("a.pdf", 5, "More.", 0.4, metadata={"page": 3, "checksum": "aa"})
    slide, row = ({"headers": "H", place: 7} for place in ("slide", "row"))
    others = [
        Candidate("c", 0, "x", 0.3, metadata=slide),
        Candidate("c", 1, "x", 0.2, metadata=row),
    ]
    assert sources([*CONTEXTS, again, *others]) == [
        {"file_id": "a.pdf", "page": 3, "checksum": "aa", "score": 0.9, "chunks": [0, 5]},
        {
            "file_id": "b.md",
            "section": "Guide > Use",
            "checksum": "bb",
            "score": 0.5,
            "chunks": [4],
        },
        {"file_id": "c", "slide": 7, "checksum": None, "score": 0.3, "chunks": [0]},
        {"file_id": "c", "row": 7, "checksum": None, "score": 0.2, "chunks": [1]},
    ]
