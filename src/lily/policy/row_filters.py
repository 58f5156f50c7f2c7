"""Row filters: one SQL expression, written by a person and placed into the queries of data tools.

What is accepted is a list of syntax nodes, so everything unknown is refused: subqueries, statements, parameters,
aggregates, windows, functions that are not listed. Left out on purpose is what means different things to different
engines, such as division and `IS TRUE`. Each dialect's text is parsed again before the filter is accepted, so a literal
or a name cannot turn into syntax on the way.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from sqlglot import exp, parse, tokenize
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from lily.model.errors import Problem, Refused
from lily.model.values import Checker
from lily.policy.row_filter_syntax import BOOLEAN_NODES, CALLABLE, FUNCTION_NAMES, NODES, SIZED_TYPES, TYPES

DIALECTS = ("postgres", "trino", "snowflake", "bigquery", "databricks")
CANONICAL = "postgres"
NO_CURRENT_USER = "bigquery"  # which has SESSION_USER instead; elsewhere the two differ
MAX_LENGTH = 4_000  # characters
MAX_TOKENS = 500
MAX_NESTING = 20  # the parser is recursive
_NESTING = frozenset({"NOT", "CASE", "DASH"})
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
    except Refused as refused:
        checker.problems.extend(refused.problems)
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
    again = _parsed(text, dialect)
    if _contents(again) != _contents(expression):
        raise _refused(f"it cannot be written in the dialect {dialect} without a change of meaning; simplify it")
    return text


def _text(expression: exp.Expr, dialect: str) -> str:
    if dialect == NO_CURRENT_USER:
        expression = expression.transform(lambda node: exp.SessionUser() if isinstance(node, exp.CurrentUser) else node)
    try:
        return expression.sql(dialect=dialect, comments=False)
    except RecursionError as error:
        raise _refused("it is nested too deeply; simplify it") from error


@lru_cache(maxsize=MAX_KEPT)
def _parsed(text: str, dialect: str = CANONICAL) -> exp.Expr:
    """Shared by all callers: not to be changed."""
    if len(text) > MAX_LENGTH:
        raise _refused(f"it must not exceed {MAX_LENGTH} characters; tag the rows' class in a column and compare that")
    try:
        tokens = tokenize(text, read=dialect)
        _refuse_tokens(tokens)
        if dialect == CANONICAL:  # other text is Lily's own
            _refuse_calls(tokens)
        found = parse(text, read=dialect)
    except (SqlglotError, RecursionError) as error:
        described = f"it is not a SQL expression: {str(error).splitlines()[0][:200]}"
        raise _refused(f"{described}; write one such as country = 'DE'") from error
    if len(found) != 1 or found[0] is None:
        raise _refused("it must be exactly one expression such as country = 'DE'")
    for node in found[0].walk():
        _refuse_node(node, dialect)
    if not _is_boolean(found[0]):
        raise _refused("it must be true or false for each row, such as country = 'DE'")
    return found[0]


def _refuse_tokens(tokens: Sequence[Token]) -> None:
    if len(tokens) > MAX_TOKENS:
        raise _refused(f"it must not have more than {MAX_TOKENS} words and signs; use a shorter one")
    kinds = [token.token_type.name for token in tokens]
    if any(token.comments for token in tokens):
        raise _refused("it must not contain comments; describe it in the policy's name")
    if "SEMICOLON" in kinds:
        raise _refused("it must be one expression without a semicolon")
    depths = accumulate({"L_PAREN": 1, "R_PAREN": -1}.get(kind, 0) for kind in kinds)
    if max(depths, default=0) > MAX_NESTING or sum(kind in _NESTING for kind in kinds) > MAX_NESTING:
        raise _refused(
            f"it must not nest deeper than {MAX_NESTING} parentheses, or have more than {MAX_NESTING} NOT, CASE and -"
        )


def _refuse_calls(tokens: Sequence[Token]) -> None:
    for word, opening, inside in zip(tokens, tokens[1:], [*tokens[2:], None], strict=False):
        name = word.text.lower()
        if (
            opening.token_type.name != "L_PAREN"
            or not name.replace("_", "").isalnum()
            or word.token_type.name == "STRING"
        ):
            continue
        sized = name in SIZED_TYPES and inside is not None and inside.token_type.name == "NUMBER"
        if name not in CALLABLE and not sized:
            raise _refused(_unknown_function(name))


def _refuse_node(node: exp.Expr, dialect: str) -> None:
    if isinstance(node, exp.Query | exp.Subquery | exp.Exists):
        raise _refused("it must not contain a subquery; compare columns of the row itself")
    if isinstance(node, exp.AggFunc | exp.Window):
        raise _refused("it must not contain an aggregate or a window; it is evaluated for each row alone")
    if type(node) not in NODES or (isinstance(node, exp.SessionUser) and dialect != NO_CURRENT_USER):
        raise _refused(_described(node))
    if isinstance(node, exp.Column) and any(part != "this" and value for part, value in node.args.items()):
        raise _refused(f"name the column alone, {node.name[:64]!r}: which table it belongs to depends on the query")
    if isinstance(node, exp.DataType) and (node.this not in TYPES or node.args.get("nested")):
        known = ", ".join(sorted(kind.value.lower() for kind in TYPES))
        raise _refused(f"it must not cast to {node.sql()[:64]}; use one of: {known}")
    if isinstance(node, exp.Is) and not _is_null(node.expression):
        raise _refused("IS may be followed by NULL or NOT NULL only; write `= true` or coalesce")
    if isinstance(node, exp.Interval) and not (isinstance(node.this, exp.Literal) and node.args.get("unit")):
        raise _refused("an interval is a number and a unit: interval '7' day")
    if isinstance(node, exp.Like | exp.ILike) and "\\" in node.expression.name:
        raise _refused("engines differ in what a backslash means in LIKE; use another sign with ESCAPE")
    if isinstance(node, exp.Var) and not node.name.isalpha():
        raise _refused(f"it must not contain {node.name[:64]!r}")


def _is_null(node: exp.Expr) -> bool:
    return isinstance(node.this if isinstance(node, exp.Not) else node, exp.Null)


def _described(node: exp.Expr) -> str:
    if isinstance(node, exp.Func):
        return _unknown_function(node.name if isinstance(node, exp.Anonymous) else node.sql_name())
    what = type(node).__name__.lower()
    return f"it must not contain {what}; use comparisons, AND, OR, NOT, IN, BETWEEN, LIKE and IS NULL"


def _unknown_function(name: str) -> str:
    return f"it must not contain the function {name[:64].lower()}; use one of: {', '.join(FUNCTION_NAMES)}"


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


def _refused(described: str) -> Refused:
    return Refused(Problem("INVALID_ROW_FILTER", f"row_filter: {described}", "row_filter"))
