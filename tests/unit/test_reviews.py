"""A decision is about what was shown: an item that has changed since is another one."""

import pytest

from lily.api.protections.deciding import unchanged
from lily.lineage.pending import PendingId
from lily.store.postgres.protection.pending import PendingItem

SHOWN = PendingItem(PendingId("tag", ("a", "pii")), ("pii",), "crawler", "2026-01-01T00:00:00.000000Z", "")


def test_what_is_as_it_was_reviewed_is_decided() -> None:
    assert unchanged([SHOWN], {SHOWN.reviewed}) == [SHOWN]


@pytest.mark.parametrize(
    "change", [{"tags": ("gdpr", "pii")}, {"ended_by": "mallory"}, {"ended_at": "2026-01-02"}, {"held_at": "later"}]
)
def test_what_has_changed_since_is_not(change: dict[str, object]) -> None:
    assert unchanged([SHOWN._replace(**change)], {SHOWN.reviewed}) == []  # type: ignore[arg-type]
