"""Answers in a real browser: streamed, cited, stopped, broken off, followed up."""

import contextlib
import threading

import pytest
from servers.page_server import Model, PageServer

ROTATION = "To rotate the keys, run the rotation job 🔁 every 90 days."


@pytest.fixture
def answering(paths, visit):
    """A page that has asked a model a question, and the server."""
    servers = contextlib.ExitStack()

    def answering(model, question="how are keys rotated?"):
        page = visit(servers.enter_context(PageServer(paths, model=model)).url)
        page.locator("#question").fill(question)
        page.get_by_role("button", name="Ask", exact=True).click()
        return page

    with servers:
        yield answering


def test_an_answer_comes_as_a_stream_with_its_sources_first(answering):
    go_on = threading.Event()
    page = answering(Model("Run the rotation ", go_on, "job every 90 days [1]."))
    page.locator(".sources .passage").first.wait_for()
    page.locator(".answer", has_text="Run the rotation").wait_for()
    assert page.locator(".cite").count() == 0
    assert page.locator(".answer").get_attribute("aria-busy") == "true"
    go_on.set()
    page.locator(".footer").wait_for()
    said = page.locator(".answer").inner_text().replace("\u00a0", " ")
    assert said == "Run the rotation job every 90 days 1."
    assert page.locator(".answer").get_attribute("aria-busy") is None


def test_a_citation_opens_the_sentence_that_it_rests_on(answering):
    model = Model("🔁 Run the rotation job every 90 days [1].")
    page = answering(model)
    page.locator(".footer").wait_for()
    page.get_by_role("link", name="Source 1").click()
    assert page.locator("#reader mark.target").text_content() == ROTATION
    assert "doc=guide%2Fkeys.md" in page.url
    page.go_back()
    page.locator("#reader").wait_for(state="hidden")
    assert page.locator(".answer").is_visible()
    page.go_forward()
    page.locator("#reader mark.target").wait_for()
    assert len(model.asked) == 1  # going back and forth asks nobody again


def test_what_is_not_borne_out_is_marked_and_what_is_not_there_is_said(answering):
    page = answering(
        Model("Run the rotation job every 90 days [1]. The moon pays every customer [1]. Ask [77].")
    )
    page.locator(".footer").wait_for()
    assert "The moon pays every customer" in page.locator(".doubtful").first.inner_text()
    assert "Run the rotation" not in "".join(page.locator(".doubtful").all_inner_texts())
    page.get_by_text("cited [77], which does not exist").wait_for()
    assert "77" not in page.locator(".answer").inner_text()


def test_without_a_model_the_sentences_of_the_file_answer(answering):
    page = answering(None)
    page.locator(".footer").wait_for()
    page.get_by_text("This is an extract of the file").wait_for()
    page.locator(".answer .cite").first.click()
    page.locator("#reader mark.target").wait_for()


def test_a_model_that_is_down_is_said_and_the_file_answers(answering):
    page = answering(Model(OSError("connection refused")))
    page.locator(".remark.alert", has_text="connection refused").wait_for()
    assert page.locator(".answer .cite").count() > 0


def test_an_answer_that_breaks_off_keeps_what_came(answering):
    page = answering(Model("Run the rotation job [1]. And", OSError("the line is dead")))
    page.locator(".remark.alert", has_text="broke off").wait_for()
    assert "Run the rotation job" in page.locator(".answer").inner_text()


def test_an_answer_can_be_stopped(answering):
    hang = threading.Event()
    page = answering(Model("Run the rotation ", hang, "job."))
    page.locator(".answer", has_text="Run the rotation").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".remark", has_text="Stopped").wait_for()
    assert "Run the rotation" in page.locator(".answer").inner_text()
    hang.set()


def test_a_server_that_goes_away_is_said(paths, visit):
    with PageServer(paths, model=Model("Run the rotation ", "job every ", "90 days.")) as server:
        server.cut_after = 2
        page = visit(f"{server.url}?q=rotate+keys&ask=1")
        page.locator(".remark.alert", has_text="broke off").wait_for()
        assert "Run the rotation" in page.locator(".answer").inner_text()
        server.cut_after = -1
        page.get_by_role("button", name="Ask again").click()
        page.locator(".footer").wait_for()


def test_a_follow_up_is_asked_with_the_conversation(answering):
    model = Model("Every 90 days [1].")
    page = answering(model)
    page.get_by_label("Follow-up question").fill("and who does it?")
    page.get_by_label("Follow-up question").press("Enter")
    page.locator(".turn").nth(1).locator(".footer").wait_for()
    roles = [message["role"] for message in model.asked[1]]
    assert roles == ["system", "user", "assistant", "user"]
    assert model.asked[1][2]["content"] == "Every 90 days [1]."
    assert page.locator(".turn h2").all_inner_texts() == [
        "how are keys rotated?",
        "and who does it?",
    ]


def test_typing_goes_back_to_passages(answering):
    page = answering(Model("Every 90 days [1]."))
    page.locator(".footer").wait_for()
    page.locator("#question").fill("pods")
    page.locator("#passages .passage").first.wait_for()
    assert page.locator(".turn").count() == 0


def test_an_address_can_ask(paths, visit):
    with PageServer(paths, model=Model("Every 90 days [1].")) as server:
        page = visit(f"{server.url}?q=rotate+keys&ask=1")
        page.locator(".footer").wait_for()


MARKUP = """# Heading

A *word* and **two [1] words** and `code [1]` and <img src=x onerror="window.hacked=1">.

- one
  - deeper [1]
- two

3. three
4. four

> quoted

| a | b |
|---|---|
| c [1] | d |

```py
print("[1]")  <script>window.hacked=1</script>
```

![x](http://127.0.0.1:9/leak.png) [go](javascript:window.hacked=1) [x](http://127.0.0.1:9/)
"""


def test_markdown_of_an_answer_is_shown_and_leads_nowhere(answering):
    page = answering(Model(*(MARKUP[i : i + 7] for i in range(0, len(MARKUP), 7))))
    page.locator(".footer").wait_for()
    answer = page.locator(".answer")
    for selector, text in {
        ".heading": "Heading", "em": "word", "strong": "two 1 words", "p code": "code [1]",
        "ul > li > ul > li": "deeper 1", "ol[start='3'] > li": "three", "blockquote": "quoted",
        "table th": "a", "table td": "c 1", "pre": 'print("[1]")',
    }.items():  # fmt: skip
        assert text in " ".join(answer.locator(selector).first.inner_text().split())
    assert answer.locator("img, script, a:not(.cite)").count() == 0
    shown = answer.inner_text()
    for literal in (
        "![x](http://127.0.0.1:9/leak.png)",
        "[go](javascript:window.hacked=1)",
        "<img src=x",
    ):
        assert literal in shown
    assert answer.locator(".cite").count() == 3


@pytest.mark.parametrize("text", [
    "", "   ", "```", "```\nunclosed", "| a |", "|", "- ", "1. ", "> ", "# ", "**", "[1]", "[1][1] [1]", "*a **b* c**",
    "\n\n\n", "|a|b\n|-|", "  - x\n- y", "```a\n```b\n```", "🔁🔁 [1] 🔁 [1]", "[1",
])  # fmt: skip
def test_no_answer_breaks_the_page(answering, text):
    page = answering(Model(text + " "))
    page.locator(".footer").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(answering, axe, scheme, width):
    page = answering(Model(MARKUP, "The moon pays every customer twice [1]. [9]"))
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 860})
    page.locator(".footer").wait_for()
    page.evaluate(axe)
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
