"""A memory over others: all are recalled, its own file alone is written, and what stays below is named."""

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from oracles.decoded_bytes import places_of

import ragfile
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.memory_tools import MemoryTools, OpenMemories
from ragfile.memory import Memory

SECRET = "zanzibarum"
STANDUP, CODE = "The standup is at 9:30.", f"The door code is {SECRET}."


def clock():
    return datetime.fromisoformat("2026-06-01T12:00:00+00:00")


@pytest.fixture
def team(tmp_path):
    """A memory that a team shares."""
    path = str(tmp_path / "team.ragfile")
    with Memory(path, clock=clock) as memory:
        memory.remember(STANDUP, about="standup", at="2026-01-05")
        memory.remember(CODE, about="door", at="2026-01-05")
        memory.log_turn("monday", "Eve", "I play the violin.", at="2026-05-04")
    return path


@pytest.fixture
def mine(team, tmp_path):
    with Memory(tmp_path / "mine.ragfile", over=[team], clock=clock) as memory:
        yield memory


def ragfile_command(*arguments):
    command = [sys.executable, "-m", "ragfile", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def texts(found):
    return [one.text for one in found]


def id_of(memory, question):
    return memory.recall(question, 1)[0].id


def test_memories_of_all_layers_are_recalled_and_one_file_is_written(mine, team):
    before = Path(team).read_bytes()
    mine.remember("I like tea.", about="me")
    assert {STANDUP, CODE, "I like tea."} <= set(texts(mine.recall("What is there?", 9)))
    assert texts(mine.recall("standup?", about="standup")) == [STANDUP]
    assert {one.about for one in mine.changes("2026-01-01")} == {"standup", "door", "me"}
    assert Path(team).read_bytes() == before


def test_a_memory_below_is_revised_above_with_its_history(mine, team):
    name = id_of(mine, "When is the standup?")
    mine.revise(name, "The standup is at 10.")
    assert texts(mine.recall("When is the standup?", 1)) == ["The standup is at 10."]
    assert texts(mine.recall("When is the standup?", 1, as_of="2026-02-01")) == [STANDUP]
    assert texts(mine.history(name)) == [STANDUP, "The standup is at 10."]
    with Memory(team, clock=clock) as below:
        assert texts(below.recall("When is the standup?", 1)) == [STANDUP]


def test_a_repeat_of_what_a_layer_below_knows_copies_nothing(mine, team):
    made = mine.remember("By the way, the standup is at 9:30", about="standup")
    assert (made.kind, made.joined) == ("repeated", "the same words in the same order")
    with Memory(team, clock=clock) as below:
        below.revise(made.id, "The standup is at 11.")
    assert texts(mine.recall("When is the standup?", 1)) == ["The standup is at 11."]


def test_a_conversation_goes_on_above_where_it_ended_below(mine):
    assert mine.log_turn("monday", "Bob", "How long?") == "monday/000002"
    assert mine.log_turn("monday", "Eve", "For years.") == "monday/000003"
    found = {one.id: one for one in mine.recall("violin", 9)}
    assert found["monday/000003"].around == "I play the violin.\nHow long?"


def test_what_a_layer_below_still_holds_is_named_and_never_called_erased(mine, team):
    own = mine.remember(f"{SECRET} is my word.", about="me").id
    below = id_of(mine, "What is the door code?")
    gone = mine.forget([own, below], erase=True)
    assert (gone.ids, gone.is_erased, gone.below) == ([own, below], False, (team,))
    assert SECRET not in str(mine.recall(f"door code {SECRET}", 9))
    assert places_of(Path(mine.path), SECRET) == []
    assert places_of(Path(team), SECRET) != []
    assert mine.forget(erase=True).below == (team,)
    with Memory(team, clock=clock) as shared:
        assert shared.forget(below, erase=True).is_erased
    assert mine.forget(erase=True).is_erased


def test_a_memory_is_forgotten_above_and_below_by_what_it_is_about(mine, team):
    name = id_of(mine, "When is the standup?")
    mine.revise(name, "The standup is at 10.")
    gone = mine.forget(about="standup", erase=True)
    assert (gone.ids, gone.below) == ([name], (team,))
    assert "standup" not in str(mine.recall("When is the standup?", 9))
    assert mine.remember(STANDUP, about="standup").id == name
    assert texts(mine.recall("When is the standup?", 1)) == [STANDUP]


def test_the_retention_is_that_of_the_file_above(team, tmp_path):
    with Memory(team, retention="30d"):
        pass
    with Memory(tmp_path / "mine.ragfile", over=[team], retention="2d") as memory:
        assert memory.retention.period.days == 2
    with Memory(tmp_path / "other.ragfile", over=[team]) as memory:
        assert memory.retention.period.days == 1


def test_a_layer_can_be_a_dataset_or_open_already(team, tmp_path):
    shards = str(tmp_path / "shards")
    ragfile.dataset.convert(team, shards, shards=2)
    with Memory(tmp_path / "one.ragfile", over=[shards]) as memory:
        memory.remember("I like tea.")
        assert {STANDUP, "I like tea."} <= set(texts(memory.recall("What is there?", 9)))
        memory.revise(id_of(memory, "When is the standup?"), "The standup is at 10.")
        assert texts(memory.recall("When is the standup?", 1)) == ["The standup is at 10."]
    with ragfile.open(team) as shared:
        with Memory(tmp_path / "two.ragfile", over=[shared]) as memory:
            assert STANDUP in texts(memory.recall("When is the standup?"))
        assert len(shared) == 3


def test_layers_of_another_model_are_refused(team, tmp_path):
    ragfile.build([{"id": "a", "text": "b"}], tmp_path / "words.ragfile", embedder=None)
    with pytest.raises(ragfile.ModelError, match="layers must agree"):
        Memory(tmp_path / "words.ragfile", over=[team]).recall("b")
    with pytest.raises(TypeError, match="a list of layers"):
        Memory(tmp_path / "x.ragfile", over=team)


def test_a_missing_file_is_made_only_if_that_is_allowed(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such memory"):
        Memory(tmp_path / "none.ragfile", create=False)
    assert list(tmp_path.iterdir()) == []


def test_tools_recall_all_layers_and_name_them_without_their_path(mine, team):
    tools = MemoryTools(OpenMemories(Files([mine.path], over=[team])))
    found = tools.call("recall", {"question": "What is the door code?", "k": 1})
    name = found["structuredContent"]["found"][0]["id"]
    done = tools.call("forget", {"id": name})
    assert done["content"][0]["text"] == (
        f"Hidden: {name}. Still in layers below: team.ragfile. Forget it there, too."
    )
    assert done["structuredContent"]["below"] == ["team.ragfile"]


def test_the_command_line_takes_layers(team, tmp_path):
    path = str(tmp_path / "mine.ragfile")
    done = ragfile_command("memory", "remember", path, "I like tea.", "--over", team)
    assert done.returncode == 0, done.stderr
    done = ragfile_command("memory", "recall", path, "door code", "--over", team, "--json")
    assert CODE in [one["text"] for one in json.loads(done.stdout)]
    done = ragfile_command("memory", "forget", path, "--about", "door", "--over", team)
    assert "Still in layers below: team.ragfile." in done.stdout
