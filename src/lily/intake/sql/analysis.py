"""Follows the data through a script, statement by statement; temporary tables are passed through."""

from sqlglot import exp

from lily.intake.sql.dialects import case_kept, dialect_of
from lily.intake.sql.flows import Flow, declared, flows_of
from lily.intake.sql.questions import Answer, Edge, Question
from lily.intake.sql.scripts import fold, key_of, placed, read_script
from lily.intake.sql.tracing import Column, Columns, Trace, trace
from lily.model.errors import Problem, Refused

DERIVED = "derived-from"
INFLUENCES = "influences"
MOST_EDGES = 20_000
MOST_WARNINGS = 100


def answer(question: Question) -> Answer:
    """Raises Refused for what cannot be read."""
    statements = read_script(question.sql, dialect_of(question.dialect))
    tables: dict[str, str] = {}
    for statement in statements:
        for table in statement.find_all(exp.Table):
            written = key_of(placed(table.copy(), question.database, question.schema))
            tables.setdefault(written.lower(), written)
    if question.known is None:
        return Answer(len(statements), tables)
    analysis = Analysis(question)
    for number, statement in enumerate(statements, 1):
        fold(statement)
        analysis.follow(number, statement)
    return Answer(len(statements), tables, list(analysis.edges), list(analysis.warnings)[:MOST_WARNINGS])


class Analysis:
    def __init__(self, question: Question) -> None:
        self.edges: dict[Edge, None] = {}
        self.warnings: dict[str, None] = {}
        self._question = question
        self._known = question.known or {}
        self._columns = Columns(case_kept(dialect_of(question.dialect)))
        self._columns.of.update({name: list(table.columns) for name, table in self._known.items() if table.columns})
        self._ordered = {name for name, table in self._known.items() if table.ordered}
        self._temporary: dict[str, Trace] = {}

    def follow(self, number: int, statement: exp.Expr) -> None:
        flows = list(flows_of(statement))
        if not flows:
            self._declare_or_tell(number, statement)
        for flow in flows:
            try:
                found = trace(flow.query, self._columns, self._question.database, self._question.schema)
            except Exception as error:  # noqa: BLE001 - whatever sqlglot stumbles over concerns this statement alone
                self.warnings[f"statement {number}: its columns could not be followed ({str(error)[:200]})"] = None
                found = Trace(tables=self._tables_of(flow.query))
            self._tell(number, found)
            self._tell_missing(found)
            self._take(number, flow, self._through(found))

    def _declare_or_tell(self, number: int, statement: exp.Expr) -> None:
        told = declared(statement)
        if told is not None:
            key = self._key(told.table)
            self._columns.of[key] = told.columns
            self._ordered.add(key)
            if told.temporary:
                self._temporary[key] = Trace()
        elif isinstance(statement, exp.Query):
            self.warnings[f"statement {number}: a query that is not stored anywhere states no lineage"] = None
        elif isinstance(statement, exp.Command):
            self.warnings[f"statement {number}: {statement.name.upper()} is not understood and was left out"] = None
        elif isinstance(statement, exp.Create | exp.MultitableInserts):
            self.warnings[f"statement {number}: no query was found in it whose rows it stores"] = None

    def _tell(self, number: int, found: Trace) -> None:
        for table in found.stars:
            self.warnings[
                f"statement {number}: * of {table} cannot be expanded, the catalogue has no columns of it"
            ] = None
        for name in found.unknown:
            self.warnings[f"statement {number}: it is not known to which table the column {name} belongs"] = None

    def _tell_missing(self, found: Trace) -> None:
        for table in found.tables.keys() - self._known.keys() - self._columns.of.keys() - self._temporary.keys():
            self.warnings[f"{table} is not in the catalogue; if it is there under a longer name, give the defaults"] = (
                None
            )

    def _through(self, found: Trace) -> Trace:
        """Temporary tables replaced by what they were made from."""
        through = Trace(found.names)
        through.origins = [self._beyond(origins) for origins in found.origins]
        through.deciding = self._beyond(found.deciding)
        through.stars = found.stars
        for table in found.tables:
            temporary = self._temporary.get(table)
            through.tables |= {table: None} if temporary is None else temporary.tables
            through.deciding |= set() if temporary is None else temporary.deciding
        return through

    def _beyond(self, columns: set[Column]) -> set[Column]:
        beyond: set[Column] = set()
        for column in columns:
            temporary = self._temporary.get(column.table)
            beyond |= {column} if temporary is None else temporary.of(column.name)
        return beyond

    def _take(self, number: int, flow: Flow, found: Trace) -> None:
        key = self._key(flow.target)
        names = self._target_columns(number, flow, key, found)
        if flow.temporary or key in self._temporary:
            made = self._temporary.setdefault(key, Trace())
            made.names += names
            made.origins += found.origins[: len(names)]
            made.tables |= found.tables
            made.deciding |= found.deciding
        else:
            self._state(key, names, found)
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
        self.warnings[
            f"statement {number}: the order of the columns of {key} is not known; they are matched by name"
        ] = None
        return found.names

    def _state(self, target: str, names: list[str], found: Trace) -> None:
        for table in found.tables:
            self._edge(self._table(table), self._table(target), DERIVED)
        for name, origins in zip(names, found.origins, strict=False):
            if name != "*":
                for column in sorted(origins):
                    self._edge(self._column(column), self._column(Column(target, name)), DERIVED)
        for column in sorted(found.deciding):
            if column.table != target:
                self._edge(self._column(column), self._table(target), INFLUENCES)

    def _edge(self, start: str, end: str, kind: str) -> None:
        if start != end:
            self.edges[Edge(start, end, kind)] = None
        if len(self.edges) > MOST_EDGES:
            raise Refused(Problem("TOO_LONG", f"the script states more than {MOST_EDGES} edges; split it", "sql"))

    def _table(self, key: str) -> str:
        return self._known[key].qualified_name if key in self._known else key

    def _column(self, column: Column) -> str:
        known = self._known.get(column.table)
        own = known.columns.get(column.name) if known is not None else None
        return own or f"{self._table(column.table)}.{column.name}"

    def _tables_of(self, query: exp.Query) -> dict[str, None]:
        """Without looking into it: whatever is read and is no common table expression."""
        common = {cte.alias for cte in query.find_all(exp.CTE)}
        return {self._key(table): None for table in query.find_all(exp.Table) if table.db or table.name not in common}

    def _key(self, table: exp.Table) -> str:
        return key_of(placed(table.copy(), self._question.database, self._question.schema))
