"""What an operator sees: the description, counters, names of requests, logs, start and end."""

import importlib.util
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from doors.server.conftest import until
from servers.chat_servers import Server as ChatServer
from servers.chat_servers import hang
from servers.range_server import RangeServer

import ragfile
from ragfile.ground.cancellation import WaiterLeft, current
from ragfile.search import query_syntax

KB = "/v1/collections/kb"


# -------------------------------------------------------------------------------- description ---


def test_the_description_names_every_address_and_no_other(server):
    described = server.get("/openapi.json").json
    assert described["openapi"].startswith("3.1")
    for path, methods in described["paths"].items():
        place = path.replace("{c}", "kb").replace("{row}", "0").replace("{model}", "kb")
        place = place.replace("{id}", "pods.md")
        for method in methods:
            if method == "get":
                assert server.get(place).status == 200, place
        assert server.ask("PATCH", place).status == 405
        allowed = {m.lower() for m in server.ask("PATCH", place).headers["Allow"].split(", ")}
        assert allowed - {"head"} == set(methods)


def test_the_description_of_a_server_that_writes_has_its_changes(writable):
    described = writable.get("/openapi.json").json
    assert "delete" in described["paths"]["/v1/collections/{c}/documents/{id}"]


def test_the_description_bounds_what_a_request_is_checked_for(server, built):
    described = server.get("/openapi.json").json["paths"]
    bounded = {"/v1/embeddings": "dimensions", "/v1/chat/completions": "n"}
    schemas = {
        name: described[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        for path, name in bounded.items()
    }
    with ragfile.open(built) as rf:
        dim = rf.info["dim"]
    for name, only in (("dimensions", dim), ("n", 1)):
        allowed = schemas[name]["properties"][name]["anyOf"]
        assert allowed == [{"type": "integer", "enum": [only]}, {"type": "null"}]
    body = {"input": "keys"}
    assert server.post("/v1/embeddings", body | {"dimensions": dim}).status == 200
    assert server.post("/v1/embeddings", body | {"dimensions": dim + 1}).status == 422


@pytest.mark.skipif(
    importlib.util.find_spec("schemathesis") is None, reason="schemathesis is not installed"
)
def test_schemathesis_finds_the_description_true(serving, path, tmp_path):
    (tmp_path / "stores").mkdir()
    server = serving(
        path, tmp_path / "stores", max_k=20, can_write=True, uploads=str(tmp_path / "uploads")
    )
    (tmp_path / "schemathesis.toml").write_text(
        # what a schema cannot say (a filter's words, a vector's length) is answered with 422
        "[parameters]\nc = 'kb'\n\n"
        "[checks.positive_data_acceptance]\nexpected-statuses = ['2xx', 401, 403, 404, 409, 422]\n"
    )
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file",
               str(tmp_path / "schemathesis.toml"), "run", server.url + "/openapi.json",
               "--max-examples", os.environ.get("RAGFILE_CASES", "8"), "--no-color",
               "--generation-deterministic", "--phases", "examples,coverage,fuzzing"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


# -------------------------------------------------------------------------------------- names ---


def test_a_request_keeps_its_name_on_every_way(serving, path):
    with ChatServer(["Rotate them [1]."]) as chat:
        server = serving(path, model=chat.model())
        answer = server.post(f"{KB}/ask", {"question": "keys?"}, X_Request_Id="my-request.1")
        headers = {name.lower(): value for name, value in chat.requests[-1][2].items()}
    assert answer.headers["X-Request-Id"] == answer.json["request_id"] == "my-request.1"
    assert headers["x-client-request-id"] == "my-request.1"
    assert server.search({"query": "x"}, X_Request_Id="s1").json["request_id"] == "s1"
    for odd in ("a b", "x" * 200, "a\tb", "<script>"):
        named = server.get("/v1/health", X_Request_Id=odd).headers["X-Request-Id"]
        assert named != odd


def test_a_trace_goes_on(server):
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    said = server.get("/v1/health", traceparent=trace).headers["traceparent"]
    assert said.split("-")[1] == trace.split("-")[1]
    assert said.split("-")[2] != trace.split("-")[2]
    for odd in ("", "00-x-y-01", "00-" + "0" * 32 + "-00f067aa0ba902b7-01"):
        assert server.get("/v1/health", traceparent=odd).headers["traceparent"] is None


# ----------------------------------------------------------------------------------- counters ---


def counters(server):
    text = server.get("/metrics").body.decode()
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_counters_count_what_was_done(serving, path):
    with ChatServer(["Rotate them [1]."]) as chat:
        server = serving(path, model=chat.model())
        server.search({"query": "keys"})
        server.search({"query": "keys"})
        server.search({"queries": ["a", "b"]})
        server.post(f"{KB}/ask", {"question": "keys?"})
        server.post("/v1/embeddings", {"input": ["a", "b", "c"]})
        server.get("/v1/nothing")
        found = counters(server)
    assert found["ragfile_searches_total"] == 5
    assert found["ragfile_cached_answers_total"] == 1
    assert found["ragfile_embedded_texts_total"] == 3
    assert found['ragfile_chat_calls_total{finish="stop"}'] == 1
    assert found['ragfile_chat_tokens_total{kind="prompt"}'] > 0
    assert found['ragfile_stage_seconds_total{stage="bm25"}'] > 0
    assert found['ragfile_requests_total{route="",status="4xx"}'] == 1
    route = KB.replace("kb", "{c}") + "/search"
    assert found[f'ragfile_request_seconds_count{{route="{route}"}}'] == 3
    assert found[f'ragfile_request_seconds_bucket{{route="{route}",le="+Inf"}}'] == 3
    assert found['ragfile_collection_generation{collection="kb"}'] == 1
    assert found["ragfile_in_flight"] == 0


# -------------------------------------------------------------------------- the command itself ---


class Command:
    """`ragfile serve` as a process."""

    def __init__(self, *words):
        command = [sys.executable, "-m", "ragfile", "serve", *map(str, words), "--port", "0"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.line = self.process.stdout.readline()
        self.url = self.line.removeprefix("listening on ").strip()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()  # which waits for the workers, too: they hold its pipes

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=20) as response:
            return json.load(response)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=40)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_command_says_where_it_listens_logs_json_and_ends(path, workers):
    with Command(path, "--workers", workers) as command:
        assert re.fullmatch(r"listening on http://127\.0\.0\.1:\d+\n", command.line)
        assert command.get(KB)["name"] == "kb"
        out, err = command.end()
    lines = [json.loads(line) for line in err.splitlines()]
    assert [line["route"] for line in lines if "route" in line] == ["/v1/collections/{c}"]
    assert out == ""


def test_a_worker_that_dies_is_started_again(path):
    with Command(path, "--workers", 2) as command:
        pid = command.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            before = file.read().split()
        os.kill(int(before[0]), signal.SIGKILL)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                now = file.read().split()
            if len(now) == 2 and now != before:
                break
            time.sleep(0.05)
        assert len(now) == 2
        assert before[0] not in now
        for _ in range(10):
            assert command.get("/v1/health")["status"] == "ok"


def test_an_answer_that_is_under_way_comes_before_the_end(path):
    with ChatServer(["Rotate ", "them ", "[1]."]) as chat:
        chat.pause = 0.4
        with Command(path, "--model", chat.model()) as command:
            request = urllib.request.Request(
                command.url + f"{KB}/ask", b'{"question": "keys?", "stream": true}',
                {"Content-Type": "application/json"},
            )  # fmt: skip
            with urllib.request.urlopen(request, timeout=20) as response:
                first = response.readline()
                command.process.send_signal(signal.SIGTERM)
                rest = response.read().decode()
            command.process.communicate(timeout=20)
    assert first == b"event: sources\n"
    assert "event: done" in rest


@pytest.mark.parametrize(("words", "said"), [
    (["nothing.ragfile"], "No such file"), ([], "name a file"),
    (["{kb}", "--host", "0.0.0.0"], "there is no key"), (["{kb}", "--model", "x:y"], "no chat model"),
    (["{kb}", "--keys", "nothing"], "no file of keys"), (["{kb}", "--host", "nowhere.invalid"], "nowhere"),
])  # fmt: skip
def test_a_mistake_is_one_line(path, words, said):
    command = [sys.executable, "-m", "ragfile", "serve", "--port", "0"]
    done = subprocess.run(
        [*command, *(word.format(kb=path) for word in words)],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_said(path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "ragfile", "serve", str(path), "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert f"port {port}" in done.stderr


# ------------------------------------------------------------------------------------- changes ---


def test_a_commit_by_another_process_is_seen_by_the_next_request(serving, path):
    server = serving(path)
    assert server.search({"query": "herons"}).json["generation"] == 1
    code = (
        "import ragfile, sys\nwith ragfile.edit(sys.argv[1]) as w:\n"
        "    w.upsert([{'id': 'birds', 'text': 'Herons stand in the water.'}])"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    found = server.search({"query": "herons", "k": 1}).json
    assert (found["generation"], found["hits"][0]["doc_id"]) == (2, "birds")


def test_a_file_in_its_place_is_seen_and_one_that_comes_to_a_folder(serving, path, tmp_path):
    server = serving(tmp_path)
    assert server.get(KB).json["documents"] == 3
    for name in ("kb", "other"):
        with ragfile.create(tmp_path / "new", embedder="default") as w:
            w.add_documents([{"id": name, "text": "Quite another text."}])
        os.replace(tmp_path / "new", tmp_path / f"{name}.ragfile")
    assert server.get(KB).json["documents"] == 1
    names = [c["name"] for c in server.get("/v1/collections").json["collections"]]
    assert names == ["kb", "other"]
    (tmp_path / "other.ragfile").unlink()
    assert server.get("/v1/collections/other").status == 404


def test_requests_agree_with_themselves_while_commits_come(serving, path):
    server, ends = serving(path), threading.Event()

    def write():
        for i in range(12):
            with ragfile.edit(path) as w:
                w.upsert([{"id": "count", "text": f"The count is now {i + 2}."}])
        ends.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while not ends.is_set():
            found = server.search({"query": "what is the count", "k": 1}).json
            if found["hits"][0]["doc_id"] == "count":
                assert found["hits"][0]["text"] == f"The count is now {found['generation']}."
    finally:
        writer.join()


def test_an_event_comes_while_nothing_is_said(serving, path):
    with ChatServer(["Slow ", "[1]."]) as chat:
        chat.pause = 0.5
        server = serving(path, model=chat.model(), heartbeat=0.1)
        answer = server.post(f"{KB}/ask", {"question": "keys?", "stream": True})
    assert b"\n\n: \n\n" in answer.body
    assert answer.events[-1][0] == "done"


def test_a_client_that_goes_away_hangs_up_on_the_model(serving, path):
    with ChatServer(["word "] * 200) as chat:
        chat.pause = 0.05
        server = serving(path, model=chat.model())
        for is_streamed in (True, False):
            chat.gone.clear()
            asked = len(chat.requests)
            body = json.dumps({"question": "keys?", "stream": is_streamed}).encode()
            with socket.create_connection(server.socket.getsockname()) as connection:
                connection.sendall(
                    f"POST {KB}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
                    "Content-Type: application/json\r\n\r\n".encode()
                    + body
                )
                until(lambda asked=asked: len(chat.requests) > asked)
            assert chat.gone.wait(20), is_streamed


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_model_that_stalls_keeps_no_room_for_a_client_that_left(serving, path, is_streamed):
    with ChatServer(["Right [1]."]) as chat:
        chat.script = [hang(60)]
        server = serving(path, model=chat.model(), asks_at_once=1)
        body = json.dumps({"question": "keys?", "stream": is_streamed}).encode()
        with socket.create_connection(server.socket.getsockname()) as connection:
            connection.sendall(
                f"POST {KB}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
                "Content-Type: application/json\r\n\r\n".encode()
                + body
            )
            until(lambda: chat.requests)
        until(lambda: server.post(f"{KB}/ask", {"question": "keys?"}).status == 200)


def test_a_reader_of_the_log_that_reads_nothing_holds_nothing_up(path):
    with Command(path) as command:
        for _ in range(600):  # more than a pipe holds
            assert command.get("/v1/health")["status"] == "ok"


def test_a_request_is_a_span_in_the_trace_of_its_client(serving, path, monkeypatch):
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="OpenTelemetry's SDK is missing")
    from opentelemetry import trace
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, memory = sdk.TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    server = serving(path)
    name = "4bf92f3577b34da6a3ce929d0e0e4736"
    server.search({"query": "keys"}, traceparent=f"00-{name}-00f067aa0ba902b7-01")
    [span] = memory.get_finished_spans()
    assert span.name == "POST /v1/collections/{c}/search"
    assert f"{span.context.trace_id:032x}" == name
    assert span.attributes["http.response.status_code"] == 200


def test_an_answer_that_takes_too_long_is_given_up(serving, path):
    server = serving(path, answer_seconds=0.0)
    answer = server.search({"query": "keys"})
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")


def test_a_search_that_takes_too_long_leaves_its_thread(serving, path, monkeypatch):
    """It ends before the next text, and not after the last one."""
    read, ended = [], queue.Queue()
    folded, left = query_syntax.folded, query_syntax.left

    def stalled(*args):
        read.append(args)
        while not current().has_left:
            time.sleep(0.01)
        return folded(*args)

    def noted(*args):
        try:
            return left(*args)
        except BaseException as error:
            ended.put(type(error))
            raise

    server = serving(path, answer_seconds=0.5)
    monkeypatch.setattr(query_syntax, "folded", stalled)
    monkeypatch.setattr(query_syntax, "left", noted)
    body = {"query": '"rotate the"', "query_syntax": True, "mode": "bm25"}
    assert server.search(body).status == 503
    assert ended.get(timeout=60) is WaiterLeft
    assert len(read) == 1


def test_a_file_behind_a_url_is_a_collection(serving, path):
    with RangeServer({"kb.ragfile": path.read_bytes()}) as far:
        server = serving(far.url("kb.ragfile"), can_write=True)
        found = server.search({"query": "rotate the keys", "k": 2}).json
        with ragfile.open(path) as rf:
            assert [hit["id"] for hit in found["hits"]] == [
                hit.id for hit in rf.search("rotate the keys", 2)
            ]
        refused = server.ask("PUT", f"{KB}/documents/x", {"text": "x"})
        assert refused.status == 409
        assert "127.0.0.1" not in refused.body.decode()


def test_the_page_comes_with_its_types_and_is_not_sent_twice(server):
    page = server.get("/")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    for name in re.findall(r'(?:src|href)="([\w./]+)"', page.body.decode()):
        place = "/" + name.removeprefix("./")
        part = server.get(place)
        assert part.status == 200, place
        again = server.get(place, If_None_Match=part.headers["ETag"])
        assert (again.status, again.body) == (304, b"")
    assert server.get("/app.js").headers["Content-Type"].startswith("text/javascript")


def test_a_server_starts_beside_a_package_that_only_bears_the_name_of_opentelemetry(
    tmp_path, monkeypatch
):
    import sys

    from ragfile.doors.server.trace_spans import spans

    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").write_text("")
    for name in [n for n in sys.modules if n.split(".")[0] == "opentelemetry"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    assert spans() is None
