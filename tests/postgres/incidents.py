"""A tenant whose incidents a test states as other systems would, through the reaction itself."""

from collections.abc import Callable
from typing import Any

import orjson
import psycopg
from prometheus_client import CollectorRegistry
from psycopg import IsolationLevel
from psycopg.rows import dict_row

from lily.bus import topics
from lily.incidents import IncidentEvent, IncidentStatement, SeriesPassed, WebhookEvent, incident_id
from lily.model import clock, ids
from lily.reactions.base import Event
from lily.reactions.incidents import Incidents, look_for_names
from lily.reactions.relay.routing import Outgoing, outgoing
from lily.store.postgres.incidents.names import TASK
from lily.store.postgres.jobs.queue import Job
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.tenant_lock import tenant_lock
from tests.lineage_world import World
from tests.postgres.migrated import Migrated


class IncidentWorld:
    """`renewed` is the same in another tenant."""

    def __init__(self, migrated: Migrated, make_world: Callable[[], World], owner: psycopg.Connection) -> None:
        self._make_world, self._owner = make_world, owner
        self.world = make_world()
        self._url = migrated.url_of("lily_pipeline")
        self._connection = psycopg.connect(self._url, autocommit=True)
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self.registry = CollectorRegistry()
        self.reaction = Incidents(self.registry)
        self.reaction.open(self._connection)
        self._seen: set[int] = set()

    @property
    def tenant(self) -> str:
        return self.world.tenant

    def renewed(self) -> "IncidentWorld":
        self.world = self._make_world()
        self._seen = set()
        return self

    def close(self) -> None:
        self._connection.close()

    def event(
        self, statement: IncidentStatement | SeriesPassed, time: str | None = None, event_id: str | None = None
    ) -> Event:
        said = IncidentEvent(event_id or ids.event_id(), time or clock.now(), self.tenant, statement)
        return self.record(said.key, said.as_cloudevent())

    def webhook(self, body: dict[str, Any], source: str = "monte-carlo", time: str | None = None) -> Event:
        raw = orjson.dumps(body)
        said = WebhookEvent.of(self.tenant, source, {}, raw, time or clock.now())
        return self.record(said.key, said.as_cloudevent())

    def handle(self, *events: Event, dies: bool = False) -> None:
        """As the runner does, or as a runner that dies before it commits."""
        turn = self._connection.transaction(force_rollback=dies)
        with tenant_lock(self._connection, self.reaction.name, self.tenant), turn:
            self.reaction.handle(self.tenant, events)

    def say(self, *statements: IncidentStatement | SeriesPassed) -> None:
        self.handle(*map(self.event, statements))

    def look(self) -> int:
        """Runs the queued look for names, whatever its time; returns how many looks are queued afterwards."""
        with self._connection.transaction():
            self._connection.execute("set transaction isolation level read committed")
            found = self._connection.execute(
                "select id, tenant_id, job_group, task, arguments, attempts, starts, enqueued_at "
                "from queued_jobs where tenant_id = %s and task = %s",
                [self.tenant, TASK],
            ).fetchall()
            for row in found:  # a job is queued while it runs
                look_for_names(self._connection, Job(*row))
                self._connection.execute("delete from queued_jobs where id = %s", [row[0]])
        return self.looks()

    def looks(self) -> int:
        return len(self.rows("select id from queued_jobs where tenant_id = %(tenant)s and task = %(task)s", task=TASK))

    def incidents(self) -> dict[str, dict[str, Any]]:
        """By external id."""
        rows = self.rows("select * from incidents where tenant_id = %(tenant)s")
        return {row["external_id"]: row for row in rows}

    def assets(self, external_id: str, source: str = "monte-carlo") -> set[str]:
        """Their names."""
        rows = self.rows(
            "select coalesce(a.qualified_name, c.asset_id::text) as name from incident_assets c "
            "left join assets a on a.tenant_id = c.tenant_id and a.id = c.asset_id "
            "where c.tenant_id = %(tenant)s and c.incident_id = %(id)s",
            id=incident_id(self.tenant, source, external_id),
        )
        return {row["name"] for row in rows}

    def unmatched(self) -> set[str]:
        return {row["name"] for row in self.rows("select name from incident_names where tenant_id = %(tenant)s")}

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        with self._owner.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement, {"tenant": self.tenant, **parameters}).fetchall()

    def published(self) -> list[Outgoing]:
        """What the relay would publish for this tenant and has not yet."""
        outbox = Outbox(self._url)
        try:
            batches = [
                row["batch_id"]
                for row in self.rows("select batch_id from announcements where tenant_id = %(tenant)s")
                if row["batch_id"] not in self._seen
            ]
            self._seen.update(batches)
            return list(outgoing(outbox, batches)) if batches else []
        finally:
            outbox.close()

    def announced(self) -> list[dict[str, Any]]:
        """The data of the new announcements."""
        return [one.event["data"] for one in self.published() if one.topic == topics.NOTIFICATIONS]

    def record(self, key: bytes, event: dict[str, Any]) -> Event:
        return Event(topics.INCIDENTS, 0, 0, key, orjson.dumps(event))


def monte_carlo(external_id: str, **fields: Any) -> IncidentStatement:
    return IncidentStatement("monte-carlo", external_id, **fields)
