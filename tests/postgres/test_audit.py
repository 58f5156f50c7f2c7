"""The audit in a real PostgreSQL: one chain per tenant, whoever writes, and no way to change it that does not show."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import IsolationLevel

from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.audit.chain import Head, Verified
from lily.store.postgres.audit.entries import AuditEntry, Filters, insert_audit, read_entries, record
from lily.store.postgres.audit.origin import ORIGIN, Origin
from lily.store.postgres.audit.pruning import prune_audit
from lily.store.postgres.audit.verification import opened_chains
from lily.store.postgres.connection import connect
from lily.store.postgres.sessions import Database
from tests.postgres.migrated import Migrated

PATIENCE_SECONDS = 60
BACKDATED = (
    "insert into audit (tenant_id, at, principal, action, entity) "
    "select %s, now() - make_interval(days => days), 'ann', 'policy.created', days::text "
    "from unnest(%s::int[]) with ordinality as aged (days, place) order by place"
)


class Audited:
    """A tenant and its chain, which begins with the entry about the tenant itself."""

    def __init__(self, migrated: Migrated, tenant: str) -> None:
        self.migrated, self.tenant = migrated, tenant

    def add(self, *actions: str, role: str = "lily_pipeline") -> None:
        with connect(self.migrated.url_of(role), "lily-tests") as connection, connection.transaction():
            connection.execute("select set_config('lily.tenant', %s, true)", [self.tenant])
            insert_audit(connection, [self.entry(action) for action in actions])

    def entry(self, action: str, **detail: Any) -> AuditEntry:
        return AuditEntry(self.tenant, "ann", action, "something", detail)

    def verified(self, kept: Head | None = None) -> Verified:
        with opened_chains(self.migrated.owner) as chains:
            (one,) = chains.found(self.tenant)
            return chains.verify(one, kept)

    def rows(self, columns: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.migrated.owner) as connection:
            asked = f"select {columns} from audit where tenant_id = %s order by number"  # noqa: S608
            return connection.execute(asked.encode(), [self.tenant]).fetchall()

    def tamper(self, *statements: str) -> None:
        """As someone with all rights, who knows that there are triggers."""
        with psycopg.connect(self.migrated.owner) as connection:
            connection.execute("set session_replication_role = replica")
            for statement in statements:
                connection.execute(statement.encode(), {"tenant": self.tenant})

    def backdate(self, *days: int) -> None:
        with psycopg.connect(self.migrated.owner) as connection:
            connection.execute(BACKDATED, [self.tenant, list(days)])

    def prune(self, days: int | None) -> int:
        with connect(self.migrated.url_of("lily_pipeline"), "lily-tests") as connection:
            return prune_audit(connection, None if days is None else timedelta(days=days))


@pytest.fixture
def audited(migrated: Migrated) -> Audited:
    return make(migrated)


def make(migrated: Migrated) -> Audited:
    tenant = f"t{uuid.uuid4().hex[:12]}"
    create_tenant(migrated.owner, tenant)
    return Audited(migrated, tenant)


def test_entries_are_numbered_and_chained_from_the_creation_of_the_tenant(audited: Audited) -> None:
    audited.add("tag.removed", "edge.deleted")
    audited.add("tag.suppressed")
    numbered = [(1, "tenant.created"), (2, "tag.removed"), (3, "edge.deleted"), (4, "tag.suppressed")]
    assert audited.rows("number, action") == numbered
    hashes = audited.rows("encode(previous_hash, 'hex'), encode(hash, 'hex')")
    assert [before for before, _ in hashes] == ["", *(after for _, after in hashes[:-1])]
    assert audited.verified() == Verified(4, Head(4, hashes[-1][1]))


def test_what_postgresql_hashes_is_what_the_verification_hashes(audited: Audited) -> None:
    details: list[dict[str, Any]] = [
        {"name": 'Zoë "\\ \n\t\x7f€😀', "nested": {"b": [1, 2.50, 1e30, -0.0, True, None], "": {}}},
        {"count": 12345678901234567890, "list": []},
    ]
    with connect(audited.migrated.url_of("lily_pipeline"), "lily-tests") as connection:
        insert_audit(connection, [audited.entry("tag.removed", **detail) for detail in details])
    assert audited.verified().broken is None


def test_concurrent_writers_of_several_tenants_form_one_chain_each(migrated: Migrated) -> None:
    one, other = make(migrated), make(migrated)
    writers, turns = 8, 15
    ready = threading.Barrier(writers)

    def write(place: int) -> None:
        pair = (one, other) if place % 2 else (other, one)  # in opposite orders
        with connect(migrated.url_of("lily_pipeline"), "lily-tests") as connection:
            ready.wait(PATIENCE_SECONDS)
            for turn in range(turns):
                with connection.transaction(force_rollback=turn == 0):
                    for world in pair:
                        insert_audit(connection, [world.entry(f"tag.{place}"), world.entry(f"tag.{turn}")])

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    for world in (one, other):
        found = world.verified()
        assert (found.entries, found.broken) == (1 + writers * (turns - 1) * 2, None)


def test_a_writer_that_is_not_done_delays_no_other(audited: Audited) -> None:
    """The lock of a chain is taken at the commit, not when an entry is written."""
    with connect(audited.migrated.url_of("lily_pipeline"), "lily-tests") as slow, slow.transaction():
        insert_audit(slow, [audited.entry("slow")])
        audited.add("fast")
    assert [action for (action,) in audited.rows("action")] == ["tenant.created", "fast", "slow"]
    assert audited.verified().broken is None


def overtaken(reaction: psycopg.Connection[Any], audited: Audited) -> None:
    with reaction.transaction():
        insert_audit(reaction, [audited.entry("lost")])
        audited.add("won")


def test_a_reaction_whose_state_is_older_than_the_chain_loses_and_leaves_it_whole(audited: Audited) -> None:
    """Reactions run with REPEATABLE READ, and start again after such a failure."""
    with connect(audited.migrated.url_of("lily_pipeline"), "lily-tests") as reaction:
        reaction.isolation_level = IsolationLevel.REPEATABLE_READ
        with pytest.raises(psycopg.errors.SerializationFailure):
            overtaken(reaction, audited)
        insert_audit(reaction, [audited.entry("again")])
    assert [action for (action,) in audited.rows("action")] == ["tenant.created", "won", "again"]
    assert audited.verified().broken is None


@pytest.mark.parametrize(
    ("statement", "number", "wrong"),
    [
        ("delete from audit where tenant_id = %(tenant)s and number = 3", 3, "is missing"),
        ("delete from audit where tenant_id = %(tenant)s and number = 1", 1, "is missing"),
        ("delete from audit where tenant_id = %(tenant)s and number = 5", 5, "has to end with 5"),
        ("delete from audit where tenant_id = %(tenant)s", 1, "has to end with 5"),
        ("delete from audit_heads where tenant_id = %(tenant)s", 6, "no end is recorded"),
        ("update audit set principal = 'bob' where tenant_id = %(tenant)s and number = 2", 2, "was changed"),
        ("update audit set detail = '{\"a\": 1}' where tenant_id = %(tenant)s and number = 2", 2, "was changed"),
        (
            "update audit set at = at + interval '1 microsecond' where tenant_id = %(tenant)s and number = 4",
            4,
            "changed",
        ),
        ("update audit set address = null where tenant_id = %(tenant)s and number = 4", 4, "was changed"),
        ("update audit set number = number + 1 where tenant_id = %(tenant)s and number = 5", 5, "is missing"),
        (
            "insert into audit (tenant_id, principal, action, entity) values (%(tenant)s, 'bob', 'slipped.in', '')",
            6,
            "has no number",
        ),
    ],
)
def test_what_is_done_past_the_triggers_is_reported(audited: Audited, statement: str, number: int, wrong: str) -> None:
    audited.add("a", "b", "c", "d")
    assert audited.verified().broken is None
    audited.tamper(statement)
    broken = audited.verified().broken
    assert broken is not None
    assert broken.number == number
    assert wrong in broken.wrong


def test_an_entry_that_was_rewritten_with_its_hash_does_not_fit_the_next(audited: Audited) -> None:
    audited.add("a", "b", "c")
    audited.tamper(
        "update audit set principal = 'bob' where tenant_id = %(tenant)s and number = 2",
        "update audit a set hash = audit_hash(previous_hash, a) where tenant_id = %(tenant)s and number = 2",
    )
    broken = audited.verified().broken
    assert broken is not None
    assert (broken.number, "does not follow the entry 2" in broken.wrong) == (3, True)


def test_an_end_that_was_cut_off_shows_by_the_head_that_was_kept(audited: Audited) -> None:
    audited.add("a", "b", "c")
    kept = audited.verified().head
    audited.tamper(
        "delete from audit where tenant_id = %(tenant)s and number > 2",
        "update audit_heads h set number = 2, hash = a.hash from audit a "
        "where a.tenant_id = %(tenant)s and a.number = 2 and h.tenant_id = a.tenant_id",
    )
    assert audited.verified().broken is None
    assert "cut off" in str(audited.verified(kept).broken)
    audited.add("d", "e", "f")
    assert "written anew" in str(audited.verified(kept).broken)


@pytest.mark.parametrize("role", ["lily_api", "lily_pipeline"])
@pytest.mark.parametrize(
    "statement",
    [
        "update audit set principal = 'bob' where tenant_id = %(tenant)s",
        "delete from audit where tenant_id = %(tenant)s",
        "truncate audit",
        "insert into audit (tenant_id, principal, action, entity, at) values (%(tenant)s, 'a', 'b', 'c', now())",
        "insert into audit (tenant_id, principal, action, entity, address) values (%(tenant)s, 'a', 'b', 'c', 'd')",
        "insert into audit (tenant_id, principal, action, entity, number) values (%(tenant)s, 'a', 'b', 'c', 9)",
        "update audit_heads set number = 0",
        "select chain_entries()",
    ],
)
def test_the_roles_of_the_services_can_only_append(audited: Audited, role: str, statement: str) -> None:
    audited.add("a", role=role)
    with connect(audited.migrated.url_of(role), "lily-tests") as connection, connection.transaction():
        connection.execute("select set_config('lily.tenant', %s, true)", [audited.tenant])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement.encode(), {"tenant": audited.tenant})
    assert audited.verified().broken is None


@pytest.mark.parametrize(
    "statement",
    [
        "update audit set principal = 'bob' where tenant_id = %(tenant)s",
        "delete from audit where tenant_id = %(tenant)s",
        "truncate audit",
        "truncate tenants cascade",
    ],
)
def test_the_owner_is_kept_from_mistakes(audited: Audited, statement: str) -> None:
    refused = pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only")
    with psycopg.connect(audited.migrated.owner) as connection, refused:
        connection.execute(statement.encode(), {"tenant": audited.tenant})


def test_a_tenant_with_an_audit_cannot_be_deleted(audited: Audited) -> None:
    with psycopg.connect(audited.migrated.owner) as connection, pytest.raises(psycopg.errors.ForeignKeyViolation):
        connection.execute("delete from tenants where id = %s", [audited.tenant])


def test_the_api_reads_and_writes_the_audit_of_its_tenant_alone(migrated: Migrated) -> None:
    mine, theirs = make(migrated), make(migrated)
    theirs.add("theirs", role="lily_api")

    async def story(database: Database) -> list[list[dict[str, Any]]]:
        pages = [await read_entries(database, mine.tenant, Filters(), below=None, limit=10)]
        everything = "select tenant_id from audit where %(tenant)s is not null"
        return [*pages, [{"tenant": row[0]} for row in await database.fetch(mine.tenant, everything, {})]]

    page, seen = migrated.as_api(story)
    assert [entry["action"] for entry in page] == ["tenant.created"]
    assert seen == [{"tenant": mine.tenant}]
    with connect(migrated.url_of("lily_api"), "lily-tests") as connection, connection.transaction():
        connection.execute("select set_config('lily.tenant', %s, true)", [mine.tenant])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            insert_audit(connection, [theirs.entry("forged")])


def test_an_entry_has_where_it_comes_from(audited: Audited) -> None:
    origin = Origin("token-1", "192.0.2.7", "correlation-1")

    async def story(database: Database) -> None:
        async def call() -> None:
            ORIGIN.set(origin)
            await record(database, audited.entry("of a call"))

        await asyncio.create_task(call())
        await record(database, audited.entry("of no call"))

    audited.migrated.as_api(story)
    audited.add("of a worker")
    assert audited.rows("action, token_id, address, correlation") == [
        ("tenant.created", None, "cli", None),
        ("of a call", "token-1", "192.0.2.7", "correlation-1"),
        ("of no call", None, None, None),
        ("of a worker", None, "lily-tests", None),
    ]
    assert audited.verified().broken is None


def test_an_old_entry_after_a_new_one_stays(audited: Audited) -> None:
    """Numbers follow the order of commits, times the begin of transactions: only a beginning can be deleted."""
    audited.backdate(400)
    assert audited.prune(100) == 0
    assert audited.rows("number, action") == [(1, "tenant.created"), (2, "policy.created")]


@pytest.fixture
def aged(migrated: Migrated) -> Audited:
    """A tenant of which everything but the last entry is old: 400, 300, 200 and 0 days."""
    tenant = f"t{uuid.uuid4().hex[:12]}"
    with psycopg.connect(migrated.owner) as connection:
        connection.execute("insert into tenants (id) values (%s)", [tenant])
    found = Audited(migrated, tenant)
    found.backdate(400, 300, 200, 0)
    return found


def test_pruning_deletes_from_the_beginning_and_records_it(aged: Audited) -> None:
    kept = aged.verified().head
    assert aged.prune(None) == 0
    assert aged.prune(250) == 2
    assert aged.rows("number, action, entity, address") == [
        (3, "policy.created", "200", "cli"),
        (4, "policy.created", "0", "cli"),
        (5, "audit.pruned", "2", "lily-tests"),
    ]
    assert aged.verified(kept) == Verified(3, aged.verified().head)
    assert aged.prune(250) == 0
    assert aged.prune(100) == 1
    assert aged.rows("number, entity") == [(4, "0"), (5, "2"), (6, "3")]
    assert aged.verified(kept).broken is None


def test_what_was_deleted_by_age_cannot_be_extended_by_hand(aged: Audited) -> None:
    assert aged.prune(350) == 1
    aged.tamper(
        "update audit_heads h set pruned_number = 2, pruned_hash = a.hash from audit a "
        "where a.tenant_id = %(tenant)s and a.number = 2 and h.tenant_id = a.tenant_id",
        "delete from audit where tenant_id = %(tenant)s and number = 2",
    )
    broken = aged.verified().broken
    assert broken is not None
    assert (broken.number, "no entry records" in broken.wrong) == (3, True)


def test_the_record_of_a_deletion_alone_is_no_reason_for_another_one(aged: Audited) -> None:
    assert aged.prune(350) == 1
    with psycopg.connect(aged.migrated.owner) as connection:
        late = "select prune_audit(%s, now() + interval '1 day', 1000)"
        assert connection.execute(late, [aged.tenant]).fetchone() == (4,)
        assert connection.execute(late, [aged.tenant]).fetchone() == (0,)
    assert aged.rows("number, action") == [(6, "audit.pruned")]
    assert aged.verified().broken is None


Command = Callable[..., tuple[int, Any]]


@pytest.fixture
def lily(migrated: Migrated, tmp_path: Path) -> Command:
    environment = {**os.environ, "LILY_DATABASE_URL": migrated.owner, "LILY_DATA_DIR": str(tmp_path)}

    def run(*words: str) -> tuple[int, Any]:
        command = [sys.executable, "-m", "lily", "audit", *words, "--format", "json"]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            env=environment,
            cwd=tmp_path,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout.splitlines()[-1])

    return run


def test_the_command_verifies_chains_and_fails_with_the_first_break(migrated: Migrated, lily: Command) -> None:
    audited = make(migrated)
    audited.add("a", "b")
    code, heads = lily("head", "--tenant", audited.tenant)
    (head,) = heads["items"]
    assert (code, head["tenant"], head["head"].partition(":")[0]) == (0, audited.tenant, "3")
    code, verified = lily("verify", "--tenant", audited.tenant, "--head", head["head"])
    unbroken = {"tenant": audited.tenant, "entries": 3, "head": head["head"], "broken": None}
    assert (code, verified) == (0, {"items": [unbroken]})
    audited.tamper("delete from audit where tenant_id = %(tenant)s and number = 2")
    code, verified = lily("verify", "--tenant", audited.tenant)
    (broken,) = (one["broken"] for one in verified["items"])
    assert (code, broken["number"], "is missing" in broken["wrong"]) == (1, 2, True)
    assert broken["remedy"]
    code, everything = lily("verify")
    assert code == 1
    assert [one["tenant"] for one in everything["items"] if one["broken"]].count(audited.tenant) == 1


@pytest.mark.parametrize(
    "words", [("--head", f"1:{'00' * 32}"), ("--tenant", "nobody"), ("--tenant", "nobody", "--head", "1")]
)
def test_the_command_refuses_what_cannot_be_verified(lily: Command, words: tuple[str, ...]) -> None:
    code, refused = lily("verify", *words)
    assert code == 1
    assert refused["errors"][0]["description"]
