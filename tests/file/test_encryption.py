"""Encrypted files answer, change and break like plain ones, and nothing is readable without their key."""

import os
import pickle
import random
import re
import struct
import subprocess
import sys
import threading

import pytest

import ragfile
from ragfile import _core
from ragfile.ground import encryption_keys

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
MODES = ("hybrid", "bm25", "vector")
HEADER, STRIDE, PAYLOAD = 8192, 4096, 4032


def documents(count=120, seed=1):
    chance = random.Random(seed)
    words = ["pods", "gardens", "rivers", "clocks", "kettles", "bridges", "violins", "owls"]
    return [
        {
            "id": f"{i:03}.md", "text": " ".join(chance.choices(words, k=chance.randrange(5, 90))),
            "metadata": {"year": 2000 + i % 7},
        }
        for i in range(count)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encrypted")
    ragfile.build(documents(), folder / "plain.ragfile")
    ragfile.build(documents(), folder / "closed.ragfile", key=KEY)
    return folder


@pytest.fixture
def files(made, tmp_path):
    """Copies of a plain and an encrypted file with the same content."""
    for name in ("plain.ragfile", "closed.ragfile"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    return tmp_path / "plain.ragfile", tmp_path / "closed.ragfile"


def answers(rf):
    questions = ("rivers and owls", "kettles", "a bridge over a river")
    found = [
        [(h.id, h.score, h.text, h.metadata) for h in rf.search(q, mode=mode, k=7, where=where)]
        for q in questions for mode in MODES for where in (None, {"year": 2003})
    ]  # fmt: skip
    return found + [[(h.id, h.score) for h in hits] for hits in rf.search_batch(questions, k=5)]


def assert_alike(plain, closed):
    with ragfile.open(plain) as a, ragfile.open(closed, key=KEY) as b:
        assert answers(a) == answers(b)
        assert len(a) == len(b)
    with ragfile.using_key(KEY):
        assert ragfile.verify(closed)[0] == []


def blocks(path):
    """(salt, nonce, length) of each block."""
    data = path.read_bytes()
    heads = [data[at : at + 48] for at in range(HEADER, len(data), STRIDE)]
    return [(h[:32], h[32:44], struct.unpack("<I", h[44:])[0]) for h in heads]


# ------------------------------------------------------------------------------------------------ keys


def test_an_encrypted_file_answers_like_a_plain_one_to_the_bit(files):
    assert_alike(*files)


def test_a_key_is_bytes_a_file_a_function_or_the_environment(files, tmp_path, monkeypatch):
    closed, key_file = files[1], tmp_path / "kb.key"
    for text in (KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b"\n"):
        key_file.write_bytes(text)
        for key in (text, key_file, str(key_file), lambda text=text: text, lambda: key_file):
            ragfile.open(closed, key=key).close()
    monkeypatch.setenv("RAGFILE_KEY_FILE", str(key_file))
    ragfile.open(closed).close()
    monkeypatch.setenv("RAGFILE_KEY", OTHER.hex())  # the text counts before the file
    with pytest.raises(ragfile.EncryptionError):
        ragfile.open(closed)
    ragfile.open(closed, key=KEY).close()


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "the file is encrypted: give its key with key="),
        (OTHER, "the key does not open the file, which has another one"),
        (b"short", "the key is no key: it needs 32 bytes"),
    ],
)
def test_a_missing_or_wrong_key_is_one_error_that_says_so(files, key, why, monkeypatch):
    monkeypatch.delenv("RAGFILE_KEY", raising=False)
    before = files[1].read_bytes()
    calls = (
        lambda: ragfile.open(files[1]), lambda: ragfile.edit(files[1]).close(),
        lambda: ragfile.compact(files[1]), lambda: ragfile.verify(files[1]),
        lambda: ragfile.log(files[1]), lambda: ragfile.rekey(files[1], add=KEY),
    )  # fmt: skip
    for call in calls:
        with ragfile.using_key(key), pytest.raises(ragfile.EncryptionError, match=why):
            call()
    assert files[1].read_bytes() == before


def test_a_plain_file_ignores_a_key(files):
    with ragfile.open(files[0], key=OTHER) as rf, ragfile.edit(files[0], key=OTHER) as w:
        assert rf.search("owls")
        w.delete(["001.md"])


def test_keys_are_added_and_removed_and_no_block_changes(files):
    closed = files[1]
    data = closed.read_bytes()[HEADER:]
    assert ragfile.rekey(closed, key=KEY, add=OTHER) == 2
    assert ragfile.rekey(closed, key=KEY, add=OTHER) == 2  # again
    ragfile.open(closed, key=KEY).close()
    assert ragfile.rekey(closed, key=OTHER, remove=KEY) == 1
    assert closed.read_bytes()[HEADER:] == data
    ragfile.open(closed, key=OTHER).close()
    with pytest.raises(ragfile.EncryptionError, match="does not open"):
        ragfile.open(closed, key=KEY)
    with pytest.raises(ragfile.EncryptionError, match="none of its keys"):
        ragfile.rekey(closed, key=OTHER, remove=KEY)
    with pytest.raises(ValueError, match="would have no key"):
        ragfile.rekey(closed, key=OTHER, remove=OTHER)
    with ragfile.edit(closed, key=OTHER) as w:
        w.delete(["001.md"])
    with ragfile.using_key(OTHER):
        ragfile.compact(closed)
    with pytest.raises(ragfile.EncryptionError):  # a compacted file has the same keys
        ragfile.open(closed, key=KEY)


def test_a_removed_slot_is_in_neither_page(files):
    closed = files[1]
    salt = _core.encryption_header(closed.read_bytes())["slots"][0][0]
    ragfile.rekey(closed, key=KEY, add=OTHER)
    ragfile.rekey(closed, key=OTHER, remove=KEY)
    assert salt not in closed.read_bytes()


def test_a_change_of_keys_that_dies_leaves_the_old_keys_or_the_new_ones(files):
    """Each page is written and synced by itself; either one alone is enough."""
    closed = files[1]
    old = closed.read_bytes()[:HEADER]
    ragfile.rekey(closed, key=KEY, add=OTHER)
    new = closed.read_bytes()[:HEADER]
    rest = closed.read_bytes()[HEADER:]
    for torn in range(0, 4096, 512):  # the second page is written first, the first one holds
        closed.write_bytes(old[:4096] + new[4096 : 4096 + torn] + old[4096 + torn :] + rest)
        ragfile.open(closed, key=KEY).close()
        closed.write_bytes(new[:torn] + old[torn:4096] + new[4096:] + rest)
        for key in (KEY, OTHER):
            ragfile.open(closed, key=key).close()


def test_a_file_has_at_most_thirty_keys(files):
    for i in range(1, 30):
        assert ragfile.rekey(files[1], key=KEY, add=bytes([i]) * 32) == i + 1
    with pytest.raises(ValueError, match="has 30 keys"):
        ragfile.rekey(files[1], key=KEY, add=b"\xff" * 32)
    with pytest.raises(ragfile.EncryptionError, match="which has 30 other ones"):
        ragfile.open(files[1], key=b"\xff" * 32)


# --------------------------------------------------------------------------------------------- changes


def change(path, step, key=None):
    chance = random.Random(step)
    with ragfile.edit(path, key=key, message=f"step {step}", created=step + 1) as w:
        w.upsert(documents(chance.randrange(1, 9), seed=step))
        w.delete([f"{60 + 3 * step:03}.md"])


def test_edits_answer_like_those_of_a_plain_file(files):
    for step in range(12):
        change(files[0], step)
        change(files[1], step, KEY)
        if step % 4 == 3:
            assert_alike(*files)
    with ragfile.using_key(KEY):
        plain, closed = ragfile.log(files[0]), ragfile.log(files[1])
    assert [(c["generation"], c["message"], c["chunks"]) for c in plain] == [
        (c["generation"], c["message"], c["chunks"]) for c in closed
    ]


def test_compaction_gives_a_new_file_with_the_bytes_of_the_plain_one(files):
    for step in range(3):
        change(files[0], step)
        change(files[1], step, KEY)
    before = _core.encryption_header(files[1].read_bytes())
    with ragfile.using_key(KEY):
        ragfile.compact(files[1])
        ragfile.compact(files[0])
        found = bytes(ragfile.file.source.opened_map(str(files[1])))
    after = _core.encryption_header(files[1].read_bytes())
    assert found == files[0].read_bytes()
    assert after["slots"] == before["slots"]
    assert after["id"] != before["id"]


def test_no_pair_of_salt_and_nonce_comes_twice_also_in_copies_that_are_edited_apart(files):
    closed, copy = files[1], files[1].with_name("copy.ragfile")
    copy.write_bytes(closed.read_bytes())
    shared = set(blocks(closed))
    for step in range(4):
        change(closed, step, KEY)
        change(copy, step, KEY)  # the same change
    own = [set(blocks(path)) - shared for path in (closed, copy)]
    assert own[0]
    assert {(s, n) for s, n, _ in own[0]}.isdisjoint((s, n) for s, n, _ in own[1])
    assert {s for s, _, _ in own[0]}.isdisjoint({s for s, _, _ in own[1]})  # another key each
    every = [pair[:2] for pair in blocks(closed)]
    assert len(set(every)) == len(every)


def test_a_commit_changes_no_block_that_was_committed(files):
    closed = files[1]
    for step in range(6):
        before = closed.read_bytes()
        change(closed, step, KEY)
        assert closed.read_bytes()[: len(before)] == before


def test_the_padding_of_commits_is_not_counted_as_abandoned(files):
    closed = files[1]
    for step in range(3):
        change(closed, step, KEY)
    with ragfile.using_key(KEY):
        assert ragfile.verify(closed)[1]["abandoned"] == 0
        before = closed.read_bytes()
        change(closed, 3, KEY)
        closed.write_bytes(closed.read_bytes()[:-STRIDE])  # a writer that died
        change(closed, 4, KEY)
        faults, counts = ragfile.verify(closed)
    assert faults == []
    assert PAYLOAD <= counts["abandoned"] < len(closed.read_bytes()) - len(before)


def test_a_block_of_another_place_file_or_commit_is_found(files):
    closed = files[1]
    for step in range(3):
        change(closed, step, KEY)
    data, other = closed.read_bytes(), closed.with_name("other.ragfile")
    ragfile.build(documents(), other, key=KEY)
    with ragfile.using_key(KEY):
        whole = ragfile.file.source.opened_map(str(closed))
    assert whole.bad_blocks() == (0, 0)
    full = [HEADER + i * STRIDE for i, b in enumerate(blocks(closed)[:40]) if b[2] == PAYLOAD]
    for at, source in ((full[3], data[full[9] :]), (full[3], other.read_bytes()[full[3] :])):
        closed.write_bytes(data[:at] + source[:STRIDE] + data[at + STRIDE :])
        with ragfile.using_key(KEY):
            assert ragfile.file.source.opened_map(str(closed)).bad_blocks() == (1, at)
            faults, _ = ragfile.verify(closed)
        assert faults


def test_damage_in_a_section_names_the_encrypted_block(files):
    data = bytearray(files[1].read_bytes())
    with ragfile.open(files[1], key=KEY) as rf:
        entry = rf.file.reader.entry("rag.text", 1)
    block = HEADER + (entry["at"] + entry["size"] // 2) // PAYLOAD * STRIDE
    data[block + 100] ^= 1
    files[1].write_bytes(data)
    why = re.escape(f"an encrypted block was changed, moved or cut (byte {block})")
    with ragfile.open(files[1], key=KEY) as rf, pytest.raises(ragfile.CorruptError, match=why):
        rf.file.reader.section("rag.text", 1).check()
    data = bytearray(files[1].read_bytes())
    data[HEADER + 200] ^= 1
    files[1].write_bytes(data)
    with pytest.raises(ragfile.CorruptError, match="was changed, moved or cut"):
        ragfile.open(files[1], key=KEY)


def test_a_header_without_a_whole_page_is_damage_and_not_a_wrong_key(files):
    data = bytearray(files[1].read_bytes())
    data[100] ^= 1
    files[1].write_bytes(data)
    ragfile.open(files[1], key=KEY).close()
    data[4096 + 100] ^= 1
    files[1].write_bytes(data)
    with pytest.raises(ragfile.CorruptError, match="the header of an encrypted file is damaged"):
        ragfile.open(files[1], key=KEY)


# ---------------------------------------------------------------------------------------------- crashes


def outcome(path):
    """The number of the generation that opens, and whether its answers are right."""
    with ragfile.open(path, key=KEY) as rf:
        return rf.info["generation"], answers(rf)


def test_a_commit_that_is_cut_or_torn_anywhere_leaves_the_commit_before(files):
    """Until the first sync, a commit's sectors reach the disk in any order; a cut may be anywhere."""
    closed, chance = files[1], random.Random(3)
    change(closed, 0, KEY)
    before, whole = closed.read_bytes(), None
    old = outcome(closed)
    change(closed, 1, KEY)
    whole = closed.read_bytes()
    new = outcome(closed)
    own = len(whole) - len(before)
    last = (own - 1) // STRIDE  # the footer's block is written after all others are durable
    for trial in range(60):
        if trial % 2:
            torn = whole[: len(before) + chance.randrange(own)]
        else:
            tail = bytearray(own)
            for at in range(0, own, 512):
                if chance.random() < 0.9 and at // STRIDE < last:
                    tail[at : at + 512] = whole[len(before) + at : len(before) + at + 512]
            torn = before + bytes(tail)
        closed.write_bytes(torn)
        found = outcome(closed)
        assert found in (old, new), trial
        change(closed, 2, KEY)  # the next writer steps over what is there
        with ragfile.using_key(KEY):
            assert ragfile.verify(closed)[0] == [], trial
        assert outcome(closed)[0] == found[0] + 1


KILLED = """
import os, sys
import ragfile
path, key, calls = sys.argv[1], bytes.fromhex(sys.argv[2]), int(sys.argv[3])
from ragfile.ground import encryption_keys
encrypt = encryption_keys.BlockCipher.encrypt
def counted(self, *given):
    global calls
    calls -= 1
    if calls < 0:
        os.kill(os.getpid(), 9)
    return encrypt(self, *given)
encryption_keys.BlockCipher.encrypt = counted
with ragfile.edit(path, key=key, created=9) as w:
    w.upsert([{"id": f"new{i}.md", "text": "owls and lamps " * 30} for i in range(40)])
"""


def test_a_writer_that_is_killed_at_any_block_leaves_the_file_as_it_was(files):
    closed = files[1]
    base = closed.read_bytes()
    old = outcome(closed)
    for calls in (0, 1, 5, 1000):
        closed.write_bytes(base)
        run = subprocess.run(
            [sys.executable, "-c", KILLED, closed, KEY.hex(), str(calls)], check=False
        )
        killed = run.returncode != 0
        assert killed == (calls < 1000)
        assert (outcome(closed) == old) == killed
        change(closed, 3, KEY)
        with ragfile.using_key(KEY):
            assert ragfile.verify(closed)[0] == []


def test_a_failed_commit_frees_its_room_and_the_next_one_is_whole(files):
    closed = files[1]
    with pytest.raises(RuntimeError), ragfile.edit(closed, key=KEY) as w:
        w.upsert(documents(30, seed=8))
        w.draft.write()
        raise RuntimeError
    change(files[0], 4)
    change(closed, 4, KEY)
    assert_alike(*files)


# ------------------------------------------------------------------------------- threads, forks, pickles


def test_threads_that_open_a_file_together_see_whole_blocks(files):
    with ragfile.open(files[0]) as rf:
        wanted = answers(rf)
    with ragfile.open(files[1], key=KEY) as rf:
        wrong = []

        def ask():
            if answers(rf) != wanted:
                wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_reads_on_by_itself(files):
    with ragfile.open(files[0]) as rf:
        wanted = answers(rf)
    with ragfile.open(files[1], key=KEY) as rf:
        rf.search("owls", mode="bm25")
        pid = os.fork()
        if not pid:
            os._exit(answers(rf) != wanted)
        assert os.waitpid(pid, 0)[1] == 0
        assert answers(rf) == wanted


def test_an_open_file_is_pickled_with_its_key(files):
    with ragfile.open(files[1], key=KEY) as rf:
        again = pickle.loads(pickle.dumps(rf))
        assert answers(again) == answers(rf)


def test_refresh_and_a_kept_writer_go_on_with_the_key(files):
    closed = files[1]
    with ragfile.open(closed, key=KEY) as rf, ragfile.writer(closed, key=KEY) as kb:
        for i in range(4):
            with kb.edit(message=str(i)) as w:
                w.upsert([{"id": "fresh.md", "text": f"an accordion {i}"}])
            rf.refresh()
            assert rf.search("accordion", mode="bm25")[0].text == f"an accordion {i}"


def test_older_generations_open_and_are_dropped(files):
    closed = files[1]
    with ragfile.edit(closed, key=KEY, keep="all") as w:
        w.delete(["003.md"])
    for step in range(3):
        change(closed, step, KEY)
    with ragfile.open(closed, key=KEY, generation=1) as rf:
        assert len(rf) == 120
    keep = _core.encryption_header(closed.read_bytes())["slots"]
    with ragfile.using_key(KEY):
        from ragfile.write.old_generations import drop_older

        for kept in (2, 1):
            assert drop_older(closed, kept)
            assert ragfile.verify(closed)[0] == []
            assert len(ragfile.log(closed)) == kept
    assert _core.encryption_header(closed.read_bytes())["slots"] == keep


# ----------------------------------------------------------------------------------- what is refused


def test_what_would_write_plain_bytes_is_refused(files, tmp_path):
    with pytest.raises(ValueError, match="embedding cache is not encrypted"):
        ragfile.build(documents(3), tmp_path / "a.ragfile", key=KEY, embedding_cache=tmp_path)
    with pytest.raises(ValueError, match="embedding cache is not encrypted"):
        ragfile.edit(files[1], key=KEY, embedding_cache=tmp_path)
    assert not (tmp_path / "a.ragfile").exists()


def test_derived_keys_are_those_of_hkdf():
    """The second output of RFC 5869, A.1, cut to one block, by cryptography's own HKDF."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    made = HKDF(SHA256(), 32, b"s" * 32, b"ragfile block 1").derive(KEY)
    assert encryption_keys.derived(KEY, b"s" * 32, b"ragfile block 1") == made


class Letters:
    """An embedder that counts as slow, so that caches would keep its vectors."""

    model = ragfile.Model("letters", 3)

    def embed(self, texts, role="document"):
        import numpy as np

        return np.array([[1.0, text.count("o"), text.count("e")] for text in texts], np.float32)


def test_no_cache_keeps_vectors_of_an_encrypted_file(tmp_path, monkeypatch):
    """Not even that of the environment, which a plain file uses."""
    monkeypatch.setenv("RAGFILE_CACHE", str(tmp_path / "cache"))

    def life(path, key):
        ragfile.build(documents(5), path, embedder=Letters(), key=key)
        with ragfile.edit(path, key=key, embedder=Letters()) as w:
            w.upsert([{"id": "one.md", "text": "owls"}])
        with ragfile.open(path, key=key, embedder=Letters()) as rf:
            assert rf.search("owls")
        with ragfile.using_key(key):
            ragfile.reindex(path, embedder=Letters(), chunking="words:20/2")

    life(tmp_path / "closed.ragfile", KEY)
    assert not (tmp_path / "cache").exists()
    with pytest.raises(ValueError, match="embedding cache is not encrypted"):
        ragfile.open(tmp_path / "closed.ragfile", key=KEY, embedding_cache=tmp_path / "cache")


# ------------------------------------------------------------------------------- signatures, layers, sources


def test_a_signature_holds_over_an_encrypted_file_and_not_over_a_forged_one(files, tmp_path):
    closed = files[1]
    public = ragfile.new_key(tmp_path / "me.key")
    with ragfile.using_key(KEY):
        ragfile.sign(closed, tmp_path / "me.key", signer="me")
        assert ragfile.verify(closed, keys=[tmp_path / "me.key.pub"])[0] == []
    with ragfile.open(closed, key=KEY, trusted=[public.raw.hex()]) as rf:
        assert rf.search("owls")
        assert [s.signer for s in rf.file.signatures] == ["me"]
    with ragfile.edit(closed, key=KEY) as w:
        w.upsert([{"id": "001.md", "text": "forged by somebody with the key"}])
    with pytest.raises(ragfile.SignatureError):
        ragfile.open(closed, key=KEY, trusted=[public.raw.hex()])


def test_a_checksum_finds_a_block_of_a_copy_that_was_edited_apart_with_the_key(files, tmp_path):
    """The cipher accepts such a block: id and index are the same, and both copies have the data key."""
    closed, copy = files[1], tmp_path / "copy.ragfile"
    copy.write_bytes(closed.read_bytes())
    before = len(closed.read_bytes())
    for path, text in ((closed, "an accordion " * 700), (copy, "a harmonica   " * 700)):
        with ragfile.edit(path, key=KEY, created=1) as w:
            w.upsert([{"id": "new.md", "text": text, "metadata": {"t": os.urandom(9000).hex()}}])
    one, two = closed.read_bytes(), copy.read_bytes()
    at = before // STRIDE * STRIDE + 2 * STRIDE
    with ragfile.using_key(KEY):
        closed.write_bytes(one[:at] + two[at : at + STRIDE] + one[at + STRIDE :])
        assert ragfile.file.source.opened_map(str(closed)).bad_blocks() == (0, 0)
        assert ragfile.verify(closed)[0]  # by a checksum inside


def test_layers_mix_encrypted_and_plain_files(files, tmp_path):
    plain, closed = files
    top = tmp_path / "top.ragfile"
    with ragfile.create(top, embedder="default", key=OTHER) as w:
        w.add_documents([{"id": "005.md", "text": "an accordion instead"}])
    ragfile.rekey(top, key=OTHER, add=KEY)
    with ragfile.open([plain, top], key=KEY) as a, ragfile.open([closed, top], key=KEY) as b:
        assert answers(a) == answers(b)
        assert a.search("accordion", mode="bm25")[0].id == b.search("accordion", mode="bm25")[0].id
    with ragfile.edit([plain, top], key=KEY) as w:
        w.delete(["007.md"])
    with ragfile.open([plain, top], key=KEY) as view:
        assert len(view) == 119


def test_a_sync_follows_its_folder(tmp_path):
    folder, path = tmp_path / "docs", tmp_path / "kb.ragfile"
    folder.mkdir()
    (folder / "a.md").write_text("# Owls\n\nOwls see at night.")
    ragfile.build(folder, path, key=KEY)
    (folder / "a.md").write_text("# Owls\n\nOwls hear at night.")
    (folder / "b.md").write_text("# Lamps\n\nLamps are warm.")
    with ragfile.using_key(KEY):
        report = ragfile.sync(path, folder)
        ragfile.add(path, folder)
    assert (len(report.added), len(report.changed)) == (1, 1)
    with ragfile.open(path, key=KEY) as rf:
        assert "hear" in rf.search("owls at night")[0].text


# ------------------------------------------------------------------------------------------- behind a URL


def test_a_file_behind_a_url_is_read_in_part_and_answers_alike(files):
    pytest.importorskip("httpx2", reason="the http extra is not installed")
    from servers.range_server import RangeServer

    plain, closed = files
    for step in range(3):
        change(plain, step)
        change(closed, step, KEY)
    with RangeServer({"kb.ragfile": closed.read_bytes()}) as server:
        url = server.url("kb.ragfile")
        with ragfile.open(plain) as a, ragfile.open(url, key=KEY) as b:
            assert answers(a) == answers(b)
            again = pickle.loads(pickle.dumps(b))
            assert answers(again) == answers(a)
        with pytest.raises(ragfile.EncryptionError, match="the key does not open"):
            ragfile.open(url, key=OTHER)
        with ragfile.using_key(KEY):
            assert ragfile.verify(url)[0] == []
            assert len(ragfile.log(url)) == 4


def test_a_large_file_behind_a_url_is_not_fetched_whole(tmp_path):
    pytest.importorskip("httpx2", reason="the http extra is not installed")
    from servers.range_server import RangeServer

    path = tmp_path / "kb.ragfile"
    ragfile.build(documents(6000), path, key=KEY)
    data = path.read_bytes()
    with RangeServer({"kb.ragfile": data}) as server:
        with ragfile.open(server.url("kb.ragfile"), key=KEY) as rf:
            assert rf.search("owls and violins", mode="bm25")
        fetched = sum(end - start for _, start, end, status in server.requests if status == 206)
    assert 0 < fetched < len(data) / 2


# ------------------------------------------------------------------------------------------------- doors


def run(*arguments, **more):
    """Run a command of the command line in another process."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAGFILE_KEY")} | more
    return subprocess.run(
        [sys.executable, "-m", "ragfile", *map(str, arguments)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip


def test_commands_take_the_key_from_a_file_or_a_variable(tmp_path):
    folder, key, path = tmp_path / "docs", tmp_path / "kb.key", tmp_path / "kb.ragfile"
    folder.mkdir()
    (folder / "a.md").write_text("# Owls\n\nOwls see at night.")
    assert run("rekey", "--new-key", key).returncode == 0
    assert key.stat().st_mode & 0o077 == 0 or os.name == "nt"
    assert run("build", folder, "-o", path, "--key-file", key).returncode == 0
    assert path.read_bytes()[:8] == b"RAGCRYPT"
    assert "Owls see" in run("search", path, "owls", "--key-file", key).stdout
    assert "Owls see" in run("search", path, "owls", RAGFILE_KEY_FILE=str(key)).stdout
    assert "Owls see" in run("ask", path, "When do owls see?", RAGFILE_KEY=key.read_text()).stdout
    assert "Owls see" in run("export", path, "--key-file", key).stdout
    for command in (("search", path, "owls"), ("verify", path), ("log", path), ("compact", path)):
        failed = run(*command)
        assert failed.returncode == 1
        assert failed.stderr.count("\n") == 1
        assert "the file is encrypted: give its key with --key-file" in failed.stderr
    shown = run("info", path)
    assert "1.0, encrypted" in shown.stdout
    assert "chunks" not in shown.stdout
    assert "chunks" in run("info", path, "--key-file", key).stdout
    refused = run("build", folder, "-o", path)  # a forgotten key does not make it plain
    assert refused.returncode == 1
    assert path.read_bytes()[:8] == b"RAGCRYPT"
    assert run("build", folder, "-o", path, "--encrypt", RAGFILE_KEY_FILE=str(key)).returncode == 0
    damaged = bytearray(path.read_bytes())
    damaged[100] ^= 1
    damaged[4196] ^= 1
    path.write_bytes(damaged)
    failed = run("info", path)
    assert failed.returncode == 5
    assert "the header of an encrypted file is damaged" in failed.stderr


def test_the_http_and_mcp_servers_answer_and_change_an_encrypted_file(files, monkeypatch):
    pytest.importorskip("starlette", reason="the server extra is not installed")
    from starlette.testclient import TestClient

    from ragfile.doors.server.app import make_app
    from ragfile.doors.server.settings import Settings

    monkeypatch.setenv("RAGFILE_KEY", KEY.hex())
    with TestClient(make_app(Settings((str(files[1]),))), base_url="http://127.0.0.1") as client:
        name = files[1].stem
        found = client.post(f"/v1/collections/{name}/search", json={"query": "owls"})
        assert found.status_code == 200, found.text
        assert found.json()["hits"]
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "search", "arguments": {"query": "owls"}}}  # fmt: skip
        answer = client.post("/mcp", json=call, headers={"Accept": "application/json"})
        assert "owls" in answer.text
