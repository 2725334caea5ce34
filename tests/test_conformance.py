"""The conformance run: what it accepts of a reader, and what it does not let pass."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragfile import conformance

ROOT = Path(__file__).parents[1]
VECTORS = ROOT / "spec" / "vectors"


def test_the_package_finds_what_every_vector_holds(capsys):
    assert conformance.main(["--vectors", str(VECTORS)]) == 0
    said = capsys.readouterr().out
    assert "FAIL" not in said
    assert "cases of the pipeline" in said


def test_a_wrong_value_of_the_pipeline_is_told(tmp_path, capsys):
    cases = json.loads((VECTORS / "pipeline" / "normalization.json").read_text())
    cases[1]["text"] += "x"
    (tmp_path / "normalization.json").write_text(json.dumps(cases))
    assert conformance.pipeline(tmp_path) == (len(cases) - 1, 1)
    assert "wrong are [1]" in capsys.readouterr().out


def test_the_reader_of_the_specification_does_too(capsys):
    assert (
        conformance.main(["--vectors", str(VECTORS), "--reader", str(ROOT / "spec" / "reader.py")])
        == 0
    )
    assert capsys.readouterr().out.splitlines()[-1].endswith("as the specification says")


def program(tmp_path, body):
    path = tmp_path / "reader"
    path.write_text(f"#!{sys.executable} -S\n{body}")
    path.chmod(0o755)
    return str(path)


def few(tmp_path):
    """A folder with three of the vectors."""
    folder = tmp_path / "few"
    folder.mkdir()
    names = (
        "good-0-golden-176.ragfile",
        "bad-0-order.ragfile",
        "good-0-slack-no-extension.ragfile",
    )
    expected = json.loads((VECTORS / "expected.json").read_text())
    (folder / "expected.json").write_text(json.dumps({name: expected[name] for name in names}))
    for name in names:
        (folder / name).write_bytes((VECTORS / name).read_bytes())
    return folder


def test_a_program_that_prints_json_is_a_reader(tmp_path, capsys):
    runs = f"import sys\nsys.path.insert(0, {str(ROOT / 'spec')!r})\nimport reader\nsys.exit(reader.main(sys.argv[1:]))\n"
    assert (
        conformance.main(["--vectors", str(few(tmp_path)), "--reader", program(tmp_path, runs)])
        == 0
    )
    assert "3 of 3 files" in capsys.readouterr().out


def test_a_program_that_accepts_everything_fails(tmp_path, capsys):
    reader = program(tmp_path, "print('{}')\n")
    assert conformance.main(["--vectors", str(few(tmp_path)), "--reader", reader]) == 1
    assert "accepted, and must not be" in capsys.readouterr().out


def test_a_program_that_prints_nothing_is_no_reader(tmp_path):
    with pytest.raises(SystemExit, match="printed no JSON"):
        conformance.main(["--vectors", str(few(tmp_path)), "--reader", program(tmp_path, "pass\n")])


def test_a_folder_without_vectors_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        conformance.main(["--vectors", str(tmp_path)])
    said = capsys.readouterr().err
    assert f"no vectors in {tmp_path}" in said
    assert "spec/vectors" in said
    assert "--vectors" in said


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"found": {"a": 0.0}}, {"a": -0.0}),
        ({"found": {"a": 1}}, {"a": 2}),
        ({"found": {"a": [1, 2]}}, {"a": [1]}),
        ({"found": {"a": {"b": None}}}, {"a": {"b": 0}}),
        ({"found": {"text": "x"}}, {"text": None}),
        ({"found": {}}, {"refused": {"kind": "format", "at": 0}}),
        ({"refused": {"kind": "version", "at": 7}}, {"refused": {"kind": "format", "at": 7}}),
        ({"refused": {"kind": "format", "at": 7}}, {"refused": {"kind": "format", "at": 8}}),
    ],
)
def test_what_differs_is_told(expected, found):
    assert conformance.compare(expected, found) is not None


def test_a_reader_that_cannot_unpack_is_forgiven_texts_that_are_packed():
    assert (
        conformance.compare(
            {"packed": True, "found": {"text": "x", "id": 1}}, {"text": None, "id": 1}
        )
        is None
    )


def test_all_vectors_can_be_written_as_files(tmp_path):
    assert conformance.main(["--vectors", str(VECTORS), "--unpack", str(tmp_path / "all")]) == 0
    expected = json.loads((VECTORS / "expected.json").read_text())
    assert {path.name for path in (tmp_path / "all").iterdir()} == set(expected)


def test_it_runs_as_a_module_from_any_folder_and_finds_the_vectors(tmp_path):
    if not os.path.isdir(conformance.VECTORS):
        pytest.skip("ragfile is not imported from the source tree")
    command = [sys.executable, "-m", "ragfile.conformance"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    count = len(json.loads((VECTORS / "expected.json").read_text()))
    assert f"{count} of {count} files" in done.stdout
