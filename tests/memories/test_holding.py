"""What holds from a viewpoint, compared with a slow oracle that looks at every moment of a small world."""

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from ragfile.memories.threads import Statement, Viewpoint, holding

MOMENTS = st.integers(1, 9).map(str)  # stamps are compared as texts


class Said(list):
    """Statements in the order of `at`, as a file has them."""


@st.composite
def statements(draw):
    """A few statements with any clocks."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        since = draw(MOMENTS)
        until = draw(st.one_of(st.just(""), MOMENTS.filter(lambda m, s=since: m > s)))
        found.append(Statement("", draw(MOMENTS), since, until, "revised", ""))
    return Said(sorted(found, key=lambda one: one.at))


def oracle(said, as_of, known_at, now):
    """The newest known statement that has begun decides; a past period that is over has no say."""
    when = as_of or max(now, max(one.at for one in said))
    known = [one for one in said if not known_at or one.at <= known_at]
    begun = [one for one in known if one.since <= when]
    over = [one for one in begun if one.until and one.until < when]
    voices = [one for one in begun if not (one in over and one.until <= one.at)]
    last = voices[-1] if voices else None
    return None if last is None or last in over else last


@settings(max_examples=examples(600))
@given(statements(), st.one_of(st.just(""), MOMENTS), st.one_of(st.just(""), MOMENTS), MOMENTS)
def test_the_statement_that_holds_is_that_of_the_oracle(said, as_of, known_at, now):
    found = holding(said, Viewpoint(as_of, known_at, now))
    wanted = oracle(said, as_of, known_at, now)
    assert (None if found is None else found.statement) == wanted


@given(statements(), MOMENTS)
def test_a_statement_ends_where_it_or_a_later_one_says(said, as_of):
    found = holding(said, Viewpoint(as_of, "", "1"))
    if found is not None and found.end:
        ends = {found.statement.until, *(one.since for one in said[found.number + 1 :])}
        assert found.end in ends
        assert found.end > as_of or found.end == found.statement.until == as_of  # it is included
