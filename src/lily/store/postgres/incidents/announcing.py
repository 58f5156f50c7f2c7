"""Announces changes of incidents: through the outbox to `notification-events` and `governance-events`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.model.governance import INCIDENT
from lily.store.postgres.copying import id_array
from lily.store.postgres.incidents.queries import MAX_ASSETS, with_assets
from lily.store.postgres.queries import query

_SHOWN = ("incident_id", "source", "external_id", "severity", "state", "title", "url", "kind")


class Change(NamedTuple):
    """Without a previous state it is new, or its state did not change."""

    incident_id: str
    previous_state: str | None = None
    is_new: bool = False


def announce(connection: Connection[Any], tenant: str, changes: Sequence[Change]) -> None:
    """Announces the incidents as they are now, in the caller's transaction. What is repeated changes nothing that is
    committed, so the caller has nothing to announce; a repeated message that finds an asset at last does change it."""
    if not changes:
        return
    ids = id_array(change.incident_id for change in changes)
    parameters = {"tenant": tenant, "ids": ids, "assets": MAX_ASSETS}
    rows = connection.execute(with_assets("incidents/reading/announced"), parameters).fetchall()
    found = {row[0]: row for row in rows}
    bodies = [_body(found[change.incident_id], change) for change in changes if change.incident_id in found]
    announced = {"tenant": tenant, "bodies": Jsonb(bodies)}
    connection.execute(query("outbox/insert_announcements"), announced)
    connection.execute("select pg_notify('lily_applied', '')")


def _body(row: Sequence[Any], change: Change) -> dict[str, Any]:
    incident = dict(zip(_SHOWN, row, strict=False))
    incident["previous_state"] = None if change.is_new else change.previous_state or incident["state"]
    return {"change": INCIDENT, "root": change.incident_id, "incident": incident, "assets": row[-1]}
