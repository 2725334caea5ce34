"""Text that is not UTF-8 is read in the encoding that it is in, and the report says which."""

import codecs

import pytest

from ragfile.ingest.document_loader import Loading, load

pytest.importorskip("charset_normalizer", reason="the extra 'ingest' is not installed")

TEXTS = {
    "cp1252": "Die Grüße für das Straßenfest kamen zu spät, während wir über die Brücke gingen.",
    "latin-1": "Les élèves français étaient très gâtés à Noël, où ça va.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "cp1251": "Привет, как дела? Это простой текст на русском языке.",
    "koi8-r": "Привет, как дела? Это простой текст на русском языке.",
    "cp932": "これは日本語のテキストです。東京は大きい都市です。",
    "euc-jp": "これは日本語のテキストです。東京は大きい都市です。",
    "gb18030": "这是一个中文文本。北京是中国的首都。",
    "big5": "這是一個中文文本。台北是台灣的首都。",
    "cp949": "이것은 한국어 텍스트입니다. 서울은 한국의 수도입니다.",
    "utf-16-le": "Plain words without a byte order mark.",
    "utf-16-be": "Plain words without a byte order mark.",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_a_text_is_read_in_its_encoding(encoding, tmp_path):
    (tmp_path / "a.md").write_bytes(TEXTS[encoding].encode(encoding))
    loading = Loading(tmp_path)
    (document,) = loading
    assert document.text == TEXTS[encoding]
    said = loading.encodings[str(tmp_path / "a.md")]
    assert document.metadata["encoding"] == said
    assert TEXTS[encoding].encode(said) == TEXTS[encoding].encode(encoding)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, b""])
def test_a_marked_text_and_utf8_are_not_guessed(mark, tmp_path):
    name = {codecs.BOM_UTF16_LE: "utf-16-le"}.get(mark, "utf-8")
    (tmp_path / "a.txt").write_bytes(mark + "Grüße".encode(name))
    loading = Loading(tmp_path)
    assert [document.text for document in loading] == ["Grüße"]
    assert loading.encodings == {}


def test_a_program_that_names_its_encoding_is_believed(tmp_path):
    (tmp_path / "a.py").write_bytes("# -*- coding: koi8-r -*-\n# Привет\n".encode("koi8-r"))
    assert load(tmp_path)[0].text == "# -*- coding: koi8-r -*-\n# Привет\n"


@pytest.mark.parametrize("name", ["punycode", "rot13", "unicode_escape", "no-such", "zip"])
def test_a_codec_that_is_not_an_encoding_is_not_believed(name, tmp_path):
    raw = f"# coding: {name}\n".encode() + "Die Grüße für das Straßenfest kamen.\n".encode("cp1252")
    (tmp_path / "a.py").write_bytes(raw)
    assert "Grüße" in load(tmp_path)[0].text


def test_utf8_with_a_bad_byte_is_not_read_as_something_else(tmp_path):
    (tmp_path / "a.txt").write_bytes("Grüße aus Köln, größer als Düren".encode() + b"\xff")
    loading = Loading(tmp_path)
    assert list(loading) == []
    assert "not valid utf-8" in loading.failures[0].reason


def test_a_long_text_is_read_to_its_end(tmp_path):
    text = "これは日本語のテキストです。\n" * 20_000
    (tmp_path / "a.txt").write_bytes(text.encode("cp932"))
    assert load(tmp_path)[0].text == text
