"""Text that is not UTF-8 is read in the encoding that it is in, and the report says which."""

import codecs
import importlib.util
import sys

import pytest

from ragfile.ingest.document_loader import Loading, load

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("charset_normalizer") is None,
    reason="the extra 'ingest' is not installed",
)

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


@needs_extra
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


@needs_extra
def test_a_long_text_is_read_to_its_end(tmp_path):
    text = "これは日本語のテキストです。\n" * 20_000
    (tmp_path / "a.txt").write_bytes(text.encode("cp932"))
    assert load(tmp_path)[0].text == text


WESTERN = {
    "german": "Die Grüße für das Straßenfest kamen zu spät, während wir über die Brücke gingen.",
    "french": "Les élèves français étaient très gâtés à Noël, où ça va. L’été « prochain » — dit-il…",
    "danish": "På øen åbnede de børnehaven; æblerne faldt på græsset.",
    "icelandic": "Það er gott að búa á Íslandi, þar sem fjöllin eru há og sjórinn er víður.",
    "a name": "Copyright (c) Jürgen Müller. All rights reserved.",
}
UNCERTAIN = {
    "czech": ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
    "polish": ("cp1250", "Zażółć gęślą jaźń, proszę państwa, to jest zwykły tekst po polsku."),
    "russian": ("cp1251", "Привет, как дела? Это простой текст на русском языке."),
    "greek": ("cp1253", "Καλημέρα, τι κάνεις; Αυτό είναι ένα απλό κείμενο."),
    "turkish": ("cp1254", "Bugün hava çok güzel, dışarı çıkıp yürüyüş yapmak istiyorum, değil mi?"),
    "japanese": ("cp932", "これは日本語のテキストです。東京は大きい都市です。"),
    "dos": ("cp437", "Die Grüße für das Straßenfest kamen zu spät, während wir gingen."),
    "mac": ("mac-roman", "Die Grüße für das Straßenfest kamen zu spät, während wir gingen."),
}


@pytest.fixture
def without_extra(monkeypatch):
    """Make the library of the extra 'ingest' one that cannot be imported."""
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)


@pytest.mark.parametrize("language", WESTERN)
def test_western_text_is_read_without_any_extra(language, tmp_path, without_extra):
    (tmp_path / "a.txt").write_bytes(WESTERN[language].encode("cp1252"))
    loading = Loading(tmp_path)
    assert [document.text for document in loading] == [WESTERN[language]]
    assert list(loading.encodings.values()) == ["cp1252"]


@pytest.mark.parametrize("language", UNCERTAIN)
def test_what_is_uncertain_is_not_guessed_but_the_extra_is_named(language, tmp_path, without_extra):
    encoding, text = UNCERTAIN[language]
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    loading = Loading(tmp_path)
    assert list(loading) == []
    assert "pip install 'ragfile[ingest]'" in loading.failures[0].reason


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_wide_text_is_read_without_any_extra(encoding, tmp_path, without_extra):
    (tmp_path / "a.txt").write_bytes("Plain words, größer als sonst.".encode(encoding))
    assert [document.text for document in Loading(tmp_path)] == ["Plain words, größer als sonst."]
