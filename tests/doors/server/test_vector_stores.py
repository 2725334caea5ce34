"""Vector stores that clients of OpenAI's interface make and delete."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest
from doors.server.conftest import until
from servers.uploading import BOUNDARY, multipart

import ragfile
from ragfile.doors.server.keys import KeyFile

STORES = "/v1/vector_stores"


@pytest.fixture
def folder(tmp_path, path):
    found = tmp_path / "stores"
    found.mkdir()
    path.rename(found / "kb.ragfile")
    return found


@pytest.fixture
def server(serving, folder):
    return serving(folder, can_write=True)


def uploaded(server, name="herons.md", text="# Herons\n\nHerons stand in the water.\n"):
    kind = f'multipart/form-data; boundary="{BOUNDARY}"'
    body = multipart(("purpose", "assistants"), ("file", name, text))
    return server.ask("POST", "/v1/files", body, Content_Type=kind).json["id"]


def test_a_store_takes_its_files_and_answers(server, folder):
    file_id = uploaded(server)
    made = server.post(STORES, {"name": "birds", "file_ids": [file_id], "expires_after": None})
    assert (made.status, made.json["id"], made.json["name"]) == (200, "birds", "birds")
    until(lambda: server.get(f"{STORES}/birds").json["status"] == "completed")
    assert server.get(f"{STORES}/birds").json["file_counts"] == {
        "in_progress": 0, "completed": 1, "failed": 0, "cancelled": 0, "total": 1,
    }  # fmt: skip
    [found] = server.post(f"{STORES}/birds/search", {"query": "herons"}).json["data"]
    assert (found["file_id"], found["filename"]) == (file_id, "herons.md")
    with ragfile.open(folder / "birds.ragfile") as rf:
        assert rf.document_ids() == ["herons.md"]
    assert {one["id"] for one in server.get(STORES).json["data"]} == {"birds", "kb"}


def test_a_store_without_a_name_has_an_id_of_its_own(server, folder):
    one, other = (server.post(STORES, {}).json["id"] for _ in range(2))
    assert one != other
    assert (folder / f"{one}.ragfile").is_file()


def test_a_store_waits_for_its_files_and_counts_those_that_fail(server):
    file_id = uploaded(server, "bad.docx", "PK\x03\x04 no archive")
    server.post(STORES, {"name": "birds", "file_ids": [file_id]})
    until(lambda: server.get(f"{STORES}/birds").json["status"] == "completed")
    counts = server.get(f"{STORES}/birds").json["file_counts"]
    assert (counts["failed"], counts["completed"], counts["total"]) == (1, 0, 1)


def test_what_a_client_notes_of_a_store_stays_with_its_file(server, serving, folder):
    facts = {"metadata": {"team": "7"}, "description": "About birds"}
    made = server.post(STORES, {"name": "birds", **facts}).json
    server.ask("PUT", "/v1/collections/birds/documents/a", {"text": "Herons fly."})
    ragfile.compact(folder / "birds.ragfile")
    for one in (made, serving(folder).get(f"{STORES}/birds").json):
        assert {name: one[name] for name in facts} == facts


def test_a_deleted_store_is_gone_and_its_files_stay(server, folder):
    file_id = uploaded(server)
    server.post(STORES, {"name": "birds", "file_ids": [file_id]})
    until(lambda: server.get(f"{STORES}/birds").json["status"] == "completed")
    gone = server.ask("DELETE", f"{STORES}/birds")
    assert gone.json == {"id": "birds", "object": "vector_store.deleted", "deleted": True}
    assert not (folder / "birds.ragfile").exists()
    for method, place in [("GET", "birds"), ("POST", "birds/search"), ("DELETE", "birds")]:
        body = {"query": "herons"} if method == "POST" else None
        assert server.ask(method, f"{STORES}/{place}", body).status == 404
    assert server.get(f"/v1/files/{file_id}/content").body.startswith(b"# Herons")
    again = server.post(STORES, {"name": "birds", "file_ids": [file_id]})
    assert (again.status, again.json["id"]) == (200, "birds")
    until(lambda: server.get(f"{STORES}/birds").json["file_counts"]["completed"] == 1)


def test_a_deleted_store_takes_the_uploads_of_the_native_interface_with_it(server, folder):
    server.post(STORES, {"name": "birds"})
    kind = f'multipart/form-data; boundary="{BOUNDARY}"'
    body = multipart(("file", "herons.md", "# Herons\n\nHerons fly.\n"))
    server.ask("POST", "/v1/collections/birds/files", body, Content_Type=kind)
    until(lambda: server.get(f"{STORES}/birds").json["file_counts"]["completed"] == 1)
    assert server.ask("DELETE", f"{STORES}/birds").status == 200
    assert not [p for p in (folder / "uploads").rglob("*") if p.is_file()]


@pytest.mark.parametrize(("body", "status", "param"), [
    ({"name": "kb"}, 409, "name"), ({"name": "KB"}, 422, "name"), ({"name": "../kb"}, 422, "name"),
    ({"name": ""}, 422, "name"), ({"name": "a\x00b"}, 422, "name"), ({"name": 7}, 422, "name"),
    ({"expires_after": {"anchor": "last_active_at", "days": 1}}, 422, "expires_after"),
    ({"chunking_strategy": {"type": "static"}}, 422, "chunking_strategy.type"),
    ({"metadata": {"a": 1}}, 422, "metadata"), ({"metadata": {"a": "x" * 513}}, 422, "metadata"),
    ({"metadata": {str(n): "" for n in range(17)}}, 422, "metadata"),
    ({"file_ids": ["nosuch"]}, 404, "file_ids"), ({"colour": "red"}, 422, "colour"),
])  # fmt: skip
def test_a_wrong_store_is_refused_and_leaves_nothing(server, folder, body, status, param):
    answer = server.post(STORES, {"name": "birds", **body})
    assert (answer.status, answer.error["param"]) == (status, param), answer.body
    assert sorted(p.name for p in folder.glob("*.ragfile")) == ["kb.ragfile"]


def test_a_file_of_another_store_is_refused_before_a_store_is_made(server, folder):
    file_id = uploaded(server)
    server.post(f"{STORES}/kb/files", {"file_id": file_id})
    answer = server.post(STORES, {"name": "birds", "file_ids": [file_id]})
    assert (answer.status, answer.error["param"]) == (409, "file_ids")
    assert not (folder / "birds.ragfile").exists()


def test_of_two_who_make_a_store_one_is_told(server, serving, folder):
    other = serving(folder, can_write=True)
    with ThreadPoolExecutor(2) as threads:
        for number in range(5):
            asked = [threads.submit(one.post, STORES, {"name": f"s{number}"})
                     for one in (server, other)]  # fmt: skip
            assert sorted(one.result().status for one in asked) == [200, 409]


def test_a_file_that_the_server_was_started_with_cannot_be_deleted(serving, folder):
    server = serving(folder, folder / "kb.ragfile", can_write=True)
    assert server.ask("DELETE", f"{STORES}/kb").status == 409
    assert (folder / "kb.ragfile").exists()


def test_a_writer_of_another_program_ends_before_its_store_goes(server, folder):
    server.post(STORES, {"name": "birds"})
    program = (
        "import sys, ragfile\nwith ragfile.edit(sys.argv[1]) as w:\n"
        "    w.upsert([{'id': 'a', 'text': 'Herons.'}]); print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", program, str(folder / "birds.ragfile")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as held:
        assert held.stdout.readline() == "held\n"
        done, found = Event(), []

        def delete():
            found.append(server.ask("DELETE", f"{STORES}/birds").status)
            done.set()

        asking = Thread(target=delete)
        asking.start()
        assert not done.wait(0.3)
        held.communicate("\n")
        asking.join(30)
    assert (held.returncode, found) == (0, [200])
    assert not (folder / "birds.ragfile").exists()


def test_without_a_folder_or_without_write_the_answer_names_the_way(serving, folder):
    for files, status in [({"can_write": True}, 409), ({}, 405)]:
        place = folder / "kb.ragfile" if files else folder
        answer = serving(place, **files).post(STORES, {"name": "birds"})
        assert answer.status == status
        assert "`ragfile serve FOLDER --write`" in answer.error["message"]
    renamed = serving(folder, can_write=True).post(f"{STORES}/kb", {"name": "birds"})
    assert (renamed.status, "rename the file" in renamed.error["message"]) == (405, True)


def test_a_key_that_reads_and_a_key_for_one_file_make_and_delete_no_store(
    serving, folder, tmp_path
):
    keys = KeyFile(str(tmp_path / "keys.json"))
    secrets = keys.add("reads", "read"), keys.add("bound", "write", "kb")
    server = serving(folder, can_write=True, keys=keys.path)
    for secret in secrets:
        for method, place, body in [("POST", STORES, {}), ("DELETE", f"{STORES}/kb", None)]:
            answer = server.ask(method, place, body, {"Authorization": f"Bearer {secret}"})
            assert answer.status == 403
    assert [p.name for p in folder.glob("*.ragfile")] == ["kb.ragfile"]


def test_a_store_over_a_layer_finds_what_is_below_it(serving, folder, tmp_path):
    users = tmp_path / "users"
    users.mkdir()
    server = serving(users, over=(str(folder / "kb.ragfile"),), can_write=True)
    assert server.post(STORES, {"name": "mine", "metadata": {"a": "b"}}).json["metadata"] == {
        "a": "b"
    }
    assert server.post(f"{STORES}/mine/search", {"query": "keys"}).json["data"]
    assert server.ask("DELETE", f"{STORES}/mine").status == 200
