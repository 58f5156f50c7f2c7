"""What incidents put at risk: it travels downstream, is cleared exactly, and equals plain reachability."""

import random
from collections.abc import Callable

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lily.store.postgres.recompute.risk_drift import RiskDifference, RiskDrift, find_risk_drift, repair_risks
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.risks import Risks, RiskWorld

NAMES = ("a", "b", "c", "d", "e", "f")
OF_LAKE = ("x", "y")  # ends of edges that are never ingested: columns that only the lake has
INCIDENTS = ("one", "two", "three")
TYPES = ("derived-from", "influences")


@pytest.fixture
def estate(risks: Risks, make_world: Callable[[], World]) -> RiskWorld:
    """raw above raw.orders → mart.orders → bi.sales, and raw.orders.id → mart.orders.id beside it."""
    estate = RiskWorld(risks, make_world())
    world = estate.world
    for name in ("raw", "mart.orders", "bi.sales"):
        world.asset(name)
    world.asset("raw.orders", parent="raw")
    world.column("raw.orders.id", "raw.orders")
    world.column("mart.orders.id", "mart.orders")
    world.edge("mart.orders", "bi.sales")
    world.edge("raw.orders", "mart.orders", masking=True)
    world.edge("raw.orders.id", "mart.orders.id")
    estate.deliver()
    return estate


def names_of(estate: RiskWorld, incident: str) -> set[str]:
    known = {
        estate.world.id_of(name): name for name in ("raw", "raw.orders", "mart.orders", "mart.orders.id", "bi.sales")
    }
    return {known[asset] for found, asset in estate.stored() if found == incident}


def test_an_incident_puts_everything_downstream_at_risk_and_its_resolution_clears_exactly_that(
    estate: RiskWorld,
) -> None:
    first = estate.incident("one", "raw.orders")
    estate.deliver()
    assert names_of(estate, first) == {"raw.orders", "mart.orders", "mart.orders.id", "bi.sales"}
    second = estate.incident("two", "mart.orders")
    estate.deliver()
    assert names_of(estate, second) == {"mart.orders", "bi.sales"}
    estate.incident("one", state="resolved")
    estate.deliver()
    assert names_of(estate, first) == set()
    assert names_of(estate, second) == {"mart.orders", "bi.sales"}
    estate.incident("two", state="resolved")
    estate.deliver()
    assert estate.stored() == estate.announced() == set()


def test_announcements_name_the_assets_that_the_incident_itself_concerns(estate: RiskWorld) -> None:
    orders, sales = estate.world.id_of("raw.orders"), estate.world.id_of("bi.sales")
    incident = estate.incident("one", "raw.orders")
    estate.deliver()
    estate.incident("one", "bi.sales")  # at risk already: nothing to announce
    estate.world.asset("bi.costs")
    estate.world.edge("bi.sales", "bi.costs")
    estate.deliver()
    estate.incident("one", state="resolved")
    estate.deliver()
    assert estate.announced_own(incident) == [
        ("at_risk", [orders]),
        ("at_risk", []),
        ("clear", sorted([orders, sales])),
    ]


def test_an_incident_of_a_schema_conducts_along_the_edges_of_its_columns(estate: RiskWorld) -> None:
    incident = estate.incident("one", "raw")
    estate.deliver()
    assert names_of(estate, incident) == {"raw", "mart.orders", "mart.orders.id", "bi.sales"}
    shown = {asset for _, asset in estate.shown(["raw.orders.id", "raw.orders", "bi.sales"])}
    assert shown == {estate.world.id_of(name) for name in ("raw.orders.id", "raw.orders", "bi.sales")}


def test_a_blocked_edge_does_not_conduct_and_a_deleted_asset_does(estate: RiskWorld) -> None:
    incident = estate.incident("one", "raw.orders")
    estate.world.person("mart.orders", "delete")
    estate.deliver()
    assert "bi.sales" in names_of(estate, incident)
    estate.world.edge("mart.orders", "bi.sales", propagates=False)
    estate.deliver()
    assert names_of(estate, incident) == {"raw.orders", "mart.orders", "mart.orders.id"}
    estate.world.edge("mart.orders", "bi.sales", propagates=True)
    estate.deliver()
    assert "bi.sales" in names_of(estate, incident)


def test_an_acknowledged_incident_still_puts_at_risk_and_nothing_is_announced_again(estate: RiskWorld) -> None:
    estate.incident("one", "raw.orders")
    estate.deliver()
    before = estate.stored()
    estate.incident("one", state="acknowledged")
    estate.deliver()
    assert estate.stored() == before == estate.announced()


def test_what_two_incidents_share_is_cleared_for_each_of_them(estate: RiskWorld) -> None:
    first, second = estate.incident("one", "raw.orders"), estate.incident("two", "mart.orders")
    estate.deliver()
    estate.incident("one", state="resolved")
    estate.world.unlink("mart.orders", "bi.sales")  # so the other one is computed again in the same turn
    estate.deliver()
    assert (names_of(estate, first), names_of(estate, second)) == (set(), {"mart.orders"})
    estate.incident("three", "raw.orders")
    estate.deliver()
    for name in ("two", "three"):
        estate.incident(name, state="resolved")
    estate.deliver()
    assert estate.stored() == estate.announced() == set()


def test_an_edge_conducts_what_an_acknowledged_incident_puts_at_risk(estate: RiskWorld) -> None:
    incident = estate.incident("one", "raw.orders", state="acknowledged")
    estate.world.unlink("mart.orders", "bi.sales")
    estate.deliver()
    assert "bi.sales" not in names_of(estate, incident)
    estate.world.edge("mart.orders", "bi.sales")
    estate.deliver()
    assert "bi.sales" in names_of(estate, incident)


def test_a_parent_that_comes_later_than_the_edges_below_it_puts_them_at_risk(estate: RiskWorld) -> None:
    """Propagation has not handled the edge yet, so only the hierarchy itself tells that the parent matters."""
    world = estate.world
    world.asset("late.table", parent="late")
    world.edge("late.table", "late.report")
    estate.incident("one", "raw")
    estate.deliver()
    assert estate.stored() == estate.expected()
    world.asset("late", parent="raw")
    estate.deliver()
    assert estate.stored() == estate.expected() == estate.announced()


def test_a_recomputation_finds_and_repairs_what_is_missing_and_what_is_surplus(
    estate: RiskWorld, migrated: Migrated, owner: psycopg.Connection
) -> None:
    incident, tenant = estate.incident("one", "raw"), estate.world.tenant
    estate.deliver()
    assert find_risk_drift(migrated.owner, tenant) == RiskDrift(4, [])
    lost, stray = estate.world.id_of("bi.sales"), estate.world.id_of("stray")
    owner.execute("delete from at_risk where tenant_id = %s and asset_id = %s", [tenant, lost])
    owner.execute(
        "insert into at_risk (tenant_id, incident_id, asset_id) values (%s, %s, %s)", [tenant, incident, stray]
    )
    drift = find_risk_drift(migrated.owner, tenant)
    differences = {
        RiskDifference(tenant, incident, lost, "missing"),
        RiskDifference(tenant, incident, stray, "surplus"),
    }
    assert set(drift.differences) == differences
    repair_risks(migrated.owner, drift)
    assert find_risk_drift(migrated.owner, tenant) == RiskDrift(4, [])


def change(estate: RiskWorld, chance: random.Random) -> None:
    """One random statement about the graph or about an incident, or a step of another part of the worker."""
    world = estate.world
    name, other = chance.sample((*NAMES, *OF_LAKE), 2)
    asset = chance.choice(NAMES)
    incident, kind = chance.choice(INCIDENTS), chance.choice(TYPES)
    steps: list[Callable[[], object]] = [
        lambda: world.edge(name, other, kind),
        lambda: world.edge(other, name, kind, masking=chance.random() < 0.3),
        lambda: world.edge(name, other, kind, propagates=chance.random() < 0.5),
        lambda: world.unlink(name, other, kind),
        lambda: world.asset(asset, parent=chance.choice([None, *(set(NAMES) - {asset})])),
        lambda: world.asset(asset, parent=chance.choice(sorted(set(NAMES) - {asset}))),
        lambda: world.person(asset, chance.choice(["delete", "restore"])),
        lambda: estate.lake_parent(chance.choice(OF_LAKE), chance.choice([None, *NAMES])),
        lambda: estate.incident(incident, *chance.sample(NAMES, chance.randint(1, 2))),
        lambda: estate.incident(incident, chance.choice(OF_LAKE)),
        lambda: estate.incident(incident, state=chance.choice(["acknowledged", "resolved"])),
        lambda: estate.incident(incident, state="resolved"),
        world.settle,
        estate.relay,
    ]
    chance.choice(steps)()


CHANCE = st.randoms(use_true_random=False)
ROUNDS = st.lists(
    st.integers(1, 12), min_size=1, max_size=4
)  # how many changes, before all that is pending is delivered


@settings(max_examples=8, deadline=None)
@given(chance=CHANCE, rounds=ROUNDS)
def test_what_is_at_risk_is_what_can_be_reached_whatever_happened_before(
    risks: Risks, migrated: Migrated, make_world: Callable[[], World], chance: random.Random, rounds: list[int]
) -> None:
    compare(RiskWorld(risks, make_world()), migrated, chance, rounds)


@pytest.mark.campaign
@pytest.mark.timeout(900)
@settings(max_examples=150, deadline=None)
@given(chance=CHANCE, rounds=ROUNDS)
def test_the_same_for_many_more_graphs(
    risks: Risks, migrated: Migrated, make_world: Callable[[], World], chance: random.Random, rounds: list[int]
) -> None:
    compare(RiskWorld(risks, make_world()), migrated, chance, rounds)


def compare(estate: RiskWorld, migrated: Migrated, chance: random.Random, rounds: list[int]) -> None:
    """After each round: what is stored, announced, explained and shown, against the oracle and `lily recompute`."""
    for changes in rounds:
        for _ in range(changes):
            change(estate, chance)
        estate.deliver(chance)
        expected = estate.expected()
        assert estate.stored() == expected
        assert estate.announced() == expected
        assert estate.unexplained() == set()
        assert find_risk_drift(migrated.owner, estate.world.tenant).differences == []
        assert estate.shown((*NAMES, *OF_LAKE)) == estate.expected_shown((*NAMES, *OF_LAKE))
