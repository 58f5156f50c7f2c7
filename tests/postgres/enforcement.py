"""A tenant with policies and a target, and runs of that target without a worker."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from prometheus_client import CollectorRegistry

from lily.model.access import Principal
from lily.reactions.base import Event
from lily.reactions.enforcement import Enforcement, Enforcing
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
    """The target `files`, whose enforcer writes its rules into a JSON file."""

    def __init__(self, migrated: Migrated, world: World, key_file: Path, rules: Path) -> None:
        self.world, self.rules, self.key_file = world, rules, key_file
        self.admin = Principal("", world.tenant, "tester", frozenset({"admin"}))
        self.connection = psycopg.connect(migrated.url_of("lily_pipeline"), autocommit=True)
        self.registry = CollectorRegistry()
        self._enforcing = Enforcing(Settings(master_key_file=key_file), self.registry)
        self._runner = asyncio.Runner()
        self.database = Database(migrated.url_of("lily_api"))
        self.wait(self.database.open())
        sealed = Vault.of(key_file).seal(world.tenant, targets.group_of(KEY), json.dumps({"path": str(rules)}))
        added = targets.NewTarget(KEY, "Files", "rules-file", "shop", {"readers": {"group": "bi-team"}}, *sealed)
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

    def refresh(self) -> None:
        """A run that the schedule or a person requested."""
        assert self.wait(targets.request(self.database, self.world.tenant, KEY))
        self.run()

    def react(self, *events: Event) -> None:
        reaction = Enforcement()
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
