"""Events of a sender without `metadata:write`: edges, runs and what exists, but no owners, tags or descriptions."""

from typing import Any

from tests.openlineage_words import attributes, claims, converted, dataset, field, run_event, schema, stated

DESCRIBED = {
    "documentation": {"description": "all orders"},
    "ownership": {"owners": [{"name": "ada"}]},
    "tags": {"tags": [{"key": "PII"}, {"key": "PII", "field": "x"}]},
}


def described() -> dict[str, Any]:
    lineage = {"fields": {"x": {"inputFields": [field("a", "x")]}}}
    job = {"namespace": "airflow", "name": "dag.task", "facets": DESCRIBED}
    output = dataset("t", schema=schema("x"), columnLineage=lineage, **DESCRIBED)
    return run_event(job=job, inputs=[dataset("a", **DESCRIBED)], outputs=[output])


def test_it_states_edges_and_what_exists_and_nothing_about_it() -> None:
    found = converted(described(), describes=False)
    assert ("a.x", "t.x", "derived-from") in claims(found)
    assert attributes(found, "t") == {"name": "t"}
    assert attributes(found, "a") == {"name": "a"}
    assert attributes(found, "job:airflow/dag.task") == {"name": "dag.task"}
    assert attributes(found, "t.x") == {"name": "x", "parent": "t", "ordinal_position": 1, "data_type": "varchar"}
    assert stated(found).keys() == {"a", "t", "job:airflow/dag.task", "t.x", "a.x"}


def test_the_warnings_name_each_facet_that_was_ignored_and_the_scope() -> None:
    warnings = converted(described(), describes=False).warnings
    holders = ("job", "inputs[0]", "outputs[0]")
    places = {f"{holder}.facets.{name}" for holder in holders for name in DESCRIBED}
    assert {warning.entity for warning in warnings} == places | {"outputs[0].facets.schema.fields.description"}
    assert all("metadata:write" in warning.description for warning in warnings)


def test_with_the_scope_everything_is_stated_and_nothing_reported() -> None:
    found = converted(described())
    assert attributes(found, "t")["owner"] == "ada"
    assert attributes(found, "t.x")["tags"] == ["PII"]
    assert found.warnings == []


def test_a_drop_is_left_to_the_worker() -> None:
    facet = {"lifecycleStateChange": "DROP"}
    found = converted(run_event(outputs=[dataset("t", lifecycleStateChange=facet)]), describes=False)
    assert {event.statement.operation for event in found.assets} == {"upsert"}
    assert found.claims is not None
    assert (found.claims.tables.dropped, found.claims.tables.limits) == (("t",), (None, True))
    assert [(warning.code, warning.entity) for warning in found.warnings] == [("FORBIDDEN", "t")]


def test_without_metadata_read_the_sql_of_a_run_expands_no_star_and_the_warning_says_so() -> None:
    job = {"namespace": "shop", "name": "copy", "facets": {"sql": {"query": "select * from a"}}}
    event = run_event(job=job, inputs=[dataset("a")], outputs=[dataset("t")])
    found = converted(event, reads=False)
    assert found.claims is not None
    assert found.claims.query is not None
    assert not found.claims.query.expands
    assert [(one.code, one.entity) for one in found.warnings] == [("FORBIDDEN", "job.facets.sql.query")]
    assert converted(event).warnings == []
