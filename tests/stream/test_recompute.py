"""Spark, the oracle and PostgreSQL derive the same tags, and drift is found and repaired."""

import uuid
from collections.abc import Iterator
from random import Random
from typing import LiteralString

import psycopg
import pytest

from lily.pipeline.recompute.drift import Drift, find_drift, repair
from lily.pipeline.recompute.snapshot import read_snapshot
from lily.pipeline.recompute.tag_recomputation import recompute
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.propagation.propagator import Propagator
from tests.lineage_world import World
from tests.stream.conftest import Lake
from tests.tag_oracle import Derived

# PySpark leaves the socket of a collected result to the garbage collector.
pytestmark = [
    pytest.mark.campaign,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(600),
]

SEEDS = range(5)
NAMES = [f"asset{number}" for number in range(14)]
TAGS = ["pii", "gdpr", "secret", "near"]
KINDS = ["derived-from", "used-in", "influences"]


@pytest.fixture(scope="module")
def owner(lake: Lake) -> Iterator[psycopg.Connection]:
    with psycopg.connect(lake.owner, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def worlds(lake: Lake, owner: psycopg.Connection) -> Iterator[list[World]]:
    store, propagator = CatalogueWriter(lake.settings.database_url), Propagator(lake.settings.database_url)
    made = []
    for seed in SEEDS:
        tenant = f"t{uuid.uuid4().hex[:12]}"
        create_tenant(lake.owner, tenant)
        made.append(World(tenant, store, propagator, owner))
        grow(made[-1], Random(seed))
    yield made
    propagator.close()
    store.close()


def grow(world: World, random: Random) -> None:
    """Applies random changes to a graph with cycles."""
    for _ in range(120):
        happen(world, random)
        if random.random() < 0.1:
            world.settle()
    world.settle()


def happen(world: World, random: Random) -> None:
    one, other = random.sample(NAMES, 2)
    tag, kind, yes = random.choice(TAGS), random.choice(KINDS), random.random() < 0.5
    match random.choices(range(9), [25, 10, 3, 8, 3, 3, 3, 3, 1])[0]:
        case 0:
            world.edge(one, other, kind, **random.choice([{}, {}, {"masking": yes}, {"propagates": yes}]))
        case 1:
            world.person(one, "tag" if random.random() < 0.7 else "untag", tag=tag)
        case 2:
            world.unlink(one, other, kind)
        case 3:
            world.asset(one, parent=other)
        case 4:
            world.asset(one, parent=None, tags=[tag] if yes else [])
        case 5:
            world.person(one, "suppress" if yes else "unsuppress", tag=tag, **({"reason": "because"} if yes else {}))
        case 6:
            world.person(one, "delete" if yes else "restore")
        case 7:
            world.define(
                tag,
                propagates=random.random() < 0.9,
                direction=random.choice(["downstream", "upstream", "both"]),
                max_depth=random.choice([None, None, 1, 2]),
                edge_types=random.choice([None, None, ["used-in"], ["used-in", "influences"]]),
                stopped_by_masking=yes,
            )
        case _:
            world.on_delete("cut" if yes else "keep")


def looked_at(lake: Lake, tenant: str | None = None) -> Drift:
    return find_drift(lake.spark, lake.settings.database_url, tenant, timeout=0)


def test_spark_the_oracle_and_the_stored_tags_agree_on_random_graphs(lake: Lake, worlds: list[World]) -> None:
    stored = read_snapshot(lake.spark, lake.settings.database_url, None, timeout=0)
    rows = recompute(stored.graphs).select("tenant", "id", "tag", "kind", "depth").distinct().collect()
    derived: dict[str, set[Derived]] = {world.tenant: set() for world in worlds}
    for row in rows:
        derived.setdefault(row["tenant"], set()).add(Derived(row["id"], row["tag"], row["kind"], row["depth"]))
    for seed, world in zip(SEEDS, worlds, strict=True):
        assert derived[world.tenant] == world.recomputed(), f"seed {seed}"
        assert derived[world.tenant] == world.stored(), f"seed {seed}"
    kinds = [(one.kind, one.depth > 1) for found in derived.values() for one in found]
    assert min(kinds.count((kind, far)) for kind in ("propagated", "inherited") for far in (False, True)) > 5


def test_there_is_no_drift_without_tampering(lake: Lake, worlds: list[World]) -> None:
    drift = looked_at(lake)
    assert drift.counts == {"missing": 0, "surplus": 0, "different": 0}
    assert drift.tenants >= len(worlds)
    assert drift.derived >= sum(len(world.stored()) for world in worlds)


def test_tampering_is_found_and_repaired(lake: Lake, worlds: list[World], owner: psycopg.Connection) -> None:
    """Missing rows, surplus rows, wrong depths, wrong neighbours, undefined tags."""
    world = max(worlds, key=lambda world: len(world.stored()))
    before = world.stored()
    rows = owner.execute(
        "select asset_id, tag, kind from derived_tags where tenant_id = %s order by asset_id, tag, kind", [world.tenant]
    ).fetchall()
    lost, nearer, farther, elsewhere = Random(1).sample(rows, 4)
    of_row: LiteralString = "where tenant_id = %s and asset_id = %s and tag = %s and kind = %s"
    for change, row in (
        ("delete from derived_tags ", lost),
        ("update derived_tags set depth = depth - 1 ", nearer),
        ("update derived_tags set depth = depth + 7 ", farther),
        ("update derived_tags set via = gen_random_uuid() ", elsewhere),
    ):
        owner.execute(change + of_row, [world.tenant, *row])
    nowhere, stranger = uuid.uuid4(), uuid.uuid4()
    for asset, tag in ((nowhere, "pii"), (stranger, "undefined")):
        owner.execute(
            "insert into derived_tags (tenant_id, tag, asset_id, kind, via, depth, steps, root) "
            "values (%s, %s, %s, 'propagated', %s, 1, 1, %s)",
            [world.tenant, tag, asset, nowhere, nowhere],
        )
    drift = looked_at(lake, world.tenant)
    assert drift.counts == {"missing": 1, "surplus": 2, "different": 3}
    assert {row["problem"] for row in drift.examples()} == {"missing", "surplus", "different"}
    assert drift.tenants == 1

    repair(lake.settings.database_url, drift)
    assert looked_at(lake).any == 0
    assert world.stored() == before
    assert world.unexplained() == []


def test_all_derived_tags_can_be_rebuilt(lake: Lake, worlds: list[World], owner: psycopg.Connection) -> None:
    before = [world.stored() for world in worlds]
    for world in worlds:
        owner.execute("delete from derived_tags where tenant_id = %s", [world.tenant])
        owner.execute("delete from graph_nodes where tenant_id = %s", [world.tenant])
    drift = looked_at(lake)
    assert drift.counts["missing"] > 0
    repair(lake.settings.database_url, drift)
    assert looked_at(lake).any == 0
    kept = [{one for one in stored if one.kind == "propagated"} for stored in before]
    assert [{one for one in world.stored() if one.kind == "propagated"} for world in worlds] == kept
