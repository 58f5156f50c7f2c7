"""What callers may state, delete and learn through lineage: by their scopes, and by policies."""

from functools import partial
from typing import Any

import pytest

from lily.model import ids
from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door, table
from tests.contract.test_lineage import edge, post
from tests.contract.test_lineage_sql import ask, columns, pairs
from tests.contract.test_openlineage import ago, dataset, run, send
from tests.extra_api import until

ALL = ("metadata:read", "metadata:write", "lineage:read", "lineage:write")
DESCRIBED = {
    "documentation": {"description": "mine"},
    "ownership": {"owners": [{"name": "mallory"}]},
    "tags": {"tags": [{"key": "Public"}]},
}


def change(what: str, previous: str = "") -> dict[str, Any]:
    return {"lifecycleStateChange": what, **({"previousIdentifier": dataset(previous)} if previous else {})}


def deny(door: Door, resource: dict[str, Any], *actions: str) -> None:
    create(door, "/policies", policy({"user": "bob"}, resource, "deny", actions=list(actions), applies_to=["metadata"]))


def test_a_token_for_lineage_states_edges_and_no_owners_tags_or_descriptions(door: Door) -> None:
    door.ingest("crm.people", owner="ada", description="all people", data_source="crm")
    with door.limited("lineage:write") as producer:
        told = send(producer, run("copy", [dataset("crm.people", **DESCRIBED)], [dataset("mart.people", **DESCRIBED)]))
    assert {warning["code"] for warning in told["warnings"]} == {"FORBIDDEN"}
    assert {warning["entity"] for warning in told["warnings"]} == {
        f"{role}[0].facets.{name}" for role in ("inputs", "outputs") for name in DESCRIBED
    }
    attributes = door.read("crm.people")["attributes"]
    assert (attributes["owner"], attributes["description"]) == ("ada", "all people")
    assert door.read("crm.people")["tags"]["effective"] == []
    assert door.read("mart.people")["attributes"].get("owner") is None
    (found,) = door.http.get("/lineage/crm.people").json()["edges"]
    assert found["to_name"] == "mart.people"


def test_a_token_for_lineage_does_not_drop_what_a_connector_stated(door: Door) -> None:
    door.ingest("crm.people", data_source="crm")
    with door.limited("lineage:write") as producer:
        dropped = dataset("crm.people", lifecycleStateChange=change("DROP"))
        told = send(producer, run("drop", [], [dropped], eventTime=ago(0)))
        assert [warning["entity"] for warning in told["warnings"]] == ["crm.people"]
        send(producer, run("make", [], [dataset("scratch")]))
        send(producer, run("drop", [], [dataset("scratch", lifecycleStateChange=change("DROP"))]))
    until(lambda: door.read("scratch")["is_deleted"], 60)
    assert not door.read("crm.people")["is_deleted"]


def test_the_tags_of_columns_follow_a_rename_without_a_schema(door: Door) -> None:
    door.ingest("crm.people")
    columns(door, "crm.people", "id", "email")  # these are in the lake
    door.ingest("crm.people.ssn", "column", parent="crm.people", tags=["PII"])
    renamed = dataset("crm.contacts", lifecycleStateChange=change("RENAME", "crm.people"))
    send(door, run("rename", [], [renamed], eventTime=ago(0)))
    until(lambda: door.http.get("/metadata/crm.contacts.ssn").status_code == 200, 90)
    until(lambda: door.read("crm.contacts.ssn")["tags"]["effective"] == ["PII"], 60)
    until(lambda: door.http.get("/metadata/crm.contacts.email").status_code == 200, 60)
    assert door.read("crm.people")["is_deleted"]
    assert door.read("crm.contacts")["attributes"]["renamed_from"] == "crm.people"


def test_renames_and_drops_in_quick_succession_leave_what_their_times_say(door: Door) -> None:
    fields = {"schema": {"fields": [{"name": "id"}, {"name": "email"}]}}
    pii = {"tags": {"tags": [{"key": "PII", "field": "email"}]}}
    dropped = dataset("p.last", lifecycleStateChange=change("DROP"))
    events = [
        run("make", [], [dataset("p.tmp", **fields), dataset("q.a", **fields, **pii)], eventTime=ago(4)),
        run("rename", [], [moved("p.tmp", "p.last"), moved("q.a", "q.b")], eventTime=ago(3)),
        run("rename again", [], [moved("q.b", "q.c")], eventTime=ago(2)),
        run("drop", [], [dropped], eventTime=ago(1)),
    ]
    for event in events:
        assert door.http.post("/api/v1/lineage", json=event).status_code == 202
    for name in ("q.c.email", "p.last.email"):
        until(partial(exists, door, name), 90)
    until(lambda: door.read("q.c.email")["tags"]["effective"] == ["PII"], 60)
    for gone in ("p.last.email", "p.tmp.email", "q.b.email", "q.a.email"):
        until(partial(is_deleted, door, gone), 60)
    assert not door.read("q.c.email")["is_deleted"]


def exists(door: Door, name: str) -> bool:
    return door.http.get(f"/metadata/{name}").status_code == 200


def is_deleted(door: Door, name: str) -> bool:
    return door.read(name).get("is_deleted") is True


def moved(old: str, new: str) -> dict[str, Any]:
    return dataset(new, lifecycleStateChange=change("RENAME", old))


def test_a_star_needs_the_scope_to_read(door: Door) -> None:
    door.ingest("shop.public.orders")
    columns(door, "shop.public.orders", "id", "ssn")
    with door.limited("lineage:write") as producer:
        told = ask(producer, "create view v as select * from orders", dry_run=True)
    assert pairs(told) == {("shop.public.orders", "shop.public.v", "derived-from")}
    assert "metadata:read" in told["warnings"][0]
    with door.limited("lineage:write", "metadata:read") as reader:
        assert "ssn" in str(ask(reader, "create view v as select * from orders", dry_run=True)["edges"])


@pytest.mark.parametrize("resource", [{"asset": "vault"}, {"tag": "secret"}])
def test_what_a_policy_hides_is_as_what_does_not_exist(door: Door, resource: dict[str, Any]) -> None:
    door.ingest("vault", "schema")
    door.ingest("vault.hidden", tags=["secret"])
    door.ingest("open")
    post(door, edge("open", "vault.hidden"))
    send(door, run("hidden", [dataset("open")], [dataset("vault.hidden")], run={"runId": "hidden-run"}))
    job = door.http.get("/runs/hidden-run").json()["job_id"]
    door.change("PUT", f"/metadata/{job}", {"attributes": {"tags": ["secret"]}})
    deny(door, resource, "READ", "WRITE", "DELETE")
    deny(door, {"tag": "secret"}, "READ")
    with door.limited(*ALL, user="bob") as bob:
        for there, missing in [
            ("/lineage/vault.hidden", "/lineage/vault.missing"),
            (f"/jobs/{job}", f"/jobs/{ids.asset_id(door.tenant, 'job:none')}"),
            (f"/jobs/{job}/runs", f"/jobs/{ids.asset_id(door.tenant, 'job:none')}/runs"),
            ("/runs/hidden-run", "/runs/missing-run"),
        ]:
            answers = [bob.http.get(path) for path in (there, missing)]
            assert [answer.status_code for answer in answers] == [404, 404], answers[0].text
            assert answers[0].json()["errors"][0]["description"] == answers[1].json()["errors"][0]["description"]
        for name in ("vault.hidden", "vault.missing"):
            body = {"edges": [edge("open", name)]}
            assert bob.http.request("DELETE", "/lineage", json=body).status_code == 404, name


@pytest.mark.parametrize("name", ["vault.hidden", "vault.missing"])
def test_names_below_a_denied_one_are_refused_whether_they_exist_or_not(door: Door, name: str) -> None:
    door.ingest("vault", "schema")
    door.ingest("vault.hidden")
    deny(door, {"asset": "vault"}, "READ", "WRITE")
    sql = {"dialect": "postgres", "sql": f"create view open.v as select x from {name}"}  # noqa: S608 - for a parser
    with door.limited(*ALL, user="bob") as bob:
        answers = [
            bob.http.post("/lineage", json={"edges": [edge("open", name)]}),
            bob.http.post("/lineage/sql", json=sql),
            bob.http.post("/api/v1/lineage", json=run("j", [dataset(name)], [dataset("open")])),
            bob.http.post("/ingest-metadata", json=table(name)),
        ]
        assert {answer.status_code for answer in answers} == {403}


@pytest.mark.parametrize("denied", ["hr", "hr.public"])
def test_a_table_that_a_producer_states_without_a_parent_stays_below_its_schema(door: Door, denied: str) -> None:
    door.ingest("hr", "database")
    door.ingest("hr.public", "schema")
    deny(door, {"asset": denied}, "READ", "WRITE")
    send(door, run("load", [], [dataset("hr.public.grades")]))
    with door.limited(*ALL, user="bob") as bob:
        assert bob.http.get("/metadata/hr.public.grades").status_code == 403
        assert bob.http.get("/lineage/hr.public.grades").status_code == 404
        listed = bob.http.get("/metadata").json()["items"]
        assert not any(item["attributes"]["qualified_name"].startswith("hr.public.grades") for item in listed)
        answer = bob.http.post("/ingest-metadata", json=table("hr.public.grades", description="mine"), headers=WAIT)
        assert answer.status_code == 403
        assert "below" in answer.text
    assert door.read("hr.public.grades")["entity_type"] == "table"


def test_another_job_with_the_same_run_id_does_not_hide_a_run(door: Door) -> None:
    send(door, run("nightly", [dataset("a")], [dataset("b")], run={"runId": "shared"}))
    send(door, run("shadow", [], [dataset("c")], run={"runId": "shared"}, eventType="FAIL"))
    found = door.http.get("/runs/shared").json()
    assert (found["job"], found["state"]) == ("job:airflow/nightly", "COMPLETE")
    assert found["other_jobs"] == ["job:airflow/shadow"]
    other = door.http.get("/runs/shared", params={"job": "job:airflow/shadow"}).json()
    assert (other["state"], other["other_jobs"]) == ("FAIL", [])
    assert door.http.get("/runs/shared", params={"job": "job:airflow/none"}).status_code == 404
