"""Policies about what happens to assets: deleted, dropped, made private, orphaned."""

from lily.model import governance
from lily.model.assets import DELETED
from lily.model.layers import TAGS
from tests.postgres.quality import Watched
from tests.postgres.quality_policies.watched import DEVIATION, ORDERS, changed


def test_a_deleted_asset_is_stated_and_resolved_when_it_is_restored(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.policy("p", asset="*", policy_type="deleted_asset")
    watched.pass_over("p")
    watched.world.person(ORDERS, "delete")
    assert watched.react(changed(watched, ORDERS, DELETED)) == 1
    assert watched.open() == {("p", ORDERS, "deleted")}
    watched.world.person(ORDERS, "restore")
    watched.react(changed(watched, ORDERS, DELETED))
    assert watched.open() == set()
    assert [said["state"] for said in watched.statements()] == ["open", "resolved"]


def test_what_was_deleted_before_the_policy_is_not_stated_until_it_happens_again(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.world.person(ORDERS, "delete")
    watched.policy("p", asset="*", policy_type="deleted_asset")
    watched.pass_over("p")
    assert watched.statements() == []
    watched.world.person(ORDERS, "restore")
    watched.react(changed(watched, ORDERS, DELETED))
    assert watched.statements() == []
    watched.world.person(ORDERS, "delete")
    watched.react(changed(watched, ORDERS, DELETED))
    assert [said["state"] for said in watched.statements()] == ["open"]


def test_an_asset_deleted_before_a_new_policy_was_first_judged_is_stated(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.policy("p", asset="*", policy_type="deleted_asset")
    watched.world.person(ORDERS, "delete")
    watched.pass_over("p")
    assert watched.open() == {("p", ORDERS, "deleted")}


def test_a_column_with_users_that_is_dropped_or_made_private_is_stated(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    for name in ("mail", "phone", "note"):
        watched.world.column(f"{ORDERS}.{name}", ORDERS)
    watched.world.edge(f"{ORDERS}.mail", "bi.customers")
    watched.use(f"{ORDERS}.phone", {2: 40})
    watched.policy("p", asset="*", policy_type="column_dropped")
    watched.pass_over("p")
    for name in ("mail", "note"):
        watched.world.person(f"{ORDERS}.{name}", "delete")
    watched.world.person(f"{ORDERS}.phone", "upsert", attributes={"tags": ["Private"]})
    columns = [f"{ORDERS}.{name}" for name in ("mail", "phone", "note")]
    watched.react(*(changed(watched, name, DELETED, TAGS) for name in columns))
    assert watched.open() == {("p", f"{ORDERS}.mail", "dropped"), ("p", f"{ORDERS}.phone", "private")}
    watched.world.unlink(f"{ORDERS}.mail", "bi.customers")
    edge = governance.edge_record(watched.id_of(f"{ORDERS}.mail"), watched.id_of("bi.customers"), 1, "")
    watched.react(edge)
    assert watched.open() == {("p", f"{ORDERS}.phone", "private")}


def test_an_orphan_has_nothing_downstream_of_it_or_of_its_columns(watched: Watched) -> None:
    for name in ("shop.a", "shop.b", "shop.c"):
        watched.world.asset(name)
    watched.world.column("shop.b.id", "shop.b")
    watched.world.edge("shop.b.id", "bi.x")
    watched.world.settle()
    watched.age("shop.a", "shop.b", "shop.c")
    watched.use("shop.c", dict.fromkeys(range(40), 1))
    watched.policy("p", asset="*", policy_type="orphaned_asset", filters={"entity_types": ["table"]})
    watched.pass_over("p")
    assert watched.open() == {("p", "shop.a", "orphaned")}
    watched.world.edge("shop.a", "bi.y")
    edges = [("shop.c", "bi.z"), ("shop.a", "bi.y")]
    changed = [governance.EdgeChanged(watched.id_of(start), watched.id_of(end), 1) for start, end in edges]
    watched.react(governance.edges_record(changed))
    assert watched.open() == set()


def test_what_was_deleted_does_not_count_as_downstream(watched: Watched) -> None:
    for name in ("shop.a", "bi.x"):
        watched.world.asset(name)
    watched.world.edge("shop.a", "bi.x")
    watched.age("shop.a", "bi.x")
    watched.use("shop.c", dict.fromkeys(range(40), 1))
    watched.policy("p", asset="shop.a", policy_type="orphaned_asset")
    watched.pass_over("p")
    assert watched.open() == set()
    watched.world.person("bi.x", "delete")
    watched.pass_over("p")
    assert watched.open() == {("p", "shop.a", "orphaned")}


def test_changes_cost_a_tenant_without_such_policies_no_job(watched: Watched) -> None:
    watched.world.asset(ORDERS)
    watched.world.person(ORDERS, "delete")
    record = changed(watched, ORDERS, DELETED)
    assert watched.react(record) == 0
    watched.policy("p", **DEVIATION)
    assert watched.react(record) == 0
    watched.policy("q", asset="shop.other", policy_type="deleted_asset")
    assert watched.react(record) == 0
    watched.policy("q", asset=ORDERS, policy_type="deleted_asset")
    assert watched.react(record) == 1
