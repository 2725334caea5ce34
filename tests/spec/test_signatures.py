"""Signatures as the specification says them: its vectors, its second reader, and RFC 8032's own numbers."""

import hashlib
import importlib.util
import json
import random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from oracles.handmade import Commit, build
from places import ROOT

import ragfile
from ragfile import _core
from ragfile.file import signatures
from ragfile.ground.signing_keys import PublicKey

FOLDER = ROOT / "spec" / "vectors" / "signatures"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SLOW = load(ROOT / "spec" / "signatures.py")


@pytest.mark.parametrize("name", EXPECTED["files"])
def test_a_trusted_open_agrees_with_the_vector(name):
    expected, path = EXPECTED["files"][name], FOLDER / f"{name}.ragfile"
    faults, _ = ragfile.verify(path, keys=[EXPECTED["key"]])
    assert (faults == []) == (expected["verdict"] == "holds")
    reader, key = _core.Reader(_core.Map(path)), PublicKey.of(EXPECTED["key"])
    holding = signatures.trusted_by(reader, [key])
    assert bool(holding) == (expected["verdict"] in ("holds", "altered"))
    if holding:
        said = {"signer": holding[0].signer, "signed": holding[0].signed}
        assert {k: v for k, v in said.items() if v} == expected["said"]
    if expected["verdict"] == "altered":
        assert {(fault[0], fault[3]) for fault in faults} == {("CorruptError", "foo")}
        assert "not the one that was signed" in faults[0][2]


@pytest.mark.parametrize("name", EXPECTED["files"])
def test_the_second_reader_agrees_with_the_vector(name):
    expected = EXPECTED["files"][name]
    data = (FOLDER / f"{name}.ragfile").read_bytes()
    found = SLOW.judge(data, bytes.fromhex(EXPECTED["key"]))
    assert found == {"verdict": expected["verdict"], "said": expected["said"]}


def test_the_vectors_are_what_their_script_makes():
    make = load(FOLDER / "make.py")
    for name, data in make.files().items():
        assert (FOLDER / name).read_bytes() == data, name


# RFC 8032, 7.1: secret key, public key, message, signature.
RFC = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
]


@pytest.mark.parametrize(("secret", "public", "message", "signature"), RFC)
def test_both_implementations_of_ed25519_give_the_rfc_s_numbers(secret, public, message, signature):
    message, signature = bytes.fromhex(message), bytes.fromhex(signature)
    assert SLOW.signed(bytes.fromhex(secret), message) == (bytes.fromhex(public), signature)
    assert SLOW.accepts(bytes.fromhex(public), signature, message)
    assert PublicKey.of(public).accepts(signature, message)
    assert not SLOW.accepts(bytes.fromhex(public), signature, message + b"x")


def test_the_plain_ed25519_agrees_with_the_package_on_random_damage():
    rng = random.Random(5)
    key = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
    public = PublicKey(key.public_key().public_bytes_raw())
    for _ in range(12):
        message = rng.randbytes(rng.randrange(50))
        signature = bytearray(key.sign(message))
        if rng.random() < 0.7:
            signature[rng.randrange(64)] ^= 1 << rng.randrange(8)
        verdict = public.accepts(bytes(signature), message)
        assert verdict == SLOW.accepts(public.raw, bytes(signature), message)


def test_the_worked_example_holds():
    text = (ROOT / "spec" / "parts" / "signatures.md").read_text()
    data = build(Commit([("foo", 0, 0, b"hello", 0)]))
    content = signatures.Content(_core.Reader(data))
    seal = content.hashed(_core.Reader(data))
    assert seal.hex() in text
    assert content.digest(seal) in text
    assert hashlib.sha256(b"\1" + seal).hexdigest() in text


def test_the_core_s_leaf_is_sha_256_of_a_zero_byte_and_the_block():
    rng = random.Random(1)
    sizes = [*range(200), 65472, 65473, 65535, 65536]
    for block in map(rng.randbytes, sizes):
        assert _core.seal_leaf(block) == hashlib.sha256(b"\0" + block).digest()
