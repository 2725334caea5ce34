"""What is shown of a passage: its best sentences, with the question's words marked, stems included."""

import pickle

import hypothesis.strategies as st
import pytest
from hypothesis import given

import ragfile
from ragfile.search.excerpts import excerpt
from ragfile.search.question_terms import TermPlace

FILLER = "Nothing of the kind is said in this place. " * 12
PAGE = f"# Keys\n\n{FILLER}\n\nKeys are rotated every month. Rotation keeps old keys readable.\n\n{FILLER}\n"


@pytest.fixture
def rf(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text(PAGE)
    ragfile.build([tmp_path / "docs"], tmp_path / "kb", chunking="markdown:2000")
    with ragfile.open(tmp_path / "kb") as opened:
        yield opened


def test_the_sentences_with_most_of_the_questions_words_are_shown(rf):
    hit = rf.search("how are keys rotated?", k=1)[0]
    found = rf.excerpt("how are keys rotated?", hit, 120)
    assert "Keys are rotated every month. Rotation keeps old keys readable." in found.text
    assert found.text == hit.text[found.start : found.end]
    words = [found.text[start:end] for start, end in found.marks]
    assert words == ["Keys", "rotated", "Rotation", "keys"]


def test_a_passage_without_the_words_begins_at_its_beginning(rf):
    hit = rf.search("keys", k=1)[0]
    found = rf.excerpt("zebra", hit, 60)
    assert (found.start, found.marks) == (0, [])
    assert len(found.text) <= 60


@given(st.text(st.sampled_from("ab .\n日"), max_size=300), st.integers(1, 60), st.data())
def test_an_excerpt_is_a_part_within_the_size_and_its_marks_are_in_it(text, size, data):
    starts = data.draw(st.lists(st.integers(0, max(len(text) - 1, 0)), max_size=5))
    places = [TermPlace("t", a, min(a + 2, len(text))) for a in starts if a < len(text)]
    found = excerpt(text, places, size)
    assert found.text == text[found.start : found.end]
    assert len(found.text) <= size
    assert all(0 <= a < b <= len(found.text) for a, b in found.marks)


def test_a_hit_gives_its_surroundings_from_its_document(tmp_path):
    sections = "".join(
        f"# S{n}\n\nSection {n} says {n * n}. {'Words. ' * 40}\n\n" for n in range(6)
    )
    (tmp_path / "a.md").write_text(sections)
    ragfile.build([tmp_path / "a.md"], tmp_path / "kb")
    with ragfile.open(tmp_path / "kb") as rf:
        text = rf.document("a.md").text
        hit = rf.search("section 3 says 9", k=1)[0]
        around = hit.context(before=1, after=2)
        assert around.text == text[around.start : around.end]
        assert around.text.startswith("# S2")
        assert "# S5" in around.text
        assert hit.context(before=0, after=0).text == hit.text
        assert hit.context(before=99, after=99).text == text.strip()
        again = rf.search("section 3 says 9", k=1)[0]  # from the answers that are kept
        assert again.context(before=1, after=2) == around
        with pytest.raises(ValueError, match="count chunks"):
            hit.context(before=-1)
        with pytest.raises(ValueError, match="search for it again"):
            pickle.loads(pickle.dumps(hit)).context()


def test_a_chunk_that_was_deleted_is_in_no_surroundings(tmp_path):
    sections = "".join(
        f"# S{n}\n\nSection {n} says {n * n}. {'Words. ' * 40}\n\n" for n in range(4)
    )
    (tmp_path / "a.md").write_text(sections)
    ragfile.build([tmp_path / "a.md"], tmp_path / "kb")
    with ragfile.edit(tmp_path / "kb") as w:
        w.delete_chunks(["a.md#1"])
    with ragfile.open(tmp_path / "kb") as rf:
        hit = next(h for h in rf.search("section 2 says 4", k=3) if "says 4" in h.text)
        assert "says 1." not in hit.context(before=2, after=0).text
