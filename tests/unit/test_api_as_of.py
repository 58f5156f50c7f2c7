"""Which events an asset as of a time is rebuilt from."""

import pytest

from lily.api.reads.as_of import _received_before

AT = "2026-01-01T12:00:00.001500Z"


@pytest.mark.parametrize(
    ("received", "included"),
    [("2026-01-01T12:00:00.000000Z", True), ("2026-01-01T12:00:00.001000Z", False), (AT, False)],
)
def test_an_event_of_the_same_millisecond_may_be_later_and_is_left_out(received: str, *, included: bool) -> None:
    """The log keeps milliseconds, so what it took at .001700 is stored as .001000."""
    assert _received_before(received, AT) == included
