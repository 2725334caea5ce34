"""What a person reads after a mistake: the message names the next command, and that command works."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

import ragfile


def test_a_build_refuses_a_name_of_another_format_and_says_what_makes_it(run, tmp_path):
    (tmp_path / "a.md").write_text("# Keys\n\nKeys rotate.\n")
    wanted, made = tmp_path / "kb.ragmd", tmp_path / "kb.ragfile"
    code, _, err = run("build", tmp_path / "a.md", "-o", wanted)
    assert code == 1
    assert not wanted.exists()
    advice = re.search(r"write (\S+), then `ragfile (.+)`$", err)
    assert run("build", tmp_path / "a.md", "-o", advice[1])[0] == 0
    assert run(*shlex.split(advice[2]))[0] == 0
    assert "Keys rotate." in wanted.read_text()
    code, _, err = run("build", tmp_path / "a.md", "-o", tmp_path / "kb.TXT")
    assert (code, err.endswith(f"write {made}\n")) == (1, True)


def test_a_wrong_option_is_wrong_usage_and_ends_with_2(run, kb):
    assert run("search", kb)[0] == 2
    assert run("search", kb, "keys", "--bogus")[0] == 2
    code, _, err = run("search", kb, "keys", "-k", "many", "--json")
    assert (code, json.loads(err)["error"]["exit_code"]) == (2, 2)
    assert run("search", kb.parent / "none.ragfile", "keys")[0] == 1


def test_a_misspelt_command_is_told_the_right_one(run, kb):
    code, _, err = run("serch", kb, "keys")
    assert code == 2
    meant = re.search(r"did you mean `ragfile (\w+)`", err)[1]
    assert run(meant, kb, "keys")[0] == 0
    assert "No such command 'xyzzy'" in run("xyzzy")[2]


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_question_before_the_file_is_told_the_order(run, kb, command):
    code, _, err = run(command, "how do keys rotate?", kb)
    assert code == 2
    advice = re.search(r"`ragfile (.+)`$", err.strip())[1]
    assert run(*shlex.split(advice))[0] == 0


def test_a_warning_is_one_line_without_source_code(run, kb):
    code, _, err = run("search", kb, "keys", "--where", '{"lang": "de"}')
    assert code == 0
    said = f"ragfile: {kb}: no chunk has 'lang' in its metadata, so this filter does not see it\n"
    assert err == said + "ragfile: nothing found\n"


def on_a_terminal(kb, **variables):
    """What a search prints on a terminal."""
    reader, writer = os.openpty()
    command = [sys.executable, "-m", "ragfile", "search", str(kb), "keys"]
    subprocess.run(command, stdout=writer, check=True, env={**os.environ, **variables})
    os.close(writer)
    with open(reader, "rb", closefd=True, buffering=0) as terminal:
        return terminal.read(65536)


def test_colours_can_be_turned_off(kb):
    assert b"\x1b[" in on_a_terminal(kb, TERM="xterm", NO_COLOR="")
    assert b"\x1b[" not in on_a_terminal(kb, TERM="xterm", NO_COLOR="1")
    assert b"\x1b[" not in on_a_terminal(kb, TERM="dumb", NO_COLOR="")


@pytest.mark.parametrize(
    ("name", "meant"), [("top_k", "k"), ("limit", "k"), ("filter", "where"), ("filters", "where"),
                        ("score_threshold", "min_score"), ("reranker", "rerank"), ("ofset", "offset")],
)  # fmt: skip
def test_a_name_of_another_library_is_told_ours(kb, name, meant):
    with ragfile.open(kb) as rf:
        for call in (rf.search, rf.ask):
            with pytest.raises(TypeError, match=f"no option '{name}': did you mean '{meant}'"):
                call("keys", **{name: 1})


def test_a_build_says_what_it_takes(kb):
    with pytest.raises(TypeError, match="folders, globs and files, documents, or a data frame"):
        ragfile.build(42, kb)
    with pytest.raises(TypeError, match=r"a name such as 'markdown' or 'words:200/40'.*not 500"):
        ragfile.build(kb.parent / "docs", kb, chunking=500)


def test_a_warning_in_a_program_shows_the_line_of_the_program(kb):
    with ragfile.open(kb) as rf, pytest.warns(ragfile.errors.FilterWarning) as found:
        rf.search("keys", where={"lang": "de"})
    assert [warning.filename for warning in found] == [__file__]
