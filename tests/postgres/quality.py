"""A tenant with quality policies, whose usage is counted and judged without Spark and without a worker."""

import asyncio
from collections.abc import Coroutine, Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

import orjson
import psycopg

from lily.bus import topics
from lily.model import clock, ids
from lily.model.access import Principal
from lily.model.records import Position, Record, Refusal
from lily.model.usage import UsageEvent, read_usage_item
from lily.quality.parsing import parse_quality_policy
from lily.reactions import quality
from lily.reactions.base import Event
from lily.reactions.quality import quality_reaction
from lily.store.postgres.jobs.queue import Group, JobQueue
from lily.store.postgres.quality import policies
from lily.store.postgres.quality.judge import Judge
from lily.store.postgres.quality.subjects import NOWHERE
from lily.store.postgres.sessions import Database
from lily.store.postgres.usage.writer import UsageCounts, UsageWriter
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.quality_oracle import Used

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
_partitions = count(1000)  # each watched tenant writes to a partition of its own
Result = TypeVar("Result")


class Watched:
    """Times are relative to NOW, which is also when usage is judged."""

    def __init__(self, migrated: Migrated, world: World) -> None:
        self.world, self.tenant = world, world.tenant
        self.connection = psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True)
        self.writer = UsageWriter(migrated.url_of("lily_pipeline"))
        self.partition, self.offset = next(_partitions), 0
        self._runner = asyncio.Runner()
        self.database = Database(migrated.url_of("lily_api"))
        self.wait(self.database.open())
        self._admin = Principal("", self.tenant, "tester", frozenset({"admin"}))

    def close(self) -> None:
        self.connection.execute("delete from queued_jobs where tenant_id = %s", [self.tenant])
        self.wait(self.database.close())
        self._runner.close()
        self.writer.close()
        self.connection.close()

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(coroutine)

    def age(self, *names: str, days: int = 300) -> None:
        """Makes assets that old."""
        self.connection.execute(
            "update assets set created_at = %s where tenant_id = %s and qualified_name = any (%s)",
            [NOW - timedelta(days=days), self.tenant, list(names)],
        )

    def policy(self, key: str, **stated: Any) -> None:
        """Creates or replaces a policy, as the API does."""
        policy = parse_quality_policy(stated, tenant=self.tenant, policy_id=key)
        if not self._change("create", key, policy):
            assert self._change("replace", key, policy)

    def unwatch(self, key: str) -> None:
        assert self._change("delete", key, None)

    def create(self, key: str, most: int | None, **stated: Any) -> bool:
        """False if there is one of that id, or if there are `most`."""
        return self._change("create", key, parse_quality_policy(stated, tenant=self.tenant, policy_id=key), most)

    def _change(self, how: policies.Change, key: str, policy: Any, most: int | None = None) -> bool:
        return self.wait(policies.change(self.database, self._admin, how, key, policy, correlation="c", most=most))

    def event(self, used: Used) -> UsageEvent:
        item = {"asset_id": used.asset, "query_count": used.queries, "timestamp": clock.stamp(used.at)}
        item |= {"event_id": used.event_id} if used.event_id else {}
        return read_usage_item(item, tenant=self.tenant, received=clock.stamp(NOW))

    def count(self, used: Iterable[Used], now: datetime = NOW) -> UsageCounts:
        """Counts events in one transaction, as a task of the query does."""
        first = self.offset
        events = [(self.record(event), event) for event in map(self.event, used)]
        assert self.offset == first + len(events)
        return self.writer.apply(Position(topics.USAGE, self.partition, self.offset), events, [], now)

    def record(self, event: UsageEvent) -> Record:
        self.offset += 1
        value = orjson.dumps(event.as_cloudevent())
        return Record(topics.USAGE, self.partition, self.offset - 1, clock.stamp(NOW), event.key, value)

    def refuse(self, refusal: Refusal) -> UsageCounts:
        return self.writer.apply(Position(topics.USAGE, self.partition, self.offset), [], [refusal], NOW)

    def use(self, name: str, queries: dict[int, int], now: datetime = NOW) -> UsageCounts:
        """Queries by how many days ago."""
        return self.count([Used(name, NOW - timedelta(days=days), number) for days, number in queries.items()], now)

    def pass_over(self, key: str, now: datetime = NOW) -> int:
        """Judges all assets of a policy, and returns in how many steps."""
        after: str | None = NOWHERE
        steps = 0
        while after is not None:
            with self.connection.transaction():
                after = Judge(self.connection).judge_policy(self.tenant, key, after, now)
            steps += 1
        return steps

    def react(self, *records: dict[str, Any]) -> int:
        """Hands governance records to the reaction and runs the jobs that it queues. Returns how many."""
        key = f"{self.tenant}/x".encode()
        events = [Event(topics.GOVERNANCE, 0, at, key, orjson.dumps(record)) for at, record in enumerate(records)]
        reaction = quality_reaction()
        reaction.open(self.connection)
        with self.connection.transaction():
            self.connection.execute("delete from queued_jobs where tenant_id = %s", [self.tenant])
            reaction.handle(self.tenant, events)
        return self.run_jobs()

    def run_jobs(self) -> int:
        queue, done = JobQueue(self.connection), 0
        while jobs := queue.first(Group(self.tenant, policies.GROUP), {policies.TASK: None}, 1):
            with self.connection.transaction():
                quality.judge(self.connection, jobs[0])
                queue.finish(jobs[0])
            done += 1
        return done

    def counts(self) -> dict[tuple[str, str], int]:
        rows = self.connection.execute(
            "select asset_id::text, day::text, queries from usage_days where tenant_id = %s", [self.tenant]
        )
        return {(asset, day): queries for asset, day, queries in rows}

    def open(self) -> set[tuple[str, str, str]]:
        """Policy, name or id of the asset, and cause of the open findings that are not silent."""
        rows = self.connection.execute(
            "select q.policy, coalesce(a.qualified_name, q.asset_id::text), q.cause from quality_findings q "
            "left join assets a on a.tenant_id = q.tenant_id and a.id = q.asset_id "
            "where q.tenant_id = %s and q.closed_at is null and not q.is_silent",
            [self.tenant],
        )
        return set(rows.fetchall())

    def statements(self) -> list[dict[str, Any]]:
        """What was queued for `incident-events`, in order."""
        rows = self.connection.execute(
            "select body from incident_statements where tenant_id = %s order by position", [self.tenant]
        )
        return [body for (body,) in rows]

    def id_of(self, name: str) -> str:
        return ids.asset_id(self.tenant, name)
