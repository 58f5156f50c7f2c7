"""A shop's database: its owner, its people and their roles, and what each of them can see."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import errors

from lily.connect.enforcers.postgres import Postgres
from lily.plugins import Decision, Failure
from tests.postgres_server import Server

PASSWORD = "x"
OWNER, LILY, LOADER = "shop_owner", "lily_enforcer", "loader"
PEOPLE = ("ann", "bob", "Eve O'Neil")  # who log in
GROUPS = ("analyst", "hr", "größe")
MEMBERS = {"ann": ("analyst",), "bob": ("analyst", "hr"), "Eve O'Neil": ("größe",)}

SCHEMA = '''
create schema shop;
create schema "Odd ""Schema""";
create table shop.customers (
  id int primary key, name text, email varchar(40), country text, born date, seen timestamptz
);
insert into shop.customers values
  (1, 'Ann Müller', 'ann.mueller@example.org', 'DE', '1980-05-17', '2026-03-04 05:06:07+00'),
  (2, 'Bob', 'bob@example.org', 'FR', '1991-11-30', '2026-07-08 09:10:11+00'),
  (3, null, null, 'DE', null, null);
create table shop.orders (id int, customer int references shop.customers, amount numeric(10, 2));
insert into shop.orders values (1, 1, 10.50), (2, 2, 99.00);
create table "Odd ""Schema"""."Straße ""1""" ("Id" int, "E-Mail" text);
insert into "Odd ""Schema"""."Straße ""1""" values (1, 'a@example.org');
'''

STATE = """
select 'table' as what, n.nspname, c.relname, '' as part,
       array(select a::text from unnest(coalesce(c.relacl, acldefault('r', c.relowner))) as a order by 1)::text
         || c.relrowsecurity || c.relforcerowsecurity as shown
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where n.nspname !~ '^pg_|^information_schema$|^lily_enforcement$' and c.relkind in ('r', 'p', 'v', 'm', 'f')
union all
select 'column', n.nspname, c.relname, a.attname, array(select x::text from unnest(a.attacl) as x order by 1)::text
from pg_attribute as a join pg_class as c on c.oid = a.attrelid join pg_namespace as n on n.oid = c.relnamespace
where n.nspname !~ '^pg_|^information_schema$|^lily_enforcement$' and a.attacl is not null
union all
select 'view', n.nspname, c.relname, '', pg_get_viewdef(c.oid) || coalesce(c.reloptions::text, '')
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where n.nspname !~ '^pg_|^information_schema$' and c.relkind = 'v'
union all
select 'policy', n.nspname, c.relname, p.polname, concat(p.polpermissive, p.polcmd, pg_get_expr(p.polqual, c.oid))
from pg_policy as p join pg_class as c on c.oid = p.polrelid join pg_namespace as n on n.oid = c.relnamespace
union all
select 'schema', n.nspname, '', '',
       array(select a::text from unnest(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a order by 1)::text
from pg_namespace as n where n.nspname !~ '^pg_|^information_schema$|^lily_enforcement$'
order by 1, 2, 3, 4
"""


def make_roles(server: Server) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        for name in (OWNER, LILY, LOADER, *PEOPLE):
            connection.execute(f"""create role "{name}" login password '{PASSWORD}'""".encode())
        for name in GROUPS:
            connection.execute(f'create role "{name}"'.encode())
        connection.execute(f"grant {OWNER} to {LILY}".encode())
        for member, groups in MEMBERS.items():
            for group in groups:
                connection.execute(f'grant "{group}" to "{member}"'.encode())


class Target:
    """`admin` is the superuser. `seen` queries as another role, on a connection that stays open."""

    def __init__(self, server: Server, stack: ExitStack) -> None:
        self.url = server.create_database(owner=OWNER)
        self._stack = stack
        self._connections: dict[str, psycopg.Connection[Any]] = {}
        self.admin = stack.enter_context(psycopg.connect(self.url, autocommit=True))
        self.database = self.admin.info.dbname
        self.run(f'grant create on database "{self.database}" to {LILY}')
        self.run(SCHEMA, user=OWNER)

    @classmethod
    @contextmanager
    def made(cls, server: Server) -> Iterator["Target"]:
        with ExitStack() as stack:
            yield cls(server, stack)

    def url_of(self, user: str) -> str:
        parts = urlsplit(self.url)
        place = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=f"{quote(user)}:{PASSWORD}@{place}"))

    def settings(self, **further: Any) -> dict[str, Any]:
        """A slow machine is not a failure: the real limits are shorter."""
        return {"url": self.url_of(LILY), "lock_seconds": 60, "connect_seconds": 60, **further}

    def enforcer(self, **further: Any) -> Postgres:
        found = Postgres(Postgres.Config.model_validate(self.settings(**further)))
        self._stack.enter_context(closing(found))
        return found

    def connection(self, user: str) -> psycopg.Connection[Any]:
        if user not in self._connections:
            opened = psycopg.connect(self.url_of(user), autocommit=True)
            self._connections[user] = self._stack.enter_context(opened)
        return self._connections[user]

    def run(self, text: str, user: str = "") -> None:
        connection = self.connection(user) if user else self.admin
        connection.execute(text.encode())

    def seen(self, user: str, text: str) -> Any:
        """The rows, or `refused`."""
        return refusable(self.connection(user), text)

    @contextmanager
    def person(self, name: str, *groups: str) -> Iterator[None]:
        """One more who can log in, for as long as the context lasts."""
        self.run(f"create role {name} login password '{PASSWORD}'")
        for group in groups:
            self.run(f"grant {group} to {name}")
        try:
            yield
        finally:
            if name in self._connections:
                self._connections.pop(name).close()
            self.run(f"drop owned by {name}; drop role {name}")

    def state(self) -> list[tuple[Any, ...]]:
        """What enforcement may change, apart from what Lily keeps to restore it."""
        return self.admin.execute(STATE.encode()).fetchall()

    def decision(self, table: str, roles: Sequence[str], effect: str, column: str = "", **further: Any) -> Decision:
        """`table` with its schema: shop.customers."""
        path = (self.database, *table.split(".", 1))
        asset = ".".join((*path, column)) if column else ".".join(path)
        return Decision(asset, path, tuple(roles), effect, column, **further)  # type: ignore[arg-type]


def forget_targets(owner_url: str, tenant: str) -> None:
    """Their databases and receivers are gone after a test, and would be tried for ever."""
    assert tenant, "the schedules without a tenant are those of housekeeping"
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute("delete from enforcement_targets where tenant_id = %s", [tenant])
        owner.execute("delete from job_schedules where tenant_id = %s", [tenant])


def refusable(connection: psycopg.Connection[Any], text: str) -> Any:
    try:
        return connection.execute(text.encode()).fetchall()
    except errors.InsufficientPrivilege:
        return "refused"


def apply(enforcer: Postgres, decisions: Sequence[Decision]) -> Sequence[Failure]:
    return enforcer.apply(enforcer.plan(decisions))


def in_line(enforcer: Postgres, decisions: Sequence[Decision]) -> bool:
    """Both ways to look at it agree."""
    steps, drift = enforcer.plan(decisions).steps, enforcer.verify(decisions)
    assert bool(steps) == bool(drift), (steps, drift)
    return not steps


def by_name(rows: Sequence[tuple[Any, ...]], key: int = 0) -> Mapping[Any, tuple[Any, ...]]:
    return {row[key]: row for row in rows}
