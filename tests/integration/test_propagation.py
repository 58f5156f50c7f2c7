"""Tags travel along the graph: the classic cases by name, against PostgreSQL."""

import re
from collections.abc import Iterator
from itertools import pairwise

import psycopg
import pytest

from tests.lineage_world import World


@pytest.fixture
def world(parked: World) -> Iterator[World]:
    yield parked
    parked.settle()
    assert parked.stored() == parked.recomputed()
    assert parked.unexplained() == []


def chain(world: World, *names: str, tagged: str | None = None) -> None:
    for name in names:
        world.asset(name, **({"tags": ["PII"]} if name == tagged else {}))
    for start, end in pairwise(names):
        world.edge(start, end)
    world.settle()


def test_a_tag_reaches_everything_downstream_and_nothing_upstream(world: World) -> None:
    chain(world, "a", "b", "c", "d", tagged="b")
    assert world.derived() == {"c", "d"}


def test_a_diamond_is_reached_once(world: World) -> None:
    chain(world, "top", "left", "bottom", tagged="top")
    chain(world, "top", "right", "bottom")
    world.asset("top", tags=["PII"])
    world.settle()
    assert world.derived() == {"left", "right", "bottom"}


def test_a_tag_with_two_origins_survives_the_loss_of_one(world: World) -> None:
    chain(world, "first", "both")
    chain(world, "second", "both", "below")
    world.person("first", "tag", tag="PII")
    world.person("second", "tag", tag="PII")
    world.settle()
    world.person("first", "untag", tag="PII")
    world.settle()
    assert world.derived() == {"both", "below"}
    world.person("second", "untag", tag="PII")
    world.settle()
    assert world.derived() == set()


def test_one_path_blocked_while_another_survives(world: World) -> None:
    chain(world, "a", "short", "end", tagged="a")
    chain(world, "a", "long", "longer", "end")
    world.asset("a", tags=["PII"])
    world.edge("short", "end", propagates=False)
    world.settle()
    assert world.derived() == {"short", "long", "longer", "end"}
    world.edge("longer", "end", propagates=False)
    world.settle()
    assert world.derived() == {"short", "long", "longer"}
    world.edge("short", "end", propagates=True)
    world.settle()
    assert "end" in world.derived()


def test_a_tag_can_travel_both_ways(world: World) -> None:
    world.define("secret", direction="both")
    chain(world, "a", "b", "c")
    chain(world, "x", "b")
    world.person("b", "tag", tag="secret")
    world.settle()
    assert world.derived("secret") == {"a", "c", "x"}


def test_a_tag_can_travel_upstream_alone(world: World) -> None:
    world.define("quality", direction="upstream")
    chain(world, "a", "b", "c")
    world.person("b", "tag", tag="quality")
    world.settle()
    assert world.derived("quality") == {"a"}


def test_when_the_source_says_public_all_that_it_caused_goes(world: World) -> None:
    chain(world, "a", "b", "c", tagged="a")
    chain(world, "other", "c")
    world.person("other", "tag", tag="PII")
    world.settle()
    world.asset("a", tags=["public"])
    world.settle()
    assert world.derived() == {"c"}


def test_a_masked_edge_stops_pii_and_lets_gdpr_pass(world: World) -> None:
    chain(world, "a", "b", "c")
    world.asset("a", tags=["PII", "GDPR"])
    world.edge("a", "b", masking=True)
    world.settle()
    assert world.derived("pii") == set()
    assert world.derived("gdpr") == {"b", "c"}


def test_an_edge_may_come_before_its_assets(world: World) -> None:
    world.edge("a", "b")
    world.edge("b", "c")
    world.settle()
    world.asset("a", tags=["PII"])
    world.settle()
    assert world.derived() == {world.id_of("b"), world.id_of("c")}
    world.asset("b")
    world.asset("c")
    world.settle()
    assert world.derived() == {"b", "c"}


def test_a_circle_ends_and_does_not_support_itself(world: World) -> None:
    chain(world, "a", "b", "c")
    world.edge("c", "b")
    world.edge("c", "a")
    world.person("a", "tag", tag="PII")
    world.settle()
    assert world.derived() == {"b", "c"}
    world.person("a", "untag", tag="PII")
    world.settle()
    assert world.derived() == set()


def test_an_inherited_tag_travels_on_along_a_descendants_own_edges(world: World) -> None:
    world.asset("db", tags=["PII"])
    world.asset("db.table", parent="db")
    world.asset("db.table.column", parent="db.table")
    world.asset("report")
    world.edge("db.table.column", "report")
    world.settle()
    assert world.derived() == {"report"}
    world.asset("db", tags=[])
    world.settle()
    assert world.derived() == set()


def test_what_a_person_suppressed_does_not_travel_on(world: World) -> None:
    chain(world, "a", "b", "c", tagged="a")
    world.person("b", "suppress", tag="PII", reason="hashed on the way")
    world.settle()
    assert world.derived() == {"b"}
    world.person("b", "unsuppress", tag="PII")
    world.settle()
    assert world.derived() == {"b", "c"}


def test_an_origin_that_comes_after_a_suppression_is_reported(world: World) -> None:
    chain(world, "a", "b", "c", tagged="a")
    world.person("c", "suppress", tag="PII", reason="hashed on the way", origins=[world.id_of("a")])
    world.settle()
    assert world.new_origins() == set()
    chain(world, "other", "b", tagged="other")
    assert world.new_origins() == {("c", "other")}
    world.person("c", "unsuppress", tag="PII")
    world.settle()
    assert world.new_origins() == set()


def test_deleting_an_asset_does_not_declassify_what_was_derived_from_it(world: World) -> None:
    chain(world, "a", "b", "c", tagged="a")
    world.person("b", "delete")
    world.settle()
    assert world.derived() == {"b", "c"}
    world.on_delete("cut")
    world.settle()
    assert world.derived() == {"b"}
    world.person("b", "restore")
    world.settle()
    assert world.derived() == {"b", "c"}


def test_a_tag_goes_no_further_than_its_definition_says(world: World) -> None:
    world.define("near", max_depth=2)
    chain(world, "a", "b", "c", "d")
    world.person("a", "tag", tag="near")
    world.settle()
    assert world.derived("near") == {"b", "c"}
    world.edge("a", "c")
    world.settle()
    assert world.derived("near") == {"b", "c", "d"}


def test_a_tag_follows_only_the_types_of_edges_that_it_names(world: World) -> None:
    world.define("usage", edge_types=["used-in"])
    chain(world, "a", "b")
    world.asset("c")
    world.edge("a", "c", "used-in")
    world.person("a", "tag", tag="usage")
    world.settle()
    assert world.derived("usage") == {"c"}


def test_a_definition_that_goes_takes_what_it_caused_along(world: World) -> None:
    world.define("secret")
    chain(world, "a", "b")
    world.person("a", "tag", tag="secret")
    world.settle()
    assert world.derived("secret") == {"b"}
    world.undefine("secret")
    world.settle()
    assert world.derived("secret") == set()


def test_marking_again_what_was_done_changes_nothing(world: World) -> None:
    chain(world, "a", "b", "c", tagged="a")
    before = world.stored()
    world.asset("a", tags=["PII"])
    world.edge("a", "b")
    assert world.settle().reached == 0
    assert world.stored() == before


def test_what_an_asset_passes_on_is_looked_up_in_its_tenant_alone(owner: psycopg.Connection) -> None:
    call = "select c.depth from derived_tags d cross join lateral carried(d.tenant_id, d.tag, d.via, false) c"
    with owner.transaction():
        owner.execute("set local enable_seqscan = off; set local enable_bitmapscan = off")
        plan = "\n".join(line for (line,) in owner.execute(f"explain (costs off) {call}").fetchall())
    conditions = re.findall(r"on assets\b.*\n +Index Cond: (.*)", plan)
    assert conditions, plan
    assert all("tenant_id" in condition for condition in conditions), plan
