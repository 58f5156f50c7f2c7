"""Follows the data through a script, one statement after the other, and through its temporary tables."""

from sqlglot import exp

from lily.intake.sql.column_lineage import CatalogueSchema, Column, Trace, trace_columns
from lily.intake.sql.dialects import case_sensitive, dialect_of
from lily.intake.sql.flows import Flow, declared, flows_of
from lily.intake.sql.parsing import lower_names, parse_script, table_key, with_defaults
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult, Edge
from lily.model.edges import DERIVED_FROM, INFLUENCES
from lily.model.errors import Problem, Refused

MAX_EDGES = 20_000
MAX_WARNINGS = 100


def analyze(request: AnalysisRequest) -> AnalysisResult:
    """Raises Refused for a script that cannot be parsed."""
    statements = parse_script(request.sql, dialect_of(request.dialect))
    tables: dict[str, str] = {}
    for statement in statements:
        for table in statement.find_all(exp.Table):
            written = table_key(with_defaults(table.copy(), request.database, request.schema))
            tables.setdefault(written.lower(), written)
    if request.known is None:
        return AnalysisResult(len(statements), tables)
    analysis = Analysis(request)
    for number, statement in enumerate(statements, 1):
        lower_names(statement)
        analysis.add(number, statement)
    return AnalysisResult(len(statements), tables, list(analysis.edges), list(analysis.warnings)[:MAX_WARNINGS])


class Analysis:
    def __init__(self, request: AnalysisRequest) -> None:
        self.edges: dict[Edge, None] = {}
        self.warnings: dict[str, None] = {}
        self._request = request
        self._known = request.known or {}
        self._columns = CatalogueSchema(case_sensitive(dialect_of(request.dialect)))
        self._columns.of.update({name: list(table.columns) for name, table in self._known.items() if table.columns})
        self._ordered = {name for name, table in self._known.items() if table.ordered}
        self._temporary: dict[str, Trace] = {}

    def add(self, number: int, statement: exp.Expr) -> None:
        flows = list(flows_of(statement))
        if not flows:
            self._add_without_flow(number, statement)
        for flow in flows:
            try:
                found = trace_columns(flow.query, self._columns, self._request.database, self._request.schema)
            except Exception as error:  # noqa: BLE001 - an error in sqlglot concerns this statement only
                self._warn(f"statement {number}: its columns could not be analyzed ({str(error)[:200]})")
                found = Trace(tables=self._tables_of(flow.query))
            self._warn_of_unresolved(number, found)
            self._warn_of_unknown_tables(found)
            self._record(number, flow, self._without_temporary(found))

    def _add_without_flow(self, number: int, statement: exp.Expr) -> None:
        created = declared(statement)
        if created is not None:
            key = self._key(created.table)
            self._columns.of[key] = created.columns
            self._ordered.add(key)
            if created.temporary:
                self._temporary[key] = Trace()
        elif isinstance(statement, exp.Query):
            self._warn(f"statement {number}: a query whose rows are not stored has no lineage")
        elif isinstance(statement, exp.Command):
            self._warn(f"statement {number}: {statement.name.upper()} is not supported and was skipped")
        elif isinstance(statement, exp.Create | exp.MultitableInserts):
            self._warn(f"statement {number}: it contains no query whose rows it stores")

    def _warn_of_unresolved(self, number: int, found: Trace) -> None:
        for table in found.stars:
            self._warn(
                f"statement {number}: * of {table} cannot be expanded because the catalogue has no columns of it"
            )
        for name in found.unknown:
            self._warn(f"statement {number}: the table of column {name} is not known")

    def _warn_of_unknown_tables(self, found: Trace) -> None:
        for table in found.tables.keys() - self._known.keys() - self._columns.of.keys() - self._temporary.keys():
            self._warn(
                f"{table} is not in the catalogue; if its name there is longer, set default_database and default_schema"
            )

    def _warn(self, text: str) -> None:
        self.warnings[text] = None

    def _without_temporary(self, found: Trace) -> Trace:
        """Replaces temporary tables by the tables that they were made from."""
        result = Trace(found.names)
        result.origins = [self._origins_of(origins) for origins in found.origins]
        result.filtering = self._origins_of(found.filtering)
        result.stars = found.stars
        for table in found.tables:
            temporary = self._temporary.get(table)
            result.tables |= {table: None} if temporary is None else temporary.tables
            result.filtering |= set() if temporary is None else temporary.filtering
        return result

    def _origins_of(self, columns: set[Column]) -> set[Column]:
        origins: set[Column] = set()
        for column in columns:
            temporary = self._temporary.get(column.table)
            origins |= {column} if temporary is None else temporary.of(column.name)
        return origins

    def _record(self, number: int, flow: Flow, found: Trace) -> None:
        key = self._key(flow.target)
        names = self._target_columns(number, flow, key, found)
        if flow.temporary or key in self._temporary:
            made = self._temporary.setdefault(key, Trace())
            made.names += names
            made.origins += found.origins[: len(names)]
            made.tables |= found.tables
            made.filtering |= found.filtering
        else:
            self._add_edges(key, names, found)
        if flow.defines and "*" not in names:
            self._columns.of[key] = names
            self._ordered.add(key)

    def _target_columns(self, number: int, flow: Flow, key: str, found: Trace) -> list[str]:
        if flow.columns is not None:
            return flow.columns[: len(found.origins)]
        known = self._columns.of.get(key)
        if flow.defines or not known:
            return found.names
        if key in self._ordered and len(known) >= len(found.origins):
            return list(known)[: len(found.origins)]
        self._warn(f"statement {number}: the order of the columns of {key} is not known, so they are matched by name")
        return found.names

    def _add_edges(self, target: str, names: list[str], found: Trace) -> None:
        for table in found.tables:
            self._edge(self._table(table), self._table(target), DERIVED_FROM)
        for name, origins in zip(names, found.origins, strict=False):
            if name != "*":
                for column in sorted(origins):
                    self._edge(self._column(column), self._column(Column(target, name)), DERIVED_FROM)
        for column in sorted(found.filtering):
            if column.table != target:
                self._edge(self._column(column), self._table(target), INFLUENCES)

    def _edge(self, start: str, end: str, kind: str) -> None:
        if start != end:
            self.edges[Edge(start, end, kind)] = None
        if len(self.edges) > MAX_EDGES:
            raise Refused(Problem("TOO_LONG", f"the script has more than {MAX_EDGES} edges; split it", "sql"))

    def _table(self, key: str) -> str:
        return self._known[key].qualified_name if key in self._known else key

    def _column(self, column: Column) -> str:
        known = self._known.get(column.table)
        own = known.columns.get(column.name) if known is not None else None
        return own or f"{self._table(column.table)}.{column.name}"

    def _tables_of(self, query: exp.Query) -> dict[str, None]:
        """All tables in the query but its common table expressions."""
        common = {cte.alias for cte in query.find_all(exp.CTE)}
        return {self._key(table): None for table in query.find_all(exp.Table) if table.db or table.name not in common}

    def _key(self, table: exp.Table) -> str:
        return table_key(with_defaults(table.copy(), self._request.database, self._request.schema))
