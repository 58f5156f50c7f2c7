"""Which facets are kept as they came, with the run or without one."""

from typing import Any

from lily.intake.openlineage.kept_facets import MAX_FACET
from lily.lineage.claims import merge_completions
from lily.model import ids
from tests.openlineage_words import attributes, column_lineage, converted, dataset, run_event, schema, stated

A = ids.asset_id("t", "a")


def kept(event: dict[str, Any]) -> dict[str, Any]:
    found = converted(event).claims
    assert found is not None
    return dict(found.facets)


def with_run_facets(**facets: Any) -> dict[str, Any]:
    return run_event(run={"runId": "1", "facets": facets})


def test_facets_are_kept_by_their_place() -> None:
    custom, version = {"any": ["thing", 7], "_producer": "x"}, {"datasetVersion": "5"}
    output = dataset("a", version=version, mine=custom) | {"outputFacets": {"outputStatistics": {"rowCount": 3}}}
    event = with_run_facets(nominalTime={"nominalStartTime": "2026-01-01T00:00:00Z"}) | {"outputs": [output]}
    event["job"] |= {"facets": {"sql": {"query": "select 1"}}}
    assert kept(event) == {
        "run:nominalTime": {"nominalStartTime": "2026-01-01T00:00:00Z"},
        "job:sql": {"query": "select 1"},
        f"outputs:{A}:version": version,
        f"outputs:{A}:mine": custom,
        f"outputs:{A}:outputStatistics": {"rowCount": 3},
    }


def test_what_is_stated_about_assets_and_edges_is_not_kept_again() -> None:
    described = dataset(
        "a",
        schema=schema("x"),
        columnLineage=column_lineage(),
        documentation={"description": "d"},
        ownership={"owners": [{"name": "o"}]},
        tags={"tags": []},
        datasetType={"datasetType": "VIEW"},
        lineage={"inputs": []},
    )
    assert kept(run_event(outputs=[described])) == {}


def test_a_deleted_facet_ends_the_one_before() -> None:
    assert kept(with_run_facets(mine={"_deleted": True}, other=None)) == {"run:mine": None}


def test_what_cannot_be_kept_is_reported() -> None:
    found = converted(
        with_run_facets(large={"text": "x" * MAX_FACET}, nul={"text": "\x00"}, number=7, good={"text": "kept"})
    )
    assert found.claims is not None
    assert dict(found.claims.facets) == {"run:good": {"text": "kept"}}
    assert sorted(warning.entity for warning in found.warnings) == [
        "run.facets.large",
        "run.facets.nul",
        "run.facets.number",
    ]


def test_the_facets_of_one_event_have_a_limit() -> None:
    found = converted(with_run_facets(**{f"f{number}": {"text": "x" * (MAX_FACET - 100)} for number in range(20)}))
    assert found.claims is not None
    assert 5 < len(found.claims.facets) < 10
    assert found.warnings[0].code == "TOO_LONG"


def test_the_type_and_the_source_of_a_job_are_attributes_of_it() -> None:
    kind = {"processingType": "BATCH", "integration": "SPARK", "jobType": "JOB"}
    source = {"type": "git", "url": "https://example.org/repo", "_producer": "x"}
    facets = {"jobType": kind, "sourceCodeLocation": source}
    found = converted(run_event(job={"namespace": "n", "name": "j", "facets": facets}))
    assert attributes(found, "job:n/j") == {
        "name": "j",
        "job_type": kind,
        "source_code_location": {"type": "git", "url": "https://example.org/repo"},
    }
    gone = converted(run_event(job={"namespace": "n", "name": "j", "facets": {"jobType": {"_deleted": True}}}))
    assert attributes(gone, "job:n/j")["job_type"] is None


def test_every_run_is_recorded_even_without_lineage() -> None:
    found = converted(run_event(eventType="START"))
    assert found.claims is not None
    assert found.claims.state == "START"
    assert list(stated(found)) == ["job:airflow/dag.task"]


def without_run(**holders: Any) -> dict[str, Any]:
    """An event of a job or of a dataset."""
    kind = "JobEvent" if "job" in holders else "DatasetEvent"
    url = f"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/{kind}"
    return {"eventTime": "2026-11-15T11:00:00Z", "producer": "https://example.org/p", "schemaURL": url, **holders}


def test_facets_of_an_event_about_a_dataset_are_kept() -> None:
    version, custom = {"datasetVersion": "5"}, {"any": ["thing"]}
    described = dataset("a", version=version, mine=custom, schema=schema("x"), gone={"_deleted": True})
    event = without_run(dataset=described)
    assert kept(event) == {"dataset:version": version, "dataset:mine": custom, "dataset:gone": None}


def test_facets_of_an_event_about_a_job_are_kept_without_those_of_a_run() -> None:
    job = {"namespace": "n", "name": "j", "facets": {"sourceCode": {"language": "sql"}, "tags": {"tags": []}}}
    inputs = [dataset("a", version={"datasetVersion": "5"}) | {"inputFacets": {"subset": {"inputCondition": {}}}}]
    event = without_run(job=job, inputs=inputs, run={"facets": {"mine": {"x": 1}}})
    assert kept(event) == {
        "job:sourceCode": {"language": "sql"},
        f"inputs:{A}:version": {"datasetVersion": "5"},
        f"inputs:{A}:subset": {"inputCondition": {}},
    }


def test_an_event_without_a_run_and_without_facets_to_keep_has_none() -> None:
    assert converted(without_run(dataset=dataset("a", documentation={"description": "d"}))).claims is None
    assert converted(without_run(job={"namespace": "n", "name": "j"})).claims is None


def test_facets_alone_complete_nothing() -> None:
    found = converted(without_run(dataset=dataset("a", version={"datasetVersion": "5"})))
    assert found.claims is not None
    assert merge_completions({}, [found.claims])[0] == {}
