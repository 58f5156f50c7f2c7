"""Connects tables that have another name after the script with the names that they had before: their tags follow."""

from collections.abc import Iterator

from lily.intake.sql.relations.columns import Column
from lily.intake.sql.statements.writer import Writer


def connect_moved(writer: Writer) -> Iterator[str]:
    """Yields what to warn about."""
    for new, old in writer.contents.items():
        if old is None or old == new:
            continue
        writer.graph.derive(old, new)
        columns = writer.tables.columns_before(old)
        for name in columns:
            writer.graph.derive(Column(old, name), Column(new, name))
        if not columns or not writer.tables.expands:
            reason = "the catalogue has none of it" if writer.tables.expands else "that needs the scope metadata:read"
            yield f"{old} was renamed to {new}; its columns are not all connected, because {reason}"
