"""The tokeniser gives the ids that the tokenizers library gives, for any text; and takes any bytes for one."""

import json

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.model_reader import ModelReader
from places import TESTS

from ragfile.embedding.protocol import DEFAULT_MODEL, StaticEmbedder

GOLDEN = json.loads((TESTS / "data" / "wordpiece_golden.json").read_text())["records"]
UNKNOWN = 1
embedder = StaticEmbedder()


@pytest.mark.parametrize("start", range(0, len(GOLDEN), 50))
def test_tokens_are_the_recorded_ones(start):
    for text, ids in GOLDEN[start : start + 50]:
        assert embedder.tokens(text) == ids, text


@pytest.fixture(scope="module")
def reference():
    """The tokenizers library with our vocabulary, put together as BERT's uncased models are."""
    tokenizers = pytest.importorskip("tokenizers", reason="the tokenizers library is not installed")
    reader = ModelReader(DEFAULT_MODEL.read_bytes())
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(reader.pieces, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(reader.specials())
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def test_every_character_of_the_first_planes_reads_as_in_the_reference(reference):
    points = [
        *range(0xD800),
        *range(0xE000, 0x3400),
        *range(0xF900, 0x11000),
        *range(0x1D000, 0x1F000),
    ]
    for start in range(0, len(points), 64):
        text = " ".join(f"x{chr(point)}ing" for point in points[start : start + 64])
        assert embedder.tokens(text) == reference(text), hex(points[start])


WORDS = st.sampled_from(
    [
        "token",
        "ization",
        "Straße",
        "[MASK]",
        "[SEP",
        " ",
        "\t",
        "字",
        "가",
        "é",
        "\u0301",
        "ﬁ",
        "##",
        "don't",
    ]
)
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=20).map("".join)


@given(TEXTS)
@settings(max_examples=examples(400), deadline=None)
def test_any_text_reads_as_in_the_reference(reference, text):
    assert embedder.tokens(text) == reference(text)


@given(
    st.one_of(
        st.binary(max_size=64), TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")[1:-1])
    )
)
@settings(max_examples=examples(600), deadline=None)
def test_any_bytes_read_as_what_is_left_when_bad_ones_are_passed_over(raw):
    assert embedder.tokens(raw) == embedder.tokens(raw.decode("utf-8", "replace"))
    assert embedder.tokens(raw) == embedder.tokens(raw.decode("utf-8", "ignore"))


def test_bytes_that_are_not_utf8_do_not_end_a_word():
    assert embedder.tokens(b"tok\xffen \xe5\xadtoken\xf0\x9f") == embedder.tokens("token token")


def test_a_lone_surrogate_is_passed_over():
    assert embedder.tokens("to\ud800ken") == embedder.tokens("token")


def test_a_word_of_more_than_a_hundred_characters_is_unknown():
    assert embedder.tokens("a" * 101) == [UNKNOWN]
    assert UNKNOWN not in embedder.tokens("a" * 100)
    assert UNKNOWN not in embedder.tokens("e\u0301" * 100)  # marks are dropped before counting


def test_a_text_of_a_megabyte_without_a_space_is_one_word():
    assert embedder.tokens("a" * (1 << 20)) == [UNKNOWN]
    assert len(embedder.tokens("." * (1 << 20))) == 1 << 20


def test_special_pieces_are_read_as_they_stand_only():
    specials = embedder.tokens("[PAD][UNK][CLS][SEP][MASK]")
    assert specials == [0, 1, 2, 3, 4]
    assert len(embedder.tokens("[cls]")) > 1
