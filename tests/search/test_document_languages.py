"""Files in several languages: found by document, asked by each, and counted as one."""

import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from doors.browser.node import Reader
from oracles import languages as oracle

import ragfile
import ragfile.dataset
from ragfile import _core
from ragfile.ingest.analysis import Analysis

ROOT = Path(__file__).parents[2]
TEXTS = [
    "The insurances are checked, and the Café is open for all of the guests.",
    "Die Versicherungen sind geprüft, und das Café ist für alle Gäste geöffnet.",
    "Les assurances sont vérifiées, et le café est ouvert pour tous les invités.",
    "Las canciones de la radio son para todos, pero el niño no está en la casa.",
    "Все страховки проверены, но мы не знаем, что это и где они были.",
    "Alla försäkringar är bra, men det är inte för alla som har en bil.",
    "所有保险都已检查，咖啡馆对所有人开放。",
    "東京都に住む人は docker run を使います。",
    "kubectl get pods -n kube-system",
    "Der Container startet nicht, wenn die Datei foo_bar.txt fehlt und kein Dienst läuft.",
]
QUESTIONS = [
    "Versicherung", "insurance", "cafe", "assurance", "wie die Versicherungen", "страховка", "保险", "険",
    "foo_bar.txt", "the café and the guests", "Container", "canción", "försäkring bil", "was ist die Datei",
]  # fmt: skip


def documents(texts=TEXTS):
    return [{"id": f"d{i:02}", "text": text} for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("languages") / "kb.ragfile"
    ragfile.build(documents(), path, embedder="none")
    return path


@pytest.fixture(scope="module")
def rf(path):
    with ragfile.open(path) as rf:
        yield rf


def ranking(rf, question, **options):
    return [(hit.id, hit.score) for hit in rf.search(question, mode="bm25", k=20, **options)]


def expected(question, texts=TEXTS):
    """The scores of L.2 and L.9, by a reading of every text."""
    numbers = [oracle.of_document(text) for text in texts]
    rows = [
        list(oracle.words_in(text, number)) for text, number in zip(texts, numbers, strict=True)
    ]
    lengths = [sum(1 for term, _, counts in row if counts and term) for row in rows]
    among = [0, *sorted(set(numbers) - {0})]
    sure = oracle.asked(question, among)
    each = {n: list(oracle.words_in(question, n)) for n in among}
    stops = [term is None for term, _, _ in each[sure]] if sure is not None else []
    counts, forms = {}, {}
    for words in each.values():
        own = {}
        for i, (term, share, _) in enumerate(words):
            if term and not (stops and stops[i]):
                own[term] = own.get(term, 0) + share
                forms.setdefault(term, {other[i][0] for other in each.values()} - {None})
        counts |= {term: max(counts.get(term, 0), count) for term, count in own.items()}
    df = {t: sum(any(w[0] == t for w in row) for row in rows) for t in counts}
    found = {}
    for i, row in enumerate(rows):
        k = 1.2 * (1 - 0.75) + 1.2 * 0.75 / (sum(lengths) / len(rows)) * lengths[i]
        score = 0.0
        for term, count in counts.items():
            tf = sum(1 for word, _, _ in row if word == term)
            all_df = sum(df.get(form, 0) for form in forms[term])
            idf = math.log(1 + (len(rows) - all_df + 0.5) / (all_df + 0.5))
            score += count * idf * (tf / (tf + k)) if tf else 0
        if score > 0:
            found[f"d{i:02}#0"] = score
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_scores_are_those_of_a_reading_of_every_text(rf, question):
    assert dict(ranking(rf, question)) == pytest.approx(expected(question), rel=1e-6)


@pytest.mark.parametrize(
    ("question", "found"),
    [("Versicherung", {"d01"}), ("cafe", {"d00", "d01", "d02"}), ("страховки", {"d04"}), ("försäkring", {"d05"})],
)  # fmt: skip
def test_another_form_of_a_word_is_found_in_its_language(rf, question, found):
    assert {hit.doc_id for hit in rf.search(question, mode="bm25")} == found


def test_the_stop_words_of_a_sure_question_count_in_no_language(rf):
    assert ranking(rf, "was ist die Datei") == ranking(rf, "Datei")


def test_the_history_of_a_file_changes_no_answer(tmp_path, path):
    other = tmp_path / "edited.ragfile"
    more = [{"id": "x", "text": "Alle verzekeringen zijn goed, maar het is niet wat wij hebben."}]
    ragfile.build([*documents()[::2], *more], other, embedder="none")
    with ragfile.edit(other) as w:
        w.add_documents(documents()[1::2])
        w.delete(["x"])
    with ragfile.open(path) as fresh, ragfile.open(other) as edited:
        for question in [*QUESTIONS, "wat hebben wij"]:
            assert ranking(edited, question) == ranking(fresh, question)
            assert ranking(edited, f"+{question}", query_syntax=True) == ranking(
                fresh, f"+{question}", query_syntax=True
            )


def test_a_dataset_answers_like_one_file(tmp_path, path):
    ragfile.dataset.convert(path, tmp_path / "set", shards=3)
    with ragfile.open(path) as rf, ragfile.open(tmp_path / "set") as several:
        for question in QUESTIONS:
            assert ranking(several, question) == ranking(rf, question)


def test_a_browser_answers_alike(path, rf, web_files):
    with Reader(path) as there:
        there("open")
        for question in QUESTIONS:
            rows, scores = rf.match(question, 20)
            found = np.ravel(rows) >= 0
            bits = np.ravel(scores)[found].view(np.uint32).tolist()
            expected = {"rows": np.ravel(rows)[found].tolist(), "bits": bits}
            assert there("match", question, {"k": 20}) == expected, question
            for row in range(len(TEXTS)):
                marked = [list(span) for span in rf.highlights(question, row)]
                assert there("highlights", question, row) == marked


@pytest.mark.parametrize("has_positions", [True, False])
def test_a_phrase_is_found_by_the_words_of_each_language(tmp_path, has_positions):
    path = tmp_path / "kb.ragfile"
    ragfile.build(documents(), path, embedder="none", analysis=Analysis(positions=has_positions))
    with ragfile.open(path) as rf:
        for phrase, found in [
            ("die versicherung", {"d01"}), ("das cafe", {"d01"}), ("le café", {"d02"}), ("open for", {"d00"}),
            ("cafe die", set()), ("insurance are", {"d00"}), ("人開放", set()),
        ]:  # fmt: skip
            hits = rf.search(f'"{phrase}"', mode="bm25", query_syntax=True)
            assert {hit.doc_id for hit in hits} == found, phrase


def test_words_of_any_language_are_highlighted(rf):
    text = TEXTS[1]
    (span,) = rf.highlights("Versicherung", 1)
    assert text[span[0] : span[1]] == "Versicherungen"


def test_a_beginning_and_a_misspelt_word_are_found_in_any_language(rf):
    for question in ["versich*", "versichr~"]:
        hits = rf.search(question, mode="bm25", query_syntax=True)
        assert [hit.doc_id for hit in hits] == ["d01"]


def test_a_file_without_languages_keeps_its_rules(tmp_path):
    old = Analysis(accents="keep", languages=False, clusters=False)
    ragfile.build(documents(), tmp_path / "old.ragfile", embedder="none", analysis=old)
    with ragfile.edit(tmp_path / "old.ragfile") as w:
        w.add_documents([{"id": "new", "text": TEXTS[1]}])
    with ragfile.open(tmp_path / "old.ragfile") as rf:
        assert rf.rows.analysis == old
        assert ranking(rf, "Versicherung") == []
        assert {hit for hit, _ in ranking(rf, "Versicherungen")} == {"d01#0", "new#0"}


def test_the_language_of_a_text_is_that_of_the_rule():
    rng = random.Random(1)
    common = sorted({word for listed in oracle.COMMON for word in listed})
    words = [*common, "東京", "kubectl", "x", "für"]
    for _ in range(400):
        some = rng.sample(words, rng.randint(1, 9))
        text = " ".join(rng.choices(some, k=rng.choice([1, 3, 20, 900])))
        assert _core.language_of(text) == oracle.of_document(text), text
        among = [0, *rng.sample(range(1, len(oracle.CODES)), 3)]
        assert _core.language_asked(text, among) == oracle.asked(text, among), text


@pytest.mark.parametrize(
    "raw", [b"", b"\xff\xfe", b"der die das \xc3", "е\u0301".encode() * 2000, b"a" * 5000]
)
def test_any_bytes_have_a_language(raw):
    assert _core.language_of(raw) in range(len(oracle.CODES))


def test_the_table_of_the_core_is_that_of_the_specification():
    table = [(code, stemmer) for code, stemmer, *_ in _core.languages()]
    assert table == [(one["code"], one["stemmer"]) for one in oracle.LANGUAGES]
    command = [sys.executable, ROOT / "tools/languages.py", "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_a_file_with_another_table_is_refused(rf):
    recorded = rf.rows.analysis.record("15.0.0")
    assert Analysis.recorded(recorded, 1.2, 0.75) == rf.rows.analysis
    with pytest.raises(ValueError, match="the file needs the table of languages '9'"):
        Analysis.recorded(recorded.replace("languages=1", "languages=9"), 1.2, 0.75)


@pytest.mark.parametrize(
    ("text", "alone"),
    [("安装 debian 系统。", ["安", "装", "系", "统"]), ("猫", []), ("ノート", ["ノ", "ー", "ト"])],
)
def test_single_characters_are_words_beside_pairs(text, alone):
    found = [word for word, is_whole in _core.words(text, clusters=True) if is_whole]
    assert found == alone


def test_a_lone_character_counts_alike_whatever_was_read_before(tmp_path):
    """Its term is that of the same character beside pairs, and only the lone one counts in the length."""
    texts = ["日 alone", "日本 together", "plain words"]
    found = []
    for order in (texts, texts[::-1]):
        path = tmp_path / f"{len(found)}.ragfile"
        named = [{"id": f"{i}", "text": text} for i, text in enumerate(order)]
        ragfile.build(named, path, embedder="none")
        with ragfile.open(path) as rf:
            found.append(
                [
                    {hit.text: hit.score for hit in rf.search(question, mode="bm25")}
                    for question in ("日", "日本", "alone", "plain")
                ]
            )
            assert rf.rows.segments[0].lexicon.total_length == 2 + 2 + 2
    assert found[0] == found[1]
    assert len(found[0][0]) == 2
