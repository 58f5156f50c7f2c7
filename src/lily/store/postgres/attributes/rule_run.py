"""A run of a tenant's rules: what changed is looked at again, what is derived is stored, what became of it is stated.

Statements go out through the outbox as events of the enriched layer, as if a job had made them: the store merges them,
keeps their history and shows them like all others.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import orjson
from psycopg import Connection

from lily.lineage.attribute_region import recompute_region
from lily.lineage.attribute_rules import AttributeRule, DerivedValues, canonical, enriched_value
from lily.lineage.marks import Marks
from lily.model.statements import Statement
from lily.store.postgres.attributes.graph_reader import PostgresGraphReader, Stored
from lily.store.postgres.definitions.rules import rule_of
from lily.store.postgres.queries import query

_LABEL = b"copy new_labels (rule, asset_id, attribute, item, value, via, depth, stated) from stdin"
_STATEMENT = b"copy new_statements (asset_id, body) from stdin"

Statements = dict[tuple[str, str], Statement]  # by asset and attribute


class RuleRunner:
    """Works in the transaction of the run that calls it. Raises what the connection raises."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._connection.execute(query("attributes/stage"))

    def follow(self, tenant: str, marks: Marks) -> int:
        """Brings derived attributes in line with what is committed, around the marks; answers how many statements
        `publish` will find."""
        rules = {row[0]: rule_of(row) for row in self._ask("definitions/attribute_rules", tenant)}
        if not rules and not marks.rules:
            return 0
        return _Run(self._connection, tenant, rules, marks).done()

    def publish(self, tenant: str, batch: int) -> None:
        self._connection.execute(query("attributes/publish"), {"tenant": tenant, "batch": batch})

    def _ask(self, name: str, tenant: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query(name), {"tenant": tenant}).fetchall()


class _Run:
    def __init__(
        self, connection: Connection[Any], tenant: str, rules: Mapping[str, AttributeRule], marks: Marks
    ) -> None:
        self._connection, self._tenant, self._rules, self._marks = connection, tenant, rules, marks
        ((cuts,),) = connection.execute("select on_delete = 'cut' from tenants where id = %s", [tenant]).fetchall()
        attributes = {rule.attribute for rule in rules.values()}
        self._around = PostgresGraphReader(connection, tenant, attributes, cuts=cuts)
        self._decided = cuts or marks.deletion  # whether the deletion of an asset decides about its arcs
        self._labels: list[tuple[Any, ...]] = []
        self._statements: Statements = {}
        self._cleared: dict[str, set[str]] = {}  # by attribute: the assets from which another rule's value goes

    def done(self) -> int:
        # What goes is stated first: where a rule takes another one's place, its word is the last.
        for key in sorted(self._marks.rules):
            self._forget(key)
        marked = self._marked()
        for rule in self._rules.values():
            changed = self._changed(rule, marked)
            restated = self._cleared.get(rule.attribute, set())
            if rule.mode == "add":
                restated = restated | changed  # a list begins with what the source has, and that may be other now
            around = self._all() if rule.key in self._marks.rules else self._seeds(rule, changed)
            if seeds := around | restated:
                self._rework(rule, seeds, restated)
        self._write()
        return len(self._statements)

    def _forget(self, key: str) -> None:
        """Takes back what a rule brought that is no more, or that has become one for another attribute."""
        rule = self._rules.get(key)
        stale = [row for row in self._rows_of(key) if rule is None or row[1] != rule.attribute]
        names = self._around.names({asset for asset, *_ in stale})
        for asset, attribute, item, stated in stale:
            self._labels.append(_gone(key, asset, attribute, item))
            if stated and asset in names:
                self._state(asset, names[asset], attribute, None, key if rule is None else rule.name)
                self._cleared.setdefault(attribute, set()).add(asset)

    def _rework(self, rule: AttributeRule, seeds: Collection[str], restated: Collection[str]) -> None:
        region, labels = recompute_region(rule, seeds, self._around)
        names, before = self._around.names(region), self._around.rows(rule, region)
        for asset in labels.keys() | before.keys():
            had, has = before.get(asset, {}), labels.get(asset, {})
            known = asset in names
            self._put_down(rule, asset, had, {item: Stored(*has[item], known) for item in has})
            if known and (_said(had) != _told(has) or (has and asset in restated)):
                value = enriched_value(rule, self._around.stated_value(rule, asset), has)
                self._state(asset, names[asset], rule.attribute, value, rule.name)

    def _put_down(self, rule: AttributeRule, asset: str, had: Mapping[str, Stored], has: Mapping[str, Stored]) -> None:
        self._labels += [_gone(rule.key, asset, rule.attribute, item) for item in had.keys() - has.keys()]
        for item, row in has.items():
            value = canonical(row.value)
            there = had.get(item)
            if there is None or there._replace(value=canonical(there.value)) != row._replace(value=value):
                self._labels.append((rule.key, asset, rule.attribute, item, value, row.via, row.depth, row.stated))

    def _state(self, asset: str, qualified_name: str, attribute: str, value: Any, rule: str) -> None:
        stated = Statement("enriched", "upsert", qualified_name, None, {attribute: value}, by=f"rule:{rule}")
        self._statements[asset, attribute] = stated

    def _marked(self) -> set[str]:
        """The marked assets that are in the graph: nothing travels elsewhere."""
        found = {mark.asset_id for mark in self._marks.assets if mark.attributes is None or mark.attributes}
        return set(self._ids("attributes/members", ids=list(found))) if found and self._rules else set()

    def _changed(self, rule: AttributeRule, marked: Collection[str]) -> set[str]:
        """Those of the marked assets of which something changed that the rule looks at."""
        return {
            mark.asset_id
            for mark in self._marks.assets
            if mark.asset_id in marked and (mark.attributes is None or rule.attribute in mark.attributes)
        }

    def _seeds(self, rule: AttributeRule, changed: Collection[str]) -> set[str]:
        seeds = set(changed)
        if self._marks.deletion:
            seeds |= set(self._ids("attributes/deleted"))
        if self._decided:
            seeds |= {end for _, end in self._around.arcs_from(rule, seeds)}
        for mark in self._marks.edges:
            seeds |= {mark.to_id} if rule.direction != "upstream" else set()
            seeds |= {mark.from_id} if rule.direction != "downstream" else set()
        return seeds

    def _all(self) -> set[str]:
        return set(self._ids("attributes/ends"))

    def _rows_of(self, key: str) -> list[tuple[str, str, str, bool]]:
        """Asset, attribute, item, and whether it was stated."""
        asked = {"tenant": self._tenant, "rule": key}
        return self._connection.execute(query("attributes/of_rule"), asked).fetchall()

    def _ids(self, name: str, **asked: Any) -> Iterable[str]:
        rows = self._connection.execute(query(name), {"tenant": self._tenant, **asked}).fetchall()
        return (asset for (asset,) in rows)

    def _write(self) -> None:
        if self._labels:
            self._copy(_LABEL, self._labels)
            self._connection.execute(query("attributes/labels"), {"tenant": self._tenant})
        if self._statements:
            bodies = ((asset, orjson.dumps(said.as_data()).decode()) for (asset, _), said in self._statements.items())
            self._copy(_STATEMENT, bodies)

    def _copy(self, statement: bytes, rows: Iterable[tuple[Any, ...]]) -> None:
        with self._connection.cursor().copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


def _said(had: Mapping[str, Stored]) -> dict[str, str]:
    """What was stated, by item."""
    return {item: canonical(row.value) for item, row in had.items() if row.stated}


def _told(has: DerivedValues) -> dict[str, str]:
    return {item: canonical(label.value) for item, label in has.items()}


def _gone(rule: str, asset: str, attribute: str, item: str) -> tuple[Any, ...]:
    return (rule, asset, attribute, item, None, None, None, None)
