"""Edges have a query of their own: no table waits for them, however long they take."""

import time

import psycopg

from lily.model import ids
from tests.contract.conftest import door  # noqa: F401 - a fixture
from tests.contract.door import Door

PATIENCE_SECONDS = 60.0


def edge(start: str, end: str, **more: object) -> dict[str, object]:
    return {"edges": [{"from": start, "to": end, "relationship_type": "used-in", **more}]}


def wait_until_blocked(database: str, by: int) -> None:
    """Until a statement of the pipeline waits for a lock of this connection."""
    blocked = (
        "select count(*) from pg_stat_activity where %s = any (pg_blocking_pids(pid)) and usename = 'lily_pipeline'"
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    with psycopg.connect(database, autocommit=True) as observer:
        while observer.execute(blocked, [by]).fetchall() == [(0,)]:
            assert time.monotonic() < deadline, "the edge was not merged in time"
            time.sleep(0.1)


def test_a_table_is_applied_while_edges_wait(door: Door) -> None:  # noqa: F811 - the fixture's value
    orders, report = door.ingest("orders"), ids.asset_id(door.tenant, "report")
    door.change("POST", "/lineage", edge(orders, report))
    with psycopg.connect(door.stack.database) as owner:
        # The merge of this edge waits for the lock, and everything behind it in its query waits with it.
        owner.execute("select from edges where tenant_id = %s for update", [door.tenant])
        accepted = door.http.post("/lineage", json=edge(orders, report, propagates=False))
        assert accepted.status_code == 202
        wait_until_blocked(door.stack.database, owner.info.backend_pid)
        people = door.ingest("people")
        assert door.http.get(f"/metadata/{people}").status_code == 200
    door.change("POST", "/lineage", edge(orders, report, propagates=True))
