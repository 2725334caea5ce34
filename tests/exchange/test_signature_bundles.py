"""Bundles of OpenSSF Model Signing: its verifier accepts ours, and we accept what it made.

The files in tests/data were made by model-signing 1.1.1: `sign key` of spec/vectors/parity/one.ragfile
under the name kb.ragfile, and of a folder with it.
"""

import base64
import json
import shutil
import subprocess

import pytest
from places import ROOT

import ragfile
from ragfile import _core
from ragfile.exchange import signature_bundles

DATA = ROOT / "tests" / "data"
cryptography = pytest.importorskip("cryptography")


def new_key(path, curve=None):
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    key = ec.generate_private_key(curve()) if curve else ed25519.Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
    public = path.with_suffix(".pub")
    public.write_bytes(
        key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    )
    return path, public


def curves():
    from cryptography.hazmat.primitives.asymmetric import ec

    return [ec.SECP256R1, ec.SECP384R1, ec.SECP521R1]


@pytest.fixture
def kb(tmp_path):
    return shutil.copy(ROOT / "spec/vectors/parity/one.ragfile", tmp_path / "kb.ragfile")


@pytest.mark.parametrize("curve", curves(), ids=lambda curve: curve.name)
def test_a_bundle_vouches_for_the_file_as_it_is(kb, tmp_path, curve):
    before = kb.read_bytes()
    private, public = new_key(tmp_path / "ec.pem", curve)
    _, other = new_key(tmp_path / "other.pem", curve)
    key_id = ragfile.sign_bundle(kb, tmp_path / "kb.sig", private)
    assert kb.read_bytes() == before
    assert ragfile.verify_bundle(kb, tmp_path / "kb.sig", [other, public]) == key_id
    with pytest.raises(ragfile.SignatureError, match="no signature is by a trusted key"):
        ragfile.verify_bundle(kb, tmp_path / "kb.sig", [other])
    kb.write_bytes(before[:-1] + b"x")
    with pytest.raises(ragfile.SignatureError, match="changed after it was signed"):
        ragfile.verify_bundle(kb, tmp_path / "kb.sig", [public])


@pytest.mark.parametrize("bundle", ["model_signing.sig", "model_signing_folder.sig"])
def test_a_bundle_that_model_signing_made_is_accepted(kb, bundle):
    ragfile.verify_bundle(kb, DATA / bundle, [DATA / "model_signing.pub"])
    kb.write_bytes(kb.read_bytes() + b"x")
    with pytest.raises(ragfile.SignatureError, match="changed after it was signed"):
        ragfile.verify_bundle(kb, DATA / bundle, [DATA / "model_signing.pub"])


def test_the_verifier_of_model_signing_accepts_ours(kb, tmp_path):
    model_signing = pytest.importorskip("model_signing", exc_type=ImportError)
    private, public = new_key(tmp_path / "ec.pem", curves()[0])
    ragfile.sign_bundle(kb, tmp_path / "kb.sig", private)
    verifier = model_signing.verifying.Config().use_elliptic_key_verifier(public_key=public)
    verifier.verify(kb, tmp_path / "kb.sig")
    kb.write_bytes(kb.read_bytes() + b"x")
    with pytest.raises(ValueError, match=r"[Mm]ismatch|differ"):
        verifier.verify(kb, tmp_path / "kb.sig")


def test_openssl_s_keys_work(kb, tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    private, public = tmp_path / "ec.pem", tmp_path / "ec.pub"
    make = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", private]
    subprocess.run(make, check=True)
    subprocess.run(
        ["openssl", "ec", "-in", private, "-pubout", "-out", public],
        check=True,
        capture_output=True,
    )
    ragfile.sign_bundle(kb, tmp_path / "kb.sig", private)
    ragfile.verify_bundle(kb, tmp_path / "kb.sig", [public])


def test_an_ed25519_key_is_refused_with_the_way_out(kb, tmp_path):
    private, public = new_key(tmp_path / "ed.pem")
    for call in (
        lambda: ragfile.sign_bundle(kb, tmp_path / "kb.sig", private),
        lambda: ragfile.verify_bundle(kb, DATA / "model_signing.sig", [public]),
    ):
        with pytest.raises(ValueError, match="openssl ecparam -name prime256v1"):
            call()
    assert not (tmp_path / "kb.sig").exists()


def lies():
    """Bundles with one lie each, and the signature they had."""
    real = json.loads((DATA / "model_signing.sig").read_text())
    statement = json.loads(base64.b64decode(real["dsseEnvelope"]["payload"]))
    statement["predicate"]["resources"][0]["digest"] = "00" * 32
    other = base64.b64encode(json.dumps(statement).encode()).decode()
    envelope = real["dsseEnvelope"]
    return [
        {**real, "dsseEnvelope": {**envelope, "payload": other}},
        {**real, "dsseEnvelope": {**envelope, "payloadType": "text/plain"}},
        {**real, "dsseEnvelope": {**envelope, "signatures": []}},
        {**real, "dsseEnvelope": {**envelope, "signatures": [{"sig": "AAAA"}]}},
        {**real, "mediaType": "application/json"},
        {**real, "dsseEnvelope": None},
        [],
        None,
    ]


@pytest.mark.parametrize("lie", lies(), ids=range(len(lies())))
def test_a_bundle_that_lies_is_refused(kb, tmp_path, lie):
    (tmp_path / "kb.sig").write_text(json.dumps(lie))
    with pytest.raises(ragfile.SignatureError):
        ragfile.verify_bundle(kb, tmp_path / "kb.sig", [DATA / "model_signing.pub"])


def test_only_a_bundle_is_replaced(kb, tmp_path):
    private, _ = new_key(tmp_path / "ec.pem", curves()[0])
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(FileExistsError):
        ragfile.sign_bundle(kb, notes, private)
    assert notes.read_text() == "mine"
    for _ in range(2):
        ragfile.sign_bundle(kb, tmp_path / "kb.sig", private)


def test_the_command_line_signs_and_verifies(kb, tmp_path, capsys):
    from ragfile.doors.cli.main import main

    private, public = new_key(tmp_path / "ec.pem", curves()[0])

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        return ended.value.code, capsys.readouterr().out

    assert run("sign", kb, "--key", private, "--bundle", tmp_path / "kb.sig")[0] == 0
    check = ("verify", kb, "--key", public, "--bundle", tmp_path / "kb.sig")
    assert run(*check)[0] == 0
    writer = _core.FileWriter.edit(kb)
    writer.add("more", b"x")
    writer.commit()
    code, out = run(*check)
    assert code == 1
    assert "intact, but not signed by a trusted key" in out


def signed(path, private, payload):
    """A bundle whose signature is good, of whatever it says."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = serialization.load_pem_private_key(private.read_bytes(), None)
    signature = key.sign(signature_bundles.encoded(payload), ec.ECDSA(hashes.SHA256()))
    envelope = {
        "payloadType": signature_bundles.TYPE, "payload": base64.b64encode(payload).decode(),
        "signatures": [{"sig": base64.b64encode(signature).decode()}],
    }  # fmt: skip
    path.write_text(json.dumps({"mediaType": signature_bundles.MEDIA, "dsseEnvelope": envelope}))
    return path


def lying(said, *place, value):
    """A statement with another value at a place."""
    changed = json.loads(json.dumps(said))
    *to, last = place
    inner = changed
    for step in to:
        inner = inner[step]
    inner[last] = value
    return changed


def test_a_good_signature_of_another_statement_vouches_for_nothing(kb, tmp_path):
    private, public = new_key(tmp_path / "ec.pem", curves()[0])
    ragfile.sign_bundle(kb, tmp_path / "kb.sig", private)
    envelope = json.loads((tmp_path / "kb.sig").read_text())["dsseEnvelope"]
    said = json.loads(base64.b64decode(envelope["payload"]))
    good = signed(tmp_path / "good.sig", private, json.dumps(said).encode())
    ragfile.verify_bundle(kb, good, [public])
    resource = ["predicate", "resources", 0]
    lies = [
        [], "text", lying(said, "_type", value="other"), lying(said, "predicateType", value="x"),
        lying(said, "subject", value=[]), lying(said, "subject", value=said["subject"] * 2),
        lying(said, "subject", 0, "digest", "sha256", value="0" * 64),
        lying(said, "predicate", "resources", value=[]), lying(said, *resource, "digest", value="x"),
        lying(said, *resource, "digest", value="0" * 64), lying(said, *resource, "name", value="other"),
        lying(said, *resource, "algorithm", value="md5"),
        lying(said, "predicate", "serialization", "method", value="shards"),
    ]  # fmt: skip
    for lie in (*(json.dumps(lie).encode() for lie in lies), b"", b"[" * 100_000, b"\xff"):
        bundle = signed(tmp_path / "lie.sig", private, lie)
        with pytest.raises(ragfile.SignatureError):
            ragfile.verify_bundle(kb, bundle, [public])


def test_keys_that_no_bundle_has_are_named(kb, tmp_path):
    (tmp_path / "nonsense.pem").write_text("no key")
    with pytest.raises(ValueError, match="is not a private key in PEM"):
        ragfile.sign_bundle(kb, tmp_path / "kb.sig", tmp_path / "nonsense.pem")
    private, _ = new_key(tmp_path / "ec.pem", curves()[0])
    ragfile.sign_bundle(kb, tmp_path / "kb.sig", private)
    with pytest.raises(ValueError, match="is not a public key in PEM"):
        ragfile.verify_bundle(kb, tmp_path / "kb.sig", [tmp_path / "nonsense.pem"])


def test_a_bundle_is_of_one_file(tmp_path):
    (tmp_path / "page.md").write_text("Rotate the keys.")
    ragfile.dataset.build([tmp_path / "page.md"], tmp_path / "parts", shards=1)
    private, _ = new_key(tmp_path / "ec.pem", curves()[0])
    with pytest.raises(ValueError, match="is a dataset: a bundle signs one file"):
        ragfile.sign_bundle(tmp_path / "parts", tmp_path / "x.sig", private)
    assert not (tmp_path / "x.sig").exists()
