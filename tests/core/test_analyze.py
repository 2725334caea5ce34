"""Text to words: what is found, whole and in parts, in which scripts, and that it depends on nothing but the text."""

import json
import lzma
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT, TESTS

import ragfile
from ragfile import _core
from ragfile.ingest.analysis import STOP_WORDS, Analysis

DATA = TESTS / "data"
WORDS = ROOT / "spec" / "vectors" / "words.json"


def words(text, **options):
    return [word for word, _ in _core.words(text, **options)]


def parts(text, **options):
    return [word for word, whole in _core.words(text, **options) if not whole]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++ and C#", ["c", "c++", "and", "c", "c#"]),
        ("OAuth2", ["oauth2"]),
        ("snake_case", ["snake", "case", "snake_case"]),
        ("v0.1.0", ["v0", "1", "0", "v0.1.0"]),
        ("foo.bar()", ["foo", "bar", "foo.bar"]),
        ("sys.dm_exec", ["sys", "dm", "exec", "dm_exec", "sys.dm_exec"]),
        ("__init__.py", ["init", "py"]),
        ("node.js, e.g. this", ["node", "js", "node.js", "eg", "this"]),
        ("the end. New", ["the", "end", "new"]),
        ("utf-8/ascii", ["utf", "8", "ascii"]),
        ("a.b_c.d", ["a", "b", "c", "b_c", "d", "a.b_c.d"]),
        ("x+++", ["x"]),
        ("C#minor", ["c", "minor"]),
        ("C++11", ["c", "11"]),
        ("U.S.A. and U.S", ["usa", "and", "us"]),
        ("a.b.cd x.y_z", ["a", "b", "cd", "a.b.cd", "x", "y", "z", "y_z", "x.y_z"]),
    ],
)
def test_technical_terms_are_found_whole_and_in_parts(text, expected):
    assert words(text) == expected


PIECE = re.compile("[A-Z]{2,}(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]|[0-9]+")


def pieces_of(run):
    """The pieces of a run of ASCII letters and digits, by a regular expression."""
    found = PIECE.findall(run) if re.search("[a-z][A-Z]", run) else []
    return [piece.lower() for piece in found if len(piece) > 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getPodStatus", ["getpodstatus", "get", "pod", "status"]),
        ("parseHTTPResponse", ["parsehttpresponse", "parse", "http", "response"]),
        ("HTTPServer VMs", ["httpserver", "vms"]),
        ("iOS18Beta", ["ios18beta", "os", "18", "beta"]),
        ("my_caseName.x", ["my", "casename", "case", "name", "my_casename", "x", "my_casename.x"]),
        ("naïveCase donE't", ["naïvecase", "done't"]),
        ("aBC#", ["abc", "abc#", "bc"]),
    ],
)
def test_pieces_of_identifiers_are_parts(text, expected):
    assert words(text, pieces=True) == expected
    assert all(is_whole == ("_" in w or "#" in w) for w, is_whole in _core.words(text, pieces=True))


@pytest.mark.parametrize("case", json.loads(WORDS.read_text()), ids=lambda case: case["text"])
def test_words_are_those_of_the_specification(case):
    for version, pieces in (("rag-words-1", False), ("rag-words-2", True)):
        expected = [tuple(word) for word in case[version]]
        assert _core.words(case["text"], pieces=pieces) == expected


def test_a_file_keeps_the_analyzer_that_it_was_built_with(tmp_path):
    for pieces in (False, True):
        path = tmp_path / str(pieces)
        with ragfile.create(path, analysis=Analysis(pieces=pieces)) as w:
            w.add_documents([{"id": "a", "text": "getPodStatus"}])
        with ragfile.edit(path) as w:
            w.add_documents([{"id": "b", "text": "setPodStatus"}])
        with ragfile.edit(path) as w:
            w.delete(["a"])
        for _ in range(2):
            with ragfile.open(path) as rf:
                assert {s.lexicon.analysis.pieces for s in rf.rows.searched("rag.terms")} == {
                    pieces
                }
                assert bool(rf.search("pod", mode="bm25")) is pieces
                assert [h.doc_id for h in rf.search("setpodstatus", mode="bm25")] == ["b"]
            ragfile.compact(path)


@given(st.text("aBcDE1", max_size=70))
def test_pieces_are_those_of_a_regular_expression(run):
    runs = [run[at : at + 63] for at in range(0, len(run), 63)]
    expected = [word for one in runs for word in (one.lower(), *pieces_of(one)) if word]
    assert words(run, pieces=True) == expected
    assert words(run) == [one.lower() for one in runs]


@given(st.text())
def test_pieces_only_add_words(text):
    with_pieces = iter(_core.words(text, pieces=True))
    assert all(any(word == other for other in with_pieces) for word in _core.words(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's the users' fault", ["it's", "the", "users", "fault"]),
        ("don’t we’re", ["don't", "we're"]),
        ("l'avion", ["l", "avion"]),
        ("rock'n'roll", ["rock'n", "roll"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
    ],
)
def test_english_contractions_stay_one_word(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", ["東京", "京都"]),
        ("京", ["京"]),
        ("ひらがな", ["ひら", "らが", "がな"]),
        ("データ", ["デー", "ータ"]),
        ("iPhone手机", ["iphone", "手机"]),
        ("한국어", ["한국", "국어"]),
        ("ภาษา", ["ภา", "าษ", "ษา"]),
        ("เก้า", ["เก้", "ก้า"]),
        ("東 京", ["東", "京"]),
    ],
)
def test_scripts_without_spaces_give_pairs_of_clusters(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("النص العربي", ["النص", "العربي"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Größe STRASSE straße", ["grösse", "strasse", "strasse"]),
        ("ΣΊΣΥΦΟΣ", ["σίσυφοσ"]),
        ("ﬁne ＦＵＬＬ ①", ["fine", "full", "1"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("😀 grin 👩‍💻", ["grin"]),
        ("m²", ["m2"]),
        ("\u0301 alone", ["alone"]),
        ("", []),
        (" \t\n.,;_'#+", []),
    ],
)
def test_other_scripts_fold_and_separate(text, expected):
    assert words(text) == expected


def test_accents_are_kept_or_stripped_by_choice():
    assert words("Crème BRÛLÉE") == ["crème", "brûlée"]
    assert words("Crème BRÛLÉE", strip_accents=True) == ["creme", "brulee"]
    assert words("हिन्दी", strip_accents=True) == ["हिन्दी"]


def test_long_runs_are_cut_into_words_of_63():
    assert [len(word) for word in words("x" * 200)] == [63, 63, 63, 11]
    assert [len(word) for word in words("é" * 200)][:1] == [31]
    assert words("a" * 60 + "_" + "b" * 60)[-1] == "a" * 60 + "_" + "b" * 60
    assert len(words("_".join(["b" * 60] * 5))) == 5


@pytest.mark.parametrize(
    "raw",
    [
        b"ab\xffcd",
        b"ab\xc3",
        b"\xe6\x9d",
        b"ab\xed\xa0\x80cd",
        b"ab\xf5\x80\x80\x80cd",
        b"\xc0\xaf",
        b"ab\xe0\x80\xafcd",
    ],
)
def test_invalid_utf8_separates(raw):
    assert set(words(raw)) <= {"ab", "cd"}


def test_lone_surrogates_separate():
    assert words("ab\ud800cd") == ["ab", "cd"]


@given(st.binary(max_size=300))
def test_any_bytes_give_valid_words(raw):
    for word in words(raw):
        assert 1 <= len(word.encode()) <= 255


PIECES = st.one_of(
    st.sampled_from(
        [
            "_",
            ".",
            "'",
            "’",
            "++",
            "#",
            "\u00ad",
            "é",
            "e\u0301",
            "東",
            "ก้",
            "İ",
            "ß",
            "\u0301\u0323",
            "C++",
        ]
    ),
    st.text(),
)


@given(st.lists(PIECES).map("".join), st.lists(PIECES).map("".join))
def test_a_space_always_separates(left, right):
    assert _core.words(f"{left} {right}") == _core.words(left) + _core.words(right)


@given(st.lists(PIECES).map("".join))
def test_composed_and_decomposed_text_have_the_same_words(text):
    assigned = "".join(character for character in text if unicodedata.category(character)[0] != "C")
    assert words(unicodedata.normalize("NFD", assigned)) == words(
        unicodedata.normalize("NFC", assigned)
    )


ASCII_PART = r"[a-z0-9]{1,63}"


ACRONYM = re.compile(r"(?>(?:[a-z]\.)+(?:[a-z](?![a-z0-9]))?)(?![a-z0-9_])")


def plain_words(text):
    """The slow oracle for ASCII without ++ and #: identifiers joined by dots, by regular expressions."""
    found, text, at = [], text.lower(), 0
    part = rf"{ASCII_PART}(?:(?<=[a-z])'[a-z]{{1,2}}(?![a-z0-9]))?"
    chain = re.compile(rf"(?:{part})(?:[._](?:{part}))*")
    while match := chain.search(text, at):
        acronym = ACRONYM.match(text, match.start())
        if acronym and len(acronym[0].replace(".", "")) > 1:
            found.append(acronym[0].replace(".", ""))
            at = acronym.end()
            continue
        at = match.end()
        identifiers = match[0].split(".")
        for identifier in identifiers:
            found += identifier.split("_")
            found += [identifier] if "_" in identifier else []
        found += [match[0]] if len(identifiers) > 1 else []
    return found


@given(st.text(alphabet="abX09 ._'-", max_size=60))
def test_ascii_words_equal_the_plain_rules(text):
    assert words(text) == plain_words(text)


def fold(character):
    """NFKC_Casefold by Python's own tables, for one character."""
    return unicodedata.normalize(
        "NFKC",
        unicodedata.normalize(
            "NFKC", unicodedata.normalize("NFD", character).casefold()
        ).casefold(),
    )


def test_folding_agrees_with_pythons_tables_on_all_letters():
    differing = []
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if (
            unicodedata.category(character) not in ("Lu", "Ll", "Lt")
            or not fold(character).isalnum()
        ):
            continue
        if words(character) != [fold(character)]:
            differing.append(f"U+{code:04X}")
    assert differing == []


def test_analysing_each_unicode_word_gives_the_parts_of_the_text():
    """Unicode's own samples of UAX #29: our parts never cross one of its word boundaries, scripts without spaces apart."""
    checked = 0
    for line in (DATA / "WordBreakTest-15.0.0.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        segments = [
            "".join(chr(int(code, 16)) for code in segment.split("×"))
            for segment in line.strip("÷ ").split("÷")
        ]
        if any(
            "\u3040" <= character <= "\u30ff" or character in "\u05d0"
            for character in "".join(segments)
        ):
            continue
        assert parts("".join(segments)) == [
            word for segment in segments for word in parts(segment)
        ], line
        checked += 1
    assert checked > 1000


def test_unicode_version_is_pinned():
    assert _core.unicode_version() == "15.0.0"


def test_stop_words_are_dropped_and_the_rest_stemmed():
    assert Analysis().reducer()(["the", "connections", "it"]) == ["", "connect", ""]
    assert Analysis(stemmer="none", stop_words="none").reducer()(["the", "connections"]) == [
        "the",
        "connections",
    ]
    assert Analysis(stemmer="german", stop_words=("und",)).reducer()(["und", "häuser"]) == [
        "",
        "haus",
    ]


def test_the_english_list_is_the_recorded_one():
    assert len(STOP_WORDS["english-1"]) == 35


PORTER_EXAMPLES = (
    "caresses:caress ponies:poni ties:ti caress:caress cats:cat feed:feed agreed:agre plastered:plaster bled:bled "
    "motoring:motor sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall "
    "hissing:hiss fizzed:fizz failing:fail filing:file happy:happi sky:sky relational:relat conditional:condit "
    "rational:ration digitizer:digit conformabli:conform radicalli:radic operator:oper feudalism:feudal "
    "decisiveness:decis hopefulness:hope callousness:callous formaliti:formal sensitiviti:sensit triplicate:triplic "
    "formative:form formalize:formal electrical:electr hopeful:hope goodness:good revival:reviv allowance:allow "
    "inference:infer airliner:airlin adjustable:adjust defensible:defens irritant:irrit replacement:replac "
    "adjustment:adjust dependent:depend adoption:adopt communism:commun activate:activ angulariti:angular "
    "homologous:homolog effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controll:control roll:roll"
)


def test_porters_published_examples_hold():
    given_words, stems = zip(*(pair.split(":") for pair in PORTER_EXAMPLES.split()), strict=True)
    assert Analysis(stemmer="porter", stop_words="none").reducer()(list(given_words)) == list(stems)


def test_porters_published_vocabulary_has_the_published_stems():
    lines = lzma.decompress((DATA / "porter-vocabulary.txt.xz").read_bytes()).decode().splitlines()
    vocabulary, stems = zip(*(line.split(" ") for line in lines), strict=True)
    assert len(vocabulary) == 30_428
    assert Analysis(stemmer="porter", stop_words="none").reducer()(list(vocabulary)) == list(stems)


@pytest.mark.parametrize(
    "analysis",
    [
        Analysis(),
        Analysis(stemmer="porter", stop_words="none", accents="strip", k1=0.9, b=0.4),
        Analysis(stop_words=("et", "le"), fields=(("title", 3), ("body", 1))),
        Analysis(stop_words=()),
    ],
)
def test_an_analysis_is_recorded_and_read_back(analysis):
    assert Analysis.recorded(analysis.record("15.0.0"), analysis.k1, analysis.b) == analysis


@pytest.mark.parametrize(
    "choices",
    [
        {"stemmer": "klingon"},
        {"stop_words": "english-0"},
        {"accents": "maybe"},
        {"k1": -1},
        {"b": 1.5},
        {"fields": ()},
        {"fields": (("a", 0),)},
        {"fields": (("a", 1.5),)},
        {"fields": (("a", 1), ("a", 2))},
        {"stop_words": ("two words",)},
    ],
)
def test_an_impossible_analysis_is_refused(choices):
    with pytest.raises(ValueError, match=r"\w"):
        Analysis(**choices)


def test_an_unknown_analyzer_is_refused():
    with pytest.raises(ValueError, match="rag-words-99"):
        Analysis.recorded("analyzer=rag-words-99\n", 1.2, 0.75)
