"""Facets of OpenLineage events without a run, through the door and as they are read."""

from typing import Any
from urllib.parse import quote

from tests.contract.access import create, policy
from tests.contract.door import Door
from tests.contract.test_openlineage import dataset, send

JOB = "job:airflow/dag.task"
SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
LANGUAGE = {"sourceCode": {"language": "sql"}}


def versioned(name: str) -> dict[str, Any]:
    return dataset(name, version={"datasetVersion": "7"})


def job_event() -> dict[str, Any]:
    return {
        "eventTime": "2026-01-01T10:00:00Z",
        "producer": "https://example.org/etl",
        "schemaURL": f"{SCHEMA}JobEvent",
        "job": {"namespace": "airflow", "name": "dag.task", "facets": LANGUAGE},
        "inputs": [versioned("raw.people")],
        "outputs": [versioned("mart.people")],
    }


def facets(door: Door, reference: str = JOB) -> dict[str, Any]:
    answer = door.http.get(f"/metadata/{quote(reference, safe='')}/facets")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_job_has_its_facets_and_those_of_its_datasets(door: Door) -> None:
    send(door, job_event())
    found = facets(door)
    assert (found["qualified_name"], found["facets"]) == (JOB, LANGUAGE)
    (read,), (written,) = found["inputs"], found["outputs"]
    assert (read["qualified_name"], written["qualified_name"]) == ("raw.people", "mart.people")
    assert read["facets"] == written["facets"] == {"version": {"datasetVersion": "7"}}
    assert door.http.get(f"/jobs/{quote(JOB, safe='')}").json()["facets"] == LANGUAGE
    assert facets(door, "raw.people")["facets"] == {}


def test_the_datasets_of_a_job_need_the_scope_of_lineage(door: Door) -> None:
    send(door, job_event())
    with door.limited("metadata:read") as reader:
        found = facets(reader)
        assert (found["facets"], found["inputs"], found["outputs"]) == (LANGUAGE, [], [])


def test_a_dataset_that_a_policy_denies_is_redacted_and_has_no_facets_of_its_own(door: Door) -> None:
    send(door, job_event())
    create(door, "/policies", policy({"user": "bob"}, {"asset": "raw.people"}, "deny", applies_to=["metadata"]))
    with door.limited("metadata:read", "lineage:read", user="bob") as bob:
        (read,), (written,) = facets(bob)["inputs"], facets(bob)["outputs"]
        assert (read["qualified_name"], read["facets"], read["redacted"]) == (None, {}, True)
        assert (written["qualified_name"], written["redacted"]) == ("mart.people", False)
        assert bob.http.get("/metadata/raw.people/facets").status_code == 403


def test_facets_are_of_one_tenant(door: Door, other_door: Door) -> None:
    send(door, job_event())
    job = facets(door)["metadata_id"]
    assert other_door.http.get(f"/metadata/{job}/facets").status_code == 404
