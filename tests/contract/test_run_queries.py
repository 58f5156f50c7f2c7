"""The SQL of OpenLineage events, through the door and as edges afterwards."""

from typing import Any

from tests.contract.access import create, policy
from tests.contract.door import Door
from tests.contract.test_lineage_sql import columns
from tests.contract.test_openlineage import dataset, run, send, upstream
from tests.extra_api import until

STAGING = "with source as (select * from raw.people) select id, email as contact from source"


def with_sql(output: str, sql: str, **more: Any) -> dict[str, Any]:
    job = {"namespace": "dbt", "name": output, "facets": {"sql": {"query": sql}}}
    return run(output, [], [dataset(output)], job=job, **more)


def becomes(door: Door, column: str, source: str) -> None:
    def is_derived() -> bool:
        found = door.http.get(f"/lineage/{column}", params={"direction": "upstream", "depth": 1})
        return found.status_code == 200 and (source, False) in upstream(door, column)

    until(is_derived, 60)


def test_the_sql_of_a_run_becomes_edges_after_its_event_was_accepted(door: Door) -> None:
    send(door, with_sql("main.stg_people", STAGING))
    becomes(door, "main.stg_people.contact", "raw.people.email")
    assert upstream(door, "main.stg_people") == {("raw.people", False)}
    assert door.http.get("/metadata/source").status_code == 404


def test_what_only_the_sql_names_can_be_read(door: Door) -> None:
    send(door, with_sql("main.stg_people", STAGING))
    becomes(door, "main.stg_people.contact", "raw.people.email")
    until(lambda: door.http.get("/metadata/raw.people.email").status_code == 200, 60)
    assert door.read("raw.people.email")["entity_type"] == "column"
    assert door.read("raw.people")["entity_type"] == "table"


def test_sql_that_cannot_be_analyzed_holds_up_nothing_behind_it(door: Door, other_door: Door) -> None:
    deep = "select " + "(" * 30_000 + "1" + ")" * 30_000
    send(door, with_sql("main.deep", deep))
    send(door, with_sql("main.broken", "selec x fro ("))
    for one in (other_door, door):
        send(one, with_sql("main.stg_people", STAGING))
        becomes(one, "main.stg_people.contact", "raw.people.email")


def test_the_sql_of_a_caller_whom_policies_restrict_states_what_they_permit(door: Door) -> None:
    denied = policy({"user": "bob"}, {"asset": "raw.secrets"}, "deny", applies_to=["metadata"], actions=["WRITE"])
    create(door, "/policies", denied)
    union = "select id, email from raw.people union all select id, email from raw.secrets"
    with door.limited("lineage:write", user="bob") as bob:
        assert "warnings" not in send(bob, with_sql("main.copy", union))
    becomes(door, "main.copy.email", "raw.people.email")
    assert upstream(door, "main.copy") == {("raw.people", False)}
    assert upstream(door, "main.copy.email") == {("raw.people.email", False)}
    assert door.http.get("/metadata/raw.secrets").status_code == 404


def test_a_star_has_the_columns_of_the_lake(door: Door) -> None:
    door.ingest("raw.wide")
    columns(door, "raw.wide", "id", "email")
    send(door, with_sql("main.copy", "select * from raw.wide"))
    becomes(door, "main.copy.email", "raw.wide.email")
    assert upstream(door, "main.copy.id") == {("raw.wide.id", False)}
