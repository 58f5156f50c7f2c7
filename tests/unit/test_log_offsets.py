"""Where a reader of the log continues, and that it never skips what Kafka has deleted."""

import pytest

from lily.bus.offsets import start_offset
from lily.model.errors import Terminal

HERE = ("governance-events", 3)


def test_a_reader_continues_where_it_stopped_or_at_the_beginning_of_what_it_never_read() -> None:
    assert start_offset(HERE, 5, 9, None) == 5
    assert [start_offset(HERE, 5, 9, reached) for reached in (5, 7, 9)] == [5, 7, 9]


@pytest.mark.parametrize("reached", [4, 10])
def test_a_reader_whose_next_records_are_gone_stops_instead_of_losing_events(reached: int) -> None:
    with pytest.raises(Terminal, match=rf"no longer holds offset {reached} of governance-events/3 \(it has 5 to 9\)"):
        start_offset(HERE, 5, 9, reached)
