"""ragfile memory: what the library does, from a shell."""

import json

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "anna.ragfile"


@pytest.fixture
def home(run, path):
    code, out, _ = run(
        "memory", "remember", path, "Anna lives in Paris.", "--about", "Anna", "--at", "2026-01-10"
    )
    assert code == 0
    name = out.split()[0]
    assert run("memory", "revise", path, name, "Anna lives in Rome.", "--at", "2026-03-02")[0] == 0
    return name


def test_what_holds_is_recalled_now_and_as_of_a_date(run, path, home):
    now = run("memory", "recall", path, "Where does Anna live?")[1]
    assert now == f"[{home}] Anna lives in Rome. (since 2026-03-02, about Anna)\n"
    then = run("memory", "recall", path, "Where does Anna live?", "--as-of", "2026-02-01")[1]
    assert then.startswith(f"[{home}] Anna lives in Paris. (since 2026-01-10 until 2026-03-02")


def test_json_has_the_fields_of_results(run, path, home):
    (found,) = json.loads(run("memory", "recall", path, "Where does Anna live?", "--json")[1])
    assert (found["id"], found["since"]) == (home, "2026-03-02T00:00:00.000000Z")
    history = json.loads(run("memory", "history", path, home, "--json")[1])
    assert [one["kind"] for one in history] == ["remembered", "revised"]
    changes = json.loads(run("memory", "changes", path, "--since", "2026-02-01", "--json")[1])
    assert [one["before"] for one in changes] == ["Anna lives in Paris."]


def test_a_turn_is_logged_under_its_number(run, path):
    assert run("memory", "log-turn", path, "monday", "Eve", "Hello.")[1] == "monday/000001\n"
    assert run("memory", "log-turn", path, "monday", "Bob", "Hi.")[1] == "monday/000002\n"
    assert "Eve: Hello." in run("memory", "recall", path, "Who said hello?")[1]


def test_a_memory_is_hidden_then_erased_and_verify_says_which(run, path, home):
    assert run("memory", "forget", path, home)[1].startswith(f"Hidden: {home}. Its bytes are in")
    said = run("verify", path)[1]
    assert "1 forgotten text is still in the file: `ragfile memory forget" in said
    command = said.split("`")[1].split()[1:]
    assert run(*command)[1] == "Nothing new is hidden. No forgotten text is left in the file.\n"
    assert "forgotten" not in run("verify", path)[1]


def test_a_retention_is_recorded_with_the_file(run, path):
    name = run("memory", "remember", path, "Anna left.", "--retention", "0d")[1].split()[0]
    assert "No byte of it is left" in run("memory", "forget", path, name)[1]


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("recall", "x", "--as-of", "2026-01-01T10:00:00"), 2, "without a zone"),
        (("history", "m0"), 1, "no memory 'm0'"),
        (("forget", "m0"), 1, "no memory or turn 'm0'"),
        (("revise", "m0", "Anna left."), 1, "no memory 'm0'"),
        (("remember", " "), 2, "the text is empty"),
    ],
)
def test_a_mistake_is_one_line_with_its_code(run, path, home, arguments, code, reason):
    name, *rest = arguments
    ended, _, err = run("memory", name, path, *rest)
    assert (ended, reason in err) == (code, True)


@pytest.mark.parametrize("name", ["recall", "history", "forget"])
def test_only_writing_makes_a_file(run, path, name):
    code, _, err = run("memory", name, path, "m0")
    assert code == 2
    assert "does not exist: `ragfile memory remember` makes one" in err
    assert not path.exists()
