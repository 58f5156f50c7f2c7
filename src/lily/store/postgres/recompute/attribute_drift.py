"""Compares the stored derived attributes with a recomputation, and repairs differences.

It loads the graph of one tenant at a time into memory and recomputes in Python, because few tenants have rules.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg import Connection

from lily.lineage.attribute_recomputation import DerivedByItem, recompute_attribute
from lily.lineage.attribute_rules import AttributeRule, DerivedValue, StatedValue, canonical
from lily.lineage.graph import Edge, Graph
from lily.lineage.marks import Marks
from lily.store.postgres.definitions.rules import rule_of
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.queries import query
from lily.store.postgres.recompute.committed_state import committed_state

MAX_EXAMPLES = 10
PROBLEMS = ("missing", "surplus", "different")


class Difference(NamedTuple):
    tenant: str
    rule: str
    attribute: str
    id: str
    item: str
    problem: str


@dataclass(frozen=True, slots=True)
class AttributeDrift:
    derived: int  # expected
    differences: list[Difference]

    def report(self) -> dict[str, Any]:
        counts = {problem: sum(one.problem == problem for one in self.differences) for problem in PROBLEMS}
        return {
            "derived": self.derived,
            **counts,
            "examples": [one._asdict() for one in self.differences[:MAX_EXAMPLES]],
        }


def find_attribute_drift(database_url: str, tenant: str | None = None) -> AttributeDrift:
    derived, differences = 0, list[Difference]()
    with committed_state(database_url) as connection:
        for name, on_delete in connection.execute(query("recompute/rule_tenants")).fetchall():
            if tenant in {None, name}:
                expected = _expected(connection, name, on_delete)
                derived += sum(len(values) for values in expected.values())
                differences += _differences(name, expected, _stored(connection, name))
    return AttributeDrift(derived, differences)


def repair_attributes(database_url: str, drift: AttributeDrift) -> None:
    """Recomputes all values of every rule with a difference. Idempotent, and safe while the pipeline runs."""
    propagator = Propagator(database_url)
    try:
        for tenant in sorted({one.tenant for one in drift.differences}):
            rules = {one.rule for one in drift.differences if one.tenant == tenant}
            propagator.propagate(tenant, Marks(rules=rules))
    finally:
        propagator.close()


_Values = dict[tuple[str, str], DerivedByItem]  # by rule and attribute


def _expected(connection: Connection[Any], tenant: str, on_delete: Any) -> _Values:
    rules = [rule_of(row) for row in connection.execute(query("definitions/attribute_rules"), {"tenant": tenant})]
    edges = connection.execute(query("recompute/rule_edges"), {"tenant": tenant}).fetchall()
    graph = Graph(edges={Edge(*row) for row in edges}, on_delete=on_delete)
    attributes = [rule.attribute for rule in rules]
    parameters = {"tenant": tenant, "attributes": attributes, "ids": list(graph.assets())}
    assets = connection.execute(query("attributes/stated_values"), parameters).fetchall()
    graph.deleted.update(asset for asset, _, deleted, *_ in assets if deleted)
    stated = {asset: (source or {}, user or {}) for asset, _, _, source, user in assets}
    return {(rule.key, rule.attribute): _of_rule(graph, rule, stated) for rule in rules}


def _of_rule(
    graph: Graph, rule: AttributeRule, stated: dict[str, tuple[dict[str, Any], dict[str, Any]]]
) -> DerivedByItem:
    name = rule.attribute
    values = {asset: StatedValue(source.get(name), user.get(name)) for asset, (source, user) in stated.items()}
    return recompute_attribute(graph, rule, values)


def _stored(connection: Connection[Any], tenant: str) -> _Values:
    values: _Values = {}
    for rule, attribute, asset, item, *derived in connection.execute(
        query("recompute/derived_attributes"), {"tenant": tenant}
    ):
        values.setdefault((rule, attribute), {})[asset, item] = DerivedValue(*derived)
    return values


def _differences(tenant: str, expected: _Values, stored: _Values) -> Iterator[Difference]:
    for rule in sorted(expected.keys() | stored.keys()):
        right, actual = expected.get(rule, {}), stored.get(rule, {})
        for key in sorted(right.keys() | actual.keys()):
            problem = "missing" if key not in actual else "surplus" if key not in right else "different"
            if problem != "different" or _comparable(right[key]) != _comparable(actual[key]):
                yield Difference(tenant, *rule, *key, problem)


def _comparable(derived: DerivedValue) -> DerivedValue:
    return derived._replace(value=canonical(derived.value))
