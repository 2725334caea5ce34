"""libzstd's sources: where a build gets them with network, without it, and from an index of its own."""

import functools
import hashlib
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from places import ROOT, ZSTD

NAME = "zstandard-0.25.0.tar.gz"


@pytest.fixture
def kept():
    """The archive, as a build of this tree has downloaded it."""
    path = ROOT / "build/pinned" / NAME
    if not path.exists():
        pytest.skip("this tree has the sources alone, like a source distribution")
    return path


@pytest.fixture
def pinned(tmp_path, monkeypatch):
    """tools/pinned.py of an empty tree, where no variable names an index or a folder."""
    spec = importlib.util.spec_from_file_location("pinned", ROOT / "tools/pinned.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path / "pinned")
    monkeypatch.setattr(module, "ZSTD", tmp_path / "pinned/libzstd-1.5.7")
    for name in (*module.INDEXES, "RAGFILE_PINNED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # nor may pip use the network
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    return module


@pytest.fixture
def index(tmp_path, kept):
    """The URL of a simple index on the loopback with this archive alone."""
    folder = tmp_path / "index/simple/zstandard"
    folder.mkdir(parents=True)
    shutil.copy(kept, folder / NAME)
    digest = hashlib.sha256(kept.read_bytes()).hexdigest()
    (folder / "index.html").write_text(
        f'<!doctype html><a href="zstandard-0.1.tar.gz">a</a><a href="{NAME}#sha256={digest}">b</a>'
    )
    handler = functools.partial(SimpleHTTPRequestHandler, directory=tmp_path / "index")
    handler.log_message = lambda *_: None
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


def check_sources(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        "LICENSE",
        "zstd.c",
        "zstd.h",
        "zstd_errors.h",
    ]
    assert (folder / "zstd.c").read_bytes() == (ZSTD / "zstd.c").read_bytes()


def test_a_folder_that_is_named_needs_no_network(pinned, kept, monkeypatch):
    monkeypatch.setenv("RAGFILE_PINNED", str(kept.parent))
    assert pinned.has_zstd()
    check_sources(pinned.zstd())


def test_sources_that_are_unpacked_need_no_archive(pinned):
    pinned.ZSTD.mkdir(parents=True)
    assert pinned.has_zstd()
    assert pinned.zstd() == pinned.ZSTD


def test_an_archive_of_other_bytes_is_refused(pinned, tmp_path, monkeypatch):
    (tmp_path / NAME).write_bytes(b"something else")
    monkeypatch.setenv("RAGFILE_PINNED", str(tmp_path))
    with pytest.raises(SystemExit, match=rf"{NAME} does not have the pinned SHA-256"):
        pinned.zstd()
    assert not pinned.ZSTD.exists()


def test_without_pip_the_index_of_the_environment_is_asked(pinned, index, monkeypatch):
    monkeypatch.setattr(pinned, "has_pip", lambda: False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", index)
    check_sources(pinned.zstd())
    assert (pinned.FOLDER / NAME).exists()


def test_an_index_without_the_archive_is_named(pinned, index, monkeypatch, tmp_path):
    (tmp_path / "index/simple/zstandard/index.html").write_text("nothing")
    monkeypatch.setattr(pinned, "has_pip", lambda: False)
    monkeypatch.setenv("PIP_INDEX_URL", index)
    with pytest.raises(SystemExit, match=r"127\.0\.0\.1:\d+/simple/zstandard/ does not list it"):
        pinned.zstd()


def test_without_network_the_error_has_a_command_that_helps(pinned, index, monkeypatch, tmp_path):
    with pytest.raises(SystemExit) as refused:
        pinned.zstd()
    command = shlex.split(re.search("`(pip download .+?)`", str(refused.value))[1])
    assert not list(pinned.FOLDER.iterdir())
    if not pinned.has_pip() or pinned.setuptools_folder() is None:
        pytest.skip("no pip here, or no setuptools for the archive's metadata")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", index)
    here = ["--no-build-isolation", "-d", str(tmp_path / "elsewhere")]
    subprocess.run([sys.executable, "-m", *command, *here], check=True)
    monkeypatch.setenv("RAGFILE_PINNED", str(tmp_path / "elsewhere"))
    check_sources(pinned.zstd())


def test_pip_brings_the_archive(pinned, index, monkeypatch):
    if not pinned.has_pip() or pinned.setuptools_folder() is None:
        pytest.skip("no pip here, or no setuptools for the archive's metadata")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", index)
    check_sources(pinned.zstd())


def test_pip_runs_no_code_of_an_archive_of_other_bytes(pinned, index, monkeypatch, tmp_path):
    if not pinned.has_pip():
        pytest.skip("no pip here")
    page = tmp_path / "index/simple/zstandard"
    (page / NAME).write_bytes(b"something else")
    (page / "index.html").write_text(f'<a href="{NAME}">b</a>')
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", index)
    with pytest.raises(SystemExit, match=r"SHA-256|hash|HASH"):
        pinned.zstd()


def test_the_licence_of_libzstd_is_the_one_that_the_package_carries():
    carried = ROOT / "ragfile/data/zstd.LICENSE"
    assert carried.read_bytes() == (ZSTD / "LICENSE").read_bytes()
