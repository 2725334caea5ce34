"""`ask` over a WebSocket."""

import json

import pytest
from doors.server.conftest import until
from servers.chat_servers import Server as ChatServer

websockets = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")

KB = "/v1/collections/kb"
SAID = ["Rotate the keys ", "every 90 days [1]."]


@pytest.fixture
def chat():
    with ChatServer(SAID) as server:
        yield server


@pytest.fixture
def answering(serving, path, chat):
    return serving(path, model=chat.model())


def connected(server, path=KB + "/ask", **options):
    return websockets.connect(f"ws://{server.address}{path}", proxy=None, **options)


def answer(socket, question):
    socket.send(question if isinstance(question, str) else json.dumps(question))
    events = []
    while not events or events[-1]["event"] not in ("done", "error"):
        events.append(json.loads(socket.recv(timeout=20)))
    return events


def plain(events):
    """Without what differs from one time to the next."""
    for event in events:
        event.pop("timings", None)
        event.pop("request_id", None)
    return events


def test_the_events_are_those_of_the_stream(answering):
    asked = {"question": "How often are keys rotated?", "k": 2}
    streamed = answering.post(KB + "/ask", asked | {"stream": True}).events
    with connected(answering) as socket:
        assert plain(answer(socket, asked)) == plain([data for _, data in streamed])
        again = plain(answer(socket, asked))
    assert "".join(e["text"] for e in again if e["event"] == "delta") == "".join(SAID)


@pytest.mark.parametrize("wrong", ["{", "[]", "{}", '{"question": " "}', '{"question": 1}',
                                   '{"question": "x", "k": "y"}'])  # fmt: skip
def test_a_question_that_is_wrong_is_said_and_the_next_is_answered(answering, wrong):
    with connected(answering) as socket:
        [refused] = answer(socket, wrong)
        assert refused["error"]["code"] in (400, 422)
        assert answer(socket, {"question": "keys?"})[-1]["event"] == "done"


def test_a_page_from_elsewhere_gets_no_socket(answering):
    for options in ({"origin": "https://evil.example"}, {"path": "/v1/other"}):
        with pytest.raises(Exception, match="403"), connected(answering, **options):
            pass
    with connected(answering, origin=answering.url) as socket:
        assert answer(socket, {"question": "keys?"})[-1]["event"] == "done"


def test_a_client_that_closes_hangs_up_on_the_model(answering, chat):
    chat.reply, chat.pause = ["word "] * 200, 0.05
    with connected(answering) as socket:
        socket.send(json.dumps({"question": "keys?"}))
        until(lambda: chat.requests)
    assert chat.gone.wait(20)
