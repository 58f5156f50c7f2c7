"""Which events an asset as of a time is rebuilt from."""

import pytest

from lily.api.reads.as_of import _received_before, undone
from lily.model.layers import Layer
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.history import LaterChanges

AT = "2026-01-01T12:00:00.001500Z"


@pytest.mark.parametrize(
    ("received", "included"),
    [("2026-01-01T12:00:00.000000Z", True), ("2026-01-01T12:00:00.001000Z", False), (AT, False)],
)
def test_an_event_of_the_same_millisecond_may_be_later_and_is_left_out(received: str, *, included: bool) -> None:
    """The log keeps milliseconds, so what it took at .001700 is stored as .001000."""
    assert _received_before(received, AT) == included


NO_CHANGES = LaterChanges(
    are_archived=False, before={}, are_promoted=False, first_event="2026-01-01", version=1, last_event=None
)


@pytest.mark.parametrize(
    ("later", "awaits_lake", "known"),
    [
        (NO_CHANGES, False, True),
        (NO_CHANGES._replace(are_archived=True), False, False),
        (NO_CHANGES._replace(are_promoted=True), False, False),
        (NO_CHANGES._replace(first_event="2025-01-01"), False, False),
        (NO_CHANGES, True, False),
    ],
)
def test_a_past_of_which_postgresql_lacks_a_part_is_left_to_the_lake(
    later: LaterChanges, *, awaits_lake: bool, known: bool
) -> None:
    layer = Layer({"name": "t"}, "2025-06-01/e")
    asset = StoredAsset("t", "id", "shop.t", {"source": layer}, 1, "2025-06-01", "2025-06-01", awaits_lake)
    assert (undone(asset, later, AT) is not None) is known
