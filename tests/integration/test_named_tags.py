"""The tags that a tenant's policies name are protective: `access_versions` has them after every change of a policy."""

import threading
from collections.abc import Callable

import psycopg

from tests.shared_stack import Stack


def test_each_change_of_a_policy_counts_in_its_tenant_alone_and_subjects_are_not_tags(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, other = make_tenant()[0], make_tenant()[0]
    with psycopg.connect(stack.database, autocommit=True) as connection:

        def named(statement: bytes, changed: str, *names: str) -> list[list[str]]:
            connection.execute(statement, {"tenant": changed, "names": list(names)})
            found = "select named_tags from access_versions where tenant_id = %s"
            return [connection.execute(found, [one]).fetchall()[0][0] for one in (tenant, other)]

        create = (
            b"insert into policies (tenant_id, key, body, names, version) values (%(tenant)s, 'p', '{}', %(names)s, 1)"
        )
        replace = b"update policies set names = %(names)s where tenant_id = %(tenant)s"
        assert named(create, other, "t:kept") == [[], ["kept"]]
        assert named(create, tenant, "u:ann", "g:hr", "r:reader", "t:one") == [["one"], ["kept"]]
        assert named(replace, tenant, "u:ann", "t:two", "t:one") == [["one", "two"], ["kept"]]
        assert named(replace, tenant, "u:ann") == [[], ["kept"]]
        assert named(replace, tenant, "t:two") == [["two"], ["kept"]]
        assert named(b"delete from policies where tenant_id = %(tenant)s", tenant) == [[], ["kept"]]


def test_policies_that_are_created_at_the_same_time_all_count(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    """The second waits for the first, and must see it afterwards."""
    tenant = make_tenant()[0]
    stored = "insert into policies (tenant_id, key, body, names, version) values (%s, %s, '{}', %s, 1)"
    with (
        psycopg.connect(stack.database) as first,
        psycopg.connect(stack.database) as second,
        psycopg.connect(stack.database, autocommit=True) as watcher,
    ):
        first.execute(stored, [tenant, "p", ["t:one"]])
        waiting = threading.Thread(target=second.execute, args=[stored, [tenant, "q", ["t:two"]]])
        waiting.start()
        blocked = "select cardinality(pg_blocking_pids(%s))"
        while watcher.execute(blocked, [second.info.backend_pid]).fetchone() == (0,):
            assert waiting.is_alive()
        first.commit()
        waiting.join()
        second.commit()
        named = "select named_tags from access_versions where tenant_id = %s"
        assert second.execute(named, [tenant]).fetchone() == (["one", "two"],)
