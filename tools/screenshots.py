"""Take the pictures of the web page in Chromium, over this project's own documents.

    python tools/screenshots.py docs/images          needs playwright, pillow, ragfile[server]

The model is a stand-in with a prepared answer, so that the pictures are the same each time.
"""

import io
import re
import sys
import tempfile
import threading
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

import ragfile
from ragfile.doors.server import lifecycle
from ragfile.doors.server.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
QUESTION = "why is a search exact and still fast?"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}


class Model:
    """Answers with text of the file and one sentence that is not in it."""

    name = "llama3.2"

    def chat(self, messages, **parameters):
        passages = re.findall(r"<passage (\d+) .*?</passage", messages[-1]["content"], re.DOTALL)
        said = re.split(r"<passage \d+ ", messages[-1]["content"])[1 : len(passages) + 1]
        shadow = next(n for n, text in enumerate(said, 1) if "never decides a score" in text)
        yield (
            f"A **quantised copy** of the vectors, the *shadow*, rules rows out. It never decides "
            f"a score: every row that might be in the answer gets its exact score [{shadow}].\n\n"
            f"- BM25 uses stored upper bounds in the same way [{shadow}].\n"
            f"- The specification has the proofs [{shadow}].\n\n"
            f"Most users switch it off at weekends [{shadow}]."
        )


def main(folder):
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        path = f"{work}/handbook.ragfile"
        ragfile.build(ROOT / "docs", path, tags=["handbook"])
        ragfile.sync(path, [ROOT / "docs", ROOT / "spec" / "parts"])
        with ragfile.edit(path) as w:
            for document in ROOT.glob("spec/parts/*.md"):
                w.update(document.name, tags=["specification"])
        with Served(path) as url, sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            )
            for name, shot in SHOTS.items():
                save(shot(browser, url), out / f"page-{name}.png")
            browser.close()


class Served:
    """A server in a thread, and its URL."""

    def __init__(self, path):
        told = Settings((path,), port=0, model=Model())
        self._socket = lifecycle.bound(told)
        self._server = uvicorn.Server(lifecycle.configured(told))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self):
        self._thread.start()
        return lifecycle.address(self._socket)

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join()


def window(browser, address, viewport=WIDE, **options):
    page = browser.new_context(viewport=viewport, **options).new_page()
    page.goto(address)
    return page


def search(browser, url):
    page = window(browser, f"{url}/?q=how+are+files+behind+a+URL+read")
    page.locator(".passage").first.wait_for()
    return shot(page)


def answer(browser, url):
    page = window(browser, f"{url}/?ask=1&q={QUESTION.replace(' ', '+')}")
    page.locator(".footer").wait_for()
    return shot(page)


def source(browser, url):
    page = window(browser, f"{url}/?ask=1&q={QUESTION.replace(' ', '+')}", color_scheme="dark")
    page.locator(".footer").wait_for()
    page.locator(".cite").first.click()
    page.locator("mark.target").wait_for()
    return shot(page)


def phone(browser, url):
    page = window(browser, f"{url}/?q=rotate+keys", PHONE, device_scale_factor=2)
    page.locator(".passage").first.wait_for()
    return shot(page)


SHOTS = {"search": search, "answer": answer, "source": source, "phone": phone}


def shot(page):
    page.evaluate("() => Promise.all(document.getAnimations().map((each) => each.finished))")
    page.evaluate("document.activeElement.blur()")
    return page.screenshot()


def save(png, path):
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path, path.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1])
