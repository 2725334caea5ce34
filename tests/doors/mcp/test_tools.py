"""What a model can do: search, read and list within a budget, and be told plainly what it did
wrong.
"""

import json
import threading
from dataclasses import asdict

import pytest
from servers.chat_servers import Server as ChatServer

import ragfile
from ragfile.answer.passage_budget import estimate_tokens
from ragfile.doors.mcp.files import Files
from ragfile.doors.mcp.protocol import Server
from ragfile.doors.mcp.tools import Tools


def served(*paths, **options):
    server = Server(Tools(Files(map(str, paths)), **options))

    def call(name, **arguments):
        params = {"name": name, "arguments": arguments, "_meta": {"ragfile/structured": True}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return server.handle(message)["result"]

    call.server = server
    return call


@pytest.fixture
def call(path):
    return served(path)


def said(result):
    (block,) = result["content"]
    return block["text"]


def test_the_tools_take_at_most_300_tokens_of_a_model(server):
    tools = [{k: v for k, v in t.items() if k != "annotations"} for t in server.tools.listed()]
    assert estimate_tokens(json.dumps(tools, separators=(",", ":"))) <= 300


QUESTIONS = ["how often are keys rotated?", "restart a pod", "night", "日本語", "zzz", "line 7"]


def test_a_search_tells_a_model_that_nothing_supports_an_answer(call):
    weak = call("search", query="how do I bake pancakes?")
    assert (
        "Note: weak support for an answer; no passage has: bake, pancakes."
        in (weak["content"][0]["text"])
    )
    assert weak["structuredContent"]["support"]["strength"] == "weak"
    first = weak["structuredContent"]["hits"][0]
    assert weak["structuredContent"]["missing"][first["id"]] == ["bake", "pancakes"]
    strong = call("search", query="rotate the keys")
    assert "support for an answer" not in strong["content"][0]["text"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_search_finds_what_the_library_finds(call, path, question):
    with ragfile.open(path) as rf:
        wanted = [asdict(hit) for hit in rf.search(question, 3)]
    found = call("search", query=question, k=3, tokens=20_000)["structuredContent"]
    assert json.dumps(found["hits"]) == json.dumps(wanted)
    assert (found["left_out"], found["generation"], found["degraded"]) == (0, 1, "")


def test_the_text_of_a_search_has_numbers_ids_places_and_passages(call):
    text = said(call("search", query="how often are keys rotated?", k=2))
    assert text.startswith("[1] keys.md#")
    assert "(keys.md:5, Guide > Keys)" in text
    assert "Rotate the keys every 90 days" in text


def test_the_text_of_a_search_has_no_markup_and_numbers_the_lines_of_code(tmp_path):
    text = "# Keys\n\nRotate **the** [keys](x.md):\n\n```sh\nrotate  --all\n```\n"
    (tmp_path / "keys.md").write_text(text)
    ragfile.build([tmp_path / "keys.md"], tmp_path / "kb")
    result = served(tmp_path / "kb")("search", query="rotate keys")
    assert said(result).splitlines()[1:] == ["Rotate the keys:", "    6  rotate  --all"]
    assert "**the** [keys](x.md)" in result["structuredContent"]["hits"][0]["text"]


@pytest.mark.parametrize("tokens", [1, 20, 60, 100, 400])
def test_a_search_keeps_to_its_budget_and_says_what_it_left_out(call, tokens):
    result = call("search", query="keys pods backups", k=9, tokens=tokens)
    whole = call("search", query="keys pods backups", k=9, tokens=20_000)["structuredContent"][
        "hits"
    ]
    found = result["structuredContent"]
    assert len(found["hits"]) + found["left_out"] == len(whole)
    assert found["hits"][1:] == whole[1 : len(found["hits"])]
    assert whole[0]["text"].startswith(found["hits"][0]["text"])
    if len(found["hits"]) > 1 or found["hits"][0] == whole[0]:
        passages = [hit["text"] for hit in found["hits"]]
        assert sum(map(estimate_tokens, passages)) <= tokens
    if found["left_out"]:
        assert f"{found['left_out']} more passages did not fit" in said(result)


def test_filters_and_older_generations_are_searched(call, path):
    with ragfile.edit(path) as writer:
        writer.delete(["pods.md"])
    newest, before = (
        call("search", query="pod", k=1),
        call("search", query="pod", k=1, generation=1),
    )
    assert newest["structuredContent"]["generation"] == 2
    assert newest["structuredContent"]["hits"][0]["doc_id"] != "pods.md"
    assert before["structuredContent"]["hits"][0]["doc_id"] == "pods.md"
    assert "pod by deleting" in said(call("read", id="pods.md", generation=1))
    only = call("search", query="pod", where={"name": "night.md"})["structuredContent"]["hits"]
    assert [hit["doc_id"] for hit in only] == ["sub/night.md"]


def test_nothing_found_is_said(call):
    assert said(call("search", query="pod", where={"name": "none"})) == "Nothing found."


# ------------------------------------------------------------------------------------ reading ---


@pytest.fixture
def text(path):
    with ragfile.open(path) as rf:
        return rf.document("keys.md").text


@pytest.mark.parametrize(
    ("place", "start", "end"),
    [
        ({}, 0, None), ({"start": 5}, 5, None), ({"start": 5, "end": 9}, 5, 9), ({"end": 9}, 0, 9),
        ({"start": 10**6}, -1, -1), ({"start": 9, "end": 5}, 9, 9),
    ],
)  # fmt: skip
def test_a_document_is_read_by_characters(call, text, place, start, end):
    found = call("read", id="keys.md", tokens=20_000, **place)["structuredContent"]
    end = len(text) if end in (None, -1) else end
    start = len(text) if start == -1 else start
    assert (found["start"], found["end"], found["text"]) == (start, end, text[start:end])
    assert found["line"] == text[:start].count("\n") + 1


def test_a_document_is_read_by_lines(call, text):
    found = call("read", id="keys.md", line=5, lines=3)["structuredContent"]
    assert found["text"] == "".join(text.splitlines(keepends=True)[4:7])
    assert (found["line"], text[found["start"] : found["end"]]) == (5, found["text"])
    assert call("read", id="keys.md", line=1, tokens=20_000)["structuredContent"]["text"] == text
    assert "has" in said(call("read", id="keys.md", line=1000))


def test_a_passage_is_read_with_what_surrounds_it(call, path, text):
    with ragfile.open(path) as rf:
        hit = rf.search("line 40 of the page", 1)[0]
    found = call("read", id=hit.id, tokens=600)["structuredContent"]
    assert (found["id"], found["start"] <= hit.start) == ("keys.md", True)
    assert hit.text in found["text"] or found["end"] > hit.start
    assert text[found["start"] : found["end"]] == found["text"]


@pytest.mark.parametrize("tokens", [1, 10, 50, 300])
def test_reading_on_gives_the_whole_document_in_budgeted_pieces(call, text, tokens):
    pieces, at = [], 0
    while at is not None:
        found = call("read", id="keys.md", start=at, tokens=tokens)["structuredContent"]
        assert estimate_tokens(found["text"]) <= tokens
        pieces.append(found["text"])
        at = found["next"]
    assert "".join(pieces) == text


def test_list_gives_ids_by_prefix_and_in_pages(call):
    whole = call("list")["structuredContent"]
    assert whole["documents"] == ["keys.md", "pods.md", "sub/night.md"]
    assert (whole["total"], whole["next"]) == (3, None)
    assert call("list", prefix="sub/")["structuredContent"]["documents"] == ["sub/night.md"]
    page = call("list", tokens=5)
    assert page["structuredContent"]["documents"] == ["keys.md"]
    assert "2 more: continue with after=keys.md" in said(page)
    assert call("list", after="keys.md")["structuredContent"]["documents"][0] == "pods.md"


def test_list_after_the_last_document_is_empty(call):
    last = call("list", after="sub/night.md")
    assert said(last) == "No documents."
    found = last["structuredContent"]
    assert (found["documents"], found["total"], found["next"]) == ([], 3, None)


# ---------------------------------------------------------------------------- what goes wrong ---


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (
            "search",
            {"query": "x", "nope": 1},
            "search: nope is unknown; known here: query, k, where, tokens",
        ),
        ("search", {}, "search: query is required"),
        ("search", {"query": 7}, "query must be a string, not 7"),
        ("search", {"query": "x", "k": "5"}, 'k must be an integer, not "5"'),
        ("search", {"query": "x", "k": True}, "k must be an integer, not true"),
        ("search", {"query": "x", "k": 51}, "k must be at least 1 and at most 50, not 51"),
        ("search", {"query": "x", "tokens": 0}, "tokens must be at least 1 and at most 20,000"),
        ("search", {"query": "x", "where": {"a": {"$near": 1}}}, r"$near"),
        ("search", {"query": "x", "generation": 99}, "generation"),
        ("read", {"id": "none.md"}, "no document or passage 'none.md': `list` shows the documents"),
        ("read", {"id": "keys.md#999"}, "no document or passage"),
        ("read", {"id": "keys.md", "line": 1, "start": 1}, "not both"),
    ],
)
def test_what_a_model_gets_wrong_is_a_result_that_says_so(call, path, name, arguments, message):
    result = call(name, **arguments)
    assert result["isError"] is True
    assert message in said(result)
    assert str(path) not in said(result)


def test_a_filter_that_is_nested_without_end_is_a_result_too(call):
    where = {}
    for _ in range(5000):
        where = {"$not": where}
    result = call("search", query="x", where=where)
    assert (result["isError"], "deep" in said(result)) == (True, True)


def test_numbers_of_clients_that_know_one_kind_are_taken(call):
    assert call("search", query="x", k=2.0)["isError"] is False


def test_a_file_that_goes_away_or_is_damaged_is_said_by_its_name(call, path):
    call("list")
    raw = path.read_bytes()
    path.write_bytes(b"RAGFILE\x01" + bytes(100))
    result = call("search", query="keys")
    assert (result["isError"], "kb" in said(result), str(path) in said(result)) == (
        True,
        True,
        False,
    )
    path.unlink()
    assert call("list")["isError"] is True
    path.write_bytes(raw)
    assert call("list")["isError"] is False


def test_a_commit_of_another_process_is_seen(call, path):
    call("list")
    with ragfile.edit(path) as writer:
        writer.upsert([{"id": "new.md", "text": "The moon."}])
    assert "new.md" in said(call("list"))


def test_threads_share_a_server(call):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(said(call("search", query="keys"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


# -------------------------------------------------------------- several files, asking, writing ---


def test_of_several_files_one_is_named(path, built):
    call = served(path, built)
    tools = call.server.tools.listed()
    assert tools[0]["inputSchema"]["properties"]["file"]["enum"] == ["kb", "kb-2"]
    assert "search: file is required" in said(call("search", query="keys"))
    assert "file must be one of kb, kb-2" in said(call("search", query="keys", file="/etc/passwd"))
    assert call("search", query="keys", file="kb-2")["isError"] is False


def test_a_file_that_is_not_there_is_said_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file"):
        Files([str(tmp_path / "none.ragfile")])


def test_ask_is_there_only_with_a_model(call, path):
    pytest.importorskip("httpx2", reason="the extra 'http' is not installed")
    assert "ask" not in call.server.tools.names
    with ChatServer(["Every 90 days [1]. The moon pays every customer twice [9]."]) as chat:
        from ragfile.chat.protocol import open_chat

        asking = served(path, model=open_chat(chat.model()))
        result = asking("ask", question="how often are keys rotated?")
    assert said(result).startswith("Every 90 days [1].")
    assert "Not supported by the passages: The moon" in said(result)
    assert result["structuredContent"]["unknown"] == [9]
    assert result["structuredContent"]["citations"][0]["doc_id"] == "keys.md"


def test_writing_is_there_only_if_it_was_said(call, path):
    assert {"put", "delete"}.isdisjoint(call.server.tools.names)
    writing = served(path, can_write=True)
    assert (
        writing("put", id="moon.md", text="The moon is full.", metadata={"year": 2026})["isError"]
        is False
    )
    assert writing("search", query="moon")["structuredContent"]["hits"][0]["doc_id"] == "moon.md"
    assert writing("delete", id="moon.md")["structuredContent"]["generation"] == 3
    assert "no document 'moon.md'" in said(writing("delete", id="moon.md"))
    flagged = {t["name"]: t["annotations"] for t in writing.server.tools.listed()}
    assert flagged["delete"] == {"readOnlyHint": False, "destructiveHint": True}
    assert flagged["search"] == {"readOnlyHint": True}


def test_a_writer_elsewhere_is_named(path):
    writing = served(path, can_write=True)
    with ragfile.edit(path):
        result = writing("put", id="x", text="y")
    assert (result["isError"], str(path) in said(result)) == (True, False)


def test_passages_of_source_code_have_their_lines(tmp_path):
    path = tmp_path / "code.ragfile"
    ragfile.build([{"id": "keys.py", "text": "\n\ndef rotate(key):\n    return key[::-1]\n"}], path)
    head = said(served(path)("search", query="rotate a key")).splitlines()[0]
    assert head.startswith("[1] keys.py#0 ")
    assert head.endswith(" (keys.py:3-4)")
