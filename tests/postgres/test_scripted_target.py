"""A warehouse gets a script: its receipts stay requested until somebody reports that the present script was run."""

import base64
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lily.reactions.enforcement import task
from lily.store.postgres.enforcement import targets
from lily.store.postgres.enforcement.targets import RunScript
from tests.distributions import install, registry_of
from tests.lineage_world import World
from tests.postgres.enforcement import KEY, EnforcedTarget
from tests.postgres.migrated import Migrated

PEOPLE = "shop.public.people"
MAIL = f"{PEOPLE}.mail"


@pytest.fixture
def target(
    migrated: Migrated, make_world: Callable[[], World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EnforcedTarget]:
    points = "[lily.enforcers]\nsnowflake = lily.connect.enforcers.warehouses.snowflake:Snowflake\n"
    install(tmp_path / "site", "snowflake", points)
    registry = registry_of(tmp_path / "site")
    monkeypatch.setattr(task, "installed", lambda: registry)
    key_file = tmp_path / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    world = make_world()
    world.asset(PEOPLE, data_source="shop")
    world.column(MAIL, PEOPLE, data_type="VARCHAR(20)", tags=["PII"])
    made = EnforcedTarget(migrated, world, key_file, tmp_path / "unused", "snowflake", {"grants": True}, {})
    with closing(made) as found:
        found.policy("all", "allow")
        found.policy("mask", "mask", tag="PII", mask="show-last-4")
        yield found


def run_all(target: EnforcedTarget) -> None:
    while target.queued():
        target.run()


def script(target: EnforcedTarget, kind: str = "apply") -> str:
    request = str(uuid.uuid4())
    assert target.wait(targets.request(target.database, target.world.tenant, KEY, request, kind))
    run_all(target)
    assert target.shown()["plan"]["error"] is None
    text = target.wait(targets.script(target.database, target.world.tenant, KEY, request))
    assert text is not None
    return text


def digest_of(text: str) -> str:
    found = re.search(r"^-- Digest: ([0-9a-f]{64})$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def confirm(target: EnforcedTarget, digest: str) -> dict[str, Any]:
    run = RunScript(KEY, digest, str(uuid.uuid4()))
    assert target.wait(targets.confirm(target.database, target.admin, run, "c"))
    run_all(target)
    plan = dict(target.shown()["plan"])
    assert plan["request"] == run.request
    return plan


def test_receipts_stay_requested_until_the_script_is_reported(target: EnforcedTarget) -> None:
    run_all(target)
    assert target.shown()["state"] == "waiting"
    assert target.receipts()[MAIL, "pii"]["state"] == "requested"
    text = script(target)
    assert "MASKING POLICY" in text
    assert '"SHOP"."PUBLIC"."PEOPLE"' in text
    assert target.receipts()[MAIL, "pii"]["state"] == "requested"
    assert confirm(target, digest_of(text))["confirmed"] is True
    assert target.shown()["state"] == "in line"
    assert target.receipts()[MAIL, "pii"]["state"] == "confirmed"


def test_a_new_decision_makes_it_unconfirmed_again(target: EnforcedTarget) -> None:
    confirm(target, digest_of(script(target)))
    target.policy("mask", "mask", tag="PII", mask="sha-256-global")
    target.refresh()
    run_all(target)
    assert target.shown()["state"] == "waiting"
    receipt = target.receipts()[MAIL, "pii"]
    assert (receipt["state"], receipt["confirmed_at"]) == ("requested", None)
    assert confirm(target, digest_of(script(target)))["confirmed"] is True
    assert target.receipts()[MAIL, "pii"]["state"] == "confirmed"


def test_the_digest_of_an_older_script_confirms_nothing(target: EnforcedTarget) -> None:
    older = digest_of(script(target))
    target.policy("mask", "mask", tag="PII", mask="sha-256-global")
    refused = confirm(target, older)
    assert "changed since" in refused["error"]
    assert refused["count"] == 0
    run_all(target)
    assert target.shown()["state"] == "waiting"
    assert target.receipts()[MAIL, "pii"]["state"] == "requested"


def test_who_reported_it_is_audited(target: EnforcedTarget, owner: psycopg.Connection) -> None:
    digest = digest_of(script(target))
    confirm(target, digest)
    rows = owner.execute(
        "select principal, detail from audit where tenant_id = %s and action = 'enforcement-target.confirmed'",
        [target.world.tenant],
    ).fetchall()
    assert [(principal, detail["after"]["digest"]) for principal, detail in rows] == [("tester", digest)]


def test_a_script_is_the_same_while_nothing_changes(target: EnforcedTarget) -> None:
    assert script(target) == script(target)
    confirm(target, digest_of(script(target)))
    assert script(target) == script(target)
    assert target.shown()["state"] == "in line"


def test_a_column_that_is_no_longer_restricted_is_released(target: EnforcedTarget) -> None:
    script(target)
    target.world.column(MAIL, PEOPLE, data_type="VARCHAR(20)", tags=[])
    text = script(target)
    assert 'MODIFY COLUMN "MAIL" UNSET MASKING POLICY' in text
    assert "SET MASKING POLICY" not in text.replace("UNSET MASKING POLICY", "")
    confirm(target, digest_of(text))
    assert "UNSET" not in script(target)


@pytest.mark.parametrize("how", ["deleted", "of another data source"])
def test_a_table_that_leaves_the_catalogue_stays_closed(target: EnforcedTarget, how: str) -> None:
    """Everyone who was granted it may still read it, and who may edit metadata is not who may write policies."""
    target.world.asset("shop.public.other", data_source="shop")
    confirm(target, digest_of(script(target)))
    if how == "deleted":
        target.world.person(PEOPLE, "delete")
    else:
        target.world.asset(PEOPLE, data_source="elsewhere")
    text = script(target)
    assert '"OTHER"' in text
    assert '"PEOPLE"' not in text
    assert f"-- Note: {PEOPLE}: it is no longer in the catalogue" in text
    assert confirm(target, digest_of(text))["confirmed"] is True
    assert 'MODIFY COLUMN "MAIL" UNSET MASKING POLICY' in script(target, "remove")


def test_a_table_that_is_not_in_the_script_is_not_confirmed(target: EnforcedTarget) -> None:
    """Its name has not the three parts that Snowflake's have."""
    target.world.asset("people", data_source="shop", tags=["PII"])
    confirm(target, digest_of(script(target)))
    assert target.receipts()[MAIL, "pii"]["state"] == "confirmed"
    assert target.receipts()["people", "pii"]["state"] == "failed"
    assert [one["table"] for one in target.shown()["failed_tables"]] == ["people"]
    run_all(target)
    assert target.shown()["state"] != "in line"


def test_the_script_of_the_removal_takes_all_back(target: EnforcedTarget) -> None:
    script(target)
    text = script(target, "remove")
    assert 'MODIFY COLUMN "MAIL" UNSET MASKING POLICY' in text
    assert "DROP ALL ROW ACCESS POLICIES" in text
    assert "GRANT" not in text
    assert "CREATE" not in text


def test_the_configuration_and_the_script_are_no_part_of_the_target(target: EnforcedTarget) -> None:
    script(target)
    assert target.shown()["plan"].keys() >= {"digest", "count"}
    assert not target.shown()["plan"].keys() & {"script", "written"}


def test_another_group_that_no_policy_concerns_takes_nothing_away(target: EnforcedTarget) -> None:
    """A member of `bi-team` may be in `marketing` as well."""
    target.policy("elsewhere", "allow", subject="group:marketing", resources=[{"asset": "crm"}])
    assert "MARKETING" not in script(target)
    target.policy("no", "deny", subject="group:marketing", resources=[{"asset": PEOPLE}])
    assert "NOT (IS_ROLE_IN_SESSION('MARKETING'))" in script(target).replace('"', "'").upper()


def test_a_table_that_nobody_may_read_is_closed(target: EnforcedTarget) -> None:
    target.world.asset("shop.public.closed", data_source="shop")
    for key in ("all", "mask"):
        target.policy(key, "deny", subject="user:nobody", resources=[{"asset": "crm"}])
    text = script(target)
    assert "-> FALSE" in text
    assert "GRANT" not in text
