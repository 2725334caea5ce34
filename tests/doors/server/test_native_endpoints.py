"""The native interface gives what the library gives."""

import json
from dataclasses import asdict
from urllib.parse import quote

import pytest
from doors.server.conftest import Serving
from servers.chat_servers import Server as ChatServer

import ragfile

KB = "/v1/collections/kb"


@pytest.fixture
def rf(built):
    with ragfile.open(built) as found:
        yield found


def of(hits):
    """What JSON makes of the library's hits."""
    return json.loads(json.dumps([asdict(hit) for hit in hits]))


def test_it_says_that_it_is_well(server):
    answer = server.get("/v1/health")
    assert (answer.status, answer.json) == (200, {"status": "ok", "version": ragfile.__version__})
    assert server.ask("HEAD", "/v1/health").body == b""


def test_collections_are_listed_and_shown_without_their_paths(server, rf):
    [line] = server.get("/v1/collections").json["collections"]
    one = server.get(KB).json
    assert line == {key: one[key] for key in line}
    assert one["chunks"] == len(rf)
    assert one["documents"] == 3
    assert (one["chat_model"], one["write"]) == (None, False)
    assert str(rf.path) not in json.dumps([line, one])


OPTIONS = [
    {"k": 2}, {"mode": "bm25"}, {"mode": "vector", "k": 3}, {"mode": "keyword"},
    {"where": {"year": {"$gte": 2024}}}, {"where": ["pods.md", "keys.md#0"]}, {"where": [0, 2]},
    {"tags_any": ["security"]}, {"tags_all": ["security", "x"]}, {"fusion": "rrf"},
    {"fusion": ["rrf", {"rrf_k": 5}]}, {"pool": 2, "k": 1}, {"drop_repeats": True}, {"cache": False},
    {"offset": 1}, {"min_score": 0.2}, {"group": 1}, {"query_syntax": True}, {"rewrites": ["keys"]}, {"diversity": 0.4},
    {"similar_to": 0}, {"boost": {"field": "year", "weight": 0.5, "reference": 2024, "half_life": 1}},
    {"fields": {"headers": 2}}, {"fields": {"text": 0}},
    {"threads": 2}, {"vector": [0.5] * 256}, {"k": 0},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=json.dumps)
def test_a_search_gives_the_librarys_hits(server, rf, options):
    answer = server.search({"query": "rotate the keys", **options}).json
    asked = dict(options)
    if isinstance(asked.get("fusion"), list):
        asked["fusion"] = tuple(asked["fusion"])
    assert answer["hits"] == of(rf.search("rotate the keys", **asked))
    assert (answer["degraded"], answer["generation"]) == ("", rf.generation)


def test_a_batch_gives_the_hits_of_each_question(server, rf):
    queries, where = ["keys", "pods", "night"], [None, {"year": 2023}, ["pods.md"]]
    answer = server.search({"queries": queries, "where": where, "k": 2}).json
    found = rf.search_batch(queries, 2, where=where)
    assert [part["hits"] for part in answer["results"]] == [of(hits) for hits in found]
    assert server.search({"queries": []}).json["results"] == []


def test_an_older_generation_is_asked(serving, path):
    with ragfile.edit(path) as w:
        w.delete(["pods.md"])
    server = serving(path)
    now, before = (
        server.search({"query": "restart a pod", "k": 1, **more}).json
        for more in ({}, {"generation": 1})
    )
    assert (now["generation"], before["generation"]) == (2, 1)
    assert before["hits"][0]["doc_id"] == "pods.md" != now["hits"][0]["doc_id"]


def test_documents_come_in_pages(server, rf):
    ids, after = [], None
    while True:
        page = server.get(f"{KB}/documents?limit=2" + (f"&after={quote(after)}" if after else ""))
        ids += [entry["id"] for entry in page.json["documents"]]
        assert page.json["total"] == 3
        if (after := page.json["next"]) is None:
            break
    assert ids == rf.document_ids()
    [entry] = server.get(f"{KB}/documents?prefix=sub/").json["documents"]
    assert entry["id"] == "sub/night & day.md"
    assert entry["bytes"] == len(rf.document(entry["id"]).text.encode())


@pytest.mark.parametrize("name", ["keys.md", "sub/night & day.md"])
def test_a_document_opens_at_the_exact_characters(server, rf, name):
    document = rf.document(name)
    [hit, *_] = [h for h in rf.search("night keys", 50) if h.doc_id == name]
    place = f"{KB}/documents/{quote(name)}"
    whole = server.get(place).json
    assert (whole["text"], whole["before"], whole["after"]) == (document.text, "", "")
    assert whole["checksum"] == document.metadata["checksum"]
    span = server.get(f"{place}?span={hit.start}-{hit.end}&context=7").json
    assert span["text"] == hit.text
    assert span["before"] == document.text[max(0, hit.start - 7) : hit.start]
    assert span["after"] == document.text[hit.end : hit.end + 7]


def test_a_chunk_is_found_by_its_row_and_by_its_id(server, rf):
    for row in range(len(rf)):
        hit = rf.hit(row)
        by_row, by_id = (
            server.get(f"{KB}/chunks/{name}").json for name in (row, quote(hit.id, safe=""))
        )
        assert by_row == by_id
        assert (by_row["row"], by_row["text"], by_row["id"]) == (row, hit.text, hit.id)


def test_links_of_a_document_and_to_it(writable, path):
    with ragfile.edit(path) as writer:
        writer.upsert([{"id": "from.md", "text": "See [the page](to.md#part) and [[gone]]."},
                       {"id": "to.md", "text": "Here."}])  # fmt: skip
    found = writable.get(f"{KB}/links/from.md").json
    told = [
        (one["document"], one["target"], one["fragment"], one["text"]) for one in found["links"]
    ]
    assert told == [("to.md", "to.md", "part", "the page"), (None, "[[gone", "", "")]
    (back,) = writable.get(f"{KB}/links/to.md").json["backlinks"]
    assert back == found["links"][0]
    assert writable.get(f"{KB}/links/nope.md").status == 404


def test_facets_count_what_can_be_filtered_by(server, rf):
    facets = server.get(f"{KB}/facets").json
    assert facets["tags"] == [
        {"value": "security", "chunks": len(rf.search("keys", 50, tags_any=["security"]))}
    ]
    [year] = [field for field in facets["fields"] if field["name"] == "year"]
    assert (year["least"], year["most"], year["distinct"]) == (2023, 2024, 2)
    for value in year["values"]:
        rows = rf.rows.mask({"year": value["value"]})
        assert rows.sum() == value["chunks"]


def test_an_answer_is_that_of_the_library(server, rf):
    answer = server.post(f"{KB}/ask", {"question": "How often are keys rotated?", "k": 3}).json
    said = json.loads(json.dumps(rf.ask("How often are keys rotated?", k=3).to_dict()))
    for fields in (answer, said):
        del fields["timings"], fields["request_id"]
    assert "--model" in answer.pop("note")
    del said["note"]
    assert answer == said


def test_an_answer_without_its_file_is_given_only_if_that_is_allowed(serving, path):
    with ChatServer(["I answer by heart."]) as chat:
        server = serving(path, model=chat.model())
        path.write_bytes(path.read_bytes()[:5000])
        asked = {"question": "How often are keys rotated?"}
        assert server.post(f"{KB}/ask", asked).status == 503
        answer = server.post(f"{KB}/ask", asked | {"allow_ungrounded": True})
        none = asked | {"allow_ungrounded": True, "model": "none"}
        assert server.post(f"{KB}/ask", none).status == 503
    assert answer.json["text"] == "I answer by heart."
    assert answer.json["rag"]["used"] is False
    assert answer.json["rag"]["reason"]
    assert str(path.parent) not in answer.body.decode()


@pytest.mark.parametrize("wrong", [
    {"temperature": 2.5}, {"max_tokens": 0}, {"stop": ["a"] * 5}, {"question": " "}, {"k": -1},
    {"history": [{"role": "system", "content": "x"}]}, {"model": "openai:other"}, {"budget": -1},
])  # fmt: skip
def test_an_answer_is_not_begun_for_what_is_wrong(server, wrong):
    assert server.post(f"{KB}/ask", {"question": "keys?"} | wrong).status == 422


def test_the_events_of_an_answer_come_in_their_order(server):
    asked = {"question": "How often are keys rotated?", "k": 3}
    answer = server.post(f"{KB}/ask", asked, Accept="text/event-stream")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.headers["X-Accel-Buffering"] == "no"
    kinds = [kind for kind, _ in answer.events]
    assert (kinds[0], kinds[-1]) == ("sources", "done")
    assert {"delta", "citation"} <= set(kinds)
    text = "".join(data["text"] for kind, data in answer.events if kind == "delta")
    assert text == answer.events[-1][1]["text"]
    assert server.post(f"{KB}/ask", asked | {"stream": True}).events[0] == answer.events[0]


def test_what_a_question_names_and_the_file_lacks_is_the_clients_mistake(server):
    assert server.search({"query": "", "similar_to": "nobody#0"}).status in (404, 422)
    assert server.search({"query": "", "similar_to": 10**6}).status in (404, 422)
    assert server.search({"query": "keys", "group": 2, "diversity": 0.5}).status == 422
    assert server.search({"query": "key*", "group": 2, "query_syntax": True}).status == 422


def test_a_search_tells_what_is_missing_and_shows_excerpts_if_asked(server, built):
    question = "How often must keys be rotated, and pancakes?"
    plain = server.search({"query": question, "k": 2}).json
    assert not plain.keys() & {"excerpts", "support", "missing", "lines"}
    plain = server.search({"query": question, "k": 2, "support": True}).json
    with ragfile.open(built) as rf:
        hits = rf.search(question, 2)
        assert plain["support"] == json.loads(json.dumps(hits.support.to_dict()))
        assert plain["missing"] == {hit.id: hit.missing for hit in hits if hit.missing}
    assert "pancakes" in plain["support"]["missing"]
    assert "excerpts" not in plain
    found = server.search({"query": question, "k": 2, "excerpts": True}).json
    assert list(found["excerpts"]) == [hit["id"] for hit in found["hits"]]
    for hit in found["hits"]:
        shown = found["excerpts"][hit["id"]]
        assert 0 <= shown["start"] < shown["end"] <= len(hit["text"])
        marked = [line["text"][a:b] for line in shown["lines"] for a, b in line["marks"]]
        assert marked
        assert all(word.lower().startswith(("key", "rotat", "often", "must")) for word in marked)
    batch = server.search({"queries": [question], "k": 2, "excerpts": True}).json["results"][0]
    assert batch["excerpts"] == found["excerpts"]


def test_an_answer_has_the_excerpts_of_its_sources_if_asked(server):
    answer = server.post(
        "/v1/collections/kb/ask", {"question": "How often must keys be rotated?", "excerpts": True}
    ).json
    assert set(answer["excerpts"]) == {source["id"] for source in answer["sources"]}
    text = "\n".join(
        line["text"] for line in answer["excerpts"][answer["sources"][0]["id"]]["lines"]
    )
    assert "keys" in text


def test_a_search_tells_how_current_and_trusted_documents_are(server, tmp_path):
    assert server.search({"query": "keys"}).json["standing"] == {}
    path = tmp_path / "kb.ragfile"
    with ragfile.create(path) as w:
        stale = {"type": "Policy", "stale_after": "2026-01-31"}
        w.add_documents(
            [
                {"id": "a", "text": "Keys rotate.", "metadata": stale},
                {"id": "b", "text": "Keys rust."},
            ]
        )
    with Serving(path) as serving, ragfile.open(path) as rf:
        found = serving.search({"query": "keys"}).json
        assert len(found["hits"]) == 2
        assert found["standing"] == {
            hit.id: hit.standing for hit in rf.search("keys") if hit.standing
        }
        assert found["standing"] == {"a#0": "stale since 2026-01-31, unverified"}
