"""Chat models behind HTTP speak their protocols completely, wait as asked, and hang up when nobody
reads on.
"""

import logging
import threading
import time

import pytest
from servers.chat_servers import Server, event, hang, line, refuse, say

from ragfile.chat.protocol import (
    ContextTooLongError,
    Ending,
    history_of,
    open_chat,
    parameters,
    spoken,
)
from ragfile.errors import ModelError, ProviderError
from ragfile.ground.request_id import request

pytest.importorskip("httpx2", reason="the extra 'http' is not installed")

QUICK = {"first_wait": 0.02, "longest_wait": 1.0, "timeout": 0.5}
MESSAGES = [{"role": "user", "content": "Hi"}]
SCHEMES = pytest.mark.parametrize("scheme", ["openai", "ollama"])


@pytest.fixture
def server():
    with Server() as running:
        yield running


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "RAGFILE_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


def asked(server, scheme, question=MESSAGES, **settings):
    return list(spoken(open_chat(server.model(scheme), **QUICK), question, settings))


# ------------------------------------------------------------------ what both protocols must do ---


@SCHEMES
def test_an_answer_comes_in_pieces_with_its_usage_at_the_end(server, scheme):
    *pieces, ending = asked(server, scheme)
    assert pieces == ["Hello", " there", "."]
    assert ending == Ending(
        "stop", {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}, "m"
    )


@SCHEMES
def test_the_messages_go_out_as_they_are(server, scheme):
    talk = [
        {"role": "system", "content": "s"},
        *MESSAGES,
        {"role": "assistant", "content": "x\u2028y"},
    ]
    asked(server, scheme, talk)
    assert server.messages == talk
    assert server.requests[0][1]["stream"] is True


@SCHEMES
def test_texts_with_the_line_ends_of_unicode_come_whole(server, scheme):
    server.reply = ["a\u2028b\x85c", "d\u2029\x0b", "e"]
    assert asked(server, scheme)[:-1] == server.reply


def test_parameters_have_each_protocols_own_names(server):
    settings = parameters(temperature=0.2, max_tokens=9, stop=["END"], seed=7)
    asked(server, "openai", **settings)
    asked(server, "ollama", **settings)
    first, second = (question for _, question, *_ in server.requests)
    assert settings.items() <= first.items()
    assert second["options"] == {"temperature": 0.2, "num_predict": 9, "stop": ["END"], "seed": 7}


def test_a_parameter_that_is_not_set_is_not_sent(server):
    asked(server, "openai")
    asked(server, "ollama")
    assert set(server.requests[0][1]) == {"model", "messages", "stream", "stream_options"}
    assert set(server.requests[1][1]) == {"model", "messages", "stream"}


@SCHEMES
def test_the_request_id_goes_to_the_server(server, scheme):
    with request("r-9"):
        asked(server, scheme)
    assert server.requests[0][2]["X-Client-Request-Id"] == "r-9"


@SCHEMES
def test_a_busy_server_is_asked_again_before_the_first_word(server, scheme):
    server.script = [refuse(503), refuse(429, **{"Retry-After": "0"})]
    assert asked(server, scheme)[0] == "Hello"
    assert len(server.requests) == 3


@pytest.mark.parametrize(("scheme", "begun"), [("openai", event("Hel")), ("ollama", line("Hel"))])
def test_a_connection_that_breaks_after_the_first_word_is_not_tried_again(server, scheme, begun):
    server.script = [say(begun, is_whole=False)]
    pieces = spoken(open_chat(server.model(scheme), **QUICK), MESSAGES, {})
    assert next(pieces) == "Hel"
    with pytest.raises(ProviderError, match="in the middle of the answer"):
        next(pieces)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("scheme", "begun"), [("openai", event("")), ("ollama", line(""))])
def test_a_connection_that_breaks_before_the_first_word_is_tried_again(server, scheme, begun):
    server.script = [say(begun, is_whole=False), say(begun)]
    assert asked(server, scheme)[:3] == ["Hello", " there", "."]


@SCHEMES
def test_a_server_that_is_down_is_said_with_its_address(server, scheme):
    server.script = [refuse(500, "no memory")] * 3
    with pytest.raises(
        ProviderError, match=r"127\.0\.0\.1.*status 500.*no memory, after 3 attempts"
    ):
        asked(server, scheme)


@SCHEMES
def test_a_server_that_stalls_is_left(server, scheme):
    server.script = [hang(2)] * 3
    with pytest.raises(ProviderError, match=r"no answer within 0\.5 s, after 3 attempts"):
        asked(server, scheme)


def stall(handler, question):
    handler.begin()
    raw = event("Hel").encode()
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
    handler.wfile.flush()
    time.sleep(2)


def test_a_server_that_stalls_in_the_middle_is_left(server):
    server.script = [stall]
    with pytest.raises(ProviderError, match=r"nothing came for 0.5 s, in the middle"):
        asked(server, "openai")


@pytest.mark.parametrize(
    ("scheme", "lines", "message"),
    [
        ("openai", [event("Hel"), 'data: {"error": {"message": "overloaded"}}\n\n'], "overloaded"),
        ("ollama", [line("Hel"), '{"error": "out of memory"}\n'], "out of memory"),
        ("openai", ["data: {nonsense\n\n"], "not a JSON object"),
        ("openai", ["data: [1]\n\n"], "not a JSON object"),
        ("openai", ['data: {"choices": 7}\n\n'], "not a list of objects"),
        ("openai", ['data: {"choices": [{"delta": "x"}]}\n\n'], "holds 'x', not an object"),
        ("ollama", ["nonsense\n"], "not a JSON object"),
        ("openai", ["data: " + "[" * 100_000 + "\n\n"], "not a JSON object"),
        ("openai", ["data: " + "x" * (3 << 20)], "a line of the answer is over"),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_so(server, scheme, lines, message):
    server.script = [say(*lines)] * 3
    with pytest.raises(ProviderError, match=message):
        asked(server, scheme)


def test_a_refusal_for_want_of_room_has_a_class_of_its_own(server):
    server.script = [
        refuse(400, "This model's maximum context length is 4096 tokens", "context_length_exceeded")
    ]
    with pytest.raises(ContextTooLongError):
        asked(server, "openai")
    server.script = [refuse(400, "temperature is not supported")]
    with pytest.raises(ProviderError) as caught:
        asked(server, "openai")
    assert not isinstance(caught.value, ContextTooLongError)


def test_a_server_that_does_not_stream_is_understood(server):
    server.streams = False
    *pieces, ending = asked(server, "openai")
    assert (pieces, ending.reason, ending.usage["total_tokens"]) == (["Hello there."], "stop", 14)


@SCHEMES
def test_the_model_is_hung_up_on_when_nobody_reads_on(server, scheme):
    server.reply, server.pause = ["word "] * 2000, 0.01
    pieces = spoken(open_chat(server.model(scheme), **QUICK), MESSAGES, {})
    assert [next(pieces), next(pieces)] == ["word ", "word "]
    pieces.close()
    assert server.gone.wait(10)


@SCHEMES
def test_threads_may_share_a_model(server, scheme):
    model, found = open_chat(server.model(scheme), **QUICK), []
    threads = [
        threading.Thread(
            target=lambda: found.append(
                "".join(p for p in spoken(model, MESSAGES, {}) if isinstance(p, str))
            )
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["Hello there."] * 6


# ----------------------------------------------------------------------------------------- keys ---


def test_a_key_comes_from_the_environment_and_is_not_shown(server, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
    server.script = [None, refuse(401, "Incorrect API key provided: sk-secret-123")]
    model = open_chat("openai:m", **QUICK)
    list(spoken(model, MESSAGES, {}))
    assert server.requests[0][2]["Authorization"] == "Bearer sk-secret-123"
    with pytest.raises(ProviderError, match="Incorrect API key provided") as caught:
        list(spoken(model, MESSAGES, {}))
    shown = caplog.text + str(caught.value) + caught.value.body + repr(model)
    assert "sk-secret-123" not in shown
    assert "Hello" not in caplog.text


def test_openai_itself_needs_a_key():
    with pytest.raises(ProviderError, match="set OPENAI_API_KEY"):
        open_chat("openai:gpt-4.1-mini")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gpt-4", "no chat model is called 'gpt-4': name one as openai:MODEL or ollama:MODEL"),
        ("openai:", "no chat model"),
        ("ollama:m?api_key=x", "a key does not belong in a model's name"),
        ("ollama:m?colour=red", "colour"),
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(spec, message):
    with pytest.raises(ModelError, match=message):
        open_chat(spec)


# ----------------------------------------------------------------------- objects and parameters ---


class Parrot:
    name = "parrot"

    def __init__(self, answer):
        self.answer, self.given = answer, None

    def chat(self, messages, **settings):
        self.given = messages, settings
        return self.answer


def test_any_object_with_chat_is_a_model():
    assert list(spoken(Parrot("whole"), MESSAGES, {"seed": 1})) == ["whole"]
    assert list(spoken(Parrot(["in ", "parts"]), MESSAGES, {})) == ["in ", "parts"]
    parrot = Parrot("x")
    list(spoken(parrot, MESSAGES, {"seed": 1}))
    assert parrot.given == (MESSAGES, {"seed": 1})


@pytest.mark.parametrize("answer", [7, b"bytes", {"a": 1}, None, [1]])
def test_an_object_that_answers_with_something_else_is_refused(answer):
    with pytest.raises(ModelError, match="parrot answered with"):
        list(spoken(Parrot(answer), MESSAGES, {}))


def test_what_has_no_chat_is_not_a_model():
    with pytest.raises(TypeError, match="object is not a chat model: it has no method chat"):
        open_chat(object())


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"temperature": 2.1}, "temperature is from 0 to 2, not 2.1"),
        ({"temperature": float("nan")}, "temperature is from 0 to 2"),
        ({"temperature": True}, "temperature is a number"),
        ({"temperature": "hot"}, "temperature is a number, not str"),
        ({"max_tokens": 0}, "max_tokens is at least 1, not 0"),
        ({"max_tokens": 1.5}, "max_tokens is a whole number"),
        ({"stop": []}, "stop is 1 to 4 texts"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop is 1 to 4 texts"),
        ({"stop": ""}, "none of them empty"),
        ({"stop": [1]}, "stop is a text"),
        ({"seed": "1"}, "seed is a whole number"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(settings, error):
    with pytest.raises((ValueError, TypeError), match=error):
        parameters(**settings)


@pytest.mark.parametrize(
    ("turn", "error"),
    [
        ({"role": "system", "content": "x"}, r"history\[1\] has the role 'system'"),
        ({"role": "user"}, r"history\[1\] is not"),
        ({"role": "user", "content": 7}, r"history\[1\] has a content that is int"),
        ("hello", r"history\[1\] is not"),
    ],
)
def test_a_turn_that_is_none_is_named(turn, error):
    with pytest.raises((ValueError, TypeError), match=error):
        history_of([{"role": "user", "content": "fine"}, turn])


# ------------------------------------------- other people's clients find the test server honest ---


def test_openais_own_client_reads_the_test_server(server):
    openai = pytest.importorskip("openai", reason="openai's own client is not installed")
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="k", max_retries=0)
    stream = client.chat.completions.create(
        model="m", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Hello there."
    assert chunks[-1].usage.total_tokens == 14
    whole = client.chat.completions.create(model="m", messages=MESSAGES)
    assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == (
        "Hello there.",
        "stop",
    )


def test_ollamas_own_client_reads_the_test_server(server):
    ollama = pytest.importorskip("ollama", reason="ollama's own client is not installed")
    client = ollama.Client(host=server.url)
    parts = list(client.chat(model="m", messages=MESSAGES, stream=True))
    assert "".join(part.message.content for part in parts) == "Hello there."
    assert (parts[-1].done, parts[-1].prompt_eval_count) == (True, 11)
    assert client.chat(model="m", messages=MESSAGES).message.content == "Hello there."
