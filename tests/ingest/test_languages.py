"""A language decides stemmer, stop words and accents, from the build to the question."""

import pytest

import ragfile
from ragfile.doors.cli.main import main
from ragfile.ingest.languages import by_code

FORMS = [
    ("da", "Alle forsikringer er godkendt", "forsikring"),
    ("de", "Alle Versicherungen sind geprüft", "Versicherung"),
    ("en", "The Café opens early", "cafe"),
    ("es", "Las canciones de la radio", "canción"),
    ("fi", "Talossa oli valoa", "talo"),
    ("fr", "Le Café des nationalités", "cafe"),
    ("fr", "Les nationalités des pays", "nationalité"),
    ("it", "Le assicurazioni del paese", "assicurazione"),
    ("ja", "東京都に住む", "東京"),
    ("nl", "Alle verzekeringen zijn goed", "verzekering"),
    ("no", "Alle forsikringer er godkjent", "forsikring"),
    ("pt", "As garantias do contrato", "garantia"),
    ("ru", "Все книги на полке", "книга"),
    ("sv", "Alla försäkringar är bra", "försäkring"),
    ("zh", "保险合同的期限", "合同"),
]


@pytest.mark.parametrize(("language", "text", "asked"), FORMS)
def test_another_form_of_a_word_is_found(tmp_path, language, text, asked):
    analysis = ragfile.Analysis.for_language(language)
    documents = [{"id": "a", "text": text}, {"id": "b", "text": "unrelated"}]
    ragfile.build(documents, tmp_path / "kb.ragfile", embedder="none", analysis=analysis)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert [hit.doc_id for hit in rf.search(asked, mode="bm25")] == ["a"]
        assert rf.rows.analysis == analysis


@pytest.mark.parametrize("language", sorted(by_code()))
def test_every_language_has_a_stemmer_and_keeps_the_headers(language):
    analysis = ragfile.Analysis.for_language(language)
    assert analysis.fields == (("text", 1), ("headers", 6))
    assert analysis.reducer()(["x1"]) == ["x1"]
    assert analysis.stopped


def test_stop_words_of_a_language_are_not_indexed(tmp_path):
    german = ragfile.Analysis.for_language("de-AT")
    documents = [{"id": "a", "text": "Die Prüfung und der Vertrag"}]
    ragfile.build(documents, tmp_path / "kb.ragfile", embedder="none", analysis=german)
    with ragfile.open(tmp_path / "kb.ragfile") as rf:
        assert rf.search("und der die", mode="bm25") == []
        assert rf.search("Verträge", mode="bm25")


def test_a_language_without_rules_is_refused():
    with pytest.raises(ValueError, match="no language 'xx'; there are cs, da, de, el, en"):
        ragfile.Analysis.for_language("xx")


def test_the_command_line_builds_for_a_language(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(
        "# Recht\n\nAlle Versicherungen sind geprüft.\n", "utf-8"
    )
    out = tmp_path / "kb.ragfile"
    arguments = ["build", str(tmp_path / "docs"), "-o", str(out), "--embedder", "none"]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--language", "de"])
    assert ended.value.code == 0
    with ragfile.open(out) as rf:
        assert rf.rows.analysis.stemmer == "german"
        assert rf.search("Versicherung", mode="bm25")
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--language", "xx"])
    assert ended.value.code != 0
    assert "no language 'xx'" in capsys.readouterr().err


def test_the_command_line_builds_with_a_stemmer(tmp_path, capsys):
    (tmp_path / "a.md").write_text("Namai ir sodai", "utf-8")
    out = tmp_path / "kb.ragfile"
    arguments = ["build", str(tmp_path / "a.md"), "-o", str(out), "--embedder", "none"]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--stemmer", "lithuanian"])
    assert ended.value.code == 0
    with ragfile.open(out) as rf:
        assert (rf.rows.analysis.stemmer, rf.rows.analysis.languages) == ("lithuanian", False)
        assert rf.search("namas", mode="bm25")
        assert rf.search("ir", mode="bm25")
    for refused in (["--stemmer", "xx"], ["--stemmer", "german", "--language", "de"]):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *refused])
        assert ended.value.code != 0
    assert "--language has a stemmer" in capsys.readouterr().err


def test_info_counts_the_languages_of_a_file(tmp_path, capsys):
    texts = [
        "Alle Versicherungen sind geprüft, und das ist nicht alles.",
        "Der Vertrag ist gültig, wenn er von uns geprüft wird.",
        "The insurances are checked, and all of them are open.",
    ]
    documents = [{"id": str(i), "text": text} for i, text in enumerate(texts)]
    ragfile.build(documents, tmp_path / "kb.ragfile", embedder="none")
    for more, wanted in (([], "languages  de 2, en 1"), (["--json"], '"de": 2')):
        with pytest.raises(SystemExit) as ended:
            main(["info", str(tmp_path / "kb.ragfile"), "--languages", *more])
        assert ended.value.code == 0
        assert wanted in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["info", str(tmp_path / "kb.ragfile")])
    assert "languages  " not in capsys.readouterr().out
