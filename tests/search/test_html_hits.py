"""Hits and answers in notebooks: places that open, marked excerpts, and nothing from a file that a browser would obey."""

import pickle
from html.parser import HTMLParser

import pytest

import ragfile

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)"> \'"><svg onload=alert(3)>'
ALLOWED = {"ol", "li", "p", "br", "b", "small", "mark", "code", "pre", "a", "div", "sup"}


class Read(HTMLParser):
    """The tags, attributes and text of some HTML; every tag that opens must close."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), [], "", []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_hit_has_a_place_that_opens_its_words_marked_and_code_with_its_lines(folder):
    (folder / "keys.md").write_text("# Keys\n\nRotate **the** keys:\n\n```sh\nrotate  --all\n```\n")
    ragfile.build(["keys.md"], "kb.ragfile")
    with ragfile.open("kb.ragfile") as rf:
        html = rf.search("rotate keys")._repr_html_()
    assert '<a href="./keys.md#L3-L7"><code>keys.md:3-7</code></a>' in html
    assert "<mark>Rotate</mark> the <mark>keys</mark>:" in html
    assert "<pre>    6  <mark>rotate</mark>  --all</pre>" in html
    assert Read(html).tags <= ALLOWED


@pytest.mark.parametrize("source", ["javascript:alert(1)", "data:text/html,x", HOSTILE])
def test_hostile_texts_cannot_inject_anything(folder, source):
    document = {
        "id": f"x{HOSTILE}", "source": source, "text": f"# Keys {HOSTILE}\n\nRotate keys {HOSTILE}\n",
        "metadata": {"headers": HOSTILE},
    }  # fmt: skip
    ragfile.build([document], "kb.ragfile")
    with ragfile.open("kb.ragfile") as rf:
        hits = rf.search(f"rotate keys {HOSTILE}")
        shown = [hits._repr_html_(), hits[0]._repr_html_()]
        answer = rf.ask("how are keys rotated?")
    answer.degraded = HOSTILE
    for html in [*shown, answer._repr_html_()]:
        read = Read(html)
        assert read.tags <= ALLOWED
        assert {name for name, _ in read.attributes} <= {"class", "href", "title", "value"}
        assert not any(name == "href" for name, _ in read.attributes)


def test_an_answer_shows_its_text_and_the_sources_that_it_cites(folder):
    (folder / "keys.md").write_text("# Keys\n\nKeys are rotated every 90 days.\n")
    ragfile.build(["keys.md"], "kb.ragfile")
    with ragfile.open("kb.ragfile") as rf:
        html = rf.ask("how often are keys rotated?")._repr_html_()
    assert "Keys are rotated every 90 days." in Read(html).text
    assert '<li value="1"><a href="./keys.md"><code>keys.md</code></a> Keys</li>' in html


def test_reprs_are_short_and_hits_without_a_file_have_no_html(folder):
    text = "Keys are rotated.\n\n" + "A long line about keys and doors. " * 40
    documents = [{"id": f"d{i}", "text": text} for i in range(5)]
    ragfile.build(documents, "kb.ragfile")
    with ragfile.open("kb.ragfile") as rf:
        hits = rf.search("keys", 5)
        shown = repr(hits)
        loaded = pickle.loads(pickle.dumps(hits))
    assert shown.count("\n") == 6
    assert max(map(len, shown.split("\n"))) < 120
    assert repr(hits[0]) in shown
    assert loaded._repr_html_() is None
    assert loaded[0]._repr_html_() is None
    assert repr(ragfile.records.Hits()) == "Hits([])"
