"""Reads a tenant's stored graph for the oracles, and its stored derived tags and values."""

import psycopg

from lily.lineage.attribute_recomputation import DerivedByItem
from lily.lineage.attribute_rules import AttributeRule, DerivedValue, StatedValue
from lily.lineage.definitions import TagDefinition
from lily.lineage.graph import Edge
from lily.store.postgres.definitions.rules import rule_of
from tests import attribute_oracle
from tests.tag_oracle import Derived, TagGraph, recompute


def stored_graph(connection: psycopg.Connection, tenant: str) -> TagGraph:
    """With the edges that conduct tags, whether they are shown or not."""
    graph = TagGraph()
    for row in connection.execute(
        "select from_id::text, to_id::text, type, true, conduction = 1 from edges "
        "where tenant_id = %s and conduction > 0",
        [tenant],
    ):
        graph.edges.add(Edge(*row))
    for asset, stated, suppressed, parent, deleted, cut, held in connection.execute(
        "select id::text, stated, suppressed, parent, is_deleted, is_cut, held_parents::text[] from assets "
        "where tenant_id = %s",
        [tenant],
    ):
        if stated:
            graph.stated[asset] = set(stated)
        if suppressed:
            graph.suppressed[asset] = set(suppressed)
        if parent:
            graph.parents[asset] = parent
        if deleted:
            graph.deleted.add(asset)
        if cut:
            graph.cut.add(asset)
        if held:
            graph.held_parents[asset] = set(held)
    ((graph.on_delete,),) = connection.execute("select on_delete from tenants where id = %s", [tenant]).fetchall()
    return graph


def shown_graph(connection: psycopg.Connection, tenant: str) -> TagGraph:
    """With the edges that are shown."""
    graph = stored_graph(connection, tenant)
    rows = connection.execute(
        "select from_id::text, to_id::text, type, propagates, masking from edges "
        "where tenant_id = %s and not is_deleted",
        [tenant],
    )
    graph.edges = {Edge(*row) for row in rows}
    return graph


def stored_definitions(connection: psycopg.Connection, tenant: str) -> list[TagDefinition]:
    rows = connection.execute(
        "select key, name, propagates, direction, max_depth, edge_types, stopped_by_masking from tags "
        "where tenant_id = %s",
        [tenant],
    )
    return [
        TagDefinition(key, name, propagates, direction, depth, None if types is None else frozenset(types), stopped)
        for key, name, propagates, direction, depth, types, stopped in rows
    ]


def stored_derived(connection: psycopg.Connection, tenant: str) -> set[Derived]:
    rows = connection.execute(
        "select asset_id::text, tag, kind, depth from derived_tags where tenant_id = %s", [tenant]
    )
    return {Derived(*row) for row in rows}


def expected_derived(connection: psycopg.Connection, tenant: str) -> set[Derived]:
    """The recomputed tags. Inherited ones are stored only for assets in the graph."""
    derived = recompute(stored_graph(connection, tenant), stored_definitions(connection, tenant))
    nodes = {node for (node,) in connection.execute("select id::text from graph_nodes where tenant_id = %s", [tenant])}
    return {one for one in derived if one.kind != "inherited" or one.asset in nodes}


def stored_rules(connection: psycopg.Connection, tenant: str) -> list[AttributeRule]:
    rows = connection.execute(
        "select key, name, attribute, mode, direction, max_depth, edge_types from propagation_rules "
        "where tenant_id = %s order by key",
        [tenant],
    )
    return [rule_of(row) for row in rows]


def stored_holders(connection: psycopg.Connection, tenant: str, attribute: str) -> dict[str, StatedValue]:
    rows = connection.execute(
        'select id::text, source -> %(attribute)s, "user" -> %(attribute)s from assets where tenant_id = %(tenant)s',
        {"tenant": tenant, "attribute": attribute},
    )
    return {asset: StatedValue(source, user) for asset, source, user in rows}


def stored_values(connection: psycopg.Connection, tenant: str) -> dict[tuple[str, str], DerivedByItem]:
    """By rule and attribute."""
    rows = connection.execute(
        "select rule, attribute, asset_id::text, item, value, via::text, depth from derived_attributes "
        "where tenant_id = %s",
        [tenant],
    )
    found: dict[tuple[str, str], DerivedByItem] = {}
    for rule, attribute, asset, item, *label in rows:
        found.setdefault((rule, attribute), {})[asset, item] = DerivedValue(*label)
    return found


def expected_values(connection: psycopg.Connection, tenant: str) -> dict[tuple[str, str], DerivedByItem]:
    graph = shown_graph(connection, tenant)
    found = {
        (rule.key, rule.attribute): attribute_oracle.expected_values(
            graph, rule, stored_holders(connection, tenant, rule.attribute)
        )
        for rule in stored_rules(connection, tenant)
    }
    return {about: values for about, values in found.items() if values}
