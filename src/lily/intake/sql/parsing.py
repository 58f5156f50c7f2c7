"""Parses a script into statements, with all names in lower case: names of engine objects compare without case."""

import re

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from lily.model.errors import Problem, Refused

MAX_STATEMENTS = 1_000
_POSITION = re.compile(r"\b(\d+):(\d+)$")
_QUERY_OF_CREATE = re.compile(r"\b(?:view|table)\b.*?\bas\b(.*)", re.IGNORECASE | re.DOTALL)


def parse_script(sql: str, dialect: str) -> list[exp.Expr]:
    """Raises Refused with the position of each syntax error and what was expected there."""
    found = _parsed(sql, dialect)
    if any(isinstance(statement, exp.Condition | exp.Alias) for statement in found):
        raise Refused(Problem("SQL_SYNTAX", "found an expression where a statement was expected", "sql"))
    if len(found) > MAX_STATEMENTS:
        raise Refused(Problem("TOO_LONG", f"a script may have at most {MAX_STATEMENTS} statements; split it", "sql"))
    for statement in found:
        if isinstance(statement, exp.Command):
            _refuse_broken_query(sql, statement.args.get("expression"), dialect)
    return found


def _parsed(sql: str, dialect: str) -> list[exp.Expr]:
    try:
        return [statement for statement in sqlglot.parse(sql, read=dialect or None) if statement is not None]
    except ParseError as error:
        raise Refused(*(_problem(dict(entry)) for entry in error.errors[:20])) from error
    except TokenError as error:
        cause = _POSITION.sub(r"line \1, column \2", str(error.__cause__ or error)[:300])
        why = f"the text cannot be split into tokens: {cause}"
        raise Refused(Problem("SQL_SYNTAX", why, "sql")) from error


def _refuse_broken_query(sql: str, command: object, dialect: str) -> None:
    """sqlglot treats a CREATE that it cannot parse as an opaque command. If the cause is its query, report that."""
    text = str(command or "")
    written = _QUERY_OF_CREATE.search(text)
    if written is None:
        return
    before = sql[: max(sql.find(text), 0)] + text[: written.start(1)]
    blank = re.sub(r"[^\n]", " ", before)  # keeps the line and column numbers of the script
    found = _parsed(blank + written[1], dialect)
    if not found or not isinstance(found[0], exp.Query):
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise Refused(Problem("SQL_SYNTAX", f"line {line}, column {column}: a query is expected after AS", "sql"))


def lower_names(statement: exp.Expr) -> None:
    """Quotes the names as well, so that sqlglot does not normalise them again."""
    for identifier in statement.find_all(exp.Identifier):
        identifier.set("this", identifier.name.lower())
        identifier.set("quoted", True)


def table_key(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def with_defaults(table: exp.Table, database: str | None, schema: str | None) -> exp.Table:
    """The table with the default database and schema where its name omits them."""
    if schema and not table.db:
        table.set("db", exp.to_identifier(schema.lower(), quoted=True))
    if database and table.db and not table.catalog:
        table.set("catalog", exp.to_identifier(database.lower(), quoted=True))
    return table


def _problem(entry: dict[str, object]) -> Problem:
    near = f"{entry.get('start_context') or ''}{entry.get('highlight') or ''}"[-60:].strip()
    where = f"line {entry.get('line')}, column {entry.get('col')}"
    return Problem("SQL_SYNTAX", f"{where}: {entry.get('description')} (after: {near!r})", "sql")
