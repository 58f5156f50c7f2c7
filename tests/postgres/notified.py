"""A tenant with a channel and subscriptions, whose events and jobs a test handles as a worker does."""

import asyncio
import json
import uuid
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from prometheus_client import CollectorRegistry

from lily.bus import topics
from lily.model import clock
from lily.model.access import Principal
from lily.notify.identities import notification_id
from lily.notify.mentions import Mention
from lily.notify.subscriptions import Subscription
from lily.reactions.base import Event
from lily.reactions.event_loop import EventLoop
from lily.reactions.jobs import Task
from lily.reactions.jobs.metrics import JobMetrics
from lily.reactions.jobs.slot import _JobRunner
from lily.reactions.notifications import Delivering, Notifications, TestingChannels
from lily.reactions.notifications.channels import ChannelPool
from lily.reactions.notifications.planning import TASK
from lily.settings import Settings
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.jobs.queue import Group, JobQueue
from lily.store.postgres.notifications import panel
from lily.store.postgres.sessions import Database
from lily.store.postgres.subscriptions import administration
from lily.store.postgres.subscriptions.administration import TEST_TASK, Administration, NewChannel, sealed_name
from tests.lineage_world import World
from tests.notification_receiver import Receiver
from tests.postgres.migrated import Migrated

Result = TypeVar("Result")
CHANNEL = "posts"
NOW = "2026-01-01T00:00:00.000000Z"
ORDERS, PEOPLE = "shop.public.orders", "shop.public.people"


def connected(migrated: Migrated) -> psycopg.Connection:
    """As a worker is."""
    return psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True)


class Notified:
    """The channel `Posts` posts to a receiver on this machine."""

    def __init__(self, migrated: Migrated, world: World, receiver: Receiver, key_file: Path) -> None:
        self.world, self.receiver, self.tenant, self.key_file = world, receiver, world.tenant, key_file
        self.migrated, self.connection = migrated, connected(migrated)
        self.registry, loop = CollectorRegistry(), EventLoop()
        settings = Settings(master_key_file=key_file, public_url="https://lily.example")
        self.pool = pool = ChannelPool(settings, loop)
        tasks = (
            Task(TASK, Delivering(settings, self.registry, pool, loop).run),
            Task(TEST_TASK, TestingChannels(settings, pool, loop).run),
        )
        self.tasks = {task.name: task for task in tasks}
        self._runner, self.metrics = asyncio.Runner(), JobMetrics(CollectorRegistry())
        self.reaction = Notifications()
        self.database = Database(migrated.url_of("lily_api"))
        self.wait(self.database.open())
        admin = Principal("", self.tenant, "tester", frozenset({"admin"}))
        self.administration = Administration(self.database, admin, "c")
        assert self.channel()

    def close(self) -> None:
        self.pool.close()
        self.connection.execute("delete from queued_jobs where tenant_id = %s", [self.tenant])
        self.wait(self.database.close())
        self._runner.close()
        self.connection.close()

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(coroutine)

    def channel(
        self, name: str = "Posts", per_second: float | None = None, *, most: int | None = None, **config: Any
    ) -> bool:
        key = name.lower()
        sealed = Vault.of(self.key_file).seal(self.tenant, sealed_name(key), json.dumps(config))
        channel = NewChannel(key, name, "notifier", per_second, *sealed)
        return self.wait(self.administration.add_channel(channel, most=most))

    def subscribe(self, destination: str = "", identity: str = "", **more: Any) -> str:
        """Its id. Without a destination, the path `ok` of the receiver."""
        identity = identity or str(uuid.uuid4())
        assert self.wait(self.administration.put_subscription(identity, self.subscription(destination, **more)))
        return identity

    def subscription(self, destination: str = "", **more: Any) -> Subscription:
        where = destination or self.receiver.at("ok")
        stated = {"name": f"to {destination or 'ok'}", "channel": "Posts", "destination": where, **more}
        return Subscription.model_validate(stated, strict=True)

    def mention(self, name: str, **handles: str) -> None:
        assert self.wait(self.administration.create_mention(Mention(name=name, handles=handles)))

    def incident(
        self, *names: str, number: int = 1, state: str = "open", previous: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """What the announcement of an incident about these assets has."""
        incident = {
            "incident_id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.tenant}/{number}")),
            "source": "monte-carlo",
            "external_id": f"mc-{number}",
            "severity": "critical",
            "state": state,
            "title": f"Late data {number}",
            "url": f"https://mc.example/{number}",
            "previous_state": previous,
            **more,
        }
        assets = [[self.world.id_of(name), "table", name] for name in names]
        return {"change": "incident", "root": incident["incident_id"], "incident": incident, "assets": assets}

    def risk(self, change: str, *names: str, own: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
        """What the announcement of a risk by the incident has; it concerns `own` itself."""
        return self.incident(*own, *names, **more) | {"change": change, "own": [self.world.id_of(name) for name in own]}

    def react(self, *announcements: dict[str, Any], first: int = 1) -> list[str]:
        """Handles announcements as one batch; returns the ids of their notifications."""
        envelopes: list[dict[str, Any]] = [
            {"id": f"change-{first + place}", "time": clock.now(), "data": data}
            for place, data in enumerate(announcements)
        ]
        self.handle(*(Event(topics.NOTIFICATIONS, 0, 0, self.key, json.dumps(one).encode()) for one in envelopes))
        return [notification_id(self.tenant, one["id"]) for one in envelopes]

    def changed(self, name: str, change: str = "updated", *, added: tuple[str, ...] = (), first: int = 1) -> str:
        record: dict[str, Any] = {
            "id": f"change-{first}",
            "asset": self.world.id_of(name),
            "entity_type": "table",
            "qualified_name": name,
            "layer": "source",
            "change": change,
            "changed": ["description"],
            "tags": {"added": list(added), "removed": []},
            "by": "crawler",
            "at": clock.now(),
        }
        self.handle(Event(topics.SUBSCRIBED, 0, 0, self.key, json.dumps(record).encode()))
        return notification_id(self.tenant, record["id"])

    @property
    def key(self) -> bytes:
        return f"{self.tenant}/x".encode()

    def handle(self, *events: Event) -> None:
        self.reaction.open(self.connection)
        with self.connection.transaction():
            self.reaction.handle(self.tenant, events)

    def run(self) -> int:
        """Runs the jobs that are due, group by group, as a worker does; returns how many."""
        queue, count = JobQueue(self.connection), 0
        runner = _JobRunner(self.connection, queue, self.tasks, self.metrics)
        for (name,) in self.connection.execute(
            "select distinct job_group from queued_jobs where tenant_id = %s order by 1", [self.tenant]
        ).fetchall():
            with queue.locked(Group(self.tenant, name)) as mine:
                assert mine
                for job in queue.first(Group(self.tenant, name), self.tasks, 1_000):
                    count += 1
                    if not runner.run(job):
                        break
        return count

    def due(self) -> None:
        """Ends every pause and every wait, as time would."""
        self.connection.execute(
            "update queued_jobs set run_at = least(run_at, clock_timestamp() - interval '1 second'), retry_at = null "
            "where tenant_id = %s",
            [self.tenant],
        )
        self.connection.execute(
            "update delivery_targets set paused_until = null, refilled_at = refilled_at - interval '1 hour' "
            "where tenant_id = %s",
            [self.tenant],
        )

    def queued(self) -> list[tuple[Any, ...]]:
        """Of each job its group, task, arguments, and by how many seconds it waits."""
        return self.connection.execute(
            "select job_group, task, arguments, "
            "extract(epoch from greatest(run_at, retry_at) - clock_timestamp())::float8 "
            "from queued_jobs where tenant_id = %s order by run_at, id",
            [self.tenant],
        ).fetchall()

    def listed(self, **chosen: Any) -> list[dict[str, Any]]:
        found = self.wait(panel.read_panel(self.database, self.tenant, panel.Chosen(**chosen), None, 1_000))
        return [one.shown for one in found]

    def deliveries(self, notification: str) -> list[dict[str, Any]]:
        return self.wait(panel.read_deliveries(self.database, self.tenant, notification))

    def delivery(self, notification: str) -> dict[str, Any]:
        (found,) = self.deliveries(notification)
        return found

    def shown_channel(self, name: str = CHANNEL) -> dict[str, Any]:
        found = self.wait(administration.find(self.database, self.tenant, "channels", name))
        assert found is not None
        return found

    def dead_letters(self) -> list[tuple[int, str]]:
        """Their ids and causes."""
        rows = self.connection.execute(
            "select id, errors -> 0 ->> 'description' from dead_letters "
            "where tenant_id = %s and topic = 'jobs' and replayed_at is null order by id",
            [self.tenant],
        )
        return [(row[0], row[1]) for row in rows]


def incidents(notified: Notified, count: int, first: int = 1) -> list[str]:
    events = [notified.incident(ORDERS, number=number) for number in range(first, first + count)]
    return notified.react(*events, first=first)


def states(notified: Notified, identities: list[str]) -> dict[str, int]:
    found = [notified.delivery(one)["state"] for one in identities]
    return {state: found.count(state) for state in sorted(set(found))}
