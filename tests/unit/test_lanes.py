"""The lane of an event that arrived in bulk: hot if decisions depend on it, bulk for plain columns."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lily.estate import Estate, lane_of_body
from lily.model import ids
from lily.model.assets import ENTITY_TYPES, LayerName
from lily.model.events import AssetEvent, read_event
from lily.model.lanes import BULK_TYPES, lane_of
from lily.model.statements import read_statement
from tests.strategies import TAGS, attributes, events

TENANT = "default"
NAMES = st.sampled_from(["shop.public.orders", "shop.public.customers", "s3://bucket/folder", "bi/sales"])
PLACES = st.sampled_from(["id", "email", "grün"])
SEPARATORS = st.sampled_from("./")


@st.composite
def plain_columns(draw: st.DrawFn) -> AssetEvent:
    """A column as a source states it: without tags, and below the table that its name implies."""
    above = draw(NAMES)
    stated = {key: value for key, value in draw(attributes()).items() if key not in {"tags", "parent"}}
    stated |= draw(st.sampled_from([{}, {"tags": []}, {"tags": None}]))
    stated |= draw(st.sampled_from([{}, *({"parent": at} for at in (None, above, ids.asset_id(TENANT, above)))]))
    name = above + draw(SEPARATORS) + draw(PLACES)
    return stating(draw(st.sampled_from(sorted(BULK_TYPES))), stated | {"name": "c", "qualified_name": name})


def stating(entity_type: str, stated: dict[str, Any], operation: str = "upsert") -> AssetEvent:
    data = {"layer": "source", "operation": operation, "entity_type": entity_type, "attributes": stated}
    return AssetEvent(ids.event_id(), "2026-01-01T00:00:00.000000Z", TENANT, read_statement(data, tenant=TENANT))


def with_attributes(event: AssetEvent, **stated: Any) -> AssetEvent:
    return replace(event, statement=event.statement._replace(attributes=event.statement.attributes | stated))


@given(plain_columns())
def test_a_plain_column_is_bulk(event: AssetEvent) -> None:
    assert lane_of(event) == "bulk"


@given(plain_columns(), st.lists(st.sampled_from(TAGS), min_size=1))
def test_an_event_with_a_tag_is_hot(event: AssetEvent, tags: list[str]) -> None:
    assert lane_of(with_attributes(event, tags=tags)) == "hot"


@given(plain_columns(), st.sampled_from(["user", "enriched"]))
def test_what_a_person_or_a_rule_states_is_hot(event: AssetEvent, layer: LayerName) -> None:
    assert lane_of(replace(event, statement=event.statement._replace(layer=layer))) == "hot"


@given(plain_columns())
def test_a_deletion_is_hot(event: AssetEvent) -> None:
    assert lane_of(replace(event, statement=event.statement._replace(operation="delete"))) == "hot"


@given(plain_columns(), st.sampled_from(sorted(ENTITY_TYPES - BULK_TYPES)))
def test_an_asset_other_than_a_column_or_field_is_hot(event: AssetEvent, entity_type: str) -> None:
    assert lane_of(replace(event, statement=event.statement._replace(entity_type=entity_type))) == "hot"


@given(events())
def test_statements_of_people_and_rules_are_hot(event: AssetEvent) -> None:
    assume(event.statement.layer != "source")
    assert lane_of(event) == "hot"


@given(plain_columns(), NAMES)
def test_a_column_that_is_not_named_below_its_parent_is_hot(event: AssetEvent, elsewhere: str) -> None:
    assume(elsewhere != ids.name_prefix(event.statement.qualified_name))
    assert lane_of(with_attributes(event, parent=elsewhere)) == "hot"
    assert lane_of(with_attributes(event, parent=ids.asset_id(TENANT, elsewhere))) == "hot"


def test_another_tenants_parent_does_not_count() -> None:
    foreign = ids.asset_id("other", "shop.orders")
    assert lane_of(stating("column", {"name": "id", "qualified_name": "shop.orders.id", "parent": foreign})) == "hot"


@given(st.one_of(plain_columns(), events()))
def test_an_event_read_back_from_the_log_has_the_same_lane(event: AssetEvent) -> None:
    assert lane_of(read_event(event.as_cloudevent(), received=event.time)) == lane_of(event)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_estate_knows_the_lane_of_each_of_its_assets(seed: int) -> None:
    bodies = list(Estate(3_000, seed).events())
    lanes = [lane_of(stating(body["entity_type"], body["attributes"])) for body in bodies]
    assert lanes == [lane_of_body(body) for body in bodies]
    assert 0.75 < lanes.count("bulk") / len(lanes) < 0.9
