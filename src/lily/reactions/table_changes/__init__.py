"""Moves the columns of renamed tables, and deletes what a sender that may not delete everything may delete
(docs/decisions/0045)."""

from lily.reactions.table_changes.task import ChangingTables

__all__ = ["ChangingTables"]
