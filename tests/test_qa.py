"""From a question to a prompt: what fits is in it, what it is from is listed, what was left out is said."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from oracles import source_files

import ragfile
from ragfile.answer.passage_budget import estimate_tokens
from ragfile.answer.prompts import TEMPLATE
from ragfile.embedding.protocol import Model
from ragfile.qa import prepare


@pytest.fixture(scope="module")
def rf(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answering")
    (folder / "docs").mkdir()
    for i in range(8):
        (folder / "docs" / f"{i}.md").write_text(
            f"# Page {i}\n\n" + f"Rotate the keys of cluster {i} with the job. " * (4 + i)
        )
    ragfile.build([folder / "docs"], folder / "kb", embedder="default")
    with ragfile.open(folder / "kb") as opened:
        yield opened


def test_the_prompt_holds_the_question_the_passages_and_their_sources(rf):
    ready = prepare(rf, "rotate the keys", k=3, request_id="r-3")
    assert "say you don't know" in ready.prompt
    assert "rotate the keys" in ready.prompt
    assert len(ready.contexts) == 3
    for context in ready.contexts:
        assert context.content in ready.prompt
        assert f"[Source: {context.metadata['file_id']} page= score=" in ready.prompt
    assert [source["file_id"] for source in ready.sources] == list(
        dict.fromkeys(c.doc_id for c in ready.contexts)
    )
    assert all(source["checksum"] for source in json.loads(json.dumps(ready.sources)))
    assert (ready.dropped, ready.degraded, ready.request_id) == ([], "", "r-3")


@pytest.mark.parametrize("budget", [0, 20, 100, 300, 1000])
def test_the_budget_holds_for_passages_with_their_source_lines(rf, budget):
    ready = prepare(rf, "rotate the keys", k=12, budget=budget)
    empty = prepare(rf, "rotate the keys", k=0)
    assert ready.tokens <= budget
    assert (
        estimate_tokens(ready.prompt) - estimate_tokens(empty.prompt) <= budget + 1
    )  # one for rounding
    assert len(ready.contexts) + len(ready.dropped) == 8
    assert all("budget" in dropped.reason for dropped in ready.dropped)


def test_options_of_the_search_and_a_template_of_ones_own_are_honoured(rf):
    ready = prepare(
        rf, "rotate", where={"name": "3.md"}, template="{{query}}|{{#each contexts}}{{metadata.name}};{{/each}}", system=["Be brief."]
    )  # fmt: skip
    assert ready.prompt == "Be brief.\n\nrotate|3.md;"


def test_nothing_found_is_a_prompt_without_passages(rf):
    ready = prepare(rf, "rotate", where={"name": "nothing"})
    assert (ready.contexts, ready.sources, ready.tokens) == ([], [], 0)
    assert "rotate" in ready.prompt


def test_a_limit_and_a_reranking_model_are_honoured(rf):
    class Last:
        def score(self, query, texts):
            return [float(text.partition("cluster ")[2].split()[0]) for text in texts]

    ready = prepare(rf, "rotate the keys", rerank=Last(), limit=2)
    assert [context.doc_id for context in ready.contexts] == ["7.md", "6.md"]
    assert {dropped.reason for dropped in ready.dropped} == {"limit of 2 passages"}
    assert prepare(rf, "rotate the keys", per_file=0).contexts == []


# ----------------------------------------------------------------------------------------------- from files to an answer --


class Topics:
    """An embedder with a component for each topic, which counts the texts that it is asked for."""

    words = ("rotate", "pod", "night")

    def __init__(self):
        self.model, self.asked = Model("topics", len(self.words) + 1), []

    def embed(self, texts, role="document"):
        self.asked += texts
        rows = np.array(
            [[*(text.lower().count(word) for word in self.words), 0.1] for text in texts],
            np.float32,
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def uploads(tmp_path):
    """What three people brought: Markdown in a folder, plain text, PDF."""
    folder = tmp_path / "uploads"
    (folder / "ops").mkdir(parents=True)
    (folder / "ops" / "keys.md").write_text(
        "# Guide\n\n## Keys\n\nRotate the keys with the job `rotate-keys`.\n"
    )
    (folder / "pods.txt").write_text("Restart a pod by deleting the pod.\n")
    pages = ("Backups are taken every night.", "A night has an error code, E1234.")
    (folder / "backup.pdf").write_bytes(source_files.pdf(*pages))
    return folder


def test_files_become_an_answer_with_its_sources(uploads, tmp_path):
    pytest.importorskip("pypdfium2", reason="the extra for PDF is not installed")
    embedder, path = Topics(), tmp_path / "kb.ragfile"
    report = ragfile.build(uploads, path, embedder=embedder)
    assert (report.files, report.documents, report.failures) == (3, 3, [])

    def model(prompt):
        assert prompt.startswith(TEMPLATE.partition("{{")[0])
        return next(line for line in prompt.splitlines() if line.startswith("[Source: "))

    questions = {
        "how do I rotate keys?": {"file_id": "ops/keys.md", "section": "Guide > Keys"},
        "which pod?": {"file_id": "pods.txt"},
        "E1234": {"file_id": "backup.pdf", "page": 2},
    }
    with ragfile.open(path, embedder=embedder) as rf:
        for question, place in questions.items():
            ready = prepare(rf, question, k=3, limit=1)
            assert place["file_id"] in model(ready.prompt)
            (source,) = ready.sources
            assert place.items() <= source.items()
            assert source["checksum"] == rf.document(source["file_id"]).metadata["checksum"]


def test_a_rare_word_is_found_by_both_legs_together_and_not_by_vectors_alone(uploads, tmp_path):
    (uploads / "night.md").write_text("Night after night, a night shift.")
    pytest.importorskip("pypdfium2", reason="the extra for PDF is not installed")
    ragfile.build(uploads, tmp_path / "kb", embedder=Topics())
    with ragfile.open(tmp_path / "kb", embedder=Topics()) as rf:
        assert "E1234" in rf.search("E1234 at night", 1)[0].text
        assert "E1234" not in rf.search("E1234 at night", 1, mode="vector")[0].text


def _cosine(a, b):
    return np.dot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))


def test_stored_vectors_reorder_what_words_found_without_embedding_again(uploads, tmp_path):
    embedder = Topics()
    ragfile.build(uploads, tmp_path / "kb", embedder=embedder)
    with ragfile.open(tmp_path / "kb", embedder=embedder) as rf:
        hits = rf.search("the pod keys job", mode="bm25")
        asked, vector = len(embedder.asked), embedder.embed(["pod"], "query")[0]
        rows = [rf.row(hit.id) for hit in hits]
        scores = rf.score(rows, vector=vector)
        assert scores == pytest.approx([_cosine(vector, rf.vector(row)) for row in rows])
        assert hits[int(np.argmax(scores))].doc_id == "pods.txt" != hits[0].doc_id
        assert len(embedder.asked) == asked + 1


def test_metadata_say_where_a_passage_is_from_and_filters_follow_it(uploads, tmp_path):
    pytest.importorskip("pypdfium2", reason="the extra for PDF is not installed")
    ragfile.build(uploads, tmp_path / "kb", embedder="none")
    with ragfile.open(tmp_path / "kb") as rf:
        by_file = {}
        for row in range(len(rf)):
            hit = rf.hit(row)
            by_file.setdefault(hit.doc_id, []).append(hit)
            assert {"file_id", "checksum", "folder_id", "mime", "created_at"} <= set(hit.metadata)
            assert None not in hit.metadata.values()
            for key in ("file_id", "checksum", "folder_id", "mime", "created_at"):
                found = rf.search("the keys pod night job", 50, where={key: hit.metadata[key]})
                assert {h.metadata[key] for h in found} == {hit.metadata[key]}
        assert [h.metadata["page"] for h in by_file["backup.pdf"]] == [1, 2]
        assert "page" not in by_file["ops/keys.md"][0].metadata
        assert {h.doc_id for h in rf.search("pod keys", 9, where={"folder_id": "ops"})} == {
            "ops/keys.md"
        }
        newest = max(h.metadata["created_at"] for hits in by_file.values() for h in hits)
        assert rf.search("pod", where={"created_at": {"$gt": newest}}) == []
        assert rf.search("pod", where={"created_at": {"$lte": newest}, "mime": "text/plain"})


OFFLINE = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
import ragfile
from ragfile.qa import prepare
ragfile.build(sys.argv[1], sys.argv[2])
with ragfile.edit(sys.argv[2]) as w:
    w.upsert([{"id": "late", "text": "A late page about nodes."}])
ragfile.compact(sys.argv[2])
with ragfile.open(sys.argv[2]) as rf:
    print(prepare(rf, "nodes").sources[0]["file_id"])
assert ragfile.verify(sys.argv[2])[0] == []
"""


def test_nothing_leaves_the_machine_by_default(uploads, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, uploads, tmp_path / "kb"], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("late\n", 0), done.stderr


# ------------------------------------------------------------------------- passages that go on ---


@pytest.fixture(scope="module")
def sections(tmp_path_factory):
    """One page with a section of several chunks between two others."""
    folder = tmp_path_factory.mktemp("sections")
    (folder / "docs").mkdir()
    long = "\n\n".join(f"Step {n}. " + f"Turn the valve {n} slowly. " * 25 for n in range(6))
    (folder / "docs" / "a.md").write_text(
        f"# Guide\n\n## Before\n\nPrepare the tools.\n\n## Zebra crossing\n\nA zebra crossing opens.\n\n{long}\n\n"
        "## After\n\n" + "Clean the tools. " * 20
    )
    ragfile.build([folder / "docs"], folder / "kb", embedder="default")
    with ragfile.open(folder / "kb") as opened:
        yield opened


def test_the_best_passages_go_on_under_their_heading_and_no_further(sections):
    alone = prepare(sections, "zebra crossing opens", k=1, neighbours=False).contexts[0]
    longer = prepare(sections, "zebra crossing opens", k=1).contexts[0]
    text = sections.document("a.md").text
    assert longer.content == text[longer.start : longer.end]
    assert (longer.start, longer.content[: len(alone.content)]) == (alone.start, alone.content)
    assert 1000 <= len(longer.content) - len(alone.content) < 3000
    last = max(
        sections.search("valve", 20),
        key=lambda hit: hit.start if "Zebra" in hit.metadata["headers"] else -1,
    )
    asked = prepare(sections, last.text, k=1)
    assert asked.contexts[0].content == last.text
    assert "Clean the tools" not in longer.content + asked.contexts[0].content


def test_what_a_longer_passage_has_is_not_given_twice(sections):
    ready = prepare(sections, "zebra crossing opens: turn the valve slowly", k=20, budget=10_000)
    spans = sorted((c.start, c.end) for c in ready.contexts)
    assert all(c - b > -250 for (_, b), (c, _) in itertools.pairwise(spans))  # as chunks overlap
    plain = prepare(
        sections,
        "zebra crossing opens: turn the valve slowly",
        k=20,
        budget=10_000,
        neighbours=False,
    )
    covered = lambda ready: {i for c in ready.contexts for i in range(c.start, c.end)}  # noqa: E731
    assert covered(plain) <= covered(ready)
    assert len(ready.contexts) < len(plain.contexts)


def test_chunks_without_a_place_or_a_heading_stay_as_they_are(tmp_path):
    with ragfile.create(tmp_path / "kb") as w:
        w.add({"doc_id": "a", "chunk_index": i, "content": f"part {i} of it"} for i in range(4))
    with ragfile.open(tmp_path / "kb") as opened:
        contexts = prepare(opened, "part of it", mode="bm25").contexts
    assert sorted(c.content for c in contexts) == [f"part {i} of it" for i in range(4)]
