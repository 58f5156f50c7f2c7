"""Whether what rules derived is what a recomputation gives; and its repair.

It loads a tenant's graph into memory, one tenant at a time, and works it out in Python: rules are few, and so are the
tenants that have some.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg import Connection, IsolationLevel

from lily.lineage.attribute_recomputation import DerivedByItem, recompute_attribute
from lily.lineage.attribute_rules import AttributeRule, DerivedValue, StatedValue, canonical
from lily.lineage.graph import Edge, Graph
from lily.lineage.marks import Marks
from lily.store.postgres.connection import connect
from lily.store.postgres.definitions.rules import rule_of
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.queries import query

EXAMPLES = 10
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
    derived: int  # as they should be
    differences: list[Difference]

    def report(self) -> dict[str, Any]:
        found = {problem: sum(one.problem == problem for one in self.differences) for problem in PROBLEMS}
        return {"derived": self.derived, **found, "examples": [one._asdict() for one in self.differences[:EXAMPLES]]}


def find_attribute_drift(database_url: str, tenant: str | None = None) -> AttributeDrift:
    derived, differences = 0, list[Difference]()
    with connect(database_url, "lily-recompute") as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            for name, on_delete in connection.execute(query("recompute/rule_tenants")).fetchall():
                if tenant in {None, name}:
                    expected = _expected(connection, name, on_delete)
                    derived += sum(len(values) for values in expected.values())
                    differences += _differences(name, expected, _stored(connection, name))
    return AttributeDrift(derived, differences)


def repair_attributes(database_url: str, drift: AttributeDrift) -> None:
    """Works out anew all of every rule of which something differs. It can be repeated, also beside a pipeline."""
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
    asked = {"tenant": tenant, "attributes": attributes, "ids": list(graph.assets())}
    assets = connection.execute(query("attributes/holders"), asked).fetchall()
    graph.deleted.update(asset for asset, _, deleted, *_ in assets if deleted)
    said = {asset: (source or {}, user or {}) for asset, _, _, source, user in assets}
    return {(rule.key, rule.attribute): _of_rule(graph, rule, said) for rule in rules}


def _of_rule(
    graph: Graph, rule: AttributeRule, said: dict[str, tuple[dict[str, Any], dict[str, Any]]]
) -> DerivedByItem:
    name = rule.attribute
    holders = {asset: StatedValue(source.get(name), user.get(name)) for asset, (source, user) in said.items()}
    return recompute_attribute(graph, rule, holders)


def _stored(connection: Connection[Any], tenant: str) -> _Values:
    found: _Values = {}
    for rule, attribute, asset, item, *label in connection.execute(
        query("recompute/derived_attributes"), {"tenant": tenant}
    ):
        found.setdefault((rule, attribute), {})[asset, item] = DerivedValue(*label)
    return found


def _differences(tenant: str, expected: _Values, stored: _Values) -> Iterator[Difference]:
    for about in sorted(expected.keys() | stored.keys()):
        should, does = expected.get(about, {}), stored.get(about, {})
        for key in sorted(should.keys() | does.keys()):
            problem = "missing" if key not in does else "surplus" if key not in should else "different"
            if problem != "different" or _text(should[key]) != _text(does[key]):
                yield Difference(tenant, *about, *key, problem)


def _text(label: DerivedValue) -> DerivedValue:
    return label._replace(value=canonical(label.value))
