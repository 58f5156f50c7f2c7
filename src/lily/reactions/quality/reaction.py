"""The quality reaction: queues the judgement of assets that were deleted, tagged, or linked otherwise.

A judgement reads what is committed when it begins, so an event only has to name what changed. It is a job, because
judgements of a tenant follow one another, and the reaction's transaction sees the state before it began. Usage is
judged where it is counted, by the Spark query `quality`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from psycopg import Connection

from lily.bus import topics
from lily.model import governance
from lily.model.assets import DELETED
from lily.model.layers import TAGS
from lily.reactions.base import Event
from lily.reactions.stateless import StatelessReaction
from lily.store.postgres.jobs import NewJob, enqueue
from lily.store.postgres.quality.changes import concerned
from lily.store.postgres.quality.policies import GROUP, TASK

AT_ONCE = 1_000  # assets of one job
_WATCHED = frozenset({DELETED, TAGS})


def quality_reaction() -> StatelessReaction:
    return StatelessReaction("quality", (topics.GOVERNANCE,), queue_judgements)


def queue_judgements(connection: Connection[Any], tenant: str, events: Sequence[Event]) -> None:
    changed = changed_assets(events)
    assets = concerned(connection, tenant, changed) if changed else []
    chunks = (assets[begin : begin + AT_ONCE] for begin in range(0, len(assets), AT_ONCE))
    jobs = [NewJob(TASK, {"assets": chunk}, GROUP) for chunk in chunks]
    if jobs:
        enqueue(connection, tenant, *jobs)


def changed_assets(events: Iterable[Event]) -> set[str]:
    """The assets whose deletion, tags or downstream assets may have changed."""
    found: set[str] = set()
    for event in events:
        record = orjson.loads(event.value)
        found.update(edge.from_id for edge in governance.edges_of(record))
        if record["kind"] == governance.ASSET and not _WATCHED.isdisjoint(record["changed"]):
            found.add(record["id"])
    return found
