"""The flags of `ragfile search` that narrow, order and explain an answer."""

import json
import subprocess
import sys

import pytest

import ragfile


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    path = tmp_path_factory.mktemp("flags") / "kb.ragfile"
    texts = ["rotate the keys now", "keys rotate", "keys of a pod", "a pod rotates keys", "kubelet"]
    with ragfile.create(path) as w:
        w.add(
            {"doc_id": f"d{i % 2}", "chunk_index": i, "content": text}
            for i, text in enumerate(texts)
        )
    return path


def found(kb, *flags):
    command = [
        sys.executable,
        "-m",
        "ragfile",
        "search",
        str(kb),
        *flags,
        "--mode",
        "bm25",
        "--json",
    ]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def ids(kb, *flags):
    return [hit["id"] for hit in found(kb, *flags)["hits"]]


def test_flags_are_the_options_of_a_search(kb):
    with ragfile.open(kb) as rf:
        for flags, options in (
            (["--offset", "1"], {"offset": 1}),
            (["--group", "1"], {"group": 1}),
            (["--min-score", "0.3"], {"min_score": 0.3}),
        ):
            expected = [hit.id for hit in rf.search("rotate keys", 5, mode="bm25", **options)]
            assert ids(kb, "rotate keys", *flags) == expected
        expected = [
            hit.id for hit in rf.search('"rotate the keys"', 5, mode="bm25", query_syntax=True)
        ]
    assert ids(kb, '"rotate the keys"', "--query-syntax") == expected == ["d0#0"]


def test_fields_are_weighed_by_name(tmp_path):
    path = str(tmp_path / "kb.ragfile")
    (tmp_path / "a.md").write_text("# Keys\n\nNothing of them.\n")
    (tmp_path / "b.md").write_text("# Pods\n\nKeys, keys and more keys.\n")
    ragfile.build([tmp_path / "a.md", tmp_path / "b.md"], path)
    assert ids(path, "keys") == ["a.md#0", "b.md#0"]
    assert ids(path, "keys", "--field", "headers=0") == ["b.md#0", "a.md#0"]
    assert ids(path, "keys", "--field", "headers=200", "--field", "text=0") == ["a.md#0"]


@pytest.mark.parametrize("wrong", ["headers", "headers=-1", "=3", "headers=x"])
def test_a_field_without_a_weight_is_refused(kb, wrong):
    command = [sys.executable, "-m", "ragfile", "search", str(kb), "keys", "--field", wrong]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 2
    assert "--field must be NAME=WEIGHT with a whole weight" in answer.stderr


def test_an_explained_answer_says_what_each_word_gave(kb):
    answer = found(kb, "rotate keys", "--explain")
    for hit, why in zip(answer["hits"], answer["explanations"], strict=True):
        assert why["id"] == hit["id"]
        assert sum(t["contribution"] for t in why["terms"]) == pytest.approx(hit["score"], rel=1e-6)
    command = [
        sys.executable,
        "-m",
        "ragfile",
        "search",
        str(kb),
        "rotate keys",
        "--mode",
        "bm25",
        "--explain",
    ]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "words: rotat" in shown
