"""Whatever the graph: reads show what the full recomputation finds, and every explanation can be replayed."""

import asyncio
from collections.abc import Callable
from typing import get_args

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from lily.lineage.definitions import Direction, OnDelete, TagDefinition
from lily.lineage.graph import Edge
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.model import ids
from lily.model.assets import SUPPRESSED
from lily.model.held import PARENT_ID
from lily.store.assets import StoredAsset
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.propagation.origins import Origins, origins_of
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.propagation.tag_paths import Derivation, derivations
from tests.api_database import opened
from tests.shared_stack import Stack
from tests.tag_oracle import TagGraph, recompute, replay

NAMES = "abcdefgh"
AT = "2026-01-01T00:00:00.000000Z/e"
FEW = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])

Read = tuple[StoredAsset, list[Derivation], Origins]


@st.composite
def graphs(draw: st.DrawFn) -> TagGraph:
    names = st.sampled_from(NAMES)
    kinds = st.sampled_from(["derived-from", "used-in", "influences"])
    edges = st.builds(Edge, names, names, kinds, st.booleans(), st.booleans())
    some = st.sets(names, max_size=3)
    drawn = draw(st.lists(edges, max_size=12, unique_by=lambda edge: edge[:3]))
    return TagGraph(
        edges={edge for edge in drawn if edge.from_id != edge.to_id},
        stated={name: {"pii"} for name in draw(some)},
        suppressed={name: {"pii"} for name in draw(some)},
        parents={child: up for child, up in draw(st.dictionaries(names, names, max_size=5)).items() if child != up},
        deleted=draw(some),
        on_delete=draw(st.sampled_from(get_args(OnDelete))),
    )


definitions = st.builds(
    TagDefinition,
    st.just("pii"),
    st.just("PII"),
    propagates=st.just(True),
    direction=st.sampled_from(get_args(Direction)),
    max_depth=st.none() | st.integers(1, 3),
    edge_types=st.none() | st.just(frozenset({"used-in", "influences"})),
    stopped_by_masking=st.booleans(),
)


def store(stack: Stack, tenant: str, graph: TagGraph, tag: TagDefinition) -> TagGraph:
    """Puts the graph in the place of what the tenant had, propagates, and gives it with ids for names."""

    def named(name: str) -> str:
        return ids.asset_id(tenant, name)

    with psycopg.connect(stack.database) as connection:
        for emptied in ("assets", "edges", "graph_nodes", "derived_tags"):
            connection.execute(f"delete from {emptied} where tenant_id = %s".encode(), [tenant])  # noqa: S608
        connection.execute("update tenants set on_delete = %s where id = %s", [graph.on_delete, tenant])
        connection.execute(
            "update tags set direction = %s, max_depth = %s, stopped_by_masking = %s, edge_types = %s "
            "where tenant_id = %s and key = 'pii'",
            [tag.direction, tag.max_depth, tag.stopped_by_masking, tag.edge_types and list(tag.edge_types), tenant],
        )
        for name in NAMES:
            fields = {"$type": "table", "name": name, "$deleted": name in graph.deleted}
            fields |= {"tags": {"pii": "PII"}} if graph.states(name, "pii") else {}
            fields |= {PARENT_ID: named(graph.parents[name])} if name in graph.parents else {}
            person = {SUPPRESSED + "pii": {"tag": "PII"}} if graph.suppressed.get(name) else None
            row = [tenant, named(name), name, Jsonb(fields), AT, person and Jsonb(person), person and AT]
            connection.execute(
                'insert into assets (tenant_id, id, qualified_name, source, source_at, "user", user_at, created_at, '
                "updated_at) values (%s, %s, %s, %s, %s, %s, %s, now(), now())",
                row,
            )
        for edge in graph.edges:
            about = Jsonb({"$deleted": False, "propagates": edge.propagates, "masking": edge.masking})
            connection.execute(
                "insert into edges (tenant_id, from_id, to_id, type, source, source_at, created_at, updated_at) "
                "values (%s, %s, %s, %s, %s, %s, now(), now())",
                [tenant, named(edge.from_id), named(edge.to_id), edge.type, about, AT],
            )
    marks = Marks(
        [AssetMark(named(name)) for name in NAMES],
        [EdgeMark(named(edge.from_id), named(edge.to_id)) for edge in graph.edges],
    )
    propagator = Propagator(stack.database_of("lily_pipeline"))
    try:
        propagator.propagate(tenant, marks)
    finally:
        propagator.close()
    return TagGraph(
        edges={edge._replace(from_id=named(edge.from_id), to_id=named(edge.to_id)) for edge in graph.edges},
        stated={named(name): tags for name, tags in graph.stated.items()},
        suppressed={named(name): tags for name, tags in graph.suppressed.items()},
        parents={named(child): named(up) for child, up in graph.parents.items()},
        deleted={named(name) for name in graph.deleted},
        on_delete=graph.on_delete,
    )


async def read(stack: Stack, tenant: str) -> list[Read]:
    async with opened(stack.database_of("lily_api")) as database:
        reader = AssetReader(database, TagRulesCache(database))
        assets = await reader.find_many(tenant, [ids.asset_id(tenant, name) for name in NAMES])
        return [
            (asset, await derivations(database, asset), await origins_of(database, asset, "pii"))
            for asset in assets.values()
        ]


@FEW
@given(graphs(), definitions)
def test_reads_show_what_the_recomputation_finds_and_explain_it(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], drawn: TagGraph, tag: TagDefinition
) -> None:
    tenant, _ = make_tenant()
    graph = store(stack, tenant, drawn, tag)
    kinds = {"influenced": "propagated"}  # reads show one layer for what came along edges
    expected = {(one.asset, kinds.get(one.kind, one.kind)) for one in recompute(graph, [tag])}
    found = asyncio.run(read(stack, tenant))
    shown = {
        (asset.id, kind) for asset, _, _ in found for kind in ("propagated", "inherited") if asset.view["tags"][kind]
    }
    assert shown == expected
    for asset, explained, origins in found:
        assert {(asset.id, one.kind) for one in explained} == {one for one in expected if one[0] == asset.id}
        for one in explained:
            assert replay(one.path, graph, tag) == []
            assert one.path[0] in origins.ids
        derives = any(one[0] == asset.id for one in expected)
        effective = graph.states(asset.id, "pii") or (derives and not graph.suppresses(asset.id, "pii"))
        assert asset.view["tags"]["effective"] == (["PII"] if effective else [])
