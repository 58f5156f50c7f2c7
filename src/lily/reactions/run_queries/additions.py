"""What an analyzed query adds to the event of its run: claims, and the tables and columns that only the query names."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from lily.intake.sql.protocol import AnalysisResult, Edge
from lily.model import ids
from lily.model.edges import MAX_CLAIMS, Claim, ClaimsEvent, EdgeKey
from lily.model.events import AssetEvent
from lily.model.statements import Statement
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME
from lily.store.postgres.run_queries.ledger import StoredTable


def with_claims(event: ClaimsEvent, result: AnalysisResult) -> ClaimsEvent | None:
    """The event with the edges of its query; of an edge that both state, the producer knows whether it masks. It
    completes its run if the query was understood, also if that shows that the output has no source. None if there is
    nothing to add, or too much for one event."""
    found = [key for edge in result.edges if (key := _key(event.tenant, edge)) is not None]
    claims = {key: Claim(key) for key in found} | {claim.key: claim for claim in event.claims}
    explained = _explained(event, result)
    if not (found or explained) or len(claims) > MAX_CLAIMS:
        return None
    complete = event.query is not None and event.query.complete and not result.not_understood
    all_explained = tuple(dict.fromkeys([*event.datasets.explained, *explained]))
    return replace(
        event,
        id=ids.event_id(),
        complete=complete,
        claims=tuple(claims.values()),
        datasets=event.datasets._replace(explained=all_explained),
        schemas=(),
        facets={},
        query=None,
    )


def new_assets(event: ClaimsEvent, result: AnalysisResult, tables: Mapping[str, StoredTable]) -> Iterator[AssetEvent]:
    """States that the tables and columns exist that edges lead between and that are not known. Columns of a table
    that the query makes are stated too if no edge leads to them, such as `count(*) as orders`."""
    known = {table.qualified_name: table for table in tables.values()}
    ends = dict.fromkeys(end for edge in result.edges if _is_valid(edge) for end in edge[:2])
    made = (f"{table}.{column}" for table, columns in result.made.items() for column in columns)
    parents = {name: parent for name in [*ends, *made] if (parent := table_of(name, known)) is not None}
    for name in dict.fromkeys(parents.values()):
        if not known[name].exists:
            yield _stated(event, name, "table", {"name": name.rpartition(".")[2]})
    for name, parent in parents.items():
        column = name[len(parent) + 1 :]
        if column and len(column) <= MAX_NAME and name not in known[parent].columns.values():
            yield _stated(event, name, "column", {"name": column, "parent": parent})


def _explained(event: ClaimsEvent, result: AnalysisResult) -> list[str]:
    """The outputs of which a query that was understood completely states all sources."""
    if not is_understood(result):
        return []
    made = (ids.asset_id(event.tenant, table) for table in result.made)
    return [asset for asset in made if asset in event.datasets.outputs]


def is_understood(result: AnalysisResult) -> bool:
    """Whether nothing is missing."""
    return not (result.partial or result.not_understood)


def _key(tenant: str, edge: Edge) -> EdgeKey | None:
    if not _is_valid(edge):
        return None
    return EdgeKey(ids.asset_id(tenant, edge.from_name), ids.asset_id(tenant, edge.to_name), edge.type)


def _is_valid(edge: Edge) -> bool:
    """A query may have names that no asset can have."""
    return edge.from_name != edge.to_name and all(
        0 < len(name) <= MAX_QUALIFIED_NAME and name.isprintable() and not ids.looks_like_uuid(name)
        for name in edge[:2]
    )


def table_of(name: str, tables: Collection[str]) -> str | None:
    """The table of a column, or the table itself."""
    while name and name not in tables:
        name = name.rpartition(".")[0]
    return name or None


def _stated(event: ClaimsEvent, name: str, kind: str, attributes: dict[str, str]) -> AssetEvent:
    statement = Statement("source", "upsert", name, kind, {**attributes}, by=event.by, authorised=event.authorised)
    return AssetEvent(
        ids.event_id(), event.time, event.tenant, statement, correlation=event.correlation, trace=event.trace
    )
