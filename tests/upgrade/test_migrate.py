"""Migrating is all or nothing, happens once, and refuses what does not belong together."""

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from lily.embedded.bootstrap import url_for_role
from lily.model.errors import Terminal
from lily.store.postgres.migrations import migrate
from lily.store.postgres.migrations.ledger import SchemaMismatch
from lily.store.postgres.migrations.runner import LOCK, SHIPPED, MigrationFailed
from lily.store.postgres.migrations.scripts import read_schema
from tests.upgrade.database import PASSWORDS, Database

SCHEMA = read_schema(SHIPPED)
FIRST, NEWEST = SCHEMA.migrations[0].name, SCHEMA.migrations[-1].name
EVERY_SCRIPT = [script.name for script in (*SCHEMA.migrations, *SCHEMA.functions)]
FUNCTIONS = [script.name for script in SCHEMA.functions]
PATIENCE_SECONDS = 60.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped scripts, to be changed as a test needs it."""
    copy = tmp_path / "migrations"
    (copy / "functions").mkdir(parents=True)
    for script in SCHEMA.migrations:
        (copy / script.name).write_bytes(script.body)
    for script in SCHEMA.functions:
        (copy / "functions" / script.name).write_bytes(script.body)
    return copy


def test_every_script_is_applied_once(database: Database, fresh: Database) -> None:
    assert migrate(database.owner, PASSWORDS) == EVERY_SCRIPT
    assert migrate(database.owner, PASSWORDS) == []
    assert database.schema() == fresh.schema()


def test_a_changed_migration_is_refused_by_name(database: Database, folder: Path) -> None:
    migrate(database.owner, PASSWORDS)
    with (folder / FIRST).open("a") as file:
        file.write("-- a remark\n")
    with pytest.raises(SchemaMismatch, match=rf"{FIRST} has changed .* Restore the file"):
        migrate(database.owner, PASSWORDS, folder)


def test_a_migration_whose_file_is_missing_is_refused_by_name(database: Database, folder: Path) -> None:
    migrate(database.owner, PASSWORDS)
    (folder / FIRST).unlink()
    with pytest.raises(SchemaMismatch, match=rf"{FIRST} was applied .* missing .* Restore the file"):
        migrate(database.owner, PASSWORDS, folder)


def test_a_newer_database_is_refused(database: Database, folder: Path) -> None:
    (folder / "9000_of_the_future.sql").write_text("create table future ()")
    migrate(database.owner, PASSWORDS, folder)
    with pytest.raises(SchemaMismatch, match=rf"newer .* 9000_of_the_future.sql, .* {NEWEST}.* Start a version"):
        migrate(database.owner, PASSWORDS)


def test_a_migration_that_comes_too_late_is_refused(database: Database, folder: Path) -> None:
    (folder / "9001_second.sql").write_text("select 1")
    migrate(database.owner, PASSWORDS, folder)
    (folder / "9000_first.sql").write_text("select 1")
    with pytest.raises(SchemaMismatch, match=r"9000_first.sql comes before 9001_second.sql"):
        migrate(database.owner, PASSWORDS, folder)


@pytest.mark.parametrize("name", ["9001_broken.sql", "functions/90_broken.sql"])
def test_a_script_that_fails_leaves_nothing_behind(database: Database, folder: Path, name: str) -> None:
    migrate(database.owner, PASSWORDS)
    before = database.schema()
    (folder / "9000_whole.sql").write_text("create table whole ()")
    (folder / name).write_text("create table half (); select 1 / 0")
    with pytest.raises(MigrationFailed, match=rf"{Path(name).name} could not be applied: division by zero"):
        migrate(database.owner, PASSWORDS, folder)
    assert database.schema() == before
    assert migrate(database.owner, PASSWORDS) == []


def test_a_first_installation_that_fails_leaves_nothing_behind(database: Database, folder: Path) -> None:
    before = database.schema()
    (folder / "9000_broken.sql").write_text("select 1 / 0")
    with pytest.raises(MigrationFailed):
        migrate(database.owner, PASSWORDS, folder)
    assert database.schema() == before


def test_a_changed_function_replaces_the_old_one(database: Database, folder: Path, fresh: Database) -> None:
    migrate(database.owner, PASSWORDS)
    script = folder / "functions" / "20_access.sql"
    script.write_text(script.read_text().replace("t.revoked_at is null", "t.revoked_at is not null"))
    assert migrate(database.owner, PASSWORDS, folder) == FUNCTIONS
    assert database.schema() != fresh.schema()
    assert migrate(database.owner, PASSWORDS) == FUNCTIONS
    assert database.schema() == fresh.schema()


def test_a_function_that_a_migration_drops_comes_back_with_its_grants(
    database: Database, folder: Path, fresh: Database
) -> None:
    migrate(database.owner, PASSWORDS)
    (folder / "9000_drops.sql").write_text("drop function authenticate(bytea), passes(edges, tags)")
    assert migrate(database.owner, PASSWORDS, folder) == ["9000_drops.sql", *FUNCTIONS]
    assert database.schema() == fresh.schema()


STORED = """
    select distinct refobjid::regprocedure::text from pg_depend
    where refclassid = 'pg_proc'::regclass
      and classid in ('pg_attrdef'::regclass, 'pg_class'::regclass, 'pg_constraint'::regclass)
"""
# What migrations and stored functions call must not change either, nor must the functions whose hashes are stored.
OF_MIGRATIONS = {
    "separate_tenants(regclass[])",
    "search_words(text)",
    "audit_hash(bytea,audit)",
    "chain_entries()",
    "chain_audit()",
    "number_batch()",
    "raise_positions()",
}
UNTOUCHED = """
    select oid::regprocedure::text from pg_proc
    where pronamespace = 'public'::regnamespace and xmin <> pg_current_xact_id()::xid
"""


def test_every_function_has_a_script_but_those_of_stored_results_and_of_migrations(fresh: Database) -> None:
    """A script that replaced one of those would leave the values in generated columns and indexes as they were. And a
    function that is in no script is the forgotten old signature of one."""
    with psycopg.connect(fresh.owner) as connection:
        stored = {name for (name,) in connection.execute(STORED)}
        for script in SCHEMA.functions:
            connection.execute(script.body)
        untouched = {name for (name,) in connection.execute(UNTOUCHED)}
        connection.rollback()
    assert "search_text(text,text)" in stored
    assert untouched == stored | OF_MIGRATIONS


def test_of_two_that_migrate_at_once_the_second_finds_nothing_to_do(database: Database, fresh: Database) -> None:
    program = (
        "import sys; from lily.store.postgres.migrations import migrate; "
        f"print(*migrate(sys.argv[1], {PASSWORDS!r}), flush=True)"
    )
    with psycopg.connect(database.owner, autocommit=True) as gate:
        gate.execute("select pg_advisory_lock(%s)", [LOCK])
        both = [
            subprocess.Popen([sys.executable, "-c", program, database.owner], stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        wait_for_waiting(gate, 2)
        gate.execute("select pg_advisory_unlock(%s)", [LOCK])
        applied = [process.communicate(timeout=PATIENCE_SECONDS)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(applied) == [[], EVERY_SCRIPT]
    assert database.schema() == fresh.schema()


def wait_for_waiting(connection: psycopg.Connection, count: int) -> None:
    asked = (
        "select count(*) from pg_locks where locktype = 'advisory' and not granted "
        "and database = (select oid from pg_database where datname = current_database())"
    )
    deadline = time.monotonic() + PATIENCE_SECONDS
    while connection.execute(asked).fetchone() != (count,):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_roles_get_the_passwords_of_each_start(database: Database) -> None:
    migrate(database.owner, dict.fromkeys(PASSWORDS, "another"))
    try:
        for role in PASSWORDS:
            psycopg.connect(url_for_role(database.owner, role, "another")).close()
    finally:
        migrate(database.owner, PASSWORDS)


def test_a_role_that_was_given_too_much_loses_it_again(database: Database) -> None:
    with psycopg.connect(database.superuser, autocommit=True) as connection:
        connection.execute("alter role lily_api bypassrls")
        try:
            with pytest.raises(Terminal, match="is not allowed to create or alter the role lily_api"):
                migrate(database.owner, PASSWORDS)
        finally:
            migrate(database.superuser, PASSWORDS)
        asked = "select rolbypassrls, rolsuper from pg_roles where rolname = 'lily_api'"
        assert connection.execute(asked).fetchone() == (False, False)
