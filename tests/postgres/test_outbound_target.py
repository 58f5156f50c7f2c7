"""A target that cannot be read gets what changed, once, with the versions under which it was announced."""

import base64
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from lily.model import governance
from lily.reactions.enforcement import task
from lily.store.postgres.enforcement import catalogue, targets
from lily.store.postgres.enforcement.ledger import TargetLedger
from tests.badserver import BadServer, Reply, bad_server
from tests.distributions import install, registry_of
from tests.lineage_world import World
from tests.postgres.enforcement import KEY, EnforcedTarget, changed_asset, event_of
from tests.postgres.migrated import Migrated
from tests.postgres.test_enforcement_faults import is_locked, until
from tests.webhook_tool import SECRET, known_tables, verified

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
PEOPLE, PLAIN = "shop.public.people", "shop.public.plain"
MAIL = f"{PEOPLE}.mail"


@pytest.fixture
def tool() -> Iterator[BadServer]:
    with bad_server() as found:
        found.will(Reply(200))
        yield found


@pytest.fixture
def make_target(
    migrated: Migrated, tool: BadServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[World], EnforcedTarget]]:
    install(tmp_path / "site", "webhook", "[lily.enforcers]\nwebhook = lily.connect.enforcers.webhook:Webhook\n")
    registry = registry_of(tmp_path / "site")
    monkeypatch.setattr(task, "installed", lambda: registry)
    key_file = tmp_path / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    made: list[EnforcedTarget] = []

    def make(world: World) -> EnforcedTarget:
        made.append(
            EnforcedTarget(
                migrated,
                world,
                key_file,
                tmp_path / "unused",
                "webhook",
                {"url": tool.url, "secrets": [SECRET], "connections": 1},
                {},
                enforcement={"allowed_networks": ["127.0.0.0/8"]},
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def target(make_world: Callable[[], World], make_target: Callable[[World], EnforcedTarget]) -> EnforcedTarget:
    world = make_world()
    world.asset(PEOPLE, data_source="Shop")
    world.asset(PLAIN, data_source="shop")
    world.asset("crm.people", data_source="crm")
    found = make_target(world)
    found.policy("all", "allow")
    found.policy("mask", "mask", tag="PII", mask="show-last-4")
    return found


def types(tool: BadServer) -> list[tuple[str, str]]:
    """Of the messages since the last call: type and table."""
    found = [verified(asked) for asked in tool.asked]
    tool.asked.clear()
    return sorted((one["type"], ".".join(one["data"].get("table", {}).get("path", ()))) for one in found)


def effects(tool: BadServer, table: str = PEOPLE) -> list[tuple[str, list[str]]]:
    """What the tool enforces: effect and columns."""
    return [
        (one["effect"], [column["name"] for column in one.get("columns", ())])
        for one in known_tables(tool.asked)[table]
    ]


def test_at_first_it_gets_every_table_of_its_data_source_and_later_what_changed(
    target: EnforcedTarget, tool: BadServer
) -> None:
    target.run()
    assert not tool.asked  # announced, and not sent before that is committed
    target.run_all()
    assert target.shown()["state"] == "in line"
    assert target.shown()["tables"] == 2
    assert types(tool) == [("table.decided", PEOPLE), ("table.decided", PLAIN)]
    target.refresh()
    target.run_all()
    assert not tool.asked
    target.world.asset(PEOPLE, data_source="shop", tags=["PII"])
    target.react(changed_asset(target, PEOPLE))
    target.run_all()
    (message,) = (verified(asked) for asked in tool.asked)
    assert message["data"]["decisions"][0]["mask"] == "show-last-4"
    assert message["data"]["decisions"][0]["principals"] == [{"group": "bi-team"}]
    assert message["data"]["tenant"] == target.world.tenant
    receipt = target.receipts()[PEOPLE, "pii"]
    assert (receipt["state"], receipt["withdrawn"]) == ("confirmed", False)


def test_versions_grow(target: EnforcedTarget, tool: BadServer) -> None:
    target.run_all()
    for tags in (["PII"], [], ["PII"]):
        target.world.asset(PLAIN, data_source="shop", tags=tags)
        target.refresh()
        target.run_all()
    about = [one["data"] for one in map(verified, tool.asked) if one["data"]["table"]["asset"] == PLAIN]
    assert len(about) == len({one["id"] for one in about}) == 4
    assert [one["version"] for one in about] == sorted({one["version"] for one in about})


class TestColumns:
    def test_one_with_a_tag_or_lineage_has_a_decision_of_its_own(self, target: EnforcedTarget, tool: BadServer) -> None:
        target.world.column(MAIL, PEOPLE, tags=["PII"], data_type="varchar(80)")
        target.world.column("crm.people.phone", "crm.people", tags=["PII"])
        target.world.column(f"{PEOPLE}.phone", PEOPLE)
        target.world.edge("crm.people.phone", f"{PEOPLE}.phone")
        target.run_all()
        assert effects(tool) == [("allow", []), ("mask", ["mail", "phone"])]
        (entry,) = (one for one in known_tables(tool.asked)[PEOPLE] if one["effect"] == "mask")
        assert entry["columns"][0] == {"name": "mail", "asset": MAIL, "type": "varchar(80)"}

    def test_one_that_gets_its_first_tag_queues_a_run(self, target: EnforcedTarget, tool: BadServer) -> None:
        target.run_all()
        target.world.column(MAIL, PEOPLE, tags=["PII"])
        target.react(changed_asset(target, MAIL))
        target.run_all()
        assert effects(tool) == [("allow", []), ("mask", ["mail"])]

    def test_one_that_only_the_lake_has_queues_a_run_by_its_table(
        self, target: EnforcedTarget, owner: psycopg.Connection
    ) -> None:
        target.run_all()
        place = [target.world.tenant, target.world.id_of(MAIL), target.world.id_of(PEOPLE), MAIL]
        owner.execute("insert into graph_nodes (tenant_id, id, parent, qualified_name) values (%s, %s, %s, %s)", place)
        target.react(changed_asset(target, MAIL))
        assert len(target.queued()) == 1

    def test_one_that_only_the_lake_has_is_decided_if_a_policy_names_it(
        self, target: EnforcedTarget, tool: BadServer
    ) -> None:
        target.policy("no", "deny", resources=[{"asset": MAIL.upper()}])
        target.run_all()
        assert effects(tool) == [("allow", []), ("deny", ["MAIL"])]

    def test_a_policy_that_names_it_by_its_id_stops_the_target(self, target: EnforcedTarget, tool: BadServer) -> None:
        target.policy("by id", "deny", resources=[{"asset": target.world.id_of(MAIL)}])
        target.run_all()
        assert "qualified name" in target.shown()["error"]
        assert not tool.asked
        target.world.column(MAIL, PEOPLE)
        target.refresh()
        target.run_all()
        assert effects(tool) == [("allow", []), ("deny", ["mail"])]

    def test_any_other_column_has_the_stricter_of_the_tables_decision_and_its_own(
        self, target: EnforcedTarget, tool: BadServer
    ) -> None:
        target.policy("columns", "mask", resources=[{"entity_type": "column"}], mask="replace-with-null")
        target.run_all()
        assert effects(tool) == [("mask", [])]


class TestTables:
    def test_one_that_is_deleted_or_moved_is_withdrawn(self, target: EnforcedTarget, tool: BadServer) -> None:
        target.run_all()
        types(tool)
        target.world.person(PEOPLE, "delete")
        target.world.asset(PLAIN, data_source="elsewhere")
        target.refresh()
        target.run_all()
        assert types(tool) == [("table.withdrawn", PEOPLE), ("table.withdrawn", PLAIN)]
        target.refresh()
        target.run_all()
        assert not tool.asked

    def test_a_new_one_of_the_data_source_with_a_tag_queues_a_run(
        self, target: EnforcedTarget, tool: BadServer
    ) -> None:
        target.run_all()
        types(tool)
        target.world.asset("shop.public.new", data_source="SHOP", tags=["PII"])
        target.react(changed_asset(target, "shop.public.new"))
        target.run_all()
        assert types(tool) == [("table.decided", "shop.public.new")]

    def test_those_of_another_tenant_are_never_in_a_message(
        self,
        target: EnforcedTarget,
        tool: BadServer,
        make_world: Callable[[], World],
        make_target: Callable[[World], EnforcedTarget],
    ) -> None:
        other = make_world()
        other.asset("shop.public.secret", data_source="shop")
        other.column("shop.public.people.salary", PEOPLE, tags=["PII"])
        other_target = make_target(other)
        other_target.policy("theirs", "allow", subject="user:mallory")
        target.run_all()
        for asked in tool.asked:
            assert not any(word in asked.body for word in (b"secret", b"salary", b"mallory", other.tenant.encode()))
        assert effects(tool) == [("allow", [])]

    def test_more_than_a_target_can_have_are_an_error_with_advice(
        self, target: EnforcedTarget, tool: BadServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(catalogue, "MAX_TABLES", 1)
        monkeypatch.setattr(catalogue, "PAGE", 1)
        target.run_all()
        assert "several data sources" in target.shown()["error"]
        assert not tool.asked

    def test_pages_have_all_of_them(
        self, target: EnforcedTarget, tool: BadServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(catalogue, "PAGE", 2)
        monkeypatch.setattr(catalogue, "TABLES_AT_ONCE", 2)
        for number in range(5):
            target.world.asset(f"shop.public.t{number}", data_source="shop")
            target.world.column(f"shop.public.t{number}.c", f"shop.public.t{number}", tags=["PII"])
        target.run_all()
        assert len(types(tool)) == 7
        assert target.shown()["columns"] == 5

    def test_mappings_name_them_as_the_tool_does(self, target: EnforcedTarget, tool: BadServer) -> None:
        target.mapping("m", {"data_source": "shop", "engine_name": "prod.main", "asset_name": "shop.public"})
        target.run_all()
        assert types(tool) == [("table.decided", "prod.main.people"), ("table.decided", "prod.main.plain")]

    def test_a_receipt_follows_its_table_to_another_name(self, target: EnforcedTarget) -> None:
        target.world.asset(PEOPLE, data_source="shop", tags=["PII"])
        target.run_all()
        assert target.receipts()[PEOPLE, "pii"]["table"] == PEOPLE
        target.mapping("m", {"data_source": "shop", "engine_name": "prod.main", "asset_name": "shop.public"})
        target.refresh()
        target.run_all()
        receipt = target.receipts()[PEOPLE, "pii"]
        assert (receipt["table"], receipt["state"]) == ("prod.main.people", "confirmed")


class TestPrincipals:
    def test_a_disabled_user_is_denied_whatever_its_groups_may(
        self, target: EnforcedTarget, tool: BadServer, owner: psycopg.Connection
    ) -> None:
        disable = "insert into disabled_users (tenant_id, user_name) values (%s, 'ann')"
        owner.execute(disable, [target.world.tenant])
        target.run_all()
        (denied,) = (one for one in known_tables(tool.asked)[PEOPLE] if one["effect"] == "deny")
        assert denied["principals"] == [{"user": "ann"}]

    def test_a_user_and_a_group_of_one_name_are_both_denied(self, target: EnforcedTarget, tool: BadServer) -> None:
        target.policy("user", "allow", subject="user:bi-team")
        target.run_all()
        (denied,) = known_tables(tool.asked)[PEOPLE]
        assert denied["effect"] == "deny"
        assert denied["principals"] == [{"user": "bi-team"}, {"group": "bi-team"}, {"role": "bi-team"}]
        assert "bi-team" in {one["subject"] for one in target.shown()["findings"]}


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


class TestRemoving:
    def test_the_receiver_gets_a_message_and_lily_forgets_the_target(
        self, target: EnforcedTarget, tool: BadServer
    ) -> None:
        target.run_all()
        target.wait(targets.remove(target.database, target.admin, KEY, "c"))
        target.run()
        assert known_tables(tool.asked) == {}
        assert target.wait(targets.find(target.database, target.world.tenant, KEY)) is None

    def test_a_receiver_that_is_gone_does_not_keep_it(self, target: EnforcedTarget, tool: BadServer) -> None:
        tool.will(Reply(410))
        target.run_all()
        target.wait(targets.remove(target.database, target.admin, KEY, "c"))
        target.run()
        assert target.wait(targets.find(target.database, target.world.tenant, KEY)) is None


def test_a_plan_shows_the_messages_and_sends_none(target: EnforcedTarget, tool: BadServer) -> None:
    for job in target.queued():
        target.connection.execute("delete from queued_jobs where id = %s", [job.id])
    target.wait(targets.request(target.database, target.world.tenant, KEY, "the-request"))
    target.run()
    plan = target.shown()["plan"]
    assert (plan["error"], [step["table"] for step in plan["steps"]]) == (None, [PEOPLE, PLAIN])
    assert "table.decided" in plan["steps"][0]["change"]
    assert not tool.asked


def test_a_change_that_is_no_change_sends_nothing(target: EnforcedTarget, tool: BadServer) -> None:
    target.run_all()
    types(tool)
    target.react(event_of(target, governance.decision_record(governance.TAG, "pii", 1)))
    target.run_all()
    assert not tool.asked


@pytest.mark.parametrize("direction", ["downstream", "upstream"])
def test_a_column_whose_name_nobody_knows_counts_for_every_column_that_is_not_listed(
    target: EnforcedTarget, tool: BadServer, direction: str
) -> None:
    """An edge may come before its assets, and has only their ids."""
    target.world.define("pii", direction=direction)
    target.world.asset("crm.people", data_source="crm", tags=["PII"])
    target.world.edge(*(("crm.people", MAIL) if direction == "downstream" else (MAIL, "crm.people")))
    target.world.settle()
    target.run_all()
    assert effects(tool) == [("mask", [])]
