"""Rows that a statement puts together itself: values of SET, of VALUES and of MERGE."""

from collections.abc import Collection, Iterable, Iterator

from sqlglot import exp

from lily.intake.sql.relations.columns import Field
from lily.intake.sql.relations.common_tables import add_common_tables
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Session
from lily.intake.sql.relations.sources import Sources


class Reading:
    """The scope of a statement, and the rows that it writes."""

    def __init__(self, statement: exp.Expr, session: Session) -> None:
        self.outer = Scope(session)
        add_common_tables(statement, self.outer)
        self.scope = Scope(session, self.outer)
        self.rows = Relation()
        self.sources = Sources(self.scope, self.rows)
        self.expressions = Expressions(self.scope, self.rows)

    def query(self, query: exp.Expr) -> Relation:
        return self.scope.session.read(query, self.scope)

    def assign(self, assignments: Iterable[exp.Expr], names: Collection[str] = ()) -> None:
        """`names` are those of the table that is written, which may stand before its columns."""
        for name, value, at in assigned(assignments, names):
            if at is None:
                self.rows.items.append(self.expressions.field(value, name))
                continue
            read = self.query(value)
            self.rows.reads(read)
            positions = read.positions()
            self.rows.items.append(positions[at].renamed(name) if at < len(positions) else Field(name))


def assigned(
    assignments: Iterable[exp.Expr], names: Collection[str] = ()
) -> Iterator[tuple[str, exp.Expr, int | None]]:
    """The column and the value of each `SET a = x`; for `SET (a, b) = (select …)` the position in the query."""
    for entry in assignments:
        if not isinstance(entry, exp.EQ | exp.PropertyEQ):
            continue
        written = entry.this
        while isinstance(written, exp.Bracket):  # `set items[1] = x`: an element of an array or map
            written = written.this
        if isinstance(written, exp.Tuple):
            columns, value = written.expressions, entry.expression
            for at, column in enumerate(columns):
                if isinstance(value, exp.Tuple):
                    yield column_name(column, names), value.expressions[at], None
                else:
                    yield column_name(column, names), value, at
        elif isinstance(written, exp.Column | exp.Dot | exp.Identifier):
            yield column_name(written, names), entry.expression, None


def column_name(column: exp.Expr, names: Collection[str] = ()) -> str:
    """The name of a column that is written; of a nested field its path. Without the names of the table, it is the last
    one."""
    parts = [part.name.lower() for part in column.parts] if isinstance(column, exp.Column | exp.Dot) else []
    for at in range(len(parts) - 1, 0, -1):
        if parts[at - 1] in names:
            return ".".join(parts[at:])
    return ".".join(parts if names else parts[-1:]) or column.name.lower()
