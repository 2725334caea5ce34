"""Embedders behind HTTP speak their protocols completely, wait as asked, and take no answer that is not whole."""

import email.utils
import logging
import pickle
import socket
import time

import numpy as np
import pytest
from servers.embedding_servers import DIMS, Server, answer, hang, hang_up, refuse, vector_of

from ragfile.embedding.protocol import open_embedder
from ragfile.errors import ProviderError

pytest.importorskip("httpx2", reason="the extra 'http' is not installed")

TEXTS = ["one", "two", "three", "vier – ünf", "五"]
QUICK = {"first_wait": 0.02, "longest_wait": 3.0, "timeout": 0.5}


@pytest.fixture
def server():
    with Server() as running:
        yield running


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)


def openai(server, model="text-embedding-3-small", **options):
    return open_embedder(f"openai:{model}", base_url=server.url + "/v1", **{**QUICK, **options})


def ollama(server, model="all-minilm", **options):
    return open_embedder(f"ollama:{model}", host=server.url, **{**QUICK, **options})


PROVIDERS = pytest.mark.parametrize("provider", [openai, ollama])


def expected(texts, dims=DIMS):
    return np.stack([vector_of(text, dims) for text in texts])


def assert_same(found, wanted):
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-7)


# -------------------------------------------------------------------------------------- what every provider must do ---


@PROVIDERS
def test_vectors_come_back_in_the_order_of_the_texts(server, provider):
    assert_same(provider(server).embed(TEXTS), expected(TEXTS))


@PROVIDERS
def test_a_thousand_texts_in_batches_of_64_are_16_requests(server, provider):
    texts = [f"text {i}" for i in range(1000)]
    assert_same(provider(server, batch=64).embed(texts), expected(texts))
    assert len(server.requests) == 16


@PROVIDERS
def test_a_batch_has_64_texts_unless_said_otherwise(server, provider):
    provider(server).embed([f"text {i}" for i in range(130)])
    assert [len(question["input"]) for _, question, *_ in server.requests] == [64, 64, 2]


@PROVIDERS
def test_a_blank_text_is_zeros_and_is_not_sent(server, provider):
    found = provider(server).embed(["", "one", " \n"])
    assert_same(found, np.stack([np.zeros(DIMS), vector_of("one"), np.zeros(DIMS)]))
    assert server.requests[0][1]["input"] == ["one"]


@PROVIDERS
def test_dimensions_are_asked_for_and_held_to(server, provider):
    embedder = provider(server, dimensions=4)
    assert_same(embedder.embed(["one"]), expected(["one"], 4))
    assert server.requests[0][1]["dimensions"] == 4
    assert embedder.model.dims == 4


@PROVIDERS
def test_dims_are_learnt_from_the_first_answer(server, provider):
    embedder = provider(server)
    assert embedder.model.dims is None
    embedder.embed(["one"])
    assert embedder.model.dims == DIMS


@PROVIDERS
def test_prefixes_depend_on_the_role(server, provider):
    embedder = provider(server, model="nomic-embed-text")
    embedder.embed(["one"], "query")
    embedder.embed(["one"], "document")
    inputs = [question["input"] for _, question, *_ in server.requests]
    assert inputs == [["search_query: one"], ["search_document: one"]]


@PROVIDERS
def test_a_caller_may_choose_other_prefixes(server, provider):
    provider(server, model="nomic-embed-text", document_prefix="doc ").embed(["one"])
    assert server.requests[0][1]["input"] == ["doc one"]


@PROVIDERS
@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_failure_is_tried_again(server, provider, status):
    server.script = [refuse(status), refuse(status)]
    assert_same(provider(server).embed(["one"]), expected(["one"]))
    assert len(server.requests) == 3


@PROVIDERS
@pytest.mark.parametrize("status", [301, 400, 401, 403, 413, 422])
def test_any_other_refusal_is_final(server, provider, status):
    server.script = [refuse(status, "the reason", Location="/elsewhere")]
    with pytest.raises(ProviderError, match=r"the reason") as caught:
        provider(server).embed(["one"])
    assert len(server.requests) == 1
    assert caught.value.status == status
    assert caught.value.request_id == "req_7"


@PROVIDERS
def test_attempts_end(server, provider):
    server.script = [refuse(500)] * 10
    with pytest.raises(ProviderError, match="after 3 attempts"):
        provider(server, attempts=3).embed(["one"])
    assert len(server.requests) == 3


@PROVIDERS
def test_a_silent_server_is_asked_again(server, provider):
    server.script = [hang(1.0)]
    assert_same(provider(server, timeout=0.2).embed(["one"]), expected(["one"]))
    assert len(server.requests) == 2


@PROVIDERS
def test_a_broken_connection_is_asked_again(server, provider):
    server.script = [hang_up]
    assert_same(provider(server).embed(["one"]), expected(["one"]))
    assert len(server.requests) == 2


@PROVIDERS
def test_no_server_at_all_is_an_error_that_names_the_address(server, provider):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        server.url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ProviderError, match=server.url):
            provider(server, attempts=2).embed(["one"])


@PROVIDERS
def test_retry_after_in_seconds_is_waited_for(server, provider):
    server.script = [refuse(429, **{"Retry-After": "0.4"})]
    provider(server).embed(["one"])
    assert server.requests[1][3] - server.requests[0][3] >= 0.4


@PROVIDERS
def test_retry_after_as_a_date_is_waited_for(server, provider, monkeypatch):
    waits = []
    monkeypatch.setattr("ragfile.net.json_client.time.sleep", waits.append)
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    server.script = [refuse(503, **{"Retry-After": date})]
    provider(server, longest_wait=60).embed(["one"])
    assert 25 <= waits[0] <= 31


@PROVIDERS
def test_a_server_that_wants_too_long_a_wait_is_not_waited_for(server, provider):
    server.script = [refuse(429, **{"Retry-After": "3600"})]
    with pytest.raises(ProviderError, match="wait 3600 s"):
        provider(server).embed(["one"])


@PROVIDERS
def test_waits_grow_and_have_jitter(server, provider, monkeypatch):
    waits = []
    monkeypatch.setattr("ragfile.net.json_client.time.sleep", waits.append)
    for _ in range(2):
        server.script = [refuse(500)] * 4
        provider(server).embed(["one"])
    first, second = waits[:4], waits[4:]
    assert all(0.02 * 2**i <= wait <= 0.02 * 2**i + 0.02 for i, wait in enumerate(first))
    assert first != second


@PROVIDERS
def test_every_request_has_an_id_and_the_log_knows_both(server, provider, caplog):
    caplog.set_level(logging.DEBUG, "ragfile.net.json_client")
    server.script = [refuse(500)]
    provider(server).embed(["one"])
    sent = [headers["X-Client-Request-Id"] for _, _, headers, _ in server.requests]
    calls = [record.call for record in caplog.records if hasattr(record, "call")]
    assert sent[0] == sent[1] == calls[0]["client_request_id"] == calls[1]["client_request_id"]
    assert [call["outcome"] for call in calls] == [500, 200]
    assert calls[0]["server_request_id"] == "req_7"


@PROVIDERS
def test_a_key_is_in_no_message_and_no_text_in_the_log(server, provider, caplog):
    caplog.set_level(logging.DEBUG)
    options = {"api_key": "sk-secret"} if provider is openai else {}
    embedder = provider(server, attempts=2, **options)
    server.script = [refuse(500), refuse(400)]
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["my private words"])
    seen = caplog.text + str(caught.value) + repr(embedder) + repr(embedder.protocol.caller)
    assert "sk-secret" not in seen
    assert "private words" not in seen


@PROVIDERS
def test_making_an_embedder_sends_nothing(server, provider):
    provider(server)
    assert server.requests == []


def test_offline_refuses_a_server_before_any_socket(monkeypatch):
    monkeypatch.setattr(socket, "socket", lambda *_, **__: pytest.fail("a socket was opened"))
    for spec in ("openai:text-embedding-3-small", "ollama:nomic-embed-text"):
        with pytest.raises(ProviderError, match="offline"):
            open_embedder(spec, offline=True)
    assert open_embedder("default", offline=True).embed(["one"]).shape == (1, 256)


@PROVIDERS
def test_an_embedder_can_be_pickled_between_calls(server, provider):
    embedder = provider(server)
    embedder.embed(["one"])
    assert_same(pickle.loads(pickle.dumps(embedder)).embed(TEXTS), expected(TEXTS))


# ----------------------------------------------------------------------------------------------------------- OpenAI ---


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_openai_encodings_give_the_same_vectors(server, encoding):
    assert_same(openai(server, encoding=encoding).embed(TEXTS), expected(TEXTS))
    assert server.requests[0][1]["encoding_format"] == encoding


def test_openai_servers_without_base64_are_understood(server):
    server.ignores_base64 = True
    assert_same(openai(server).embed(TEXTS), expected(TEXTS))


def test_openai_order_goes_by_index(server):
    server.shuffled = True
    assert_same(openai(server).embed(TEXTS), expected(TEXTS))


def test_openai_sends_the_model_the_key_and_no_dimensions_unless_told(server):
    openai(server, api_key="sk-1").embed(["one"])
    path, question, headers, _ = server.requests[0]
    assert path == "/v1/embeddings"
    assert question == {
        "model": "text-embedding-3-small",
        "input": ["one"],
        "encoding_format": "base64",
    }
    assert headers["Authorization"] == "Bearer sk-1"


def test_openai_key_and_address_come_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-2")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1/")
    assert_same(open_embedder("openai:m").embed(["one"]), expected(["one"]))
    assert server.requests[0][2]["Authorization"] == "Bearer sk-2"


def test_openai_itself_is_not_asked_without_a_key():
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        open_embedder("openai:text-embedding-3-small")


def test_a_key_from_a_file_with_a_line_end_is_taken(server):
    openai(server, api_key="sk-3\n").embed(["one"])
    assert server.requests[0][2]["Authorization"] == "Bearer sk-3"


@pytest.mark.parametrize("key", ["sk-se\ncret", "sk-secré"])
def test_a_key_that_no_header_holds_is_refused_and_not_shown(server, key):
    with pytest.raises(ProviderError) as caught:
        openai(server, api_key=key)
    assert "sk-se" not in str(caught.value)


@pytest.mark.parametrize("address", ["localhost:80", "ftp://box", "http://", "file:///etc/passwd"])
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(ValueError, match="not the address of a server"):
        open_embedder("openai:m", base_url=address)


def test_an_answer_that_cannot_be_unpacked_is_asked_for_again(server):
    server.script = [
        lambda handler, question: handler.answer_text(
            200, "not gzip", **{"Content-Encoding": "gzip"}
        )
    ]
    assert_same(openai(server).embed(["one"]), expected(["one"]))


def test_openai_quota_that_is_spent_is_final(server):
    server.script = [refuse(429, "quota", "insufficient_quota")]
    with pytest.raises(ProviderError, match="quota"):
        openai(server).embed(["one"])
    assert len(server.requests) == 1


def entry(index, values):
    return {"index": index, "embedding": values}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([entry(0, [1.0, 0.0])], "indexes"),
        ([entry(0, [1.0, 0.0]), entry(0, [1.0, 0.0])], "indexes"),
        ([entry(0, [1.0, 0.0]), entry(2, [1.0, 0.0])], "indexes"),
        ([entry(0, [1.0, 0.0]), entry(1, [1.0, 0.0]), entry(1, [1.0, 0.0])], "indexes"),
        ([entry(0, [1.0, 0.0]), entry([1], [1.0, 0.0])], "indexes"),
        ([entry(0, [1.0, 0.0]), {"embedding": [1.0, 0.0]}], "indexes"),
        ([entry(0, [1.0, 0.0]), entry(1, [10**400, 0])], "one length"),
        ([entry(0, [1.0, 0.0]), entry(1, [1.0])], "one length"),
        ([entry(0, [1.0, 0.0]), entry(1, None)], "one length"),
        ([entry(0, []), entry(1, [])], "one length"),
        ([entry(0, [1.0, 0.0]), entry(1, [float("nan"), 0.0])], "finite"),
        ([entry(0, "AACAPw=="), entry(1, "not base64!")], "base64"),
        ([entry(0, "AACAPw=="), entry(1, "AAA=")], "base64"),
        ("no list", "no list called data"),
        (None, "no list called data"),
        ([1, 2], "no list called data"),
    ],
)
def test_openai_answers_that_are_not_whole_are_refused(server, data, message):
    server.script = [answer({"data": data})]
    with pytest.raises(ProviderError, match=message):
        openai(server).embed(["one", "two"])


def test_another_length_than_before_is_refused(server):
    embedder = openai(server)
    embedder.embed(["one"])
    server.script = [answer({"data": [entry(0, [1.0] * (DIMS + 1))]})]
    with pytest.raises(ProviderError, match=f"{DIMS + 1} components where {DIMS}"):
        embedder.embed(["two"])


@pytest.mark.parametrize("body", ["not json", "[]", "null", "", "[" * 200_000])
def test_an_answer_that_is_no_object_is_refused(server, body):
    server.script = [lambda handler, question: handler.answer_text(200, body)]
    with pytest.raises(ProviderError, match="not a JSON object"):
        openai(server).embed(["one"])


def test_vectors_that_are_not_of_length_1_are_made_so(server):
    server.script = [answer({"data": [entry(0, [3.0, 4.0])]})]
    assert_same(openai(server).embed(["one"]), np.array([[0.6, 0.8]]))


# ----------------------------------------------------------------------------------------------------------- Ollama ---


def test_ollama_sends_a_batch_to_the_new_endpoint(server):
    ollama(server).embed(["one", "two"])
    assert [request[:2] for request in server.requests] == [
        ("/api/embed", {"model": "all-minilm", "input": ["one", "two"]})
    ]


def test_an_old_ollama_is_asked_one_text_at_a_time(server):
    server.has_embed = False
    embedder = ollama(server)
    assert_same(embedder.embed(["one", "two"]), expected(["one", "two"]))
    embedder.embed(["three"])
    assert server.paths() == ["/api/embed"] + ["/api/embeddings"] * 3
    assert server.requests[1][1] == {"model": "all-minilm", "prompt": "one"}


def test_an_old_ollama_with_dimensions_gives_the_first_ones_at_length_1(server):
    server.has_embed = False
    cut = vector_of("one")[:4].astype(np.float64)
    assert_same(ollama(server, dimensions=4).embed(["one"]), (cut / np.linalg.norm(cut))[None])


def test_a_model_that_ollama_does_not_have_is_an_error_with_its_words(server):
    message = 'model "all-minilm" not found, try pulling it first'
    server.script = [lambda handler, question: handler.answer(404, {"error": message})]
    with pytest.raises(ProviderError, match="try pulling it first"):
        ollama(server).embed(["one"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("host", "url"),
    [
        (None, "http://127.0.0.1:11434"),
        ("box", "http://box:11434"),
        ("box:80", "http://box:80"),
        (":1234", "http://127.0.0.1:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:99", "http://[::1]:99"),
        ("https://box/ollama/", "https://box/ollama"),
    ],
)
def test_ollama_hosts_are_read_as_ollama_reads_them(host, url, monkeypatch):
    if host:
        monkeypatch.setenv("OLLAMA_HOST", host)
    assert open_embedder("ollama:m").protocol.caller.base_url == url


# ------------------------------------------------------------------------- the official clients on the same servers ---


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_openai_official_client_reads_the_same_vectors_here(server, encoding):
    """Their client asks for base64 by itself, and decodes it, when it is told nothing."""
    client = pytest.importorskip("openai", reason="openai's own client is not installed").OpenAI(
        base_url=server.url + "/v1", api_key="sk-1"
    )
    told = {} if encoding == "base64" else {"encoding_format": encoding}
    theirs = client.embeddings.create(model="m", input=TEXTS, dimensions=6, **told)
    ours = openai(server, model="m", dimensions=6, encoding=encoding, api_key="sk-1").embed(TEXTS)
    assert_same(ours, np.array([entry.embedding for entry in theirs.data]))
    assert server.requests[0][:2] == server.requests[1][:2]  # the questions are the same, too


def test_ollama_official_client_reads_the_same_vectors_here(server):
    client = pytest.importorskip("ollama", reason="ollama's own client is not installed").Client(
        host=server.url
    )
    theirs = client.embed(model="m", input=TEXTS, dimensions=6)
    ours = ollama(server, model="m", dimensions=6).embed(TEXTS)
    assert_same(ours, np.array(theirs.embeddings))
    assert server.requests[0][1].items() >= server.requests[1][1].items()
    assert server.requests[0][0] == server.requests[1][0]


def test_ollama_official_client_reads_the_old_endpoint_alike(server):
    client = pytest.importorskip("ollama", reason="ollama's own client is not installed").Client(
        host=server.url
    )
    server.has_embed = False
    theirs = client.embeddings(model="m", prompt="one")
    assert_same(ollama(server, model="m").embed(["one"]), np.array([theirs.embedding]))
