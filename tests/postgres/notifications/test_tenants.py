"""Notifications and configurations of one tenant stay with it."""

import psycopg
import pytest
from psycopg import sql

from tests.postgres.migrated import Migrated
from tests.postgres.notified import ORDERS, Notified


def test_a_tenant_neither_sees_nor_gets_anothers_notifications(
    notified: Notified, other: Notified, migrated: Migrated
) -> None:
    for one in (notified, other):
        one.subscribe(one.receiver.at(one.tenant))
    (identity,) = notified.react(notified.incident(ORDERS))
    notified.run()
    other.run()
    assert [one.path for one in notified.receiver.taken] == [notified.tenant]
    assert other.listed() == []
    assert other.deliveries(identity) == []
    with psycopg.connect(migrated.url_of("lily_api"), autocommit=True) as connection, connection.transaction():
        connection.execute("select set_config('lily.tenant', %s, true)", [other.tenant])
        for table in ("notifications", "deliveries", "delivery_targets", "subscriptions", "mentions"):
            counted = sql.SQL("select count(*) from {} where tenant_id = %s").format(sql.Identifier(table))
            assert connection.execute(counted, [notified.tenant]).fetchone() == (0,)


def test_the_api_cannot_read_a_configuration_back(notified: Notified, migrated: Migrated) -> None:
    with psycopg.connect(migrated.url_of("lily_api"), autocommit=True) as connection:
        connection.execute("select set_config('lily.tenant', %s, false)", [notified.tenant])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select sealed from notification_channels")
        assert connection.execute("select name from notification_channels").fetchall() == [("Posts",)]


def test_a_configuration_that_was_moved_to_another_tenant_is_not_used(notified: Notified, other: Notified) -> None:
    other.subscribe()
    other.connection.execute(
        "update notification_channels set (wrapped_key, sealed, version) = "
        "(select wrapped_key, sealed, 99 from notification_channels where tenant_id = %s) where tenant_id = %s",
        [notified.tenant, other.tenant],
    )
    (identity,) = other.react(other.incident(ORDERS))
    other.run()
    assert other.receiver.received == []
    assert "cannot be decrypted" in other.delivery(identity)["error"]
