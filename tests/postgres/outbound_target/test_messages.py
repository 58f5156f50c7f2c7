"""A target that cannot be read gets what changed, once, with the versions under which it was announced."""

from lily.model import governance
from lily.store.postgres.enforcement import targets
from tests.badserver import BadServer, Reply
from tests.postgres.enforcement import KEY, EnforcedTarget, changed_asset, event_of
from tests.postgres.outbound_target.messages import PEOPLE, PLAIN, types
from tests.webhook_tool import known_tables, verified


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
