"""What test modules share."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from browsers import chromium
from effort import examples
from hypothesis import settings
from local_models import onnx_folder, tokenizer, transformer_folder  # noqa: F401
from web_files import web_files  # noqa: F401
from website import website  # noqa: F401

# Property tests have no time limit per example: the suite asserts nothing about time, and machines are shared.
settings.register_profile("ragfile", deadline=None, max_examples=examples(100))
settings.load_profile("ragfile")


_left_out = {}
if sys.platform == "win32":
    _left_out = tomllib.loads((Path(__file__).parent / "not_on_windows.toml").read_text("utf-8"))
    collect_ignore = [name for name in _left_out if "::" not in name]


def pytest_collection_modifyitems(items):
    """Skip the single tests that Windows leaves out."""
    for item in items if _left_out else ():
        name = item.nodeid.partition("[")[0].removeprefix("tests/")
        if name in _left_out:
            item.add_marker(pytest.mark.skip(reason=_left_out[name]))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Use every core for the suite and for rooms. Single files start sooner in one process."""
    option, cores = config.option, os.cpu_count() or 1
    is_worker = hasattr(config, "workerinput")
    if is_worker or not config.pluginmanager.hasplugin("xdist") or option.numprocesses is not None:
        return
    single = any(".py" in argument for argument in config.args)
    if cores > 1 and not single and option.dist == "no" and not option.usepdb:
        option.numprocesses, option.dist = cores, "loadgroup"


def pytest_configure(config):
    """Frameworks' suites have coroutines for tests; pytest-asyncio runs them where it is installed."""
    if config.pluginmanager.hasplugin("asyncio"):
        config.option.asyncio_mode = "auto"
    os.environ["RAGFILE_CACHE_BYTES"] = "0"  # tests leave nothing in the cache of who runs them


@pytest.fixture(scope="session")
def turkish(tmp_path_factory):
    """The environment of a locale in which I and i are no pair, made here where the system has its sources."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef"):
        subprocess.run(
            ["localedef", "-i", "tr_TR", "-f", "UTF-8", folder / "tr_TR.UTF-8"], capture_output=True
        )
    made = {"LOCPATH": str(folder)} if (folder / "tr_TR.UTF-8").exists() else {}
    return {"LC_ALL": "tr_TR.UTF-8", **made}


@pytest.fixture(scope="module")
def browser():
    """One for a module: a process has room for one driver, and none beside an event loop."""
    with chromium() as browser:
        yield browser
