"""The npm package and a static site answer from an encrypted file as from a plain one, given its key."""

import json
import random

import pytest
from doors.browser.node import Reader
from servers.site_server import SiteServer

import ragfile

pytestmark = pytest.mark.usefixtures("web_files")

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
WORDS = ["pods", "gardens", "rivers", "clocks", "kettles", "bridges", "violins", "owls"]


def documents():
    chance = random.Random(3)
    return [
        {
            "id": f"{i:03}.md",
            "text": " ".join(chance.choices(WORDS, k=chance.randrange(5, 90))),
            "metadata": {"year": 2000 + i % 7},
        }
        for i in range(150)
    ]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encrypted")
    plain, closed = folder / "plain.ragfile", folder / "closed.ragfile"
    for path, more in ((plain, {}), (closed, {"key": KEY, "parity": 5})):
        ragfile.build(documents(), path, **more)
        with ragfile.edit(path, key=KEY) as w:
            w.upsert([{"id": "new.md", "text": "an accordion between rivers"}])
            w.delete(["003.md"])
    ragfile.rekey(closed, key=KEY, add=OTHER)
    return plain, closed


def answers(reader):
    questions = ("rivers and owls", "an accordion", "a bridge over a river")
    return [
        reader("search", question, {"k": 7, "mode": mode, "where": where})
        for question in questions
        for mode in ("hybrid", "bm25", "vector")
        for where in (None, {"year": 2003})
    ]


@pytest.mark.parametrize("place", ["disk", "blob"])
def test_an_encrypted_file_answers_like_the_plain_one(files, place):
    with Reader(files[0]) as plain:
        plain("open")
        wanted, document = answers(plain), plain("document", "new.md")
    for key in (KEY.hex(), OTHER.hex().upper(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="):
        with Reader(files[1], key=key, asBlob=place == "blob") as closed:
            assert closed("open")["length"] == 150
            assert answers(closed) == wanted
            assert closed("document", "new.md") == document
            assert closed("verify") == []


def test_a_file_behind_a_url_is_fetched_in_part(tmp_path):
    from servers.range_server import RangeServer

    path, chance = tmp_path / "kb.ragfile", random.Random(4)
    texts = [" ".join(chance.choices(WORDS, k=60)) for _ in range(6000)]
    ragfile.build([{"id": f"{i}", "text": text} for i, text in enumerate(texts)], path, key=KEY)
    with (
        RangeServer({"kb.ragfile": path.read_bytes()}) as server,
        Reader(server.url("kb.ragfile"), key=KEY.hex()) as file,
    ):
        file("open")
        assert file("search", "owls and violins", {"mode": "bm25"})["hits"]
        assert file("memory")["received"] < path.stat().st_size / 2


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "the file is encrypted: give its key"),
        ((b"x" * 32).hex(), "the key does not open the file"),
        ("short", "is no key"),
    ],
)
def test_a_missing_or_wrong_key_is_one_error(files, key, why):
    with Reader(files[1], key=key) as file:
        answer = file.answer("open")
    assert answer["error"] == "EncryptionError"
    assert why in answer["message"]


def test_a_changed_block_is_an_error_and_a_damaged_page_of_the_header_is_not(files, tmp_path):
    data, path = bytearray(files[1].read_bytes()), tmp_path / "changed.ragfile"
    data[300] ^= 1
    path.write_bytes(data)
    with Reader(path, key=KEY.hex()) as file:
        file("open")
    with ragfile.open(files[1], key=KEY) as rf:
        entry = rf.file.reader.entry("rag.text", 1)
    data[8192 + (entry["at"] + 100) // 4032 * 4096 + 200] ^= 1
    path.write_bytes(data)
    with Reader(path, key=KEY.hex()) as file:
        file("open")
        found = [
            file.answer("search", word, {"k": 150, "mode": "bm25"}).get("error") for word in WORDS
        ]
        assert "CorruptError" in found
        assert file("verify")


def test_a_site_of_an_encrypted_file_shows_nothing_of_it(files, tmp_path):
    with ragfile.using_key(KEY):
        names = ragfile.site(files[1], tmp_path / "public")
    about = json.loads((tmp_path / "public" / "site.json").read_text())
    assert about["encrypted"]
    assert about["facets"]["fields"] == []
    assert (tmp_path / "public" / about["file"]).read_bytes() == files[1].read_bytes()
    own = b"".join((tmp_path / "public" / n).read_bytes() for n in names if n != about["file"])
    for secret in (b"between rivers", b"003.md"):
        assert secret not in own
    with pytest.raises(ragfile.EncryptionError):
        ragfile.site(files[1], tmp_path / "other")


# ------------------------------------------------------------------------------------- Chromium --


@pytest.mark.parametrize("is_asked", [False, True])
def test_the_page_takes_the_key_from_its_address_or_asks_for_it(files, tmp_path, browser, is_asked):
    with ragfile.using_key(KEY):
        ragfile.site(files[1], tmp_path / "public", meaning=False)
    page, said = browser.new_page(), []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: dialog.accept(KEY.hex()))
    with SiteServer(tmp_path / "public") as server:
        page.goto(f"{server.url}/?q=accordion" + ("" if is_asked else f"#key={KEY.hex()}"))
        first = page.locator(".passage").first
        first.wait_for(timeout=30_000)
        assert "an accordion between rivers" in first.inner_text()
        assert "key=" not in page.url
        assert not any(KEY.hex() in str(asked) for asked in server.log)
    assert said == []
    page.close()
