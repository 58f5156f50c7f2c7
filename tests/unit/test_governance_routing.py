"""Which changes have a record on `governance-events`: those that can travel, or that decisions depend on."""

from datetime import UTC, datetime
from typing import Any

import pytest

from lily.model import governance
from lily.model.changes import differing
from lily.reactions.relay.routing import concerns_governance
from lily.store.postgres.outbox.batches import Change

NOW = datetime(2026, 11, 15, tzinfo=UTC)
STATED = {"name": "t", "$type": "table", "$deleted": False, "$parent": "p", "owner": "ada"}


def routed(
    before: dict[str, Any] | None,
    after: dict[str, Any],
    layer: str = "source",
    rules: frozenset[str] = governance.NOTHING,
    members: frozenset[str] = frozenset(),
) -> bool:
    change = Change(7, "default", "id", "shop.t", "table", layer, 2, before, after, [], NOW)
    return concerns_governance(change, differing(before, after), rules, members)


@pytest.mark.parametrize(
    "after",
    [
        STATED | {"tags": {"pii": "PII"}},
        STATED | {"$parent": "q"},
        STATED | {"$deleted": True},
        {key: value for key, value in STATED.items() if key != "$parent"},
    ],
)
def test_a_change_of_tags_parent_or_deletion_is_routed(after: dict[str, Any]) -> None:
    assert routed(STATED, after)
    assert routed(after, STATED)


def test_a_plain_change_is_not_routed() -> None:
    assert not routed(STATED, STATED | {"description": "One row an order.", "owner": "bob"})
    assert not routed({"owner": "ada"}, {"owner": "bob"}, "enriched", frozenset({"owner"}))


def test_a_suppression_is_routed_both_ways() -> None:
    suppressed = {"$suppressed:pii": {"by": "ada"}}
    assert routed({}, suppressed, "user")
    assert routed(suppressed, {}, "user")
    assert routed(None, suppressed, "user")


@pytest.mark.parametrize(
    ("layer", "field", "value"),
    [
        ("user", "$covers", True),
        ("user", "$cut", True),
        ("source", "$held:pii", "PII"),
        ("source", f"$held_parent:{'0' * 32}", True),
    ],
)
def test_what_is_held_or_decides_what_conducts_is_routed_both_ways(layer: str, field: str, value: object) -> None:
    assert routed({"owner": "ada"}, {"owner": "ada", field: value}, layer)
    assert routed({"owner": "ada", field: value}, {"owner": "ada"}, layer)


def test_an_attribute_that_a_rule_names_is_routed() -> None:
    assert routed(STATED, STATED | {"owner": "bob"}, rules=frozenset({"owner"}))
    assert not routed(STATED, STATED | {"cost": 1}, rules=frozenset({"owner"}))


def test_a_new_asset_is_routed_if_it_is_tagged_deleted_or_in_the_graph() -> None:
    assert not routed(None, STATED)
    assert not routed(None, STATED | {"tags": {}})
    assert routed(None, STATED | {"tags": {"pii": "PII"}})
    assert routed(None, STATED | {"$deleted": True})
    assert routed(None, STATED, members=frozenset({"id"}))
