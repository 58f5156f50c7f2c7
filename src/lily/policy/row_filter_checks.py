"""What a row filter must not contain, with the reason: before it is parsed by its tokens, afterwards by its nodes."""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from lily.model.errors import Problem, Refused
from lily.policy.row_filter_syntax import CALLABLE, FUNCTION_NAMES, NODES, SIZED_TYPES, TYPES, UNITS

NO_CURRENT_USER = "bigquery"  # which has SESSION_USER instead; elsewhere the two differ
MAX_TOKENS = 500
MAX_NESTING = 20  # the parser is recursive
_NESTING = frozenset({"NOT", "CASE", "DASH"})
_INTERVAL = re.compile(r"\d+( [a-z]+)?", re.ASCII | re.IGNORECASE)  # sqlglot drops what else there is


def refused(described: str) -> Refused:
    return Refused(Problem("INVALID_ROW_FILTER", f"row_filter: {described}", "row_filter"))


def refuse_tokens(tokens: Sequence[Token]) -> None:
    """Raises Refused for what would be lost in parsing, and for what would take the parser long."""
    if len(tokens) > MAX_TOKENS:
        raise refused(f"it must not have more than {MAX_TOKENS} words and signs; use a shorter one")
    kinds = [token.token_type.name for token in tokens]
    if any(token.comments for token in tokens):
        raise refused("it must not contain comments; describe it in the policy's name")
    if "SEMICOLON" in kinds:
        raise refused("it must be one expression without a semicolon")
    depths = accumulate({"L_PAREN": 1, "R_PAREN": -1}.get(kind, 0) for kind in kinds)
    if max(depths, default=0) > MAX_NESTING or sum(kind in _NESTING for kind in kinds) > MAX_NESTING:
        raise refused(f"it must not nest deeper than {MAX_NESTING}, nor have more NOT, CASE and - than that")


def refuse_calls(tokens: Sequence[Token]) -> None:
    """Raises Refused for words before a parenthesis that are not listed, and for intervals that sqlglot misreads."""
    for at, (word, following) in enumerate(pairwise(tokens)):
        name, kind = word.text.lower(), following.token_type.name
        if name == "interval" and kind == "STRING" and not _INTERVAL.fullmatch(following.text):
            raise refused("an interval is a whole number and a unit: interval '7' day")
        if kind == "L_PAREN" and word.token_type.name != "STRING" and name.replace("_", "").isalnum():
            inside = tokens[at + 2].token_type.name if at + 2 < len(tokens) else ""
            if name not in CALLABLE and not (name in SIZED_TYPES and inside == "NUMBER"):
                raise refused(_unknown_function(name))


def refuse_node(node: exp.Expr, dialect: str) -> None:
    """Raises Refused for a node that is not listed, and for one that does not mean the same to every engine."""
    if isinstance(node, exp.Query | exp.Subquery | exp.Exists):
        raise refused("it must not contain a subquery; compare columns of the row itself")
    if isinstance(node, exp.AggFunc | exp.Window):
        raise refused("it must not contain an aggregate or a window; it is evaluated for each row alone")
    if type(node) not in NODES or (isinstance(node, exp.SessionUser) and dialect != NO_CURRENT_USER):
        raise refused(_described(node))
    if isinstance(node, exp.Column) and any(part != "this" and value for part, value in node.args.items()):
        raise refused(f"name the column alone, {node.name[:64]!r}: which table it belongs to depends on the query")
    if isinstance(node, exp.DataType) and (node.this not in TYPES or node.args.get("nested")):
        known = ", ".join(sorted(kind.value.lower() for kind in TYPES))
        raise refused(f"it must not cast to {node.sql()[:64]}; use one of: {known}")
    if isinstance(node, exp.Var) and not node.name.isalpha():
        raise refused(f"it must not contain {node.name[:64]!r}")
    _refuse_difference(node)


def _refuse_difference(node: exp.Expr) -> None:
    if isinstance(node, exp.Is) and not _is_null(node.expression):
        raise refused("IS may be followed by NULL or NOT NULL only; write `= true` or coalesce")
    if isinstance(node, exp.Interval) and not (isinstance(node.this, exp.Literal) and node.args.get("unit")):
        raise refused("an interval is a whole number and a unit: interval '7' day")
    if isinstance(node, exp.Substring) and not all(_is_count(node.args.get(part)) for part in ("start", "length")):
        raise refused("engines differ in substring but for positive numbers: substring(a from 1 for 2)")
    if isinstance(node, exp.Extract | exp.TimestampTrunc | exp.DateTrunc) and _unit(node) not in UNITS:
        raise refused(f"engines differ in {_unit(node)[:64]!r}; use one of: {', '.join(UNITS)}")
    if isinstance(node, exp.In) and not (node.expressions or node.args.get("query")):
        raise refused("IN needs at least one value")
    if isinstance(node, exp.Like | exp.ILike) and "\\" in node.expression.name:
        raise refused("engines differ in what a backslash means in LIKE; use another sign with ESCAPE")


def _is_null(node: exp.Expr) -> bool:
    return isinstance(node.this if isinstance(node, exp.Not) else node, exp.Null)


def _is_count(node: exp.Expr | None) -> bool:
    return node is None or (
        isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal() and int(node.name) > 0
    )


def _unit(node: exp.Expr) -> str:
    named = node.this if isinstance(node, exp.Extract) else node.args.get("unit")
    return named.name.lower() if named is not None else ""


def _described(node: exp.Expr) -> str:
    if isinstance(node, exp.Func):
        return _unknown_function(node.name if isinstance(node, exp.Anonymous) else node.sql_name())
    what = type(node).__name__.lower()
    return f"it must not contain {what}; use comparisons, AND, OR, NOT, IN, BETWEEN, LIKE and IS NULL"


def _unknown_function(name: str) -> str:
    return f"it must not contain the function {name[:64].lower()}; use one of: {', '.join(FUNCTION_NAMES)}"
