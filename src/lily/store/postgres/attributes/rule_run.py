"""Applies a tenant's attribute rules: recomputes derived values around the marks, stores them and states them.

Statements are published through the outbox as events of the enriched layer, as if a job had made them. So the pipeline
merges them, and they have a history and are shown like all others.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import orjson
from psycopg import Connection

from lily.lineage.attribute_region import recompute_region
from lily.lineage.attribute_rules import AttributeRule, DerivedValues, canonical, enriched_value
from lily.lineage.marks import Marks
from lily.model.statements import Statement
from lily.store.postgres.attributes.graph_reader import PostgresGraphReader, StoredValue
from lily.store.postgres.definitions.rules import rule_of
from lily.store.postgres.queries import query

_COPY_VALUES = b"copy new_labels (rule, asset_id, attribute, item, value, via, depth, stated) from stdin"
_COPY_STATEMENTS = b"copy new_statements (asset_id, body) from stdin"

Statements = dict[tuple[str, str], Statement]  # by asset and attribute


class RuleRunner:
    """Runs in the caller's transaction. Raises what the connection raises."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._connection.execute(query("attributes/stage"))

    def apply(self, tenant: str, marks: Marks) -> int:
        """Updates derived attributes around the marks from what is committed. Returns the number of statements that
        `publish` will publish."""
        rows = self._connection.execute(query("definitions/attribute_rules"), {"tenant": tenant}).fetchall()
        rules = {row[0]: rule_of(row) for row in rows}
        if not rules and not marks.rules:
            return 0
        return _Run(self._connection, tenant, rules, marks).apply()

    def publish(self, tenant: str, batch: int) -> None:
        self._connection.execute(query("attributes/publish"), {"tenant": tenant, "batch": batch})


class _Run:
    def __init__(
        self, connection: Connection[Any], tenant: str, rules: Mapping[str, AttributeRule], marks: Marks
    ) -> None:
        self._connection, self._tenant, self._rules, self._marks = connection, tenant, rules, marks
        ((cuts,),) = connection.execute("select on_delete = 'cut' from tenants where id = %s", [tenant]).fetchall()
        attributes = {rule.attribute for rule in rules.values()}
        self._graph = PostgresGraphReader(connection, tenant, attributes, cuts=cuts)
        self._deletion_matters = cuts or marks.deletion  # the deletion of an asset changes what it passes on
        self._values: list[tuple[Any, ...]] = []  # rows of `new_labels`
        self._statements: Statements = {}
        self._cleared: dict[str, set[str]] = {}  # by attribute: assets that lose the value of a former rule

    def apply(self) -> int:
        # Removals come first: if one rule replaces another, the statement of the new one must be the last.
        for key in sorted(self._marks.rules):
            self._remove_stale(key)
        marked = self._marked()
        for rule in self._rules.values():
            changed = self._changed(rule, marked)
            restated = self._cleared.get(rule.attribute, set())
            if rule.mode == "add":
                restated = restated | changed  # a list starts with the items of the source, which may have changed
            start = self._all() if rule.key in self._marks.rules else self._seeds(rule, changed)
            if seeds := start | restated:
                self._recompute(rule, seeds, restated)
        self._write()
        return len(self._statements)

    def _remove_stale(self, key: str) -> None:
        """Removes the values of a rule that was deleted, or that is now for another attribute."""
        rule = self._rules.get(key)
        stale = [row for row in self._rows_of(key) if rule is None or row[1] != rule.attribute]
        names = self._graph.names({asset for asset, *_ in stale})
        for asset, attribute, item, stated in stale:
            self._values.append(_deleted(key, asset, attribute, item))
            if stated and asset in names:
                self._state(asset, names[asset], attribute, None, key if rule is None else rule.name)
                self._cleared.setdefault(attribute, set()).add(asset)

    def _recompute(self, rule: AttributeRule, seeds: Collection[str], restated: Collection[str]) -> None:
        region, derived = recompute_region(rule, seeds, self._graph)
        names, stored = self._graph.names(region), self._graph.stored_values(rule, region)
        for asset in derived.keys() | stored.keys():
            before, after = stored.get(asset, {}), derived.get(asset, {})
            known = asset in names
            self._store(rule, asset, before, {item: StoredValue(*after[item], known) for item in after})
            if known and (_stated_items(before) != _derived_items(after) or (after and asset in restated)):
                value = enriched_value(rule, self._graph.stated_value(rule, asset), after)
                self._state(asset, names[asset], rule.attribute, value, rule.name)

    def _store(
        self, rule: AttributeRule, asset: str, before: Mapping[str, StoredValue], after: Mapping[str, StoredValue]
    ) -> None:
        self._values += [_deleted(rule.key, asset, rule.attribute, item) for item in before.keys() - after.keys()]
        for item, row in after.items():
            value = canonical(row.value)
            stored = before.get(item)
            if stored is None or stored._replace(value=canonical(stored.value)) != row._replace(value=value):
                self._values.append((rule.key, asset, rule.attribute, item, value, row.via, row.depth, row.stated))

    def _state(self, asset: str, qualified_name: str, attribute: str, value: Any, rule: str) -> None:
        stated = Statement("enriched", "upsert", qualified_name, None, {attribute: value}, by=f"rule:{rule}")
        self._statements[asset, attribute] = stated

    def _marked(self) -> set[str]:
        """The marked assets that are in the graph. No attribute propagates from or to others."""
        marked = {mark.asset_id for mark in self._marks.assets if mark.attributes is None or mark.attributes}
        return set(self._ids("attributes/ids_in_graph", ids=list(marked))) if marked and self._rules else set()

    def _changed(self, rule: AttributeRule, marked: Collection[str]) -> set[str]:
        """The marked assets of which something changed that the rule depends on."""
        return {
            mark.asset_id
            for mark in self._marks.assets
            if mark.asset_id in marked and (mark.attributes is None or rule.attribute in mark.attributes)
        }

    def _seeds(self, rule: AttributeRule, changed: Collection[str]) -> set[str]:
        seeds = set(changed)
        if self._marks.deletion:
            seeds |= set(self._ids("attributes/deleted_ids_in_graph"))
        if self._deletion_matters:
            seeds |= {end for _, end in self._graph.arcs_from(rule, seeds)}
        for mark in self._marks.edges:
            seeds |= {mark.to_id} if rule.direction != "upstream" else set()
            seeds |= {mark.from_id} if rule.direction != "downstream" else set()
        return seeds

    def _all(self) -> set[str]:
        return set(self._ids("attributes/all_ids_in_graph"))

    def _rows_of(self, key: str) -> list[tuple[str, str, str, bool]]:
        """Asset, attribute, item, and whether it was stated."""
        parameters = {"tenant": self._tenant, "rule": key}
        return self._connection.execute(query("attributes/derived_by_rule"), parameters).fetchall()

    def _ids(self, name: str, **parameters: Any) -> Iterable[str]:
        rows = self._connection.execute(query(name), {"tenant": self._tenant, **parameters}).fetchall()
        return (asset for (asset,) in rows)

    def _write(self) -> None:
        if self._values:
            self._copy(_COPY_VALUES, self._values)
            self._connection.execute(query("attributes/upsert_derived"), {"tenant": self._tenant})
        if self._statements:
            bodies = (
                (asset, orjson.dumps(statement.as_data()).decode())
                for (asset, _), statement in self._statements.items()
            )
            self._copy(_COPY_STATEMENTS, bodies)

    def _copy(self, statement: bytes, rows: Iterable[tuple[Any, ...]]) -> None:
        with self._connection.cursor().copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


def _stated_items(stored: Mapping[str, StoredValue]) -> dict[str, str]:
    return {item: canonical(row.value) for item, row in stored.items() if row.stated}


def _derived_items(derived: DerivedValues) -> dict[str, str]:
    return {item: canonical(one.value) for item, one in derived.items()}


def _deleted(rule: str, asset: str, attribute: str, item: str) -> tuple[Any, ...]:
    return (rule, asset, attribute, item, None, None, None, None)
