"""A tenant with policies and a target, and runs of that target without a worker."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from prometheus_client import CollectorRegistry

from lily.bus import topics
from lily.model import governance
from lily.model.access import Principal
from lily.reactions.base import Event
from lily.reactions.enforcement import Enforcing, enforcement_reaction
from lily.settings import Settings
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.enforcement import receipts, targets
from lily.store.postgres.jobs.queue import Group, Job, JobQueue, Taken
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.objects import Entry
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

Result = TypeVar("Result")
KEY = "files"
TABLES = {"shop.public.people": ["id", "mail"], "shop.public.plain": ["id"]}
OWN = {"own": {"tables": TABLES, "roles": ["readers", "ann"]}}


class EnforcedTarget:
    """The target `files`. Unless another plug-in is given, its enforcer writes its rules into a JSON file."""

    def __init__(  # noqa: PLR0917 - what a target is
        self,
        migrated: Migrated,
        world: World,
        key_file: Path,
        rules: Path,
        plugin: str = "rules-file",
        config: dict[str, Any] | None = None,
        roles: dict[str, dict[str, str]] | None = None,
        **settings: Any,
    ) -> None:
        self.world, self.rules, self.key_file = world, rules, key_file
        self.admin = Principal("", world.tenant, "tester", frozenset({"admin"}))
        self.connection = psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True)
        self.registry = CollectorRegistry()
        self._enforcing = Enforcing(Settings(master_key_file=key_file, **settings), self.registry)
        self._runner = asyncio.Runner()
        self.database = Database(migrated.url_of("lily_api"))
        self.wait(self.database.open())
        stated = json.dumps(config or {"path": str(rules)})
        sealed = Vault.of(key_file).seal(world.tenant, targets.group_of(KEY), stated)
        mapped = {"readers": {"group": "bi-team"}} if roles is None else roles
        added = targets.NewTarget(KEY, "Files", plugin, "shop", mapped, *sealed)
        assert self.wait(targets.add(self.database, self.admin, added, "c"))

    def close(self) -> None:
        for table in (b"queued_jobs", b"job_schedules"):  # a worker of another test would run them
            self.connection.execute(b"delete from " + table + b" where tenant_id = %s", [self.world.tenant])
        self.wait(self.database.close())
        self._runner.close()
        self.connection.close()

    def wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(coroutine)

    def policy(self, key: str, effect: str, *, tag: str = "", subject: str = "group:bi-team", **more: Any) -> None:
        kind, name = subject.split(":")
        body = {
            "id": key,
            "name": key,
            "subjects": [{kind: name}],
            "resources": [{"tag": tag} if tag else {"asset": "*"}],
            "actions": ["READ"],
            "effect": effect,
            **more,
        }
        entry = Entry("policy", key, body, [f"{kind[0]}:{name}"])
        assert self.wait(objects.change(self.database, self.admin, "put", entry, correlation="c")).done

    def mapping(self, key: str, body: dict[str, str]) -> None:
        entry = Entry("engine-mapping", key, {"id": key, "name": key, **body}, [])
        assert self.wait(objects.change(self.database, self.admin, "put", entry, correlation="c")).done

    def queued(self) -> list[Job]:
        """The jobs of the target, also those that are to run later."""
        rows = self.connection.execute(
            "select id, tenant_id, job_group, task, arguments, attempts, starts, enqueued_at from queued_jobs "
            "where tenant_id = %s and job_group = %s order by run_at, id",
            [self.world.tenant, targets.group_of(KEY)],
        )
        return [Job(*row) for row in rows]

    def run(self) -> None:
        """Runs the first queued job, as a worker does."""
        job, queue = self.queued()[0], JobQueue(self.connection)
        with queue.locked(Group(job.tenant, job.group)) as mine:
            assert mine
            try:
                with self.connection.transaction():
                    self._enforcing.run(self.connection, job)
                    queue.finish(job)
            except Taken:
                return

    def run_all(self) -> None:
        """Runs what is due, and what that queues at once: a target that cannot be read needs two runs for a change."""
        due = "select count(*) from queued_jobs where tenant_id = %s and job_group = %s and run_at <= clock_timestamp()"
        while self.connection.execute(due, [self.world.tenant, targets.group_of(KEY)]).fetchone() != (0,):
            self.run()

    def refresh(self) -> None:
        """A run that the schedule or a person requested."""
        assert self.wait(targets.request(self.database, self.world.tenant, KEY))
        self.run()

    def react(self, *events: Event) -> None:
        reaction = enforcement_reaction()
        reaction.open(self.connection)
        with self.connection.transaction():
            reaction.handle(self.world.tenant, events)

    def shown(self) -> dict[str, Any]:
        found = self.wait(targets.find(self.database, self.world.tenant, KEY))
        assert found is not None
        return found

    def receipts(self, **wanted: str) -> dict[tuple[str, str], dict[str, Any]]:
        """By name and tag."""
        chosen = receipts.Wanted(**wanted)
        found = self.wait(receipts.read_receipts(self.database, self.world.tenant, chosen, None, 100))
        return {(one["qualified_name"], one["tag"]): one for one in found}

    def enforced(self) -> dict[str, str]:
        """What the target itself has, by table, column and role."""
        return dict(json.loads(self.rules.read_text()).get("lily", {}))


def changed_asset(target: EnforcedTarget, name: str) -> Event:
    """That the tags of an asset changed."""
    return event_of(target, governance.asset_record(target.world.id_of(name), "source", ["tags"], 1, ""))


def event_of(target: EnforcedTarget, record: governance.Record, topic: str = topics.GOVERNANCE) -> Event:
    return Event(topic, 0, 0, target.world.tenant.encode() + b"/x", json.dumps(record).encode())
