"""The form of an answer: amounts have a number, procedures a command or code."""

import pytest

import ragfile
from ragfile.answer.answer_forms import has_form, wanted_form
from ragfile.search.blocks import blocks

FORMS = {
    "how many pods can a node have?": "amount", "How long are keys valid": "amount", "maximum size of a key": "amount",
    "how do I rotate a key?": "procedure", "how to drain a node": "procedure", "how keys are rotated": "",
    "which key is used?": "", "": "",
}  # fmt: skip


@pytest.mark.parametrize("question", FORMS)
def test_a_question_wants_the_form_of_its_answer(question):
    assert wanted_form(question) == FORMS[question]


@pytest.mark.parametrize(("text", "amount", "procedure"), [
    ("Keys are valid for 90 days.", True, False), ("1. Keys are valid for long.", False, False),
    ("Run `key rotate --all` now.", False, True), ("Keys of `v1` are old.", False, False),
    ("Rotate them:\n\n```sh\nkey rotate\n```", False, True),
])  # fmt: skip
def test_a_block_has_the_form_of_an_answer_or_not(text, amount, procedure):
    (block,) = blocks(text, {})
    assert has_form("amount", block, text) == amount
    assert has_form("procedure", block, text) == procedure
    assert not has_form("", block, text)


def test_a_block_with_the_form_of_the_answer_comes_first(tmp_path):
    text = (
        "# Keys\n\nThe rotation of a key is a habit of careful people.\n\n"
        "The rotation of a key takes 30 seconds on a machine.\n\nSay `key rotate now` for the rotation of a key.\n"
    )
    (tmp_path / "keys.md").write_text(text)
    ragfile.build([tmp_path / "keys.md"], tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as rf:
        assert "30 seconds" in rf.ask("how long is the rotation of a key?").text.split("[1]")[0]
        assert "`key rotate now`" in rf.ask("how do I run rotation of a key?").text.split("[1]")[0]
