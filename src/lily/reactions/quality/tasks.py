"""The jobs of quality policies: judging assets, and finding the policies for which a day has become complete."""

from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import Connection

from lily.store.postgres.jobs import Job, NewJob, enqueue
from lily.store.postgres.quality.changes import due_policies
from lily.store.postgres.quality.judge import Judge
from lily.store.postgres.quality.policies import GROUP, TASK
from lily.store.postgres.quality.subjects import NOWHERE

NEW_DAY = "judge-quality-of-new-day"  # the name is stored with its schedule, so it stays
EVERY = timedelta(minutes=5)


def judge(connection: Connection[Any], job: Job) -> None:
    """Judges the assets that changed, or the next assets of a policy; then queues the ones after them."""
    now = datetime.now(UTC)
    if "assets" in job.arguments:
        Judge(connection).judge_assets(job.tenant, job.arguments["assets"], now)
    else:
        policy = job.arguments["policy"]
        after = Judge(connection).judge_policy(job.tenant, policy, job.arguments.get("after", NOWHERE), now)
        if after is not None:
            enqueue(connection, job.tenant, NewJob(TASK, {"policy": policy, "after": after}, GROUP))
    connection.execute("select pg_notify('lily_applied', '')")  # the relay publishes what was found


def queue_due(connection: Connection[Any], _: Job) -> None:
    for tenant, policy in due_policies(connection, datetime.now(UTC)):
        enqueue(connection, tenant, NewJob(TASK, {"policy": policy}, GROUP))
