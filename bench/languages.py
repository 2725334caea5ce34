"""Does a search find sections by their titles, in languages other than English?

    python bench/languages.py [--own] NAME.LANG=FOLDER…

A folder has the pages of one manual in one language, as HTML or Mallard (`.page`). A page is cut at its
headings; each section with a title of its own is a document without the title, and the title is the question.
With --own, files are built with the rules of their language.
Each line has the mean reciprocal rank at 10 by words, by vectors and by both, and the difference between both
together and the better one alone, with the interval of 95 % of 2,000 resamples of the questions.
"""

import argparse
import hashlib
import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import ragfile

PLACES, MOST = 10, 1200
MODES = ("bm25", "vector", "hybrid")
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(
    r"^(?:[^\W\d]{2,10}\s+)?[A-Z0-9]+(?:\.[0-9]+)*\.?\s+(?=\S)|[¶\uf0c1]|^第\s*\S+\s*[章节節部]\s*"
)
_PART = re.compile(
    r"^(?:chapter|kapitel|chapitre|capítulo|capitolo|appendix|annexe|anhang|제?\s*\d+\s*장|глава)\b.{0,8}?\.\s*",
    re.I,
)
_SCRIPTS = {
    "zh": "\u3400-\u9fff",
    "ja": "\u3040-\u30ff\u3400-\u9fff",
    "ko": "\uac00-\ud7a3",
    "ru": "\u0400-\u04ff",
}
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]")


class _Sections(HTMLParser):
    def __init__(self):
        super().__init__()
        self.sections, self.title, self.hidden = [["", ""]], False, 0

    def handle_starttag(self, tag, attrs):
        if re.fullmatch("h[1-6]", tag):
            self.sections.append(["", ""])
            self.title = True
        elif tag in ("script", "style", "nav", "footer", "title", "head"):
            self.hidden += tag != "title"
        elif tag in ("p", "li", "td", "tr", "div", "dd", "dt", "br", "pre"):
            self.handle_data("\n")

    def handle_endtag(self, tag):
        if re.fullmatch("h[1-6]", tag):
            self.title = False
        elif tag in ("script", "style", "nav", "footer", "head"):
            self.hidden = max(0, self.hidden - 1)

    def handle_data(self, data):
        if not self.hidden:
            self.sections[-1][0 if self.title else 1] += data


def _of_page(path):
    root = ElementTree.parse(path).getroot()
    for part in root.iter():
        name = part.tag.rpartition("}")[2]
        if name not in ("page", "section"):
            continue
        title = next((one for one in part if one.tag.endswith("}title")), None)
        rest = [
            one for one in part if one.tag.rpartition("}")[2] not in ("title", "info", "section")
        ]
        if title is not None:
            yield "".join(title.itertext()), "\n".join(" ".join(one.itertext()) for one in rest)


def _of_html(path):
    parser = _Sections()
    parser.feed(path.read_text("utf-8", "replace"))
    return parser.sections[1:]


def sections(folder, language):
    """Return (title, text) of the sections of a folder, those whose title is in its language and no other's."""
    script = re.compile("[" + _SCRIPTS.get(language, r"^\W") + "]")
    found = []
    for path in sorted(folder.iterdir()):
        for title, text in _of_page(path) if path.suffix == ".page" else _of_html(path):
            title = _NUMBER.sub("", _PART.sub("", _SPACE.sub(" ", title).strip())).strip()
            text = re.sub(r"[ \t\xa0]+", " ", re.sub(r"\s*\n\s*", "\n", text)).strip()
            dense = len(_DENSE.findall(title)) > len(title) / 3
            title = title.rstrip("¶\uf0c1 ")
            is_long = len(text) >= (80 if _DENSE.search(text) else 200)
            if (
                is_long
                and script.search(title)
                and (len(title) >= 4 if dense else len(title.split()) >= 2)
            ):
                found.append((title, text.removeprefix(title).strip()))
    titles = [title for title, _ in found]
    alone = [one for one in dict.fromkeys(found) if titles.count(one[0]) == 1]
    return sorted(alone, key=lambda one: hashlib.sha256(one[0].encode()).digest())[:MOST]


def ranks(rf, questions, mode, **options):
    """Return the reciprocal rank of each question's document, 0 after the first ten."""
    out = []
    for i, hits in enumerate(rf.search_batch(questions, k=50, mode=mode, threads=1, **options)):
        ranked = list(dict.fromkeys(hit.doc_id for hit in hits))[:PLACES]
        out.append(1 / (1 + ranked.index(f"{i:05}")) if f"{i:05}" in ranked else 0.0)
    return np.array(out)


def interval(gain):
    """Return the mean of paired differences and its interval, as text."""
    drawn = np.random.default_rng(0).integers(0, len(gain), (2000, len(gain)))
    low, high = np.percentile(gain[drawn].mean(axis=1), [2.5, 97.5])
    return f"{gain.mean():+.4f} [{low:+.4f} {high:+.4f}]"


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("sets", nargs="+", metavar="NAME.LANG=FOLDER")
    asked.add_argument("--own", action="store_true")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as kept:
        for one in given.sets:
            name, _, folder = one.partition("=")
            language = name.rpartition(".")[2]
            some = sections(Path(folder), language)
            own = {"analysis": ragfile.Analysis.for_language(language)} if given.own else {}
            path = Path(kept) / "kb.ragfile"
            documents = [{"id": f"{i:05}", "text": text} for i, (_, text) in enumerate(some)]
            ragfile.build(documents, path, **own)
            with ragfile.open(path) as rf:
                found = {mode: ranks(rf, [title for title, _ in some], mode) for mode in MODES}
            best = max(MODES[:2], key=lambda mode: found[mode].mean())
            numbers = "  ".join(f"{mode} {found[mode].mean():.4f}" for mode in MODES)
            print(
                f"{name:24} {len(some):5}  {numbers}  hybrid - {best} {interval(found['hybrid'] - found[best])}",
                flush=True,
            )


if __name__ == "__main__":
    main()
