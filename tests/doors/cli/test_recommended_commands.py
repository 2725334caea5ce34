"""Every command that a message of the package recommends is run here, with the arguments of the message.

The messages are found in the sources: a text with a command in backticks. Each must have a function in
CASES that provokes it, so a new message without a test fails. Names have spaces, as people's files do.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
import urllib.request
from importlib.metadata import requires

import pytest
from places import ROOT

import ragfile
from ragfile.doors.server.access import Visit
from ragfile.doors.server.failures import HttpFailure
from ragfile.errors import SignatureError
from ragfile.ground.extras import EXTRAS, name_of
from ragfile.ingest.analysis import Analysis
from ragfile.memory import Memory

COMMAND = re.compile(r"`(ragfile [^`]+)`|(pip install [^\s`]+)")
CASES = {}
SERVED = "ragfile serve FOLDER --write"


def texts_of(tree):
    """The texts of a module but its docstrings; values in them become {}."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
        if isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield node.value


def recommended():
    """(module, command) of each message of the package."""
    package = ROOT / "ragfile"
    for path in sorted(package.rglob("*.py")):
        for text in texts_of(ast.parse(path.read_text())):
            for found in COMMAND.finditer(text):
                yield str(path.relative_to(package)), found[1] or found[2]


def case(module, command):
    """Register the function that provokes a message; it returns (message, what follows the command)."""

    def register(function):
        CASES.setdefault((module, command), []).append(function)
        return function

    return register


def test_every_recommended_command_has_a_test():
    assert set(recommended()) == CASES.keys() | INSTALLS


class Place:
    """A folder with files of all kinds, and the command line."""

    def __init__(self, folder, run):
        self.path, self.run, self.kb = folder, run, folder / "my kb.ragfile"
        self.docs = folder / "my docs"
        self.docs.mkdir(parents=True)
        (self.docs / "keys.md").write_text("# Keys\n\nRotate the keys every ninety days.")
        (self.docs / "pods.md").write_text("# Pods\n\nRestart a pod with a rollout.")
        ragfile.build(self.docs, self.kb)

    def said(self, *arguments, code=None):
        """What a command prints; it fails, unless `code` is its exit code."""
        found, out, err = self.run(*arguments)
        assert found != 0 if code is None else found == code, out + err
        return out + err

    def pairs(self):
        """A file of format 0.1.0."""
        path = self.path / "my old.ragfile"
        ragfile.write_pairs(path, [("k", "a text")])
        return path

    def dataset(self):
        path = self.path / "my set"
        self.said("build", self.docs, "--shards", 2, "-o", f"{path}/", code=0)
        return path

    def damaged(self, at, size=1, parity=0):
        """A file with inverted bytes."""
        path = self.path / "my damaged.ragfile"
        (self.docs / "words.md").write_text(" ".join(f"word{n * n}" for n in range(30_000)))
        ragfile.build(self.docs, path, embedder="none", parity=parity)
        data = bytearray(path.read_bytes())
        data[at : at + size] = bytes(255 - byte for byte in data[at : at + size])
        path.write_bytes(data)
        return path

    def memory(self):
        path = self.path / "my memory.ragfile"
        assert self.run("memory", "remember", path, "She drinks tea.")[0] == 0
        return path


@pytest.fixture
def place(tmp_path, run, monkeypatch):
    found = Place(tmp_path / "a folder", run)
    monkeypatch.chdir(found.path)
    monkeypatch.delenv("RAGFILE_KEYS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return found


def pattern_of(command):
    """The pattern of a command whose values are {}."""
    return ".+?".join(map(re.escape, command.split("{}")))


# ------------------------------------------------------------------------- finding and building ---


@case("doors/cli/mcp.py", "ragfile build")
def mcp_without_files(place):
    return place.said("mcp", code=2), [place.docs, "-o", place.path / "new.ragfile"]


@case("doors/cli/serve.py", "ragfile build")
def serve_without_files(place):
    return place.said("serve", code=2), [place.docs, "-o", place.path / "new.ragfile"]


@case("doors/cli/serve.py", "ragfile build")
def serve_an_empty_folder(place):
    said = place.said("serve", place.docs, "--model", "nosuch:model")
    return said, [place.docs, "-o", place.docs / "new.ragfile"]


@case("ground/encryption_keys.py", "ragfile rekey --new-key FILE")
def a_file_is_no_key(place):
    short = place.path / "my short.key"
    short.write_text("0123")
    return place.said("build", place.docs, "-o", "closed.ragfile", "--key-file", short), []


@case("doors/cli/failures.py", "ragfile build {} -o kb.ragfile")
def a_folder_is_verified(place):
    return place.said("verify", place.docs), []


@case("ground/missing_files.py", "ragfile build FOLDER -o {}")
def a_file_is_missing(place):
    return place.said("search", place.path / "zz top", "keys"), []


@case("doors/cli/failures.py", "ragfile build {} -o kb.ragfile")
def a_source_is_opened(place):
    (place.path / "my page.html").write_text("<html><body><p>Keys rotate.</p></body></html>")
    return place.said("info", "my page.html"), []


@case("doors/cli/failures.py", "ragfile build {} -o kb.ragfile")
def markdown_is_named_like_a_ragmd(place):
    (place.path / "my page.ragmd").write_text("---\ntitle: Keys\n---\nKeys rotate.\n")
    return place.said("info", "my page.ragmd"), []


@case("exchange/foreign_tables.py", "ragfile build {} -o kb.ragfile")
def a_table_has_no_vectors(place):
    rows = [{"id": "a", "text": "Owls fly at night."}, {"id": "b", "text": "Herons stand."}]
    path = place.path / "my rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place.said("convert", path, "new.ragfile"), []


@case("doors/cli/main.py", "ragfile {}")
def a_command_is_misspelt(place):
    return place.said("serch", place.kb, "keys", code=2), [place.kb, "keys"]


# ----------------------------------------------------------------------------------- converting ---


def store(place):
    """A folder with a store of another format."""
    path = place.path / "my store"
    place.said("convert", place.kb, path, "--to", "npy+jsonl", code=0)
    return path


@case("doors/cli/failures.py", "ragfile convert {} kb.ragfile")
def a_folder_of_another_program_is_verified(place):
    return place.said("verify", store(place)), []


@case("doors/cli/failures.py", "ragfile convert {} kb.ragfile")
def a_folder_of_another_program_is_searched(place):
    path = place.path / "my chroma"
    path.mkdir()
    (path / "chroma.sqlite3").write_bytes(bytes(100))
    said = place.said("search", path, "keys", code=5)
    (path / "chroma.sqlite3").unlink()
    path.rmdir()
    store(place).rename(path)
    return said, []


@case("opener.py", "ragfile convert")
def an_old_file_is_a_layer(place):
    return place.said("search", place.kb, "keys", "--over", place.pairs()), [
        place.pairs(), "new.ragfile",
    ]  # fmt: skip


@case("opener.py", "ragfile convert")
def an_old_file_is_trusted(place):
    return untrusted(place, place.pairs()), [place.pairs(), "new.ragfile"]


@case("write/file_to_edit.py", "ragfile convert")
def a_ragmd_is_changed(place):
    path = place.path / "my text.ragmd"
    place.said("convert", place.kb, path, code=0)
    return place.said("delete", path, "keys.md"), [path, "new.ragfile"]


@case("doors/cli/failures.py", "ragfile convert {} kb.ragfile")
def a_file_of_another_program_is_opened(place):
    path = place.path / "my table.jsonl"
    place.said("export", place.kb, path, code=0)
    return place.said("info", path), []


@case("doors/cli/failures.py", "ragfile convert {} {}")
def another_format_is_built(place):
    said = place.said("build", place.docs, "-o", "my text.ragmd")
    made = re.search(r"write (.+?), then", said)[1]
    place.said("build", place.docs, "-o", made, code=0)
    return said, []


@case("exchange/pull.py", "ragfile convert {} kb.ragfile")
def a_dataset_is_pulled(place):
    return place.said("pull", place.dataset().as_uri(), "new.ragfile"), []


# ------------------------------------------------------------------------ compacting and erasing ---


@case("doors/cli/verify.py", "ragfile compact")
def a_writer_died(place):
    with place.kb.open("ab") as file:
        file.write(bytes(9000))
    return place.said("verify", place.kb, code=0), [place.kb]


@case("file/exact_retrievers.py", "ragfile compact")
def fields_are_not_apart(place):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Analysis, "own_fields", ())
        place.said("build", place.docs, "-o", "my old.ragfile", "--embedder", "none", code=0)
    with ragfile.open("my old.ragfile") as rf, pytest.raises(ValueError, match="fields=") as told:
        rf.search("keys", fields={"headers": 3})
    return str(told.value), ["my old.ragfile"]


@case("doors/cli/changes.py", "ragfile compact {}")
def documents_are_deleted(place):
    return place.said("delete", place.kb, "keys.md", code=0), []


@case("doors/cli/changes.py", "ragfile vacuum {} --keep 1 --days 0 --delete")
def documents_of_a_dataset_are_deleted(place):
    return place.said("delete", place.dataset(), "keys.md", code=0), []


@case("doors/cli/changes.py", "ragfile compact {}")
def most_of_a_file_is_obsolete(place):
    for number in range(40):
        (place.docs / f"{number}.md").write_text(f"# Page {number}\n\n" + f"word{number} " * 4000)
    place.said("sync", place.kb, place.docs, code=0)
    for number in range(40):
        (place.docs / f"{number}.md").unlink()
    return place.said("sync", place.kb, place.docs, code=0), []


# --------------------------------------------------------------------------- damage and the past ---


@case("doors/cli/search.py", "ragfile info")
def the_newest_commit_is_damaged(place):
    with ragfile.edit(place.kb) as w:
        w.add_documents([{"id": "new.md", "text": "One more page about keys."}])
    data = bytearray(place.kb.read_bytes())
    data[-40] ^= 1  # in the newest footer
    place.kb.write_bytes(data)
    return place.said("search", place.kb, "keys", code=0), [place.kb]


@case("doors/cli/failures.py", "ragfile log {}")
@case("doors/cli/failures.py", "ragfile verify {} --full")
def a_file_is_damaged(place):
    return place.said("search", place.damaged(4096), "keys", code=5), []


@case("doors/cli/failures.py", "ragfile repair {} -o NEW")
def no_commit_is_whole(place):
    return place.said("search", place.damaged(-2000, 1900, parity=5), "keys", code=5), []


@case("doors/cli/verify.py", "ragfile repair {}")
def damage_can_be_repaired(place):
    return place.said("verify", place.damaged(4096, 100, parity=5), code=5), []


@case("doors/cli/verify.py", "ragfile repair -n {}")
def damage_exceeds_the_parity(place):
    return place.said("verify", place.damaged(8192, 90_000, parity=1), code=5), []


@case("doors/cli/build.py", "ragfile repair")
def parity_is_explained(place):
    return place.said("build", "--help", code=0), [place.damaged(4096, 100, parity=5)]


@case("doors/cli/changes.py", "ragfile repair")
def parity_of_a_compaction_is_explained(place):
    return place.said("compact", "--help", code=0), [place.damaged(4096, 100, parity=5)]


# --------------------------------------------------------------------------------------- memory ---


@case("memories/edits.py", "ragfile add")
def a_memory_is_too_long(place):
    (place.path / "my talk.md").write_text("# Talk\n\n" + "They talk. " * 3000)
    said = place.said("memory", "remember", place.memory(), "tea " * 6000)
    return said, [place.memory(), place.path / "my talk.md"]


@case("memories/edits.py", "ragfile delete")
def a_document_is_forgotten(place):
    return place.said("memory", "forget", place.kb, "keys.md"), [place.kb, "keys.md"]


@case("doors/cli/memory.py", "ragfile memory remember")
def a_memory_is_missing(place):
    said = place.said("memory", "recall", "my new.ragfile", "tea", code=2)
    return said, ["my new.ragfile", "She drinks tea."]


@case("doors/cli/verify.py", "ragfile memory forget {} --erase")
def a_forgotten_text_is_still_there(place):
    path = place.memory()
    with Memory(path) as memory:
        memory.forget([memory.recall("tea", 1)[0].id])
    return place.said("verify", path, code=0), []


# --------------------------------------------------------------------------- keys and signatures ---


@case("doors/cli/serve.py", "ragfile keys")
def keys_are_explained(place):
    return place.said("serve", "--help", code=0), ["list"]


@case("doors/server/lifecycle.py", "ragfile keys add NAME")
def a_public_address_has_no_key(place):
    return place.said("serve", place.kb, "--host", "0.0.0.0"), []


@case("doors/server/keys.py", "ragfile keys --keys {} list")
def an_unknown_key_is_revoked(place):
    return place.said("keys", "--keys", "my keys.json", "revoke", "nosuch"), []


@case("doors/server/keys.py", "ragfile keys --keys {} add NAME")
def the_file_of_keys_is_missing(place):
    return place.said("serve", place.kb, "--host", "0.0.0.0", "--keys", "my keys.json"), []


@case("doors/server/keys.py", "ragfile keys --keys {} add NAME")
def the_file_of_keys_is_damaged(place):
    keys = place.path / "my keys.json"
    keys.write_text("{")
    said = place.said("serve", place.kb, "--host", "0.0.0.0", "--keys", keys)
    keys.rename(place.path / "moved away")
    return said, []


@case("doors/server/access.py", "ragfile keys add")
def a_key_has_not_the_scope(place):
    visit = Visit({"headers": [(b"host", b"localhost")]})
    with pytest.raises(HttpFailure) as told:
        visit.require("write")
    return str(told.value), ["writer", "--scope", "write"]


def untrusted(place, path):
    """What a program reads that trusts a key, and opens a file without a signature."""
    place.said("sign", "--new-key", "my.key", code=0)
    with pytest.raises(SignatureError) as told:
        ragfile.open(path, trusted=["my.key.pub"])
    return str(told.value)


@case("file/signatures.py", "ragfile sign")
def a_trusted_file_is_not_signed(place):
    return untrusted(place, place.kb), [place.kb, "--key", "my.key"]


@case("shards/dataset_signatures.py", "ragfile sign")
def a_trusted_dataset_is_not_signed(place):
    dataset = place.dataset()
    return untrusted(place, dataset), [dataset, "--key", "my.key"]


# ------------------------------------------------------------------------------- how they are run ---

REPORTS = (
    "ragfile verify {} --full",
    "ragfile repair -n {}",
)  # their exit code tells of the damage


def run_recommended(place, command, message, more):
    """Run the command of a message, and return what it prints."""
    found = re.search(f"`({pattern_of(command)})`", message)
    assert found, f"{command} is not in {message!r}"
    named = {"FOLDER": str(place.docs), "NAME": "laptop", "NEW": "new.ragfile", "FILE": "new.key"}
    words = [named.get(word, word) for word in shlex.split(found[1])[1:]]
    code, out, err = place.run(*words, *more)
    assert code == 0 or command in REPORTS, out + err
    return out + err


RUN = {key: found for key, found in CASES.items() if key[1] != SERVED}


@pytest.mark.parametrize(
    ("command", "provoke"),
    [pytest.param(key[1], one, id=one.__name__) for key, found in RUN.items() for one in found],
)  # fmt: skip
def test_a_recommended_command_succeeds(place, command, provoke):
    message, more = provoke(place)
    run_recommended(place, command, message, more)


@case("doors/server/openai/stores.py", SERVED)
@case("doors/server/openai/new_stores.py", SERVED)
def test_a_server_of_a_folder_makes_stores(place):
    words = shlex.split(SERVED.replace("FOLDER", shlex.quote(str(place.path))))
    command = [sys.executable, "-m", *words, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = next(m[0] for line in server.stdout if (m := re.search(r"http://\S+\d", line)))
            request = urllib.request.Request(f"{url}/v1/vector_stores", b'{"name": "new"}')
            request.add_header("Content-Type", "application/json")
            with urllib.request.urlopen(request, timeout=30) as answer:
                assert json.load(answer)["id"] == "new"
        finally:
            server.terminate()
    assert (place.path / "new.ragfile").exists()


INSTALLS = {  # a test installs nothing: the names are compared with those of the package
    ("ground/extras.py", "pip install 'ragfile[{}]'"), ("ground/extras.py", "pip install {}"),
    ("__init__.py", "pip install -e"),  # `make build` runs it
    ("exchange/stores/sqlite_vec.py", "pip install pysqlite3-binary"),
}  # fmt: skip


@pytest.mark.parametrize("package", EXTRAS)
def test_a_recommended_extra_has_the_package(package):
    wanted, extra = name_of(package).lower(), EXTRAS[package]
    found = [line for line in requires("ragfile") or () if f'extra == "{extra}"' in line]
    assert [line for line in found if re.split(r"[ \[<>=;~!]", line)[0].lower() == wanted], found
