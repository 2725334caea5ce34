"""The page over the product's own server: what the other tests show over a stand-in holds here."""

import re
import shutil
import threading
import time
from urllib.parse import urlencode

import pytest
from servers.page_server import Model

import ragfile

pytest.importorskip("uvicorn", reason="the extra server is not installed")
pytest.importorskip("starlette", reason="the extra server is not installed")


class Serving:
    """The server in a thread."""

    def __init__(self, *files, **settings):
        import uvicorn

        from ragfile.doors.server import lifecycle
        from ragfile.doors.server.settings import Settings

        told = Settings(tuple(map(str, files)), port=0, **settings)
        self._socket = lifecycle.bound(told)
        self._server = uvicorn.Server(lifecycle.configured(told))
        self.url = lifecycle.address(self._socket) + "/"
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self):
        self._thread.start()
        until = time.monotonic() + 20
        while not self._server.started and time.monotonic() < until:
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join(40)


@pytest.fixture(scope="module")
def serving(paths):
    with Serving(*paths.values()) as serving:
        yield serving


def test_a_source_folder_that_changed_is_told(tmp_path, visit):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Keys\n\nRotate the keys.\n")
    ragfile.build(tmp_path / "docs", tmp_path / "kb.ragfile")
    (tmp_path / "docs" / "b.md").write_text("# New\n")
    sources = (("kb", str(tmp_path / "docs")),)
    with Serving(tmp_path / "kb.ragfile", sources=sources) as serving:
        page = visit(serving.url)
        page.locator("#facts", has_text="1 source file newer than this file").wait_for()


def test_passages_filters_and_the_exact_characters(serving, visit):
    page = visit(serving.url)
    page.locator("#question").fill("rotation job every 90 days")
    page.locator(".passage", has_text="rotation job").first.wait_for()
    assert {"Tags", "lang"} <= set(page.locator("#filters summary").all_inner_texts())
    page.locator(".passage .title").first.click()
    shown = page.locator("#reader mark.target").text_content()
    assert "rotation job 🔁 every 90 days" in shown
    page.get_by_label("Collection").select_option("other")
    page.locator("#question").fill("where are keys stored")
    page.get_by_text("stored in the cellar").first.wait_for()


def test_an_answer_of_the_files_own_sentences(serving, visit):
    page = visit(f"{serving.url}?q=how+are+keys+rotated&ask=1")
    page.locator(".footer").wait_for()
    page.get_by_text("This is an extract of the file").wait_for()
    page.locator(".cite").first.click()
    page.locator("#reader mark.target").wait_for()


def test_a_streamed_answer_and_its_citation(paths, visit):
    go_on = threading.Event()
    model = Model("Run the rotation ", go_on, "job every 90 days [1].")
    with Serving(paths["handbook"], model=model) as serving:
        page = visit(f"{serving.url}?q=how+are+keys+rotated&ask=1")
        page.locator(".answer", has_text="Run the rotation").wait_for()
        go_on.set()
        page.locator(".footer").wait_for()
        page.get_by_role("link", name="Source 1").click()
        assert "rotation job" in page.locator("#reader mark.target").text_content()


def test_a_model_that_is_down_is_said_and_the_file_answers(paths, visit):
    with Serving(paths["handbook"], model=Model(OSError("connection refused"))) as serving:
        page = visit(f"{serving.url}?q=how+are+keys+rotated&ask=1")
        page.locator(".remark.alert", has_text="refused").wait_for()
        assert page.locator(".cite").count() > 0


def test_an_upload_is_indexed_found_and_deleted(paths, visit, tmp_path):
    path = shutil.copy(paths["handbook"], tmp_path / "handbook.ragfile")
    (tmp_path / "herons.md").write_text("# Herons\n\nA heron eats seventy zebrafish a day.\n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing of one")
    with Serving(path, can_write=True) as serving:
        page = visit(serving.url)
        page.get_by_role("button", name="Documents").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Add files").click()
        chooser.value.set_files([tmp_path / "herons.md", tmp_path / "broken.pdf"])
        page.locator(".upload.is-done", has_text="herons.md").wait_for()
        page.locator(".upload.is-bad", has_text="broken.pdf").wait_for()
        page.locator("#question").fill("zebrafish")
        page.locator(".passage", has_text="seventy zebrafish").first.wait_for()
        page.get_by_role("button", name="Documents").click()
        page.locator(".documents li", has_text="Herons").get_by_role(
            "button", name=re.compile("^Delete")
        ).click()
        page.get_by_role("button", name="Delete", exact=True).click()
        page.locator(".documents li", has_text="Herons").wait_for(state="detached")
        page.keyboard.press("Escape")
        page.locator(".passage", has_text="seventy zebrafish").wait_for(state="detached")


def test_a_key_is_asked_for(paths, visit, monkeypatch):
    monkeypatch.setenv("RAGFILE_API_KEY", "rag_" + "k" * 43)
    with Serving(paths["handbook"]) as serving:
        page = visit(f"{serving.url}?q=rotation")
        assert page.locator(".key .wrong").count() == 0
        page.get_by_label("API key").fill("rag_wrong")
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("alert").get_by_text("does not accept this key").wait_for()
        page.get_by_label("API key").fill("rag_" + "k" * 43)
        page.get_by_role("button", name="Continue").click()
        page.locator(".passage").first.wait_for()


def test_hostile_documents_are_text(serving, visit):
    page = visit(f"{serving.url}?{urlencode({'q': 'specimen text heading'})}")
    page.locator(".passage", has_text="Specimen").first.locator(".title").click()
    page.locator("mark.target").wait_for()
    assert page.locator("main img, #reader img, #reader script").count() == 0
