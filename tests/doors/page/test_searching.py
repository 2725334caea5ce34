"""The page's search half in a real browser: passages while typing, filters, keys, addresses."""

from urllib.parse import urlencode

import pytest
from servers.page_server import PageServer, file_of

import ragfile


def ask(page, question):
    page.locator("#question").fill(question)
    page.locator(".passage").first.wait_for()


def titles(page):
    return page.locator(".passage .title").all_inner_texts()


def test_passages_come_while_a_question_is_typed(server, visit):
    page = visit(server.url)
    page.locator("#question").press_sequentially("rotate")
    page.locator(".passage mark.term", has_text="rotate").first.wait_for()
    page.locator("#question").press_sequentially(" the keys")
    page.locator(".passage mark.term", has_text="keys").first.wait_for()
    asked = [body["query"] for path, body in server.asked if path.endswith("/search")]
    assert "rotate the keys".startswith(asked[0])
    assert len(set(asked)) > 1
    first = page.locator(".passage").first
    assert "Rotation" in first.locator(".place").inner_text()
    assert {mark.lower() for mark in first.locator("mark.term").all_inner_texts()} >= {
        "rotate",
        "keys",
    }


def test_scores_are_those_of_the_search_and_never_a_share(server, visit, paths):
    page = visit(server.url)
    ask(page, "rotate the keys")
    hit = server.files["handbook"].search("rotate the keys", 12)[0]
    said = page.locator(".passage").first.locator(".scores").inner_text()
    assert f"BM25 {hit.scores['bm25']:.3f}" in said
    assert f"vector {hit.scores['vector']:.3f}" in said
    assert f"fused {hit.score:.3f}" in said
    assert "%" not in page.locator("main").inner_text()


def test_a_passage_opens_at_its_exact_characters(server, visit):
    """Before it are characters outside the basic plane, which JavaScript counts twice."""
    page = visit(server.url)
    ask(page, "rotation job every 90 days")
    hit = server.files["handbook"].search("rotation job every 90 days", 12)[0]
    assert hit.start > 0
    page.locator(".passage .title").first.click()
    assert page.locator("#reader mark.target").text_content() == hit.text
    whole = server.files["handbook"].document(hit.doc_id).text
    assert page.locator("#reader .text").text_content() == whole


def test_every_text_is_shown_character_for_character(server, visit):
    for id, rf in [
        (id, server.files["handbook"]) for id in server.files["handbook"].document_ids()
    ]:
        text = rf.document(id).text
        middle = len(text) // 2
        page = visit(server.url)
        page.goto(address(server, doc=id, span=f"{middle - 9}-{middle + 9}"))
        assert page.locator("#reader mark.target").text_content() == text[middle - 9 : middle + 9]
        assert page.locator("#reader .text").text_content() == text


def address(server, **query):
    return f"{server.url}?{urlencode(query)}"


def test_a_link_leads_back_to_the_same_characters_and_says_when_they_changed(server, visit):
    page = visit(server.url, permissions=["clipboard-read", "clipboard-write"])
    ask(page, "rotation job")
    page.locator(".passage .title").first.click()
    page.locator("#reader").get_by_role("button", name="Copy link").click()
    page.locator("#reader button[data-done]").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    marked = page.locator("mark.target").text_content()

    again = visit(link)
    assert again.locator("mark.target").text_content() == marked
    assert again.locator(".warning").count() == 0
    changed = visit(link.replace("sum=0123456789abcdef", "sum=ffffffffffffffff"))
    changed.locator("#reader .warning", has_text="has changed").wait_for()
    gone = visit(address(server, doc="plain.txt", span="900-950", sum="0123456789abcdef"))
    gone.locator("#reader .warning", has_text="has changed").wait_for()
    assert gone.locator("mark.target").count() == 0


def test_a_document_that_is_not_there_is_said(server, visit):
    page = visit(address(server, doc="no/such.md", span="0-9"))
    page.locator("#reader .problem", has_text="there is no such document").wait_for()


@pytest.mark.parametrize("length", [0, 1, 60_000])
def test_documents_of_all_sizes(tmp_path, visit, length):
    text = "".join(f"Line {i} of it.\n" for i in range(length // 10)) or "x" * length
    file_of([{"id": "long.txt", "text": text}, {"id": "b", "text": "b"}], tmp_path / "kb.ragfile")
    with PageServer({"kb": tmp_path / "kb.ragfile"}) as server:
        page = visit(address(server, doc="long.txt"))
        page.locator("#reader .text").wait_for(state="attached")
        for left in ("60,890", "20,890") if length > 1 else ():
            page.get_by_role("button", name=f"Show the text after ({left} characters)").click()
        page.locator("#reader .more").wait_for(state="detached")
        assert (
            page.locator("#reader .text").text_content()
            == server.files["kb"].document("long.txt").text
        )


def test_filters_are_the_collections_own(server, visit):
    page = visit(server.url)
    ask(page, "herons keys pods")
    menus = page.locator("#filters summary").all_inner_texts()
    assert menus == ["Tags", "lang", "year"]  # a checksum is not something to choose from
    page.locator("#filters summary", has_text="lang").click()
    page.locator("#filters").get_by_role("checkbox", name="de 1").check()
    page.locator(".passage .title", has_text="plain.txt").wait_for()
    page.locator(".passage .title", has_text="Pods").wait_for(state="detached")
    assert server.asked[-1][1]["where"] == {"lang": {"$in": ["de"]}}
    assert "f.lang=de" in page.url
    page.reload()
    page.locator(".passage .title", has_text="plain.txt").wait_for()
    assert server.asked[-1][1]["where"] == {"lang": {"$in": ["de"]}}
    page.get_by_role("button", name="Clear").click()
    page.locator(".passage .title", has_text="Pods").wait_for()
    page.locator("#filters summary", has_text="year").click()
    page.get_by_label("From").fill("2022")
    page.get_by_label("From").press("Enter")
    page.locator(".passage .title", has_text="Pods").wait_for(state="detached")
    assert server.asked[-1][1]["where"] == {"year": {"$gte": 2022}}
    page.locator("#filters summary", has_text="Tags").click()
    page.locator("#filters").get_by_role("checkbox", name="odd 2").check()
    page.get_by_text("No passage matches the filters").wait_for()
    page.get_by_role("button", name="Clear the filters").click()
    page.locator(".passage").first.wait_for()


def test_collections_can_be_changed(server, visit):
    page = visit(server.url)
    ask(page, "where are keys stored")
    page.get_by_text("stored in the vault").first.wait_for()
    page.get_by_label("Collection").select_option("other")
    page.get_by_text("stored in the cellar").first.wait_for()
    page.go_back()
    page.get_by_text("stored in the vault").first.wait_for()


def test_modes(server, visit):
    page = visit(server.url)
    ask(page, "rotate")
    page.locator("#modes").get_by_label("Words").check()
    page.locator(".scores:not(:has-text('vector'))").first.wait_for()
    assert server.asked[-1][1]["mode"] == "bm25"


def test_keys_alone_are_enough(server, visit):
    page = visit(server.url)
    page.locator("#facts", has_text="documents").wait_for()
    page.locator("body").press("/")
    page.keyboard.type("rotation job")
    page.locator(".passage").first.wait_for()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.className") == "title"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.locator("mark.target").wait_for()
    assert page.evaluate("document.activeElement.closest('#reader') !== null")
    page.keyboard.press("Escape")
    page.locator("#reader").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.className") == "title"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.press("Escape")
    page.locator("body").focus()
    page.locator(".brand").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()


def test_an_address_is_a_question(server, visit):
    page = visit(f"{server.url}?q=rotation+job")
    page.locator(".passage").first.wait_for()
    assert page.locator("#question").input_value() == "rotation job"


def test_recent_questions_stay_in_the_browser_until_they_are_forgotten(server, visit):
    page = visit(server.url)
    ask(page, "rotation job")
    page.locator(".passage .title").first.click()
    page.goto(server.url)
    page.get_by_role("button", name="rotation job").click()
    page.locator(".passage").first.wait_for()
    page.goto(server.url)
    page.get_by_role("button", name="Clear recent questions").click()
    assert page.get_by_role("button", name="rotation job").count() == 0
    page.reload()
    page.locator("#facts", has_text="documents").wait_for()
    assert page.get_by_role("button", name="rotation job").count() == 0


def test_nothing_found_is_said(server, visit):
    page = visit(f"{server.url}?q=zzzzqqqq&mode=bm25")
    page.get_by_role("heading", name="Nothing found").wait_for()


def test_a_server_that_fails_is_said_and_can_be_asked_again(server, visit):
    page = visit(server.url)
    ask(page, "rotation")
    server.failing = (503, "the file is damaged: section rag.text")
    page.locator("#question").fill("rotation job")
    page.get_by_role("alert").get_by_text("the file is damaged").wait_for()
    server.failing = None
    page.get_by_role("button", name="Try again").click()
    page.locator(".passage").first.wait_for()


def test_a_collection_that_cannot_be_read_is_said(server, visit):
    page = visit(server.url)
    page.locator("#facts", has_text="documents").wait_for()
    server.failing = (503, "the file is damaged: section rag.text")
    page.get_by_label("Collection").select_option("other")
    page.get_by_role("alert").get_by_text("the file is damaged").wait_for()
    server.failing = None
    page.get_by_role("button", name="Try again").click()
    page.locator("#name", has_text="other").wait_for(state="attached")


def test_a_link_is_copied_where_the_browser_gives_pages_no_clipboard(server, visit):
    page = visit(server.url)
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(f"{server.url}?q=rotation+job")
    page.locator(".passage .title").first.click()
    page.locator("#reader").get_by_role("button", name="Copy link").click()
    page.locator("#reader button[data-done]").wait_for()
    page.locator("#question").fill("")
    page.locator("#question").press("Control+V")
    assert "doc=guide%2Fkeys.md&span=" in page.locator("#question").input_value()


def test_a_key_is_asked_for_and_kept_in_the_tab_alone(server, visit):
    server.failing = (401, "a key is missing")
    page = visit(server.url)
    page.get_by_label("API key").fill("rag_secret")
    server.failing = None
    page.get_by_role("button", name="Continue").click()
    page.locator("#facts", has_text="documents").wait_for()
    assert page.evaluate("Object.keys(localStorage).join()") == ""
    assert "rag_secret" not in page.url


def test_the_search_half_needs_four_calls_of_a_backend(paths, visit):
    with PageServer(paths, is_bare=True) as server:
        page = visit(server.url)
        ask(page, "rotation job")
        assert page.locator("#ask").is_hidden()
        page.locator("#question").press("Enter")  # opens the best passage
        page.locator("mark.target").wait_for()
        assert not [url for url in page.foreign if url.endswith(("answers.js", "files.js"))]


# ------------------------------------------------------------------------------ hostile content ---


def test_what_a_document_says_is_shown_and_never_run(server, visit):
    page = visit(server.url)
    ask(page, "specimen text heading")
    card = page.locator(".passage", has_text="Specimen").first
    assert "<img src=x onerror=" in card.inner_text()
    assert page.locator("main img, main script, #reader img, #reader script").count() == 0
    card.locator(".title").click()
    page.locator("mark.target").wait_for()
    shown = page.locator("#reader").inner_text()
    for literal in ("<script>window.hacked=1</script>", "![x](http://127.0.0.1:9/leak.png)",
                    "[go](javascript:window.hacked=1)", "{{question}}"):  # fmt: skip
        assert literal in shown
    links = page.locator("#reader a, .passage a").evaluate_all("all => all.map((a) => a.protocol)")
    assert set(links) <= {"http:"}


def test_what_a_question_says_is_shown_and_never_run(server, visit):
    said = '<img src=x onerror="window.hacked=1">'
    page = visit(address(server, q=f"zzzz {said}", mode="bm25", c="<script>"))
    page.get_by_text(said).first.wait_for()
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("name", ["__proto__", "constructor", "<b>"])
def test_names_of_fields_can_be_anything(paths, visit, name):
    facets = {
        "tags": [],
        "fields": [{"name": name, "distinct": 2, "values": [{"value": name, "chunks": 2}]}],
    }
    with PageServer(paths, facets=facets) as server:
        page = visit(address(server, q="rotation", **{f"f.{name}": name}))
        page.locator("#filters summary b", has_text=name).wait_for()


# ------------------------------------------------------------------------------------ everybody ---


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(server, visit, axe, scheme, width):
    page = visit(server.url, color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 860})
    page.locator("#facts", has_text="documents").wait_for()
    assert findings(page, axe) == []
    ask(page, "rotation job")
    page.locator("#filters summary").first.click()
    assert findings(page, axe) == []
    page.keyboard.press("Escape")
    page.locator(".passage .title").first.click()
    page.locator("mark.target").wait_for()
    assert findings(page, axe) == []
    page.goto(f"{server.url}?q=zzzzqqqq&mode=bm25")
    page.get_by_role("heading", name="Nothing found").wait_for()
    page.keyboard.press("Escape")
    page.locator(".brand").focus()
    page.keyboard.press("?")
    assert findings(page, axe) == []


def findings(page, axe):
    page.evaluate("() => Promise.all(document.getAnimations().map((each) => each.finished))")
    page.evaluate(axe)
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]]


def test_a_phone_shows_all_without_scrolling_sideways(server, visit):
    page = visit(server.url)
    page.set_viewport_size({"width": 360, "height": 700})
    ask(page, "specimen heading keys")
    page.evaluate("document.querySelector('#collection option').textContent = 'w'.repeat(60)")
    for state in ("passages", "document"):
        if state == "document":
            page.locator(".passage .title").first.click()
            page.locator("mark.target").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_theme_can_be_chosen_and_stays(server, visit):
    page = visit(server.url)
    dark = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(dark)
    page.get_by_role("button", name="Light or dark").click()
    after = page.evaluate(dark)
    assert after != before
    page.reload()
    assert page.evaluate(dark) == after


def test_a_word_that_is_not_finished_finds_the_words_that_begin_with_it(server, visit):
    page = visit(server.url)
    ask(page, "specim")
    page.locator(".passage", has_text="Specimen text").first.wait_for()
    assert "hostile" in page.locator(".passage").first.inner_text().lower()
    asked = [body for path, body in server.asked if path.endswith("/search")]
    assert asked[-1]["query"] == "specim*"
    assert asked[-1]["query_syntax"] is True


def test_a_word_that_passages_have_is_asked_for_as_it_is(server, visit):
    page = visit(server.url)
    ask(page, "rotate the keys")
    ask(page, "specim ")
    asked = [body for path, body in server.asked if path.endswith("/search")]
    assert [body.get("query_syntax") for body in asked] == [None] * len(asked)


def test_a_file_without_vectors_answers_in_full_by_words(visit, tmp_path):
    ragfile.build([page_file(tmp_path)], tmp_path / "words.ragfile", embedder="none")
    with PageServer({"words": tmp_path / "words.ragfile"}) as server:
        page = visit(f"{server.url}/?q=herons")
        page.locator(".passage").first.wait_for()
        assert page.locator(".degraded").count() == 0


def page_file(folder):
    (folder / "herons.md").write_text("# Birds\n\nHerons stand in the reeds.\n")
    return folder / "herons.md"


def test_an_excerpt_has_no_markup_and_tells_its_lines_and_what_is_missing(tmp_path, visit):
    (tmp_path / "keys.md").write_text(
        "# Keys\n\nRotate **the** [keys](x.md) 🔑 often:\n\n```sh\nrotate  --all\n```\n"
    )
    ragfile.build([tmp_path / "keys.md"], tmp_path / "kb.ragfile")
    with PageServer({"kb": tmp_path / "kb.ragfile"}) as server:
        page = visit(server.url)
        ask(page, "rotating keys pancakes often zebra")
        card = page.locator(".passage").first
        assert card.locator(".place .file").inner_text() == "keys.md:3-7"
        assert card.locator(".words p").all_inner_texts() == ["Rotate the keys 🔑 often:"]
        assert card.locator(".words pre").inner_text() == "6rotate  --all"
        marks = card.locator("mark.term").all_inner_texts()
        assert marks == ["Rotate", "keys", "often", "rotate"]
        assert card.locator(".missing").inner_text() == "without pancakes, zebra"
        said = page.locator("#status").inner_text()
        assert "no passage has: pancakes, zebra" in said


def test_a_document_lists_its_links_and_opens_them(tmp_path, visit):
    documents = [
        {
            "id": "keys.md",
            "text": "# Keys\n\nKeys rotate. [Vault](vault.md) and [no page](none.md).\n",
        },
        {"id": "vault.md", "text": "# Vault\n\nA vault has keys.\n"},
        {"id": "pods.md", "text": "# Pods\n\nPods need the [vault](vault.md), too.\n"},
    ]
    path = file_of(documents, tmp_path / "kb.ragfile")
    with PageServer({"kb": path}) as server:
        page = visit(server.url)
        ask(page, "keys rotate")
        page.locator(".passage .title").first.click()
        page.get_by_text("Links to 1 document").click()
        page.get_by_role("button", name="vault.md", exact=True).click()
        page.get_by_text("Linked from 2 documents").click()
        assert page.locator(".links li").all_inner_texts() == ["keys.md", "pods.md"]
        page.get_by_role("button", name="pods.md", exact=True).click()
        page.locator("#reader h2", has_text="Pods").wait_for()
        page.go_back()
        page.locator("#reader h2", has_text="Vault").wait_for()


def test_a_passage_tells_how_current_and_trusted_its_document_is(tmp_path, visit):
    stale = {"type": "Policy", "stale_after": "2026-01-31"}
    documents = [
        {"id": "a.md", "text": "Keys rotate.", "metadata": stale},
        {"id": "b.md", "text": "Keys rust."},
    ]
    with PageServer({"kb": file_of(documents, tmp_path / "kb.ragfile")}) as server:
        page = visit(server.url)
        ask(page, "keys")
        page.locator(".passage").nth(1).wait_for()
        assert page.locator(".standing").all_inner_texts() == ["stale since 2026-01-31, unverified"]
