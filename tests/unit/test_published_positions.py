"""How far propagation has to read before a write has propagated."""

from lily.model.records import Position
from lily.store.postgres.progress.propagated import _positions

ENDS = {"governance-events": {"0": 7, "1": 0, "2": 1}}


def test_a_write_has_propagated_once_the_last_record_before_each_end_is_handled() -> None:
    """A partition that ends at 7 has the offset 6 last; an empty one has nothing to wait for."""
    topic = "governance-events@propagation"
    assert _positions([(True, ENDS), (True, None)]) == [Position(topic, 0, 6), Position(topic, 2, 0)]


def test_a_write_of_which_a_batch_is_not_published_has_no_positions_yet() -> None:
    assert _positions([(True, ENDS), (False, None)]) is None
    assert _positions([]) == []
