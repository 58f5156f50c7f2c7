"""PostgreSQL's partitions and child tables: rows of a part are rows of the whole."""

from lily.intake.sql.relations.columns import Column
from lily.intake.sql.statements.writer import Writer


def connect_part(part: str, whole: str, writer: Writer, *, routed: bool) -> None:
    """A query of the whole reads the part. Rows that are inserted into a partitioned table are `routed` to its
    partitions; those of a table with children are not."""
    ends = [(part, whole), *([(whole, part)] if routed else [])]
    columns = writer.tables.columns(whole) or writer.tables.columns(part)
    for start, end in ends:
        writer.graph.derive(start, end)
        for name in columns:
            writer.graph.derive(Column(start, name), Column(end, name))
