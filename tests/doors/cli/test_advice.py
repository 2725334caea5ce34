"""What a person reads after a mistake: the message names the next command, and that command works."""

import re
import shlex


def test_a_build_refuses_a_name_of_another_format_and_says_what_makes_it(run, tmp_path):
    (tmp_path / "a.md").write_text("# Keys\n\nKeys rotate.\n")
    wanted, made = tmp_path / "kb.ragmd", tmp_path / "kb.ragfile"
    code, _, err = run("build", tmp_path / "a.md", "-o", wanted)
    assert code == 1
    assert not wanted.exists()
    advice = re.search(r"write (\S+), then `ragfile (.+)`$", err)
    assert run("build", tmp_path / "a.md", "-o", advice[1])[0] == 0
    assert run(*shlex.split(advice[2]))[0] == 0
    assert "Keys rotate." in wanted.read_text()
    code, _, err = run("build", tmp_path / "a.md", "-o", tmp_path / "kb.TXT")
    assert (code, err.endswith(f"write {made}\n")) == (1, True)
