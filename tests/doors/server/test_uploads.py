"""No acknowledged upload is lost, indexed twice, or deleted with another one."""

import errno
import hashlib
import json
import os
import subprocess
import sys
from urllib.parse import quote

import pytest
from servers import embedding_servers
from servers.uploading import FILES, KB, originals, send, settled

import ragfile
from ragfile.doors.server import uploads, write_endpoints
from ragfile.doors.server.failures import failure_of
from ragfile.doors.server.metrics import Board
from ragfile.doors.server.settings import Settings
from ragfile.doors.server.shared_state import Service
from ragfile.embedding.protocol import open_embedder
from ragfile.write.editor import Editor

HERONS, OWLS = "# Herons\n\nHerons stand in the water.\n", "# Owls\n\nOwls fly at night.\n"


@pytest.fixture
def server(writable):
    return writable


def sent(server, *parts, **how):
    """The settled state of one upload."""
    return settled(server, send(server, *parts, **how).json["files"][0])


def names(server):
    return [entry["id"] for entry in server.get(f"{KB}/documents").json["documents"]]


# ----------------------------------------------------------------------------------- duplicates ---


def test_deleting_a_duplicate_of_a_document_leaves_the_document(server, path):
    with ragfile.open(path) as rf:
        raw = rf.document("pods.md").original
    known = sent(server, ("file", "x.md", raw), ("dedupe", "true"))
    assert (known["documents"], known["duplicate"], known["original"]) == (["pods.md"], True, "")
    assert server.get(f"{FILES}/{known['id']}").json["duplicate"] is True
    assert server.ask("DELETE", f"{FILES}/{known['id']}").status == 200
    assert "pods.md" in names(server)
    assert server.get(f"{FILES}/{known['id']}").status == 404


@pytest.mark.parametrize("keep", ["true", "false"])
def test_a_duplicate_outlives_the_upload_that_it_repeats(server, keep):
    first = sent(server, ("file", "a.md", HERONS), ("keep", keep))
    again = sent(server, ("file", "b.md", HERONS), ("dedupe", "true"))
    third = sent(server, ("file", "c.md", HERONS), ("dedupe", "true"))
    if not again["original"]:  # the first was sent without dedupe, and made no claim
        assert again["documents"] == first["documents"]
        return
    assert server.ask("DELETE", f"{FILES}/{first['id']}").status == 200
    assert settled(server, third)["original"] == again["id"]


@pytest.mark.parametrize("keep", ["true", "false"])
def test_deleting_an_original_indexes_its_duplicate(server, root, keep):
    first = sent(server, ("file", "a.md", HERONS), ("dedupe", "true"), ("keep", keep))
    again, third = (
        sent(server, ("file", name, HERONS), ("dedupe", "1")) for name in ("b.md", "c.md")
    )
    assert again["original"] == third["original"] == first["id"]
    assert server.ask("DELETE", f"{FILES}/{first['id']}").status == 200
    heir, other = (settled(server, one) for one in (again, third))
    if heir["duplicate"] or heir["original"]:  # both came in the same second
        heir, other = other, heir
    if keep == "false":
        assert heir["state"] == other["state"] == "error"
        assert "send it again" in heir["error"]
        return
    assert (heir["state"], heir["duplicate"], heir["documents"]) == (
        "indexed",
        False,
        [heir["name"]],
    )
    assert (other["original"], other["documents"]) == (heir["id"], [heir["name"]])
    assert [path.read_text() for path in originals(root)] == [HERONS]
    assert "a.md" not in names(server)
    assert server.ask("DELETE", f"{FILES}/{other['id']}").status == 200
    assert heir["name"] in names(server)


def test_deleting_a_document_deletes_its_upload_and_the_duplicates(server):
    first = sent(server, ("file", "a.md", HERONS), ("dedupe", "true"))
    again = sent(server, ("file", "b.md", HERONS), ("dedupe", "true"))
    assert server.ask("DELETE", f"{KB}/documents/a.md").status == 200
    for upload in (first, again):
        assert server.get(f"{FILES}/{upload['id']}").status == 404


# -------------------------------------------------------------------------------------- replace ---


@pytest.mark.parametrize("how", [{"method": "PUT"}, {}], ids=["PUT", "POST"])
def test_a_file_that_is_sent_again_replaces_its_name(server, root, how):
    first = sent(server, ("file", "a.md", HERONS))
    parts = [("file", "a.md", OWLS)] + [("replace", "true")] * (not how)
    answer = send(server, *parts, **how).json["files"][0]
    assert answer["action"] == "replaced"
    done = settled(server, answer)
    assert (done["action"], done["documents"]) == ("replaced", ["a.md"])
    assert server.get(f"{KB}/documents/a.md").json["text"] == OWLS
    assert not [name for name in names(server) if "(2)" in name]
    assert server.get(f"{FILES}/{first['id']}").status == 404
    assert [path.read_text() for path in originals(root)] == [OWLS]


def test_a_file_that_is_sent_again_without_replace_gets_a_number(server):
    assert sent(server, ("file", "a.md", HERONS))["action"] == "added"
    for how in ({}, {"method": "PUT"}):
        parts = [("file", "a.md", OWLS)] + [("replace", "false")] * bool(how)
        answer = send(server, *parts, **how).json["files"][0]
        assert answer["action"] == "numbered"
        assert settled(server, answer)["action"] == "numbered"
    assert {"a.md", "a (2).md", "a (3).md"} <= set(names(server))


def test_replacing_a_name_that_is_new_adds_it(server):
    assert sent(server, ("file", "new.md", OWLS), method="PUT")["action"] == "added"
    assert send(server, ("file", "a.md", OWLS), ("replace", "perhaps")).status == 422


def test_a_file_of_several_documents_is_replaced_whole(server):
    lines = "".join(f'{{"id": "n{i}", "text": "Herons {i}."}}\n' for i in range(3))
    first = sent(server, ("file", "m.jsonl", lines))
    assert len(first["documents"]) == 3
    second = sent(server, ("file", "m.jsonl", lines))
    assert second["action"] == "numbered"
    assert not set(first["documents"]) & set(second["documents"])
    fewer = '{"id": "n1", "text": "Owls."}\n'
    done = sent(server, ("file", "m.jsonl", fewer), method="PUT")
    assert done["action"] == "replaced"
    left = [name for name in names(server) if name.startswith("m.jsonl")]
    assert left == done["documents"] == ["m.jsonl#n1"]


def test_a_duplicate_of_a_replaced_upload_is_indexed_itself(server):
    sent(server, ("file", "a.md", HERONS), ("dedupe", "true"))
    again = sent(server, ("file", "b.md", HERONS), ("dedupe", "true"))
    sent(server, ("file", "a.md", OWLS), method="PUT")
    heir = settled(server, again)
    assert (heir["documents"], heir["duplicate"]) == (["b.md"], False)
    assert server.get(f"{KB}/documents/b.md").json["text"] == HERONS


def test_the_file_id_of_a_passage_is_one_that_files_knows(server):
    upload = sent(server, ("file", "a.md", HERONS))
    answer = server.post(f"{KB}/ask", {"question": "Where do herons stand?"}).json
    [source] = [one for one in answer["sources"] if one["doc_id"] == "a.md"]
    assert server.get(f"{FILES}/{source['file_id']}").json["id"] == upload["id"]
    answer = server.post(f"{KB}/ask", {"question": "Are backups taken every night?"}).json
    source = answer["sources"][0]
    found = server.get(f"{FILES}/{quote(source['file_id'], safe='')}")
    assert (found.status, found.json["documents"]) == (200, [source["doc_id"]])
    assert server.ask("DELETE", f"{FILES}/pods.md").status == 404
    assert server.get(f"{FILES}/none.md").status == 404


# --------------------------------------------------------------------------------- failures that pass ---


@pytest.fixture
def embedded(tmp_path, monkeypatch):
    """A file with an embedder behind a server."""
    monkeypatch.setattr(write_endpoints, "FIRST_WAIT", 0.02)
    with embedding_servers.Server() as embeddings:
        embedder = open_embedder("openai:m", base_url=embeddings.url + "/v1", first_wait=0.001)
        (tmp_path / "first.md").write_text("# First\n\nThe first page.\n")
        ragfile.build(tmp_path / "first.md", tmp_path / "kb.ragfile", embedder=embedder)
        yield embeddings, embedder


def test_an_upload_waits_for_an_embedder_that_is_down(embedded, serving, tmp_path, root):
    embeddings, embedder = embedded
    server = serving(tmp_path / "kb.ragfile", can_write=True, uploads=str(root), embedder=embedder)
    before = len(embeddings.requests)
    embeddings.script = [embedding_servers.refuse(500, "down")] * 12
    upload_states = send(
        server, ("file", "a.md", HERONS), ("file", "b.md", OWLS), ("file", "c.pdf", b"%PDF-1.4 no"),
        X_Request_Id="of-this-upload",
    ).json["files"]  # fmt: skip
    states = [settled(server, upload) for upload in upload_states]
    assert [state["state"] for state in states] == ["indexed", "indexed", "error"]
    assert [state["error"] for state in states[:2]] == ["", ""]
    assert states[0]["retries"] > 0
    assert {"a.md", "b.md"} <= set(names(server))
    ids = {headers.get("X-Client-Request-Id") for _, _, headers, _ in embeddings.requests[before:]}
    assert ids == {"of-this-upload"}
    metrics = server.get("/metrics").body.decode()
    [counted] = [
        line for line in metrics.splitlines() if line.startswith("ragfile_embedding_calls_total ")
    ]
    assert float(counted.split()[1]) >= 2


def test_an_upload_that_waits_says_why_and_can_be_deleted(embedded, tmp_path, root):
    embeddings, embedder = embedded
    settings = Settings(
        (str(tmp_path / "kb.ragfile"),), can_write=True, uploads=str(root), embedder=embedder
    )
    service = Service(settings, Board([]))
    embeddings.script = [embedding_servers.refuse(500, "down")] * 40
    upload = queued(service, "a.md", HERONS)
    write_endpoints.index(service, "kb")
    state = service.uploads.get(upload.id)
    assert (state.state, state.retries, state.attempts) == ("queued", 1, 0)
    assert "down" in state.error
    service.uploads.remove(state)
    write_endpoints.index(service, "kb")
    service.close()
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.generation == 1


def test_a_full_disk_is_named_and_the_upload_waits(path, root, monkeypatch):
    service = Service(Settings((str(path),), can_write=True, uploads=str(root)), Board([]))
    monkeypatch.setattr(write_endpoints, "FIRST_WAIT", 3600.0)

    def full(editor, stale):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    upload = queued(service, "a.md", HERONS)
    with monkeypatch.context() as patch:
        patch.setattr(Editor, "_write", full)
        write_endpoints.index(service, "kb")
    state = service.uploads.get(upload.id)
    assert (state.state, state.error[:16]) == ("queued", "the disk is full")
    write_endpoints.index(service, "kb")
    assert service.uploads.get(upload.id).state == "indexed"
    for number in (errno.ENOSPC, errno.EDQUOT):
        assert failure_of(OSError(number, "no room"), service.collections).status == 507
    assert failure_of(OSError(errno.EIO, "broken"), service.collections).status == 503
    service.close()


# ------------------------------------------------------------------------------------ dead workers ---


def queued(service, name, text, **fields):
    """An upload as a request leaves it."""
    upload = service.uploads.begun(name, "kb", "local")
    os.write(descriptor := service.uploads.create(upload), text.encode())
    os.close(descriptor)
    upload.checksum = f"{hash(text):064x}"[-64:]
    for field, value in fields.items():
        setattr(upload, field, value)
    service.uploads.put(upload)
    service.queue.put(upload)
    return upload


def killed_at(number, work, folder):
    """Fork, and end the child at its operation with that number on a file below a folder.

    Returns whether the child was ended before its work was done.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    left = number

    def watch(event, arguments):
        nonlocal left
        if event in EVENTS and any(str(folder) in str(one) for one in arguments[:2]):
            left -= 1
            if left == 0:
                os._exit(9)

    try:
        sys.addaudithook(watch)
        work()
    finally:
        os._exit(0)


EVENTS = ("open", "os.rename", "os.remove", "os.link", "os.symlink", "os.mkdir", "ragfile.step")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("keep", [True, False])
def test_a_worker_that_dies_at_any_step_leaves_each_upload_to_be_indexed_once(
    built, tmp_path, monkeypatch, keep
):
    """The kills fall before and after the commit, each state, and each deletion of bytes."""
    write = Editor.close

    def stepped(editor):
        sys.audit("ragfile.step", str(tmp_path))
        write(editor)
        sys.audit("ragfile.step", str(tmp_path))

    monkeypatch.setattr(Editor, "close", stepped)
    monkeypatch.setattr(uploads, "ABANDONED", -1.0)
    number, was_killed = 0, True
    while was_killed:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        kb = folder / "kb.ragfile"
        kb.write_bytes(built.read_bytes())
        settings = Settings((str(kb),), can_write=True, uploads=str(folder / "uploads"))
        service = Service(settings, Board([]))
        old = queued(service, "b.md", HERONS)
        write_endpoints.index(service, "kb")
        new = [
            queued(service, "a.md", HERONS, kept=keep),
            queued(service, "b.md", OWLS, kept=keep, replace=True),
        ]
        was_killed = killed_at(
            number, lambda service=service: write_endpoints.index(service, "kb"), folder
        )
        late = Service(settings, Board([]))
        late.resume()
        late.writer.shutdown(wait=True)
        states = [late.uploads.get(upload.id) for upload in new]
        assert [state.state for state in states] == ["indexed", "indexed"], number
        assert [state.documents for state in states] == [["a.md"], ["b.md"]], number
        assert [state.chunks for state in states] == [1, 1]
        with ragfile.open(kb) as rf:
            assert sorted(d.id for d in rf.documents() if d.id[0] in "ab") == ["a.md", "b.md"], (
                number
            )
            assert rf.document("b.md").text == OWLS
        assert late.uploads.get(old.id) is None, number
        late.uploads.sweep()
        assert len(originals(folder / "uploads")) == 2 * keep, number
        service.close()
        late.close()
    assert number > 8


DYING = """
import os, sys
from ragfile.doors.server import write_endpoints
from ragfile.doors.server.metrics import Board
from ragfile.doors.server.settings import Settings
from ragfile.doors.server.shared_state import Service
settle, split = write_endpoints._settle, write_endpoints.split
if sys.argv[3] == "while it is cut":
    write_endpoints.split = lambda document, policy: os._exit(9) if "deadly" in document.text else split(document, policy)
else:
    write_endpoints._settle = lambda service, upload: os._exit(9) if upload.name == "b.md" else settle(service, upload)
service = Service(Settings((sys.argv[1],), can_write=True, uploads=sys.argv[2]), Board(["/"]))
service.resume()
service.writer.shutdown(wait=True)
"""


@pytest.mark.parametrize("when", ["while it is cut", "after the commit"])
def test_an_upload_that_ends_a_worker_twice_is_failed_unless_it_was_committed(path, root, when):
    service = Service(Settings((str(path),), can_write=True, uploads=str(root)), Board([]))
    for name, text in (("a", "Good."), ("b", "This is deadly."), ("c", "Good as well.")):
        queued(service, f"{name}.md", text)
    command = [sys.executable, "-c", DYING, str(path), str(root), when]
    ends = [subprocess.run(command, check=False).returncode for _ in range(4)]
    states = {upload.name: (upload.state, upload.error) for upload in service.uploads.all()}
    assert states["a.md"] == states["c.md"] == ("indexed", "")
    if when == "while it is cut":
        assert ends == [9, 9, 0, 0]
        assert states["b.md"] == ("error", "the server ended 2 times while it indexed this file")
    else:  # it never comes so far as to record the state, and its document is there
        assert set(ends) == {9}
        with ragfile.open(path) as rf:
            assert [d.id for d in rf.documents() if d.id[0] == "b"] == ["b.md"]
        service.resume()
        service.writer.shutdown(wait=True)
        assert next(u for u in service.uploads.all() if u.name == "b.md").state == "indexed"
    service.close()


# ---------------------------------------------------------------------------- forged checksums ---


@pytest.mark.parametrize("name", ["checksum", "file_id", "path", "upload"])
def test_a_client_cannot_say_where_its_document_came_from(server, name):
    body = {"text": "nothing", "metadata": {name: "0" * 64}}
    answer = server.ask("PUT", f"{KB}/documents/blocker", json.dumps(body))
    assert answer.status == 422
    assert name in answer.json["error"]["message"]
    assert "blocker" not in names(server)


def test_metadata_of_an_upload_cannot_make_another_one_a_duplicate(server):
    digest = hashlib.sha256(OWLS.encode()).hexdigest()
    forged = json.dumps({"checksum": digest, "file_id": "herons", "lang": "en"})
    sent(server, ("file", "blocker.md", HERONS), ("metadata", forged))
    found = sent(server, ("file", "owls.md", OWLS), ("dedupe", "true"))
    assert (found["action"], found["documents"]) == ("added", ["owls.md"])
    blocker = server.get(f"{KB}/documents/blocker.md").json
    assert blocker["metadata"]["lang"] == "en"
    assert blocker["metadata"]["checksum"] == hashlib.sha256(HERONS.encode()).hexdigest()
