"""Which columns have decisions of their own in the messages to a target that cannot be read."""

import psycopg
import pytest

from tests.badserver import BadServer
from tests.postgres.enforcement import EnforcedTarget, changed_asset
from tests.postgres.outbound_target.messages import MAIL, PEOPLE, effects
from tests.webhook_tool import known_tables


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
