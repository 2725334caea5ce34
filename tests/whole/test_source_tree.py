"""A real folder of source code, that of an installed package: built, asked, and followed."""

import ast
import pathlib
import shutil

import click
import pytest

import ragfile


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree") / "click"
    shutil.copytree(pathlib.Path(click.__file__).parent, root)
    (root / "README.rst").write_text("Click\n=====\n\nCommand line programs.\n")
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "left.js").write_text("function pad() {}")
    path = root.parent / "kb.ragfile"
    report = ragfile.build([root], path)
    return root, path, report


def documented(root):
    """(file, what a docstring says first, name) of functions and classes at the top of modules."""
    for path in sorted(root.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                said = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
                if len(said.split()) > 6:
                    yield path.relative_to(root).as_posix(), said, node.name


def test_all_of_it_is_read_and_what_is_not_is_said(tree):
    root, _, report = tree
    assert report.failures == []
    assert report.documents == len(list(root.rglob("*.py"))) + 1
    reasons = {pathlib.Path(each.path).name: each.reason for each in report.skipped}
    assert reasons["logo.png"] == "no loader for this suffix"
    assert "node_modules" in reasons


def test_every_chunk_is_its_span_of_the_file(tree):
    root, path, _ = tree
    with ragfile.open(path) as rf:
        for document in rf.documents():
            if document.id.endswith(".py"):
                assert document.original == (root / document.id).read_text()


def test_a_definition_is_found_by_what_its_docstring_says(tree):
    root, path, _ = tree
    asked = list(documented(root))
    assert len(asked) > 60
    with ragfile.open(path) as rf:
        answers = rf.search_batch([said for _, said, _ in asked], 3)
    found = sum(
        any(hit.doc_id == file and name in hit.metadata["headers"] for hit in hits)
        for (file, _, name), hits in zip(asked, answers, strict=True)
    )
    assert found >= 0.9 * len(asked)


def test_an_edited_file_is_followed(tree, tmp_path):
    root, path, _ = tree
    copy = tmp_path / "kb.ragfile"
    shutil.copy(path, copy)
    assert ragfile.sync(copy, [root]).is_empty
    (root / "core.py").write_text(
        (root / "core.py").read_text() + "\n\ndef zebra_crossing():\n    pass\n"
    )
    assert ragfile.sync(copy, [root]).changed == ["core.py"]
    with ragfile.open(copy) as rf:
        assert "zebra_crossing" in rf.search("zebra crossing", k=1)[0].text
