"""A real Chromium for tests of pages; they are skipped where there is none."""

import contextlib
import os
import shutil

import pytest

FLAGS = [
    "--no-sandbox", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-default-apps",
]  # fmt: skip


@contextlib.contextmanager
def chromium():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no playwright: make -C tests page"
    )
    names = ("chromium", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("no chromium here: make -C tests page installs it")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()
