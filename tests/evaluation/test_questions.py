"""Judged questions in other people's formats, and rankings of what their targets name."""

import json

import pytest

import ragfile
from ragfile.evaluation.questions import (
    JudgedQuestion,
    QuestionSet,
    read_queries,
    read_questions,
    refuse_overlap,
)
from ragfile.evaluation.rankings import is_among, ranking, resolved, slug
from ragfile.records import Hit


def hit(doc_id, number=0, headers="", source="", text="", **metadata):
    extra = {"headers": headers} if headers else {}
    return Hit(
        id=f"{doc_id}#{number}", doc_id=doc_id, chunk_index=number, text=text,
        score=9.0 - number, score_type="bm25",
        source=source or doc_id, metadata={**metadata, **extra},
    )  # fmt: skip


def asked(judged, left_out=()):
    return JudgedQuestion("1", "a question", judged, frozenset(left_out))


def names(hits, question, unit):
    return [name for name, _ in ranking(hits, question, unit)]


def test_a_document_has_the_place_of_its_best_passage_and_what_is_left_out_takes_none():
    hits = [hit("x"), hit("b"), hit("b", 1), hit("a"), hit("b", 2)]
    assert names(hits, asked({"a": 1}, {"x"}), "document") == ["b", "a"]


def test_a_passage_counts_for_its_section_and_for_the_sections_around_it():
    hits = [
        hit("keys.md", 0, "Keys > Rotation > Every night"),
        hit("keys.md", 1, "Keys > Storage"),
        hit("keys.md", 2, "Keys > Rotation"),
    ]
    outer, inner = asked({"keys.md#rotation": 1}), asked({"keys.md#storage": 1})
    assert names(hits, outer, "section") == ["keys.md#rotation", "keys.md#storage"]
    assert names(hits, inner, "section")[1] == "keys.md#storage"
    assert names(hits, asked({"keys.md": 1}), "section") == ["keys.md"]
    whole = [hit("keys.md", 0, "Keys", text="## Storage\n\nA box.\n\n## Rotation ##\n\nNightly.")]
    assert names(whole, outer, "section") == ["keys.md#rotation"]


def test_a_page_is_that_of_the_passage():
    hits = [hit("a.pdf", 0, page=3), hit("a.pdf", 1, page=3), hit("a.pdf", 2, page=5)]
    assert names(hits, asked({"a.pdf#page=5": 1}), "page") == ["a.pdf#page=3", "a.pdf#page=5"]


def test_passages_take_places_and_a_file_counts_once():
    hits = [hit("b.py"), hit("b.py", 1), hit("a.py"), hit("a.py", 1)]
    assert names(hits, asked({"a.py": 1}), "passage") == ["b.py#0", "b.py#1", "a.py", "a.py#1"]
    assert names(hits, asked({"a.py": 1}), "file") == ["b.py", "a.py"]


def test_a_target_is_the_file_that_shares_most_of_its_path():
    sources = ["__init__.py", "json/__init__.py", "app.py"]
    found = resolved(asked({"src/flask/json/__init__.py": 1, "app.py": 2}), sources)
    assert found.judged == {"json/__init__.py": 1, "app.py": 2}
    assert resolved(asked({"app.py": 1, "nowhere.py": 1}), sources) is None
    assert resolved(asked({"my_app.py": 1}), sources) is None


def test_the_first_passages_are_those_that_count():
    hits = [hit("x"), *[hit("b", number) for number in range(4)], hit("a")]
    assert is_among(hits, asked({"a": 1}, {"x"}), "document", 5)
    assert not is_among(hits, asked({"a": 1}), "document", 5)
    assert not is_among(hits, asked({"a": 0}, {"x"}), "document", 5)


@pytest.mark.parametrize(
    ("header", "anchor"),
    [
        ("Rotate the keys!", "rotate-the-keys"),
        ("`kubectl` & co", "kubectl--co"),
        ("Übung", "übung"),
    ],
)
def test_a_heading_has_the_anchor_that_github_gives_it(header, anchor):
    assert slug(header) == anchor


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_links_are_about_documents_or_sections_or_pages(tmp_path):
    links = [
        {"q": "a", "t": "x.md", "src": ["y.md"], "title": True},
        {"q": "b", "t": ["z.md", "w"]},
    ]
    found = read_questions(write(tmp_path / "links.json", links), tmp_path, role="held")
    assert (found.name, found.role, found.unit) == ("links.json", "held", "document")
    first, second = found.questions
    assert (first.judged, first.left_out, first.groups) == ({"x.md": 1}, {"y.md"}, ("titles",))
    assert (second.judged, second.groups) == ({"z.md": 1, "w": 1}, ("links",))
    for target, unit in (("x.md#keys", "section"), ("x.pdf#page=4", "page")):
        write(tmp_path / "links.json", [{"q": "a", "t": target}])
        assert read_questions(tmp_path / "links.json", tmp_path).unit == unit


def test_annotations_of_repositories_are_about_the_files_below_their_folder(tmp_path):
    (tmp_path / "annotations").mkdir()
    write(tmp_path / "repositories.json", [{"name": "web", "benchmark_root": "src/web"}])
    place = {"path": "src/web/app.py", "start_line": 3, "end_line": 9}
    records = [{"query": "App", "relevant": [place], "secondary": ["src/web/run.py"], "category": "symbol"}]  # fmt: skip
    write(tmp_path / "annotations" / "web.json", records)
    (question,) = read_questions(tmp_path, "anywhere").questions
    assert question.judged == {"app.py": 1, "run.py": 1}
    assert (question.part, question.groups) == ("web/src/web", ("web", "symbol"))
    with pytest.raises(ValueError, match=r"needs repositories\.json"):
        read_questions(tmp_path / "annotations", "anywhere")


@pytest.mark.parametrize("texts", ['{"_id": "1", "text": "rotate keys"}\n', "1\trotate keys\n"])
@pytest.mark.parametrize("qrels", ["1 0 a.md 2\n1 0 b.md 0\n", "q\td\ts\n1\ta.md\t2\n1\tb.md\t0\n"])
def test_qrels_have_the_texts_of_their_queries_beside_them(tmp_path, texts, qrels):
    path, queries = write(tmp_path / "q.txt", qrels), write(tmp_path / "texts", texts)
    found = read_questions(path, tmp_path, queries=queries)
    assert found.questions == [JudgedQuestion("1", "rotate keys", {"a.md": 2, "b.md": 0})]
    with pytest.raises(ValueError, match="queries= names the texts"):
        read_questions(path, tmp_path)
    write(queries, "")
    with pytest.raises(ValueError, match="unknown queries, such as 1"):
        read_questions(path, tmp_path, queries=queries)


@pytest.mark.parametrize("line", ['{"_id": "1"}', "no tab", "{", "[1]"])
def test_a_line_without_a_query_is_named(tmp_path, line):
    with pytest.raises(ValueError, match="line 2"):
        read_queries(write(tmp_path / "q", f"1\tkeys\n{line}\n"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 1: not JSON"),
        ("[", "not JSON"),
        ("[]", "list of questions"),
        ('{"q": 1}', "question 1"),
        ('{"q": "a", "t": "b"}\n\n{"q": }', "line 3: not JSON"),
        ('[{"q": "a", "t": "b"}, 7]', "question 2"),
        ('[{"q": "a"}]', "question 1"),
        ('[{"q": "a", "t": "b", "src": 7}]', "question 1"),
        ('[{"query": "a", "relevant": []}]', "question 1"),
        ('[{"query": "a", "relevant": [{"line": 1}]}]', "question 1"),
    ],
)
def test_what_is_no_list_of_questions_is_refused_by_its_place(tmp_path, text, why):
    with pytest.raises(ValueError, match=why):
        read_questions(write(tmp_path / "questions.json", text), tmp_path)


def test_questions_can_be_json_lines(tmp_path):
    records = [
        {"q": "rotate the keys", "t": "keys.md"},
        {"q": "drain a node", "t": ["a.md", "b.md"]},
    ]
    whole = write(tmp_path / "questions.json", json.dumps(records))
    lines = write(tmp_path / "questions.jsonl", "\n".join(map(json.dumps, records)) + "\n")
    of_lines = read_questions(lines, tmp_path)
    assert of_lines.questions == read_questions(whole, tmp_path).questions
    assert [sorted(q.judged) for q in of_lines.questions] == [["keys.md"], ["a.md", "b.md"]]


def test_a_question_that_chose_cannot_judge():
    one = JudgedQuestion("1", "Rotate  the keys", {"a": 1})
    same = JudgedQuestion("9", "rotate the KEYS", {"b": 1})
    other = JudgedQuestion("1", "drain a node", {"a": 1})
    dev = QuestionSet("dev", "dev", "document", [one, other])
    refuse_overlap([dev, QuestionSet("any", "", "document", [same])])
    with pytest.raises(ValueError, match=r"held and dev share questions \(1\), such as 'Rotate"):
        refuse_overlap([dev, QuestionSet("held", "held", "document", [same])])


def test_the_digest_names_questions_and_judgements_in_any_order():
    one, two = asked({"a": 1, "b": 2}), JudgedQuestion("2", "other", {"a": 1})
    digest = QuestionSet("x", "", "document", [one, two]).digest
    assert digest == QuestionSet("y", "dev", "page", [two, asked({"b": 2, "a": 1})]).digest
    assert digest != QuestionSet("x", "", "document", [asked({"a": 2, "b": 2}), two]).digest


PAGES = {
    "drain.md": "# Safely drain a node\n\nMove pods away before maintenance.\n",
    "cordon.md": "# Cordon\n\nSee how to [drain a node](drain.md) and drain a node well.\n",
    "budget.md": "# Budgets\n\nHow many pods may go at once.\n",
}
LINKS = [
    {"q": "drain a node", "t": "drain.md", "src": ["cordon.md"], "title": False},
    {"q": "nothing of the kind", "t": "budget.md", "src": [], "title": False},
    {"q": "budgets", "t": "budget.md", "title": True},
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        write(tmp_path / "docs" / name, text)
    write(tmp_path / "links.json", LINKS)
    return tmp_path


def test_the_numbers_of_a_folder_follow_from_the_ranks(folder):
    report = ragfile.judge(folder / "docs", held=folder / "links.json", embedder="none")
    assert (report["documents"], list(report["modes"])) == (3, ["bm25"])
    (found,) = report["sets"]
    assert (found["role"], found["name"], found["queries"]) == ("held", "links.json", 3)
    thirds = pytest.approx(2 / 3)
    assert found["modes"]["bm25"] == dict.fromkeys(found["modes"]["bm25"], thirds)
    assert found["groups"]["links"]["modes"]["bm25"]["mrr@10"] == 0.5
    assert found["groups"]["titles"]["modes"]["bm25"]["mrr@10"] == 1.0


def test_a_built_file_gives_the_numbers_of_its_folder(folder):
    given = {"questions": folder / "links.json", "keep": folder / "kb.ragfile"}
    first = ragfile.judge(folder / "docs", **given)
    again = ragfile.judge(folder / "kb.ragfile", questions=folder / "links.json")
    assert again["sets"] == first["sets"]


def test_questions_whose_targets_are_not_there_are_counted_or_an_error(folder):
    write(folder / "links.json", [*LINKS, {"q": "a", "t": "nowhere.md"}])
    (found,) = ragfile.judge(folder / "docs", questions=folder / "links.json")["sets"]
    assert (found["queries"], found["left_out"]) == (3, 1)
    write(folder / "links.json", [{"q": "a", "t": "nowhere.md"}])
    with pytest.raises(ValueError, match=r"no target is in it, such as nowhere\.md"):
        ragfile.judge(folder / "docs", questions=folder / "links.json")


def test_sections_of_a_folder_are_ranked(folder):
    text = "# Keys\n\nAbout.\n\n## Rotation\n\nTurn them nightly.\n\n## Storage\n\nIn a safe box.\n"
    write(folder / "docs" / "keys.md", text)
    write(folder / "links.json", [{"q": "a safe box", "t": "keys.md#storage"}])
    (found,) = ragfile.judge(folder / "docs", questions=folder / "links.json")["sets"]
    assert found["unit"] == "section"
    assert found["modes"]["hybrid"]["first"] == 1.0


def test_repositories_are_searched_alone_and_measured_together(tmp_path):
    for name, text in (("one", "def drain(node): pass"), ("two", "def rotate(keys): pass")):
        (tmp_path / "code" / name / "src").mkdir(parents=True)
        write(tmp_path / "code" / name / "src" / f"{name}.py", text)
        (tmp_path / "asked" / "annotations").mkdir(parents=True, exist_ok=True)
        records = [{"query": "rotate", "relevant": [f"src/{name}.py"], "category": "symbol"}]
        write(tmp_path / "asked" / "annotations" / f"{name}.json", records)
    entries = [{"name": name, "benchmark_root": "src"} for name in ("one", "two")]
    write(tmp_path / "asked" / "repositories.json", entries)
    report = ragfile.judge(tmp_path / "code", dev=tmp_path / "asked")
    (found,) = report["sets"]
    assert (report["documents"], found["unit"], found["queries"]) == (2, "passage", 2)
    first = {name: group["modes"]["bm25"]["first"] for name, group in found["groups"].items()}
    assert first == {"one": 0.0, "two": 1.0, "symbol": 0.5}
