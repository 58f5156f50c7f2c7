"""The enforcement reaction: queues a run of each target that a change may concern.

A run reads what is committed when it begins, so an event only has to name what changed. The run itself waits on the
target and is therefore a job.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from psycopg import Connection

from lily.bus import topics
from lily.model import governance
from lily.reactions.base import Event
from lily.reactions.stateless import StatelessReaction
from lily.store.postgres.access.changes import DISABLED_USER
from lily.store.postgres.enforcement.ledger import TargetLedger
from lily.store.postgres.enforcement.targets import KIND

# What decides for all assets at once. `access-settings` has what happens to objects that are not in the catalogue.
OF_POLICIES = frozenset({"policy", "role", "user", DISABLED_USER, "engine-mapping", "access-settings"})
EVERYTHING = OF_POLICIES | {governance.TAG, governance.SETTING, KIND}


def enforcement_reaction() -> StatelessReaction:
    """It reads the propagated changes too: a tag that propagation takes away leaves its targets then."""
    return StatelessReaction("enforcement", (topics.GOVERNANCE, topics.PROPAGATED), request_runs)


def request_runs(connection: Connection[Any], tenant: str, events: Sequence[Event]) -> None:
    concerned = concerned_assets(events)
    if concerned is None or concerned:
        TargetLedger(connection, tenant).request_runs(concerned)


def concerned_assets(events: Iterable[Event]) -> set[str] | None:
    """The assets that the events are about; None for all."""
    found: set[str] = set()
    for event in events:
        record = orjson.loads(event.value)
        if event.topic == topics.PROPAGATED:
            found.update(record["data"]["assets"] or ())
        elif record["kind"] == governance.ASSET:
            found.add(record["id"])
        elif record["kind"] in {governance.EDGE, governance.EDGES}:
            found.update(end for edge in governance.edges_of(record) for end in (edge.from_id, edge.to_id))
        elif record["kind"] in EVERYTHING:
            return None
    return found
