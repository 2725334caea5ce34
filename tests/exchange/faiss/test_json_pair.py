"""FAISS + JSON goes to .ragmd and comes back byte for byte, whatever its JSON looks like."""

import json

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.ragmd_examples import collection, rendered

from ragfile.errors import FormatError
from ragfile.exchange.faiss import json_pair
from ragfile.exchange.faiss.index import Index
from ragfile.exchange.ragmd import ragmd_reader


def there_and_back(data, index):
    """The JSON after a journey through a .ragmd file."""
    found = ragmd_reader.parse(rendered(json_pair.parse(data, index)))
    assert found.index == index
    return json_pair.text_of(found)


def metadata(of=None, **more):
    """The JSON as its usual program writes it."""
    of = of or collection()
    data = {"model_name": "nomic-embed-text", "embedding_dim": of.dim, "chunk_refs": of.refs}
    documents = [
        {key: d[key] for key in ("id", "content", "full_text", "metadata", "source", "chunks")}
        for d in of.documents.values()
    ]
    return {**data, "documents": documents, **more}, of.index


def test_the_usual_file_needs_nothing_kept_beside_it():
    data, index = metadata()
    text = json.dumps(data, indent=2).encode()
    found = json_pair.parse(text, index)
    assert found.pair == {}
    assert b"## Origin" not in rendered(found)
    assert there_and_back(text, index) == text


LAYOUTS = {
    "a final newline": lambda d: json.dumps(d, indent=2) + "\n",
    "two final newlines": lambda d: json.dumps(d, indent=2) + "\n\n",
    "four spaces": lambda d: json.dumps(d, indent=4),
    "no spaces before": lambda d: json.dumps(d, indent=0),
    "tabs": lambda d: json.dumps(d, indent="\t"),
    "one line": json.dumps,
    "compact": lambda d: json.dumps(d, separators=(",", ":")),
    "letters as they are": lambda d: json.dumps(d, indent=2, ensure_ascii=False),
    "carriage returns": lambda d: json.dumps(d, indent=2).replace("\n", "\r\n"),
    "a byte order mark": lambda d: "\ufeff" + json.dumps(d, indent=2),
    "upper-case escapes": lambda d: json.dumps(d, indent=2).replace("\\u00e9", "\\u00E9"),
    "sorted keys": lambda d: json.dumps(d, indent=2, sort_keys=True),
    "a key twice": lambda d: json.dumps(d, indent=2).replace(
        '"source"', '"source": "x", "source"', 1
    ),
    "odd spaces": lambda d: json.dumps(d, indent=2).replace(
        '"embedding_dim": ', '"embedding_dim" :  '
    ),
    "documents by id": lambda d: json.dumps(
        {**d, "documents": {x["id"]: x for x in d["documents"]}}, indent=2
    ),
    "numbers in other words": lambda d: json.dumps({**d, "n": 0.1}, indent=2).replace(
        "0.1", "1.0E-1"
    ),
    "a document twice": lambda d: json.dumps(
        {**d, "documents": [*d["documents"], d["documents"][0]]}, indent=2
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_any_layout_comes_back(name):
    data, index = metadata()
    data["documents"][0]["content"]["title"] = "é and \U0001f600"
    text = LAYOUTS[name](data).encode()
    assert there_and_back(text, index) == text


def test_older_files_come_back_without_the_keys_they_lack():
    data, index = metadata()
    del data["model_name"], data["embedding_dim"]
    for document in data["documents"]:
        del document["source"]
    text = json.dumps(data, indent=2).encode()
    assert there_and_back(text, index) == text
    assert ragmd_reader.parse(rendered(json_pair.parse(text, index))).model_name is None


def test_keys_that_are_null_or_unknown_come_back():
    data, index = metadata(model_name=None, embedding_dim=None, created_at=7, more={"x": [1, None]})
    text = json.dumps(data, indent=2).encode()
    assert there_and_back(text, index) == text


def test_rows_of_replaced_documents_and_equal_references_come_back():
    """As a program leaves them that adds a document again: its new rows are claimed, the old ones are not."""
    of = collection(documents=2, chunks=3)
    of.refs += [dict(ref) for ref in of.refs[:3]]
    of.index = Index.of(np.vstack([of.index.vectors, of.index.vectors[:3]]))
    for row, chunk in enumerate(of.documents["doc-000"]["chunks"].values(), 6):
        chunk["faiss_id"] = row
    data, index = metadata(of)
    text = json.dumps(data, indent=2).encode()
    found = json_pair.parse(text, index)
    assert found.dangling() == []
    assert there_and_back(text, index) == text
    assert found.drop_unclaimed() == 3
    assert [chunk["faiss_id"] for chunk in found.documents["doc-000"]["chunks"].values()] == [
        3,
        4,
        5,
    ]
    assert np.array_equal(found.index.vectors[3:], index.vectors[6:])


def test_references_to_deleted_documents_come_back():
    data, index = metadata()
    del data["documents"][1]
    text = json.dumps(data, indent=2).encode()
    assert len(json_pair.parse(text, index).dangling()) == 4
    assert there_and_back(text, index) == text


def test_field_chunks_odd_keys_and_lone_surrogates_come_back():
    data, index = metadata()
    first = data["documents"][0]
    first["content"] = {
        "title": "x",
        "Talk (2nd draft) \ud83d": "said \udc00 aloud",
        "\u2028": ["a", {"b": None}],
    }
    first["chunks"] = {"Talk (2nd draft) \ud83d": {"faiss_id": 0, "i_start": None, "i_end": None}}
    for row in range(4):
        data["chunk_refs"][row]["chunk_key"] = "Talk (2nd draft) \ud83d"
    text = json.dumps(data, indent=2).encode()
    found = json_pair.parse(text, index)
    assert found.text(0) == "said \udc00 aloud"
    assert there_and_back(text, index) == text


def test_the_order_of_every_key_comes_back():
    data, index = metadata()
    turned = json.loads(json.dumps(data), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    text = json.dumps(turned, indent=2).encode()
    assert there_and_back(text, index) == text


def test_an_edit_wins_over_a_text_that_was_kept_whole():
    data, index = metadata()
    text = (json.dumps(data, indent=2) + " \n").encode()
    found = ragmd_reader.parse(rendered(json_pair.parse(text, index)))
    assert "verbatim" in found.pair
    found.documents["doc-000"]["content"]["title"] = "An edit"
    assert json.loads(json_pair.text_of(found))["documents"][0]["content"]["title"] == "An edit"


texts = st.text(st.characters(), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
layouts = st.sampled_from(
    ["a final newline", "four spaces", "tabs", "one line", "compact", "carriage returns"]
)


@settings(deadline=None, max_examples=examples(150))
@given(
    st.dictionaries(texts, st.dictionaries(texts, values, max_size=3), max_size=3),
    st.dictionaries(texts, values, max_size=2),
    layouts,
)
def test_any_metadata_comes_back(contents, more, layout):
    kept = {
        key: value for key, value in more.items() if key not in ("chunks", "full_text")
    }  # these mean something
    documents = [{**kept, "id": name, "content": content} for name, content in contents.items()]
    refs = [
        {"document_id": name, "chunk_key": key}
        for name, content in contents.items()
        for key in content
    ]
    index = Index.of(np.ones((len(refs), 5), np.float32))
    text = LAYOUTS[layout]({**more, "chunk_refs": refs, "documents": documents}).encode()
    try:
        json_pair.parse(text, index)
    except FormatError:
        assert {"embedding_dim", "model_name"} & set(more)
        return
    assert there_and_back(text, index) == text


# ---------------------------------------------------------------------------------------------------------- refusals ---


def test_a_pair_that_does_not_belong_together_is_refused():
    data, index = metadata()
    with pytest.raises(FormatError, match="12 chunk references for an index of 11 vectors"):
        json_pair.parse(json.dumps(data).encode(), Index.of(index.vectors[:11]))
    with pytest.raises(FormatError, match="embedding_dim is 16, but the index has 15"):
        json_pair.parse(json.dumps(data).encode(), Index.of(index.vectors[:, :15]))
    data["documents"][2]["chunks"]["chunk-3"]["faiss_id"] = 12
    with pytest.raises(FormatError, match="faiss_id 12 in an index of 12 vectors"):
        json_pair.parse(json.dumps(data).encode(), index)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"chunk_refs": 1, "documents": []}',
        "[" * 10**5,
        "{" * 10**5,
        "\ufffe{",
        "9" * 10**5,
    ],
)
def test_json_of_another_kind_is_refused(text):
    with pytest.raises(FormatError):
        json_pair.parse(text.encode(), Index.of(np.ones((0, 4))))


@pytest.mark.parametrize(
    "pair", [{"indent": 10**9}, {"keys": [1]}, {"extra": []}, {"end": 4}, {"keys": "x"}]
)
def test_an_origin_that_describes_nothing_is_refused(pair):
    of = collection()
    of.pair = pair
    with pytest.raises(FormatError, match="Origin"):
        json_pair.text_of(ragmd_reader.parse(rendered(of)))


def test_a_kept_text_that_unpacks_to_far_more_than_its_data_is_refused():
    import base64
    import zlib

    from ragfile import _core

    of = collection()
    digest = f"{_core.hash64(json_pair.text_of(of)):016x}"
    of.pair = {
        "digest": digest,
        "verbatim": base64.b64encode(zlib.compress(bytes(1 << 28))).decode(),
    }
    with pytest.raises(FormatError, match="cannot be read"):
        json_pair.text_of(of)


def test_files_are_written_and_read(tmp_path):
    of = collection()
    json_pair.write(of, tmp_path / "vectors-a-model.faiss", tmp_path / "metadata-a-model.json")
    assert json_pair.pair_paths(tmp_path / "metadata-a-model.json") == tuple(
        str(tmp_path / name) for name in ("vectors-a-model.faiss", "metadata-a-model.json")
    )
    found = json_pair.read(*json_pair.pair_paths(tmp_path / "vectors-a-model.faiss"))
    assert (found.documents, found.refs, found.index) == (of.documents, of.refs, of.index)
    assert not (tmp_path / "metadata-a-model.json").read_bytes().endswith(b"\n")
