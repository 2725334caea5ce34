"""Documents and files put in and taken out over HTTP."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from urllib.parse import quote

import pytest
from oracles import hostile_files
from servers.uploading import BOUNDARY, FILES, KB, multipart, originals, send, settled

import ragfile
from ragfile.doors.server.keys import KeyFile
from ragfile.doors.server.metrics import Board
from ragfile.doors.server.settings import Settings
from ragfile.doors.server.shared_state import Service
from ragfile.doors.server.uploads import Uploads, named
from ragfile.doors.server.write_endpoints import index


@pytest.fixture
def server(writable):
    return writable


# ---------------------------------------------------------------------------------- documents ---


def test_a_document_is_put_replaced_and_deleted(server):
    place = f"{KB}/documents/birds%2Fheron.md"
    first = server.ask("PUT", place, {"text": "Herons stand.", "metadata": {"n": 1}, "tags": ["b"]})
    assert (first.status, first.json["generation"], first.json["chunks"]) == (200, 2, 1)
    server.ask("PUT", place, {"text": "Herons fly."})
    found = server.search({"query": "herons", "k": 1}).json["hits"][0]
    assert (found["doc_id"], found["text"]) == ("birds/heron.md", "Herons fly.")
    gone = server.ask("DELETE", place)
    assert (gone.status, gone.json["generation"]) == (200, 4)
    assert server.get(place).status == 404
    assert server.ask("DELETE", place).status == 404


@pytest.mark.parametrize("name", ["two\nlines", "ends\n", "a/b\r\n\u2028c", "# ?&%2F", ".."])
def test_a_document_can_have_any_name(server, name):
    place = f"{KB}/documents/{quote(name, safe='')}"
    assert server.ask("PUT", place, {"text": "Herons stand."}).status == 200
    assert server.get(place).json["text"] == "Herons stand."
    assert server.get(f"{KB}/chunks/{quote(name + '#0', safe='')}").json["doc_id"] == name
    assert server.ask("DELETE", place).status == 200
    assert server.get(place).status == 404


@pytest.mark.parametrize("body", [
    {}, {"text": 1}, {"text": "x", "id": "y"}, {"text": "x", "metadata": []}, {"text": "x", "tags": "a"},
])  # fmt: skip
def test_a_document_is_checked(server, body):
    assert server.ask("PUT", f"{KB}/documents/x", body).status == 422


def test_without_write_nothing_is_written(serving, path):
    server, before = serving(path), path.read_bytes()
    assert server.ask("PUT", f"{KB}/documents/x", {"text": "x"}).status == 405
    assert server.ask("DELETE", f"{KB}/documents/pods.md").status == 405
    assert send(server, ("file", "a.md", "# A")).status in (404, 405)
    assert path.read_bytes() == before


def test_a_key_that_reads_does_not_write(serving, path, root, tmp_path):
    keys = KeyFile(str(tmp_path / "keys.json"))
    reads, writes = keys.add("reads", "read"), keys.add("writes", "write")
    server = serving(path, can_write=True, uploads=str(root), keys=keys.path)
    for key, status in ((reads, 403), (writes, 200)):
        sent = {"Authorization": f"Bearer {key}"}
        body = {"text": "x"}
        assert server.ask("PUT", f"{KB}/documents/x", body, sent).status == status
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        tools = server.ask("POST", "/mcp", call, sent).json["result"]["tools"]
        assert ("put" in {tool["name"] for tool in tools}) == (status == 200)
    assert send(server, ("file", "a.md", "# A"), Authorization=f"Bearer {reads}").status == 403
    sent = send(server, ("file", "a.md", "# A"), Authorization=f"Bearer {writes}").json["files"][0]
    assert sent["user"] == "writes"
    assert [p.parts[-3] for p in originals(root)] == ["writes"]


# ------------------------------------------------------------------------------------- uploads ---


def test_a_file_is_taken_in_indexed_found_and_removed(server, root):
    text = "# Herons\n\nHerons stand in the water and wait.\n"
    answer = send(server, ("file", "heron.md", text), ("tags", "bird, slow"),
                  ("metadata", '{"shelf": 3}'))  # fmt: skip
    assert answer.status == 202
    [sent] = answer.json["files"]
    assert sent["state"] in ("queued", "indexed")
    assert (sent["name"], sent["checksum"]) == ("heron.md", sha256(text.encode()).hexdigest())
    done = settled(server, sent)
    assert (done["state"], done["documents"], done["chunks"]) == ("indexed", ["heron.md"], 1)
    assert done["mime"] == "text/markdown"
    hit = server.search({"query": "herons", "k": 1, "tags_any": ["bird"]}).json["hits"][0]
    assert (hit["source"], hit["metadata"]["shelf"]) == ("heron.md", 3)
    [original] = originals(root)
    assert original.read_text() == text
    day = re.fullmatch(r"local/\d{4}-\d\d-\d\d/[0-9a-f-]{36}", str(original.relative_to(root)))
    assert day
    assert server.ask("DELETE", f"{KB}/documents/heron.md").status == 200
    assert originals(root) == []
    assert server.get(f"{FILES}/{sent['id']}").status == 404


def test_a_file_that_cannot_be_read_is_marked_and_spares_the_others(server, root):
    sent = send(
        server, ("file", "good.md", "# Good\n\nThis one is good."), ("file", "bad.pdf", b"%PDF-1.4 no"),
        ("file", "also.txt", "This one is good, too."), ("file", "binary.md", b"\x7fELF\0\0\1\2\xff"),
    ).json["files"]  # fmt: skip
    states = {f["name"]: settled(server, f) for f in sent}
    assert {name: f["state"] for name, f in states.items()} == {
        "good.md": "indexed", "bad.pdf": "error", "also.txt": "indexed", "binary.md": "error",
    }  # fmt: skip
    assert states["bad.pdf"]["error"]
    assert str(root) not in json.dumps(states)
    assert len(originals(root)) == 2
    assert server.get(KB).json["documents"] == 5
    metrics = server.get("/metrics").body.decode()
    assert 'ragfile_ingested_files_total{state="error"} 2' in metrics


def test_the_same_bytes_twice_are_one_file_if_that_is_asked(server, root, path):
    parts = [("file", "a.md", "# Same\n\nThe same bytes."), ("dedupe", "true")]
    first = settled(server, send(server, *parts).json["files"][0])
    [again] = send(server, *parts).json["files"]
    assert (again["action"], again["duplicate"], again["original"]) == (
        "duplicate",
        True,
        first["id"],
    )
    assert server.get(f"{FILES}/{again['id']}").json == again
    assert again["documents"] == ["a.md"]
    assert len(originals(root)) == 1
    [other] = send(server, parts[0]).json["files"]
    assert other["id"] != first["id"]
    assert settled(server, other)["documents"] == ["a (2).md"]
    with ragfile.open(path) as rf:
        pods = rf.document("pods.md")
    known = send(server, ("file", "x.md", pods.original), ("dedupe", "1")).json["files"][0]
    assert (known["state"], known["documents"]) == ("indexed", ["pods.md"])


def test_two_uploads_of_one_file_at_once_are_one(server):
    answers, body = [], [("file", "a.md", "# Twice\n\nAt once."), ("dedupe", "true")]
    threads = [
        threading.Thread(target=lambda: answers.append(send(server, *body).json["files"][0]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [first] = [answer for answer in answers if not answer["duplicate"]]
    assert {answer["original"] for answer in answers if answer is not first} == {first["id"]}
    for answer in answers:
        assert settled(server, answer)["documents"] == ["a.md"]
    listed = server.get(f"{KB}/documents?prefix=a").json["documents"]
    assert [entry["id"] for entry in listed] == ["a.md"]


def test_the_original_is_kept_only_if_that_is_wanted(server, root):
    [sent] = send(server, ("file", "a.md", "# A\n\nText."), ("keep", "false")).json["files"]
    assert settled(server, sent)["state"] == "indexed"
    assert originals(root) == []


@pytest.mark.parametrize("name", [
    "../../etc/passwd", "..\\..\\x.md", "/etc/shadow", "..", ".", "", "a/b/c.md", "\x00.md", "con:.md",
    "%2e%2e%2fx.md", "\u202egpj.md", "x" * 3000 + ".md", "Größe 😀.md", "-rf.md", " .md ",
])  # fmt: skip
def test_no_name_leaves_the_root(server, root, tmp_path, name):
    before = {p for p in tmp_path.rglob("*") if root not in p.parents and p != root}
    answer = send(server, ("file", name, "# Name\n\nA text."))
    assert answer.status == 202
    done = settled(server, answer.json["files"][0])
    assert done["state"] == "indexed"
    assert not {"/", "\\", "\0"} & set(done["name"])
    after = {p for p in tmp_path.rglob("*") if root not in p.parents and p != root}
    assert after - before <= {p for p in after if p.name.startswith("kb.ragfile")}


@pytest.mark.parametrize("user", ["../../etc", "..", ".", "", "a/b", "a\0", "x" * 65, "é"])
def test_no_user_leaves_the_root(tmp_path, user):
    with pytest.raises(ValueError, match="the user of an upload"):
        Uploads(str(tmp_path)).begun("x", "kb", user)


def test_a_state_that_was_tampered_with_leads_nowhere(tmp_path):
    uploads = Uploads(str(tmp_path / "root"))
    upload = uploads.begun("x", "kb", "local")
    for field, value in (("user", "../.."), ("date", "../../etc"), ("id", "passwd")):
        before = getattr(upload, field)
        setattr(upload, field, value)
        with pytest.raises(ValueError, match="damaged"):
            uploads.path(upload)
        setattr(upload, field, before)
    assert uploads.get("../../etc/passwd") is None
    assert named("a/../b\n.md") == "b.md"


BROKEN = [
    ([("file", "a.md", "x")], {"end": False}, 400),
    ([("note", "x")], {}, 422),
    ([], {}, 422),
    ([("file", "a.md", "x"), ("unknown", "y")], {}, 422),
    ([("file", "a.md", "x"), ("dedupe", "perhaps")], {}, 422),
    ([("file", "a.md", "x"), ("metadata", "[]")], {}, 422),
    ([("file", "a.md", "x"), ("metadata", "{")], {}, 422),
    ([("file", "a.md", "x" * 3000)], {}, 413),
    ([("file", f"{i}.md", "x") for i in range(9)], {}, 413),
    ([("f" * 100_000, "a.md", "x")], {}, 400),
    ([("file", "a.md", "x"), ("tags", "t" * 100_000)], {}, 413),
]


@pytest.mark.parametrize(("parts", "how", "status"), BROKEN, ids=range(len(BROKEN)))
def test_a_body_that_is_wrong_leaves_nothing(serving, path, root, parts, how, status):
    server = serving(path, can_write=True, uploads=str(root), max_upload=2000, max_files=8)
    assert send(server, *parts, **how).status == status
    assert originals(root) == []
    assert server.get(FILES).json["files"] == []


def test_what_is_no_multipart_is_refused(server):
    for kind in ("multipart/form-data", "application/json", "multipart/form-data; boundary="):
        assert server.post(FILES, b"x", Content_Type=kind).status == 415
    assert server.post("/v1/collections/none/files", multipart(("file", "a", "b")),
                       Content_Type=f'multipart/form-data; boundary="{BOUNDARY}"').status == 404  # fmt: skip


def test_a_file_with_too_many_chunks_is_marked(serving, path, root):
    server = serving(path, can_write=True, uploads=str(root), max_chunks=3)
    text = "".join(f"# Part {i}\n\n{'A sentence of some length. ' * 60}\n\n" for i in range(9))
    done = settled(server, send(server, ("file", "long.md", text)).json["files"][0])
    assert (done["state"], done["chunks"]) == ("error", 0)
    assert "the limit is 3" in done["error"]
    assert server.get(KB).json["documents"] == 3


def test_uploads_that_wait_when_the_server_ends_are_indexed_by_the_next(serving, path, root):
    uploads = Uploads(str(root))
    upload = uploads.begun("late.md", "kb", "local")
    os.write(fd := uploads.create(upload), b"# Late\n\nBut not lost.")
    os.close(fd)
    uploads.put(upload)
    server = serving(path, can_write=True, uploads=str(root))
    assert settled(server, {"id": upload.id})["state"] == "indexed"


@pytest.mark.parametrize("is_first", [True, False], ids=["before it is indexed", "after"])
def test_an_upload_that_a_starting_server_meets_is_indexed_once(path, root, is_first):
    service = Service(Settings((str(path),), can_write=True, uploads=str(root)), Board([]))
    upload = service.uploads.begun("late.md", "kb", "local")
    os.write(fd := service.uploads.create(upload), b"# Late\n\nBut not lost.")
    os.close(fd)
    service.uploads.put(upload)
    service.queue.put(upload)
    late = service.uploads.get(upload.id)
    if is_first:
        service.queue.put(late)
    index(service, "kb")
    service.queue.put(late)
    index(service, "kb")
    service.close()
    with ragfile.open(path) as rf:
        assert [d.id for d in rf.documents() if d.id.startswith("late")] == ["late.md"]


DYING = """
import os, sys
from ragfile.doors.server import write_endpoints
from ragfile.doors.server.metrics import Board
from ragfile.doors.server.settings import Settings
from ragfile.doors.server.shared_state import Service
split = write_endpoints.split
write_endpoints.split = lambda document, policy: os._exit(9) if "deadly" in document.text else split(document, policy)
service = Service(Settings((sys.argv[1],), can_write=True, uploads=sys.argv[2]), Board(["/"]))
service.resume()
service.writer.shutdown(wait=True)
"""


def test_an_upload_that_ends_the_server_twice_is_failed_and_the_others_are_indexed(path, root):
    uploads = Uploads(str(root))
    for name, text in (("a", "Good."), ("b", "This is deadly."), ("c", "Good as well.")):
        upload = uploads.begun(f"{name}.md", "kb", "local")
        os.write(descriptor := uploads.create(upload), text.encode())
        os.close(descriptor)
        uploads.put(upload)
    command = [sys.executable, "-c", DYING, str(path), str(root)]
    ends = [subprocess.run(command).returncode for _ in range(3)]
    assert ends == [9, 9, 0]
    states = {upload.name: (upload.state, upload.error) for upload in uploads.all()}
    failed = "the server ended 2 times while it indexed this file"
    assert states == {"a.md": ("indexed", ""), "b.md": ("error", failed), "c.md": ("indexed", "")}
    assert {"a.md", "c.md"} <= set(ragfile.open(path).document_ids())


def test_an_upload_that_expands_is_marked_and_spares_the_others(serving, path, root):
    pytest.importorskip("pypdfium2", reason="the extra 'ingest' is not installed")
    server = serving(path, can_write=True, uploads=str(root), parse_memory=64 << 20)
    parts = [("file", "bomb.pdf", hostile_files.bomb()), ("file", "good.md", "# Good\n\nText.")]
    bomb, good = send(server, *parts).json["files"]
    assert settled(server, good)["state"] == "indexed"
    found = settled(server, bomb)
    assert found["state"] == "error"
    assert "more than 64 MiB of memory" in found["error"]


def test_halves_that_a_killed_server_left_are_taken_away(root):
    uploads = Uploads(str(root))
    for age, has_state in ((0, False), (9999, False), (9999, True)):
        upload = uploads.begun("half.md", "kb", "local")
        os.close(uploads.create(upload))
        os.utime(uploads.path(upload), (time.time() - age,) * 2)
        if has_state:
            uploads.put(upload)
    assert uploads.sweep() == 1
    assert len(originals(root)) == 2


def test_readers_do_not_wait_for_a_writer(server, path):
    with ragfile.edit(path) as other:
        other.upsert([{"id": "other", "text": "By another process."}])
        waiting = []
        thread = threading.Thread(
            target=lambda: waiting.append(server.ask("PUT", f"{KB}/documents/x", {"text": "X."}))
        )
        thread.start()
        for _ in range(20):
            assert server.search({"query": "keys"}).status == 200
        assert waiting == []
    thread.join(30)
    assert waiting[0].status == 200
    assert {"other", "x"} <= {d["id"] for d in server.get(f"{KB}/documents").json["documents"]}


def wait_for_requests(server, count):
    """Return when a server has so many requests besides this one."""
    found = 0
    while found < count:
        metrics = server.get("/metrics").body.decode()
        found = int(re.search(r"^ragfile_in_flight(?:{.*})? (\d+)", metrics, re.M)[1])


def test_documents_that_wait_for_a_writer_share_a_commit(server, path):
    """Each with its own answer; a change that fails leaves the others as they are."""
    asked = [("PUT", f"{KB}/documents/d{i}", {"text": f"Number {i}."}) for i in range(8)]
    asked.insert(3, ("DELETE", f"{KB}/documents/absent", None))
    with ragfile.edit(path) as other, ThreadPoolExecutor(len(asked)) as pool:
        other.upsert([{"id": "other", "text": "By another process."}])
        waiting = [pool.submit(server.ask, *one) for one in asked]
        wait_for_requests(server, len(asked))
        other.close()
        answers = [one.result() for one in waiting]
    assert [a.status for a in answers] == [200, 200, 200, 404, 200, 200, 200, 200, 200]
    assert len(ragfile.log(path)) < 2 + 8  # the file, and the commit of the other writer
    assert {f"d{i}" for i in range(8)} <= {
        d["id"] for d in server.get(f"{KB}/documents").json["documents"]
    }


def test_a_change_that_follows_an_upload_sees_its_documents(server, path, root):
    """Jobs keep their order: a change shares no commit with those before another job."""
    with ragfile.edit(path) as other, ThreadPoolExecutor(3) as pool:
        other.upsert([{"id": "other", "text": "By another process."}])
        first = pool.submit(server.ask, "PUT", f"{KB}/documents/a", {"text": "A."})
        wait_for_requests(server, 1)
        send(server, ("file", "note.md", "# Note\n\nHerons."))
        last = pool.submit(server.ask, "DELETE", f"{KB}/documents/note.md")
        wait_for_requests(server, 2)
        other.close()
        assert (first.result().status, last.result().status) == (200, 200)


def test_a_delete_during_an_answer_does_not_harm_it(serving, path, root):
    from servers.chat_servers import Server as ChatServer

    with ChatServer(["Restart ", "it ", "[1]."]) as chat:
        chat.pause = 0.3
        server = serving(path, can_write=True, uploads=str(root), model=chat.model())
        answers = []
        asked = {"question": "How do I restart a pod?", "k": 1}
        thread = threading.Thread(target=lambda: answers.append(server.post(f"{KB}/ask", asked)))
        thread.start()
        time.sleep(0.3)
        assert server.ask("DELETE", f"{KB}/documents/pods.md").status == 200
        thread.join(20)
    assert answers[0].json["sources"][0]["doc_id"] == "pods.md"
    assert answers[0].json["citations"][0]["doc_id"] == "pods.md"


# ---------------------------------------------------------------------------------------- sync ---


def test_a_collection_follows_its_folder_and_keeps_what_was_uploaded(serving, tmp_path, root):
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("a", "b"):
        (docs / f"{name}.md").write_text(f"# {name}\n\nThis is the page {name}.\n")
    ragfile.build(docs, tmp_path / "kb.ragfile")
    server = serving(tmp_path / "kb.ragfile", can_write=True, uploads=str(root),
                     sources=(("kb", str(docs)),))  # fmt: skip
    settled(server, send(server, ("file", "up.md", "# Up\n\nUploaded.")).json["files"][0])
    (docs / "a.md").unlink()
    (docs / "c.md").write_text("# c\n\nThis is the page c.\n")
    plan = server.post(f"{KB}/sync", {"dry_run": True}).json
    assert (plan["added"], plan["removed"]) == (["c.md"], ["a.md"])
    done = server.post(f"{KB}/sync", {})
    assert str(tmp_path) not in done.body.decode()
    assert [d["id"] for d in server.get(f"{KB}/documents").json["documents"]] == [
        "b.md", "c.md", "up.md",
    ]  # fmt: skip


def test_without_a_folder_there_is_nothing_to_follow(server):
    assert server.post(f"{KB}/sync", {}).status == 409
    assert server.post(f"{KB}/sync", {"sources": "/etc"}).status == 422
