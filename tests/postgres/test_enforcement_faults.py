"""A worker is killed while it changes a target: the next one finishes it, and no two change it at the same time."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from lily.store.postgres.enforcement import targets
from tests.postgres.enforcement import KEY, EnforcedTarget

PATIENCE_SECONDS = 60.0

# A worker whose enforcer stops halfway through `apply` until a file appears.
WORKER = """
import pathlib, sys, threading, time
from prometheus_client import CollectorRegistry
from lily.reactions.enforcement import Enforcing, task
from lily.reactions.jobs import Jobs, Task
from lily.settings import Settings
from tests.distributions import registry_of
from tests.sample_plugins.rules_file import RulesFile

url, site, key_file, started, go = sys.argv[1:]
registry = registry_of(pathlib.Path(site))
task.installed = lambda: registry
whole = RulesFile.apply

def halfway(self, plan):
    whole(self, plan._replace(steps=plan.steps[:1]))
    pathlib.Path(started).touch()
    while not pathlib.Path(go).exists():
        time.sleep(0.01)
    return whole(self, plan)

RulesFile.apply = halfway
settings = Settings(database_url=url, master_key_file=key_file)
metrics = CollectorRegistry()
Jobs(settings, threading.Event(), metrics, [Task("enforce", Enforcing(settings, metrics).run)]).run()
"""


@contextmanager
def worker(target: EnforcedTarget, url: str, directory: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Returns once it is halfway through the change of the target."""
    started, go = directory / "started", directory / "go"
    arguments = (url, str(directory / "site"), str(target.key_file), str(started), str(go))
    process = subprocess.Popen([sys.executable, "-c", WORKER, *arguments])
    try:
        until(started.exists)
        yield process
    finally:
        process.kill()
        process.wait()


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_a_killed_worker_left_undone_is_done_by_the_next(target: EnforcedTarget, tmp_path: Path) -> None:
    url = target.connection.info.dsn + f" password={target.connection.info.password}"
    with worker(target, url, tmp_path) as process:
        assert len(target.enforced()) == 1
        process.kill()
        process.wait()
        (left,) = target.queued()
        until(lambda: not is_locked(target))
        assert target.shown()["state"] == "new"
        target.run()
    assert left.id not in {job.id for job in target.queued()}
    assert len(target.enforced()) > 1
    assert target.shown()["state"] == "in line"


def test_two_workers_do_not_change_a_target_at_the_same_time(target: EnforcedTarget, tmp_path: Path) -> None:
    url = target.connection.info.dsn + f" password={target.connection.info.password}"
    with worker(target, url, tmp_path):
        assert target.wait(targets.request(target.database, target.world.tenant, KEY))
        assert is_locked(target)
        (tmp_path / "go").touch()
        until(lambda: target.queued() == [])
    assert target.shown()["state"] == "in line"


def is_locked(target: EnforcedTarget) -> bool:
    """Whether another worker holds the jobs of the target."""
    held = "select count(*) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid() and granted"
    with psycopg.connect(target.connection.info.dsn, password=target.connection.info.password) as connection:
        return bool((connection.execute(held).fetchone() or (0,))[0])
