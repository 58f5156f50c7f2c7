"""The datasets of a query that only other events of its run have named: SQL of the start of a run knows the tables that
its completion names by their ids."""

from lily.model import ids
from lily.model.edges import ClaimsEvent
from lily.model.run_queries import RunQuery
from lily.store.postgres.run_queries.ledger import QueryLedger


def named_query(event: ClaimsEvent, query: RunQuery, ledger: QueryLedger) -> tuple[RunQuery, bool]:
    """The query with the names of all datasets of the event, and whether all of them are known."""
    known = {ids.asset_id(event.tenant, name): name for name in query.names.values()}
    missing = [asset for asset in (*event.datasets.inputs, *event.datasets.outputs) if asset not in known]
    if not missing:
        return query, True
    found = ledger.names(missing)
    names = {**query.names, **{name: name for name in found.values()}}
    target = query.target or _target(event, known | found)
    return query._replace(names=names, target=target), len(found) == len(missing)


def _target(event: ClaimsEvent, names: dict[str, str]) -> str:
    """The one output that is not explained, as at the door."""
    unexplained = [asset for asset in event.datasets.outputs if asset not in event.datasets.explained]
    return names.get(unexplained[0], "") if len(unexplained) == 1 else ""
