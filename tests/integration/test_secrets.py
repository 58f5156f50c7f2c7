"""Secrets: encrypted before they reach the database, and bound to the row they stand in."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from lily.model.errors import Terminal
from lily.store.postgres.access.secrets import Secrets, Vault, read_master_keys
from tests.shared_stack import Stack

VAULT = Vault(bytes(range(32)))


@pytest.fixture
def connection(stack: Stack) -> Iterator[psycopg.Connection]:
    with psycopg.connect(stack.database_of("lily_api"), autocommit=True) as connection:
        yield connection


def test_a_secret_comes_back_as_it_was_put(
    connection: psycopg.Connection, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    secrets = Secrets(connection, make_tenant()[0], VAULT)
    secrets.put("monte-carlo", "first")
    secrets.put("monte-carlo", "hunter2 ✓")
    assert secrets.get("monte-carlo") == "hunter2 ✓"
    assert secrets.remove("monte-carlo")
    assert secrets.get("monte-carlo") is None


def test_the_database_never_holds_the_secret(
    stack: Stack, connection: psycopg.Connection, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, _ = make_tenant()
    Secrets(connection, tenant, VAULT).put("key", "correct horse battery staple")
    with psycopg.connect(stack.database) as owner:
        row = owner.execute("select wrapped_key, sealed from secrets where tenant_id = %s", [tenant]).fetchone()
    assert row is not None
    assert all(b"horse" not in part for part in row)


def test_a_row_that_is_moved_or_altered_does_not_open(
    stack: Stack, connection: psycopg.Connection, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    (mine, _), (theirs, _) = make_tenant(), make_tenant()
    Secrets(connection, mine, VAULT).put("key", "mine")
    Secrets(connection, theirs, VAULT).put("key", "theirs")
    with psycopg.connect(stack.database) as owner:
        owner.execute(
            "update secrets t set wrapped_key = s.wrapped_key, sealed = s.sealed from secrets s "
            "where t.tenant_id = %s and s.tenant_id = %s",
            [theirs, mine],
        )
        owner.execute(
            "update secrets set sealed = set_byte(sealed, 14, 255 - get_byte(sealed, 14)) where tenant_id = %s", [mine]
        )
    for tenant in (mine, theirs):
        with pytest.raises(Terminal, match="cannot be decrypted"):
            Secrets(connection, tenant, VAULT).get("key")


def test_another_master_key_does_not_open_it(
    connection: psycopg.Connection, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, _ = make_tenant()
    Secrets(connection, tenant, VAULT).put("key", "value")
    with pytest.raises(Terminal, match="cannot be decrypted"):
        Secrets(connection, tenant, Vault(bytes(32))).get("key")


def test_a_tenant_cannot_even_ask_for_anothers_secret(
    connection: psycopg.Connection, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    (mine, _), (theirs, _) = make_tenant(), make_tenant()
    Secrets(connection, theirs, VAULT).put("key", "theirs")
    with connection.transaction():
        connection.execute("select set_config('lily.tenant', %s, true)", [mine])
        assert connection.execute("select * from secrets where tenant_id = %s", [theirs]).fetchall() == []


def test_the_master_key_is_32_bytes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "master.key"
    file.write_text(base64.b64encode(bytes(32)).decode() + "\n")
    assert read_master_keys(file) == [bytes(32)]
    file.write_text("c2hvcnQ=")
    with pytest.raises(Terminal, match="32 bytes"):
        read_master_keys(file)
    with pytest.raises(Terminal, match="LILY_MASTER_KEY_FILE"):
        read_master_keys(None)


def test_a_replaced_master_key_still_opens_what_it_encrypted(
    connection: psycopg.Connection, make_tenant: Callable[[], tuple[str, str]], tmp_path: Path
) -> None:
    tenant, _ = make_tenant()
    Secrets(connection, tenant, VAULT).put("old", "value")
    file = tmp_path / "master.key"
    file.write_text("\n".join(base64.b64encode(key).decode() for key in (bytes(32), bytes(range(32)))))
    both = Vault.of(file)
    assert Secrets(connection, tenant, both).get("old") == "value"
    Secrets(connection, tenant, both).put("new", "value")
    assert Secrets(connection, tenant, Vault(bytes(32))).get("new") == "value"
