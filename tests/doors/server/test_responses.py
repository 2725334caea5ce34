"""The Responses API, the file search in it, files, batches and re-ranking, as plain requests."""

import json
from urllib.parse import quote

import numpy as np
import pytest
from doors.server.conftest import until
from servers.chat_servers import Server as ChatServer
from servers.uploading import BOUNDARY, multipart

import ragfile
from ragfile.records import Candidate

SAID = ["Rotate the keys every 90 days ", "[1]. Backups are taken ", "every night [3]."]
RESPONSES, STORE = "/v1/responses", "/v1/vector_stores/kb"
SEARCH = {"type": "file_search", "vector_store_ids": ["kb"]}
QUESTION = "How often are keys rotated?"


@pytest.fixture
def chat():
    with ChatServer(SAID) as server:
        yield server


@pytest.fixture
def answering(serving, path, chat):
    return serving(path, model=chat.model())


def asked(**more):
    return {"model": "kb", "input": QUESTION, **more}


def text_of(response):
    [part] = response["output"][-1]["content"]
    return part["text"], part["annotations"]


def test_a_response_has_text_and_annotations_of_a_completion(answering):
    body = {"model": "kb", "messages": [{"role": "user", "content": QUESTION}]}
    message = answering.post("/v1/chat/completions", body).json["choices"][0]["message"]
    done = answering.post(RESPONSES, asked()).json
    text, notes = text_of(done)
    assert (text, done["status"], done["object"]) == (message["content"], "completed", "response")
    places = [{name: v for name, v in note.items() if name != "type"} for note in notes]
    assert places == [note["url_citation"] for note in message["annotations"]]
    assert done["usage"]["total_tokens"] > 0
    assert [item["type"] for item in done["output"]] == ["message"]


def test_file_search_shows_its_passages_and_cites_files(answering):
    done = answering.post(
        RESPONSES, asked(model="gpt", tools=[SEARCH], include=["file_search_call.results"])
    ).json
    search, message = done["output"]
    assert (search["type"], search["queries"]) == ("file_search_call", [QUESTION])
    text, notes = text_of(done)
    by_number = {f"[{n}]": result for n, result in enumerate(search["results"], 1)}
    assert [text[note["index"] :][:3] for note in notes] == ["[1]", "[3]"]
    for note in notes:
        cited = by_number[text[note["index"] :][:3]]
        assert (note["file_id"], note["filename"]) == (cited["file_id"], cited["filename"])
    assert message["role"] == "assistant"


def test_file_search_takes_openais_filters_and_limits(answering, path):
    tool = SEARCH | {
        "filters": {"type": "eq", "key": "year", "value": 2023}, "max_num_results": 2,
        "ranking_options": {"ranker": "auto", "score_threshold": None},
    }  # fmt: skip
    body = asked(tools=[tool], include=["file_search_call.results"])
    found = answering.post(RESPONSES, body).json["output"][0]["results"]
    with ragfile.open(path) as rf:
        hits = rf.search(QUESTION, 2, where={"year": 2023})
    assert [(one["file_id"], one["text"]) for one in found] == [(h.doc_id, h.text) for h in hits]


@pytest.mark.parametrize("tools", [[], [SEARCH]], ids=["plain", "file search"])
def test_a_streamed_response_adds_up_to_the_whole_one(answering, tools):
    include = ["file_search_call.results"]
    whole = answering.post(RESPONSES, asked(tools=tools, include=include)).json
    events = answering.post(RESPONSES, asked(tools=tools, include=include, stream=True)).events
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    assert all(name == data["type"] for name, data in events)
    named = {}
    for name, data in events:
        named.setdefault(name, []).append(data)
    assert events[0][0] == "response.created"
    text, notes = text_of(whole)
    assert "".join(one["delta"] for one in named["response.output_text.delta"]) == text
    added = named["response.output_text.annotation.added"]
    assert [one["annotation"] for one in added] == notes
    assert [one["annotation_index"] for one in added] == list(range(len(notes)))
    last_name, last = events[-1]
    assert last_name == "response.completed"
    assert text_of(last["response"]) == (text, notes)
    done = [one["item"]["type"] for one in named["response.output_item.done"]]
    assert done == [item["type"] for item in whole["output"]]


def test_an_answer_at_its_limit_is_incomplete(serving, path):
    with ChatServer(["Rotate ", "them"]) as chat:
        chat.finish = "length"
        server = serving(path, model=chat.model())
        done = server.post(RESPONSES, asked(max_output_tokens=2)).json
        events = server.post(RESPONSES, asked(max_output_tokens=2, stream=True)).events
    assert (done["status"], done["incomplete_details"]) == (
        "incomplete", {"reason": "max_output_tokens"},
    )  # fmt: skip
    assert events[-1][0] == "response.incomplete"


def test_the_conversation_and_the_instructions_reach_the_model(answering, chat):
    turns = [
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "input_text", "text": "What are keys?"}]},
        {"type": "file_search_call", "id": "fs_1", "queries": ["keys"], "status": "completed"},
        {"type": "message", "role": "assistant", "id": "msg_1",
         "content": [{"type": "output_text", "text": "Secrets.", "annotations": []}]},
        {"role": "user", "content": "How often are they rotated?"},
    ]  # fmt: skip
    answering.post(RESPONSES, asked(input=turns, instructions="In German.", temperature=0.5))
    _, body, *_ = chat.requests[-1]
    sent = json.dumps(body["messages"])
    texts = ("In German.", "Be short.", "What are keys?", "Secrets.", "How often are they")
    assert all(text in sent for text in texts)
    assert body["temperature"] == 0.5


@pytest.mark.parametrize(("wrong", "param"), [
    ({"input": []}, "input"), ({"input": [{"role": "assistant", "content": "x"}]}, "input"),
    ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "input"),
    ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input"),
    ({"previous_response_id": "resp_1"}, "previous_response_id"),
    ({"text": {"format": {"type": "json_schema"}}}, "text.format.type"),
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tool_choice": {"type": "function", "name": "f"}}, "tool_choice"),
    ({"tools": [{"type": "file_search"}]}, "tools"),
    ({"background": True}, "background"), ({"temperature": 9}, "temperature"),
    ({"store": "yes"}, "store"), ({"reasoning": "high"}, "reasoning"), ({"user": 7}, "user"),
    ({"truncation": "sometimes"}, "truncation"), ({"top_p": 2}, "top_p"),
    ({"parallel_tool_calls": "no"}, "parallel_tool_calls"), ({"prompt": {"id": "p"}}, "prompt"),
    ({"stream_options": 1}, "stream_options"), ({"max_tool_calls": 0}, "max_tool_calls"),
    ({"service_tier": 1}, "service_tier"), ({"prompt_cache_key": 1}, "prompt_cache_key"),
    ({"safety_identifier": []}, "safety_identifier"), ({"top_logprobs": 21}, "top_logprobs"),
])  # fmt: skip
def test_a_request_for_something_else_is_refused_before_a_model_is_asked(
    answering, chat, wrong, param
):
    answer = answering.post(RESPONSES, asked(**wrong))
    assert (answer.status, answer.error["param"]) == (422, param)
    assert chat.requests == []


def test_a_store_that_is_not_there_is_404(answering):
    tool = SEARCH | {"vector_store_ids": ["other"]}
    assert answering.post(RESPONSES, asked(tools=[tool])).status == 404


# ------------------------------------------------------------------------------ optional nulls ---

CHAT = {"model": "kb", "messages": [{"role": "user", "content": QUESTION}]}
BODIES = {
    RESPONSES: (asked(), "/v1/responses"),
    "/v1/chat/completions": (CHAT, "/v1/chat/completions"),
    "/v1/embeddings": ({"input": "keys"}, "/v1/embeddings"),
    "/v1/rerank": ({"query": "keys", "documents": ["a"]}, "/v1/rerank"),
    f"{STORE}/search": ({"query": "keys"}, "/v1/vector_stores/{c}/search"),
}


@pytest.mark.parametrize("place", BODIES)
def test_every_optional_member_may_be_null(answering, place):
    body, path = BODIES[place]
    described = answering.get("/openapi.json").json["paths"][path]["post"]
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    optional = schema["properties"].keys() - set(schema["required"])
    nulls = dict.fromkeys(optional)
    answer = answering.post(place, nulls | body)
    assert answer.status == 200, answer.body
    assert len(nulls) > 1


def test_nulls_inside_an_option_are_as_absent_ones(answering):
    body = {"query": "keys", "ranking_options": {"score_threshold": None, "ranker": None}}
    plain = answering.post(f"{STORE}/search", {"query": "keys"}).json
    assert answering.post(f"{STORE}/search", body).json == plain


# --------------------------------------------------------------------------------- re-ranking ---


@pytest.mark.parametrize("place", ["/v1/rerank", "/v2/rerank"])
def test_texts_are_ranked_as_the_library_ranks_them(server, built, place):
    texts = ["Restart a pod.", "Rotate the keys every 90 days.", "Backups run every night."]
    body = {"query": "how often are keys rotated?", "documents": [*texts[:2], {"text": texts[2]}]}
    found = server.post(place, {"model": "kb", **body}).json["results"]
    with ragfile.open(built) as rf:
        vectors = np.asarray(rf.embedder.embed(texts, "document"), np.float64)
        question = np.asarray(rf.embedder.embed([body["query"]], "query"), np.float64)[0]
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(question)
    cosines = (vectors @ question / lengths).tolist()
    given = [Candidate("", i, text, cosines[i]) for i, text in enumerate(texts)]
    expected = ragfile.rerank(body["query"], given)
    assert [(one["index"], one["relevance_score"]) for one in found] == [
        (one.chunk_index, one.score) for one in expected
    ]
    assert found[0]["index"] == 1
    best = server.post(place, {**body, "top_n": 1, "return_documents": True}).json["results"]
    assert best == [found[0] | {"document": {"text": texts[1]}}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"documents": []}, {"documents": [{"image": "x"}]}, {"top_n": 0}, {"query": ""},
        {"query": " \n"},
    ],
)  # fmt: skip
def test_a_wrong_ranking_is_422(server, wrong):
    body = {"query": "keys", "documents": ["a"]}
    assert server.post("/v1/rerank", body | wrong).status == 422


# -------------------------------------------------------------------------------------- files ---


def uploaded(server, name="herons.md", text="# Herons\n\nHerons stand in the water.\n"):
    kind = f'multipart/form-data; boundary="{BOUNDARY}"'
    body = multipart(("purpose", "assistants"), ("file", name, text))
    answer = server.ask("POST", "/v1/files", body, Content_Type=kind)
    assert answer.status == 200, answer.body
    return answer.json["id"]


def settled(server, file_id, store=STORE):
    found = {}

    def is_done():
        found.update(server.get(f"{store}/files/{file_id}").json)
        return found["status"] != "in_progress"

    until(is_done)
    return found


def test_a_file_is_found_once_a_store_has_taken_it(writable):
    file_id = uploaded(writable)
    assert writable.get(f"/v1/files/{file_id}").json["filename"] == "herons.md"
    assert writable.get(f"{STORE}/files/{file_id}").status == 404
    taken = writable.post(f"{STORE}/files", {"file_id": file_id, "attributes": {"year": 2031}})
    assert taken.json["id"] == file_id
    assert settled(writable, file_id)["status"] == "completed"
    body = {"query": "herons", "filters": {"type": "eq", "key": "year", "value": 2031}}
    [found] = writable.post(f"{STORE}/search", body).json["data"]
    assert (found["file_id"], found["filename"]) == (file_id, "herons.md")
    assert "Herons" in writable.get(f"{STORE}/files/{file_id}/content").json["data"][0]["text"]
    listed = writable.get(f"{STORE}/files?limit=100").json["data"]
    assert file_id in [one["id"] for one in listed]


def test_pages_of_files_with_uploads_among_them_join_to_the_whole_list(writable):
    for name in ("a.md", "m.md", "z.md"):
        file_id = uploaded(writable, name)
        writable.post(f"{STORE}/files", {"file_id": file_id})
        settled(writable, file_id)
    for order in ("asc", "desc"):
        place = f"{STORE}/files?order={order}"
        whole = [one["id"] for one in writable.get(f"{place}&limit=100").json["data"]]
        found, after = [], ""
        while True:
            page = writable.get(f"{place}&limit=1{after}").json
            found += [one["id"] for one in page["data"]]
            if not page["has_more"]:
                break
            after = f"&after={quote(page['last_id'])}"
        assert found == whole
        assert len(whole) == 6


def test_pages_of_uploads_join_to_the_whole_list_and_begin_after_a_known_file(writable):
    names = [f"{number}.md" for number in range(3)]
    ids = [uploaded(writable, name) for name in names]
    for order in ("asc", "desc"):
        whole = [one["id"] for one in writable.get(f"/v1/files?order={order}").json["data"]]
        assert sorted(whole) == sorted(ids)
        for at, after in enumerate(whole):
            page = writable.get(f"/v1/files?order={order}&limit=1&after={after}").json
            assert [one["id"] for one in page["data"]] == whole[at + 1 : at + 2]
            assert page["has_more"] is (at + 2 < len(whole))
    unknown = writable.get("/v1/files?after=nope")
    assert (unknown.status, unknown.error["param"]) == (404, "after")
    assert writable.get(f"/v1/files?purpose=other&after={ids[0]}").json["data"] == []


def test_a_file_that_leaves_a_store_can_return_to_it(writable, path):
    file_id = uploaded(writable)
    for _ in range(2):
        assert writable.post(f"{STORE}/files", {"file_id": file_id}).status == 200
        settled(writable, file_id)
        with ragfile.open(path) as rf:
            assert "herons.md" in rf.document_ids()
        answer = writable.ask("DELETE", f"{STORE}/files/{file_id}")
        assert answer.json == {
            "id": file_id, "object": "vector_store.file.deleted", "deleted": True,
        }  # fmt: skip
        with ragfile.open(path) as rf:
            assert "herons.md" not in rf.document_ids()
    assert writable.get(f"/v1/files/{file_id}/content").body.startswith(b"# Herons")
    assert writable.ask("DELETE", f"/v1/files/{file_id}").json["deleted"] is True
    assert writable.get(f"/v1/files/{file_id}").status == 404


def test_deleting_a_file_deletes_its_documents(writable, path, root):
    file_id = uploaded(writable)
    writable.post(f"{STORE}/files", {"file_id": file_id})
    settled(writable, file_id)
    assert writable.ask("DELETE", f"/v1/files/{file_id}").status == 200
    with ragfile.open(path) as rf:
        assert "herons.md" not in rf.document_ids()
    assert not [p for p in root.rglob("*") if p.is_file()]


def test_a_document_that_was_built_leaves_a_store_by_its_id(writable, path):
    assert writable.ask("DELETE", f"{STORE}/files/pods.md").json["deleted"] is True
    with ragfile.open(path) as rf:
        assert "pods.md" not in rf.document_ids()


def test_a_batch_counts_its_files_and_names_the_one_that_fails(writable):
    good, bad = uploaded(writable), uploaded(writable, "bad.docx", "PK\x03\x04 no archive")
    made = writable.post(f"{STORE}/file_batches", {"file_ids": [good, bad]}).json
    place = f"{STORE}/file_batches/{made['id']}"
    until(lambda: writable.get(place).json["status"] == "completed")
    counts = writable.get(place).json["file_counts"]
    assert (counts["completed"], counts["failed"], counts["total"]) == (1, 1, 2)
    files = writable.get(f"{place}/files").json["data"]
    [failed] = [one for one in files if one["status"] == "failed"]
    assert failed["id"] == bad
    assert failed["last_error"]["message"]
    listed = writable.get(f"{STORE}/files?filter=failed").json["data"]
    assert [one["id"] for one in listed] == [bad]


def test_a_file_belongs_to_one_store(serving, path, root):
    other = path.with_name("other.ragfile")
    other.write_bytes(path.read_bytes())
    server = serving(path, other, can_write=True, uploads=str(root))
    file_id = uploaded(server)
    server.post(f"{STORE}/files", {"file_id": file_id})
    settled(server, file_id)
    answer = server.post("/v1/vector_stores/other/files", {"file_id": file_id})
    assert answer.status == 409
    assert "upload it again for other" in answer.error["message"]
    again = uploaded(server)
    assert server.post("/v1/vector_stores/other/files", {"file_id": again}).status == 200
    assert settled(server, again, "/v1/vector_stores/other")["status"] == "completed"


def test_a_waiting_file_survives_a_restart(serving, path, root):
    first = serving(path, can_write=True, uploads=str(root))
    file_id = uploaded(first)
    second = serving(path, can_write=True, uploads=str(root))
    assert second.get(f"/v1/files/{file_id}").json["status"] == "processed"
    assert second.post(f"{STORE}/files", {"file_id": file_id}).status == 200
    assert settled(second, file_id)["status"] == "completed"


@pytest.mark.parametrize(("body", "status"), [
    ({"file_id": "nosuch"}, 404), ({}, 422),
    ({"file_id": "x", "chunking_strategy": {"type": "static"}}, 422),
])  # fmt: skip
def test_a_wrong_file_is_refused(writable, body, status):
    assert writable.post(f"{STORE}/files", body).status == status


def test_files_need_write_access(server):
    assert server.get("/v1/files").status == 404
    assert server.post(f"{STORE}/files", {"file_id": "x"}).status == 405
