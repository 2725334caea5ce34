"""The standings of many rows are those that the records of each row give."""

import hypothesis.strategies as st
import pytest
from effort import examples
from hypothesis import given, settings

import ragfile
from ragfile.file.stored_rows import Standing


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return rows in three segments."""
    path = tmp_path_factory.mktemp("standings") / "kb"
    for number, counts in enumerate(([3, 1, 5], [0, 2], [4, 4])):
        with (ragfile.edit if number else ragfile.create)(path) as w:
            for i, count in enumerate(counts):
                name = f"ü{number}{i}"
                w.add(
                    [
                        {"doc_id": name, "chunk_index": 2 * j, "content": f"pods {j}"}
                        for j in range(count)
                    ]
                )
    with ragfile.open(path) as opened:
        yield opened.rows


def standing(rows, row):
    """Return a standing by the records of one row."""
    segment, local = rows.place(row)
    document = segment.document(segment.records.chunk(local).document)
    return Standing(segment.records.key(local), document.file_rows.start, document.file_rows.stop)


@settings(max_examples=examples(100))
@given(st.lists(st.integers(0, 18), unique=True))
def test_standings_are_those_of_the_records(rows, wanted):
    assert rows.count == 19
    assert rows.looked_at("standings", wanted) == {row: standing(rows, row) for row in wanted}
    assert all(isinstance(one, Standing) for one in rows.looked_at("standings", wanted).values())
