"""Does `ask` without a model show the fact in its first block? 150 questions, each with its fact.

    python bench/facts.py [--second] [--mixed] [--wrong]
    python bench/facts.py --folder DOCS --questions facts/kubernetes.tsv

The sources are this repository's docs/ and ragfile/, and the table, the German handbook and the
three pages of facts/, of which a PDF is made: a file each, or with `--mixed` one file of all.
facts/questions.tsv has a question a line: the source, the question, the fact, and for the table the item of the right row.
With `--second`, 40 others: over spec/parts and tools/, a second table and a second German handbook.
facts/kubernetes.tsv has 72 questions, each with its fact, about the documentation of Kubernetes.

A first block ends with its first citation. It holds the fact if its characters are there, ignoring
white space and markup. It is altered if the words of the block are not those of the cited
characters, in order. A row is wrong if the block has a row of the table that is not the item's."""

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import ragfile

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "bench" / "facts"
CODE = ("*.py", "answer/*.py", "search/*.py", "ingest/**/*.py", "doors/cli/*.py")
MARKUP = re.compile(r"[\s`*_|\[\]<>\\]+|\]\([^)]*\)")
WORD = re.compile(r"[^\W_]+")  # marks of emphasis are no letters
MARK = re.compile(r"\[\d+\]")


def pdf(pages: list[str]) -> bytes:
    """Return a PDF with one text a page."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for text in pages:
        lines = (re.sub(r"([()\\])", r"\\\1", line) for line in text.strip().split("\n"))
        drawn = f"BT /F1 10 Tf 14 TL 60 780 Td {' '.join(f'({line}) Tj T*' for line in lines)} ET"
        page = len(objects) + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {page + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"
    return _numbered(objects)


def _numbered(objects: list[str]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{at:010} 00000 n \n" for at in places)
    trailer = f"trailer\n<< /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def sources(folder: Path) -> None:
    """Write the sources of the questions into a folder."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("images", "api"))
    for pattern in CODE:
        for path in (ROOT / "ragfile").glob(pattern):
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    for name in ("stock.csv", "werkstatt.md"):
        shutil.copy(FACTS / name, folder / name)
    (folder / "handbook.pdf").write_bytes(pdf((FACTS / "handbook.txt").read_text().split("\\f\n")))


def second_sources(folder: Path) -> None:
    """Write the sources of the second set into a folder."""
    shutil.copytree(ROOT / "spec" / "parts", folder / "spec")
    shutil.copytree(
        ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("website", "windows")
    )
    for name in ("elements.csv", "bibliothek.md"):
        shutil.copy(FACTS / name, folder / name)


SETS = {
    "questions": (sources, ("docs", "ragfile", "stock.csv", "handbook.pdf", "werkstatt.md")),
    "second": (second_sources, ("spec", "tools", "elements.csv", "bibliothek.md")),
}


def plain(text: str) -> str:
    """Return a text without white space and marks, for comparison."""
    return MARKUP.sub("", text).lower()


def first_block(answer) -> str:
    mark = MARK.search(answer.text, answer.citations[0].at) if answer.citations else None
    return answer.text[: mark.start()] if mark else ""


def judge(rf, answer, fact: str, item: str = "") -> Counter:
    """Count what is right and wrong in the first block of an answer."""
    block = first_block(answer)
    cited = [c for c in answer.citations if c.at == answer.citations[0].at]
    texts = [rf.document(c.doc_id).text[c.start : c.end] for c in cited]
    found = Counter(asked=1, refused=not answer.supported)
    found["right"] = plain(fact) in plain(block) and (not item or item in block)
    found["whole"] = plain(fact) in plain(answer.text)
    found["wrong row"] = (
        bool(re.findall(r"item: K-\d+|element: \w+", block)) and bool(item) and item not in block
    )
    found["altered"] = not is_exact(block, texts)
    return found


def is_exact(block: str, texts: list[str]) -> bool:
    """Return whether the words of a block are the words of its source, in order."""
    words = iter(WORD.findall("\n".join(texts)))
    return all(word in words for word in WORD.findall(block))


def files(folder: Path, parts: tuple[str, ...], is_mixed: bool) -> dict[str, Path]:
    """Build a file for each kind of source, or one of all; return the file of each source's first part."""
    built = {part: folder / f"{'all' if is_mixed else part}.ragfile" for part in parts}
    for part, path in built.items():
        if not path.exists():
            ragfile.build(folder / "sources" / ("" if is_mixed else part), path)
    return built


def show(question: str, fact: str, found: Counter, answer) -> None:
    """Print a question without its fact, and its answer."""
    print(f"--- {question}  [{fact}] {dict(found)}\n{answer.text[:700]}", file=sys.stderr)
    print([source.source for source in answer.sources[:6]], file=sys.stderr)


def over(options) -> int:
    """Ask the questions of a file over a folder."""
    found = Counter()
    with tempfile.TemporaryDirectory() as folder:
        ragfile.build(options.folder, Path(folder, "kb.ragfile"))
        with ragfile.open(Path(folder, "kb.ragfile")) as rf:
            for line in Path(options.questions).read_text(encoding="utf-8").splitlines():
                question, fact = line.split("\t")
                answer = rf.ask(question)
                one = judge(rf, answer, fact)
                found.update(one)
                if options.wrong and (not one["right"] or one["altered"]):
                    show(question, fact, one, answer)
    print(dict(found))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mixed", action="store_true", help="one file of all sources")
    parser.add_argument(
        "--wrong", action="store_true", help="list the questions without their fact"
    )
    parser.add_argument("--second", action="store_true", help="the second set of questions")
    parser.add_argument("--folder", help="other documents")
    parser.add_argument("--questions", help="a question and its fact a line, for --folder")
    options = parser.parse_args()
    if options.folder:
        return over(options)
    by_kind: dict[str, Counter] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        name = "second" if options.second else "questions"
        write, parts = SETS[name]
        write(Path(folder, "sources"))
        paths = files(Path(folder), parts, options.mixed)
        opened = {part: stack.enter_context(ragfile.open(path)) for part, path in paths.items()}
        for line in (FACTS / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
            source, question, fact, *item = line.split("\t")
            part = source.split("/")[0]
            answer = opened[part].ask(question)
            found = judge(opened[part], answer, fact, *item)
            by_kind.setdefault(part, Counter()).update(found)
            if options.wrong and (not found["right"] or found["altered"]):
                show(question, fact, found, answer)
    by_kind["all"] = sum(by_kind.values(), Counter())
    columns = ("asked", "right", "whole", "refused", "wrong row", "altered")
    print("| |", " | ".join(columns), "|\n|---" + "|---" * len(columns) + "|")
    for kind, found in by_kind.items():
        print(f"| {kind} |", " | ".join(str(found[name]) for name in columns), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
