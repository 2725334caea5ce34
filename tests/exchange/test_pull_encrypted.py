"""A pull of an encrypted file fetches encrypted bytes, verifies them with the key, and stores them as they are."""

import pytest
from servers.range_server import RangeServer

import ragfile
from ragfile.errors import ConflictError, CorruptError, EncryptionError

pytest.importorskip("httpx2", reason="the http extra is not installed")

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
SECRET = "kettlewhistle"


def documents(count, seed=0):
    return [
        {"id": f"{seed}-{i:04}.md", "text": f"{SECRET} {i} owls and lamps " * 12}
        for i in range(count)
    ]


def edited(path, seed, count=3):
    with ragfile.edit(path, key=KEY) as w:
        w.upsert(documents(count, seed))


@pytest.fixture(params=[0, 5], ids=["bare", "parity"])
def there(tmp_path, request):
    path = tmp_path / "there.ragfile"
    ragfile.build(documents(900), path, key=KEY, parity=request.param)
    return path


@pytest.fixture
def server(there):
    with RangeServer({"kb.ragfile": there.read_bytes()}) as server:
        yield server


def publish(server, path):
    server.files["kb.ragfile"] = path.read_bytes()
    server.forget()


def ids(path, key=KEY):
    with ragfile.open(path, key=key) as rf:
        return sorted(document.id for document in rf.documents())


def test_a_first_pull_copies_the_encrypted_bytes(server, there, tmp_path):
    here = tmp_path / "here.ragfile"
    report = ragfile.pull(server.url("kb.ragfile"), here, key=KEY)
    assert here.read_bytes() == there.read_bytes()
    assert (report.is_changed, report.generation) == (True, 1)
    assert ids(here) == ids(there)


def test_new_commits_cost_their_own_bytes_and_an_equal_file_its_ends(server, there, tmp_path):
    here, url = tmp_path / "here.ragfile", server.url("kb.ragfile")
    ragfile.pull(url, here, key=KEY)
    server.forget()
    assert not ragfile.pull(url, here, key=KEY).is_changed
    assert server.sent < there.stat().st_size / 2
    for seed in (1, 2):
        edited(there, seed)
    publish(server, there)
    report = ragfile.pull(url, here, key=KEY)
    assert here.read_bytes() == there.read_bytes()
    assert server.sent == report.fetched < report.size / 2
    assert report.generation == 3


def test_a_file_with_other_keys_is_continued_and_takes_them(server, there, tmp_path):
    here, url = tmp_path / "here.ragfile", server.url("kb.ragfile")
    ragfile.pull(url, here, key=KEY)
    edited(there, 1)
    ragfile.rekey(there, key=KEY, add=OTHER, remove=KEY)
    publish(server, there)
    report = ragfile.pull(url, here, key=OTHER)
    assert report.fetched < report.size / 2
    assert here.read_bytes() == there.read_bytes()
    ragfile.rekey(there, key=OTHER, add=KEY)  # the header alone
    publish(server, there)
    assert ragfile.pull(url, here, key=OTHER).is_changed
    assert ids(here, KEY) == ids(there, KEY)


def test_without_its_key_nothing_is_pulled(server, tmp_path, monkeypatch):
    monkeypatch.delenv("RAGFILE_KEY", raising=False)
    here = tmp_path / "here.ragfile"
    for key in (None, OTHER):
        with pytest.raises(EncryptionError):
            ragfile.pull(server.url("kb.ragfile"), here, key=key)
    assert not here.exists()


def test_a_copy_that_was_changed_or_is_of_another_kind_is_not_replaced(server, there, tmp_path):
    here, url = tmp_path / "here.ragfile", server.url("kb.ragfile")
    ragfile.pull(url, here, key=KEY)
    edited(here, 5)
    own = here.read_bytes()
    with pytest.raises(ConflictError):
        ragfile.pull(url, here, key=KEY)
    assert here.read_bytes() == own
    ragfile.pull(url, here, key=KEY, replace=True)
    assert here.read_bytes() == there.read_bytes()
    plain = tmp_path / "plain.ragfile"
    ragfile.build(documents(9), plain)
    publish(server, plain)
    with pytest.raises(FileExistsError, match="not a plain RAGFile"):
        ragfile.pull(url, here, key=KEY, replace=True)  # or a forgotten key would go unnoticed
    publish(server, there)
    with pytest.raises(ConflictError):
        ragfile.pull(url, plain, key=KEY)
    ragfile.pull(url, plain, key=KEY, replace=True)
    assert plain.read_bytes() == there.read_bytes()


def test_a_compacted_file_is_an_earlier_state_only_where_it_says_so(server, there, tmp_path):
    here, url = tmp_path / "here.ragfile", server.url("kb.ragfile")
    ragfile.pull(url, here, key=KEY)
    edited(there, 1)
    with ragfile.using_key(KEY):
        ragfile.compact(there)
    publish(server, there)
    with pytest.raises(ConflictError):
        ragfile.pull(url, here, key=KEY)
    ragfile.pull(url, here, key=KEY, replace=True)
    assert here.read_bytes() == there.read_bytes()


def test_a_damaged_block_is_found_before_anything_is_replaced(server, there, tmp_path):
    here, url = tmp_path / "here.ragfile", server.url("kb.ragfile")
    ragfile.pull(url, here, key=KEY)
    before = here.read_bytes()
    edited(there, 1)
    data = bytearray(there.read_bytes())
    data[-(-len(before) // 4096) * 4096 + 600] ^= 1  # inside the first new block
    server.files["kb.ragfile"] = bytes(data)
    with pytest.raises(CorruptError):
        ragfile.pull(url, here, key=KEY)
    assert here.read_bytes() == before


def test_a_dead_writers_bytes_are_left_out(server, there, tmp_path):
    here, url = tmp_path / "here.ragfile", server.url("kb.ragfile")
    whole = there.read_bytes()
    edited(there, 1)
    grown = there.read_bytes()
    server.files["kb.ragfile"] = grown[: len(whole) + (len(grown) - len(whole)) // 2]
    ragfile.pull(url, here, key=KEY)
    assert whole.startswith(here.read_bytes())  # parity ends a file, or is left out
    assert len(ids(here)) == 900
    publish(server, there)
    ragfile.pull(url, here, key=KEY)
    assert here.read_bytes() == grown


def test_nothing_readable_is_in_the_cache_of_urls(server, there, tmp_path):
    """The folder of cache= has the encrypted blocks; the local file of a reader has no name."""
    cache = tmp_path / "cache"
    with ragfile.open(server.url("kb.ragfile"), key=KEY, cache=cache) as rf:
        for mode in ("hybrid", "bm25", "vector"):
            assert SECRET in rf.search("owls and lamps", mode=mode)[0].text
        assert len(list(rf.documents())) == 900
    stored = b"".join(path.read_bytes() for path in cache.rglob("*") if path.is_file())
    data = there.read_bytes()
    assert any(
        stored[at : at + 4096] == data[at : at + 4096] for at in range(8192, len(data), 4096)
    )
    for word in (SECRET.encode(), b"lamps", b"rag.text", b"RAGFILE"):
        assert word not in stored
