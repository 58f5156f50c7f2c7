"""What became of each statement, and why some have no edges."""

from sqlglot import exp

from lily.intake.sql.protocol import Outcome, Status
from lily.intake.sql.script.statements import Statement

UNREAD = "its rows are in a temporary table that the script does not read"


def outcome_of(statement: Statement, failure: str | None, reason: str | None, *, is_partial: bool) -> Outcome:
    """A failure after some edges were found leaves these: then the statement is understood in part."""
    failed, some = failure is not None, reason is None
    status: Status = "partial" if is_partial or (failed and some) else "understood"
    status = "not_understood" if failed and not some else status
    return Outcome(statement.number, *statement.piece.position, status, reason)


def reason_without_edges(statement: Statement, failure: str | None, *, makes_table: bool) -> str:
    if failure is not None:
        return failure
    match statement.expression:
        case exp.Query():
            return "it reads no table" if makes_table else "a query whose rows are not stored has no lineage"
        case exp.Insert() | exp.Update() | exp.Merge():
            return "it reads no table, or only the one that it writes"
        case exp.Create(expression=exp.Query() | exp.Values()):
            return "it reads no table"
        case exp.Create():
            return "it contains no query whose rows it stores"
    return f"{statement.piece.words[0]} moves no data"
