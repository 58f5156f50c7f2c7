"""The refresher: a recurring job that requests the refreshes that are due, and ends those whose time is over."""

from datetime import timedelta
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.reactions.jobs.base import Task
from lily.store.postgres.jobs.queue import Job
from lily.store.postgres.refreshes.refresher import turn

EVERY = timedelta(seconds=15)  # a request is at most so much late; a turn takes one look-up per data source

_log = structlog.get_logger()


def refresher(registry: CollectorRegistry) -> Task:
    """The name of the task is stored with its schedule, so it stays."""
    requested = Counter("lily_refreshes_requested", "Refreshes of data sources that were due", registry=registry)
    timed_out = Counter("lily_refreshes_timed_out", "Refreshes that no scraper finished in time", registry=registry)

    def run(connection: Connection[Any], _: Job) -> None:
        done = turn(connection)
        requested.inc(done.requested)
        timed_out.inc(done.timed_out)
        if any(done):
            _log.info("refresher", **done._asdict())

    return Task("refresh-data-sources", run, every=EVERY)
