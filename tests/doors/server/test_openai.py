"""Clients that know OpenAI's interface alone find answers, sources, vectors and documents."""

import base64
import json
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from servers.chat_servers import Server as ChatServer

import ragfile

KB = "/v1/collections/kb"
CHAT = "/v1/chat/completions"
SAID = ["Rotate the keys every 90 days ", "[1]. Backups are taken ", "every night [3]."]


@pytest.fixture
def chat():
    with ChatServer(SAID) as server:
        yield server


@pytest.fixture
def answering(serving, path, chat):
    return serving(path, model=chat.model())


@pytest.fixture
def rf(built):
    with ragfile.open(built) as found:
        yield found


def asked(text="How often are keys rotated?", **more):
    return {"model": "kb", "messages": [{"role": "user", "content": text}], **more}


def notes_of(annotations):
    return [note["url_citation"] for note in annotations]


def test_a_completion_has_its_sources_as_annotations(answering):
    done = answering.post(CHAT, asked()).json
    [choice] = done["choices"]
    assert choice["message"]["content"] == "".join(SAID)
    assert (choice["finish_reason"], done["model"], done["object"]) == (
        "stop", "kb", "chat.completion",
    )  # fmt: skip
    notes = notes_of(choice["message"]["annotations"])
    assert len(notes) == 3, "the third passage is the third annotation, or clients count wrongly"
    assert len({note["url"] for note in notes}) == 3
    text = choice["message"]["content"]
    assert text[notes[0]["start_index"] : notes[0]["end_index"]] == "[1]"
    assert text[notes[2]["start_index"] : notes[2]["end_index"]] == "[3]"
    assert done["usage"]["total_tokens"] > 0


def test_the_address_of_a_source_names_the_exact_characters(answering, rf):
    done = answering.post(CHAT, asked()).json
    for note in notes_of(done["choices"][0]["message"]["annotations"]):
        address = urlsplit(note["url"])
        assert address.netloc == answering.address
        said = {name: values[0] for name, values in parse_qs(address.query).items()}
        start, end = map(int, said["span"].split("-"))
        text = rf.document(said["doc"]).text[start:end]
        assert text in {hit.text for hit in rf.search("How often are keys rotated?")}


def test_a_stream_says_the_same_in_chunks(answering):
    whole = answering.post(CHAT, asked()).json
    answer = answering.post(CHAT, asked(stream=True, stream_options={"include_usage": True}))
    lines = [line for line in answer.body.decode().split("\n\n") if line]
    assert lines[-1] == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content", "") for delta in deltas) == "".join(SAID)
    notes = [note for delta in deltas for note in delta.get("annotations", ())]
    assert notes == whole["choices"][0]["message"]["annotations"]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == whole["usage"]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"


def test_the_conversation_reaches_the_model(answering, chat):
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "What are keys?"},
        {"role": "assistant", "content": "Secrets."},
        {"role": "user", "content": [{"type": "text", "text": "How often are they rotated?"}]},
    ]
    answering.post(CHAT, asked() | {
        "messages": messages, "temperature": 0.5, "max_completion_tokens": 50, "stop": ["END"],
        "seed": 3, "top_p": 0.9, "tools": None, "user": "u",
    })  # fmt: skip
    _, body, *_ = chat.requests[-1]
    assert (body["temperature"], body["max_tokens"], body["stop"], body["seed"]) == (
        0.5, 50, ["END"], 3,
    )  # fmt: skip
    said = json.dumps(body["messages"])
    assert all(text in said for text in ("Be short.", "Secrets.", "How often are they rotated?"))


def test_a_list_of_sources_is_there_for_who_wants_it(answering):
    done = answering.post(CHAT, asked(), X_Ragfile_Sources="markdown").json
    text = done["choices"][0]["message"]["content"]
    assert "**Sources**" in text
    assert "- [1] [" in text
    assert "- [2] [" not in text


def test_the_collection_is_the_model_or_the_headers(answering):
    assert answering.post(CHAT, asked() | {"model": "other"}).status == 404
    by_header = answering.post(CHAT, asked() | {"model": "gpt-4o"}, X_Ragfile_Collection="kb")
    assert by_header.json["model"] == "kb"


@pytest.mark.parametrize("wrong", [
    {"messages": []}, {"messages": [{"role": "assistant", "content": "x"}]}, {"messages": "x"},
    {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
    {"temperature": 9}, {"temperature": "hot"}, {"max_tokens": 0}, {"n": 2}, {"stream": "yes"},
    {"messages": [{"role": "user", "content": "  "}]}, {"stop": []},
])  # fmt: skip
def test_what_is_wrong_is_said_before_a_model_is_asked(answering, chat, wrong):
    answer = answering.post(CHAT, asked() | wrong)
    assert answer.status == 422
    assert {"message", "type", "param", "code"} <= answer.error.keys()
    assert chat.requests == []


def test_a_model_that_fails_gives_passages_and_no_place_of_the_machine(serving, path):
    with ChatServer() as gone:
        name = gone.model(attempts=1)
    server = serving(path, model=name)
    done = server.post(CHAT, asked()).json
    assert done["ragfile"]["finish"] == "extract"
    assert done["ragfile"]["degraded"]
    assert "127.0.0.1" not in json.dumps(done["ragfile"])
    assert done["choices"][0]["message"]["content"]


def test_collections_are_models(server):
    listed = server.get("/v1/models").json
    assert [model["id"] for model in listed["data"]] == ["kb"]
    assert server.get("/v1/models/kb").json == listed["data"][0]
    assert server.get("/v1/models/none").status == 404


def test_vectors_are_those_of_the_files_model_in_order(server, rf):
    texts = ["keys", "pods and nights", "keys"]
    expected = np.asarray(rf.embedder.embed(texts, "document"), np.float32)
    body = {"model": "kb", "input": texts}
    plain = server.post("/v1/embeddings", body).json["data"]
    packed = server.post("/v1/embeddings", body | {"encoding_format": "base64"}).json["data"]
    assert [entry["index"] for entry in plain] == [0, 1, 2]
    for i, vector in enumerate(expected):
        assert np.array_equal(np.array(plain[i]["embedding"], np.float32), vector)
        assert np.frombuffer(base64.b64decode(packed[i]["embedding"]), "<f4").tolist() == list(
            vector
        )
    for wrong in ({"input": []}, {"input": [1, 2]}, {"dimensions": 8}, {"encoding_format": "x"}):
        assert server.post("/v1/embeddings", body | wrong).status == 422


def test_a_store_is_searched_with_openais_filters(server, rf):
    def search(**filters):
        body = {"query": "keys pods backups", "max_num_results": 50, **filters}
        return server.post("/v1/vector_stores/kb/search", body)

    assert [r["file_id"] for r in search().json["data"]] == [
        hit.doc_id for hit in rf.search("keys pods backups", 50)
    ]
    pairs = [
        ({"type": "eq", "key": "year", "value": 2023}, {"year": {"$eq": 2023}}),
        ({"type": "gte", "key": "year", "value": 2024}, {"year": {"$gte": 2024}}),
        ({"type": "in", "key": "year", "value": [1, 2023]}, {"year": {"$in": [1, 2023]}}),
        (
            {"type": "or", "filters": [{"type": "eq", "key": "year", "value": 2023},
                                       {"type": "ne", "key": "name", "value": "keys.md"}]},
            {"$or": [{"year": {"$eq": 2023}}, {"name": {"$ne": "keys.md"}}]},
        ),
    ]  # fmt: skip
    for theirs, ours in pairs:
        found = [r["content"][0]["text"] for r in search(filters=theirs).json["data"]]
        assert found == [hit.text for hit in rf.search("keys pods backups", 50, where=ours)]
        assert 0 < len(found) < len(rf)
    for wrong in ({"type": "x"}, {"type": "eq", "key": 1, "value": 2}, {"type": "and"},
                  {"type": "eq", "key": "a", "value": 1, "more": 2}):  # fmt: skip
        assert search(filters=wrong).status == 422


def test_a_store_lists_its_documents_as_files(server, rf):
    ids, page = [], server.get("/v1/vector_stores/kb/files?limit=2&order=asc").json
    while True:
        ids += [file["id"] for file in page["data"]]
        if not page["has_more"]:
            break
        page = server.get(
            f"/v1/vector_stores/kb/files?limit=2&order=asc&after={page['last_id']}"
        ).json
    assert ids == rf.document_ids()
    down = server.get("/v1/vector_stores/kb/files?order=desc").json
    assert [file["id"] for file in down["data"]] == ids[::-1]
    text = server.get("/v1/vector_stores/kb/files/sub%2Fnight%20%26%20day.md/content").json
    assert text["data"][0]["text"] == rf.document("sub/night & day.md").text
    assert server.get("/v1/vector_stores/kb").json["file_counts"]["total"] == 3


def test_openais_own_client_works_unmodified(answering, rf):
    openai = pytest.importorskip("openai", reason="OpenAI's client is not installed")
    client = openai.OpenAI(base_url=answering.url + "/v1", api_key="none", max_retries=0)
    messages = [{"role": "user", "content": "How often are keys rotated?"}]
    done = client.chat.completions.create(model="kb", messages=messages)
    assert done.choices[0].message.content == "".join(SAID)
    assert done.choices[0].message.annotations[0].url_citation.url.startswith(answering.url)
    with client.chat.completions.create(model="kb", messages=messages, stream=True) as stream:
        text = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    assert text == "".join(SAID)
    assert [model.id for model in client.models.list()] == ["kb"]
    vector = client.embeddings.create(model="kb", input="keys").data[0].embedding
    assert np.allclose(vector, rf.embedder.embed(["keys"], "document")[0])
    found = client.vector_stores.search("kb", query="keys", max_num_results=2)
    assert [hit.content[0].text for hit in found] == [h.text for h in rf.search("keys", 2)]
    assert {file.id for file in client.vector_stores.files.list("kb", limit=1)} == set(
        rf.document_ids()
    )
    content = client.vector_stores.files.content("pods.md", vector_store_id="kb")
    assert content.data[0].text == rf.document("pods.md").text
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="nope", messages=messages)
    changes = (
        lambda: client.vector_stores.create(name="more"),
        lambda: client.vector_stores.update("kb", name="more"),
        lambda: client.vector_stores.delete("kb"),
    )
    for change in changes:
        with pytest.raises(openai.APIStatusError, match="`ragfile serve FOLDER --write`") as told:
            change()
        assert told.value.status_code == 405
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(model="kb", messages=messages, temperature=9)
