"""The incidents reaction: turns webhooks into statements, and merges statements into the stored incidents."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter
from psycopg import Connection

from lily.bus import topics
from lily.incidents import IncidentEvent, TransitionEvent
from lily.model.errors import Problem, Refused
from lily.reactions.base import Event
from lily.reactions.incidents.directory import apply_users
from lily.reactions.incidents.records import Content, content_of
from lily.store.postgres.incidents.merging import LOCK, IncidentMerger, identities
from lily.store.postgres.incidents.names import queue_look
from lily.store.postgres.reactions.ledger import FailedEvent, ReactionLedger
from lily.store.postgres.webhook_mappings.mappings import find_mapping
from lily.store.postgres.worker_reads import WorkerReads, completed

FIRST_LOOK_SECONDS = 1.0  # after a name was not matched: the asset may be on its way


class Incidents:
    """A reaction. Its effects are incidents, their assets and history, announcements, a job that looks again for the
    names that no asset has, and users whom a directory disables, enables or moves between groups."""

    name = LOCK
    topics = (topics.INCIDENTS,)

    def __init__(self, registry: CollectorRegistry) -> None:
        self._merged = Counter("lily_incidents_changed", "Incidents that statements changed", registry=registry)
        self._unmatched = Counter("lily_incident_names_unmatched", "Names that no asset had", registry=registry)
        self._ignored = Counter(
            "lily_webhook_items_ignored", "Parts of webhooks that concern nothing that Lily knows", registry=registry
        )
        self._users = Counter("lily_directory_changes", "Changes of users by a directory", registry=registry)
        self._connection: Connection[Any] | None = None

    def open(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def handle(self, tenant: str, events: Sequence[Event]) -> None:
        assert self._connection is not None  # noqa: S101 - the runner opens a reaction before it handles anything
        reads = WorkerReads(self._connection)

        @cache
        def stored(source: str) -> dict[str, Any] | None:
            return completed(find_mapping(reads, tenant, source))

        each, content = [content_of(tenant, event.value, stored) for event in events], Content()
        for one in each:
            content.add(one)
        said, unknown = _with_transitions(self._connection, tenant, content.statements, content.transitions)
        merged = IncidentMerger(self._connection, tenant).apply(said)
        if merged.unmatched:
            queue_look(self._connection, tenant, FIRST_LOOK_SECONDS)
        users = completed(apply_users(reads, content.users))
        self._dead_letter(
            tenant, [(event, _refusals(one, users.refused)) for event, one in zip(events, each, strict=True)]
        )
        self._users.inc(users.changed)
        self._merged.inc(merged.changed)
        self._unmatched.inc(merged.unmatched)
        self._ignored.inc(content.ignored + unknown)

    def _dead_letter(self, tenant: str, refused: Sequence[tuple[Event, Sequence[Refused]]]) -> None:
        """Webhooks of which a part could not be applied. Replayed, the rest changes nothing again."""
        assert self._connection is not None  # noqa: S101 - as in `handle`
        failed = [FailedEvent(event, _problem(errors)) for event, errors in refused if errors]
        ReactionLedger(self._connection, self.name).dead_letter(tenant, failed)


def _refusals(content: Content, of_users: Mapping[str, Refused]) -> list[Refused]:
    return [*content.refused, *(of_users[user.id] for user in content.users if user.id in of_users)]


def _problem(errors: Sequence[Refused]) -> Problem:
    described = f"{LOCK}: {errors[0]} (whatever else the webhook states was applied)"
    return Problem("REACTION_FAILED", described, LOCK)


def _with_transitions(
    connection: Connection[Any],
    tenant: str,
    statements: list[IncidentEvent],
    transitions: Sequence[TransitionEvent],
) -> tuple[list[IncidentEvent], int]:
    """The statements, with those about incidents that only their id names; and how many name no incident. An incident
    is stored before another system can know its id."""
    if not transitions:
        return statements, 0
    known = identities(connection, tenant, {one.incident_id for one in transitions})
    found = [one.stated_of(*known[one.incident_id]) for one in transitions if one.incident_id in known]
    return [*statements, *found], len(transitions) - len(found)
