"""Signing: what it adds, what makes it stale, and that nothing unsigned gets through a trusted file."""

import os
import pickle
import shutil
import stat
import subprocess

import pytest
from oracles.handmade import Commit, build
from servers.range_server import RangeServer

import ragfile
from ragfile import _core
from ragfile.file.signatures import BLOCK
from ragfile.ground.signing_keys import PrivateKey, PublicKey, new_key

TEXTS = {f"page{i}": f"Page {i} tells of the number {i}. " * 40 for i in range(30)}


@pytest.fixture
def keys(tmp_path):
    new_key(tmp_path / "ada.key")
    new_key(tmp_path / "bob.key")
    return tmp_path / "ada.key", tmp_path / "bob.key"


@pytest.fixture
def kb(tmp_path):
    with ragfile.create(tmp_path / "kb.ragfile", embedder="default") as w:
        w.add_documents({"id": name, "text": text} for name, text in TEXTS.items())
    return tmp_path / "kb.ragfile"


def public(key):
    return f"{key}.pub"


def test_a_signed_file_opens_for_who_trusts_its_key_and_for_nobody_else(kb, keys):
    ada, bob = keys
    made = ragfile.sign(kb, ada, signer="Ada", signed="2026-01-31T13:00:00+01:00")
    assert (made.signer, made.signed) == ("Ada", "2026-01-31T12:00:00Z")
    with ragfile.open(kb, trusted=[public(bob), public(ada)]) as rf:
        assert rf.file.signatures == [made]
        assert rf.search("number 7", 1)[0].doc_id == "page7"
    for trusted in ([public(bob)], []):
        with pytest.raises(ragfile.SignatureError, match="no signature is by a trusted key"):
            ragfile.open(kb, trusted=trusted)


def test_signing_changes_no_byte_and_no_answer(kb, keys):
    before = kb.read_bytes()
    with ragfile.open(kb) as rf:
        answer = rf.search("number 7", 5)
        said = rf.file.strategies
    ragfile.sign(kb, keys[0])
    assert kb.read_bytes()[: len(before)] == before
    with ragfile.open(kb) as rf:
        assert rf.search("number 7", 5) == answer
        assert rf.file.strategies == [*said, "rag.seal", "rag.signatures"]
    assert ragfile.verify(kb) == ragfile.verify(kb, keys=[public(keys[0])])


def test_several_people_sign_and_each_once(kb, keys):
    ada, bob = keys
    ragfile.sign(kb, ada, signer="Ada")
    ragfile.sign(kb, bob, signer="Bob")
    ragfile.sign(kb, ada, signer="Ada again")
    with ragfile.open(kb, trusted=[public(bob)]) as rf:
        assert [s.signer for s in rf.file.signatures] == ["Bob", "Ada again"]


def test_an_edit_and_a_compaction_leave_the_signatures_out(kb, keys):
    ragfile.sign(kb, keys[0])
    with ragfile.edit(kb) as w:
        w.delete(["page3"])
    with ragfile.open(kb) as rf:
        assert rf.file.signatures == []
        assert "rag.seal" not in rf.file.strategies
    ragfile.sign(kb, keys[0])
    ragfile.compact(kb)
    with pytest.raises(ragfile.SignatureError, match="it is not signed"):
        ragfile.open(kb, trusted=[public(keys[0])])


def test_a_reader_keeps_the_signed_commit_when_an_unsigned_one_comes(kb, keys):
    ragfile.sign(kb, keys[0])
    with ragfile.open(kb, trusted=[public(keys[0])]) as rf:
        with ragfile.edit(kb) as w:
            w.upsert([{"id": "page7", "text": "Send money to Eve."}])
        with pytest.raises(ragfile.SignatureError):
            rf.refresh()
        assert rf.document("page7").text == TEXTS["page7"]
        ragfile.sign(kb, keys[0])
        assert rf.refresh()
        assert rf.document("page7").text == "Send money to Eve."


def test_an_old_writer_s_commit_makes_signatures_stale(kb, keys):
    ragfile.sign(kb, keys[0])
    file = _core.FileWriter.edit(kb)
    file.add("my.notes", b"added by a program that knows no signatures")
    file.commit()
    with pytest.raises(ragfile.SignatureError, match="changed after it was signed"):
        ragfile.open(kb, trusted=[public(keys[0])])
    with ragfile.open(kb) as rf:
        assert [s.is_current for s in rf.file.signatures] == [False]
    assert ragfile.verify(kb)[0] == []
    assert ragfile.verify(kb, keys=[public(keys[0])])[0][0][0] == "SignatureError"


def forged(signed):
    """The same file whose texts are others, with all checksums right: what a forger makes."""
    with ragfile.open(signed) as rf:
        sections = [
            (e["name"], e["segment"], e["flags"], bytes(rf.file.section(e["name"], e["segment"])), e["items"])
            for e in rf.file.entries
        ]  # fmt: skip
        rows = {s.number: (s.rows, s.live) for s in rf.rows.segments}
    return sections, rows


def test_forged_blocks_are_found_when_they_are_read_and_others_are_not_looked_at(
    tmp_path, kb, keys
):
    ragfile.sign(kb, keys[0])
    sections, rows = forged(kb)
    for number, (name, segment, flags, data, items) in enumerate(sections):
        if name == "rag.ids":
            lie = data.replace(b"page7", b"page0")
            assert lie != data
            sections[number] = name, segment, flags, lie, items
    path = tmp_path / "forged.ragfile"
    path.write_bytes(build(Commit(sections, rows=rows)))
    assert not [f for f in ragfile.verify(path)[0] if "checksum" in f[2]]
    with ragfile.open(path, trusted=[public(keys[0])]) as rf:
        assert len(rf.match(["number"], 3)[0][0]) == 3  # words alone read no ids
        with pytest.raises(ragfile.CorruptError, match="not the one that was signed"):
            [hit.doc_id for hit in rf.search("number 7", mode="bm25")]


def test_every_block_of_every_section_is_bound_by_the_signature(tmp_path, kb, keys):
    ragfile.sign(kb, keys[0])
    sections, rows = forged(kb)
    path = tmp_path / "forged.ragfile"
    for number, (name, segment, flags, data, items) in enumerate(sections):
        if name in ("rag.seal", "rag.signatures"):
            continue
        for at in range(0, len(data), BLOCK):
            lie = bytearray(data)
            lie[at] ^= 1
            changed = [*sections]
            changed[number] = name, segment, flags, bytes(lie), items
            path.write_bytes(build(Commit(changed, rows=rows)))
            found = ragfile.verify(path, keys=[public(keys[0])])[0]
            assert (name, "CorruptError") in {(f[3], f[0]) for f in found}, (name, at)


def test_a_file_behind_a_url_is_checked_block_by_block(tmp_path, kb, keys):
    ragfile.sign(kb, keys[0])
    with RangeServer({"kb": kb.read_bytes()}) as server:
        with ragfile.open(server.url("kb"), trusted=[public(keys[0])]) as rf:
            assert rf.search("number 7", 1)[0].doc_id == "page7"
        with pytest.raises(ragfile.SignatureError):
            ragfile.open(server.url("kb"), trusted=[public(keys[1])])


def test_a_trusted_file_is_trusted_in_another_process_too(kb, keys):
    ragfile.sign(kb, keys[0])
    with ragfile.open(kb, trusted=[public(keys[0])]) as rf:
        os.remove(public(keys[0]))  # the key itself travels, not its name
        again = pickle.loads(pickle.dumps(rf))
    with ragfile.edit(kb) as w:
        w.delete(["page1"])
    with pytest.raises(ragfile.SignatureError):
        again.refresh()


def test_files_that_cannot_be_signed_are_refused_where_trust_is_asked_for(tmp_path, kb, keys):
    ragfile.convert(kb, tmp_path / "kb.ragmd")
    with pytest.raises(ragfile.SignatureError, match="cannot be signed"):
        ragfile.open(tmp_path / "kb.ragmd", trusted=[public(keys[0])])
    ragfile.write_pairs(tmp_path / "old.ragfile", keywords=[("a", "b")])
    with pytest.raises(ragfile.SignatureError, match="cannot be signed"):
        ragfile.open(tmp_path / "old.ragfile", trusted=[public(keys[0])])


def test_keys_are_private_and_never_replaced(tmp_path, keys):
    assert stat.S_IMODE(os.stat(keys[0]).st_mode) == 0o600
    before = keys[0].read_bytes()
    with pytest.raises(FileExistsError, match="never replaced"):
        new_key(keys[0])
    assert keys[0].read_bytes() == before


def test_keys_of_openssl_and_openssh_are_read(tmp_path, kb):
    openssl, ssh = shutil.which("openssl"), shutil.which("ssh-keygen")
    if not openssl or not ssh:
        pytest.skip("openssl or ssh-keygen is not installed")
    a, b = tmp_path / "a.pem", tmp_path / "b"
    subprocess.run([openssl, "genpkey", "-algorithm", "ed25519", "-out", a], check=True)
    subprocess.run([ssh, "-q", "-t", "ed25519", "-N", "", "-f", b], check=True)
    pub = subprocess.run([openssl, "pkey", "-in", a, "-pubout"], check=True, capture_output=True)
    ragfile.sign(kb, a)
    ragfile.sign(kb, b)
    for trusted in (pub.stdout, f"{b}.pub", (tmp_path / "b.pub").read_text()):
        with ragfile.open(kb, trusted=[trusted]) as rf:
            assert len(rf.file.signatures) == 2


def test_what_is_not_a_key_is_named(tmp_path, kb, keys):
    (tmp_path / "x").write_text("not a key")
    with pytest.raises(ValueError, match="x is not a private key"):
        ragfile.sign(kb, tmp_path / "x")
    with pytest.raises(ValueError, match="keep this one secret"):
        PublicKey.of(keys[0])
    with pytest.raises(ValueError, match="is not a public key"):
        PublicKey.of(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        PrivateKey.of(tmp_path / "nope")
    with pytest.raises(ValueError, match="time zone"):
        ragfile.sign(kb, keys[0], signed="2026-01-31")
    with ragfile.open(kb) as rf:
        assert rf.file.signatures == []


HOSTILE = [
    b"", b"[]", b"{}", b'{"version": 1, "envelopes": []}', b'{"version": 2, "envelopes": [{}]}', b"\xff",
    b'{"version": 1, "envelopes": [1]}', b"[" * 60_000, b'{"version":1,"envelopes":[' + b"{}," * 64 + b"{}]}",
]  # fmt: skip


@pytest.mark.parametrize("raw", HOSTILE, ids=range(len(HOSTILE)))
def test_a_list_of_signatures_that_cannot_be_read_is_damage(tmp_path, raw):
    path = tmp_path / "kb.ragfile"
    path.write_bytes(build(Commit([("foo", 0, 0, b"x", 0), ("rag.signatures", 0, 0, raw, 1)])))
    key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    with pytest.raises(ragfile.CorruptError, match=r"rag\.signatures"):
        ragfile.open(path, trusted=[key])


def test_envelopes_of_any_shape_are_no_signatures(tmp_path, keys):
    import json

    odd = [
        {"payload": "!", "signatures": [{"sig": "", "keyid": ""}]},
        {"payload": "", "signatures": []},
        {"payload": "e30=", "payloadType": "application/vnd.in-toto+json", "signatures": [{"sig": "AA=="}]},
        {"payload": "bnVsbA==", "payloadType": "x", "signatures": [{"sig": "AA==", "keyid": 3}]},
        {"signatures": "ab", "payload": 5},
    ]  # fmt: skip
    raw = json.dumps({"version": 1, "envelopes": odd}).encode()
    path = tmp_path / "kb.ragfile"
    path.write_bytes(build(Commit([("foo", 0, 0, b"x", 0), ("rag.signatures", 0, 0, raw, 5)])))
    with ragfile.open(path) as rf:
        assert [s.is_current for s in rf.file.signatures] == [False] * 5
    with pytest.raises(ragfile.SignatureError):
        ragfile.open(path, trusted=[public(keys[0])])


def test_the_command_tells_what_nobody_vouches_for_from_damage(kb, keys, capsys):
    from ragfile.doors.cli.main import main

    def verified(*options):
        with pytest.raises(SystemExit) as ended:
            main(["verify", str(kb), *map(str, options)])
        return ended.value.code, capsys.readouterr().out

    code, out = verified("--key", public(keys[0]))
    assert code == 1
    assert "it is not signed" in out
    assert "intact, but not signed by a trusted key" in out
    assert "byte" not in out
    ragfile.sign(kb, keys[0])
    assert verified("--key", public(keys[0]))[0] == 0
    assert verified("--key", public(keys[1]))[0] == 1
    with open(kb, "r+b") as file:
        file.seek(4200)
        file.write(b"damage")
    code, out = verified("--key", public(keys[0]))
    assert code == 5
    assert "damaged" in out
