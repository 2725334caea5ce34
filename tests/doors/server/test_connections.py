"""A connection's requests have a size, a number and an end."""

import json
import logging
import socket
import struct

import pytest
from doors.server.conftest import until

from ragfile.doors.server import connections
from ragfile.doors.server.failures import HttpFailure
from ragfile.doors.server.keys import KeyFile
from ragfile.doors.server.settings import Settings

HEAD = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"


def connected(server):
    host, _, port = server.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def answered(server, *pieces):
    """Everything that a server answers to some pieces, until it closes."""
    with connected(server) as one:
        try:
            for piece in pieces:
                one.sendall(piece)
        except OSError:
            pass  # the server has closed it
        found = b""
        try:
            while data := one.recv(65536):
                found += data
        except ConnectionResetError:
            pass
        return found


def as_key(key):
    return {"Authorization": f"Bearer {key}"}


def status(answer):
    return int(answer.split()[1])


def message(answer):
    return json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]


def padded(size):
    """A request with a line and headers of so many bytes, as the server counts them."""
    used = len("/v1/health") + len("HostlocalhostConnectioncloseX") + 3 * 4
    return HEAD + b"Connection: close\r\nX: " + b"v" * (size - used) + b"\r\n\r\n"


def test_a_head_up_to_the_limit_is_answered_and_a_longer_one_refused(server):
    assert status(answered(server, padded(connections.HEAD_BYTES))) == 200
    found = answered(server, padded(connections.HEAD_BYTES + 1))
    assert status(found) == 431
    assert message(found) == "the line and headers of the request exceed 65,536 bytes"


@pytest.mark.parametrize(
    "start",
    [b"GET /", HEAD + b"X: ", HEAD + b"X", b"GET /v1/health?a=", b"\r\n" * 3 + HEAD + b"X: "],
)
def test_a_head_without_an_end_is_refused(server, start):
    with connected(server) as one:
        one.sendall(start + b"v" * 60_000)
        with pytest.raises(OSError, match=r"reset|pipe|closed"):
            for _ in range(1000):
                one.sendall(b"v" * 10_000)
                one.recv(100, socket.MSG_DONTWAIT) if _ > 20 else None
                if _ > 20:
                    raise ConnectionResetError("closed")


def test_many_headers_are_refused(server):
    lines = [b"X-%d: 1\r\n" % i for i in range(connections.HEADERS)]
    few = answered(server, HEAD + b"Connection: close\r\n" + b"".join(lines[:-2]) + b"\r\n")
    assert status(few) == 200
    found = answered(server, HEAD + b"".join(lines) + b"\r\n")
    assert (status(found), message(found)) == (431, "the request has more than 100 headers")


def test_headers_of_a_later_request_are_counted_anew(server):
    body = b'{"query": "' + b"k" * 100_000 + b'"}'
    post = b"POST /v1/collections/kb/search HTTP/1.1\r\nHost: localhost\r\n"
    post += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    found = answered(server, post, padded(60_000))
    assert [part[:4] for part in found.split(b"HTTP/1.1 ")[1:]] == [b"200 ", b"200 "]


def test_pipelined_requests_are_answered_in_order_up_to_the_limit(server):
    few = [HEAD + b"\r\n"] * 8 + [HEAD + b"Connection: close\r\n\r\n"]
    assert answered(server, b"".join(few)).count(b"HTTP/1.1 200") == 9
    many = answered(server, (HEAD + b"\r\n") * 10_000)
    assert many.count(b"HTTP/1.1 200") <= connections.PIPELINED + 1


def test_two_hosts_are_refused(server):
    found = answered(server, HEAD + b"Host: localhost\r\nConnection: close\r\n\r\n")
    assert (status(found), message(found)) == (400, "the request has more than one Host header")


@pytest.mark.parametrize("proxies", [(), ("127.0.0.0/30",)])
def test_an_address_has_so_many_connections_unless_it_is_a_proxy(
    serving, path, monkeypatch, proxies
):
    monkeypatch.setattr(connections, "LOOPBACK", ())
    server = serving(path, connections_per_address=20, proxies=proxies)
    open_ones = [connected(server) for _ in range(19)]
    for one in open_ones:
        one.sendall(HEAD + b"\r\n")
        assert one.recv(12) == b"HTTP/1.1 200"
    last = connected(server)
    last.sendall(HEAD + b"\r\n")
    assert last.recv(12) == b"HTTP/1.1 200"
    with connected(server) as more:
        more.sendall(HEAD + b"\r\n") if proxies else None
        assert more.recv(12) == (b"HTTP/1.1 200" if proxies else b"HTTP/1.1 503")
    for one in (*open_ones, last):
        one.close()
    while (found := answered(server, HEAD + b"Connection: close\r\n\r\n"))[:12] != b"HTTP/1.1 200":
        assert found == b"" or status(found) == 503


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
    ],
)
def test_a_network_of_ipv6_is_one_client(first, second, is_one):
    clients = connections.Clients(Settings((), connections_per_address=1))
    client = clients.enter(first)
    if is_one:
        with pytest.raises(HttpFailure, match="1 connections from one address"):
            clients.enter(second)
    else:
        clients.enter(second)
    clients.leave(client)
    assert clients.enter(first) == client


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "", "a.sock"]
)
def test_this_machine_is_not_limited(host):
    clients = connections.Clients(Settings((), connections_per_address=0))
    assert clients.enter(host) == ""


def test_clients_that_vanish_while_they_pipeline_leave_no_traceback(serving, path, caplog):
    server = serving(path)
    body = b'{"query": "keys"}'
    search = b"POST /v1/collections/kb/search HTTP/1.1\r\nHost: localhost\r\n"
    search += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    get = b"GET /v1/collections/kb/documents/keys.md HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with caplog.at_level(logging.WARNING):
        for number in range(60):
            with connected(server) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                one.sendall((search, get)[number % 2] * (2 + number % 9) + search[: number % 3])
                one.recv(10) if number % 5 == 0 else None
        assert server.get("/v1/health").status == 200
    assert [record.message for record in caplog.records if record.exc_info] == []


def test_a_slow_key_leaves_room_for_another(serving, path, tmp_path):
    keys = KeyFile(str(tmp_path / "keys.json"))
    slow, other = keys.add("slow", "read"), keys.add("other", "read")
    server = serving(path, keys=keys.path, at_once=8)
    start = b"POST /v1/collections/kb/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
    start += b"Authorization: Bearer %s\r\nContent-Type: application/json\r\n\r\n{" % slow.encode()
    held = [connected(server) for _ in range(12)]
    for one in held:
        one.sendall(start)
    until(lambda: server.search({"query": "keys"}, **as_key(slow)).status == 429)
    for _ in range(5):
        answer = server.search({"query": "keys"}, **as_key(other))
        assert answer.status == 200
    answer = server.search({"query": "keys"}, **as_key(slow))
    assert (answer.status, answer.error["type"]) == (429, "too_many_requests")
    assert answer.headers["Retry-After"] == "1"
    for one in held:
        one.close()
