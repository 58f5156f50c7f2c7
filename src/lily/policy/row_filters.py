"""Row filters: one SQL expression, written by a person and placed into the queries of data tools.

What is accepted is a list of syntax nodes, so everything unknown is refused: subqueries, statements, parameters,
aggregates, windows, functions that are not listed. Left out on purpose is what means different things to different
engines, such as division and `IS TRUE`. Each dialect's text is parsed again before the filter is accepted, so a literal
or a name cannot turn into syntax on the way.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp, parse, tokenize
from sqlglot.errors import SqlglotError

from lily.model.errors import Refused
from lily.model.values import Checker
from lily.policy.row_filter_checks import NO_CURRENT_USER, refuse_calls, refuse_node, refuse_tokens, refused
from lily.policy.row_filter_syntax import BOOLEAN_NODES

DIALECTS = ("postgres", "trino", "snowflake", "bigquery", "databricks")
CANONICAL = "postgres"
MAX_LENGTH = 4_000  # characters
MAX_KEPT = 2_048  # parsed and rendered filters


@dataclass(frozen=True, slots=True)
class RowFilter:
    """`sql` is the canonical text, in PostgreSQL's dialect."""

    sql: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it compares, sorted, as written. Raises Refused if the text is not a valid row filter."""
        return _columns(_parsed(self.sql))

    def render(self, dialect: str) -> str:
        """The same expression in one of DIALECTS. Raises Refused if the text is not a valid row filter."""
        return _rendered(self.sql, dialect)


def parse_row_filter(text: str) -> RowFilter:
    """Raises Refused unless the text is one boolean expression over columns, literals and the listed functions."""
    row_filter = RowFilter(_text(_parsed(text), CANONICAL))
    for dialect in DIALECTS:
        row_filter.render(dialect)
    return row_filter


def checked_row_filter(checker: Checker, text: str) -> RowFilter | None:
    """Like `parse_row_filter`, but records the problem."""
    try:
        return parse_row_filter(text)
    except Refused as error:
        checker.problems.extend(error.problems)
        return None


def conjunction(filters: Iterable[RowFilter], dialect: str) -> str:
    """All filters combined with AND, in a dialect; empty without filters."""
    return " AND ".join(f"({row_filter.render(dialect)})" for row_filter in filters)


@lru_cache(maxsize=MAX_KEPT)
def _rendered(sql: str, dialect: str) -> str:
    if dialect not in DIALECTS:
        raise ValueError(f"unknown dialect {dialect!r}; use one of: {', '.join(DIALECTS)}")
    expression = _parsed(sql)
    text = _text(expression, dialect)
    if _contents(_parsed(text, dialect)) != _contents(expression):
        raise refused(f"it cannot be written in the dialect {dialect} without a change of meaning; simplify it")
    return text


def _text(expression: exp.Expr, dialect: str) -> str:
    if dialect == NO_CURRENT_USER:
        expression = expression.transform(lambda node: exp.SessionUser() if isinstance(node, exp.CurrentUser) else node)
    try:
        return expression.sql(dialect=dialect, comments=False)
    except RecursionError as error:
        raise refused("it is nested too deeply; simplify it") from error


@lru_cache(maxsize=MAX_KEPT)
def _parsed(text: str, dialect: str = CANONICAL) -> exp.Expr:
    """Shared by all callers: not to be changed."""
    if len(text) > MAX_LENGTH:
        raise refused(f"it must not exceed {MAX_LENGTH} characters; tag the rows' class in a column and compare that")
    try:
        tokens = tokenize(text, read=dialect)
        refuse_tokens(tokens)
        if dialect == CANONICAL:  # text in other dialects is Lily's own
            refuse_calls(tokens)
        found = parse(text, read=dialect)
    except (SqlglotError, RecursionError) as error:
        described = f"it is not a SQL expression: {str(error).splitlines()[0][:200]}"
        raise refused(f"{described}; write one such as country = 'DE'") from error
    if len(found) != 1 or found[0] is None:
        raise refused("it must be exactly one expression such as country = 'DE'")
    for node in found[0].walk():
        refuse_node(node, dialect)
    if not _is_boolean(found[0]):
        raise refused("it must be true or false for each row, such as country = 'DE'")
    return found[0]


def _is_boolean(expression: exp.Expr) -> bool:
    node = expression.unnest()
    if isinstance(node, exp.Cast):
        return bool(node.to.this == exp.DataType.Type.BOOLEAN)
    return isinstance(node, BOOLEAN_NODES)


def _columns(expression: exp.Expr) -> tuple[str, ...]:
    return tuple(sorted({column.name for column in expression.find_all(exp.Column)}))


def _contents(expression: exp.Expr) -> tuple[list[str], list[tuple[bool, str]]]:
    """What must be the same in every dialect: the columns and the literals, wherever its functions put them."""
    found = (node for node in expression.find_all(exp.Literal) if not isinstance(node.parent, exp.DataTypeParam))
    return [*_columns(expression)], sorted((node.is_string, node.name) for node in found)
