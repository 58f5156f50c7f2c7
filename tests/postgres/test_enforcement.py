"""A target is brought in line with the decisions, stays so, and can be left as it was."""

import base64
import json

import psycopg
import pytest
from psycopg import sql

from lily.bus import topics
from lily.model import governance
from lily.plugins import Failure
from lily.store.postgres.access.changes import DISABLED_USER
from lily.store.postgres.access.users import disable_user, enable_user
from lily.store.postgres.enforcement import receipts, targets
from lily.store.postgres.enforcement.ledger import delete_old_runs
from tests.postgres.enforcement import KEY, OWN, EnforcedTarget, changed_asset, event_of
from tests.postgres.migrated import Migrated
from tests.sample_plugins.rules_file import RulesFile

MASKED = "shop.public.people./readers"


def test_a_tag_reaches_the_target_and_its_receipt_is_confirmed(target: EnforcedTarget) -> None:
    target.run()
    assert target.enforced()[MASKED] == "allow"
    assert target.shown()["state"] == "in line"
    target.world.asset("shop.public.people", data_source="shop", tags=["PII"])
    target.react(changed_asset(target, "shop.public.people"))
    queued = "update queued_jobs set enqueued_at = '2026-01-02T03:04:05Z' where tenant_id = %s"
    target.connection.execute(queued, [target.world.tenant])
    target.run()
    assert target.enforced()[MASKED] == "show-last-4"
    assert target.enforced()["shop.public.plain./readers"] == "allow"
    receipt = target.receipts()["shop.public.people", "pii"]
    assert (receipt["state"], receipt["target"], receipt["withdrawn"]) == ("confirmed", "Files", False)
    assert receipt["requested_at"].startswith("2026-01-02T03:04:05")  # not when the run began
    assert receipt["requested_at"] <= receipt["confirmed_at"]


def test_what_no_policy_allows_is_denied_to_a_role(target: EnforcedTarget) -> None:
    target.run()
    assert target.enforced()["shop.public.people./ann"] == "deny"
    target.policy("ann", "allow", subject="user:ann")
    target.refresh()
    assert target.enforced()["shop.public.people./ann"] == "allow"


def test_a_disabled_user_is_denied_and_an_enabled_one_allowed_again(target: EnforcedTarget, migrated: Migrated) -> None:
    target.policy("ann", "allow", subject="user:ann")
    for change, effect in ((enable_user, "allow"), (disable_user, "deny"), (enable_user, "allow")):
        change(migrated.owner, target.world.tenant, "ANN")
        target.refresh()
        assert target.enforced()["shop.public.people./ann"] == effect


def test_disabling_a_user_is_published(target: EnforcedTarget, migrated: Migrated, owner: psycopg.Connection) -> None:
    for change in (disable_user, disable_user, enable_user, enable_user):
        change(migrated.owner, target.world.tenant, "ANN", by="eve")
    published = "select name, before, after, by from decisions where tenant_id = %s and kind = %s order by position"
    assert owner.execute(published, [target.world.tenant, DISABLED_USER]).fetchall() == [
        ("ann", None, {"name": "ANN"}, "eve"),
        ("ann", {"name": "ANN"}, None, "eve"),
    ]


def test_a_policy_for_a_role_that_the_target_lacks_is_reported(target: EnforcedTarget) -> None:
    target.policy("hr", "allow", subject="role:hr")
    target.policy("elsewhere", "allow", subject="role:hr", resources=[{"asset": "crm"}])
    target.run()
    assert [one["subject"] for one in target.shown()["findings"]] == ["hr"]


def test_a_tag_that_is_taken_away_leaves_the_target(target: EnforcedTarget) -> None:
    target.world.asset("shop.public.people", data_source="shop", tags=["PII"])
    target.run()
    target.world.asset("shop.public.people", data_source="shop", tags=[])
    target.refresh()
    assert target.enforced()[MASKED] == "allow"
    receipt = target.receipts()["shop.public.people", "pii"]
    assert (receipt["withdrawn"], receipt["state"]) == (True, "confirmed")


def test_an_edge_reaches_the_target_before_it_has_propagated(target: EnforcedTarget) -> None:
    target.world.asset("crm.people", tags=["PII"])
    target.run()
    target.world.edge("crm.people", "shop.public.people")
    target.refresh()
    assert target.enforced()[MASKED] == "show-last-4"


def test_a_run_confirms_what_was_committed_before_it_began(target: EnforcedTarget, owner: psycopg.Connection) -> None:
    def state(since: str) -> str:
        found = target.wait(receipts.confirmations(target.database, target.world.tenant, since))
        return str(found[0]["state"])

    assert target.shown()["waiting_since"] is not None
    target.run()
    moved = "update enforcement_runs set began_at = '2026-01-01', finished_at = '2026-01-03' where tenant_id = %s"
    owner.execute(moved, [target.world.tenant])
    assert state("2026-01-01") == "confirmed"
    assert state("2026-01-02") == "requested"
    owner.execute("update enforcement_runs set error = 'down' where tenant_id = %s", [target.world.tenant])
    assert state("2026-01-01") == "requested"


def test_old_runs_and_withdrawn_receipts_are_deleted_and_others_kept(
    target: EnforcedTarget, owner: psycopg.Connection
) -> None:
    target.world.asset("shop.public.people", data_source="shop", tags=["PII"])
    target.world.asset("shop.public.plain", data_source="shop", tags=["PII"])
    target.run()
    target.world.asset("shop.public.plain", data_source="shop", tags=[])
    target.refresh()
    owner.execute("update enforcement_receipts set confirmed_at = now() - interval '8 days'")
    delete_old_runs(target.connection)
    assert ("shop.public.people", "pii") in target.receipts()
    assert ("shop.public.plain", "pii") not in target.receipts()
    assert target.shown()["last_run"] is not None
    owner.execute("update enforcement_runs set finished_at = now() - interval '8 days'")
    delete_old_runs(target.connection)
    assert target.shown()["last_run"] is None


class TestDrift:
    def test_it_is_reported_and_repaired(self, target: EnforcedTarget, owner: psycopg.Connection) -> None:
        target.world.asset("shop.public.people", data_source="shop", tags=["PII"])
        target.run()
        target.refresh()
        assert target.shown()["drifted"] == []
        target.rules.write_text(json.dumps(OWN))
        target.refresh()
        assert target.enforced()[MASKED] == "show-last-4"
        shown = target.shown()
        assert {one["table"] for one in shown["drifted"]} == {"shop.public.people", "shop.public.plain"}
        assert shown["last_run"]["drifted"] > 0
        receipt = target.receipts()["shop.public.people", "pii"]
        assert receipt["state"] == "confirmed"
        assert receipt["drift_at"] is not None
        reported = "select after from decisions where tenant_id = %s and kind = 'enforcement-drift'"
        ((report,),) = owner.execute(reported, [target.world.tenant]).fetchall()
        assert report["tables"] > 0

    def test_a_table_that_could_not_be_repaired_is_reported_once(
        self, target: EnforcedTarget, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target.run()
        target.rules.write_text(json.dumps(OWN))
        monkeypatch.setattr(
            RulesFile, "apply", lambda _, plan: [Failure(step.table, "locked", transient=True) for step in plan.steps]
        )
        for _ in range(2):
            target.refresh()
            assert target.shown()["state"] == "failing"
        reported = "select count(*) from decisions where tenant_id = %s and kind = 'enforcement-drift'"
        assert owner.execute(reported, [target.world.tenant]).fetchone() == (1,)

    def test_a_change_of_decisions_is_none(self, target: EnforcedTarget) -> None:
        target.run()
        target.policy("mask", "mask", tag="PII", mask="replace-with-null")
        target.world.asset("shop.public.people", data_source="shop", tags=["PII"])
        target.refresh()
        assert target.enforced()[MASKED] == "replace-with-null"
        assert target.shown()["drifted"] == []


class TestFailures:
    def test_a_target_that_is_down_is_tried_again_and_comes_back(self, target: EnforcedTarget) -> None:
        own = target.rules.read_text()
        target.rules.unlink()
        target.run()
        shown = target.shown()
        assert shown["state"] == "failing"
        assert "cannot be read" in shown["error"]
        (again,) = target.queued()
        target.rules.write_text(own)
        target.run()
        assert target.shown()["state"] == "in line"
        assert target.shown()["error"] is None
        assert again.id not in {job.id for job in target.queued()}

    def test_what_it_did_not_get_is_not_confirmed(self, target: EnforcedTarget) -> None:
        target.run()
        target.world.asset("shop.public.people", data_source="shop", tags=["PII"])
        document = json.loads(target.rules.read_text())
        document["own"]["tables"] = 1  # the inventory cannot be read
        target.rules.write_text(json.dumps(document))
        target.refresh()
        assert target.shown()["state"] == "failing"
        assert "shop.public.people" not in {name for name, _ in target.receipts(state="confirmed")}

    def test_another_master_key_is_a_clear_error(self, target: EnforcedTarget) -> None:
        target.key_file.write_text(base64.b64encode(bytes(range(32))).decode())
        target.run()
        assert "cannot be decrypted" in target.shown()["error"]

    def test_without_a_master_key_too(self, target: EnforcedTarget) -> None:
        target.key_file.unlink()
        target.run()
        assert "master key" in target.shown()["error"]


class TestWhatQueuesARun:
    @pytest.fixture(autouse=True)
    def _in_line(self, target: EnforcedTarget) -> None:
        target.run()
        assert target.queued() == []

    @pytest.mark.parametrize(
        "kind",
        ["policy", "role", "user", "disabled-user", "tag", "setting", "engine-mapping", "access-settings"],
    )
    def test_a_change_that_may_concern_all_assets(self, target: EnforcedTarget, kind: str) -> None:
        target.react(event_of(target, governance.decision_record(kind, "x", 1)))
        assert len(target.queued()) == 1

    @pytest.mark.parametrize("kind", ["rule", "scraper-policy", "enforcement-drift"])
    def test_not_one_that_decisions_do_not_depend_on(self, target: EnforcedTarget, kind: str) -> None:
        target.react(event_of(target, governance.decision_record(kind, "x", 1)))
        assert target.queued() == []

    def test_one_of_its_assets_or_columns(self, target: EnforcedTarget) -> None:
        target.react(changed_asset(target, "shop.public.people.mail"))
        assert len(target.queued()) == 1

    def test_one_above_its_assets(self, target: EnforcedTarget) -> None:
        target.world.typed("schema", "shop.public")
        target.world.asset("shop.public.people", data_source="shop", parent="shop.public")
        target.refresh()
        assert target.queued() == []
        target.react(changed_asset(target, "shop.public"))
        assert len(target.queued()) == 1

    @pytest.mark.parametrize("ends", [("crm.people", "shop.public.people"), ("shop.public.people", "crm.people")])
    def test_an_edge_at_one_of_its_assets(self, target: EnforcedTarget, ends: tuple[str, str]) -> None:
        start, end = map(target.world.id_of, ends)
        target.react(event_of(target, governance.edge_record(start, end, 1, "")))
        assert len(target.queued()) == 1

    def test_one_of_several_edges_at_one_of_its_assets(self, target: EnforcedTarget) -> None:
        names = (("crm.people", "crm.leads"), ("crm.leads", "shop.public.people"))
        ids = [tuple(map(target.world.id_of, ends)) for ends in names]
        changed = [governance.EdgeChanged(start, end, 1) for start, end in ids]
        target.react(event_of(target, governance.edges_record(changed[:1])))
        assert target.queued() == []
        target.react(event_of(target, governance.edges_record(changed)))
        assert len(target.queued()) == 1

    def test_not_one_of_another_asset(self, target: EnforcedTarget) -> None:
        target.react(changed_asset(target, "crm.people"))
        assert target.queued() == []

    def test_a_tag_that_propagated_to_one_of_its_assets(self, target: EnforcedTarget) -> None:
        assets = [target.world.id_of("shop.public.people")]
        target.react(event_of(target, {"data": {"assets": assets}}, topics.PROPAGATED))
        assert len(target.queued()) == 1

    def test_many_changes_are_few_runs(self, target: EnforcedTarget) -> None:
        for _ in range(5):
            target.react(changed_asset(target, "shop.public.people"))
        assert len(target.queued()) == 2  # one of which may be running
        target.run()
        assert target.queued() == []

    def test_an_attempt_whose_time_has_not_come_is_none_of_them(self, target: EnforcedTarget) -> None:
        target.rules.unlink()
        target.refresh()
        assert len(target.queued()) == 1  # the next attempt
        for _ in range(5):
            target.react(changed_asset(target, "shop.public.people"))
        assert len(target.queued()) == 3


def test_a_plan_changes_nothing(target: EnforcedTarget) -> None:
    for job in target.queued():
        target.connection.execute("delete from queued_jobs where id = %s", [job.id])
    target.wait(targets.request(target.database, target.world.tenant, KEY, "the-request"))
    assert target.shown()["waiting_since"] is None  # a plan is no run
    target.run()
    plan = target.shown()["plan"]
    assert (plan["request"], plan["error"]) == ("the-request", None)
    assert plan["count"] == len(plan["steps"]) > 0
    assert target.enforced() == {}


def test_removing_it_leaves_it_as_it_was(target: EnforcedTarget, owner: psycopg.Connection) -> None:
    target.run()
    assert target.enforced()
    target.wait(targets.remove(target.database, target.admin, KEY, "c"))
    assert target.shown()["state"] == "removing"
    target.run()
    assert json.loads(target.rules.read_text()) == OWN
    assert target.wait(targets.find(target.database, target.world.tenant, KEY)) is None
    for table in ("receipts", "tables", "assets", "runs", "targets"):
        left = sql.SQL("select count(*) from {} where tenant_id = %s").format(sql.Identifier(f"enforcement_{table}"))
        assert owner.execute(left, [target.world.tenant]).fetchone() == (0,), table
    schedules = "select count(*) from job_schedules where tenant_id = %s"
    assert owner.execute(schedules, [target.world.tenant]).fetchone() == (0,)


def test_its_configuration_is_encrypted_and_not_for_the_api(
    target: EnforcedTarget, migrated: Migrated, owner: psycopg.Connection
) -> None:
    ((sealed,),) = owner.execute(
        "select sealed from enforcement_targets where tenant_id = %s", [target.world.tenant]
    ).fetchall()
    assert b"rules.json" not in sealed
    assert "rules.json" not in json.dumps(target.shown())
    with psycopg.connect(migrated.url_of("lily_api")) as api, pytest.raises(psycopg.errors.InsufficientPrivilege):
        api.execute("select sealed from enforcement_targets")
