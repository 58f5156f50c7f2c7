"""Schedules in PostgreSQL: each queues a job at a fixed interval."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.store.postgres.jobs.queue import SYSTEM
from lily.store.postgres.queries import query


class Schedule(NamedTuple):
    """A recurring job. Its jobs are one group, so two of them never run at the same time. One job makes up for all
    times that were missed while no worker ran."""

    name: str
    task: str
    every: timedelta
    arguments: Mapping[str, Any]
    tenant: str = SYSTEM


class Schedules:
    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def register(self, schedule: Schedule) -> None:
        """Adds or changes a schedule. A new one is due at once."""
        values = {**schedule._asdict(), "arguments": Jsonb(schedule.arguments)}
        self._connection.execute(query("jobs/register_schedule"), values)

    def enqueue_due(self) -> int:
        """Queues the jobs that are due and returns their number. Several workers may call it at the same time."""
        return len(self._connection.execute(query("jobs/enqueue_due")).fetchall())

    def seconds_to_next(self) -> float | None:
        """None if there is no schedule."""
        row = self._connection.execute(query("jobs/next_schedule")).fetchone()
        return row[0] if row else None
