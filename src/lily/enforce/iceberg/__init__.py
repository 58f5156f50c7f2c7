"""Read restrictions of Iceberg's REST specification, for one table and one user. Pure: no input or output of its own.

columns = named_columns(names, fields)
questions = [table_question(names), *column_questions(columns, names)]    # for the policies
restrictions(table, list(zip(columns, decisions)), user)                  # NotExpressible rather than leave one out
"""

from lily.enforce.iceberg.errors import NotExpressible
from lily.enforce.iceberg.fields import Field, catalogued_field, parse_field
from lily.enforce.iceberg.names import (
    Column,
    column_questions,
    merged,
    named_columns,
    split_namespace,
    table_question,
    unlisted_columns,
)
from lily.enforce.iceberg.restrictions import refuse_unlisted, refuse_unnamed, restrictions

__all__ = [
    "Column",
    "Field",
    "NotExpressible",
    "catalogued_field",
    "column_questions",
    "merged",
    "named_columns",
    "parse_field",
    "refuse_unlisted",
    "refuse_unnamed",
    "restrictions",
    "split_namespace",
    "table_question",
    "unlisted_columns",
]
