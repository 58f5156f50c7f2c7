"""Reads what attribute rules need of a tenant's graph: on demand, many assets per query, cached for the run."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from psycopg import Connection

from lily.lineage.attribute_region import Arcs
from lily.lineage.attribute_rules import NOT_STATED, AttributeRule, DerivedValue, StatedValue
from lily.lineage.definitions import follows
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


class StoredValue(NamedTuple):
    """A derived value as it is stored. `stated`: the asset was known, so a statement was published for it."""

    value: Any
    via: str
    depth: int
    stated: bool

    @property
    def derived_value(self) -> DerivedValue:
        return DerivedValue(self.value, self.via, self.depth)


StoredValues = dict[str, dict[str, StoredValue]]  # by asset and item


class _Asset(NamedTuple):
    qualified_name: str
    deleted: bool
    source: dict[str, Any]
    user: dict[str, Any]


class PostgresGraphReader:
    """One tenant in one transaction: the rules of a run share what was read. Raises what the connection raises."""

    def __init__(self, connection: Connection[Any], tenant: str, attributes: Iterable[str], *, cuts: bool) -> None:
        self._connection, self._tenant, self._cuts = connection, tenant, cuts
        self._attributes = sorted(attributes)
        self._assets: dict[str, _Asset | None] = {}
        self._edges_from: dict[str, list[tuple[str, str]]] = {}  # by asset: the other end and the type of each edge
        self._edges_to: dict[str, list[tuple[str, str]]] = {}

    def arcs_from(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        return set(self._ends(rule, assets, downstream="edges_from", upstream="edges_to"))

    def arcs_to(self, rule: AttributeRule, assets: Collection[str]) -> Arcs:
        ends = self._ends(rule, assets, downstream="edges_to", upstream="edges_from")
        return {(start, asset) for asset, start in ends}

    def stated_values(self, rule: AttributeRule, assets: Collection[str]) -> Mapping[str, StatedValue]:
        self._read_assets(assets)
        return {asset: self.stated_value(rule, asset) for asset in assets}

    def stated_value(self, rule: AttributeRule, asset: str) -> StatedValue:
        """Of an asset that was read before."""
        found = self._assets[asset]
        return (
            NOT_STATED
            if found is None
            else StatedValue(found.source.get(rule.attribute), found.user.get(rule.attribute))
        )

    def names(self, assets: Collection[str]) -> dict[str, str]:
        """The qualified names of the assets that PostgreSQL or the lake has."""
        self._read_assets(assets)
        return {asset: found.qualified_name for asset in assets if (found := self._assets[asset]) is not None}

    def cut(self, assets: Collection[str]) -> set[str]:
        if not self._cuts:
            return set()
        self._read_assets(assets)
        return {asset for asset in assets if (found := self._assets[asset]) is not None and found.deleted}

    def derived_values(self, rule: AttributeRule, assets: Collection[str]) -> dict[str, dict[str, DerivedValue]]:
        """Without values from another mode of the rule: when the mode changes, all values are recomputed."""
        return {
            asset: {item: row.derived_value for item, row in rows.items() if rule.derives(item)}
            for asset, rows in self.stored_values(rule, assets).items()
        }

    def stored_values(self, rule: AttributeRule, assets: Collection[str]) -> StoredValues:
        found: defaultdict[str, dict[str, StoredValue]] = defaultdict(dict)
        if assets:
            parameters = {"rule": rule.key, "attribute": rule.attribute}
            for asset, item, *fields in self._fetch("attributes/derived_values", assets, **parameters):
                found[asset][item] = StoredValue(*fields)
        return found

    def _ends(
        self, rule: AttributeRule, assets: Collection[str], *, downstream: str, upstream: str
    ) -> Iterator[tuple[str, str]]:
        """Each asset with the other ends of its edges, in the directions of the rule."""
        if rule.direction != "upstream":
            yield from self._along(rule, downstream, assets)
        if rule.direction != "downstream":
            yield from self._along(rule, upstream, assets)

    def _along(self, rule: AttributeRule, edges: str, assets: Collection[str]) -> Iterable[tuple[str, str]]:
        known = self._edges_from if edges == "edges_from" else self._edges_to
        if unknown := [asset for asset in assets if asset not in known]:
            known.update((asset, []) for asset in unknown)
            for start, end, kind in self._fetch(f"attributes/{edges}", unknown):
                asset, other = (start, end) if edges == "edges_from" else (end, start)
                known[asset].append((other, kind))
        types = rule.edge_types
        return ((asset, other) for asset in assets for other, kind in known[asset] if follows(types, kind))

    def _read_assets(self, assets: Collection[str]) -> None:
        if unknown := [asset for asset in assets if asset not in self._assets]:
            self._assets.update(dict.fromkeys(unknown))
            for asset, name, deleted, source, user in self._fetch(
                "attributes/stated_values", unknown, attributes=self._attributes
            ):
                self._assets[asset] = _Asset(name, deleted, source or {}, user or {})

    def _fetch(self, name: str, ids: Collection[str], **more: Any) -> list[tuple[Any, ...]]:
        parameters = {"tenant": self._tenant, "ids": id_array(ids), **more}
        return self._connection.execute(query(name), parameters).fetchall()
