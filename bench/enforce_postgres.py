"""A PostgreSQL target brought in line with decisions, found unchanged, changed in one column, and given back.

The target is a new database of the stack's PostgreSQL, with tables of ten columns, twenty people in four groups and
default privileges. Nineteen of twenty people may read everything; a tenth of the columns are masked for three of the
four groups, a twentieth of the tables are row-filtered for one. In line means: planned and applied, which gives every
table its privileges and its masking view, each in a transaction of its own. Unchanged: planned again, nothing to do.
The decisions are made beforehand. As a yardstick, the same number of views and column privileges is made by plain
statements, one transaction per table, without looking at anything.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench.findings import BenchError, Finding, Outcome, Round, at_most, column, ratios
from bench.run import Run
from lily.connect.enforcers.postgres import Postgres
from lily.plugins import Decision

COLUMNS = 10  # of a table
DATABASE = "enforced"
GROUPS = tuple(f"bench_group_{number}" for number in range(4))
PEOPLE = tuple(f"bench_person_{number}" for number in range(20))
_PLAIN = "the same views and privileges by plain statements"


def measure(run: Run) -> Outcome:
    tables = run.sizes.enforced_columns // COLUMNS
    rounds = []
    for _ in run.rounds():
        with _database(run.stack.database_url) as url:
            run.say(f"{tables:,} tables of {COLUMNS} columns")
            _fill(url, tables)
            rounds.append(_round(run, url, tables))
    return Outcome(_findings(rounds), rounds, {"columns": run.sizes.enforced_columns})


@contextmanager
def _database(server: str) -> Iterator[str]:
    with psycopg.connect(server, autocommit=True) as connection:
        for role in (*GROUPS, *PEOPLE):
            connection.execute(f"create role {role}".encode())
        for number, person in enumerate(PEOPLE):
            connection.execute(f"grant {GROUPS[number % 4]} to {person}".encode())
        connection.execute(f"create database {DATABASE}".encode())
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{DATABASE}"))
        finally:
            connection.execute(f"drop database {DATABASE}".encode())
            connection.execute(f"drop role {', '.join((*PEOPLE, *GROUPS))}".encode())


def _fill(url: str, tables: int) -> None:
    columns = ", ".join(f"c{number} text" for number in range(COLUMNS))
    with psycopg.connect(url) as connection:
        connection.execute("create schema plain_masked")
        for name in ("shop", "plain"):
            connection.execute(f"create schema {name}".encode())
            for number in range(tables):
                connection.execute(f"create table {name}.t{number} ({columns})".encode())


def _round(run: Run, url: str, tables: int) -> Round:
    decisions = _decisions(tables)
    config = Postgres.Config.model_validate({"url": url, "schemas": ["shop"]})
    with closing(Postgres(config)) as enforcer:
        run.say("bringing it in line")
        in_line = _seconds(lambda: _apply(enforcer, decisions))
        run.say("planning again")
        unchanged = _seconds(lambda: _refuse_steps(enforcer, decisions))
        one = _seconds(lambda: _apply(enforcer, [*decisions, _masked("t0", 0, PEOPLE)]))
        run.say("giving it back")
        removed = _seconds(enforcer.remove)
    run.say("plain statements")
    return {"in_line": in_line, "unchanged": unchanged, "one": one, "removed": removed, "plain": _plain(url, tables)}


def _decisions(tables: int) -> list[Decision]:
    """Those of one table name all the people at once, as Lily's own do."""
    masked = tuple(person for number, person in enumerate(PEOPLE) if number % 4)
    found = []
    for number in range(tables):
        name = f"t{number}"
        allowed = (*GROUPS, *PEOPLE[1:])
        if number % 20 == 0:
            filtered = (GROUPS[0], *PEOPLE[4::4])
            row_filter = ("c1 = 'DE'",)
            found.append(Decision(name, (DATABASE, "shop", name), filtered, "row-filter", row_filters=row_filter))
            allowed = tuple(one for one in allowed if one not in filtered)
        found.append(Decision(name, (DATABASE, "shop", name), allowed, "allow"))
        found.append(_masked(name, number % COLUMNS, (*GROUPS[1:], *masked)))
    return found


def _masked(table: str, number: int, roles: Sequence[str]) -> Decision:
    path = (DATABASE, "shop", table)
    return Decision(table, path, tuple(roles), "mask", f"c{number}", mask="show-last-4", tags=("PII",))


def _apply(enforcer: Postgres, decisions: Sequence[Decision]) -> None:
    if failures := enforcer.apply(enforcer.plan(decisions)):
        raise BenchError(f"{len(failures)} tables could not be brought in line: {failures[0].error}")


def _refuse_steps(enforcer: Postgres, decisions: Sequence[Decision]) -> None:
    if steps := enforcer.plan(decisions).steps:
        raise BenchError(f"there are {len(steps)} steps left where there should be none: {steps[0].change}")


def _plain(url: str, tables: int) -> float:
    columns = ", ".join(f"c{number}" for number in range(1, COLUMNS))
    masked = "case when current_user = any ('{a,b}'::name[]) then c0 else right(c0, 4) end as c0"
    readers = ", ".join((*GROUPS, *PEOPLE[1:]))
    with psycopg.connect(url, autocommit=True) as connection:
        began = time.monotonic()
        for number in range(tables):
            connection.execute(
                f"create view plain_masked.t{number} as select {masked}, {columns} from plain.t{number}; "  # noqa: S608
                f"grant select ({columns}) on plain.t{number} to {readers}; "
                f"grant select on plain_masked.t{number} to {readers}".encode()
            )
        return time.monotonic() - began


def _seconds(action: Callable[[], None]) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began


def _findings(rounds: list[Round]) -> list[Finding]:
    return [
        Finding(what="columns brought in line", goal=at_most(20), unit="s", values=column(rounds, "in_line")),
        Finding(what="columns brought in line", against=_PLAIN, values=ratios(rounds, "in_line", "plain")),
        Finding(what="planned again, unchanged", goal=at_most(2), unit="s", values=column(rounds, "unchanged")),
        Finding(what="one more column masked, until applied", unit="s", values=column(rounds, "one")),
        Finding(what="everything given back", unit="s", values=column(rounds, "removed")),
    ]
