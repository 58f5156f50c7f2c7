"""Datasets that are dropped or renamed."""

from typing import Any

import pytest

from lily.intake.openlineage import Conversion
from lily.model import ids
from tests.openlineage_words import assumed, attributes, converted, dataset, run_event, schema, stated


def changed(change: Any, name: str = "t", *, state: str = "COMPLETE", **more: Any) -> Conversion:
    previous = more.pop("previous", None)
    facet = {"lifecycleStateChange": change, "previousIdentifier": previous and dataset(previous)}
    return converted(
        run_event(eventType=state, inputs=[dataset("a")], outputs=[dataset(name, lifecycleStateChange=facet, **more)])
    )


def deleted(found: Conversion) -> set[str]:
    return {name for name, event in stated(found).items() if event.statement.operation == "delete"}


def test_a_dropped_dataset_is_deleted_with_its_columns_and_derived_from_nothing() -> None:
    found = changed("DROP")
    assert deleted(found) == {"t"}
    assert assumed(found) == set()
    assert found.claims is not None
    assert [(schema.dataset_id, schema.columns) for schema in found.claims.schemas] == [(ids.asset_id("t", "t"), {})]


@pytest.mark.parametrize("state", ["START", "FAIL", "ABORT"])
def test_a_drop_that_has_not_happened_deletes_nothing(state: str) -> None:
    assert deleted(changed("DROP", state=state)) == set()


@pytest.mark.parametrize("change", ["ALTER", "CREATE", "OVERWRITE", "TRUNCATE", "RENAME", "truncate"])
def test_other_changes_are_kept_with_the_run_and_delete_nothing(change: str) -> None:
    found = changed(change)
    assert (deleted(found), found.renamed, found.warnings) == (set(), [], [])
    assert found.claims is not None
    (kept,) = found.claims.facets.values()
    assert kept["lifecycleStateChange"] == change


def test_a_renamed_dataset_keeps_its_history_and_its_tags_by_edges_from_the_old_name() -> None:
    found = changed("RENAME", "new", previous="old", schema=schema("x"))
    assert deleted(found) == {"old"}
    assert attributes(found, "old") == {"name": "old", "renamed_to": "new"}
    assert attributes(found, "new")["renamed_from"] == "old"
    keys = [event.statement.key for event in found.renamed]
    assert [(key.from_id, key.to_id) for key in keys] == [
        (ids.asset_id("t", "old"), ids.asset_id("t", "new")),
        (ids.asset_id("t", "old.x"), ids.asset_id("t", "new.x")),
    ]
    assert {event.statement.layer for event in found.renamed} == {"source"}
    assert len({event.id for event in (*found.renamed, *found.stated)}) == len(found.renamed) + len(found.stated)


def test_a_dataset_that_is_renamed_to_its_own_name_stays() -> None:
    found = changed("RENAME", "t", previous="t")
    assert (deleted(found), found.renamed) == (set(), [])


@pytest.mark.parametrize(
    ("facet", "entity"),
    [
        ({"lifecycleStateChange": "EXPLODE"}, "lifecycleStateChange"),
        ({}, "lifecycleStateChange"),
        ({"lifecycleStateChange": "RENAME", "previousIdentifier": 7}, "previousIdentifier"),
        ({"lifecycleStateChange": "RENAME", "previousIdentifier": {"name": 7}}, "previousIdentifier.name"),
    ],
)
def test_a_wrong_change_is_reported_and_changes_nothing(facet: dict[str, Any], entity: str) -> None:
    found = converted(run_event(outputs=[dataset("t", lifecycleStateChange=facet)]))
    assert [warning.entity for warning in found.warnings] == [f"outputs[0].facets.lifecycleStateChange.{entity}"]
    assert deleted(found) == set()


def test_two_datasets_that_exchange_their_names_both_stay() -> None:
    facets = [{"lifecycleStateChange": "RENAME", "previousIdentifier": dataset(name)} for name in ("a", "b")]
    outputs = [dataset(name, lifecycleStateChange=facet) for name, facet in zip(("b", "a"), facets, strict=True)]
    found = converted(run_event(outputs=outputs))
    assert deleted(found) == set()
    assert found.claims is not None
    assert set(found.claims.tables.renamed) == {("a", "b"), ("b", "a")}


def test_a_name_that_is_dropped_and_used_again_stays() -> None:
    drop, rename = {"lifecycleStateChange": "DROP"}, {"lifecycleStateChange": "RENAME"}
    rename["previousIdentifier"] = dataset("new")  # type: ignore[assignment]
    found = converted(run_event(outputs=[dataset("t", lifecycleStateChange=f) for f in (drop, rename)]))
    assert deleted(found) == {"new"}


def test_a_dropped_dataset_loses_the_columns_of_its_schema() -> None:
    assert deleted(changed("DROP", schema=schema("x"))) == {"t", "t.x"}


def test_a_dataset_event_drops_too() -> None:
    facet = {"lifecycleStateChange": "DROP"}
    event = {"eventTime": "2026-11-15T11:00:00Z", "dataset": dataset("t", lifecycleStateChange=facet)}
    assert deleted(converted(event)) == {"t"}
