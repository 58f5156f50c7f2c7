"""Which tables and principals are in the messages to a target that cannot be read."""

from collections.abc import Callable

import psycopg
import pytest

from lily.store.postgres.enforcement import catalogue
from tests.badserver import BadServer
from tests.lineage_world import World
from tests.postgres.enforcement import EnforcedTarget, changed_asset
from tests.postgres.outbound_target.messages import PEOPLE, PLAIN, effects, types
from tests.webhook_tool import known_tables


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
