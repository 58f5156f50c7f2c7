"""What OpenLineage's clients send, through the door and as it can be read afterwards."""

import gzip
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset, schema_dataset
from openlineage.client.transport.http import ApiKeyTokenProvider, HttpCompression, HttpConfig, HttpTransport

from lily.model import ids
from tests.contract.door import WAIT, Door, codes

DB = "postgres://db:5432"
JSON = {"Content-Type": "application/json"}


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def dataset(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": DB, "name": name, "facets": facets}


def run(name: str, inputs: list[Any], outputs: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": ago(60),
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": "airflow", "name": name},
        "inputs": inputs,
        "outputs": outputs,
        **more,
    }


def send(door: Door, event: Any) -> dict[str, Any]:
    return door.change("POST", "/api/v1/lineage", event)


def upstream(door: Door, name: str) -> set[tuple[str, bool]]:
    """The qualified names from which an asset directly derives, and whether that is masked."""
    answer = door.http.get(f"/lineage/{ids.asset_id(door.tenant, name)}", params={"direction": "upstream", "depth": 1})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    names = {node["metadata_id"]: node["qualified_name"] for node in found["nodes"]}
    return {(names[edge["from"]], edge["masking"]) for edge in found["edges"]}


def test_an_event_is_accepted_with_a_receipt(door: Door) -> None:
    answer = door.http.post("/api/v1/lineage", json=run("j", [dataset("a")], [dataset("b")]))
    assert answer.status_code == 202
    assert answer.json() == {"status": "success", "assets": 3, "edges": 1}
    assert door.http.get(f"/propagations/{answer.headers['lily-receipt']}").status_code == 200


def test_what_a_run_tells_can_be_read(door: Door) -> None:
    fields = {"fields": [{"name": "email", "type": "varchar", "description": "where to write to"}]}
    lineage = {
        "fields": {
            "hash": {
                "inputFields": [
                    {
                        "namespace": DB,
                        "name": "shop.public.users",
                        "field": "email",
                        "transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}],
                    }
                ]
            }
        }
    }
    owners = {"owners": [{"name": "team:data"}]}
    send(
        door,
        run(
            "daily",
            [dataset("shop.public.users", schema=fields, tags={"tags": [{"key": "tier", "value": "gold"}]})],
            [dataset("shop.public.hashed", columnLineage=lineage, ownership=owners)],
        ),
    )
    users = door.read("shop.public.users")
    assert (users["entity_type"], users["tags"]["source"]) == ("table", ["tier:gold"])
    column = door.read("shop.public.users.email")["attributes"]
    assert (column["parent"], column["data_type"], column["ordinal_position"]) == ("shop.public.users", "varchar", 1)
    assert door.read("shop.public.hashed")["attributes"]["owner"] == "team:data"
    assert door.read(ids.asset_id(door.tenant, "job:airflow/daily"))["entity_type"] == "job"
    assert upstream(door, "shop.public.hashed") == {("shop.public.users", False)}
    assert upstream(door, "shop.public.hashed.hash") == {("shop.public.users.email", True)}


def test_a_newer_complete_run_replaces_only_its_own_jobs_edges(door: Door) -> None:
    send(door, run("one", [dataset("a"), dataset("b")], [dataset("t")], eventTime=ago(300)))
    send(door, run("two", [dataset("b"), dataset("c")], [dataset("t")], eventTime=ago(290)))
    assert {name for name, _ in upstream(door, "t")} == {"a", "b", "c"}
    send(door, run("one", [dataset("d")], [dataset("t")], eventTime=ago(200)))
    assert {name for name, _ in upstream(door, "t")} == {"b", "c", "d"}


def test_a_run_that_fails_takes_nothing_away_and_nothing_is_assumed_of_it(door: Door) -> None:
    send(door, run("one", [dataset("a")], [dataset("t")], eventTime=ago(300)))
    send(door, run("one", [dataset("b")], [dataset("t")], eventTime=ago(200), eventType="FAIL"))
    assert {name for name, _ in upstream(door, "t")} == {"a"}


def test_a_job_shows_what_its_facets_state(door: Door) -> None:
    location = {"type": "git", "url": "https://git.example.org/etl.git"}
    kind = {"processingType": "BATCH", "integration": "SPARK", "jobType": "JOB"}
    owners = [{"name": "team:sales", "type": "MAINTAINER"}, {"name": "ada", "type": "OWNER"}]
    facets = {
        "documentation": {"description": "Loads orders."},
        "ownership": {"owners": owners},
        "jobType": kind,
        "sourceCodeLocation": location,
        "tags": {"tags": [{"key": "nightly"}]},
    }
    job = {"namespace": "airflow", "name": "described", "facets": facets}
    send(door, run("described", [], [dataset("described")], job=job))
    found = door.http.get("/jobs/job:airflow%2Fdescribed").json()
    assert (found["description"], found["owner"], found["owners"]) == ("Loads orders.", "team:sales", owners)
    assert (found["job_type"], found["source_code_location"]) == (kind, location)
    assert found["tags"] == ["nightly"]


def test_a_job_and_its_runs_can_be_read(door: Door) -> None:
    run_id = str(uuid.uuid4())
    facets = {"errorMessage": {"message": "no such table", "programmingLanguage": "SQL"}}
    failed = run("nightly", [dataset("a")], [dataset("t")], eventType="FAIL", run={"runId": run_id, "facets": facets})
    send(door, run("nightly", [dataset("a")], [dataset("t")], eventTime=ago(600)))
    send(door, failed)
    job = door.http.get("/jobs/job:airflow%2Fnightly").json()
    assert (job["qualified_name"], job["last_run"]["state"], job["last_run"]["run_id"]) == (
        "job:airflow/nightly",
        "FAIL",
        run_id,
    )
    listed = door.http.get(f"/jobs/{job['job_id']}/runs", params={"limit": 1}).json()
    assert [one["run_id"] for one in listed["items"]] == [run_id]
    more = door.http.get(f"/jobs/{job['job_id']}/runs", params={"limit": 1, "cursor": listed["next_cursor"]}).json()
    assert [one["state"] for one in more["items"]] == ["COMPLETE"]
    assert more["next_cursor"] is None
    found = door.http.get(f"/runs/{run_id}").json()
    assert (found["job"], found["error"]["message"]) == ("job:airflow/nightly", "no such table")
    assert [one["qualified_name"] for one in found["outputs"]] == ["t"]
    assert found["facets"] == facets
    for path in ("/runs/unknown", "/jobs/unknown", "/jobs/t", "/jobs/t/runs"):
        assert door.http.get(path).status_code == 404


def test_the_jobs_that_write_a_dataset_are_shown_beside_its_edges(door: Door) -> None:
    send(door, run("seed", [], [dataset("alone")]))
    send(door, run("broken", [], [dataset("alone")], eventType="FAIL"))
    found = door.http.get("/lineage/alone", params={"jobs": True}).json()
    assert found["edges"] == []
    shown = [(job["qualified_name"], job["last_run"]["state"]) for job in found["jobs"]]
    assert shown == [("job:airflow/broken", "FAIL"), ("job:airflow/seed", "COMPLETE")]
    assert "jobs" not in door.http.get("/lineage/alone").json()


def test_the_jobs_between_two_datasets_are_shown_with_their_last_run(door: Door) -> None:
    send(door, run("load", [dataset("a")], [dataset("b")], eventTime=ago(300)))
    send(door, run("load", [dataset("a")], [dataset("b")], eventType="FAIL"))
    (edge,) = door.http.get("/lineage/a", params={"jobs": True}).json()["edges"]
    (job,) = edge["jobs"]
    assert (edge["from_name"], edge["to_name"]) == ("a", "b")
    assert (job["qualified_name"], job["last_run"]["state"]) == ("job:airflow/load", "FAIL")
    (plain,) = door.http.get("/lineage/a").json()["edges"]
    assert "jobs" not in plain


def test_a_batch_is_an_array(door: Door) -> None:
    answer = door.http.post("/api/v1/lineage/batch", json=[run("j", [], [dataset("b1")]), 7], headers=WAIT)
    assert (answer.status_code, answer.json()["accepted"], answer.json()["rejected"]) == (200, 1, 1)
    answer = door.http.post("/api/v1/lineage/batch", json=run("j", [], []))
    assert (answer.status_code, codes(answer)) == (400, {"INVALID_TYPE"})


def test_only_what_nothing_states_is_assumed(door: Door) -> None:
    stated = {"inputs": [{"type": "DATASET", "namespace": DB, "name": "a"}]}
    send(door, run("one", [dataset("a"), dataset("b")], [dataset("t", lineage=stated), dataset("u")]))
    found = door.http.get("/lineage/b", params={"depth": 1}).json()["edges"]
    assert [(edge["to"], edge["assumed"]) for edge in found] == [(ids.asset_id(door.tenant, "u"), True)]
    found = door.http.get("/lineage/t", params={"direction": "upstream"}).json()["edges"]
    assert [(edge["from"], edge["assumed"]) for edge in found] == [(ids.asset_id(door.tenant, "a"), False)]


def test_what_is_wrong_in_a_facet_is_reported_and_the_rest_is_used(door: Door) -> None:
    broken = run("one", [], [dataset("t", schema={"fields": 7}, documentation={"description": "kept"})])
    (warning,) = send(door, broken)["warnings"]
    assert (warning["code"], warning["entity"]) == ("INVALID_TYPE", "outputs[0].facets.schema.fields")
    assert door.read("t")["attributes"]["description"] == "kept"
    answer = door.http.post("/api/v1/lineage", json=[run("one", [], []), broken]).json()
    assert (answer["accepted"], [warning["row"] for warning in answer["warnings"]]) == (2, [2])


def test_the_same_table_of_a_connector_and_of_a_run_is_one_asset(door: Door) -> None:
    metadata_id = door.ingest("shop.public.orders", description="all orders", owner="ann")
    send(door, run("j", [dataset("shop.public.orders")], []))
    asset = door.read(metadata_id)
    assert (asset["attributes"]["description"], asset["attributes"]["owner"]) == ("all orders", "ann")


@pytest.mark.parametrize("compression", [None, HttpCompression.GZIP])
def test_the_official_client_is_understood(door: Door, compression: HttpCompression | None) -> None:
    config = HttpConfig(
        url=door.stack.url, auth=ApiKeyTokenProvider({"api_key": door.token}), compression=compression, verify=False
    )
    client = OpenLineageClient(transport=HttpTransport(config))
    schema = schema_dataset.SchemaDatasetFacet([schema_dataset.SchemaDatasetFacetFields("x", "int")])
    source = column_lineage_dataset.InputField(DB, "a", "x")
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet({"y": column_lineage_dataset.Fields([source])})
    run_of = Run(str(uuid.uuid4()))
    for state in (RunState.START, RunState.RUNNING, RunState.COMPLETE):
        client.emit(
            RunEvent(
                eventTime=datetime.now(UTC).isoformat(),
                run=run_of,
                job=Job("spark", "app.step"),
                eventType=state,
                producer="https://example.org",
                inputs=[InputDataset(DB, "a", facets={"schema": schema})],
                outputs=[OutputDataset(DB, "b", facets={"columnLineage": lineage})],
            )
        )
    client.close()
    send(door, run("behind", [dataset("a")], []))
    send(door, run("app.step", [], [], job={"namespace": "spark", "name": "app.step"}))
    assert door.read("b")["entity_type"] == "table"


def test_a_dataset_and_a_job_are_taken_without_a_run(door: Door) -> None:
    told = {"documentation": {"description": "by design"}}
    send(door, {"eventTime": ago(5), "dataset": dataset("alone", **told)})
    assert door.read("alone")["attributes"]["description"] == "by design"
    event = run("design", [dataset("a")], [dataset("b")])
    del event["run"], event["eventType"]
    send(door, event)
    assert upstream(door, "b") == {("a", False)}


def test_an_array_is_taken_event_by_event(door: Door) -> None:
    events = [run("j", [], [dataset("a")]), {"eventTime": "soon"}, 7, run("j", [], [dataset("b")])]
    answer = door.http.post("/api/v1/lineage", json=events, headers=WAIT)
    told = answer.json()
    assert (answer.status_code, told["accepted"], told["rejected"]) == (200, 2, 2)
    assert {error["row"] for error in told["errors"]} == {2, 3}
    assert door.read("b")["entity_type"] == "table"


def test_an_array_has_an_end(door: Door) -> None:
    answer = door.http.post("/api/v1/lineage", json=[{}] * 1_001)
    assert (answer.status_code, codes(answer)) == (413, {"TOO_LARGE"})


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({}, "MISSING_FIELD"),
        (run("j", [], [], eventType="DONE"), "INVALID_VALUE"),
        (run("j", [], [], run=None), "MISSING_FIELD"),
        (run("j", [], [], eventTime="2999-01-01T00:00:00Z"), "TIME_IN_FUTURE"),
        (run("j", [{"name": 7}], []), "INVALID_TYPE"),
        ("text", "INVALID_TYPE"),
    ],
)
def test_an_invalid_event_is_refused_with_what_is_wrong(door: Door, event: Any, code: str) -> None:
    answer = door.http.post("/api/v1/lineage", json=event)
    assert (answer.status_code, code in codes(answer)) == (400, True)


def test_a_body_may_be_gzip_and_nothing_stranger(door: Door) -> None:
    packed = gzip.compress(orjson.dumps(run("j", [], [dataset("packed")])))
    zipped = JSON | {"Content-Encoding": "gzip"}
    assert door.http.post("/api/v1/lineage", content=packed, headers=zipped | WAIT).status_code == 200
    assert door.read("packed")["entity_type"] == "table"
    for body in (packed[:-9], b"plain", packed + b"more"):
        refused = door.http.post("/api/v1/lineage", content=body, headers=zipped)
        assert (refused.status_code, codes(refused)) == (400, {"MALFORMED_GZIP"})
    bomb = gzip.compress(b" " * (100 << 20))
    assert door.http.post("/api/v1/lineage", content=bomb, headers=zipped).status_code == 413
    other = door.http.post("/api/v1/lineage", content=packed, headers=JSON | {"Content-Encoding": "br"})
    assert other.status_code == 415


def test_it_needs_the_scope(door: Door) -> None:
    with door.limited("metadata:write", "lineage:read") as limited:
        answer = limited.http.post("/api/v1/lineage", json=run("j", [], []))
        assert (answer.status_code, codes(answer)) == (403, {"FORBIDDEN"})
    with door.limited("lineage:write") as limited:
        assert limited.http.post("/api/v1/lineage", json=run("j", [], [])).status_code == 202


def test_tenants_do_not_see_each_others_lineage(door: Door, other_door: Door) -> None:
    send(door, run("j", [dataset("a")], [dataset("b")]))
    assert other_door.http.get(f"/metadata/{ids.asset_id(door.tenant, 'b')}").status_code == 404
    assert other_door.http.get("/metadata/b").status_code == 404
