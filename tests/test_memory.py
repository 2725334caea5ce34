"""Memory: what was said, what holds now or held then, and what is forgotten."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

import ragfile
from ragfile.memory import Memory

PARIS, ROME = "Anna lives in Paris.", "Anna lives in Rome."
HOME = "Where does Anna live?"


class Clock:
    """A clock that tests set."""

    def __init__(self, now="2026-06-01T12:00:00+00:00"):
        self.now = datetime.fromisoformat(now)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    with Memory(tmp_path / "anna.ragfile", clock=clock) as memory:
        yield memory


def texts(found):
    return [one.text for one in found]


@pytest.fixture
def home(memory):
    """A memory with a revision: Paris from January, Rome from March."""
    home = memory.remember(PARIS, about="Anna", at="2026-01-10").id
    memory.revise(home, ROME, at="2026-03-02")
    return home


# ------------------------------------------------------------------------------------------ two clocks


def test_what_holds_now_is_recalled_by_the_words_of_what_held_before(memory, home):
    found = memory.recall("Who lives in Paris?")
    assert texts(found) == [ROME]
    assert found[0].since == datetime(2026, 3, 2, tzinfo=UTC)
    assert found[0].until is None


def test_what_held_at_a_date_is_recalled_with_its_end(memory, home):
    found = memory.recall(HOME, as_of="2026-02-01")
    assert texts(found) == [PARIS]
    assert found[0].until == datetime(2026, 3, 2, tzinfo=UTC)


def test_nothing_held_before_the_first_statement(memory, home):
    assert memory.recall(HOME, as_of="2026-01-09") == []


def test_what_was_known_at_a_date_ignores_what_was_said_later(memory):
    home = memory.remember(PARIS, at="2026-01-10").id
    memory.revise(home, ROME, at="2026-03-02", valid_from="2026-02-01")
    assert texts(memory.recall(HOME, as_of="2026-02-15")) == [ROME]
    assert texts(memory.recall(HOME, as_of="2026-02-15", known_at="2026-02-20")) == [PARIS]


@pytest.fixture
def planned(memory):
    """A memory that changes in September; the clock is at the first of June."""
    name = memory.remember(PARIS, about="Anna", at="2026-01-10").id
    memory.revise(name, ROME, valid_from="2026-09-01")
    return name


def test_a_revision_from_a_later_day_holds_from_then_on(memory, planned, clock):
    (now,) = memory.recall(HOME)
    assert (now.text, now.until) == (PARIS, datetime(2026, 9, 1, tzinfo=UTC))
    assert texts(memory.recall(HOME, as_of="2026-08-31")) == [PARIS]
    assert texts(memory.recall(HOME, as_of="2026-09-01T00:00:00Z")) == [ROME]
    clock.now = datetime(2026, 9, 2, tzinfo=UTC)
    assert texts(memory.recall(HOME)) == [ROME]


def test_a_repeat_of_what_holds_leaves_a_later_revision_alone(memory, planned, clock):
    made = memory.remember(PARIS.upper(), about="Anna")
    assert (made.id, made.kind) == (planned, "repeated")
    assert texts(memory.recall(HOME)) == [PARIS.upper()]
    assert texts(memory.recall(HOME, as_of="2026-08-31")) == [PARIS.upper()]
    assert texts(memory.recall(HOME, as_of="2026-09-01T00:00:00Z")) == [ROME]
    made = memory.remember("By the way, " + PARIS, about="Anna")
    assert made.kind == "repeated"


def test_a_later_revision_that_is_told_again_holds_from_now_on(memory, planned):
    assert memory.remember(ROME, about="Anna").kind == "revised"
    assert texts(memory.recall(HOME)) == [ROME]
    assert texts(memory.recall(HOME, as_of="2026-05-31")) == [PARIS]


def test_a_repeat_of_a_statement_with_an_end_ends_with_it(memory):
    memory.remember("Anna is away.", about="Anna", at="2026-05-30", valid_until="2026-06-10")
    memory.remember("Anna is away", about="Anna")
    assert texts(memory.recall("Is Anna away?", as_of="2026-06-10")) == ["Anna is away"]
    assert texts(memory.recall("Is Anna away?", as_of="2026-06-11")) == []


def test_a_correction_holds_since_the_statement_that_was_never_true(memory):
    home = memory.remember(PARIS, at="2026-01-10").id
    memory.revise(home, ROME, at="2026-03-02", correction=True)
    found = memory.recall(HOME, as_of="2026-01-15")
    assert texts(found) == [ROME]
    assert found[0].since == datetime(2026, 1, 10, tzinfo=UTC)


def test_a_statement_about_a_past_period_does_not_replace_what_holds(memory, home):
    memory.revise(
        home,
        "Anna lived in Oslo.",
        at="2026-04-01",
        valid_from="2025-01-01",
        valid_until="2025-12-31",
    )
    assert texts(memory.recall(HOME)) == [ROME]
    assert texts(memory.recall(HOME, as_of="2025-06-01")) == ["Anna lived in Oslo."]


def test_nothing_is_known_after_the_end_of_the_last_statement(memory, clock):
    memory.remember("Anna is on holiday.", at="2026-05-20", valid_until="2026-06-03")
    assert texts(memory.recall("Is Anna on holiday?")) == ["Anna is on holiday."]
    clock.now += timedelta(days=3)
    assert memory.recall("Is Anna on holiday?") == []


def test_a_statement_of_a_writer_whose_clock_is_ahead_holds_at_once(memory, clock):
    memory.remember(PARIS, at=clock.now + timedelta(seconds=5))
    assert texts(memory.recall(HOME)) == [PARIS]


def test_statements_that_arrive_late_take_their_place_in_time(memory):
    home = memory.remember(ROME, at="2026-03-02").id
    memory.revise(home, PARIS, at="2026-01-10")
    assert texts(memory.recall(HOME)) == [ROME]
    assert [one.text for one in memory.history(home)] == [PARIS, ROME]


def test_the_same_moments_in_any_zone_give_the_same_answer(memory, home):
    assert texts(memory.recall(HOME, as_of="2026-03-02T01:30:00+02:00")) == [PARIS]


@pytest.mark.parametrize("name", ["as_of", "known_at", "at"])
def test_a_time_without_a_zone_is_refused(memory, home, name):
    with pytest.raises(ValueError, match=rf"{name} is .* without a zone"):
        memory.recall(HOME, **{name: "2026-03-02T01:30:00"})


def test_an_end_before_the_begin_is_refused(memory):
    with pytest.raises(ValueError, match=r"valid_until is .*, not after valid_from"):
        memory.remember(PARIS, at="2026-03-02", valid_until="2026-03-01")


# ---------------------------------------------------------------------------------------------- repeats


def test_a_repeat_joins_what_it_repeats_and_names_the_rule(memory):
    first = memory.remember(PARIS, about="Anna", at="2026-01-10")
    again = memory.remember("Remember that Anna lives in Paris!", about="Anna", at="2026-02-10")
    assert (first.joined, again.joined) == ("", "the same words in the same order")
    assert (again.id, again.kind) == (first.id, "repeated")
    found = memory.recall(HOME)
    assert [one.id for one in found] == [first.id]
    assert (found[0].since, found[0].wordings) == (datetime(2026, 1, 10, tzinfo=UTC), 2)


def test_a_repeat_of_what_no_longer_holds_is_a_return_to_it(memory, home):
    again = memory.remember(PARIS, about="Anna", at="2026-05-01")
    assert (again.id, again.kind) == (home, "revised")
    assert texts(memory.recall(HOME)) == [PARIS]
    assert memory.recall(HOME)[0].since == datetime(2026, 5, 1, tzinfo=UTC)


def test_a_repeat_of_a_revision_joins_its_memory(memory, home):
    again = memory.remember(ROME, about="Anna", at="2026-05-01")
    assert (again.id, again.kind) == (home, "repeated")


def test_a_repeat_in_other_words_is_named_by_its_writer(memory, home):
    other = memory.remember("Rome is Anna's home.", about="Anna", same_as=home)
    assert (other.id, other.joined, other.kind) == (home, "same_as", "repeated")
    memory.revise(home, "Anna lives in Oslo.")
    assert texts(memory.recall("Whose home is Rome?")) == ["Anna lives in Oslo."]


def test_a_repeat_of_the_first_wording_after_one_in_other_words_is_still_a_repeat(memory):
    home = memory.remember(PARIS, about="Anna", at="2026-01-10").id
    memory.remember("Paris is Anna's home.", about="Anna", at="2026-02-10", same_as=home)
    again = memory.remember(PARIS, about="Anna", at="2026-03-10")
    assert (again.id, again.kind) == (home, "repeated")
    assert memory.recall(HOME)[0].since == datetime(2026, 1, 10, tzinfo=UTC)


def test_the_same_words_about_another_are_another_memory(memory):
    one = memory.remember("Likes tea.", about="Anna")
    other = memory.remember("Likes tea.", about="Bert")
    assert one.id != other.id
    assert [r.id for r in memory.recall("Who likes tea?", about="Bert")] == [other.id]


def test_repeats_of_threads_at_the_same_time_become_one_memory(memory):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(memory.remember(PARIS, about="Anna").id))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(memory.history(found[0])) == 8


# ---------------------------------------------------------------------------------- history and changes


def test_the_history_has_every_statement_in_order(memory, home):
    memory.remember(ROME, about="Anna", at="2026-04-01")
    assert [(one.text, one.kind) for one in memory.history(home)] == [
        (PARIS, "remembered"), (ROME, "revised"), (ROME, "repeated"),
    ]  # fmt: skip


def test_changes_have_what_was_replaced_and_no_repeats(memory, home):
    memory.remember(ROME, about="Anna", at="2026-04-01")
    memory.remember("Bert lives in Oslo.", about="Bert", at="2026-04-02")
    changes = memory.changes("2026-02-01")
    assert [(c.kind, c.text, c.before) for c in changes] == [
        ("revised", ROME, PARIS), ("remembered", "Bert lives in Oslo.", ""),
    ]  # fmt: skip
    assert [c.about for c in memory.changes("2026-02-01", about="Bert")] == ["Bert"]
    assert [c.text for c in memory.changes("2026-01-01", until="2026-01-31")] == [PARIS]


@pytest.mark.parametrize("call", ["history", "revise"])
def test_an_unknown_memory_is_named(memory, call):
    arguments = ("m0", "Anna left.") if call == "revise" else ("m0",)
    with pytest.raises(KeyError, match="no memory 'm0': `recall` shows the ids"):
        getattr(memory, call)(*arguments)


def test_an_empty_statement_is_refused(memory):
    with pytest.raises(ValueError, match="the text is empty"):
        memory.remember("  ")


def test_a_long_statement_is_refused_with_where_it_belongs(memory):
    with pytest.raises(ValueError, match=r"20,000 characters at most.*`ragfile add`"):
        memory.remember("x" * 20_001)


# --------------------------------------------------------------------------------------- conversations


def told(memory, *turns, session="monday", **options):
    return [memory.log_turn(session, who, text, **options) for who, text in turns]


def test_a_turn_is_found_by_what_the_turns_before_it_are_about(memory):
    ids = told(
        memory, ("Eve", "My grandmother gave me a violin."), ("Bob", "How lovely! Do you play it?"),
        ("Eve", "Every Sunday."), ("Bob", "I have to go."), ("Eve", "See you!"),
    )  # fmt: skip
    found = memory.recall("On which days does Eve play the violin?", 3)
    assert ids[2] in [one.id for one in found]
    assert all(one.kind == "turn" for one in found)


def test_a_turn_is_found_by_its_speaker_and_by_its_day(memory):
    told(memory, ("Eve", "It was fine."), at="2023-05-08")
    told(memory, ("Bob", "It was fine."), at="2023-06-09", session="friday")
    assert memory.recall("How was it, Bob?", 1)[0].who == "Bob"
    assert memory.recall("How was it on 8 May 2023?", 1)[0].who == "Eve"


def test_turns_are_numbered_in_their_session_by_any_number_of_writers(memory):
    def speak(number):
        for i in range(5):
            told(memory, ("Eve", f"Sentence {number} {i}."))

    threads = [threading.Thread(target=speak, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [one for one in memory.knowledge.document_ids() if one.startswith("monday/")]
    assert ids == [f"monday/{n:06d}" for n in range(1, 21)]


def test_a_long_turn_is_split_and_found_once(memory):
    (name,) = told(memory, ("Eve", "The violin is old. " * 500))
    assert [one.id for one in memory.recall("violin", 5)] == [name]
    (following,) = told(memory, ("Bob", "Really?"))
    assert following == "monday/000002"


def test_turns_after_a_date_are_not_recalled_as_of_it(memory):
    told(memory, ("Eve", "I bought a violin."), at="2026-05-08")
    assert memory.recall("violin", as_of="2026-05-07") == []
    assert memory.recall("violin", known_at="2026-05-07") == []


def test_a_relative_day_counts_from_the_moment_of_the_question(memory):
    told(memory, ("Eve", "We went for a walk."), at="2026-05-08")
    told(memory, ("Eve", "We went for a walk."), at="2026-05-20", session="later")
    found = memory.recall("Where did we go yesterday?", 1, at="2026-05-09")
    assert found[0].at == datetime(2026, 5, 8, tzinfo=UTC)


# --------------------------------------------------------------------------------------------- the file


def test_a_batch_is_one_commit(memory):
    before = memory.knowledge.generation
    with memory.batch() as day:
        home = day.remember(PARIS, about="Anna")
        day.revise(home.id, ROME)
        day.log_turn("monday", "Eve", "Hello.")
        assert day.log_turn("monday", "Bob", "Hi.") == "monday/000002"
        assert day.remember(ROME, about="Anna").kind == "repeated"
    assert memory.knowledge.generation == before + 1
    assert texts(memory.recall(HOME, 1)) == [ROME]


def test_a_batch_that_fails_changes_nothing(memory):
    with pytest.raises(KeyError), memory.batch() as day:
        day.remember(PARIS)
        day.revise("m0", ROME)
    assert memory.recall(HOME) == []


def test_memories_are_in_the_file_for_the_next_program(tmp_path, memory, home):
    with Memory(memory.path) as other:
        assert texts(other.recall(HOME)) == [ROME]
    with ragfile.open(memory.path) as rf:
        assert rf.search("Rome", k=1)[0].doc_id == home


def test_two_programs_that_make_the_same_file_share_it(tmp_path):
    path, made = tmp_path / "new.ragfile", []

    def begin(number):
        with Memory(path) as memory:
            made.append(memory.remember(f"Fact {number} is known.").id)

    threads = [threading.Thread(target=begin, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Memory(path) as memory:
        assert sorted(memory.knowledge.document_ids()) == sorted(made)
    assert [p.name for p in tmp_path.iterdir()] == ["new.ragfile"]


def test_a_url_is_refused(tmp_path):
    with pytest.raises(ValueError, match="memories are written, and a URL can only be read"):
        Memory("https://example.org/anna.ragfile")


def test_layers_are_refused(tmp_path):
    with pytest.raises(TypeError, match="a memory is one file, not list"):
        Memory([tmp_path / "a.ragfile", tmp_path / "b.ragfile"])


def test_a_file_of_documents_can_have_memories_beside_them(tmp_path):
    ragfile.build([{"id": "a.md", "text": "Anna Street leads to Rome."}], tmp_path / "kb.ragfile")
    with Memory(tmp_path / "kb.ragfile") as memory:
        memory.remember(ROME, about="Anna")
        assert texts(memory.recall(HOME)) == [ROME]
        assert len(memory.knowledge.search("Rome")) == 2


# -------------------------------------------------------------------------------------- at the edges


def test_the_last_day_of_a_period_belongs_to_it(memory):
    memory.remember("Rent is 500.", valid_until="2026-03-31", at="2025-12-01")
    assert texts(memory.recall("rent", as_of="2026-03-31")) == ["Rent is 500."]
    assert texts(memory.recall("rent", as_of="2026-04-01")) == []


def test_a_repeat_that_stays_makes_its_memory_stay(memory):
    name = memory.remember(PARIS, about="Anna", at="2026-01-10", ttl="1d").id
    assert memory.remember(PARIS, about="Anna", at="2026-01-11").id == name
    assert texts(memory.recall(HOME)) == [PARIS]


def test_a_document_is_neither_forgotten_nor_revised_as_a_memory(memory):
    with ragfile.edit(memory.path) as writer:
        writer.upsert([{"id": "guide.md", "text": "How to rotate the keys."}])
    for change in (lambda: memory.forget("guide.md"), lambda: memory.revise("guide.md", "New.")):
        with pytest.raises(ValueError, match="is a document, not a memory"):
            change()
    with ragfile.open(memory.path) as rf:
        assert rf.document("guide.md").text == "How to rotate the keys."


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ttl": "9999999d"}, "after the year 9999"),
        ({"at": "0001-01-01T00:00:00+10:00"}, "between the years 1 and 9999"),
    ],
)
def test_a_moment_outside_the_calendar_is_refused(memory, options, words):
    with pytest.raises(ValueError, match=words):
        memory.remember(PARIS, **options)


def test_a_text_is_a_text(memory):
    with pytest.raises(TypeError, match="the text is a str, not int"):
        memory.remember(3)


# --------------------------------------------------------------------------- documents beside memories


@pytest.fixture
def beside(memory):
    """The same file with documents whose metadata use the names that memories use."""
    with ragfile.edit(memory.path) as writer:
        writer.upsert([
            {"id": "talk.md", "text": "A talk about herons.", "metadata": {"session": "monday"}},
            {"id": "old.md", "text": "Expired herons.", "metadata": {"expires": 20200101}},
            {"id": "new.md", "text": "Herons since long.", "metadata": {"since": 2020, "kind": "x"}},
        ])  # fmt: skip
    return memory


def test_documents_with_names_of_memories_in_their_metadata_are_no_memories(beside):
    beside.remember("Herons eat fish.", about="herons")
    assert texts(beside.recall("herons", 10)) == ["Herons eat fish."]
    for name in ("talk.md", "old.md", "new.md"):
        with pytest.raises(KeyError):
            beside.history(name)


def test_a_session_is_forgotten_and_a_document_of_its_name_is_kept(beside):
    said = beside.log_turn("monday", "Eve", "Let us meet.", at="2026-01-05T09:00:00Z")
    assert beside.forget(session="monday").ids == [said]
    beside.forget()
    with ragfile.open(beside.path) as rf:
        assert {"talk.md", "old.md", "new.md"} <= {d.id for d in rf.documents()}


def test_the_history_of_an_expired_memory_is_not_shown(memory):
    name = memory.remember(PARIS, at="2020-01-01", ttl="1d").id
    with pytest.raises(KeyError):
        memory.history(name)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (
            lambda m: m.log_turn("\ud800", "Eve", "Hello."),
            "session is '\\\\ud800', which is not valid",
        ),
        (
            lambda m: m.log_turn("x" * 513, "Eve", "Hello."),
            "session has 513 bytes; the limit is 512",
        ),
        (lambda m: m.log_turn("monday", "x" * 513, "Hello."), "who has 513 bytes"),
        (lambda m: m.remember("Hello.", about="x" * 513), "about has 513 bytes"),
        (lambda m: m.recall("Hello", k=0), "k"),
    ],
)
def test_a_name_that_no_file_should_hold_is_refused(memory, call, error):
    memory.remember("Hello.")
    with pytest.raises(ValueError, match=error):
        call(memory)
    assert len(memory.knowledge) == 1


def test_one_text_is_not_a_list_of_tags(memory):
    with pytest.raises(TypeError, match="a list of texts"):
        memory.remember("Hello.", tags="work")


def test_many_repeats_of_one_text_do_not_grow_the_memory(memory):
    name = memory.remember(PARIS, about="Anna", at="2026-01-10").id
    with memory.batch() as batch:
        for day in range(300):
            made = batch.remember(PARIS, about="Anna", at=f"2026-02-{day % 28 + 1:02}")
            assert (made.id, made.kind) == (name, "repeated")
    found = memory.history(name)
    assert len(found) == 9
    assert [one.kind for one in found] == ["remembered"] + ["repeated"] * 8
    assert found[-1].at == datetime(2026, 2, 28, tzinfo=UTC)
    (now,) = memory.recall(HOME)
    assert (now.text, now.since) == (PARIS, datetime(2026, 1, 10, tzinfo=UTC))
    assert texts(memory.recall(HOME, known_at="2026-01-11")) == [PARIS]
