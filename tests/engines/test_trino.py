"""A real Trino asks Lily: what users see follows tags, policies and lineage, with and without the batch endpoints."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from lily.store.postgres.access.administration import create_token
from tests.contract.access import create, policy
from tests.contract.door import Door, client
from tests.engines.trino import BATCHED, SINGLE, Trino, running_trino, wait_for
from tests.extra_api import extra_api
from tests.shared_stack import Stack

pytestmark = pytest.mark.engines

UPSTREAM = "crm.public.persons.mail"
PEOPLE = "memory.default.people"
COLUMNS = {
    "id": "bigint",
    "email": "varchar",
    "country": "varchar(2)",
    "born": "date",
    "seen": "timestamp(3) with time zone",
    "pay": "decimal(10,2)",
    "home": "row(city varchar, zip varchar)",
}
ROWS = """(1, 'ada@example.org', 'DE', date '1990-05-17', timestamp '2026-01-02 03:04:05 UTC', 10.50, row('Bonn', '1')),
          (2, 'bob@example.org', 'FR', date '1980-11-30', timestamp '2026-06-07 08:09:10 UTC', 20.00, row('Nice', '2'))"""
CLEAR = [["ada@example.org"], ["bob@example.org"]]
MASKED = [["ada@xxxxxxxxxxx"], ["bob@xxxxxxxxxxx"]]
EMAILS = "select email from people order by id"
WIDE = [f"c{number}" for number in range(250)]
ROOT, ANALYST, BY_GROUP, OFFICER, REGIONAL, STRANGER = "root", "ann", "gus", "olga", "rita", "sam"


@dataclass(frozen=True)
class Site:
    door: Door
    batched: Trino
    single: Trino  # without the batch endpoints, and hiding columns that may not be read
    key: str  # of the first
    stop_lily: Callable[[], None]  # of the second

    def both(self, user: str, sql: str) -> list[list[Any]]:
        rows = self.batched.query(user, sql)
        assert self.single.query(user, sql) == rows
        return rows

    def refused_by_both(self, user: str, sql: str) -> None:
        for server in (self.batched, self.single):
            assert "Access Denied" in server.refusal(user, sql)


@pytest.fixture(scope="module")
def site(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    tenant, token = make_tenant()
    keys = [create_token(stack.database, tenant, ["enforce:read"], user=f"trino-{number}") for number in range(2)]
    places = [tmp_path_factory.mktemp("trino") for _ in keys]
    with ExitStack() as opened, ExitStack() as second:
        other = second.enter_context(extra_api(stack, places[1] / "api.log"))
        groups = f"bi-team:{BY_GROUP}\n"
        servers = [
            opened.enter_context(running_trino(places[0], _opa(stack, keys[0]), BATCHED, groups)),
            opened.enter_context(
                running_trino(places[1], _opa(other, keys[1]), SINGLE, groups, hide_inaccessible_columns="true")
            ),
        ]
        door = Door(stack, tenant, token, opened.enter_context(client(stack, token)))
        _fill_lily(door)
        for server, place in zip(servers, places, strict=True):
            wait_for(server, place / "trino.log")
            _fill_trino(server)
        yield Site(door, servers[0], servers[1], keys[0], second.close)


def _opa(stack: Stack, key: str) -> str:
    return f"{stack.url}/enforce/opa/k/{key}"


def _fill_lily(door: Door) -> None:
    """Policies first: tables are catalogued before anyone reads them, and columns without tags stay plain."""
    everything = {"actions": ["READ", "WRITE", "DELETE"]}
    for asset in ("memory", "system"):
        create(door, "/policies", policy({"user": ROOT}, {"asset": asset}, **everything))
    create(door, "/roles", {"name": "analyst", "groups": ["bi-team"]})
    create(door, "/roles", {"name": "officer"})
    create(door, "/users", {"name": ANALYST, "roles": ["analyst"]})
    create(door, "/users", {"name": OFFICER, "roles": ["officer"]})
    for role in ("analyst", "officer"):
        create(door, "/policies", policy({"role": role}, {"asset": "memory"}))
    create(door, "/policies", policy({"user": REGIONAL}, {"asset": "memory"}))
    german = {"row_filter": "country = 'DE'"}
    create(door, "/policies", policy({"user": REGIONAL}, {"asset": PEOPLE}, "row-filter", **german))
    for subject in ({"role": "analyst"}, {"user": REGIONAL}):
        create(door, "/policies", policy(subject, {"tag": "PII"}, "mask", mask="show-first-4"))
    create(door, "/policies", policy({"user": "*"}, {"tag": "Secret"}, "deny"))
    create(
        door, "/policies", policy({"role": "analyst"}, {"asset": "memory.default.made"}, actions=["WRITE", "DELETE"])
    )
    for name, kind, parent in (
        ("system", "database", None),
        ("memory", "database", None),
        ("memory.default", "schema", "memory"),
        (PEOPLE, "table", "memory.default"),
        ("memory.default.wide", "table", "memory.default"),
        ("memory.default.by_definer", "view", "memory.default"),
        ("memory.default.by_invoker", "view", "memory.default"),
        ("memory.default.made", "table", "memory.default"),
        ("crm.public.persons", "table", None),
        (UPSTREAM, "column", "crm.public.persons"),
    ):
        door.ingest(name, kind, **({"parent": parent} if parent else {}))
    edges = [(UPSTREAM, f"{PEOPLE}.email")]
    edges += [(f"{PEOPLE}.email", f"memory.default.{view}.email") for view in ("by_definer", "by_invoker")]
    listed = [{"from": start, "to": end, "relationship_type": "derived-from"} for start, end in edges]
    door.change("POST", "/lineage", {"edges": listed})


def _fill_trino(server: Trino) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    server.query(ROOT, f"create table people ({columns})")
    server.query(ROOT, f"insert into people values {ROWS}")
    server.query(ROOT, f"create table wide ({', '.join(f'{name} integer' for name in WIDE)})")
    server.query(ROOT, f"insert into wide values ({', '.join(str(number) for number in range(len(WIDE)))})")
    server.query(ROOT, "create view by_definer as select id, email from people")
    server.query(ROOT, "create view by_invoker security invoker as select id, email from people")


@pytest.fixture
def tagged(site: Site) -> Iterator[Callable[[str, str], None]]:
    """Tags an asset until the end of the test, and waits until the tag has propagated."""
    added: list[tuple[str, str]] = []

    def tag(asset: str, name: str) -> None:
        site.door.change("POST", f"/metadata/{asset}/tags", {"tag": name})
        added.append((asset, name))

    yield tag
    for asset, name in added:
        site.door.change("DELETE", f"/metadata/{asset}/tags/{name}")


def test_a_tag_upstream_masks_the_next_query_and_its_removal_unmasks_it(site: Site) -> None:
    for user in (ANALYST, BY_GROUP, OFFICER):
        assert site.both(user, EMAILS) == CLEAR
    site.refused_by_both(STRANGER, EMAILS)
    assert site.both(REGIONAL, EMAILS) == CLEAR[:1]
    site.door.change("POST", f"/metadata/{UPSTREAM}/tags", {"tag": "PII"})
    for user in (ANALYST, BY_GROUP):
        assert site.both(user, EMAILS) == MASKED
    assert site.both(OFFICER, EMAILS) == CLEAR
    assert site.both(REGIONAL, EMAILS) == MASKED[:1]
    site.refused_by_both(STRANGER, EMAILS)
    site.door.change("DELETE", f"/metadata/{UPSTREAM}/tags/PII")
    for user in (ANALYST, BY_GROUP, OFFICER):
        assert site.both(user, EMAILS) == CLEAR
    assert site.both(REGIONAL, EMAILS) == CLEAR[:1]


Tag = Callable[[str, str], None]


def test_a_mask_applies_before_the_where_clause(site: Site, tagged: Tag) -> None:
    tagged(UPSTREAM, "PII")
    assert site.both(ANALYST, "select id from people where email = 'ada@example.org'") == []
    assert site.both(ANALYST, "select count(*) from people where email like '%example%'") == [[0]]
    assert site.both(ANALYST, "select id from people where email like 'ada@%'") == [[1]]


def test_views_are_masked_for_their_readers(site: Site, tagged: Tag) -> None:
    """Root sees everything in the clear, so the definer's view is protected by its own tag, which lineage brought."""
    tagged(UPSTREAM, "PII")
    for view in ("by_definer", "by_invoker"):
        assert site.both(ANALYST, f"select email from {view} order by id") == MASKED
        assert site.both(OFFICER, f"select email from {view} order by id") == CLEAR
        site.refused_by_both(STRANGER, f"select email from {view}")


def test_a_copy_has_the_masked_values(site: Site, tagged: Tag) -> None:
    tagged(UPSTREAM, "PII")
    for server in (site.batched, site.single):
        server.query(ANALYST, "create table made as select id, email from people")
        assert server.query(ROOT, "select email from made order by id") == MASKED
        assert "Access Denied" in server.refusal(ANALYST, "create table elsewhere as select email from people")
        server.query(ANALYST, "drop table made")


def test_a_table_that_is_not_in_the_catalogue_is_denied(site: Site) -> None:
    for server in (site.batched, site.single):
        server.query(ROOT, "create table unknown_to_lily as select email from people")
        assert "Access Denied" in server.refusal(ROOT, "select * from unknown_to_lily")


def test_a_plan_is_explained_and_shows_no_value(site: Site, tagged: Tag) -> None:
    tagged(UPSTREAM, "PII")
    site.refused_by_both(STRANGER, f"explain {EMAILS}")
    for server in (site.batched, site.single):
        ((plan,),) = server.query(ANALYST, f"explain {EMAILS}")
        assert "rpad" in plan


def test_a_denied_column_is_refused_or_hidden(site: Site, tagged: Tag) -> None:
    tagged(f"{PEOPLE}.email", "Secret")
    site.refused_by_both(ANALYST, EMAILS)
    assert site.both(ANALYST, "select id from people order by id") == [[1], [2]]
    assert "Access Denied" in site.batched.refusal(ANALYST, "select * from people")
    assert len(site.single.query(ANALYST, "select * from people")[0]) == len(COLUMNS) - 1
    for sql in (
        "show columns from people",
        "select column_name from information_schema.columns where table_name = 'people'",
    ):
        listed = {row[0] for row in site.both(ANALYST, sql)}
        assert listed == COLUMNS.keys() - {"email"}


def test_names_are_listed_only_for_those_who_may_read(site: Site) -> None:
    assert ["people"] in site.both(ANALYST, "show tables")
    assert ["people"] in site.both(ANALYST, "select table_name from information_schema.tables")
    assert ["memory"] in site.both(ANALYST, "show catalogs")
    assert site.both(STRANGER, "show catalogs") == []
    site.refused_by_both(STRANGER, "show tables")
    site.refused_by_both(STRANGER, "select * from information_schema.columns")


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("replace-with-null", dict.fromkeys(COLUMNS)),
        ("mask-alphanum", {"email": "xxx@xxxxxxx.xxx"}),
        ("show-last-4", {"email": "xxxxxxxxxxx.org", "country": "xx"}),
        ("show-first-4", {"email": "ada@xxxxxxxxxxx", "country": "xx"}),
        ("truncate-to-year", {"born": "1990-01-01", "seen": "2026-01-01 00:00:00.000 UTC"}),
        ("truncate-to-month", {"born": "1990-05-01", "seen": "2026-01-01 00:00:00.000 UTC"}),
        ("mask-to-fixed-value", {"id": "0", "email": "xxxx", "country": "xx", "born": "1970-01-01", "pay": "0.00"}),
        ({"action": "mask-to-fixed-value", "value": "7"}, {"id": "7", "email": "7", "country": "7", "pay": "7.00"}),
        ("sha-256-global", {"email": "4a19aac4eb7cc5ec0a4bcdd6fa4fa3b4", "country": "9c"}),
        ("sha-256-query-local", {}),
    ],
)
def test_every_mask_has_the_type_of_its_column(site: Site, tagged: Tag, mask: Any, expected: dict[str, Any]) -> None:
    tagged(PEOPLE, "Masked")
    fields = {"mask": mask, "priority": 10, "name": str(mask)}
    made = create(site.door, "/policies", policy({"role": "officer"}, {"tag": "Masked"}, "mask", **fields))
    shown = ", ".join(f"cast({name} as varchar)" for name in COLUMNS if name != "home")
    query = f"select {shown}, cast(home as json) from people where 1 = 1 order by pay, 1 nulls last"
    for server in (site.batched, site.single):
        row = dict(
            zip([name for name in COLUMNS if name != "home"] + ["home"], server.query(OFFICER, query)[0], strict=True)
        )
        print(mask, row)
        for name in COLUMNS:
            pass
    assert site.door.http.delete(f"/policies/{made['id']}").status_code < 300
