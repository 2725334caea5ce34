"""What a client gets wrong is said with a status of its own, and harms neither the file nor the server."""

import pytest
from doors.server.test_write_endpoints import BOUNDARY, FILES, KB, multipart, send, settled

import ragfile
from ragfile.doors.server.keys import KeyFile

STORE = "/v1/vector_stores/kb/files"


@pytest.fixture
def server(serving, path, tmp_path):
    return serving(path, can_write=True, uploads=str(tmp_path / "uploads"))


@pytest.mark.parametrize(
    ("method", "place", "body", "says"),
    [
        ("GET", f"{STORE}/nosuch.md", None, "no file 'nosuch.md' in kb"),
        ("GET", f"{STORE}/nosuch.md/content", None, "no file 'nosuch.md' in kb"),
        ("GET", f"{FILES}/0123", None, "no file '0123' was uploaded to kb"),
        ("DELETE", f"{FILES}/0123", None, "no file '0123' was uploaded to kb"),
        ("DELETE", f"{KB}/documents/nosuch.md", None, "no document 'nosuch.md' in kb"),
        ("PUT", "/v1/collections/other/documents/a.md", {"text": "a"}, "no collection 'other'"),
        (
            "POST",
            "/v1/collections/other/sync",
            {},
            "no collection 'other': see GET /v1/collections",
        ),
        (
            "POST",
            "/v1/collections/other/search",
            {"query": "a"},
            "no collection 'other': see GET /v1/collections",
        ),
    ],
)
def test_what_is_not_there_is_named(server, method, place, body, says):
    answer = server.ask(method, place, body)
    assert answer.status == 404
    assert says in answer.error["message"]


def test_a_store_has_no_files_that_failed(server):
    assert server.get(f"{STORE}?filter=failed").json["data"] == []
    assert len(server.get(f"{STORE}?filter=completed").json["data"]) == 3


@pytest.mark.parametrize(
    ("body", "param", "says"),
    [
        ({"k": -1}, "k", "k must be at least 0"),
        ({"offset": -1}, "offset", "offset must be at least 0"),
        ({"k": 2.5}, "k", "k must be an integer, not 2.5"),
        ({"k": True}, "k", "k must be an integer, not true"),
        ({"generation": -1}, "generation", "generation must be at least 0"),
        ({"effort": 0}, "effort", "effort must be greater than 0 and at most 1, not 0"),
        (
            {"fields": {"text": 256}},
            "fields.text",
            "fields.text must be at least 0 and at most 255",
        ),
        ({"fusion": [1, 2]}, "fusion", "fusion"),
        ({"queries": ["keys"]}, "queries", "give query or queries, but only one of them"),
        ({"vectors": [[1.0]]}, "vectors", "vectors is only valid with queries, not query"),
    ],
)
def test_a_search_says_which_option_is_wrong(server, body, param, says):
    answer = server.search({"query": "keys", **body})
    assert (answer.status, answer.error["param"]) == (422, param)
    assert says in answer.error["message"]


@pytest.mark.parametrize(
    ("body", "param", "says"),
    [
        ({}, "query", "give query or queries"),
        ([], "body", "the body must be an object, not an array"),
        ({"queries": ["keys"], "group": 2}, "group", "group is only valid with query, not queries"),
    ],
)
def test_a_search_without_a_query_says_what_is_wrong(server, body, param, says):
    answer = server.search(body)
    assert (answer.status, answer.error["param"]) == (422, param)
    assert says in answer.error["message"]


def test_a_whole_number_may_be_written_as_a_float(server):
    assert server.search({"query": "keys", "k": 1.0}).json["hits"]


def test_a_body_of_files_is_checked_before_a_byte_is_kept(server, tmp_path):
    parts = multipart(("file", "a.md", "# A"))
    for kind, status, says in (
        (
            f'multipart/form-data; boundary="{"b" * 300}"',
            400,
            "the boundary has 300 bytes; the limit is 200",
        ),
        ("multipart/form-data", 415, "send multipart/form-data with a boundary"),
    ):
        answer = server.post(FILES, parts, Content_Type=kind)
        assert (answer.status, says in answer.error["message"]) == (status, True)
    nameless = multipart(("", "no name"), ("file", "a.md", "# A"))
    kind = f'multipart/form-data; boundary="{BOUNDARY}"'
    answer = server.post(FILES, nameless, Content_Type=kind)
    assert (answer.status, "a part has no name" in answer.error["message"]) == (422, True)
    many = [(f"field{n}", "x") for n in range(25)]
    assert send(server, *many, ("file", "a.md", "# A")).status == 422
    assert server.get(FILES).json["files"] == []


def test_an_upload_goes_with_its_last_document(server):
    upload = send(server, ("file", "birds.md", "# Birds\n\nHerons stand.")).json["files"][0]
    (doc_id,) = settled(server, upload)["documents"]
    assert server.ask("DELETE", f"{KB}/documents/{doc_id}").status == 200
    assert server.get(f"{FILES}/{upload['id']}").status == 404


def test_the_bytes_of_a_document_of_the_collection_are_not_taken_in_twice(serving, tmp_path):
    page = b"# Birds\n\nHerons stand in the shallow water."
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "heron.md").write_bytes(page)
    ragfile.build(tmp_path / "docs", tmp_path / "kb.ragfile")
    server = serving(tmp_path / "kb.ragfile", can_write=True, uploads=str(tmp_path / "uploads"))
    said = send(server, ("dedupe", "true"), ("file", "copy.md", page)).json["files"][0]
    assert (said["duplicate"], said["state"]) == (True, "indexed")
    assert said["documents"] == ["heron.md"]
    assert server.get(f"{FILES}/{said['id']}").json["documents"] == ["heron.md"]
    assert server.search({"query": "heron", "k": 5}).json["hits"][0]["doc_id"] == "heron.md"


def test_keys_that_cannot_be_read_leave_those_of_before(serving, path, tmp_path):
    keys = tmp_path / "keys.json"
    secret = KeyFile(str(keys)).add("you", "read")
    server = serving(path, keys=str(keys))
    mine = {"Authorization": f"Bearer {secret}"}
    assert server.ask("GET", "/v1/collections", headers=mine).status == 200
    for wrong in ("not JSON", '{"a": 1}', '[{"name": 1}]'):
        keys.write_text(wrong)
        assert server.ask("GET", "/v1/collections", headers=mine).status == 200
        with pytest.raises(ValueError, match="is not a file of keys"):
            KeyFile(str(keys)).read()
    assert server.get("/v1/collections").status == 401
