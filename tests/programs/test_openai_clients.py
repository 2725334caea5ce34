"""Clients of OpenAI's interface, by their own packages: OpenAI's, LiteLLM, Cohere, the Agents SDK.

`make -C tests programs-clients` installs them; a package that is missing skips its tests.
"""

import json
from urllib.parse import urlsplit

import pytest
from programs.conftest import SAID

import ragfile

QUESTION = "How often are keys rotated?"
MESSAGES = [{"role": "user", "content": QUESTION}]
TOOL = {"type": "file_search", "vector_store_ids": ["kb"]}
TEXT = "".join(SAID)


def program(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.fixture
def client(answering):
    openai = program("openai")
    return openai.OpenAI(base_url=answering.url + "/v1", api_key="none", max_retries=0)


@pytest.fixture
def writer(writable):
    openai = program("openai")
    return openai.OpenAI(base_url=writable.url + "/v1", api_key="none", max_retries=0)


# ------------------------------------------------------------------------- OpenAI's, for Python ---


def test_the_stream_helper_keeps_every_annotation(client):
    whole = client.chat.completions.create(model="kb", messages=MESSAGES).choices[0].message
    with client.chat.completions.stream(model="kb", messages=MESSAGES) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        done = stream.get_final_completion().choices[0].message
    assert (text, done.content) == (TEXT, TEXT)
    notes = [note.model_dump() for note in done.annotations]
    assert notes == [note.model_dump() for note in whole.annotations]
    assert len(notes) == 3


@pytest.mark.parametrize("tools", [[], [TOOL]], ids=["plain", "file search"])
def test_responses_are_read_whole_and_streamed(client, tools):
    whole = client.responses.create(model="kb", input=QUESTION, tools=tools)
    with client.responses.stream(model="kb", input=QUESTION, tools=tools) as stream:
        kinds = [event.type for event in stream]
        done = stream.get_final_response()
    assert whole.output_text == done.output_text == TEXT
    notes = whole.output[-1].content[0].annotations
    assert [note.type for note in notes] == [
        "file_citation" if tools else "url_citation"
    ] * 3  # fmt: skip
    streamed = done.output[-1].content[0].annotations
    assert [n.model_dump() for n in streamed] == [n.model_dump() for n in notes]
    assert ("response.file_search_call.completed" in kinds) == bool(tools)
    assert whole.status == done.status == "completed"


def test_files_go_into_a_store_and_leave_it(writer, path):
    file = writer.files.create(
        file=("owls.md", b"# Owls\n\nOwls fly at night.\n"), purpose="assistants"
    )
    taken = writer.vector_stores.files.create_and_poll(
        file.id, vector_store_id="kb", attributes={"year": 2031}
    )
    assert (taken.status, taken.id) == ("completed", file.id)
    [found, *_] = writer.vector_stores.search("kb", query="owls at night", max_num_results=1)
    assert (found.file_id, found.attributes["year"]) == (file.id, 2031)
    assert file.id in [one.id for one in writer.vector_stores.files.list("kb", limit=2)]
    assert writer.files.content(file.id).read() == b"# Owls\n\nOwls fly at night.\n"
    assert writer.vector_stores.files.delete(file.id, vector_store_id="kb").deleted
    assert writer.files.delete(file.id).deleted
    assert file.id not in [one.id for one in writer.files.list()]
    with ragfile.open(path) as rf:
        assert "owls.md" not in rf.document_ids()


def test_a_batch_of_files_is_uploaded_and_polled(writer):
    files = [(f"{name}.md", f"# {name}\n\nAbout {name}.\n".encode()) for name in ("owls", "herons")]
    batch = writer.vector_stores.file_batches.upload_and_poll("kb", files=files)
    assert (batch.status, batch.file_counts.completed) == ("completed", 2)


def test_a_store_is_made_asked_and_deleted(serving, tmp_path):
    openai = program("openai")
    server = serving(tmp_path, can_write=True)
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
    file = client.files.create(file=("owls.md", b"Owls fly at night."), purpose="assistants")
    store = client.vector_stores.create(name="birds", metadata={"of": "night"})
    taken = client.vector_stores.files.create_and_poll(file.id, vector_store_id=store.id)
    assert (taken.status, store.metadata) == ("completed", {"of": "night"})
    [found] = client.vector_stores.search(store.id, query="owls at night")
    assert found.content[0].text == "Owls fly at night."
    assert client.vector_stores.retrieve(store.id).file_counts.completed == 1
    assert client.vector_stores.delete(store.id).deleted
    assert store.id not in [one.id for one in client.vector_stores.list()]


# ---------------------------------------------------------------------------- LiteLLM and Cohere ---


def test_litellm_answers_searches_and_ranks(answering, built):
    litellm = program("litellm")
    place = {"api_base": answering.url + "/v1", "api_key": "none"}
    done = litellm.completion(model="openai/kb", messages=MESSAGES, **place)
    assert done.choices[0].message.content == TEXT
    pieces = litellm.completion(model="openai/kb", messages=MESSAGES, stream=True, **place)
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == TEXT
    response = litellm.responses(model="openai/kb", input=QUESTION, **place)
    assert response.output[-1].content[0].text == TEXT
    found = litellm.vector_stores.search(
        vector_store_id="kb", query="keys", custom_llm_provider="openai", **place
    )
    with ragfile.open(built) as rf:
        expected = [hit.text for hit in rf.search("keys", 10)]
    assert [one["content"][0]["text"] for one in found["data"]] == expected
    vectors = litellm.embedding(model="openai/kb", input=["keys"], **place)
    assert len(vectors.data[0]["embedding"]) == len(
        answering.post("/v1/embeddings", {"input": "keys"}).json["data"][0]["embedding"]
    )
    ranked = litellm.rerank(
        model="cohere/kb", query="keys", documents=["pods", "rotate keys"], top_n=1,
        api_base=answering.url, api_key="none",
    )  # fmt: skip
    assert [one["index"] for one in ranked.results] == [1]


def test_coheres_client_ranks(answering):
    cohere = program("cohere")
    client = cohere.ClientV2(api_key="none", base_url=answering.url)
    found = client.rerank(model="kb", query="keys", documents=["pods", "rotate keys"]).results
    assert [one.index for one in found] == [1, 0]
    assert found[0].relevance_score > found[1].relevance_score


# --------------------------------------------------------------------------------- Agents SDK ---


def test_an_agent_answers_with_the_responses_interface(answering):
    agents = program("agents")
    openai = program("openai")
    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=answering.url + "/v1", api_key="none", max_retries=0)
    model = agents.OpenAIResponsesModel(model="kb", openai_client=client)
    tool = agents.FileSearchTool(vector_store_ids=["kb"], include_search_results=True)
    agent = agents.Agent(name="reader", instructions="Be short.", model=model, tools=[tool])
    done = agents.Runner.run_sync(agent, QUESTION)
    assert done.final_output == TEXT
    searched = [item.raw_item for item in done.new_items if item.type == "tool_call_item"]
    assert [item.type for item in searched] == ["file_search_call"]
    assert len(searched[0].results) >= 3
    again = agents.Runner.run_sync(agent, [*done.to_input_list(), *MESSAGES])
    assert again.final_output == TEXT


# ------------------------------------------------------------------------------- JavaScript ---


def test_openais_client_for_javascript_keeps_every_annotation(answering, run_node):
    found = json.loads(run_node("AI_SDK", "openai_clients.mjs", "openai", answering.url + "/v1"))
    assert found["streamed"]["content"] == found["whole"]["content"] == TEXT
    assert found["streamed"]["annotations"] == found["whole"]["annotations"]
    assert len(found["whole"]["annotations"]) == 3
    assert found["response"] == found["responseStreamed"] == TEXT
    assert found["citations"] == found["citationsStreamed"] == ["file_citation"] * 3
    assert found["search"] > 0


def test_the_ai_sdk_speaks_responses_by_default(answering, run_node):
    found = json.loads(run_node("AI_SDK", "openai_clients.mjs", "ai", answering.url + "/v1"))
    assert found["text"] == found["streamed"] == found["searched"] == TEXT
    for sources in (found["sources"], found["streamedSources"]):
        assert len({one["url"] for one in sources}) == 3
        assert {urlsplit(one["url"]).netloc for one in sources} == {answering.address}
    assert [one["sourceType"] for one in found["documents"]] == ["document"] * 3


def test_the_agents_sdk_for_javascript_answers(answering, run_node):
    found = json.loads(run_node("AI_SDK", "openai_clients.mjs", "agents", answering.url + "/v1"))
    assert found["output"] == found["streamed"] == TEXT
