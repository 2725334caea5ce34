"""Forgotten texts: hidden at once, erased in time, and never called gone before they are.

SECRET is a word that the stemmer leaves as it is. Every byte of a file is searched for it: raw, in each
compressed frame, and in the rows and dictionaries of each generation.
"""

from datetime import datetime, timedelta

import numpy as np
import pytest
from oracles.decoded_bytes import places_of

import ragfile
from ragfile.embedding.protocol import open_embedder
from ragfile.ground.signing_keys import new_key
from ragfile.memory import Memory

SECRET = "zanzibarum"
TEXT = f"Anna's password is {SECRET}."


class Clock:
    def __init__(self):
        self.now = datetime.fromisoformat("2026-06-01T12:00:00+00:00")

    def __call__(self):
        return self.now

    def pass_days(self, days):
        self.now += timedelta(days=days)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    with Memory(tmp_path / "anna.ragfile", retention="7d", clock=clock) as memory:
        for number in range(12):
            memory.remember(f"Anna knows fact {number}.", about="Anna")
        yield memory


def where(memory, word=SECRET):
    from pathlib import Path

    return places_of(Path(memory.path), word)


def test_the_search_of_bytes_finds_a_text_that_was_deleted(memory):
    name = memory.remember(TEXT).id
    assert where(memory) != []
    memory.forget(name)
    assert where(memory) != []


def test_a_forgotten_text_is_hidden_at_once_and_the_result_says_until_when_it_is_in_the_file(
    memory, clock
):
    name = memory.remember(TEXT).id
    gone = memory.forget(name)
    assert memory.recall(f"password {SECRET}", 20, as_of="2030-01-01")
    assert SECRET not in str(memory.recall(f"password {SECRET}", 20, as_of="2030-01-01"))
    assert (gone.ids, gone.is_erased) == ([name], False)
    assert gone.due == clock.now + timedelta(days=7)


def test_the_next_write_after_the_retention_erases_every_byte(memory, clock):
    memory.forget(memory.remember(TEXT).id)
    clock.pass_days(6)
    memory.remember("Bert lives in Oslo.")
    assert where(memory) != []
    clock.pass_days(2)
    memory.remember("Bert lives in Rome.")
    assert where(memory) == []
    assert memory.forget().is_erased


def test_forget_without_names_erases_what_is_due(memory, clock):
    memory.forget(memory.remember(TEXT).id)
    clock.pass_days(8)
    assert memory.forget().is_erased
    assert where(memory) == []


def test_a_text_can_be_erased_at_once_with_its_vector(memory):
    name = memory.remember(TEXT).id
    assert memory.forget(name, erase=True).is_erased
    assert where(memory) == []
    vector = np.asarray(open_embedder("default").embed([TEXT])[0], np.float32)
    with open(memory.path, "rb") as file:
        assert vector.tobytes()[:64] not in file.read()


def test_an_expired_text_is_not_recalled_and_later_erased(memory, clock):
    memory.remember(TEXT, ttl="3d")
    clock.pass_days(2)
    assert SECRET in str(memory.recall(SECRET))
    clock.pass_days(2)
    assert SECRET not in str(memory.recall(SECRET))
    assert SECRET not in str(memory.changes("2026-01-01"))
    assert memory.forget().is_erased is False
    clock.pass_days(7)
    memory.forget()
    assert where(memory) == []


def test_a_revision_can_extend_the_life_of_a_memory(memory, clock):
    name = memory.remember("Anna is away.", ttl="3d").id
    memory.revise(name, "Anna is away until July.", ttl="30d")
    clock.pass_days(10)
    memory.forget()
    assert "until July" in str(memory.recall("Is Anna away?"))


def test_a_forgotten_turn_leaves_the_turns_after_it(memory):
    for number, text in enumerate(["Hello.", TEXT, "I see.", "Good.", "Bye."]):
        memory.log_turn("monday", f"speaker{number}", text)
    memory.forget("monday/000002", erase=True)
    assert where(memory) == []
    left = [one for one in memory.knowledge.document_ids() if one.startswith("monday/")]
    assert left == [f"monday/{n:06d}" for n in (1, 3, 4, 5)]
    (third,) = (r for r in memory.recall("I see.", 9) if r.id == "monday/000003")
    assert third.around == "Hello."


def test_a_session_is_forgotten_whole_and_can_begin_again(memory):
    for text in ("Hello.", TEXT):
        memory.log_turn("monday", "Eve", text)
    assert memory.forget(session="monday", erase=True).ids == ["monday/000001", "monday/000002"]
    assert where(memory) == []
    assert memory.log_turn("monday", "Eve", "Hello.") == "monday/000001"


def test_everything_about_somebody_is_forgotten(memory):
    memory.remember(TEXT, about="Bert")
    assert len(memory.forget(about="Anna", erase=True).ids) == 12
    assert where(memory, "fact") == []
    assert SECRET in str(memory.recall(SECRET))


def test_an_unknown_id_is_named_and_nothing_is_forgotten(memory):
    name = memory.remember(TEXT).id
    with pytest.raises(KeyError, match="no memory or turn 'm0': nothing was forgotten"):
        memory.forget([name, "m0"])
    assert SECRET in str(memory.recall(SECRET))


def test_kept_generations_that_hold_the_text_are_named_and_stay_until_they_may_end(memory):
    with ragfile.edit(memory.path, keep="all"):
        pass
    name = memory.remember(TEXT).id
    held = memory.knowledge.generation
    gone = memory.forget(name, erase=True)
    assert not gone.is_erased
    assert gone.due is None
    assert gone.held == ((held, "kept"),)
    assert where(memory) != []
    assert memory.forget(end_kept=True).is_erased
    assert where(memory) == []


def test_a_signed_generation_that_holds_the_text_is_named_and_stays_until_it_may_end(
    memory, tmp_path
):
    key = tmp_path / "key"
    new_key(key)
    name = memory.remember(TEXT).id
    ragfile.sign(memory.path, key)
    signed = memory.knowledge.generation
    gone = memory.forget(name, erase=True)
    assert not gone.is_erased
    assert (signed, "signed") in gone.held
    assert memory.forget(end_kept=True).is_erased
    assert where(memory) == []


def test_a_write_never_ends_a_kept_generation(memory, clock):
    with ragfile.edit(memory.path, keep="all"):
        pass
    memory.forget(memory.remember(TEXT).id)
    clock.pass_days(8)
    memory.remember("Bert lives in Oslo.")
    assert where(memory) != []
    assert memory.forget().is_erased is False


def test_parity_keeps_no_forgotten_text(memory):
    with ragfile.edit(memory.path, parity=50):
        pass
    memory.forget(memory.remember(TEXT).id, erase=True)
    assert where(memory) == []
    assert ragfile.repair(memory.path, dry_run=True).is_damaged is False


def test_verify_counts_the_forgotten_texts_that_are_still_in_the_file(memory):
    assert ragfile.verify(memory.path)[1]["forgotten"] == 0
    memory.forget(memory.remember(TEXT).id)
    assert ragfile.verify(memory.path)[1]["forgotten"] == 1
    ragfile.compact(memory.path)
    assert ragfile.verify(memory.path)[1]["forgotten"] == 0
    assert where(memory) == []


def test_the_retention_is_recorded_and_can_be_changed(memory):
    with Memory(memory.path) as other:
        assert other.retention.period == timedelta(days=7)
    with Memory(memory.path, retention="0d") as other:
        assert other.forget(other.remember(TEXT).id).is_erased
    assert where(memory) == []


def test_a_damaged_record_of_retention_is_refused(memory):
    with ragfile.edit(memory.path) as writer:
        writer.record["memory"] = {"retention": "long"}
    with pytest.raises(ragfile.CorruptError, match="invalid value for 'memory'"):
        memory.remember(TEXT)


def generations(memory):
    return [commit["generation"] for commit in ragfile.log(memory.path)]


def test_a_file_that_keeps_few_generations_loses_only_older_ones(memory):
    with ragfile.edit(memory.path, keep=3):
        pass
    gone = memory.forget(memory.remember(TEXT).id, erase=True)
    forgotten = memory.knowledge.generation
    assert [one.reason for one in gone.held] == ["kept"]
    for number in range(100):
        memory.log_turn("monday", "Eve", f"Sentence {number}.")
        if number % 10 == 0 and memory.forget(erase=True).is_erased:
            break
    assert where(memory) == []
    newest = memory.knowledge.generation
    assert newest - 3 > forgotten
    assert generations(memory) == [newest, newest - 1, newest - 2, newest - 3][: 3 + 1]
    with ragfile.open(memory.path, generation=newest - 2) as old:
        assert len(old) > 12
    assert ragfile.verify(memory.path)[1]["forgotten"] == 0
    assert memory.forget().is_erased


def test_an_overdue_text_is_erased_by_a_write_when_no_kept_generation_has_it(memory, clock):
    with ragfile.edit(memory.path, keep=2):
        pass
    memory.forget(memory.remember(TEXT).id)
    clock.pass_days(8)
    for number in range(100):
        memory.log_turn("monday", "Eve", f"Sentence {number}.")
        if where(memory) == []:
            break
    assert where(memory) == []
    assert memory.forget().is_erased
    assert len(generations(memory)) >= 2
