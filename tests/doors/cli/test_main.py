"""The command line: what it prints, where, and with which exit code."""

import json
import os
import subprocess
import sys

import click
import pytest

import ragfile
from ragfile.doors.cli.main import Doors
from ragfile.doors.cli.main import ragfile as command_line


def test_a_search_without_hits_says_so_beside_the_output(run, kb):
    code, out, err = run("search", kb, "keys", "--where", '{"year": 1}')
    assert (code, out) == (0, "")
    assert "nothing found" in err


def test_a_filter_that_is_no_object_is_wrong_usage(run, kb):
    for command in (["search", kb, "keys"], ["delete", kb]):
        code, _, err = run(*command, "--where", "[1]")
        assert code == 2
        assert "--where must be a JSON object" in err
    assert len(ragfile.open(kb)) == 2


def test_a_file_that_is_not_there_is_one_line_with_its_name(run, tmp_path):
    path = tmp_path / "nope.ragfile"
    advice = f"`ragfile build FOLDER -o {path}` makes one"
    for command in (
        ["search", path, "keys"],
        ["add", path, tmp_path],
        ["verify", path],
        ["compact", path],
    ):
        code, _, err = run(*command)
        assert code == 1
        assert err == f"ragfile: {path}: No such file or directory; {advice}\n"


def test_bytes_of_a_dead_writer_are_no_damage_and_compaction_removes_them(run, kb, tmp_path):
    size = kb.stat().st_size
    with kb.open("ab") as file:
        file.write(b"x" * 5000)
    code, out, err = run("verify", kb, "--full")
    assert (code, "good" in out, "5,000 bytes after the newest commit" in err) == (0, True, True)
    assert run("add", kb, tmp_path / "docs", "--tag", "again")[0] == 0
    assert run("delete", kb, "nothing")[0] == 1
    assert json.loads(run("verify", kb, "--json")[1])["tail"] >= 5000
    assert run("compact", kb)[0] == 0
    assert kb.stat().st_size == size
    assert json.loads(run("verify", kb, "--json")[1])["tail"] == 0


def test_a_folder_in_the_place_of_a_file_is_one_line_that_says_what_to_do(run, tmp_path):
    for command in (["show", tmp_path, "keys"], ["info", tmp_path], ["log", tmp_path]):
        assert run(*command)[::2] == (
            1,
            f"ragfile: {tmp_path} is a folder; build a file from it with `ragfile build {tmp_path} -o kb.ragfile`\n",
        )


def test_a_pipe_or_a_device_in_the_place_of_a_file_is_named(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.md").write_text("keys")
    said = "is a device or a pipe; name a regular file\n"
    assert run("info", tmp_path / "pipe")[::2] == (1, f"ragfile: {tmp_path / 'pipe'} {said}")
    assert run("search", "/dev/zero", "keys")[::2] == (1, f"ragfile: /dev/zero {said}")
    built = run("build", tmp_path / "a.md", "-o", "/dev/null")
    assert built[::2] == (1, f"ragfile: /dev/null {said}")


def test_a_source_that_gives_no_document_says_why(run, tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.zip").write_bytes(b"PK\3\4")
    for source, reason in (
        (tmp_path / "pipe.md", f"{tmp_path / 'pipe.md'}: neither a file nor a folder"),
        (tmp_path / "b", f"{tmp_path / 'b' / 'a.zip'}: no loader for this suffix"),
    ):
        code, _, err = run("build", source, "-o", tmp_path / "kb.ragfile")
        assert (code, err) == (1, f"ragfile: no document in {source}: {reason}\n")


def test_a_url_in_the_place_of_a_source_is_named_without_its_secrets(run, kb):
    url = "https://me:secret@example.com/a.md?key=1"
    for command in (["build", url, "-o", kb.parent / "new.ragfile"], ["sync", kb, url]):
        code, _, err = run(*command)
        said = "https://example.com/a.md?… is a URL: download it, and name the local file"
        assert (code, err) == (1, f"ragfile: {said}\n")


def test_the_log_counts_one_chunk_as_one(run, tmp_path):
    (tmp_path / "a.md").write_text("keys")
    run("build", tmp_path / "a.md", "-o", tmp_path / "kb.ragfile")
    assert "        1 chunk  +1 -0" in run("log", tmp_path / "kb.ragfile")[1]


def test_bytes_past_the_end_of_a_file_are_refused(run, kb):
    size = kb.stat().st_size
    assert run("inspect", kb, "--hex", size - 1)[0] == 0
    for at in (size, 10**25):
        code, out, err = run("inspect", kb, "--hex", at)
        assert (code, out) == (2, "")
        assert f"--hex {at:,} is past the end: {kb} has {size:,} bytes" in err


def test_an_empty_filter_deletes_nothing_and_says_so(run, kb):
    before = kb.read_bytes()
    code, out, err = run("delete", kb, "--where", "{}")
    assert (code, out) == (1, "")
    assert err == "ragfile: an empty filter deletes no document: name a condition\n"
    assert kb.read_bytes() == before


def test_what_is_not_a_ragfile_ends_with_5(run, tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    code, _, err = run("info", tmp_path / "a.png")
    assert code == 5
    assert "not a RAGFile" in err


def test_a_missing_section_is_named_without_quotes_around_the_sentence(run, kb):
    code, _, err = run("inspect", kb, "--pairs", "nope")
    assert code == 1
    assert not err.startswith('ragfile: "')


def test_info_shows_the_model_by_name_and_times_as_times(run, kb):
    with ragfile.edit(kb, message="one less", created=0) as w:
        w.delete(["pods.md"])
    code, out, _ = run("info", kb)
    assert code == 0
    assert "potion-base-8M/1 (default)" in out
    assert json.loads(run("info", kb, "--json")[1])["model"]["spec"] == "default"


def test_unknown_ids_are_named_and_change_nothing(run, kb):
    code, out, err = run("delete", kb, "zz", "yy")
    assert (code, out) == (1, "0 documents deleted\n")
    assert [line.rpartition(" ")[2] for line in err.splitlines()] == ["zz", "yy"]
    assert ragfile.open(kb).generation == 1


def test_control_characters_of_a_file_do_not_reach_the_terminal(run, tmp_path):
    with ragfile.create(tmp_path / "a.ragfile") as w:
        w.add(
            [
                {
                    "doc_id": "a\x1b]0;x\x07",
                    "chunk_index": 0,
                    "content": "keys \x1b[2J here",
                    "metadata": {"headers": "\x1b[8m"},
                }
            ]
        )
    code, out, _ = run("search", tmp_path / "a.ragfile", "keys", "--mode", "bm25")
    assert code == 0
    assert "keys" in out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_a_sync_lists_files_that_cannot_be_read_as_failures_alone(run, kb, tmp_path):
    (tmp_path / "docs" / "bad.docx").write_bytes(b"PK\x03\x04broken")
    code, out, err = run("sync", kb, tmp_path / "docs")
    assert code == 3
    assert "+ bad.docx" not in out
    assert "nothing to do" in out
    assert "bad.docx" in err


def test_the_ways_to_add_a_second_folder_that_the_message_names(run, kb, tmp_path):
    (tmp_path / "more").mkdir()
    name = next(path.name for path in (tmp_path / "docs").glob("*.md"))
    (tmp_path / "more" / name).write_text("Another text of this name.")
    code, _, err = run("add", kb, tmp_path / "more")
    assert (code, f"({name}): pass --replace" in err, "--prefix NAME to" in err) == (1, True, True)
    code, out, _ = run("add", kb, tmp_path / "more", "--prefix", "more")
    assert (code, f"+ more/{name}" in out) == (0, True)
    code, out, _ = run("add", kb, tmp_path / "more", "--replace")
    assert (code, f"~ {name}" in out) == (0, True)


def test_a_build_that_could_not_read_a_source_says_so_by_its_exit_code(run, kb, tmp_path):
    (tmp_path / "docs" / "bad.docx").write_bytes(b"PK\x03\x04broken")
    for command in (["build", "-o", tmp_path / "new.ragfile"], ["add", kb], ["sync", "--json", kb]):
        code, _, err = run(*command, tmp_path / "docs")
        assert (code, "bad.docx" in err) == (3, True)
    assert run("search", tmp_path / "new.ragfile", "keys")[0] == 0  # the rest was built


def test_a_ragmd_is_not_changed_in_place_and_the_way_out_is_named(run, kb, tmp_path):
    ragfile.convert(kb, tmp_path / "kb.ragmd")
    code, _, err = run("add", tmp_path / "kb.ragmd", tmp_path / "docs")
    assert code == 5
    assert "ragfile convert" in err


def test_a_file_of_pairs_is_searched_exported_and_inspected(run, tmp_path):
    ragfile.write_pairs(tmp_path / "p.ragfile", [("alpha", "first")])
    code, out, _ = run("search", tmp_path / "p.ragfile", "alpha", "--mode", "keyword", "--json")
    assert (code, json.loads(out)["hits"][0]["text"]) == (0, "first")
    code, out, _ = run("export", tmp_path / "p.ragfile")
    assert (code, json.loads(out)["text"]) == (0, "first")
    assert run("inspect", tmp_path / "p.ragfile", "--pairs", "keyword")[1] == "alpha\tfirst\n"


def test_a_file_that_went_through_faiss_and_json_is_asked_as_before(run, kb, tmp_path):
    run("convert", kb, tmp_path / "kb.faiss")
    pair = ["--from-faiss", tmp_path / "kb.faiss", "--from-json", tmp_path / "kb.json"]
    assert run("convert", *pair, "--to-ragfile", tmp_path / "back.ragfile")[0] == 0
    with ragfile.open(kb) as before, ragfile.open(tmp_path / "back.ragfile") as after:
        there, back = before.search("rotate the keys"), after.search("rotate the keys")
        assert after.file.config["fusion"] == before.file.config["fusion"]
    assert back.degraded == ""
    assert [(hit.text, hit.score) for hit in back] == [(hit.text, hit.score) for hit in there]


def test_counts_are_of_one_thing_or_of_many(run, tmp_path):
    (tmp_path / "a.txt").write_text("alone")
    assert "1 document, 1 chunk, " in run("build", tmp_path / "a.txt", "-o", tmp_path / "a")[1]
    assert run("delete", tmp_path / "a", "a.txt")[1].endswith(
        f"1 document deleted; `ragfile compact {tmp_path / 'a'}` erases their bytes\n"
    )


def test_an_empty_question_is_wrong_usage(run, kb):
    code, out, err = run("search", kb, "  ")
    assert (code, out) == (2, "")
    assert "the question is empty" in err


def test_a_question_without_an_embedder_on_request_is_answered_by_words(run, kb):
    code, out, err = run("search", kb, "keys", "--embedder", "none", "--explain")
    assert (code, err) == (0, "ragfile: the embedder none was asked for\n")
    assert "vector" not in out


def test_a_name_that_was_mistyped_costs_nobody_a_document(run, kb):
    page = kb.parent / "docs" / "keys.md"
    before = page.read_bytes()
    build, convert = ["build", kb.parent / "docs", "-o", page], ["convert", kb, page]
    for command in (build, convert):
        code, _, err = run(*command)
        assert code == 1
        assert f"{page}: exists and is not a " in err
        assert len(err.splitlines()) == 1
    assert page.read_bytes() == before
    (kb.parent / "nothing").touch()
    assert run("build", kb.parent / "docs", "-o", kb.parent / "nothing")[0] == 0
    assert run("build", kb.parent / "docs", "-o", kb)[0] == 0


def test_markdown_is_no_knowledge_base_and_says_so(run, tmp_path):
    (tmp_path / "page.md").write_text("---\ntitle: A page\n---\n\nText.\n")
    code, _, err = run("search", tmp_path / "page.md", "text")
    assert code == 5
    assert "not a .ragmd" in err


def test_an_export_is_what_its_suffix_says_and_whole_or_not_there(run, kb, monkeypatch):
    from ragfile.file import arrow

    out = kb.parent / "out.ndjson"
    assert run("export", kb, out)[1] == f"{out}: 2 chunks\n"
    before = out.read_bytes()
    assert run("export", kb, out) == (
        1,
        "",
        f"ragfile: {out}: exists; choose another name or remove it first\n",
    )
    assert out.read_bytes() == before

    def failing(archive, vectors=True):
        yield {"node_id": "a#0"}
        raise KeyboardInterrupt

    monkeypatch.setattr(arrow, "records", failing)
    assert run("export", kb, kb.parent / "half.jsonl")[::2] == (130, "\nragfile: interrupted\n")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(
        arrow,
        "arrow_reader",
        lambda archive, vectors=True: (_ for _ in ()).throw(ValueError("it is parquet")),
    )
    assert "it is parquet" in run("export", kb, kb.parent / "half.parquet")[2]
    assert not list(kb.parent.glob("half*"))


def test_damage_that_a_question_meets_is_named_by_its_section_and_reported_once(run, kb):
    with ragfile.edit(kb) as w:
        w.add_documents([{"id": "new.md", "text": "One more page."}])
    with ragfile.open(kb) as rf:
        at = next(e["at"] for e in rf.file.entries if e["name"] == "vector")
    data = bytearray(kb.read_bytes())
    data[at + 900] ^= 1
    kb.write_bytes(data)
    code, _, err = run("search", kb, "keys")
    assert code == 5
    first = f"ragfile: {kb}: block checksum does not match (byte 0 of section vector)\n"
    assert err.startswith(first)
    for full in ([], ["--full"]):
        assert run("verify", kb, *full)[1].count("block checksum does not match") == 1


def test_a_search_says_when_the_newest_commit_is_lost(run, kb):
    with ragfile.edit(kb) as w:
        w.add_documents([{"id": "new.md", "text": "One more page about keys."}])
    assert run("search", kb, "keys")[2] == ""
    data = bytearray(kb.read_bytes())
    data[-40] ^= 1  # in the newest footer
    kb.write_bytes(data)
    code, out, err = run("search", kb, "keys")
    assert code == 0
    assert "new.md" not in out
    assert err == (
        f"ragfile: {kb}: the newest commit is damaged; results are from the one before: "
        "see `ragfile info`\n"
    )


def test_the_list_of_commands_cuts_no_sentence(run):
    _, out, _ = run("--help")
    commands = out.partition("Commands:")[2].strip().splitlines()
    assert len(commands) > 10
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []


def test_a_search_tells_whether_the_file_can_answer(run, kb):
    _, _, err = run("search", kb, "how do I bake pancakes?")
    assert "ragfile: weak support for an answer; no passage has: bake, pancakes" in err
    _, out, _ = run("search", kb, "how do I bake pancakes?", "--json")
    found = json.loads(out)
    assert found["support"]["strength"] == "weak"
    assert found["missing"][found["hits"][0]["id"]] == ["bake", "pancakes"]


def test_numpy_starts_no_pool_of_threads_unless_the_user_wants_one(run, kb, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    run("info", kb)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    run("info", kb)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"


@pytest.mark.parametrize("name", sorted(Doors.PLACES))
def test_the_list_of_commands_has_the_first_line_of_each(name):
    command = command_line.get_command(click.Context(command_line), name)
    assert Doors.LINES[name] == command.get_short_help_str(200)


def test_listing_the_commands_imports_none_of_them():
    code = (
        "import sys, click\n"
        "from ragfile.doors.cli.main import ragfile\n"
        "ragfile.get_help(click.Context(ragfile))\n"
        "print('numpy' in sys.modules, 'ragfile.doors.cli.search' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
