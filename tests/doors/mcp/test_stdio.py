"""ragfile mcp over stdin and stdout: one message a line, and nothing else on stdout."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest

import ragfile
from ragfile.doors.mcp import stdio

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25"},
}
SEARCH = {
    "jsonrpc": "2.0", "id": 2, "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "how often are keys rotated?"},
               "_meta": {"ragfile/structured": True}},
}  # fmt: skip


def run(path, *messages, options=(), code=None, **environment):
    """The lines that a server answers with, and the finished process."""
    command = [
        sys.executable,
        *(["-c", code] if code else ["-m", "ragfile"]),
        "mcp",
        str(path),
        *options,
    ]
    lines = "".join(m if isinstance(m, str) else json.dumps(m) + "\n" for m in messages)
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done


def test_a_conversation_from_spawn_to_end(path):
    answers, done = run(
        path, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, SEARCH
    )
    assert [answer["id"] for answer in answers] == [1, 2]
    with ragfile.open(path) as rf:
        wanted = rf.search("how often are keys rotated?", 5)
    assert [hit["id"] for hit in answers[1]["result"]["structuredContent"]["hits"]] == [
        h.id for h in wanted
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_an_id_that_json_cannot_say_is_not_repeated(path):
    _, done = run(
        path,
        *(
            f'{{"jsonrpc": "2.0", "id": {number}, "method": "ping"}}\n'
            for number in ("NaN", "1e999", "[-Infinity]")
        ),
    )
    lines = done.stdout.splitlines()
    assert [json.loads(line, parse_constant=pytest.fail)["id"] for line in lines] == [None] * 3


def test_lines_that_are_no_messages_do_not_end_it(path):
    answers, _ = run(path, "nonsense\n", "\n", "[" * 100_000 + "\n", '{"id": 1}\n', HELLO)
    assert [a.get("error", {}).get("code") for a in answers] == [-32700, -32700, -32600, None]


def test_a_line_without_its_end_is_answered(path):
    answers, _ = run(path, json.dumps(HELLO))
    assert answers[0]["id"] == 1


def test_a_message_that_is_too_long_is_passed_over(server, monkeypatch):
    monkeypatch.setattr(stdio, "LONGEST", 64)
    out = io.BytesIO()
    stdio.exchange(
        server, io.BytesIO(b"x" * 200 + b"\n" + b'{"jsonrpc":"2.0","id":5,"method":"ping"}\n'), out
    )
    first, second = map(json.loads, out.getvalue().splitlines())
    assert (first["error"]["code"], second) == (-32600, {"jsonrpc": "2.0", "id": 5, "result": {}})


NOISY = """
import sys
import ragfile.doors.mcp.tools as tools
real = tools.Tools.call
def call(self, name, arguments):
    print("noise")
    if arguments.get("query") == "boom":
        raise RuntimeError("boom")
    return real(self, name, arguments)
tools.Tools.call = call
from ragfile.doors.cli.main import main
main(sys.argv[1:])
"""


def test_what_prints_goes_to_stderr_and_a_failure_ends_one_question(path):
    boom = {**SEARCH, "id": 9, "params": {"name": "search", "arguments": {"query": "boom"}}}
    answers, done = run(path, boom, SEARCH, code=NOISY)
    assert [(a["id"], a.get("error", {}).get("code")) for a in answers] == [(9, -32603), (2, None)]
    assert "noise" in done.stderr
    assert "RuntimeError: boom" in done.stderr


def test_a_client_that_goes_away_ends_the_server_quietly(path):
    server = subprocess.Popen(
        [sys.executable, "-m", "ragfile", "mcp", path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    server.stdout.close()
    _, error = server.communicate((json.dumps(HELLO) + "\n").encode())
    assert (server.returncode, error) == (0, b"")


def test_interrupting_it_is_quiet(path):
    server = subprocess.Popen(
        [sys.executable, "-m", "ragfile", "mcp", path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    server.stdin.write((json.dumps(HELLO) + "\n").encode())
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 1
    server.send_signal(signal.SIGINT)
    _, error = server.communicate()
    assert (server.returncode, error) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "name a file"),
        (["none.ragfile"], 1, "No such file"),
        (["{path}", "--model", "gpt"], 1, "openai:MODEL"),
    ],
)
def test_wrong_usage_is_one_sentence(path, arguments, code, message):
    named = [argument.format(path=path) for argument in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "ragfile", "mcp", *named], capture_output=True, text=True, input=""
    )
    assert (done.returncode, message in done.stderr, "Traceback" in done.stderr) == (
        code, True, False,
    )  # fmt: skip


def test_offline_a_url_is_a_reason(path):
    answers, _ = run("http://127.0.0.1:9/kb.ragfile", SEARCH, options=["--offline"])
    text = answers[0]["result"]["content"][0]["text"]
    assert "is over the network" in text
