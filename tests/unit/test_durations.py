"""Durations as people write them."""

from hypothesis import given
from hypothesis import strategies as st

from lily.model.durations import MAX_SECONDS, parse_duration, shown_duration


def test_a_duration_is_shown_in_the_largest_units_below_a_day() -> None:
    assert [shown_duration(seconds) for seconds in (1, 90, 3_600, 5_400, 86_400, 90_061)] == [
        "1s",
        "1m30s",
        "1h",
        "1h30m",
        "24h",
        "25h1m1s",
    ]


@given(st.integers(1, MAX_SECONDS))
def test_what_is_shown_is_parsed_to_the_same(seconds: int) -> None:
    assert parse_duration(shown_duration(seconds)) == seconds
