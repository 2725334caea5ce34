"""What is missing is named with the command that installs it, before anything is read or sent."""

import sys
import types

import pytest

from ragfile.embedding import open_embedder
from ragfile.errors import ModelError
from ragfile.ground.extras import optional


@pytest.mark.parametrize("name", ["ollama:x", "openai:x?base_url=http://127.0.0.1:1"])
def test_an_embedder_on_a_server_names_its_extra_when_it_is_opened(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ImportError, match=r"httpx2: pip install 'ragfile\[http\]'"):
        open_embedder(name)


def test_a_local_embedder_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(
        ModelError, match=r"st:x needs sentence-transformers: pip install 'ragfile\[st\]'"
    ):
        open_embedder("st:x")


def test_a_package_without_an_extra_is_named_as_it_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match="searching needs faiss-cpu: pip install faiss-cpu"):
        optional("faiss", "searching")


def test_a_package_that_is_broken_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "broken_one.py").write_text("import surely_not_there")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        ImportError, match=r"needs broken_one, which cannot be imported: .*surely_not_there"
    ):
        optional("broken_one", "this")


def test_what_is_there_is_returned():
    assert isinstance(optional("json", "this"), types.ModuleType)
