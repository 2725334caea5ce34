"""Judged questions, each with the targets that answer it, read from the formats in which people have them.

    [{"q": question, "t": "keys.md", "src": [...], "title": true}]          links between pages (JSON)
    [{"query": question, "relevant": ["a.py"], "secondary": [...]}]         annotations of source code (JSON)
    query-id <tab> corpus-id <tab> score                                    qrels of BEIR
    query-id 0 corpus-id score                                              qrels of TREC

Qrels need the texts of their queries: JSON lines with `_id` and `text`, or lines of an id, a tab and a text.
A target is a document's id, `keys.md#rotation` for a section, `report.pdf#page=3` for a page, or a file's
path. The sets that rules were chosen on and those that judge them have roles, `dev` and `held`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import xxhash

from ragfile.evaluation.measures import read_collection, read_qrels
from ragfile.evaluation.runs import is_run
from ragfile.ground.json_values import is_list, is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragfile.evaluation.measures import Qrels
    from ragfile.types import StrPath

Role: TypeAlias = Literal["", "dev", "held"]
Unit: TypeAlias = Literal["document", "page", "section", "file", "passage"]

REPOSITORIES = "repositories.json"  # of a folder of annotations


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with the gain of each target.

    Attributes:
        id: The question's id, unique in its set.
        text: The question.
        judged: Gains by target; a target answers the question from 1 on.
        left_out: Targets that do not count, such as the page that asks the question.
        groups: Names of the kinds of question that are measured separately, too.
        part: The folder below the collection that is searched; "" for all of it.
    """

    id: str
    text: str
    judged: Mapping[str, int]
    left_out: frozenset[str] = frozenset()
    groups: tuple[str, ...] = ()
    part: str = ""


@dataclass(slots=True)
class QuestionSet:
    """Judged questions of one source.

    Attributes:
        name: The file or split that they came from.
        role: "dev" if rules were chosen on them, "held" if they only judge, "" if that is not known.
        unit: The kind of targets.
        questions: The questions with at least one target that answers them.
    """

    name: str
    role: Role
    unit: Unit
    questions: list[JudgedQuestion] = field(default_factory=list[JudgedQuestion])

    @property
    def digest(self) -> str:
        """A hash of questions and judgements, which names the set in a report."""
        told = sorted((q.id, q.text, sorted(q.judged.items())) for q in self.questions)
        return xxhash.xxh3_64_hexdigest(json.dumps(told).encode())


def read_questions(
    source: StrPath, collection: StrPath, *, role: Role = "", queries: StrPath | None = None
) -> QuestionSet:
    """Read a set of questions.

    Args:
        source: A file in one of the formats above, a folder of annotations, or the name of a split of
            the collection (`qrels/NAME.tsv`).
        collection: The collection, which has the texts of the queries of its splits.
        role: The use of the questions.
        queries: The texts of the queries of qrels.
    """
    source = os.fspath(source)
    if os.path.isdir(source):
        return QuestionSet(_name(source), role, "passage", _repositories(source))
    if not os.path.exists(source):
        read = read_collection(collection, source)
        return _of_qrels(source, role, read.qrels, read.queries)
    with open(source, encoding="utf-8") as file:
        is_json = file.read(1 << 16).lstrip()[:1] in ("[", "{")
    if is_json:
        unit, questions = _of_json(source)
        return QuestionSet(_name(source), role, unit, questions)
    qrels = read_qrels(source)
    if queries is None and is_run(os.fspath(collection)):  # which has been searched
        return _of_qrels(_name(source), role, qrels, {query: query for query in qrels})
    if queries is None:
        beside = os.path.join(collection, "queries.jsonl")
        if not os.path.exists(beside):
            raise ValueError(
                f"{source}: these are qrels; queries= names the texts of their queries"
            )
        queries = beside
    return _of_qrels(_name(source), role, qrels, read_queries(queries))


def refuse_overlap(sets: Iterable[QuestionSet]) -> None:
    """Raise ValueError if a question is both in a set that rules were chosen on and in one that judges them."""
    dev, held = (
        {_plain(q.text): q.text for one in sets if one.role == role for q in one.questions}
        for role in ("dev", "held")
    )
    if both := sorted(dev.keys() & held.keys()):
        raise ValueError(
            f"held and dev share questions ({len(both)}), such as {dev[both[0]]!r:.80}: a question "
            "that was used to choose cannot judge"
        )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _name(path: str) -> str:
    return os.path.basename(os.path.normpath(path))


def read_queries(path: StrPath) -> dict[str, str]:
    """Read the texts of queries by id: JSON lines with `_id` and `text`, or an id, a tab and a text a line."""
    found: dict[str, str] = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                if line.lstrip().startswith("{"):
                    record = json.loads(line)
                    found[str(record["_id"])] = str(record["text"])
                else:
                    name, text = line.rstrip("\r\n").split("\t", 1)
                    found[name] = text
            except (ValueError, KeyError, TypeError):
                why = 'must be {"_id": …, "text": …}, or an id, a tab and a text'
                raise ValueError(f"{path}, line {number}: {why}") from None
    return found


def _of_qrels(name: str, role: Role, qrels: Qrels, texts: Mapping[str, str]) -> QuestionSet:
    missing = qrels.keys() - texts.keys()
    if missing:
        raise ValueError(f"{name}: judgements for unknown queries, such as {min(missing)}")
    kept = [
        JudgedQuestion(query, texts[query], judged)
        for query, judged in qrels.items()
        if any(gain > 0 for gain in judged.values())
    ]
    return QuestionSet(name, role, "document", kept)


def _parsed(place: str, text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{place}: not JSON: {error}") from error


def _lines(path: str, text: str) -> list[object]:
    """Return the values of JSON lines."""
    lines = enumerate(text.split("\n"), 1)
    return [_parsed(f"{path}, line {number}", line) for number, line in lines if line.strip()]


def _of_json(path: str, part: str = "") -> tuple[Unit, list[JudgedQuestion]]:
    """Read a list of links or of annotations, or one of them a line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    records = _parsed(path, text) if text.lstrip().startswith("[") else _lines(path, text)
    if not is_list(records) or not records:
        raise ValueError(f"{path}: must be a list of questions")
    read = _link if is_object(records[0]) and "q" in records[0] else _annotation
    questions: list[JudgedQuestion] = []
    for number, record in enumerate(records, 1):
        try:
            questions.append(read(number, cast("dict[str, Any]", record), part))
        except (TypeError, KeyError, AttributeError):
            raise ValueError(
                f'{path}: question {number} must have "q", "t" and, if any, a list "src"; or "query" '
                'and a list "relevant"'
            ) from None
    targets = {target for question in questions for target in question.judged}
    if read is _annotation:
        return "passage", questions
    anchors = {target.rpartition("#")[2] for target in targets if "#" in target}
    is_paged = anchors and all(anchor.startswith("page=") for anchor in anchors)
    return "page" if is_paged else "section" if anchors else "document", questions


def _link(number: int, record: dict[str, Any], part: str) -> JudgedQuestion:
    text, target, left_out = record["q"], record["t"], record.get("src", [])
    targets = target if is_list(target) else [target]
    if not all(isinstance(name, str) for name in [text, *targets, *left_out]):
        raise TypeError
    group = "titles" if record.get("title") else "links"
    judged = dict.fromkeys(targets, 1)
    return JudgedQuestion(str(number), text, judged, frozenset(left_out), (group,), part)


def _annotation(number: int, record: dict[str, Any], part: str) -> JudgedQuestion:
    text, wanted = record["query"], [*record["relevant"], *record.get("secondary", ())]
    paths = [one if isinstance(one, str) else one["path"] for one in wanted]
    if not isinstance(text, str) or not paths or not all(isinstance(p, str) for p in paths):
        raise TypeError
    groups = tuple(name for name in (part.partition("/")[0], record.get("category", "")) if name)
    name = f"{part}#{number}" if part else str(number)
    return JudgedQuestion(name, text, dict.fromkeys(paths, 1), frozenset(), groups, part)


def _repositories(folder: str) -> list[JudgedQuestion]:
    """Read the annotations of several repositories; each is searched alone."""
    try:
        with open(os.path.join(folder, REPOSITORIES), encoding="utf-8") as file:
            entries: Sequence[dict[str, str]] = json.load(file)
        places = [(e["name"], e.get("benchmark_root", "")) for e in entries]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{folder}: a folder of annotations needs {REPOSITORIES}: {error}"
        ) from None
    found: list[JudgedQuestion] = []
    for name, below in places:
        path = os.path.join(folder, "annotations", f"{name}.json")
        part = f"{name}/{below}".rstrip("/")
        found += [_below(question, f"{below}/") for question in _of_json(path, part)[1]]
    return found


def _below(question: JudgedQuestion, folder: str) -> JudgedQuestion:
    """Return a question with the paths that its targets have below a folder."""
    judged = {path.removeprefix(folder): gain for path, gain in question.judged.items()}
    return replace(question, judged=judged)
