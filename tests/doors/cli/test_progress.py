"""Progress: one line that fits the terminal, on a terminal only."""

import io
import os
import types

import pytest

from ragfile.doors.cli import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream))
    return stream


@pytest.mark.parametrize("columns", [10, 40, 80, 200])
def test_a_line_never_wraps(terminal, monkeypatch, columns):
    monkeypatch.setattr(
        progress.shutil, "get_terminal_size", lambda: os.terminal_size((columns, 24))
    )
    bar = progress.Progress()
    bar.show(1_234_567, 12_345_678, 0.42)
    bar.count(12_345, 1_234_567, "chunks")
    lines = terminal.getvalue().split("\r\x1b[K")[1:]
    assert len(lines) == 2
    assert all(0 < len(line) < columns for line in lines)
    assert lines[0].startswith("42%")


def test_a_step_that_cannot_say_how_far_it_is_shows_its_time(terminal, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.01)
    bar = progress.Progress()
    with bar.ticking("verifying kb.ragfile"):
        while "verifying kb.ragfile, 1 s" not in terminal.getvalue():
            pass
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_nothing_is_shown_where_nobody_looks(capsys):
    bar = progress.Progress()
    bar.show(1, 1, 0.5)
    with bar.ticking("verifying"):
        pass
    bar.close()
    assert capsys.readouterr().err == ""


def test_times_are_said_as_people_say_them():
    assert [progress.duration(s) for s in (0.2, 61, 7300)] == ["1 s", "1 min 01 s", "2 h 01 min"]
