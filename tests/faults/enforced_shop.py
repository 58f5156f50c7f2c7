"""A tenant whose policies hold in a real PostgreSQL database, and workers that bring it in line."""

import asyncio
import base64
import os
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson
import psycopg

from lily.embedded.bootstrap import url_for_role
from lily.model.access import Principal
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.enforcement import targets
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.objects import Entry
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.sessions import Database
from tests.enforcers.target import LILY, Target, forget_targets
from tests.faults.own_stack import OwnStack
from tests.lineage_world import World
from tests.postgres_server import Server

Result = TypeVar("Result")
PATIENCE_SECONDS = 120.0
KEY = "shop"
WAITING = (
    "select {} from pg_stat_activity where usename = %s and datname = %s "
    "and application_name = 'lily enforcer' and wait_event_type = 'Lock'"
)


class EnforcedShop:
    """The target `shop` of a tenant of its own. `database` is the shop's, `world` the tenant's catalogue."""

    def __init__(self, engines: OwnStack, tenant: str, key_file: Path, opened: ExitStack) -> None:
        self._engines, self._tenant, self._key_file = engines, tenant, key_file
        self.database = opened.enter_context(Target.made(Server(engines.database)))
        self._runner = opened.enter_context(asyncio.Runner())
        self._lily = Database(self._url_of("lily_api"))
        self._wait(self._lily.open())
        opened.callback(lambda: self._wait(self._lily.close()))
        create_tenant(engines.database, tenant)
        owner = opened.enter_context(psycopg.connect(engines.database, autocommit=True))
        writer = opened.enter_context(closing(CatalogueWriter(self._url_of("lily_pipeline"))))
        propagator = opened.enter_context(closing(Propagator(self._url_of("lily_pipeline"))))
        self.world = World(tenant, writer, propagator, owner)
        opened.callback(forget_targets, engines.database, tenant)

    def policy(self, key: str, effect: str, resource: dict[str, str], **more: Any) -> None:
        """About Ann."""
        body = {
            "id": key,
            "name": key,
            "subjects": [{"user": "ann"}],
            "resources": [resource],
            "actions": ["READ"],
            "effect": effect,
            **more,
        }
        entry = Entry("policy", key, body, ["u:ann"])
        assert self._wait(objects.change(self._lily, self._admin, "put", entry, correlation="c")).done

    def add(self, **settings: Any) -> None:
        """Its tables are the assets of their dotted names."""
        config = orjson.dumps(self.database.settings(**settings)).decode()
        sealed = Vault.of(self._key_file).seal(self._tenant, targets.group_of(KEY), config)
        added = targets.NewTarget(KEY, "Shop", "postgres", "shop", {}, *sealed)
        assert self._wait(targets.add(self._lily, self._admin, added, "c"))

    def asset(self, table: str, **attributes: object) -> None:
        self.world.asset(f"{self.database.database}.{table}", **attributes)

    def shown(self) -> dict[str, Any]:
        found = self._wait(targets.find(self._lily, self._tenant, KEY))
        assert found is not None
        return found

    def waits_for_a_lock(self) -> bool:
        return bool(self._waiting("pid"))

    def end_sessions(self) -> None:
        """Those that wait for a lock, and waits until they have ended."""
        assert self._waiting("pg_terminate_backend(pid, 60000)") == [(True,)]

    def _waiting(self, shown: str) -> list[tuple[Any, ...]]:
        place = [LILY, self.database.database]
        return self.database.admin.execute(WAITING.format(shown).encode(), place).fetchall()

    @contextmanager
    def worker(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Jobs alone: the target was queued when it was added."""
        settings = {
            **self._engines.kafka.variables_of("worker"),
            "LILY_DATABASE_URL": self._url_of("lily_pipeline"),
            "LILY_MASTER_KEY_FILE": str(self._key_file),
        }
        command = [sys.executable, "-m", "lily", "worker", "--only", "jobs", "--data-dir", str(self._engines.data_dir)]
        with subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL) as process:
            try:
                yield process
            finally:
                process.kill()

    @property
    def _admin(self) -> Principal:
        return Principal("", self._tenant, "tester", frozenset({"admin"}))

    def _url_of(self, role: str) -> str:
        return url_for_role(self._engines.database, role, self._engines.state.passwords[role])

    def _wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(coroutine)


@contextmanager
def enforced_shop(engines: OwnStack, tenant: str, directory: Path) -> Iterator[EnforcedShop]:
    key_file = directory / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    with ExitStack() as opened:
        yield EnforcedShop(engines, tenant, key_file, opened)


def until(reached: Callable[[], bool], shown: Callable[[], object] = lambda: "it did not happen in time") -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < deadline, shown()
        time.sleep(0.05)
