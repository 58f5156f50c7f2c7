"""Adds the columns of `create table x as select * from y` that only later statements name, if y's are not known."""

from lily.intake.sql.relations.columns import Column, Rest
from lily.intake.sql.statements.writer import Writer

MAX_ROUNDS = 20  # of a chain of tables that are each made with `*` from the one before


def complete_copies(writer: Writer) -> None:
    for _ in range(MAX_ROUNDS):
        before = len(writer.graph), sum(map(len, writer.tables.used.values()))
        for target, rests in writer.copies.items():
            _pass_up(writer, target, rests)
            for rest in rests:
                _pass_down(writer, target, rest)
        if before == (len(writer.graph), sum(map(len, writer.tables.used.values()))):
            return


def _pass_up(writer: Writer, target: str, rests: list[Rest]) -> None:
    """A column of the copy is a column of its source, or of each table of a union."""
    if len(rests) != 1:
        return
    known = set(writer.tables.columns(target))
    for name in list(writer.tables.used.get(target, ())):
        if name not in rests[0].without and name not in known:
            for table in rests[0].tables:
                writer.tables.use(Column(table, name))


def _pass_down(writer: Writer, target: str, rest: Rest) -> None:
    defines = target if target in writer.graph.defined else None
    for table in sorted(rest.tables):
        for name in writer.tables.used.get(table, ()):
            if name not in rest.without and table != target:
                writer.graph.derive(Column(table, name), Column(target, name), defines=defines)
                writer.graph.shows(Column(table, name), target, defines=defines)
                writer.tables.use(Column(target, name))
