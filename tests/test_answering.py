"""From a question to a prompt: what fits is in it, what it is from is listed, what was left out is said."""

import json

import pytest

import ragfile
from ragfile.answering import prepare
from ragfile.packing import estimate_tokens


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
    assert [source["file_id"] for source in ready.sources] == list(dict.fromkeys(c.doc_id for c in ready.contexts))
    assert all(source["checksum"] for source in json.loads(json.dumps(ready.sources)))
    assert (ready.dropped, ready.degraded, ready.request_id) == ([], "", "r-3")


@pytest.mark.parametrize("budget", [0, 20, 100, 300, 1000])
def test_the_budget_holds_for_passages_with_their_source_lines(rf, budget):
    ready = prepare(rf, "rotate the keys", k=12, budget=budget)
    empty = prepare(rf, "rotate the keys", k=0)
    assert ready.tokens <= budget
    assert estimate_tokens(ready.prompt) - estimate_tokens(empty.prompt) <= budget + 1  # one for rounding
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
