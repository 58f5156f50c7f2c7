"""OpenLineage events are converted to statements about assets and claims of edges."""

from typing import Any

import pytest

from lily.model import ids
from lily.model.edges import ClaimsEvent
from lily.model.lanes import lane_of
from tests.openlineage_words import (
    RUN,
    attributes,
    claims,
    column_lineage,
    converted,
    dataset,
    field,
    run_event,
    schema,
    stated,
)


def test_a_run_states_its_job_its_datasets_and_their_columns() -> None:
    found = converted(
        run_event(inputs=[dataset("shop.public.a", schema=schema("x", "y"))], outputs=[dataset("shop.public.b")])
    )
    assert {name: asset.statement.entity_type for name, asset in stated(found).items()} == {
        "job:airflow/dag.task": "job",
        "shop.public.a": "table",
        "shop.public.a.x": "column",
        "shop.public.a.y": "column",
        "shop.public.b": "table",
    }
    assert attributes(found, "shop.public.a.y") == {
        "name": "y",
        "parent": "shop.public.a",
        "ordinal_position": 2,
        "data_type": "varchar",
        "description": "the y",
    }
    assert claims(found) == {("shop.public.a", "shop.public.b", "derived-from"): False}


def test_the_claims_belong_to_the_job_and_are_complete_when_the_run_is() -> None:
    lineage = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
    found = converted(run_event(**lineage), authorised=True).claims
    assert isinstance(found, ClaimsEvent)
    assert (found.job_id, found.run) == (ids.asset_id("t", "job:airflow/dag.task"), RUN)
    assert (found.complete, found.by, found.authorised) == (True, "me", True)
    for kind in ("START", "RUNNING", "OTHER", None, "start"):
        unfinished = converted(run_event(**lineage) | {"eventType": kind}).claims
        assert unfinished is not None
        assert not unfinished.complete


def test_a_job_event_is_design_time_lineage() -> None:
    event = run_event(inputs=[dataset("a")], outputs=[dataset("b")])
    for name in ("run", "eventType", "schemaURL"):
        del event[name]
    found = converted(event).claims
    assert found is not None
    assert (found.run, found.complete) == ("job", True)


def test_a_dataset_event_states_only_the_dataset() -> None:
    event = {"eventTime": "2026-11-15T11:00:00Z", "dataset": dataset("a", schema=schema("x"))}
    found = converted(event)
    assert list(stated(found)) == ["a", "a.x"]
    assert claims(found) == {}


def test_a_run_without_lineage_claims_nothing() -> None:
    assert claims(converted(run_event())) == {}
    assert claims(converted(run_event(inputs=[dataset("a")]))) == {}


def test_columns_derive_from_columns() -> None:
    lineage = column_lineage(
        total=[field("a", "price", {"type": "DIRECT"}), field("a", "country", {"type": "INDIRECT"})],
        plain=[field("a", "x")],
    )
    found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found) == {
        ("a", "b", "derived-from"): False,
        ("a.price", "b.total", "derived-from"): False,
        ("a.country", "b.total", "influences"): False,
        ("a.x", "b.plain", "derived-from"): False,
    }


def test_a_column_that_only_filters_influences_the_dataset() -> None:
    lineage = {"fields": {}, "dataset": [field("a", "country", {"type": "INDIRECT", "subtype": "FILTER"})]}
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found) == {("a.country", "b", "influences"): False, ("a", "b", "influences"): False}


@pytest.mark.parametrize(
    ("transformations", "masking"),
    [
        ([], False),
        ([{"type": "DIRECT", "masking": True}], True),
        ([{"type": "DIRECT", "masking": True}, {"type": "INDIRECT", "masking": True}], True),
        ([{"type": "DIRECT", "masking": True}, {"type": "INDIRECT"}], False),
        ([{"type": "DIRECT", "subtype": "AGGREGATION"}], False),
        ([{"type": "DIRECT", "masking": "true"}], False),
        ([{"type": "DIRECT", "masking": True}, "what"], False),
    ],
)
def test_an_edge_is_masked_only_if_every_transformation_masks(transformations: list[Any], masking: bool) -> None:  # noqa: FBT001
    lineage = column_lineage(hash=[field("a", "ssn", *transformations)])
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found)[("a.ssn", "b.hash", "derived-from")] is masking


def test_an_edge_claimed_twice_is_masked_only_if_both_claims_say_so() -> None:
    masked, open_ = {"type": "DIRECT", "masking": True}, {"type": "DIRECT", "masking": False}
    lineage = column_lineage(y=[field("a", "x", masked), field("a", "x", open_)])
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found) == {("a.x", "b.y", "derived-from"): False, ("a", "b", "derived-from"): False}


def test_both_ends_of_an_edge_are_stated_by_name() -> None:
    lineage = column_lineage(y=[field("elsewhere", "x")])
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert attributes(found, "elsewhere.x") == {"name": "x", "parent": "elsewhere"}
    assert attributes(found, "elsewhere") == {"name": "elsewhere"}
    assert attributes(found, "b.y") == {"name": "y", "parent": "b"}


def test_a_table_that_is_read_and_written_gets_no_edge_to_itself() -> None:
    lineage = column_lineage(x=[field("a", "x")])
    found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("a", columnLineage=lineage)]))
    assert claims(found) == {}
    assert list(stated(found)) == ["job:airflow/dag.task", "a", "a.x"]


def test_a_dataset_without_facets_is_only_stated_to_exist() -> None:
    full = dataset("a", documentation={"description": "all orders"})
    for inputs in ([full, dataset("a")], [dataset("a"), full]):
        found = converted(run_event(inputs=inputs))
        assert attributes(found, "a") == {"name": "a", "description": "all orders"}
    assert attributes(converted(run_event(inputs=[dataset("a")])), "a") == {"name": "a"}


def test_documentation_and_ownership_become_attributes() -> None:
    facets = {
        "documentation": {"description": "Loads orders"},
        "ownership": {"owners": [{"name": "team:data", "type": "MAINTAINER"}, {"name": "user:ann"}]},
    }
    job = {"namespace": "airflow", "name": "dag.task", "facets": facets}
    found = converted(run_event(job=job, outputs=[dataset("a", **facets)]))
    for name in ("job:airflow/dag.task", "a"):
        told = attributes(found, name)
        assert (told["description"], told["owner"]) == ("Loads orders", "team:data")
        assert told["owners"] == [{"name": "team:data", "type": "MAINTAINER"}, {"name": "user:ann"}]


def test_tags_are_keys_and_values_of_datasets_and_fields() -> None:
    facet = {
        "tags": [
            {"key": "pii", "value": "true", "source": "DBT"},
            {"key": "tier", "value": "gold"},
            {"key": "daily"},
            {"key": "gdpr", "value": "false"},
            {"key": "PII", "value": "true", "field": "email"},
        ]
    }
    found = converted(run_event(outputs=[dataset("a", tags=facet, schema=schema("email", "id"))]))
    assert attributes(found, "a")["tags"] == ["pii", "tier:gold", "daily"]
    assert attributes(found, "a.email")["tags"] == ["PII"]
    assert attributes(found, "a.id")["tags"] == []
    assert lane_of(stated(found)["a.email"]) == "hot"
    assert lane_of(stated(found)["a.id"]) == "bulk"


def test_a_tagged_field_is_stated_even_if_no_schema_names_it() -> None:
    facet = {"tags": [{"key": "pii", "value": "true", "field": "email"}]}
    found = converted(run_event(outputs=[dataset("a", tags=facet)]))
    assert attributes(found, "a.email") == {"name": "email", "parent": "a", "tags": ["pii"]}


def test_without_a_tags_facet_no_tags_are_stated() -> None:
    found = converted(run_event(outputs=[dataset("a", schema=schema("x"))]))
    assert all("tags" not in asset.statement.attributes for asset in found.assets)


def test_tags_of_the_dataset_alone_leave_the_tags_of_its_fields_unchanged() -> None:
    facet = {"tags": [{"key": "daily", "value": "true"}]}
    found = converted(run_event(outputs=[dataset("a", tags=facet, schema=schema("x"))]))
    assert "tags" not in attributes(found, "a.x")


@pytest.mark.parametrize("facet", [{"tags": []}, {"_deleted": True}])
def test_a_tags_facet_without_tags_clears_them(facet: dict[str, Any]) -> None:
    found = converted(run_event(outputs=[dataset("a", tags=facet, schema=schema("x"))]))
    assert attributes(found, "a")["tags"] == attributes(found, "a.x")["tags"] == []


def test_a_deleted_facet_clears_its_attributes() -> None:
    gone = {"_deleted": True, "_producer": "x"}
    facets = dict.fromkeys(("documentation", "ownership", "schema", "columnLineage"), gone)
    found = converted(run_event(inputs=[dataset("b")], outputs=[dataset("a", **facets)]))
    assert attributes(found, "a") == {"name": "a", "description": None, "owner": None, "owners": None}
    assert claims(found) == {("b", "a", "derived-from"): False}


@pytest.mark.parametrize(
    ("facet", "kind"),
    [
        ({"datasetType": "VIEW"}, "view"),
        ({"datasetType": "view", "subType": "MATERIALIZED"}, "materialized_view"),
        ({"datasetType": "TOPIC"}, "topic"),
        ({"datasetType": "JOB_OUTPUT"}, "table"),
        ({}, "table"),
    ],
)
def test_the_facet_decides_the_entity_type(facet: dict[str, Any], kind: str) -> None:
    found = converted(run_event(outputs=[dataset("a", datasetType=facet, documentation={"description": ""})]))
    assert stated(found)["a"].statement.entity_type == kind


def test_the_fields_of_a_struct_are_children_of_its_column() -> None:
    nested = {"fields": [{"name": "address", "type": "struct", "fields": [{"name": "city", "type": "varchar"}]}]}
    found = converted(run_event(outputs=[dataset("a", schema=nested)]))
    assert attributes(found, "a.address.city")["parent"] == "a.address"
