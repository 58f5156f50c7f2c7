"""The job that attaches incidents to assets that appeared after them.

It runs only for tenants with names that no asset has, and queues itself again while there are any: what is ingested
pays nothing for it. It looks often while the names are new, and less often later.
"""

import time
from typing import Any

import structlog
from psycopg import Connection

from lily.store.postgres.incidents.merging import LOCK
from lily.store.postgres.incidents.names import look_again, queue_look
from lily.store.postgres.jobs.queue import Job
from lily.store.postgres.tenant_lock import hold_tenant_lock

SHORTEST, LONGEST = 1.0, 30.0  # seconds between two looks
SHARE = 1 / 30  # of the age of the newest name: after five minutes every 10 s
COST = 20.0  # a look takes at most a twentieth of the time

_log = structlog.get_logger()


def pause(age: float, took: float) -> float:
    """Seconds until the next look."""
    return max(min(max(age * SHARE, SHORTEST), LONGEST), took * COST)


def look_for_names(connection: Connection[Any], job: Job) -> None:
    """What a job of the task TASK does."""
    # The reaction queues a look unless one is queued. With its lock, it sees either this job or that names are left.
    hold_tenant_lock(connection, LOCK, job.tenant)
    began = time.monotonic()
    found = look_again(connection, job.tenant)
    if found.left:
        queue_look(connection, job.tenant, pause(found.age, time.monotonic() - began), but=job.id)
    _log.debug("incident names", tenant=job.tenant, left=found.left)
