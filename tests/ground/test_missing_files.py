"""An error about a missing file names it, and a file with a similar name or the way to make one."""

import pytest

import ragfile
from ragfile.doors.cli.main import ragfile as command_line
from ragfile.doors.mcp.files import Files

OPENINGS = {
    "open": ragfile.open,
    "edit": ragfile.edit,
    "verify": ragfile.verify,
    "compact": ragfile.compact,
    "log": ragfile.log,
    "stale": ragfile.stale,
    "reindex": ragfile.reindex,
    "repair": ragfile.repair,
    "add": lambda path: ragfile.add(path, "."),
    "sync": lambda path: ragfile.sync(path, "."),
    "pairs": ragfile.PairFile,
    "convert": lambda path: ragfile.convert(path, f"{path}.ragmd"),
    "ragfile compact": lambda path: run("compact", path),
}


def run(*arguments):
    """Run a command, and raise the error that it would print."""
    return command_line.main([str(each) for each in arguments], standalone_mode=False)


@pytest.mark.parametrize("opening", OPENINGS)
def test_every_way_to_open_a_missing_file_names_a_similar_one(tmp_path, monkeypatch, opening):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my handbook.ragfile").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=r"did you mean 'my handbook\.ragfile'") as caught:
        OPENINGS[opening]("my handbok.ragfile")
    assert caught.value.filename == "my handbok.ragfile"


@pytest.mark.parametrize("opening", OPENINGS)
def test_without_a_similar_name_the_command_that_makes_one_is_named(tmp_path, opening):
    path = tmp_path / "kb.ragfile"
    with pytest.raises(
        FileNotFoundError, match=r"`ragfile build FOLDER -o .*` makes one"
    ) as caught:
        OPENINGS[opening](path)
    assert caught.value.filename == str(path)


def test_a_folder_that_is_missing_too_is_no_second_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="makes one"):
        ragfile.edit(tmp_path / "nowhere" / "kb.ragfile")


def test_a_file_that_no_build_makes_has_no_advice(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ragfile.open(tmp_path / "kb.ragmd")
    assert caught.value.strerror == "No such file or directory"


def test_a_suffix_alone_is_not_similar(tmp_path):
    (tmp_path / "cut.ragfile").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="makes one"):
        ragfile.open(tmp_path / "nothere.ragfile")


def test_a_server_of_a_missing_file_names_a_similar_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "handbook.ragfile").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=r"did you mean .*handbook\.ragfile"):
        Files(["handbok.ragfile"])
