"""A receiver that fails, is gone or got a message unconfirmed, and a worker that is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from lily.store.postgres.enforcement import targets
from lily.store.postgres.enforcement.ledger import TargetLedger
from tests.badserver import BadServer, Reply
from tests.postgres.enforcement import KEY, EnforcedTarget, changed_asset
from tests.postgres.outbound_target.messages import PEOPLE, effects, types
from tests.postgres.test_enforcement_faults import is_locked, until
from tests.webhook_tool import known_tables

# A worker that stops after it has sent everything, and before it confirms that.
WORKER = """
import pathlib, sys, threading, time
from prometheus_client import CollectorRegistry
from lily.reactions.enforcement import Enforcing, task
from lily.reactions.jobs import Jobs, Task
from lily.settings import Settings
from lily.store.postgres.enforcement.ledger import TargetLedger
from tests.distributions import registry_of

url, site, key_file, sent = sys.argv[1:]
registry = registry_of(pathlib.Path(site))
task.installed = lambda: registry

def stop(*_):
    pathlib.Path(sent).touch()
    time.sleep(600)

TargetLedger.confirm = stop
settings = Settings(database_url=url, master_key_file=key_file, enforcement={"allowed_networks": ["127.0.0.0/8"]})
metrics = CollectorRegistry()
Jobs(settings, threading.Event(), metrics, [Task("enforce", Enforcing(settings, metrics).run)]).run()
"""


class TestFaults:
    def test_a_receiver_that_fails_gets_it_again_with_the_same_id(
        self, target: EnforcedTarget, tool: BadServer
    ) -> None:
        tool.will(Reply(500), Reply(200))
        target.run_all()
        assert target.shown()["state"] == "failing"
        assert [one["table"] for one in target.shown()["failed_tables"]] == [PEOPLE]
        target.run()  # the next attempt, as if its time had come
        assert target.shown()["state"] == "in line"
        repeated = [asked.headers["webhook-id"] for asked in tool.asked]
        assert len(repeated) == 3
        assert repeated[0] == repeated[2]

    def test_a_worker_that_is_killed_after_it_sent_repeats_it_with_the_same_id(
        self, target: EnforcedTarget, tool: BadServer, tmp_path: Path
    ) -> None:
        url = target.connection.info.dsn + f" password={target.connection.info.password}"
        arguments = (url, str(tmp_path / "site"), str(target.key_file), str(tmp_path / "sent"))
        with subprocess.Popen([sys.executable, "-c", WORKER, *arguments]) as process:
            try:
                until((tmp_path / "sent").exists)
            finally:
                process.kill()
        until(lambda: not is_locked(target))
        sent = [asked.headers["webhook-id"] for asked in tool.asked]
        assert len(sent) == 2
        assert target.shown()["state"] == "new"
        target.run_all()
        assert [asked.headers["webhook-id"] for asked in tool.asked] == sent * 2
        assert target.shown()["state"] == "in line"

    def test_what_it_may_have_got_unconfirmed_is_corrected_although_the_decisions_are_as_confirmed(
        self, target: EnforcedTarget, tool: BadServer
    ) -> None:
        """The receiver took the tag and its response was lost; meanwhile the tag is gone."""
        target.run_all()
        target.world.asset(PEOPLE, data_source="shop", tags=["PII"])
        tool.will(Reply(500))
        target.refresh()
        target.run_all()
        assert effects(tool) == [("mask", [])]
        target.world.asset(PEOPLE, data_source="shop", tags=[])
        tool.will(Reply(200))
        target.refresh()
        target.run_all()
        assert effects(tool) == [("allow", [])]
        assert target.shown()["state"] == "in line"

    def test_what_it_may_have_got_unconfirmed_is_withdrawn(self, target: EnforcedTarget, tool: BadServer) -> None:
        tool.will(Reply(500))
        target.run_all()
        target.world.person(PEOPLE, "delete")
        tool.will(Reply(200))
        target.refresh()
        target.run_all()
        assert PEOPLE not in known_tables(tool.asked)
        assert ("table.withdrawn", PEOPLE) in types(tool)

    def test_410_stops_it_until_someone_applies(self, target: EnforcedTarget, tool: BadServer) -> None:
        tool.will(Reply(410))
        target.run_all()
        shown = target.shown()
        assert shown["state"] == "stopped"
        assert "410" in shown["error"]
        assert target.queued() == []
        tool.asked.clear()
        tool.will(Reply(200))
        target.react(changed_asset(target, PEOPLE))
        target.run_all()
        assert not tool.asked
        target.wait(targets.request(target.database, target.world.tenant, KEY, "a plan"))
        target.run_all()
        assert target.shown()["state"] == "stopped"
        target.refresh()
        target.run_all()
        assert len(types(tool)) == 2
        assert target.shown()["state"] == "in line"

    def test_410_does_not_stop_it_if_someone_requested_a_run_in_the_meantime(self, target: EnforcedTarget) -> None:
        (job,) = target.queued()
        ledger, tenant = TargetLedger(target.connection, target.world.tenant), target.world.tenant
        target.wait(targets.request(target.database, tenant, KEY))
        ledger.stop(job, KEY)
        assert target.shown()["state"] == "new"
        target.connection.execute("delete from queued_jobs where tenant_id = %s and id <> %s", [tenant, job.id])
        target.wait(targets.request(target.database, tenant, KEY, "a plan calls nobody"))
        ledger.stop(job, KEY)
        assert target.shown()["state"] == "stopped"

    def test_an_address_that_is_no_longer_allowed_is_an_error_and_nothing_is_sent(
        self, target: EnforcedTarget, tool: BadServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("lily.outbound.guard.resolved", lambda _host, _port: ["10.0.0.1"])
        target.run_all()
        assert "private" in target.shown()["error"]
        assert not tool.asked
