"""Which edges follow from a run: those that facets state, and only where they state nothing from inputs to outputs."""

from typing import Any

import pytest

from lily.intake.openlineage import Conversion
from lily.lineage.claims import Completion, merge_completions
from tests.openlineage_words import (
    DB,
    assumed,
    attributes,
    claims,
    column_lineage,
    converted,
    dataset,
    field,
    run_event,
    stated,
)

JOB = "job:airflow/dag.task"


def source(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "DATASET", "namespace": DB, "name": name, **more}


def entry(name: str, *inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**source(name), "inputs": list(inputs), **more}


def with_job_facet(*entries: Any, **more: Any) -> Conversion:
    job = {"namespace": "airflow", "name": "dag.task", "facets": {"lineage": {"entries": list(entries)}}}
    return converted(run_event(job=job, **more))


def edges(found: Conversion) -> set[tuple[str, str, str]]:
    return set(claims(found))


def test_without_a_better_statement_outputs_are_assumed_to_derive_from_all_inputs() -> None:
    found = converted(run_event(inputs=[dataset("a"), dataset("b")], outputs=[dataset("c")]))
    assert edges(found) == {("a", "c", "derived-from"), ("b", "c", "derived-from")}
    assert assumed(found) == {("a", "c"), ("b", "c")}


@pytest.mark.parametrize("state", ["FAIL", "ABORT"])
def test_nothing_is_assumed_of_a_run_that_failed(state: str) -> None:
    both = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
    assert claims(converted(run_event(eventType=state, **both))) == {}
    lineage = column_lineage(y=[field("a", "x")])
    described = run_event(eventType=state, inputs=[dataset("a")], outputs=[dataset("b", columnLineage=lineage)])
    assert edges(converted(described)) == {("a.x", "b.y", "derived-from"), ("a", "b", "derived-from")}


def test_column_lineage_states_the_edges_of_the_tables_and_nothing_is_assumed() -> None:
    outputs = [
        dataset("c", columnLineage=column_lineage(x=[field("a", "x")])),
        dataset("d", columnLineage=column_lineage(y=[field("b", "y")])),
    ]
    found = converted(run_event(inputs=[dataset("a"), dataset("b")], outputs=outputs))
    assert {edge[:2] for edge in edges(found)} == {("a", "c"), ("b", "d"), ("a.x", "c.x"), ("b.y", "d.y")}
    assert not assumed(found)


def test_column_lineage_from_a_dataset_that_is_no_input_makes_the_table_edge_too() -> None:
    found = converted(run_event(outputs=[dataset("b", columnLineage=column_lineage(y=[field("seed", "x")]))]))
    assert edges(found) == {("seed.x", "b.y", "derived-from"), ("seed", "b", "derived-from")}


def test_column_lineage_that_names_none_of_the_inputs_leaves_the_assumption() -> None:
    lineage = column_lineage(y=[field("source", "x")])  # a common table expression that was taken for a table
    found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=lineage)]))
    assert assumed(found) == {("a", "b")}
    assert ("source.x", "b.y", "derived-from") in edges(found)


def test_a_filter_alone_explains_no_content() -> None:
    lineage = {"fields": {}, "dataset": [field("a", "country", {"type": "INDIRECT"})]}
    found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=lineage)]))
    assert assumed(found) == {("a", "b")}


def test_a_masked_column_does_not_mask_the_table() -> None:
    lineage = column_lineage(hash=[field("a", "ssn", {"type": "DIRECT", "masking": True})])
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found) == {("a.ssn", "b.hash", "derived-from"): True, ("a", "b", "derived-from"): False}


def test_the_lineage_facet_of_a_job_replaces_inputs_times_outputs() -> None:
    found = with_job_facet(
        entry("c", source("a")),
        entry("d", source("b")),
        inputs=[dataset("a"), dataset("b")],
        outputs=[dataset("c"), dataset("d")],
    )
    assert edges(found) == {("a", "c", "derived-from"), ("b", "d", "derived-from")}
    assert not assumed(found)


def test_the_lineage_facet_of_an_output_replaces_its_inputs_alone() -> None:
    outputs = [dataset("c", lineage={"inputs": [source("a")]}), dataset("d")]
    found = converted(run_event(inputs=[dataset("a"), dataset("b")], outputs=outputs))
    assert edges(found) - {(*edge, "derived-from") for edge in assumed(found)} == {("a", "c", "derived-from")}
    assert assumed(found) == {("a", "d"), ("b", "d")}


@pytest.mark.parametrize("facet", [{"entries": []}, {"entries": [entry("c")]}])
def test_an_empty_list_means_that_there_is_no_source(facet: dict[str, Any]) -> None:
    found = with_job_facet(*facet["entries"], inputs=[dataset("a")], outputs=[dataset("c")])
    assert claims(found) == {}
    assert found.claims is not None
    earlier = Completion("earlier", "2026-11-15T10:00:00.000000Z/x")
    job = (found.claims.tenant, found.claims.job_id)
    completions, _ = merge_completions({job: earlier}, [found.claims])
    assert completions[job].ends("earlier", earlier.at)


def test_a_lineage_facet_that_says_nothing_leaves_the_assumption() -> None:
    nothing: list[dict[str, Any]] = [{}, {"_deleted": True}, {"fields": {}}]
    for facet in nothing:
        found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("b", lineage=facet)]))
        assert assumed(found) == {("a", "b")}


def test_fields_derive_from_fields_and_from_whole_datasets() -> None:
    fields = {"y": {"inputs": [source("a", field="x"), source("b")]}}
    found = converted(run_event(outputs=[dataset("c", lineage={"fields": fields})]))
    assert edges(found) == {
        ("a.x", "c.y", "derived-from"),
        ("b", "c.y", "derived-from"),
        ("a", "c", "derived-from"),
        ("b", "c", "derived-from"),
    }


def test_a_field_that_feeds_a_dataset_influences_it_unless_it_is_direct() -> None:
    direct = source("b", field="y", transformations=[{"type": "DIRECT"}])
    found = converted(run_event(outputs=[dataset("c", lineage={"inputs": [source("a", field="x"), direct]})]))
    assert edges(found) == {
        ("a.x", "c", "influences"),
        ("a", "c", "influences"),
        ("b.y", "c", "derived-from"),
        ("b", "c", "derived-from"),
    }


def test_masking_and_indirect_transformations_are_read() -> None:
    masked = source("a", field="x", transformations=[{"type": "DIRECT", "masking": True}])
    filtered = source("a", field="z", transformations=[{"type": "INDIRECT", "subtype": "JOIN"}])
    found = converted(run_event(outputs=[dataset("c", lineage={"fields": {"y": {"inputs": [masked, filtered]}}})]))
    assert claims(found)["a.x", "c.y", "derived-from"] is True
    assert ("a.z", "c.y", "influences") in edges(found)


def test_jobs_are_ends_of_edges_where_the_facet_says_so() -> None:
    other = {"type": "JOB", "namespace": "airflow", "name": "next"}
    found = with_job_facet(entry("c", {"type": "JOB"}), {**other, "inputs": [source("a"), {"type": "JOB"}]})
    assert edges(found) == {
        (JOB, "c", "derived-from"),
        ("a", "job:airflow/next", "used-in"),
        (JOB, "job:airflow/next", "used-in"),
    }
    assert stated(found)["job:airflow/next"].statement.entity_type == "job"
    assert attributes(found, "job:airflow/next") == {"name": "next"}


def test_a_dataset_event_with_the_facet_claims_the_edges_for_the_dataset_itself() -> None:
    event = {"eventTime": "2026-11-15T11:00:00Z", "dataset": dataset("v", lineage={"inputs": [source("t")]})}
    found = converted(event)
    assert edges(found) == {("t", "v", "derived-from")}
    assert found.claims is not None
    assert found.claims.complete
    assert found.claims.job_id == stated(found)["v"].asset_id


@pytest.mark.parametrize(
    "facet",
    [
        {},
        {"entries": 7},
        {"entries": [{"type": "TABLE", "name": "x", "namespace": ""}]},
        {"entries": [entry("c", {"type": "DATASET", "name": 7})]},
        {"entries": [entry("c", fields=[])]},
        {"entries": [entry("c", fields={"x": 7})]},
    ],
)
def test_a_wrong_lineage_facet_is_reported_and_leaves_the_assumption(facet: dict[str, Any]) -> None:
    job = {"namespace": "airflow", "name": "dag.task", "facets": {"lineage": facet}}
    found = converted(run_event(job=job, inputs=[dataset("a")], outputs=[dataset("c")]))
    assert found.warnings[0].entity.startswith("job.facets.lineage")
    assert assumed(found) == {("a", "c")}
    assert found.claims is not None
    assert not found.claims.complete


def test_of_too_many_inputs_and_outputs_no_edge_is_assumed_and_the_response_warns() -> None:
    inputs, outputs = ([dataset(f"{kind}{number}") for number in range(141)] for kind in "io")
    found = converted(run_event(inputs=inputs, outputs=outputs))
    assert claims(found) == {}
    assert {f"i{number}" for number in range(141)} | {f"o{number}" for number in range(141)} <= stated(found).keys()
    (warning,) = found.warnings
    assert (warning.code, warning.entity) == ("TOO_MANY_EDGES", "outputs")
    for part in ("141 outputs", "141 inputs", "5000 edges", "columnLineage"):
        assert part in warning.description


def test_outputs_that_facets_explain_need_no_assumption_however_many_there_are() -> None:
    lineage = column_lineage(y=[field("i0", "x")])
    inputs = [dataset(f"i{number}") for number in range(141)]
    outputs = [dataset(f"o{number}", columnLineage=lineage) for number in range(141)]
    found = converted(run_event(inputs=inputs, outputs=outputs))
    assert found.warnings == []
    assert ("i0", "o140", "derived-from") in edges(found)
