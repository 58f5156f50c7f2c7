"""The statements of a script, parsed one by one: one that cannot be parsed does not affect the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import TokenError

from lily.intake.sql.script import jinja
from lily.intake.sql.script.parsing import NotParsed, parsed, token_problem
from lily.intake.sql.script.piece import STRINGS, Piece
from lily.intake.sql.script.splitting import Splitter
from lily.intake.sql.script.without_data import moves_no_data
from lily.model.errors import Problem, Refused

MAX_STATEMENTS = 5_000
TOO_DEEP = "it is nested too deeply"
_UNPARSED = frozenset({"BULK", "RENAME", "EXCHANGE", "UNLOAD", "EXEC", "EXECUTE", "CALL", "EXPLAIN", "SHOW"})


@dataclass(frozen=True, slots=True)
class Statement:
    """`expression` is None if the statement is not parsed; then `reason` says why, unless its tokens suffice."""

    number: int
    piece: Piece
    expression: exp.Expr | None = None
    reason: str | None = None


@lru_cache(maxsize=2)  # a script is analyzed twice: before and after its tables are looked up
def statements_of(script: str, dialect: str) -> tuple[Statement, ...]:
    """Raises Refused if no statement can be parsed, with the position of each error."""
    marks = jinja.Jinja(script)
    try:
        pieces = list(Splitter(dialect).split(marks.text))
    except TokenError as error:
        raise Refused(Problem("SQL_SYNTAX", token_problem(error), "sql")) from error
    if len(pieces) > MAX_STATEMENTS:
        raise Refused(Problem("TOO_LONG", f"a script may have at most {MAX_STATEMENTS} statements; split it", "sql"))
    found = tuple(_statements(pieces, dialect, marks))
    failed = [statement.reason for statement in found if statement.reason and statement.piece.reason is None]
    if failed == [TOO_DEEP] * len(found) and found:
        raise Refused(Problem("TOO_COMPLEX", f"{TOO_DEEP}; split it", "sql"))
    if failed and len(failed) == len(found):
        raise Refused(*(Problem("SQL_SYNTAX", reason, "sql") for reason in failed[:20]))
    return found


def _statements(pieces: list[Piece], dialect: str, marks: jinja.Jinja) -> Iterator[Statement]:
    for number, piece in enumerate(pieces, 1):
        mark = marks.between(*_span(piece), _strings(piece))
        if mark is not None:
            yield Statement(number, piece.refused(jinja.reason(mark)), None, jinja.reason(mark))
        elif piece.words[0] == "INSERT" and {"EXEC", "EXECUTE"} & set(piece.words[2:]):
            reason = "the rows that a procedure returns are not known"
            yield Statement(number, piece.refused(reason), None, reason)
        elif piece.reason is not None or piece.words[0] in _UNPARSED:
            yield Statement(number, piece, None, piece.reason)
        else:
            yield _parsed(number, piece, dialect)


def _parsed(number: int, piece: Piece, dialect: str) -> Statement:
    try:
        return Statement(number, piece, parsed(piece, dialect))
    except NotParsed as error:
        return Statement(number, piece, None, None if moves_no_data(piece) else error.description)
    except RecursionError:
        return Statement(number, piece, None, TOO_DEEP)


def _span(piece: Piece) -> tuple[int, int]:
    start, end = piece.chunk or (piece.tokens[0].start, piece.tokens[-1].end + 1)
    return piece.text.place(start), piece.text.place(end)


def _strings(piece: Piece) -> list[tuple[int, int]]:
    place = piece.text.place
    return [(place(t.start), place(t.end) + 1) for t in piece.tokens if t.token_type in STRINGS]
