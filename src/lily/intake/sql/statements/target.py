"""The table that a statement writes."""

from dataclasses import dataclass

from sqlglot import exp

from lily.intake.sql.relations.scopes import Session


@dataclass(frozen=True, slots=True)
class Target:
    """`columns` are those that the statement names, by position."""

    key: str
    columns: list[str] | None = None
    temporary: bool = False


def target_of(written: exp.Expr | None, session: Session) -> Target | None:
    columns = None
    if isinstance(written, exp.Schema):
        named = (exp.Identifier, exp.ColumnDef, exp.Column)
        columns = [column.name.lower() for column in written.expressions if isinstance(column, named)] or None
        written = written.this
    if not isinstance(written, exp.Table) or not written.name:
        return None
    return Target(session.key(written), columns, is_temporary(written))


def is_temporary(table: exp.Table, create: exp.Create | None = None) -> bool:
    properties = create.args.get("properties") if create is not None else None
    declared = properties.expressions if isinstance(properties, exp.Properties) else []
    if any(isinstance(entry, exp.TemporaryProperty) or _is_volatile(entry) for entry in declared):
        return True
    return (
        isinstance(table.this, exp.Parameter) or bool(table.this.args.get("temporary")) or table.name[:1] in {"#", "@"}
    )


def _is_volatile(entry: exp.Expr) -> bool:
    """Teradata's word for a temporary table, which sqlglot shares with functions."""
    return isinstance(entry, exp.VolatileProperty) or (
        isinstance(entry, exp.StabilityProperty) and entry.name.upper() == "VOLATILE"
    )
