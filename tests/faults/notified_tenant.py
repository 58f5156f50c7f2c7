"""A tenant with subscriptions to a receiver on this machine, and workers that notify it."""

import asyncio
import base64
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.types.json import Jsonb

from lily.embedded.bootstrap import url_for_role
from lily.model.access import Principal
from lily.notify.identities import notification_id
from lily.notify.subscriptions import Subscription
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.queries import query
from lily.store.postgres.sessions import Database
from lily.store.postgres.subscriptions.administration import Administration, NewChannel, sealed_name
from tests.faults.own_stack import OwnStack
from tests.notification_receiver import Receiver
from tests.webhook_tool import SECRET

Result = TypeVar("Result")
RESIDENTS = "relay,notifications,jobs"


class NotifiedTenant:
    """Its incidents are announced by the outbox, as the reaction `incidents` does it."""

    def __init__(self, engines: OwnStack, receiver: Receiver, key_file: Path, opened: ExitStack) -> None:
        self._engines, self._receiver, self._key_file = engines, receiver, key_file
        self.tenant = f"t{uuid.uuid4().hex[:12]}"
        create_tenant(engines.database, self.tenant)
        self._runner = opened.enter_context(asyncio.Runner())
        database = Database(self._url_of("lily_api"))
        self._wait(database.open())
        opened.callback(lambda: self._wait(database.close()))
        self.owner = opened.enter_context(psycopg.connect(engines.database, autocommit=True))
        self._administration = Administration(database, Principal("", self.tenant, "t", frozenset({"admin"})), "c")
        opened.callback(self._forget)

    def subscribe(self, *destinations: str) -> None:
        """Over one channel, whose webhooks have the paths of these names."""
        places = {name: self._receiver.at(name) for name in destinations}
        config = json.dumps({"destinations": places, "secrets": [SECRET]})
        sealed = Vault.of(self._key_file).seal(self.tenant, sealed_name("hook"), config)
        assert self._wait(self._administration.add_channel(NewChannel("hook", "hook", "webhook", None, *sealed)))
        for name in destinations:
            subscription = Subscription(name=name, channel="hook", destination=name)
            assert self._wait(self._administration.put_subscription(str(uuid.uuid4()), subscription))

    def announce(self, count: int) -> list[str]:
        """Opens so many incidents."""
        with self.owner.transaction():
            for number in range(count):
                incident: dict[str, Any] = {
                    "incident_id": str(uuid.uuid4()),
                    "source": "faults",
                    "external_id": f"f-{number}",
                    "severity": "critical",
                    "state": "open",
                    "title": f"Incident {number}",
                    "previous_state": None,
                }
                body = {"change": "incident", "root": incident["incident_id"], "incident": incident, "assets": []}
                self.owner.execute(
                    query("outbox/insert_announcement"),
                    {"tenant": self.tenant, "event": incident["incident_id"], "body": Jsonb(body)},
                )
        rows = self.owner.execute("select position from announcements where tenant_id = %s", [self.tenant])
        return [notification_id(self.tenant, f"change-{position}") for (position,) in rows]

    def states(self) -> dict[str, int]:
        rows = self.owner.execute(
            "select state, count(*) from deliveries where tenant_id = %s group by state", [self.tenant]
        )
        return dict(rows.fetchall())

    def queued(self) -> int:
        row = self.owner.execute("select count(*) from queued_jobs where tenant_id = %s", [self.tenant]).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def workers(self, count: int = 1) -> Iterator[Sequence["subprocess.Popen[bytes]"]]:
        settings = {
            **self._engines.kafka.variables_of("worker"),
            "LILY_DATABASE_URL": self._url_of("lily_pipeline"),
            "LILY_MASTER_KEY_FILE": str(self._key_file),
            "LILY_OUTBOUND__ALLOWED_NETWORKS": '["127.0.0.0/8"]',
        }
        command = [sys.executable, "-m", "lily", "worker", "--only", RESIDENTS]
        command += ["--data-dir", str(self._engines.data_dir)]
        with ExitStack() as started:
            processes = []
            for _ in range(count):
                process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.DEVNULL)
                started.callback(process.wait)
                started.callback(process.kill)
                processes.append(process)
            yield processes

    def _forget(self) -> None:
        self.owner.execute("delete from queued_jobs where tenant_id = %s", [self.tenant])

    def _url_of(self, role: str) -> str:
        return url_for_role(self._engines.database, role, self._engines.state.passwords[role])

    def _wait(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(coroutine)


@contextmanager
def notified_tenant(engines: OwnStack, receiver: Receiver, directory: Path) -> Iterator[NotifiedTenant]:
    key_file = directory / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    with ExitStack() as opened:
        yield NotifiedTenant(engines, receiver, key_file, opened)
