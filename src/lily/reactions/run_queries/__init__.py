"""Analyzes SQL that runs executed, and adds to their events what it explains (docs/decisions/0039)."""

from lily.reactions.run_queries.analyzers import Analyzers
from lily.reactions.run_queries.appending import LogAppender
from lily.reactions.run_queries.lacking_columns import ColumnSource
from lily.reactions.run_queries.task import AnalyzingQueries

__all__ = ["Analyzers", "AnalyzingQueries", "ColumnSource", "LogAppender"]
