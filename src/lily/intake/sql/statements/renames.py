"""Tables that get another name, or change places: ALTER … RENAME, RENAME TABLE, SWAP, EXCHANGE, sp_rename."""

from sqlglot import exp

from lily.intake.sql.relations.columns import Column
from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.statements.writer import Writer


def alter(statement: exp.Alter, session: Session, writer: Writer) -> None:
    if not isinstance(statement.this, exp.Table):
        return
    old = session.key(statement.this)
    for action in statement.args.get("actions") or ():
        if isinstance(action, exp.AlterRename) and isinstance(action.this, exp.Table):
            rename(old, _beside(statement.this, action.this, session), writer)
        elif isinstance(action, exp.RenameColumn):
            one, other = (Column(old, column.name.lower()) for column in (action.this, action.args["to"]))
            writer.graph.derive(one, other)
        elif isinstance(action, exp.SwapTable):
            swap(old, session.key(action.this), writer)


def rename(old: str, new: str, writer: Writer) -> None:
    """What the table had before the script is derived from the old name, and so keeps its tags."""
    writer.move({old: new})
    writer.graph.rename({old: new})
    writer.tables.rename(old, new)
    if old in writer.copies:
        writer.copies[new] = writer.copies.pop(old)


def swap(one: str, other: str, writer: Writer) -> None:
    writer.move({one: other, other: one})
    writer.graph.rename({one: other, other: one})
    writer.tables.swap(one, other)


def _beside(table: exp.Table, new: exp.Table, session: Session) -> str:
    """A new name without a schema stays in the schema of the old one."""
    named = new.copy()
    for part in ("db", "catalog"):
        if not named.args.get(part) and table.args.get(part) and not (part == "catalog" and new.db):
            named.set(part, table.args[part].copy())
    return session.key(named)
