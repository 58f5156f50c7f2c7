"""Which tables of the catalogue a query means, and in which dialect it is written."""

from collections.abc import Collection, Mapping

from lily.intake.openlineage.naming import Naming
from lily.intake.sql.dialects import KNOWN, spellings
from lily.intake.sql.protocol import AnalysisRequest, KnownTable
from lily.model import ids
from lily.model.run_queries import RunQuery
from lily.store.postgres.run_queries.ledger import QueryLedger, StoredTable

# Schemes of namespaces that are not the name of a dialect.
_PLATFORMS = {"awsathena": "athena", "crate": "postgres", "cratedb": "postgres", "unitycatalog": "databricks"}


def dialect_of_query(query: RunQuery) -> str:
    """The dialect that the producer names, else that of its platform, else standard SQL."""
    scheme = query.namespace.partition(":")[0].lower()
    for name in (query.dialect.strip().lower(), _PLATFORMS.get(scheme, scheme)):
        if name in KNOWN:
            return name
    return "ansi"


def request_of(query: RunQuery) -> AnalysisRequest:
    """Names without a schema are of the schema of the target, or of any dataset of the event."""
    tables = (name for name in (query.target, *query.names) if name and "/" not in name)  # others are locations
    place = next(tables, "").lower().split(".")[:-1]
    database = place[-2] if len(place) > 1 else None
    schema = place[-1] if place else None
    return AnalysisRequest(
        query.text,
        dialect_of_query(query),
        database,
        schema,
        target=query.target.lower() or None,
        expands=query.expands,
    )


class QueryTables:
    """The tables that a query names, as the catalogue knows them."""

    def __init__(self, query: RunQuery, naming: Naming, ledger: QueryLedger, tenant: str) -> None:
        self._query, self._naming, self._ledger, self._tenant = query, naming, ledger, tenant
        self._names = {name.lower(): qualified_name for name, qualified_name in query.names.items()}

    def find(self, tables: Mapping[str, str]) -> dict[str, StoredTable]:
        """By key; `tables` has the spelling in the query of each. The datasets of the event are always among them."""
        names = self._qualified_names(tables) | self._names
        found = self._ledger.tables({name: ids.asset_id(self._tenant, name) for name in names.values()})
        return {key: found[name] for key, name in names.items()}

    def _qualified_names(self, tables: Mapping[str, str]) -> dict[str, str]:
        others = {key: written for key, written in tables.items() if key not in self._names}
        given = self._in_catalogs(tables)
        named = {
            key: self._naming.table(self._query.namespace, name).qualified_name
            for key, name in others.items()
            if key not in given
        }
        existing = self._ledger.spellings(list(named.values()))
        return given | {key: self._spelling(name, existing.get(name, [])) for key, name in named.items()}

    def _in_catalogs(self, tables: Collection[str]) -> dict[str, str]:
        """Tables that are datasets of the event but for the name of a catalog, which engines put before the names of
        schemas: Spark's listener leaves it out. Not if several catalogs have the table."""
        found: dict[str, list[str]] = {}
        for key in tables:
            name = key.partition(".")[2]
            if name.count(".") == 1 and name in self._names and key not in self._names and name not in tables:
                found.setdefault(name, []).append(key)
        return {keys[0]: self._names[name] for name, keys in found.items() if len(keys) == 1}

    def _spelling(self, name: str, existing: list[str]) -> str:
        """If several assets differ only in case, the one that the dialect's rule for names means."""
        likely = spellings(dialect_of_query(self._query), name.lower(), name)
        return next((spelling for spelling in [*likely, *sorted(existing)] if spelling in existing), name)


def known_tables(found: Mapping[str, StoredTable]) -> dict[str, KnownTable]:
    return {
        key: KnownTable(table.qualified_name, table.columns, table.ordered, dict(table.nested))
        for key, table in found.items()
    }
