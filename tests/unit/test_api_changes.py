"""What a change of a layer amounts to."""

from typing import Any

import pytest

from lily.model.changes import differences, is_promotion, kind, promotion, tag_changes

SOURCE = {"$type": "table", "$deleted": False, "name": "orders"}
PII = {"tags": {"pii": "PII"}}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, SOURCE, "created"),
        (None, SOURCE | PII, "created"),
        (None, SOURCE | {"$deleted": True}, "deleted"),
        (SOURCE, SOURCE | {"name": "o"}, "updated"),
        (SOURCE, SOURCE | {"$deleted": True}, "deleted"),
        (SOURCE | {"$deleted": True}, SOURCE, "restored"),
        (SOURCE, SOURCE | PII, "tagged"),
        (SOURCE | PII, SOURCE | {"tags": {}}, "untagged"),
        (SOURCE | PII, SOURCE | {"tags": {"gdpr": "GDPR"}}, "tagged"),
        (SOURCE | PII, SOURCE | {"tags": {"pii": "Pii"}}, "updated"),
        (SOURCE, SOURCE | PII | {"name": "o"}, "updated"),
        (None, {"owner": "me"}, "updated"),
        (None, PII, "tagged"),
        (None, {"tags": {}}, "updated"),
        (None, {"$deleted": True}, "deleted"),
        (None, {"$deleted": False}, "restored"),
        ({"owner": "me", "$deleted": True}, {"owner": "me", "$deleted": False}, "restored"),
    ],
)
def test_the_kind_of_a_change(before: dict[str, Any] | None, after: dict[str, Any], expected: str) -> None:
    assert kind(before, after) == expected


def test_differences_are_told_in_the_names_of_the_contract() -> None:
    before = {"$type": "table", "$parent": "1", "parent": "a", "owner": "x", "tags": {"pii": "PII"}, "same": 1}
    after = {
        "$type": "view",
        "$parent": "2",
        "parent": "b",
        "tags": {"pii": "PII", "b": "B"},
        "same": 1,
        "$deleted": True,
    }
    assert differences(before, after) == {
        "entity_type": {"from": "table", "to": "view"},
        "is_deleted": {"from": None, "to": True},
        "owner": {"from": "x", "to": None},
        "parent": {"from": "a", "to": "b"},
        "tags": {"from": ["PII"], "to": ["B", "PII"]},
    }


def test_tags_come_and_go() -> None:
    assert tag_changes({"tags": {"a": "A", "b": "B"}}, {"tags": {"b": "b", "c": "C"}}) == {
        "added": ["C"],
        "removed": ["A"],
    }
    assert tag_changes(None, {}) == {"added": [], "removed": []}


def test_a_suppression_is_told_without_lilys_own_mark() -> None:
    about = {"tag": "PII", "reason": "tokenised", "by": "me", "origins": []}
    told = differences(None, {"$suppressed:pii": about})
    assert told == {"suppressed:pii": {"from": None, "to": about}}


def test_a_promotion_is_told_by_its_cause() -> None:
    cause = promotion("2026-01-01T00:00:00.000000Z/e-1")
    assert (cause["id"], cause["time"]) == ("e-1", "2026-01-01T00:00:00.000000Z")
    assert is_promotion([cause])
    assert kind(None, SOURCE, [cause]) == "promoted"
    assert kind(None, SOURCE, [{"id": "e-1", "time": cause["time"]}]) == "created"
    assert not is_promotion([{"id": "e-1", "time": "2026-01-01T00:00:00.000000Z", "by": "lake"}])
    assert not is_promotion([])
