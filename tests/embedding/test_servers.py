"""Embedders that are servers, from a build to a deletion: nothing is paid for twice, nothing that was deleted is kept, and a
question never waits long for a server that does not answer."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest
from servers.embedding_servers import DIMS, Server, hang, refuse, vector_of

import ragfile
from ragfile.embedding.cache import FILE_NAME, CachedEmbedder, text_key
from ragfile.embedding.protocol import Model, open_embedder
from ragfile.errors import ModelError

pytest.importorskip("httpx2", reason="the extra 'http' is not installed")


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "RAGFILE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))


@pytest.fixture
def server():
    with Server() as running:
        yield running


LONG = " Words." * 30  # so that the section is a chunk of its own


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for i in range(30):
        (folder / f"{i:02d}.md").write_text(
            f"# Page {i}\n\nAll about number {i}.\n\n## More\n\nEven more about {i}.{LONG}\n"
        )
    return folder


def asked(server, since=0):
    """The texts that the server was asked for."""
    questions = [question for _, question, *_ in server.requests[since:]]
    return [text for q in questions for text in (q["input"] if "input" in q else [q["prompt"]])]


def in_context(chunk):
    """What a server is asked for a chunk: its header path, a line feed, its text."""
    return f"{chunk.metadata['headers']}\n{chunk.content}"


def embedder(server, name="openai", **options):
    address = {"base_url": server.url + "/v1"} if name == "openai" else {"host": server.url}
    return open_embedder(f"{name}:m", **{"first_wait": 0.02, "timeout": 5, **address, **options})


def entries(folder):
    """The text keys that a cache has."""
    with contextlib.closing(sqlite3.connect(folder / FILE_NAME)) as store:
        return {key for (key,) in store.execute("SELECT text FROM vectors")}


# --------------------------------------------------------------------------------------------------------- killed builds --

BUILD = """
import sys, ragfile, ragfile.write.builder
from ragfile.embedding import open_embedder
ragfile.write.builder.BATCH = 4
name, address = sys.argv[3], {sys.argv[4]: sys.argv[5]}
report = ragfile.build([sys.argv[1]], sys.argv[2], embedder=open_embedder(f"{name}:m", batch=4, **address))
print(report.embedded, report.reused)
"""


def hang_after(server, count):
    """Answers `count` requests, then says nothing."""
    server.script += [None] * count + [hang(60)] * 100


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_build_killed_in_the_middle_is_not_embedded_again(server, docs, tmp_path, provider):
    out, address = (
        tmp_path / "kb",
        ["base_url", server.url + "/v1"] if provider == "openai" else ["host", server.url],
    )
    command = [sys.executable, "-c", BUILD, str(docs), str(out), provider, *address]
    hang_after(server, 7)
    process = subprocess.Popen(command)
    while process.poll() is None and len(server.requests) < 8:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not out.exists()
    before, server.script = len(server.requests), []
    kept = set(asked(server)[:28])  # seven requests of four texts were answered
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    again = asked(server, before)
    assert not kept & set(again)
    assert done.stdout.split() == [str(len(again)), str(60 - len(again))]
    assert sorted(os.listdir(tmp_path)) == ["docs", "kb"]
    with ragfile.open(out, embedder=embedder(server, provider)) as rf:
        assert rf.rows.dim == rf.file.config["model"]["dims"] == DIMS
        for row in range(len(rf)):
            np.testing.assert_allclose(
                rf.vector(row), vector_of(in_context(rf.chunk(row))), atol=2e-7
            )


def test_a_build_that_was_killed_gives_the_bytes_of_one_that_was_not(
    server, docs, tmp_path, monkeypatch
):
    monkeypatch.setattr("ragfile.write.builder.BATCH", 4)
    server.script = [None] * 3 + [refuse(400)]
    with pytest.raises(ragfile.ProviderError):
        ragfile.build([docs], tmp_path / "kb", embedder=embedder(server, batch=4))
    for name, options in (
        ("kb", {}),
        ("plain", {"resume": False}),
        ("cached", {"embedding_cache": tmp_path / "cache"}),
    ):
        for _ in range(2):
            ragfile.build([docs], tmp_path / name, embedder=embedder(server), **options)
    assert (
        (tmp_path / "kb").read_bytes()
        == (tmp_path / "plain").read_bytes()
        == (tmp_path / "cached").read_bytes()
    )


def test_what_another_model_left_does_not_stand_in_the_way(server, docs, tmp_path, monkeypatch):
    monkeypatch.setattr("ragfile.write.builder.BATCH", 4)
    server.script = [None] * 3 + [refuse(400)]
    with pytest.raises(ragfile.ProviderError):
        ragfile.build([docs], tmp_path / "kb", embedder=embedder(server, batch=4))
    other = open_embedder("openai:other", base_url=server.url + "/v1", dimensions=12)
    report = ragfile.build([docs], tmp_path / "kb", embedder=other)
    assert (report.embedded, report.reused) == (60, 0)
    assert sorted(os.listdir(tmp_path)) == ["docs", "kb"]


def test_a_model_that_changed_its_dims_since_the_build_was_killed_is_an_error(
    docs, tmp_path, monkeypatch
):
    class Changing:
        model = Model("changing", None)

        def __init__(self, dims, fail_after=1000):
            self.dims, self.left = dims, fail_after

        def embed(self, texts, role="document"):
            self.left -= 1
            if self.left < 0:
                raise ConnectionError
            return np.ones((len(texts), self.dims), np.float32)

    monkeypatch.setattr("ragfile.write.builder.BATCH", 4)
    with pytest.raises(ConnectionError):
        ragfile.build([docs], tmp_path / "kb", embedder=Changing(4, 3))
    with pytest.raises(ModelError, match="5 dims"):
        ragfile.build([docs], tmp_path / "kb", embedder=Changing(5))
    assert ragfile.build([docs], tmp_path / "kb", embedder=Changing(5), resume=False).embedded == 60


# --------------------------------------------------------------------------------------------------------------- the cache --


def test_without_being_asked_nothing_is_kept(server, docs, tmp_path):
    ragfile.build([docs], tmp_path / "kb", embedder=embedder(server))
    with ragfile.open(tmp_path / "kb", embedder=embedder(server)) as rf:
        rf.search("number 3")
    assert sorted(os.listdir(tmp_path)) == ["docs", "kb"]


def test_a_second_build_asks_for_nothing_and_an_edit_for_what_is_new(server, docs, tmp_path):
    cache = tmp_path / "cache"
    first = ragfile.build([docs], tmp_path / "kb", embedder=embedder(server), embedding_cache=cache)
    before = len(server.requests)
    second = ragfile.build(
        [docs], tmp_path / "again", embedder=embedder(server), embedding_cache=cache
    )
    assert [(r.embedded, r.reused) for r in (first, second)] == [(60, 0), (0, 60)]
    assert len(server.requests) == before
    (docs / "new.md").write_text("# New\n\nNothing was like it.\n")
    options = {"embedder": embedder(server), "embedding_cache": cache}
    for name in ("kb", "again"):
        ragfile.sync(tmp_path / name, [docs], **options)
    assert asked(server, before) == ["New\n# New\n\nNothing was like it."]
    ragfile.reindex(tmp_path / "kb", embedder="default")
    ragfile.reindex(tmp_path / "kb", **options)
    with ragfile.open(tmp_path / "kb", embedder=embedder(server), embedding_cache=cache) as rf:
        rf.search("a question")
    with ragfile.open(tmp_path / "again", embedder=embedder(server), embedding_cache=cache) as rf:
        assert rf.search("a question").degraded == ""
    assert asked(server, before)[1:] == ["a question"]


def test_the_environment_speaks_for_embedders_that_are_named_and_no_stash_is_kept_beside_a_cache(
    server, docs, tmp_path, monkeypatch
):
    monkeypatch.setenv("RAGFILE_CACHE", str(tmp_path / "cache"))
    named = f"openai:m?base_url={server.url}/v1"
    monkeypatch.setattr("ragfile.write.builder.BATCH", 4)
    server.script = [None] * 3 + [refuse(400)]
    with pytest.raises(ragfile.ProviderError):
        ragfile.build([docs], tmp_path / "kb", embedder=named)
    assert sorted(os.listdir(tmp_path)) == ["cache", "docs"]
    assert ragfile.build([docs], tmp_path / "kb", embedder=named).reused == 12
    assert isinstance(open_embedder(named), CachedEmbedder)
    assert not isinstance(open_embedder(named, cache=False), CachedEmbedder)
    given = embedder(server, cache=False)
    assert open_embedder(given) is given
    assert isinstance(kept := open_embedder(given, cache=True), CachedEmbedder)
    assert open_embedder(kept) is kept
    assert open_embedder(kept, cache=False) is given
    assert open_embedder(kept, cache=tmp_path / "other").path.parent == tmp_path / "other"
    assert type(open_embedder("default")) is type(open_embedder("default", cache=True))


def test_the_command_takes_the_folder(server, docs, tmp_path):
    named, cache = f"openai:m?base_url={server.url}/v1", str(tmp_path / "cache")

    def run(*arguments):
        command = [
            sys.executable,
            "-m",
            "ragfile",
            *map(str, arguments),
            "--embedding-cache",
            cache,
            "--json",
        ]
        subprocess.run(command, check=True, capture_output=True)

    run("build", docs, "-o", tmp_path / "kb", "--embedder", named)
    for _ in range(2):
        run("search", tmp_path / "kb", "a question", "--embedder", named)
    before = len(server.requests)
    run("build", docs, "-o", tmp_path / "again", "--embedder", named)
    assert (len(server.requests), asked(server, before - 1)) == (before, ["a question"])
    run("delete", tmp_path / "kb", "03.md")
    run("add", tmp_path / "kb", docs, "--embedder", named)
    assert sorted(asked(server, before)) == [
        "Page 3\n# Page 3\n\nAll about number 3.",
        f"Page 3 > More\n## More\n\nEven more about 3.{LONG}",
    ]


# -------------------------------------------------------------------------------------------------------------- deletion --


def contents(rf, doc_id):
    return [in_context(c) for c in map(rf.chunk, rf.live_rows().tolist()) if c.doc_id == doc_id]


@pytest.mark.parametrize(
    "how", ["named", "the user's own", "the user's own beside others", "environment"]
)
def test_what_is_deleted_or_replaced_leaves_the_cache_too(server, docs, tmp_path, monkeypatch, how):
    cache, option = tmp_path / "cache", {"embedding_cache": tmp_path / "cache"}
    if how.startswith("the user's own"):
        cache, option = tmp_path / "home" / "ragfile", {}
    if how == "the user's own beside others":
        monkeypatch.setenv("RAGFILE_CACHE", str(tmp_path / "environment"))
        option = {"embedding_cache": tmp_path / "named"}
    elif how == "environment":
        monkeypatch.setenv("RAGFILE_CACHE", str(cache))
        option = {}
    ragfile.build([docs], tmp_path / "kb", embedder=embedder(server), embedding_cache=cache)
    with ragfile.open(tmp_path / "kb") as rf:
        gone, changed = ({*map(text_key, contents(rf, name))} for name in ("07.md", "08.md"))
    everything = entries(cache)
    assert gone | changed <= everything
    with ragfile.edit(tmp_path / "kb", **option) as w:
        w.delete(["07.md"])
    assert entries(cache) == everything - gone
    (docs / "07.md").unlink()
    (docs / "08.md").write_text(
        "# Page 8\n\nAll about number 8.\n\n## More\n\nSomething else." + LONG
    )
    ragfile.sync(tmp_path / "kb", [docs], embedder=embedder(server, cache=cache), **option)
    kept, left = (
        text_key("Page 8\n# Page 8\n\nAll about number 8."),
        text_key(f"Page 8 > More\n## More\n\nEven more about 8.{LONG}"),
    )
    new = {text_key(f"Page 8 > More\n## More\n\nSomething else.{LONG}")}
    if how == "the user's own beside others":  # it is made for the named one
        assert entries(tmp_path / "named") == new
        new = set()
    assert entries(cache) == everything - gone - {left} | new
    assert kept in entries(cache)


def test_the_vectors_of_what_was_deleted_are_overwritten_on_the_disk(server, docs, tmp_path):
    cache = tmp_path / "cache"
    ragfile.build([docs], tmp_path / "kb", embedder=embedder(server), embedding_cache=cache)
    raw = vector_of("Page 7\n# Page 7\n\nAll about number 7.")
    unit = (
        open_embedder("openai:m", base_url=server.url + "/v1")
        .embed(["Page 7\n# Page 7\n\nAll about number 7."])[0]
        .tobytes()
    )
    assert np.allclose(raw, np.frombuffer(unit, np.float32))
    assert unit in (cache / FILE_NAME).read_bytes()
    with ragfile.edit(tmp_path / "kb", embedding_cache=cache) as w:
        w.delete(["07.md"])
    assert unit not in (cache / FILE_NAME).read_bytes()


def test_an_edit_that_fails_forgets_nothing(server, docs, tmp_path):
    cache = tmp_path / "cache"
    ragfile.build([docs], tmp_path / "kb", embedder=embedder(server), embedding_cache=cache)
    everything = entries(cache)
    with pytest.raises(RuntimeError), ragfile.edit(tmp_path / "kb", embedding_cache=cache) as w:
        w.delete(["07.md"])
        raise RuntimeError
    assert entries(cache) == everything


def test_answers_that_were_kept_hold_nothing_of_what_was_deleted(docs, tmp_path):
    ragfile.build([docs], tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as rf:
        for mode in ("hybrid", "bm25", "vector"):
            assert any(hit.doc_id == "07.md" for hit in rf.search("number 7", 30, mode=mode))
        with ragfile.edit(tmp_path / "kb") as w:
            w.delete(["07.md"])
        rf.refresh()
        assert len(rf._current.opened.answers) == 0
        for mode in ("hybrid", "bm25", "vector"):
            assert not any(hit.doc_id == "07.md" for hit in rf.search("number 7", 30, mode=mode))


# ----------------------------------------------------------------------------------------------------- asking in a hurry --


def drip(handler, question):
    """A script entry that sends a byte now and then."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    with contextlib.suppress(OSError):
        for _ in range(100):
            handler.wfile.write(b" ")
            time.sleep(0.1)


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize(
    "trouble", ["hangs", "drips", "503", "503, come back in a minute", "refuses", "is gone"]
)
def test_a_question_is_answered_by_words_when_the_server_does_not(
    server, docs, tmp_path, provider, trouble
):
    ragfile.build([docs], tmp_path / "kb", embedder=embedder(server, provider))
    before = len(server.requests)
    told = {
        "hangs": hang(30), "drips": drip, "503": refuse(503), "503, come back in a minute": refuse(503, **{"Retry-After": 60}),
        "refuses": refuse(401),
    }  # fmt: skip
    server.script = [told[trouble]] * 50 if trouble in told else []
    impatient = embedder(server, provider, timeout=60, query_timeout=0.6)
    if trouble == "is gone":
        server.shutdown()
        server.server_close()
    with ragfile.open(tmp_path / "kb", embedder=impatient) as rf:
        hits = rf.search("number 7", k=3)
    assert hits[0].doc_id == "07.md"
    assert "no embedding" in hits.degraded
    assert hits[0].score_type == "bm25"
    assert len(server.requests) - before <= 2
    assert ("no answer within" in hits.degraded) == (trouble in ("hangs", "drips"))


def test_a_question_gets_one_more_attempt_and_a_build_as_many_as_it_needs(server, docs, tmp_path):
    server.script = [refuse(503)] * 4
    ragfile.build([docs], tmp_path / "kb", embedder=embedder(server))
    server.script = [refuse(503)]
    with ragfile.open(tmp_path / "kb", embedder=embedder(server)) as rf:
        assert rf.search("number 7").degraded == ""
        server.script = [refuse(503)] * 3
        assert "after 2 attempts" in rf.search("number 8").degraded
        server.script = []
        assert rf.search("number 8").degraded == ""  # an answer that lacks a leg is not kept
