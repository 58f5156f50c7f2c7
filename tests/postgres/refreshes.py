"""A tenant whose data sources are refreshed, at times that the test chooses."""

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.rows import dict_row

from lily.model.access import Principal
from lily.reactions.relay.routing import Outgoing, outgoing
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.refreshes import runs, schedules
from lily.store.postgres.refreshes.refresher import Turn, turn
from lily.store.postgres.refreshes.runs import Outcome, Report
from lily.store.postgres.refreshes.schedules import Settings
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class RefreshWorld:
    """`now` is the time of the test's clock; `wait` moves it, and lets the refresher take a turn."""

    def __init__(self, migrated: Migrated, world: World, owner: psycopg.Connection) -> None:
        self.world, self._owner = world, owner
        self.now = START
        self._url = migrated.url_of("lily_pipeline")
        self._runner, self.database = asyncio.Runner(), Database(migrated.url_of("lily_api"))
        self._runner.run(self.database.open())
        self.principal = Principal("", world.tenant, "scraper", frozenset({"admin"}))

    @property
    def tenant(self) -> str:
        return self.world.tenant

    def close(self) -> None:
        self._runner.run(self.database.close())
        self._runner.close()

    def turn(self) -> Turn:
        """As the worker's job does it. It serves all tenants of the database."""
        with psycopg.connect(self._url) as connection:
            return turn(connection, self.now)

    def wait(self, time: timedelta) -> None:
        self.now += time
        self.turn()

    def set(self, data_source: str, every: timedelta = DAY, timeout: timedelta = 4 * HOUR, *, on: bool = True) -> None:
        chosen = Settings(int(every.total_seconds()), int(timeout.total_seconds()), enabled=on)
        self._runner.run(schedules.configure(self.database, self.principal, data_source, chosen, now=self.now))

    def reset(self, data_source: str) -> bool:
        return self._runner.run(schedules.reset(self.database, self.principal, data_source, now=self.now))

    def schedule(self, data_source: str) -> dict[str, Any] | None:
        return self._runner.run(schedules.find(self.database, self.tenant, data_source))

    def request(self, data_source: str, run_id: str) -> str | None:
        return self._runner.run(schedules.request(self.database, self.principal, data_source, run_id, self.now))

    def take(self, *data_sources: str, lease: str | None = None) -> dict[str, Any] | None:
        named = list(data_sources) or None
        return self._runner.run(runs.take(self.database, self.principal, lease or str(uuid.uuid4()), named, self.now))

    def start(self, run_id: str, lease: str | None = None) -> bool:
        return self._runner.run(runs.start(self.database, self.principal, run_id, lease, self.now))

    def finish(self, run_id: str, state: Outcome = "succeeded", error: str = "", lease: str | None = None) -> bool:
        report = Report(state, error, {"read": 3}, lease)
        return self._runner.run(runs.finish(self.database, self.principal, run_id, report, self.now))

    def runs(self, data_source: str = "shop") -> list[dict[str, Any]]:
        """In the order in which they were requested."""
        statement = "select * from refresh_runs where tenant_id = %s and data_source = %s order by requested_at, run_id"
        with self._owner.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement, [self.tenant, data_source]).fetchall()

    def pages(self, size: int) -> list[list[dict[str, Any]]]:
        """All runs as the API lists them, page by page."""
        found: list[list[dict[str, Any]]] = []
        after: runs.Place | None = None
        while page := self._runner.run(runs.page(self.database, self.tenant, runs.Wanted(), after, size)):
            found.append(page)
            after = page[-1]["requested_at"], page[-1]["run_id"]
            assert len(found) < 100, "the pages do not end"
        return found

    def audited(self) -> list[str]:
        """The actions, in order."""
        rows = self._owner.execute("select action from audit where tenant_id = %s order by id", [self.tenant])
        return [action for (action,) in rows if action.startswith("refresh")]

    def published(self) -> list[Outgoing]:
        """What the relay publishes of this tenant's runs, whether it has before or not."""
        statement = "select batch_id, finished_batch from refresh_runs where tenant_id = %s"
        rows = self._owner.execute(statement, [self.tenant]).fetchall()
        outbox = Outbox(self._url)
        try:
            batches = sorted({batch for row in rows for batch in row if batch is not None})
            events = [one for batch in batches for one in outgoing(outbox, [batch])]
        finally:
            outbox.close()
        return [one for one in events if one.event["tenantid"] == self.tenant]
