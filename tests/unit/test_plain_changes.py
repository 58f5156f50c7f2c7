"""A plain change goes out as the full way would publish it."""

import json
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model import governance
from lily.model.changes import differing
from lily.reactions.relay.change_events import change_event, sendable
from lily.reactions.relay.plain_changes import is_plain, plain_event
from lily.reactions.relay.routing import concerns_governance
from lily.store.postgres.outbox.batches import Change, OutgoingChange

NOW = datetime(2026, 11, 15, 8, 36, 0, 120, tzinfo=UTC)
FIELDS = ("name", "owner", "description", "tags", "$deleted", "$type", "$parent", "$suppressed:pii", "$cut", "100 %@")
TEXTS = st.text(max_size=8) | st.sampled_from(["", '"', "\\", "%s", "%", "@", "\n", "Füße", "@causes@", "1111111111"])
VALUES = st.none() | st.booleans() | st.integers(-9, 9) | TEXTS | st.lists(TEXTS, max_size=2)
TAG_VALUES = st.dictionaries(st.sampled_from(["pii", "gdpr"]), st.just("PII"), max_size=2)


@st.composite
def layers(draw: st.DrawFn) -> dict[str, Any]:
    stated = draw(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5))
    return stated | ({"tags": draw(TAG_VALUES)} if "tags" in stated else {})


CAUSES = st.lists(
    st.fixed_dictionaries(
        {"id": TEXTS, "time": st.just("2026-11-15T08:36:00.000000Z")},
        optional={"by": TEXTS, "correlation": TEXTS, "trace": TEXTS, "from": st.just("lake")},
    ),
    max_size=3,
)


def outgoing(change: Change) -> OutgoingChange:
    """As PostgreSQL returns it."""
    committed = change.committed_at.isoformat(" ").removesuffix("+00:00")
    if "." in committed:
        committed = committed.rstrip("0")
    return OutgoingChange(*change[:9], json.dumps(change.causes, ensure_ascii=False), committed)


CHANGES = st.builds(
    Change,
    position=st.just(7),
    tenant_id=st.just("default"),
    asset_id=st.just("id"),
    qualified_name=TEXTS,
    entity_type=st.none() | st.sampled_from(["table", '"']),
    layer=st.sampled_from(["source", "enriched", "user"]),
    version=st.just(2),
    before=st.none() | layers(),
    after=layers(),
    causes=CAUSES,
    committed_at=st.sampled_from([0, 1, 120, 120_000, 999_999]).map(lambda micros: NOW.replace(microsecond=micros)),
)


@given(CHANGES)
def test_a_plain_change_is_the_event_of_the_full_way(change: Change) -> None:
    row, changed = outgoing(change), differing(change.before, change.after)
    assert row.decoded() == change
    if is_plain(row, changed):
        assert orjson.loads(plain_event(row, changed)) == orjson.loads(sendable(change_event(change, changed)))
        assert not concerns_governance(change, changed, governance.NOTHING, {"id"})


@pytest.mark.parametrize("layer", ["source", "enriched", "user"])
def test_a_change_of_an_attribute_is_plain(layer: str) -> None:
    causes = [{"id": "e1", "time": "t", "by": "ann", "correlation": "c1", "trace": "00-ab-cd-01"}]
    change = Change(7, "default", "id", "shop.t", "table", layer, 2, {"owner": "ann"}, {"owner": "bob"}, causes, NOW)
    row = outgoing(change)
    assert is_plain(row, ["owner"])
    assert orjson.loads(plain_event(row, ["owner"])) == change_event(change, ["owner"])


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (None, {"name": "t"}, {}),
        ({"name": "t"}, {"name": "s"}, {"from": "lake"}),
        ({}, {"tags": {"pii": "PII"}}, {}),
        ({}, {"$deleted": True}, {}),
        ({"$suppressed:pii": {"by": "ada"}}, {}, {}),
    ],
)
def test_what_may_travel_or_is_shown_in_another_form_is_not_plain(
    before: dict[str, Any] | None, after: dict[str, Any], cause: dict[str, str]
) -> None:
    change = Change(7, "default", "id", "shop.t", "table", "source", 2, before, after, [{"id": "e1"} | cause], NOW)
    assert not is_plain(outgoing(change), differing(before, after))
