"""The embedded model: one vector for a text, whatever the batch, the threads and the machine; and the registry."""

import hashlib
import os
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
import xxhash
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.model_reader import ModelReader
from places import ROOT
from targets import TARGETS, on

from ragfile import _core
from ragfile.embedding.protocol import (
    DEFAULT_MODEL,
    Model,
    StaticEmbedder,
    embedder_of_file,
    open_embedder,
    prefixes_of,
    unit_rows,
)
from ragfile.errors import CorruptError, FormatError, ModelError, ProviderError, VersionError

TEXTS = [
    "A pod is the smallest unit.",
    "",
    "naïve 字 – don't",
    "???",
    "one",
    "word " * 400,
    "Ж" * 200,
] * 7
embedder = StaticEmbedder(threads=1)
reader = ModelReader(DEFAULT_MODEL.read_bytes())


@pytest.mark.parametrize("text", TEXTS[:7])
def test_a_vector_is_what_the_definition_says(text):
    assert embedder.embed([text])[0].tobytes() == reader.embed(embedder.tokens(text)).tobytes()


@given(st.text(max_size=80))
@settings(max_examples=examples(60), deadline=None)
def test_any_text_has_the_vector_of_the_definition(text):
    assert embedder.embed([text])[0].tobytes() == reader.embed(embedder.tokens(text)).tobytes()


def test_a_vector_has_length_1_and_a_text_without_meaning_zeros():
    rows = embedder.embed(TEXTS).astype(np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1))
    meaning = np.array(
        [any(reader.coefficients[i] for i in embedder.tokens(text)) for text in TEXTS]
    )
    np.testing.assert_allclose(lengths[meaning], 1, atol=1e-6)
    assert (lengths[~meaning] == 0).all()
    assert not meaning.all()


@pytest.mark.parametrize("size", [1, 2, 3, 16, 17, 49])
def test_a_vector_does_not_depend_on_its_batch(size):
    parts = [embedder.embed(TEXTS[i : i + size]) for i in range(0, len(TEXTS), size)]
    assert np.concatenate(parts).tobytes() == embedder.embed(TEXTS).tobytes()


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_a_vector_does_not_depend_on_the_threads(threads):
    assert StaticEmbedder(threads=threads).embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()


def test_a_vector_does_not_depend_on_the_order_of_the_words():
    assert (
        embedder.embed(["red green blue"]).tobytes() == embedder.embed(["blue red green"]).tobytes()
    )


@pytest.mark.parametrize("target", TARGETS)
def test_a_vector_is_the_same_on_every_target_of_this_machine(target):
    code = (
        "import hashlib; from ragfile import _core; from ragfile.embedding import StaticEmbedder;"
        "texts = [' '.join(f'word{i * j % 97} pod {i}' for j in range(i)) for i in range(150)];"
        "print(_core.target(), hashlib.sha256(StaticEmbedder().embed(texts).tobytes()).hexdigest())"
    )
    name, digest = on(target, code).split()
    assert name == target
    assert digest == on("", code).split()[1]


def test_close_texts_are_closer_than_others():
    query, near, far = embedder.embed(
        ["how to mount a disk", "attaching a storage volume", "a recipe for apple cake"]
    )
    assert query @ near > query @ far


def test_roles_are_two():
    assert (
        embedder.embed(["one"], "query").tobytes() == embedder.embed(["one"], "document").tobytes()
    )
    with pytest.raises(ValueError, match="query or a document"):
        embedder.embed(["one"], "answer")


def test_no_texts_are_no_rows():
    assert embedder.embed([]).shape == (0, 256)


def test_a_wrong_output_is_refused():
    model = _core.StaticModel(DEFAULT_MODEL.read_bytes())
    with pytest.raises(ValueError, match="need 1 x 256 floats"):
        model.embed(["one"], np.zeros((1, 255), np.float32))
    with pytest.raises(ValueError, match="need 1 x 256 floats"):
        model.embed(["one"], np.zeros((2, 256), np.float32))


def test_what_is_no_text_is_a_type_error():
    with pytest.raises((TypeError, AttributeError)):
        embedder.embed([3])


def test_an_embedder_can_be_pickled():
    copy = pickle.loads(pickle.dumps(embedder))
    assert copy.embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()
    assert copy.model == embedder.model


def test_many_threads_may_share_an_embedder():
    wanted, wrong = embedder.embed(TEXTS).tobytes(), []
    shared = StaticEmbedder(threads=2)

    def work():
        wrong.extend(i for i in range(20) if shared.embed(TEXTS).tobytes() != wanted)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_forked_child_embeds_alike():
    shared = StaticEmbedder(threads=2)
    wanted = shared.embed(TEXTS).tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if shared.embed(TEXTS).tobytes() == wanted else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_other_threads_run_while_texts_are_embedded():
    """With a switch interval of minutes, only a released GIL lets the main thread see the work unfinished."""
    before, started, finished = sys.getswitchinterval(), threading.Event(), []
    text = ["word " * 4_000_000]

    def work():
        started.set()
        embedder.embed(text)
        finished.append(True)

    thread = threading.Thread(target=work)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        started.wait()
        seen_unfinished = not finished
    finally:
        sys.setswitchinterval(before)
    thread.join()
    assert seen_unfinished


# --------------------------------------------------------------------------------------------------- the model file ---


def test_the_shipped_model_is_the_one_that_the_tool_builds():
    tool = ROOT / "tools" / "build_model.py"
    if not tool.exists():
        pytest.skip("the tools are not part of an installed package")
    pinned = re.search(r'RESULT = "([0-9a-f]{64})"', tool.read_text())[1]
    assert hashlib.sha256(DEFAULT_MODEL.read_bytes()).hexdigest() == pinned
    assert DEFAULT_MODEL.with_suffix(".LICENSE").is_file()


PIECES = [
    b"[PAD]",
    b"[UNK]",
    *(bytes([c]) for c in range(97, 123)),
    *(bytes([c]) for c in range(97, 123)),
    b"abcabcabcabcabcabcabc",
]
KINDS = np.array([2, 2, *[0] * 26, *[1] * 26, 0], np.uint8)


def small_model(bucket_bits=3, **changes):
    rng = np.random.default_rng(3)
    parts = {
        "pieces": PIECES,
        "kinds": KINDS,
        "rows": rng.integers(-8, 8, (len(PIECES), 32)).astype(np.int8),
        "coefficients": rng.integers(0, 32768, len(PIECES)).astype(np.int16),
    } | changes
    return bytearray(
        _core.write_model("small", parts["pieces"], parts["kinds"], parts["rows"], parts["coefficients"],
                          unknown=changes.get("unknown", 1), bucket_bits=bucket_bits)
    )  # fmt: skip


def sealed(data):
    """The same bytes with the right checksum: what an attacker would write."""
    data[72:80] = xxhash.xxh3_64_intdigest(bytes(data[80:])).to_bytes(8, "little")
    return data


@pytest.mark.parametrize("bucket_bits", [1, 3, 12])
def test_a_model_file_is_read_as_it_was_written(bucket_bits):
    data = small_model(bucket_bits)
    model, read = _core.StaticModel(data), ModelReader(bytes(data))
    assert (
        (model.name, model.dims, model.words)
        == ("small", 32, len(PIECES))
        == (read.name, read.dims, read.words)
    )
    for text in ("abc", "abcabcabcabcabcabcabc", "abcabcabcabcabcabcabd", "zz [PAD] é", "a" * 101):
        out = np.empty((1, 32), np.float32)
        model.embed([text], out)
        assert out[0].tobytes() == read.embed(model.tokens(text)).tobytes()
    assert model.tokens("abcabcabcabcabcabcabc") == [54]
    assert len(model.tokens("abcabcabcabcabcabcabd")) == 21


def test_a_truncated_model_is_refused():
    data = DEFAULT_MODEL.read_bytes()
    for size in (0, 7, 8, 80, 159, 160, 4096, len(data) - 1):
        with pytest.raises(FormatError):
            _core.StaticModel(data[:size])
    with pytest.raises(FormatError):
        _core.StaticModel(data + b"\0")


@pytest.mark.parametrize("at", [0, 8, 12, 64, 72, 80, 200, 1_000_000, 3_900_000, 4_201_087])
def test_a_flipped_bit_is_refused(at):
    data = bytearray(DEFAULT_MODEL.read_bytes())
    data[at] ^= 1
    with pytest.raises(FormatError):
        _core.StaticModel(data)


def test_a_newer_model_says_so_and_a_changed_one_is_corrupt():
    data = small_model()
    data[100] ^= 1
    with pytest.raises(CorruptError, match="checksum"):
        _core.StaticModel(data)
    data[8] = 2
    with pytest.raises(VersionError):
        _core.StaticModel(data)


FIELDS = {12: [0, 16, 33, 2048, 2**32 - 1], 16: [0, 54, 56, 2**16, 2**32 - 1], 20: [0, 2, 4, 21, 2**32 - 1],
          24: [55, 2**32 - 1], 28: [0, 20, 256], 32: [0, 65, 2**63], 40: [0, 2**64 - 64], 48: [2**64 - 64], 56: [64, 2**40],
          64: [0, 2**64 - 1]}  # fmt: skip


@pytest.mark.parametrize(
    ("at", "value"), [(at, value) for at, values in FIELDS.items() for value in values]
)
def test_a_field_out_of_its_domain_is_refused_even_with_a_right_checksum(at, value):
    data = small_model()
    size = 4 if at < 32 else 8
    data[at : at + size] = value.to_bytes(size, "little")
    with pytest.raises(FormatError):
        _core.StaticModel(sealed(data))


def test_any_bytes_with_a_right_checksum_are_refused_or_harmless():
    rng, opened, original = np.random.default_rng(11), 0, small_model()
    texts, out = (
        ["abc zebra [PAD] [UNK] 字 " * 5, b"\xff\xfe[", "abcabcabcabcabcabcabcabc"],
        np.empty((3, 32), np.float32),
    )
    for _ in range(6000):
        data = bytearray(original)
        for at in rng.integers(8 if rng.random() < 0.3 else 144, len(data), rng.integers(1, 5)):
            data[at] = rng.integers(256)
        try:
            model = _core.StaticModel(sealed(data))
        except FormatError:
            continue
        opened += 1
        model.embed(texts, out)
        assert np.isfinite(out).all()
    assert opened > 100


@pytest.mark.parametrize(
    "changes",
    [{"unknown": 55}, {"pieces": [b"", *PIECES[1:]]}, {"pieces": [b"x" * 256, *PIECES[1:]]}, {"kinds": KINDS + 1},
     {"kinds": KINDS[1:]}, {"rows": np.zeros((55, 33), np.int8)}, {"pieces": [b"PAD", *PIECES[1:]]}],
)  # fmt: skip
def test_a_model_that_breaks_a_rule_is_not_written(changes):
    with pytest.raises(ValueError, match=r"."):
        small_model(**changes)


# ----------------------------------------------------------------------------------------------------- the registry ---


def test_names_stand_for_embedders():
    assert isinstance(open_embedder("default"), StaticEmbedder)
    assert open_embedder("default?threads=1").threads == 1
    assert open_embedder("none") is None
    assert open_embedder(None) is None
    assert open_embedder(embedder) is embedder


@pytest.mark.parametrize("name", ["", "Default", "potion", "st:", "gpt:4", "openai", "file:///x"])
def test_a_name_that_stands_for_nothing_is_an_error_that_lists_the_others(name):
    if name == "":
        assert open_embedder(name) is None
        return
    with pytest.raises(ModelError, match="default, none, st:MODEL"):
        open_embedder(name)


def test_options_in_a_name_and_as_keywords_are_the_same():
    pytest.importorskip("httpx2", reason="the extra 'http' is not installed")
    one = open_embedder("ollama:m?host=box&dimensions=12&batch=3")
    two = open_embedder("ollama:m?batch=7", host="box", dimensions=12, batch=3)
    assert one.model == two.model == Model("ollama:m", 12)
    assert one.batch == two.batch == 3


def test_a_file_gets_the_embedded_model_without_being_asked():
    assert (
        embedder_of_file("default").model
        == embedder_of_file("potion-base-8M/1").model
        == embedder.model
    )


@pytest.mark.parametrize(
    "spec",
    ["openai:text-embedding-3-small", "openai:m?base_url=http://127.0.0.1:1", "ollama:m", "onnx:/tmp/model", "potion-base-8M/2",
     "st:/tmp/model", "st:../model", "st:m?trust_remote_code=1", "st:a/b/c", "st:", "st:.", "default?path=/tmp/x", "none", ""],
)  # fmt: skip
def test_a_file_cannot_name_a_server_a_folder_or_options(spec):
    with pytest.raises(ModelError, match="pass embedder="):
        embedder_of_file(spec)


def test_a_file_cannot_name_a_folder_that_looks_like_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    with pytest.raises(ModelError, match="pass embedder="):
        embedder_of_file("st:model")


@pytest.mark.parametrize(
    "query",
    ["api_key=sk-secret", "dimensions=3&api_key=sk-secret", "key=sk-secret", "API-KEY=sk-secret"],
)
def test_a_key_in_a_name_is_refused_and_not_shown(query):
    with pytest.raises(ModelError, match="pass api_key=") as caught:
        open_embedder(f"openai:m?{query}")
    assert "secret" not in str(caught.value)


def test_the_default_imports_no_provider_and_nothing_of_the_network():
    code = (
        "import sys, ragfile; before = set(sys.modules); from ragfile.embedding import open_embedder;"
        "open_embedder('default').embed(['one']);"
        "new = {'httpx2', 'ssl', 'sqlite3', 'torch', 'onnxruntime', 'tokenizers'} & (set(sys.modules) - before);"
        "print(sorted(new))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        (
            "Snowflake/snowflake-arctic-embed-s",
            "Represent this sentence for searching relevant passages: ",
            "",
        ),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "query: ", ""),
        ("text-embedding-3-small", "", ""),
        ("all-MiniLM-L6-v2", "", ""),
    ],
)
def test_prefixes_are_known_by_name(name, query, document):
    assert prefixes_of(name) == (query, document)


def test_rows_are_scaled_one_by_one():
    rows = (
        np.random.default_rng(5).standard_normal((9, 7)) * 10.0 ** np.arange(-30, 60, 10)[:, None]
    )
    whole = unit_rows(rows, dims=7, source="test")
    assert (
        whole.tobytes()
        == np.concatenate([unit_rows(row[None], dims=7, source="test") for row in rows]).tobytes()
    )
    np.testing.assert_allclose(np.linalg.norm(whole.astype(np.float64), axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    "vectors", [[[1.0], [1.0, 2.0]], [["a"]], [[float("inf")]], [[]], 3, [[[1.0]]]]
)
def test_rows_that_are_no_vectors_are_refused(vectors):
    with pytest.raises(ProviderError, match="test answered"):
        unit_rows(vectors, dims=None, source="test")
