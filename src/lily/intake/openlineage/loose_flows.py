"""Flows between columns of which columnLineage does not say how they use their source. If the SQL of the run is
analyzed, and is understood completely, it counts instead (docs/decisions/0039)."""

from collections.abc import Iterable

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.column_lineage import ColumnLineage
from lily.intake.openlineage.edge_claims import EdgeClaims
from lily.intake.openlineage.flows import End, Flow, into_whole
from lily.model.run_queries import RunQuery, combines_queries

MAX_CHARACTERS = 256 << 10  # of names: the event with its claims has to fit into one record of the log


class LooseFlows:
    def __init__(self, collector: AssetCollector) -> None:
        self._collector = collector
        self._flows: list[Flow] = []
        self._bare: dict[str, End] = {}  # targets without a source, by qualified name

    def __bool__(self) -> bool:
        return bool(self._flows)

    def take(self, columns: ColumnLineage, certain: Iterable[Flow]) -> None:
        """Takes them from the facet, of which it has other flows as well."""
        self._flows += columns.loose
        self._bare |= {target.qualified_name: target for target in columns.targets}
        for flow in (*certain, *columns.loose):
            self._bare.pop(flow.target.qualified_name, None)

    def sources(self) -> frozenset[str]:
        """Ids of the datasets and columns that they lead from."""
        ends = {name for flow in self._flows for name in (flow.source.qualified_name, flow.source.of.qualified_name)}
        return frozenset(map(self._collector.id, ends))

    def state(self, claims: EdgeClaims) -> None:
        """Without a query they are as good as others."""
        targets = {flow.target.qualified_name: flow.target for flow in self._flows}
        claims.add(self._flows, [*self._bare.values(), *targets.values()])

    def state_datasets(self, claims: EdgeClaims, *, text: str) -> None:
        """That data flows between the datasets is certain, and that a column without sources exists is, unless the text
        combines queries: the columns of all but the first are none of the output."""
        claims.add(map(into_whole, self._flows), () if combines_queries(text) else self._bare.values())

    def leave_to(self, query: RunQuery) -> RunQuery:
        columns: dict[str, list[str]] = {}
        for flow in self._flows:
            columns.setdefault(flow.target.qualified_name, []).append(flow.source.qualified_name)
        known = {name.lower() for name in query.names}
        tables = {end.of.qualified_name for flow in self._flows for end in (flow.source, flow.target)}
        tables -= set(query.names.values())
        more = {name: name for name in sorted(tables) if name.lower() not in known}
        return query._replace(names={**query.names, **more}, columns=columns)

    @property
    def are_too_long(self) -> bool:
        names = (flow.source.qualified_name + flow.target.qualified_name for flow in self._flows)
        return sum(map(len, names)) > MAX_CHARACTERS
