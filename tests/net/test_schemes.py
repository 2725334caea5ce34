"""URLs of other kinds: file://, hf:// against a hub that redirects, gs:// and az:// in place of s3://.

Google's interface is a server of the tests that answers as its documentation says; Azure's is Azurite, Microsoft's own
emulator, which `npm install -g azurite` brings.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time

import pytest
from servers.built_files import large_file
from servers.range_server import RangeServer

import ragfile
from ragfile.errors import RemoteError
from ragfile.ground.urls import is_dataset, local_path
from ragfile.net.hugging_face import HubFile

HUB = "datasets/ada/kb"
# The account that every Azurite has; its key is public.
AZURITE = {
    "AZURE_STORAGE_ACCOUNT_NAME": "devstoreaccount1",
    "AZURE_STORAGE_ACCOUNT_KEY": "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"
    "/K1SZFPTOtr/KBHBeksoGMGw==",
    "AZURE_ALLOW_HTTP": "true",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return large_file(tmp_path_factory.mktemp("schemes") / "kb 1.ragfile")


def _is_the_same(url, path):
    with ragfile.open(path) as local, ragfile.open(url) as far:
        expected = local.search("word5 text99", mode="bm25")
        assert far.search("word5 text99", mode="bm25") == expected
        assert expected


# ----------------------------------------------------------------------------------------------------- file:// ---


def test_a_file_url_opens_the_local_file(path):
    _is_the_same(path.as_uri(), path)
    assert ragfile.verify(path.as_uri())[0] == []
    command = [sys.executable, "-m", "ragfile", "search", path.as_uri(), "word5", "--mode", "bm25"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "word5" in done.stdout


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///a/b%20c.ragfile", "/a/b c.ragfile"),
        ("FILE://localhost/a", "/a"),
        ("a/b%20c", "a/b%20c"),
    ],
)
def test_a_file_url_names_a_path(url, expected):
    assert local_path(url) == expected


def test_a_file_of_another_machine_is_refused():
    with pytest.raises(ValueError, match="another machine, fileserver"):
        ragfile.open("file://fileserver/kb.ragfile")


# ------------------------------------------------------------------------------------------------------- hf:// ---


@pytest.mark.parametrize(
    ("url", "file"),
    [
        (
            "hf://datasets/ada/kb/x/kb.ragfile",
            HubFile("datasets", "ada/kb", "main", "x/kb.ragfile"),
        ),
        ("hf://ada/kb@v1/kb.ragfile", HubFile("models", "ada/kb", "v1", "kb.ragfile")),
        ("hf://models/ada/kb/kb.ragfile", HubFile("models", "ada/kb", "main", "kb.ragfile")),
        ("hf://spaces/a/b@refs%2Fpr%2F1/k", HubFile("spaces", "a/b", "refs/pr/1", "k")),
    ],
)
def test_a_hub_url_names_a_repository_a_revision_and_a_path(url, file):
    assert HubFile.of(url) == file


def test_a_hub_url_has_the_hubs_address():
    file = HubFile("datasets", "ada/kb", "refs/pr/1", "x/kb 1.ragfile")
    expected = "https://hub.example/datasets/ada/kb/resolve/refs%2Fpr%2F1/x/kb%201.ragfile"
    assert file.address("https://hub.example/") == expected


@pytest.mark.parametrize("url", ["hf://ada", "hf://ada/kb", "hf://datasets/ada/kb", "hf://a//b"])
def test_a_hub_url_without_a_file_is_refused(url):
    with pytest.raises(ValueError, match=r"OWNER/NAME\[@REVISION\]/PATH"):
        ragfile.open(url)


@pytest.fixture
def hub(path, monkeypatch):
    """A hub that wants the token "secret" and redirects to a host for storage; the headers that both got."""
    pytest.importorskip("httpx2", reason="the http extra is not installed")
    seen = {"hub": [], "storage": []}
    name = f"{HUB}/resolve/main/kb 1.ragfile"
    with RangeServer({"blob": path.read_bytes()}) as storage, RangeServer({name: b"x"}) as hub:

        def redirect(handler, *_):
            seen["hub"].append(handler.headers.get("Authorization"))
            if seen["hub"][-1] != "Bearer secret":
                handler.plain(401)
            else:
                handler.plain(302, {"Location": storage.url("blob")})
            return True

        def note(handler, *_):
            seen["storage"].append(handler.headers.get("Authorization"))

        hub.behave, storage.behave = redirect, note
        monkeypatch.setenv("HF_ENDPOINT", hub.url("").rstrip("/"))
        monkeypatch.setenv("HF_TOKEN", "secret")
        yield seen


def test_a_file_on_a_hub_answers_and_the_token_stays_with_the_hub(hub, path):
    _is_the_same(f"hf://{HUB}/kb 1.ragfile", path)
    assert set(hub["hub"]) == {"Bearer secret"}
    assert set(hub["storage"]) == {None}


def test_a_hub_that_refuses_is_an_error_with_the_urls_name(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "wrong")
    with pytest.raises(RemoteError, match=rf"hf://{HUB}/kb 1\.ragfile.*credentials") as caught:
        ragfile.open(f"hf://{HUB}/kb 1.ragfile")
    assert caught.value.status == 401


# ------------------------------------------------------------------------------------------------ gs:// and az:// ---


def test_buckets_of_each_provider_hold_datasets():
    assert all(is_dataset(f"{scheme}://bucket/kb/") for scheme in ("s3", "gs", "az", "GS"))
    assert not any(is_dataset(url) for url in ("gs://bucket/kb", "hf://a/b/", "https://a/b/"))


@pytest.mark.parametrize(
    ("url", "why"), [("gs://bucket", "gs://BUCKET/KEY"), ("az:///key", "az://CONTAINER/KEY")]
)
def test_a_url_without_a_key_is_refused(url, why):
    pytest.importorskip("obstore", reason="the s3 extra is not installed")
    with pytest.raises(ValueError, match=why):
        ragfile.open(url)


def test_the_extra_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(ImportError, match=r"a URL of gs:// needs obstore: .*ragfile\[s3\]"):
        ragfile.open("gs://bucket/kb.ragfile")


@pytest.fixture
def google(path, monkeypatch):
    pytest.importorskip("obstore", reason="the s3 extra is not installed")
    modified = {"Last-Modified": "Thu, 19 Nov 2026 10:00:00 GMT"}
    with RangeServer({"bucket/kb 1.ragfile": path.read_bytes()}) as server:

        def part(handler, start, end, data):
            if start >= end:
                return False
            handler.part(start, end, data, server.tag("bucket/kb 1.ragfile"), modified)
            return True

        server.behave = part
        account = {"gcs_base_url": server.url("").rstrip("/"), "disable_oauth": True}
        account |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
        monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", json.dumps(account))
        monkeypatch.setenv("GOOGLE_ALLOW_HTTP", "true")
        yield


@pytest.mark.usefixtures("google")
def test_a_file_at_google_answers_as_the_local_file_does(path):
    _is_the_same("gs://bucket/kb 1.ragfile", path)


@pytest.mark.usefixtures("google")
def test_an_object_that_google_lacks_is_an_error():
    with pytest.raises(RemoteError, match=r"gs://bucket/none.*no such object"):
        ragfile.open("gs://bucket/none.ragfile")


@pytest.fixture(scope="module")
def azurite():
    """The environment of an Azurite on a free port."""
    pytest.importorskip("obstore", reason="the s3 extra is not installed")
    program = shutil.which("azurite-blob") or os.environ.get("AZURITE")
    if program is None:
        pytest.skip("azurite is not installed: npm install -g azurite")
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [program, "--inMemoryPersistence", "--silent", "--skipApiVersionCheck"]
    process = subprocess.Popen([*command, "--blobPort", str(port)])
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None
            time.sleep(0.05)
        yield AZURITE | {
            "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{port}/devstoreaccount1",
            # Azurite's own way to make a container, for its public account.
            "AZURITE_CONTAINER": f"http://127.0.0.1:{port}/devstoreaccount1/bucket",
        }
    finally:
        process.terminate()
        process.wait(10)


def _made_container(url):
    """Create a container as Azure's documentation signs a request with the account's key."""
    import base64
    import hashlib
    import hmac
    import urllib.request
    from email.utils import formatdate

    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    canonical = "".join(f"{name}:{value}\n" for name, value in sorted(headers.items()))
    resource = "/devstoreaccount1/devstoreaccount1/bucket\nrestype:container"
    signed = "PUT" + "\n" * 12 + canonical + resource
    key = base64.b64decode(AZURITE["AZURE_STORAGE_ACCOUNT_KEY"])
    digest = base64.b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).decode()
    headers["Authorization"] = f"SharedKey devstoreaccount1:{digest}"
    request = urllib.request.Request(f"{url}?restype=container", b"", headers, method="PUT")
    request.add_unredirected_header("Content-Length", "0")
    request.add_unredirected_header("Content-Type", "")
    urllib.request.urlopen(request).close()


@pytest.fixture(scope="module")
def container(azurite):
    _made_container(azurite["AZURITE_CONTAINER"])


@pytest.fixture
def azure(azurite, container, monkeypatch):
    for name, value in azurite.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("azure")
def test_a_file_at_azure_answers_as_the_local_file_does(path):
    import obstore

    from ragfile.net.bucket_object import store_of

    obstore.put(store_of("az://bucket/"), "kb 1.ragfile", path.read_bytes())
    obstore.put(store_of("az://bucket/"), "empty", b"")
    _is_the_same("az://bucket/kb 1.ragfile", path)
    with pytest.raises(RemoteError, match="no such object"):
        ragfile.open("az://bucket/none.ragfile")
    with pytest.raises(RemoteError, match="az://bucket/empty: the object is empty"):
        ragfile.open("az://bucket/empty")


@pytest.mark.usefixtures("azure")
def test_a_dataset_at_azure_is_built_synced_and_answers(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Keys\n\nRotate the keys.\n")
    ragfile.dataset.build([tmp_path / "docs"], "az://bucket/kb/", shards=2)
    (tmp_path / "docs" / "b.md").write_text("# Pods\n\nRestart the pods.\n")
    ragfile.dataset.sync("az://bucket/kb/", [tmp_path / "docs"])
    with ragfile.open("az://bucket/kb/") as rf:
        assert [hit.doc_id for hit in rf.search("pods", mode="bm25")] == ["b.md"]
    assert ragfile.verify("az://bucket/kb/")[0] == []
