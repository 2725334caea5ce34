"""The npm package in node over hosts that are slow, lie, cut short, pack what they send, know no ranges,
or change the file in the middle: the right answer, or an error that says what is wrong."""

import random

import pytest
from doors.browser.node import Reader
from servers.site_server import SiteServer

import ragfile


@pytest.fixture
def host(tmp_path):
    for name, word in (("kb", "pods"), ("other", "keys")):
        with ragfile.create(tmp_path / f"{name}.ragfile", embedder="default") as w:
            texts = [{"id": f"d{i}", "text": f"{word} and nodes {i} " * 200} for i in range(200)]
            w.add_documents(texts)
    with SiteServer(tmp_path) as server:
        yield server


def expected(host, question="pods and nodes 17"):
    with ragfile.open(host.folder / "kb.ragfile") as rf:
        return [(h.id, h.score) for h in rf.search(question, k=5)]


def ask(there, question="pods and nodes 17"):
    hits = there("search", question, {"k": 5})["hits"]
    return [(h["id"], h["score"]) for h in hits]


def test_a_slow_host_gives_the_same_answer_in_few_rounds(host):
    host.delay = 0.05
    with Reader(f"{host.url}/kb.ragfile") as there:
        there("open")
        assert ask(there) == expected(host)
        assert len([line for line in host.log if line[0].endswith(".ragfile")]) < 40


def test_a_host_without_ranges_gives_the_whole_file_once(host):
    host.misdeed = "whole"
    with Reader(f"{host.url}/kb.ragfile") as there:
        there("open")
        assert ask(there) == expected(host)
        assert there("memory")["requests"] == 1
    with Reader(f"{host.url}/kb.ragfile", whole=1000) as there:
        answer = there.answer("open")
        assert answer["error"] == "RemoteError"
        assert "does not serve ranges" in answer["message"]


@pytest.mark.parametrize(
    ("misdeed", "error", "said"),
    [
        ("lie", "CorruptError", "match"),
        ("cut", "RemoteError", "attempts"),
        ("gzip", "RemoteError", "gzip, not the file's own bytes"),
        ("change", "ChangedError", "open it again"),
    ],
)
def test_what_a_host_does_after_opening_is_an_error_and_not_an_answer(host, misdeed, error, said):
    with Reader(f"{host.url}/kb.ragfile") as there:
        there("open")
        host.misdeed = misdeed
        answer = there.answer("search", "pods and nodes 17", {"k": 5})
        assert answer["error"] == error, answer
        assert said in answer["message"]
        host.misdeed = ""
        if misdeed != "change":
            assert ask(there) == expected(host)


@pytest.mark.parametrize("misdeed", ["lie", "cut"])
def test_what_a_host_does_at_once_is_an_error(host, misdeed):
    host.misdeed = misdeed
    with Reader(f"{host.url}/kb.ragfile") as there:
        assert there.answer("open")["error"] in ("CorruptError", "RemoteError")


def test_a_file_that_is_replaced_in_the_middle_is_noticed(host):
    with Reader(f"{host.url}/kb.ragfile") as there:
        there("open")
        kb, other = host.folder / "kb.ragfile", host.folder / "other.ragfile"
        kb.write_bytes(other.read_bytes())
        assert there.answer("search", "pods", {"k": 5})["error"] == "ChangedError"
    with Reader(f"{host.url}/kb.ragfile") as there:
        there("open")
        assert there("search", "keys", {"k": 1})["hits"]


def test_a_file_that_is_not_there_is_said_with_its_status(host):
    with Reader(f"{host.url}/nobody.ragfile") as there:
        answer = there.answer("open")
        assert (answer["error"], "404" in answer["message"]) == ("RemoteError", True)


def test_words_first_needs_little_of_a_file_for_the_web(host):
    words = [f"{a}{b}" for a in ["pod", "node", "key", "drain"] for b in range(2000)]
    rng = random.Random(4)
    with ragfile.create(host.folder / "kb.ragfile") as w:
        w.add_documents(
            [{"id": f"d{i}", "text": " ".join(rng.choices(words, k=300))} for i in range(600)]
        )
    ragfile.compact(host.folder / "kb.ragfile", layout="web")
    with Reader(f"{host.url}/kb.ragfile") as there:
        there("open")
        there("search", "pod17 node19", {"k": 5, "mode": "bm25"})
        little, requests = (there("memory")[name] for name in ("received", "requests"))
        assert requests < 25
    ragfile.compact(host.folder / "kb.ragfile", layout="default")
    with Reader(f"{host.url}/kb.ragfile") as there:
        there("open")
        there("search", "pod17 node19", {"k": 5, "mode": "bm25"})
        assert there("memory")["received"] > 2 * little


def test_what_is_no_file_of_the_kind_is_said(tmp_path):
    ragfile.write_pairs(tmp_path / "old.ragfile", [("a", "b")])
    (tmp_path / "empty.ragfile").write_bytes(b"")
    for name, error, said in (
        ("nobody", "RemoteError", "ENOENT"),
        ("empty.ragfile", "FormatError", "not a RAGFile"),
        ("old.ragfile", "FormatError", "convert it first"),
    ):
        with Reader(tmp_path / name) as there:
            answer = there.answer("open")
            assert (answer["error"], said in answer["message"]) == (error, True), answer


def test_a_wrong_argument_is_an_error_with_a_sentence(host):
    with Reader(host.folder / "kb.ragfile") as there:
        there("open")
        for options, said in (
            ({"k": -1}, "whole numbers"),
            ({"mode": "meaning"}, "unknown mode"),
            ({"fusion": "sum"}, "unknown fusion"),
            ({"vector": [1, 2]}, "another dimension"),
            ({"where": {"$x": 1}}, "unknown operator"),
            ({"where": [10**6]}, "outside the file"),
        ):
            answer = there.answer("search", "pods", options)
            assert (answer["error"], said in answer["message"]) == ("ArgumentError", True), answer
