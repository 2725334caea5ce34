"""The documents of a collection in a real browser: listed, opened, dropped in, taken out."""

import shutil

import pytest
from servers.page_server import PageServer, file_of


@pytest.fixture
def writable(paths, tmp_path):
    path = shutil.copy(paths["handbook"], tmp_path / "handbook.ragfile")
    with PageServer({"handbook": path}, can_write=True) as server:
        yield server


def test_documents_are_listed_found_and_opened(server, visit):
    page = visit(server.url)
    page.get_by_role("button", name="Documents").click()
    dialog = page.get_by_role("dialog", name="Documents")
    dialog.locator(".note", has_text="4 documents").wait_for()
    assert dialog.get_by_role("button", name="Add files").is_hidden()
    dialog.get_by_label("Find documents").fill("guide/p")
    dialog.locator(".note", has_text="1 document").wait_for()
    dialog.locator(".entry").click()
    page.locator("#reader h2", has_text="Pods").wait_for()
    assert page.locator("#reader mark.target").count() == 0


def test_a_long_list_comes_in_pages(tmp_path, visit):
    path = file_of([{"id": f"{i:03}.md", "text": f"page {i}"} for i in range(120)], tmp_path / "kb")
    with PageServer({"kb": path}) as server:
        page = visit(server.url)
        page.get_by_role("button", name="Documents").click()
        for shown in (50, 100, 120):
            page.locator(f".documents li:nth-child({shown})").wait_for()
            assert page.locator(".documents li").count() == shown
            if shown < 120:
                page.get_by_role("button", name="Show more").click()
        assert page.get_by_role("button", name="Show more").is_hidden()


def test_files_that_are_chosen_are_sent_and_their_fate_is_shown(writable, visit, tmp_path):
    (tmp_path / "good.md").write_text("# Good")
    (tmp_path / "bad <b>.pdf").write_text("not a text")
    page = visit(writable.url)
    page.get_by_role("button", name="Documents").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").click()
    chooser.value.set_files([tmp_path / "good.md", tmp_path / "bad <b>.pdf"])
    page.locator(".upload.is-done", has_text="good.md").wait_for()
    bad = page.locator(".upload.is-bad", has_text="bad <b>.pdf")
    bad.get_by_text("no text in it").wait_for()
    bad.get_by_role("button", name="Dismiss").click()
    bad.wait_for(state="detached")


DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


def test_files_can_be_dropped_anywhere(writable, visit):
    page = visit(writable.url)
    page.locator("#facts", has_text="documents").wait_for()
    page.evaluate(DROP, ["dropped.md", "# Dropped"])
    page.locator(".upload.is-done", has_text="dropped.md").wait_for()


def test_a_server_that_takes_no_files_is_sent_none(server, visit):
    page = visit(server.url)
    page.locator("#facts", has_text="documents").wait_for()
    page.evaluate(DROP, ["dropped.md", "# Dropped"])
    assert page.locator(".upload").count() == 0


def test_a_document_is_deleted_after_a_second_look(writable, visit):
    page = visit(f"{writable.url}?q=restart+a+pod")
    page.locator(".passage", has_text="Restart a pod").first.wait_for()
    page.get_by_role("button", name="Documents").click()
    page.get_by_role("button", name="Delete guide/pods.md").click()
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Delete guide/pods.md").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.locator(".note", has_text="3 documents").wait_for()
    page.keyboard.press("Escape")
    page.locator(".passage", has_text="Restart a pod").wait_for(state="detached")
    assert page.locator("#facts", has_text="3 documents").count() == 1


def test_axe_finds_nothing(writable, visit, axe):
    page = visit(writable.url)
    page.get_by_role("button", name="Documents").click()
    page.get_by_role("button", name="Delete guide/pods.md").click()
    page.evaluate(axe)
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
