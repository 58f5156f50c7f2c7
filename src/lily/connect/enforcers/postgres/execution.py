"""Carries out the steps of a plan: one transaction per table."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

import psycopg
from psycopg import errors

from lily.connect.enforcers.postgres.identifiers import quoted
from lily.connect.enforcers.postgres.queries import query
from lily.connect.enforcers.postgres.session import Connection, Session, is_passing
from lily.model.errors import LilyError, Terminal, Transient
from lily.plugins import Failure, Step
from lily.plugins.enforcers import Path

_LOCK = 0x6C696C79  # of all who enforce in this database
# A role or a column that the plan names is gone.
_CHANGED = (errors.UndefinedObject, errors.UndefinedTable, errors.UndefinedColumn)
_OWNER = """
select pg_get_userbyid(c.relowner), current_user
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace where n.nspname = %s and c.relname = %s
"""


@contextmanager
def alone(connection: Connection, target: str) -> Iterator[None]:
    """Raises Transient if another process enforces in the same database."""
    if not connection.execute("select pg_try_advisory_lock(%s)", [_LOCK]).fetchall()[0][0]:
        raise Transient(f"Another process enforces in {target}. It is tried again.")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute("select pg_advisory_unlock(%s)", [_LOCK])


def prepare(connection: Connection) -> None:
    """Raises Terminal if Lily must not create its schema."""
    try:
        connection.execute(query("prepare"))
    except errors.InsufficientPrivilege as error:
        raise _may_not_create(connection, error) from error


def carry_out(session: Session, connection: Connection, steps: Sequence[Step]) -> list[Failure]:
    """Returns the tables that are not as planned. Their readers have lost what the plan takes from them all the same,
    where that was possible."""
    failures: list[Failure] = []
    tables = 0
    for path, group in groupby(steps, key=lambda step: step.table):
        statements = [step.change for step in group]
        tables += len(path) == 3
        try:
            run(connection, statements)
        except psycopg.Error as error:
            if connection.broken:
                raise
            if not path:
                raise (_may_not_create(connection, error) if _is_privilege(error) else error) from error
            failures.append(_failure(session, connection, path, error))
            _close(connection, statements, error)
    _refuse_if_none(failures, tables)
    return failures


def run(connection: Connection, statements: Sequence[str]) -> None:
    """In one message, which PostgreSQL runs in one transaction."""
    connection.execute(";\n".join(statements).encode())  # every name in it is quoted


def _close(connection: Connection, statements: Sequence[str], error: psycopg.Error) -> None:
    """What a decision denies must not stay readable because something else about the table failed."""
    narrowing = [one for one in statements[1:] if one.startswith("REVOKE SELECT")]
    if error.sqlstate == "LY001" or not narrowing:
        return
    try:
        run(connection, [statements[0], *narrowing])
    except psycopg.Error:  # the failure that led here is reported, and has the same remedy
        if connection.broken:
            raise


def _failure(session: Session, connection: Connection, path: Path, error: psycopg.Error) -> Failure:
    if error.sqlstate == "LY001" or isinstance(error, _CHANGED):
        return Failure(path, f"{str(error).splitlines()[0]}; plan again", transient=True)
    described = str(session.translated(error))
    if _is_privilege(error):
        described = f"{described} {_remedy(connection, path)}"
    elif isinstance(error, errors.DependentObjectsStillExist):
        described = f"{str(error).replace(chr(10), ' ')} Drop or change what depends on it."
    return Failure(path, described, transient=is_passing(error))


def _remedy(connection: Connection, path: Path) -> str:
    found = connection.execute(_OWNER, [path[1], path[-1]]).fetchall()
    if len(path) < 3 or not found:
        return "Give it the rights of the schema's owner."
    owner, lily = found[0]
    return f"Run: GRANT {quoted(owner)} TO {quoted(lily)}"


def _may_not_create(connection: Connection, error: psycopg.Error) -> LilyError:
    database, lily = connection.execute("select current_database(), current_user").fetchall()[0]
    described = f"Lily cannot create its schemas in {database}: {str(error).splitlines()[0]}"
    return Terminal(f"{described}. Run: GRANT CREATE ON DATABASE {quoted(database)} TO {quoted(lily)}")


def _is_privilege(error: psycopg.Error) -> bool:
    return isinstance(error, errors.InsufficientPrivilege)


def _refuse_if_none(failures: Sequence[Failure], tables: int) -> None:
    """Raises Terminal if not a single table could be changed because privileges are missing."""
    remedies = {one.error.rpartition("Run: ")[2] for one in failures if "Run: GRANT" in one.error}
    if tables and len(failures) >= tables and remedies and all("Run: GRANT" in one.error for one in failures):
        raise Terminal(
            f"Lily could not change any of {tables} tables: {failures[0].error}; {'; '.join(sorted(remedies))}"
        )
