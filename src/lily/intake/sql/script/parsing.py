"""Parses one statement."""

import re

from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError

from lily.intake.sql.dialects import engine_of
from lily.intake.sql.script.piece import Piece, tokens_of
from lily.intake.sql.script.rewrites import creates_rows, query_start, rewritten, simplified

_CLASS = re.compile(r"<class '[\w.]*?(\w+)'>")
_POSITION = re.compile(r"\b(\d+):(\d+)$")


class NotParsed(Exception):
    """`description` says what was expected, and where."""

    def __init__(self, description: str) -> None:
        super().__init__(description)
        self.description = description


def parsed(piece: Piece, dialect: str) -> exp.Expr:
    """Raises NotParsed with the position of the first error."""
    piece = rewritten(piece)
    try:
        found = _parsed(piece, dialect)
    except NotParsed:
        if not creates_rows(piece):
            raise
        return _without_options(piece, dialect)
    return _without_options(piece, dialect) if isinstance(found, exp.Command) and creates_rows(piece) else found


def parse_query(sql: str, dialect: str) -> exp.Expr:
    """A query that is written as a string. Raises NotParsed."""
    try:
        found = engine_of(dialect).parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens_of(sql, dialect), sql)
    except (ParseError, TokenError) as error:
        raise NotParsed("its query cannot be parsed") from error
    if not found or found[0] is None:
        raise NotParsed("a query is expected")
    return found[0]


def _without_options(piece: Piece, dialect: str) -> exp.Expr:
    """A CREATE that could not be parsed: without its options, else the error is in its query."""
    start = query_start(piece)
    if start is None:
        at = piece.words.index("AS") + 1 if "AS" in piece.words[:-1] else len(piece.words) - 1
        line, column = piece.part(at).position
        raise NotParsed(f"line {line}, column {column}: a query is expected after AS")
    found = _parsed(simplified(piece, start), dialect)
    if isinstance(found, exp.Command):
        _parsed(piece.part(start), dialect)
    return found


def _parsed(piece: Piece, dialect: str) -> exp.Expr:
    parser = engine_of(dialect).parser(error_level=ErrorLevel.IMMEDIATE)
    try:
        found = [statement for statement in parser.parse(piece.tokens, piece.text.text) if statement is not None]
    except ParseError as error:
        raise NotParsed(_description(piece, dict(error.errors[0]) if error.errors else {})) from error
    except TokenError as error:
        raise NotParsed(token_problem(error)) from error
    if len(found) != 1 or isinstance(found[0], exp.Condition | exp.Alias):
        line, column = piece.position
        raise NotParsed(f"line {line}, column {column}: found an expression where a statement was expected")
    _refuse_empty(found[0], piece)
    return found[0]


def _refuse_empty(found: exp.Expr, piece: Piece) -> None:
    """PostgreSQL has queries without columns, but one that reads nothing either is a text that was cut off."""
    query = found.expression if isinstance(found, exp.Create | exp.Insert) else found
    if isinstance(query, exp.Select) and not query.expressions and query.args.get("from_") is None:
        line, column = piece.part(len(piece.words) - 1).position
        raise NotParsed(f"line {line}, column {column}: columns are expected after SELECT")


def token_problem(error: TokenError) -> str:
    cause = _POSITION.sub(r"line \1, column \2", str(error.__cause__ or error)[:300])
    return f"the text cannot be split into tokens: {cause}"


def _description(piece: Piece, entry: dict[str, object]) -> str:
    near = f"{entry.get('start_context') or ''}{entry.get('highlight') or ''}"[-60:].strip()
    own_line, line = piece.tokens[0].line, entry.get("line")
    first = piece.position[0]
    shown = first + line - own_line if isinstance(line, int) else first
    described = _CLASS.sub(r"\1", str(entry.get("description")))
    return f"line {shown}, column {entry.get('col')}: {described} (after: {near!r})"
