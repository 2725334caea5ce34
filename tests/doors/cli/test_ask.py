"""ragfile ask: an answer and its sources on the terminal, JSON on request, and a reason wherever
something is missing.
"""

import json
import os
import subprocess
import sys

import pytest
from places import ROOT
from servers.chat_servers import Server, refuse

import ragfile

pytest.importorskip("httpx2", reason="the extra 'http' is not installed")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ask")
    (folder / "keys.md").write_text(
        "# Guide\n\n## Keys\n\nRotate the keys every 90 days with a job.\n"
    )
    ragfile.build(folder / "keys.md", folder / "kb", created=1)
    return folder / "kb"


@pytest.fixture
def server():
    with Server(["Every 90 days [1]. \x1b[31mPaint it in a shade of crimson [8]."]) as running:
        yield running


def run(*arguments, **environment):
    kept = {
        k: v
        for k, v in os.environ.items()
        if k not in ("RAGFILE_MODEL", "RAGFILE_OFFLINE", "OPENAI_API_KEY")
    }
    return subprocess.run(
        [sys.executable, "-m", "ragfile", "ask", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=kept | environment,
    )


def test_where_nothing_supports_an_answer_the_nearest_passages_are_named(path):
    done = run(path, "who won the football world cup?")
    assert done.returncode == 4
    assert done.stdout.startswith("Nothing here supports an answer: ")
    assert "\n\nThe nearest passages:\n[1] " in done.stdout
    assert done.stdout.count("answer") == 1
    assert done.stderr == ""
    assert "| 4 | `ask` without a model" in (ROOT / "docs/reference/command-line.md").read_text()


def test_without_a_model_sentences_sources_and_one_line_that_names_a_model(path):
    done = run(path, "how often are keys rotated?")
    assert done.returncode == 0
    text, _, listed = done.stdout.rpartition("\n\n")
    assert text.endswith("Rotate the keys every 90 days with a job. [1]")
    assert listed == f"[1] {path.parent}/keys.md:5  Guide > Keys\n"
    assert (
        done.stderr
        == "ragfile: To get a written answer, name a model: --model openai:MODEL or --model ollama:MODEL.\n"
    )


def test_with_a_model_the_answer_its_source_and_what_is_wrong_with_it(path, server):
    done = run(path, "how often?", "--model", server.model())
    assert (
        done.stdout
        == f"Every 90 days [1]. \ufffd[31mPaint it in a shade of crimson.\n\n[1] {path.parent}/keys.md:5  Guide > Keys\n"
    )
    assert "the model cited [8], which does not exist" in done.stderr
    assert "not supported by the passages: \ufffd[31mPaint it in a shade of crimson." in done.stderr
    assert done.returncode == 0


def test_sentences_without_support_are_listed_once_each(path):
    written = (
        "Paint it in a shade of crimson. Sell the garden gnomes. Paint it in a shade of crimson."
    )
    with Server([f"Every 90 days [1]. {written}"]) as server:
        done = run(path, "how often?", "--model", server.model())
    assert done.stderr.count("not supported") == 1
    assert (
        "not supported by the passages:\n  Paint it in a shade of crimson.\n  Sell the garden gnomes.\n"
        in done.stderr
    )


def test_no_passages_are_refused(path):
    done = run(path, "How often are keys rotated?", "-k", "0")
    assert done.returncode == 2
    assert "0 is not in the range x>=1" in done.stderr


def test_the_model_may_be_named_in_the_environment(path, server):
    assert (
        "Every 90 days [1]" in run(path, "how often?", RAGFILE_MODEL=server.model("ollama")).stdout
    )


def test_json_is_the_whole_answer_and_a_stream_is_an_event_a_line(path, server):
    whole = json.loads(run(path, "how often?", "--model", server.model(), "--json").stdout)
    assert (whole["citations"][0]["start"], whole["unknown"]) == (18, [8])
    lines = [
        json.loads(x)
        for x in run(
            path, "how often?", "--model", server.model(), "--json", "--stream"
        ).stdout.splitlines()
    ]
    assert [lines[0]["event"], lines[-1]["event"]] == ["sources", "done"]
    assert lines[-1]["text"] == whole["text"]


def test_options_reach_the_model_and_the_search(path, server):
    run(
        path,
        "how often?",
        "--model",
        server.model(),
        "--temperature",
        0.5,
        "--max-tokens",
        9,
        "--stop",
        "X",
        "--seed",
        1,
        "--system",
        "S",
    )
    question = server.requests[0][1]
    assert (
        question["temperature"],
        question["max_tokens"],
        question["stop"],
        question["seed"],
    ) == (0.5, 9, ["X"], 1)
    assert question["messages"][0]["content"].startswith("S\n\n")
    assert "nothing found" in run(path, "how often?", "--where", '{"name": "other"}').stderr


def test_a_model_that_is_down_is_said_and_the_sentences_come_all_the_same(path, server):
    server.script = [refuse(404, "no such model")]
    done = run(path, "how often are keys rotated?", "--model", server.model())
    assert "every 90 days" in done.stdout
    assert "no such model" in done.stderr
    assert done.returncode == 1


def test_offline_asks_nobody(path, server):
    for done in (
        run(path, "how often are keys rotated?", "--model", server.model(), "--offline"),
        run(path, "how often are keys rotated?", "--model", server.model(), RAGFILE_OFFLINE="1"),
    ):
        assert "every 90 days" in done.stdout
        forbidden = "is over the network, which offline mode forbids (--offline, RAGFILE_OFFLINE)"
        assert f"the chat model openai:m {forbidden}" in done.stderr
        assert "name a model" not in done.stderr
    assert server.requests == []


def test_a_file_that_is_damaged_is_left_out_only_if_that_is_allowed(path, tmp_path, server):
    (tmp_path / "bad").write_bytes(path.read_bytes()[:100])
    assert run(tmp_path / "bad", "how often?", "--model", server.model()).returncode == 5
    done = run(
        tmp_path / "bad", "how often?", "--model", server.model(), "--allow-ungrounded", "--json"
    )
    found = json.loads(done.stdout)
    assert found["rag"]["used"] is False
    assert "bad" in found["rag"]["reason"]
    assert run(tmp_path / "bad", "how often?", "--allow-ungrounded").returncode == 5


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        ([" "], "the question is empty", 2),
        (["q", "--temperature", "9"], "temperature is from 0 to 2", 1),
        (["q", "--model", "gpt"], "name one as openai:MODEL or ollama:MODEL", 1),
        (["q", "--stream"], "--stream requires --json", 2),
        (["q", "--where", "["], "--where is not JSON", 2),
    ],
)
def test_wrong_usage_is_one_sentence(path, arguments, message, code):
    done = run(path, *arguments)
    assert (done.returncode, message in done.stderr, "Traceback" in done.stderr) == (
        code,
        True,
        False,
    )
