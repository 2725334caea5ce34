"""Servers that are wrong, slow, gone or hostile: one clear error each, nothing hangs, nothing wrong is believed."""

import errno
import os
import pickle
import re
import sys
import time

import numpy as np
import pytest
from servers.built_files import large_file
from servers.range_server import RangeServer

import ragfile
from ragfile.errors import ChangedError, CorruptError, FormatError, RagfileError, RemoteError
from ragfile.ground import server_time
from ragfile.net import fetcher
from ragfile.net import http as remote_http
from ragfile.net.watchdog import Watchdog

pytest.importorskip("httpx2", reason="the http extra is not installed")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return large_file(tmp_path_factory.mktemp("http") / "kb").read_bytes()


@pytest.fixture
def server(data):
    with RangeServer({"kb": data}) as server:
        yield server


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(fetcher, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(remote_http, "TIMEOUT", 0.5)


def _ask(server, name="kb"):
    with ragfile.open(server.url(name)) as rf:
        return rf.search("word5 text99", mode="bm25")


def _only_later(behave):
    """Behaviour that begins with the third request: the file opens."""
    turns = iter(range(10**6))
    return lambda *args: next(turns) >= 2 and behave(*args)


# ------------------------------------------------------------------------------------------------------ wrong answers --


def test_a_server_that_ignores_ranges_is_refused_without_reading_the_file(server):
    def whole(handler, start, end, data):
        handler.plain(200, {"ETag": '"x"'}, data)
        return True

    server.behave = whole
    began = time.monotonic()
    with pytest.raises(RemoteError, match="does not serve ranges"):
        _ask(server)
    server.behave = _only_later(whole)
    with pytest.raises(RemoteError, match="does not serve ranges"):
        _ask(server)
    assert time.monotonic() - began < 30


def test_a_file_in_one_window_needs_no_ranges(tmp_path):
    path = tmp_path / "kb"
    with ragfile.create(path, dim=None) as w:
        w.add([{"doc_id": "a", "chunk_index": 0, "content": "one word"}])

    def whole(handler, start, end, data):
        handler.plain(200, {"ETag": '"x"'}, data)
        return True

    with RangeServer({"kb": path.read_bytes()}) as server:
        server.behave = whole
        with ragfile.open(server.url("kb")) as rf:
            assert len(rf.search("word", mode="bm25")) == 1
            assert not rf.refresh()


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"Content-Range": "bytes 5-1/9"}, "makes no sense"),
        ({"Content-Range": None}, "makes no sense"),
        ({"Content-Range": "bytes 0-99/*"}, "makes no sense"),
        ({"Content-Range": "bytes 9-99999999999999999999/999"}, "makes no sense"),
        ({"Content-Range": "bytes 0-99/100"}, "asked for|not the file|more than"),
        ({"Content-Encoding": "gzip"}, "sends gzip"),
    ],
)
@pytest.mark.parametrize("later", [False, True])
def test_an_answer_that_is_not_what_was_asked_for_is_refused(server, headers, reason, later):
    def wrong(handler, start, end, data):
        handler.part(start, end, data, server.tag("kb"), headers)
        return True

    server.behave = _only_later(wrong) if later else wrong
    with pytest.raises(RemoteError, match=reason):
        _ask(server)


def test_another_place_of_the_file_is_refused(server):
    def shifted(handler, start, end, data):
        handler.part(start - 64, end - 64, data, server.tag("kb"))
        return True

    server.behave = _only_later(shifted)
    with pytest.raises(RemoteError, match="asked for bytes"):
        _ask(server)


def test_an_announced_size_beyond_all_disks_is_refused(server):
    def huge(handler, start, end, data):
        size = 9_000_000_000_000_000_000
        handler.part(
            start,
            end,
            data,
            headers={"Content-Range": f"bytes {size - (end - start)}-{size - 1}/{size}"},
        )
        return True

    server.behave = huge
    with pytest.raises(RemoteError, match="no local file of 9,000,000,000,000,000,000 bytes"):
        _ask(server)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "wants credentials"), (403, "refuses access"), (404, "no such file"), (410, "gone"),
        (416, "empty"), (400, "status 400"), (405, "status 405"), (304, "status 304"), (204, "status 204"),
    ],
)  # fmt: skip
def test_a_refusal_is_final_and_says_its_status(server, status, reason):
    def refuse(handler, start, end, data):
        server.note("kb", start, end, status)
        handler.plain(status)
        return True

    server.behave = refuse
    with pytest.raises(RemoteError, match=reason) as caught:
        _ask(server)
    assert (caught.value.status, server.count) == (status, 1)
    assert isinstance(caught.value, RagfileError)
    assert isinstance(caught.value, OSError)


def test_an_empty_object_is_refused(server):
    server.files["kb"] = b""
    with pytest.raises(RemoteError, match="empty"):
        _ask(server)


@pytest.mark.parametrize(
    "content",
    [b"x", b"RAGFILE", b"RAGFILE\1\0\0\0" + b"\0" * 9000, os.urandom(5000), b"<html>" * 999],
)
def test_what_is_no_ragfile_is_refused_as_a_local_file_is(server, content, tmp_path):
    (tmp_path / "kb").write_bytes(content)
    server.files["kb"] = content
    with pytest.raises(FormatError) as here:
        ragfile.open(tmp_path / "kb")
    with pytest.raises(FormatError) as there:
        ragfile.open(server.url("kb"))
    assert type(there.value) is type(here.value)


# -------------------------------------------------------------------------------------------------------- transience --


def _times(count, behave):
    turns = iter(range(10**6))
    return lambda *args: next(turns) < count and behave(*args)


def _unavailable(status, headers=None):
    def refuse(handler, *_):
        handler.plain(status, headers)
        return True

    return refuse


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(server, status):
    server.behave = _times(3, _unavailable(status))
    assert len(_ask(server)) > 0
    server.behave = _unavailable(status)
    with pytest.raises(RemoteError, match=rf"status {status}.*after 4 attempts") as caught:
        _ask(server)
    assert caught.value.status == status


def test_a_server_that_names_its_wait_is_heard(server, monkeypatch):
    waits = []
    monkeypatch.setattr("ragfile.net.retries.time.sleep", waits.append)
    server.behave = _times(1, _unavailable(429, {"Retry-After": "7"}))
    _ask(server)
    assert 7 <= waits[0] <= 8
    server.behave = _unavailable(503, {"Retry-After": "3600"})
    with pytest.raises(RemoteError, match="503"):
        _ask(server)
    assert len(waits) == 1


def test_an_answer_that_breaks_off_is_taken_up_where_it_ended(server, data):
    def short(handler, start, end, data):
        server.note("kb", start, end, 206)
        handler.part(
            start,
            end,
            data,
            server.tag("kb"),
            {"Content-Length": str(end - start)},
            data[start : start + (end - start) // 2],
        )
        handler.close_connection = True
        return True

    expected = _ask(server)
    turns = iter(range(10**6))
    server.behave = lambda *args: next(turns) % 2 == 0 and short(*args)
    assert _ask(server) == expected


def test_an_answer_that_always_ends_early_is_an_error(server):
    def short(handler, start, end, data):
        handler.part(start, end, data, server.tag("kb"), body=b"")
        return True

    server.behave = short
    with pytest.raises(RemoteError, match="early"):
        _ask(server)


def test_more_than_was_announced_is_not_read(server):
    def long(handler, start, end, data):
        headers = {"Content-Length": None, "Transfer-Encoding": "chunked"}
        handler.part(start, end, data, server.tag("kb"), headers, b"")
        for _ in range(end - start):
            handler.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        return True

    server.behave = long
    with pytest.raises(RemoteError, match="more than the"):
        _ask(server)


def test_a_server_that_hangs_is_left(server):
    def hang(handler, *_):
        time.sleep(2.5)
        handler.close_connection = True
        return True

    server.behave = hang
    with pytest.raises(RemoteError, match="within"):
        _ask(server)


def test_a_server_that_drips_is_left(server, monkeypatch):
    def drip(handler, start, end, data):
        handler.part(start, end, data, server.tag("kb"), {"Content-Length": str(end - start)}, b"")
        for at in range(start, end):
            handler.wfile.write(data[at : at + 1])
            time.sleep(0.02)
        return True

    monkeypatch.setattr(server_time, "SECONDS", 0.3)
    monkeypatch.setattr(server_time, "SLOWEST", 1 << 40)
    server.behave = drip
    with pytest.raises(RemoteError, match="too long"):
        _ask(server)


def test_a_server_that_drips_headers_is_left(server, monkeypatch):
    monkeypatch.setattr(fetcher, "ATTEMPTS", 1)
    lines = []

    def drip(handler, *_):
        handler.wfile.write(b"HTTP/1.1 206 Partial Content\r\n")
        for number in range(10_000):
            handler.wfile.write(f"X-{number}: 1\r\n".encode())
            lines.append(number)
            time.sleep(0.05)
        return True

    server.behave = drip
    with pytest.raises(RemoteError, match="no answer within"):
        _ask(server)
    assert len(lines) < 1000  # all of them take eight minutes


def dripping(begun):
    """A server whose every response just begins within its limit, and then never ends."""

    def drip(handler, start, end, data):
        begun.append((start, end))
        length = {"Content-Length": str(end - start)}
        handler.part(start, end, data, handler.owner.tag("kb"), length, b"")
        for at in range(start, end):
            handler.wfile.write(data[at : at + 1])
            time.sleep(0.05)
        return True

    return drip


def test_the_requests_of_a_question_have_one_limit(server, monkeypatch):
    """Each of them would wait for as long as the first one again."""
    begun = []
    with ragfile.open(server.url("kb")) as rf:
        for name, value in (("SECONDS", 0.3), ("ROUND_TRIP", 0.0), ("SLOWEST", 1 << 40)):
            monkeypatch.setattr(server_time, name, value)
        server.behave = dripping(begun)
        with server_time.one_question():
            for _ in range(4):
                with pytest.raises(RemoteError, match="too long"):
                    rf.search("word5 text99", mode="bm25")
                begun.append("the end of a search")
    assert begun.index("the end of a search") == len(begun) - 4 > 0


def test_a_call_has_a_limit_of_its_own(server, monkeypatch):
    begun = []
    with ragfile.open(server.url("kb")) as rf:
        for name, value in (("SECONDS", 0.3), ("ROUND_TRIP", 0.0), ("SLOWEST", 1 << 40)):
            monkeypatch.setattr(server_time, name, value)
        server.behave = dripping(begun)
        for _ in range(2):
            begun.clear()
            with pytest.raises(RemoteError, match="too long"):
                rf.search("word5 text99", mode="bm25")
            assert begun


def test_attempts_have_one_deadline(server, monkeypatch):
    """The first attempt takes all of it, so there is no other."""
    monkeypatch.setattr(fetcher, "DEADLINE", 0.5)
    begun = []

    def drip(handler, *_):
        begun.append(1)
        handler.wfile.write(b"HTTP/1.1 206 Partial Content\r\n")
        for number in range(40):
            handler.wfile.write(f"X-{number}: 1\r\n".encode())
            time.sleep(0.05)
        return True

    server.behave = drip
    with pytest.raises(RemoteError, match=r"no answer within 0\.5 s$"):
        _ask(server)
    assert begun == [1]


def test_a_long_response_that_breaks_off_is_continued_after_the_deadline(data, monkeypatch):
    monkeypatch.setattr(fetcher, "DEADLINE", 0.0)
    monkeypatch.setattr(fetcher, "PROGRESS", 1)
    with RangeServer({"kb": data}) as server:
        opened = fetcher.Fetcher(server.url("kb"))
        broken = []

        def half(handler, start, end, content):
            if broken or end - start < 2:
                return False
            broken.append(1)
            middle = (start + end) // 2
            length = {"Content-Length": str(end - start)}
            handler.part(start, end, content, server.tag("kb"), length, content[start:middle])
            handler.close_connection = True
            return True

        server.behave = half
        opened.fetch([(0, len(data), None)])
        assert broken == [1]
        assert os.pread(opened.descriptor, len(data), 0) == data


def test_a_file_of_zeros_is_refused_after_few_of_them(data):
    size = 200 << 20
    with RangeServer({"kb": data[:4096] + bytes(size)}) as server:
        with pytest.raises(FormatError, match="no commit in the last 16 MiB"):
            ragfile.open(server.url("kb"))
        assert server.sent < 40 << 20


def test_a_server_that_is_not_there_is_an_error():
    with RangeServer({}) as server:
        url = server.url("kb")
    with pytest.raises(RemoteError, match="connection failed"):
        ragfile.open(url)


# ------------------------------------------------------------------------------------------------------------ who it is --


def test_without_tags_a_change_is_seen_by_time_or_size(server, data):
    server.has_tags = False
    assert len(_ask(server)) > 0
    far = ragfile.open(server.url("kb"))
    server.files["kb"] = data + b"\0" * 64
    with pytest.raises(ChangedError):
        far.search("word5", mode="bm25")

    def dated(day):
        def answer(handler, start, end, data):
            handler.part(
                start, end, data, headers={"Last-Modified": f"Mon, {day:02d} Jan 2024 00:00:00 GMT"}
            )
            return True

        return answer

    server.behave = dated(1)
    far = ragfile.open(server.url("kb"))
    server.behave = dated(2)
    with pytest.raises(ChangedError):
        far.search("word5", mode="bm25")
    assert far.refresh()
    assert len(far.search("word5", mode="bm25")) > 0


def test_a_weak_tag_is_compared_and_not_sent(server):
    server.tags["kb"] = 'W/"1"'
    seen = []

    def look(handler, *_):
        seen.append(handler.headers.get("If-Match"))

    server.behave = look
    far = ragfile.open(server.url("kb"))
    far.search("word5", mode="bm25")
    assert set(seen) == {None}
    server.tags["kb"] = 'W/"2"'
    with pytest.raises(ChangedError):
        far.search("text99", vector=np.ones(64, np.float32))


def test_a_strong_tag_goes_with_every_request_but_the_first(server):
    seen = []
    server.behave = lambda handler, *_: seen.append(handler.headers.get("If-Match"))
    _ask(server)
    assert seen[0] is None
    assert set(seen[1:]) == {server.tag("kb")}


def test_redirects_are_followed_and_remembered(server):
    server.files["short"] = b""
    hops = []

    def redirect(handler, *_):
        if handler.path.startswith("/short"):
            hops.append(handler.path)
            handler.plain(307, {"Location": "/kb?signed=1"})
            return True
        return False

    expected = _ask(server)
    server.behave = redirect
    assert _ask(server, "short") == expected
    assert len(hops) == 1


def test_where_a_redirect_led_may_end_and_is_asked_for_anew(server):
    server.files["short"], uses = b"", {}

    def redirect(handler, *_):
        if handler.path.startswith("/short"):
            handler.plain(302, {"Location": f"/kb?{len(uses)}"})
            return True
        uses[handler.path] = uses.get(handler.path, 0) + 1
        if uses[handler.path] > 2:
            handler.plain(403)
            return True
        return False

    expected = _ask(server)
    server.behave = redirect
    assert _ask(server, "short") == expected
    assert len(uses) > 1


def test_redirects_in_a_circle_or_to_elsewhere_are_refused(server):
    server.behave = lambda handler, *_: handler.plain(302, {"Location": "/kb"}) or True
    with pytest.raises(RemoteError, match="more than 5 redirects"):
        _ask(server)
    for place in ("file:///etc/passwd", "ftp://host/x"):
        server.behave = lambda handler, *_, place=place: (
            handler.plain(302, {"Location": place}) or True
        )
        with pytest.raises(RemoteError, match="not followed"):
            _ask(server)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_redirect_to_another_host_or_port_is_followed_only_on_request(server, data, host):
    with RangeServer({"kb": data}) as other:
        place = other.url("kb").replace("127.0.0.1", host)
        server.behave = lambda handler, *_: handler.plain(302, {"Location": place}) or True
        with pytest.raises(RemoteError, match=r"redirects to another host, .* redirects=True"):
            ragfile.open(server.url("kb"))
        assert other.count == 0
        with ragfile.open(server.url("kb"), redirects=True) as rf:
            assert rf.search("word5 text99", mode="bm25")
            again = pickle.loads(pickle.dumps(rf))
        with again:
            assert again.search("word5 text99", mode="bm25")


def test_a_redirect_to_another_host_is_followed_where_the_environment_says_so(
    server, data, monkeypatch
):
    monkeypatch.setenv("RAGFILE_REDIRECTS", "1")
    with RangeServer({"kb": data}) as other:
        place = other.url("kb")
        server.behave = lambda handler, *_: handler.plain(302, {"Location": place}) or True
        assert _ask(server)


def test_a_redirect_from_https_to_http_is_not_followed(monkeypatch):
    asked = []

    class Redirecting:
        status_code, headers = 302, {"location": "http://elsewhere/kb"}

        def build_request(self, method, url, headers, extensions):
            asked.append(url)

        def send(self, request, stream):
            return self

        def close(self):
            pass

    def connected(self):
        self._watchdog = Watchdog()
        return Redirecting()

    monkeypatch.setattr(remote_http.HttpObject, "_connected", connected)
    with pytest.raises(
        RemoteError, match="redirects to http://elsewhere/kb, which is not followed"
    ):
        ragfile.open("https://host/kb")
    assert asked == ["https://host/kb"]


def test_secrets_of_a_url_are_in_no_message(server):
    url = server.url("kb").replace("http://", "http://me:sesame@") + "?signature=xyzzy"
    far = ragfile.open(url)
    said = [repr(far), far.path, str(far.info)]
    del server.files["kb"]
    with pytest.raises(RemoteError) as caught:
        far.search("word5", mode="bm25")
    said.append(str(caught.value))
    assert not re.search("sesame|xyzzy", " ".join(said))


# --------------------------------------------------------------------------------------------------------- hostile bytes --


def test_a_changed_bit_in_a_block_is_found_when_it_is_fetched(server, data):
    with ragfile.open(server.url("kb")) as rf:
        places = {e["name"]: (e["at"], e["size"]) for e in rf.file.entries}
    for name in ("rag.terms", "rag.postings", "rag.chunks", "rag.text"):
        image = bytearray(data)
        at, size = places[name]
        for block in range(at, at + size, 65536):
            image[block + 9] ^= 4
        server.files["kb"] = bytes(image)
        with pytest.raises(CorruptError):
            _ask(server)


def test_damage_anywhere_gives_the_right_answer_or_an_error(server, data):
    rng, expected = np.random.default_rng(11), _ask(server)
    ended = {"right": 0, "error": 0}
    for _ in range(40):
        image = bytearray(data)
        for at in rng.integers(0, len(data), 400):
            image[at] = rng.integers(0, 256)
        server.files["kb"] = bytes(image)
        try:
            assert _ask(server) == expected
            ended["right"] += 1
        except FormatError:
            ended["error"] += 1
    for name in range(0, len(data), len(data) // 12):
        server.files["kb"] = data[:name]
        with pytest.raises((FormatError, RemoteError)):
            _ask(server)
    assert ended["error"] > 0


def test_changed_block_hashes_are_found(server, data):
    with ragfile.open(server.url("kb")) as rf:
        places = {e["name"]: (e["at"], e["size"]) for e in rf.file.entries}
    for name in ("rag.postings", "rag.chunks"):
        image = bytearray(data)
        at, size = places[name]
        image[(at + size + 7) // 8 * 8] ^= 1
        server.files["kb"] = bytes(image)
        with pytest.raises(CorruptError, match=r"hash|checksum"):
            _ask(server)


def test_a_disk_without_room_is_an_error_that_says_where(server, monkeypatch):
    far, real = ragfile.open(server.url("kb")), os.pwrite

    def full(descriptor, data, at):
        if descriptor == far.rows.snapshot.bytes.fetcher.descriptor:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, data, at)

    monkeypatch.setattr(fetcher.os, "pwrite", full)
    with pytest.raises(OSError, match="no room for bytes of http") as caught:
        far.search("word5", mode="bm25")
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.setattr(fetcher.os, "pwrite", real)
    assert len(far.search("word5", mode="bm25")) > 0


def test_a_fetch_that_failed_may_be_tried_again(server):
    far = ragfile.open(server.url("kb"))
    server.behave = _unavailable(500)
    with pytest.raises(RemoteError):
        far.search("word5", mode="bm25")
    server.behave = None
    assert len(far.search("word5", mode="bm25")) > 0


def test_the_extra_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ImportError, match=r"ragfile\[http\]"):
        ragfile.open("https://example.invalid/kb.ragfile")


@pytest.mark.parametrize("url", ["http://", "https:///x", "http://host:port/x", "http://[::1/x"])
def test_what_is_no_url_is_said_so(url):
    with pytest.raises((RemoteError, ValueError)):
        ragfile.open(url)
