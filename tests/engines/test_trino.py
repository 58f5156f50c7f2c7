"""A real Trino asks Lily: what users see follows tags, policies and lineage, with and without the batch endpoints."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import trino.exceptions

from lily.store.postgres.access.administration import create_token, revoke_token
from tests.contract.access import create, policy
from tests.contract.door import Door, client
from tests.engines.people import (
    ANALYST,
    BY_GROUP,
    CLEAR,
    COLUMNS,
    EMAILS,
    EVERYTHING,
    MASKED,
    OFFICER,
    PEOPLE,
    REGIONAL,
    ROOT,
    STRANGER,
    UPSTREAM,
    WIDE,
    WIDE_SECRET,
    WIDE_TABLE,
    fill_lily,
    fill_trino,
    is_denied,
)
from tests.engines.trino import BATCHED, SINGLE, Trino, running_trino, wait_for
from tests.extra_api import extra_api, until
from tests.shared_stack import Stack

pytestmark = pytest.mark.engines


@dataclass(frozen=True)
class Site:
    door: Door
    batched: Trino
    single: Trino  # without the batch endpoints, and hiding columns that may not be read
    stop_lily: Callable[[], None]  # of the second

    def both(self, user: str, sql: str) -> list[list[Any]]:
        rows = self.batched.query(user, sql)
        assert self.single.query(user, sql) == rows
        return rows

    def refused_by_both(self, user: str, sql: str) -> None:
        for server in (self.batched, self.single):
            assert is_denied(server.refusal(user, sql))


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
        fill_lily(door)
        for server, place in zip(servers, places, strict=True):
            wait_for(server, place / "trino.log")
            fill_trino(server)
        yield Site(door, servers[0], servers[1], second.close)


def _opa(stack: Stack, key: str) -> str:
    return f"{stack.url}/enforce/opa/k/{key}"


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
        assert is_denied(server.refusal(ANALYST, "create table elsewhere as select email from people"))
        server.query(ANALYST, "drop table made")


def test_a_table_that_is_not_in_the_catalogue_is_denied(site: Site) -> None:
    for server in (site.batched, site.single):
        server.query(ROOT, "create table unknown_to_lily as select email from people")
        assert is_denied(server.refusal(ROOT, "select * from unknown_to_lily"))


def test_a_plan_is_explained_and_shows_no_value(site: Site, tagged: Tag) -> None:
    tagged(UPSTREAM, "PII")
    site.refused_by_both(STRANGER, f"explain {EMAILS}")
    for server in (site.batched, site.single):
        ((plan,),) = server.query(ANALYST, f"explain {EMAILS}")
        assert "rpad" in plan


def test_a_denied_column_is_refused_or_hidden(site: Site, tagged: Tag) -> None:
    tagged(f"{PEOPLE}.pay", "Secret")
    site.refused_by_both(ANALYST, "select pay from people")
    assert site.both(ANALYST, "select id from people order by id") == [[1], [2]]
    assert is_denied(site.batched.refusal(ANALYST, "select * from people"))
    assert len(site.single.query(ANALYST, "select * from people")[0]) == len(COLUMNS) - 1
    described = "select column_name from information_schema.columns where table_name = 'people'"
    for sql in ("show columns from people", described):
        assert {row[0] for row in site.both(ANALYST, sql)} == COLUMNS.keys() - {"pay"}


def test_names_are_listed_only_for_those_who_may_read(site: Site) -> None:
    assert ["people"] in site.both(ANALYST, "show tables")
    assert ["people"] in site.both(ANALYST, "select table_name from information_schema.tables")
    assert ["memory"] in site.both(ANALYST, "show catalogs")
    assert site.both(STRANGER, "show catalogs") == []
    site.refused_by_both(STRANGER, "show tables")
    site.refused_by_both(STRANGER, "select * from information_schema.columns")


ADA = "ada@example.org"
DIGEST = hashlib.sha256(ADA.encode()).hexdigest()


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("replace-with-null", {}),
        ("mask-alphanum", {"email": "xxx@xxxxxxx.xxx", "country": "xx"}),
        ("show-last-4", {"email": "xxxxxxxxxxx.org", "country": "xx"}),
        ("show-first-4", {"email": "ada@xxxxxxxxxxx", "country": "xx"}),
        ("truncate-to-year", {"born": "1990-01-01", "seen": "2026-01-01 00:00:00.000 UTC"}),
        ("truncate-to-month", {"born": "1990-05-01", "seen": "2026-01-01 00:00:00.000 UTC"}),
        ("sha-256-global", {"email": DIGEST, "country": hashlib.sha256(b"DE").hexdigest()[:2]}),
        (
            {"action": "mask-to-fixed-value", "value": "7"},
            {"id": "7", "email": "7", "country": "7", "pay": "7.00"},
        ),
    ],
)
def test_a_mask_has_the_type_of_its_column_and_is_null_where_it_cannot(
    site: Site, tagged: Tag, mask: Any, expected: dict[str, Any]
) -> None:
    tagged(PEOPLE, "Masked")
    with masked(site, mask):
        assert [expected.get(name) for name in COLUMNS] in site.both(OFFICER, EVERYTHING)


def test_a_fixed_value_without_one_is_chosen_by_the_type(site: Site, tagged: Tag) -> None:
    tagged(PEOPLE, "Masked")
    with masked(site, "mask-to-fixed-value"):
        shown = dict(zip(COLUMNS, site.both(OFFICER, EVERYTHING)[0], strict=True))
    del shown["seen"]  # depends on the time zone of the session
    expected = {"id": "0", "email": "xxxx", "country": "xx", "born": "1970-01-01", "pay": "0.00", "home": None}
    assert shown == expected


def test_a_hash_of_one_query_is_equal_within_it_and_differs_in_the_next(site: Site, tagged: Tag) -> None:
    tagged(PEOPLE, "Masked")
    with masked(site, "sha-256-query-local"):
        joined = "select count(*) from people a join people b on a.email = b.email"
        assert site.both(OFFICER, joined) == [[2]]
        first, second = (site.batched.query(OFFICER, "select email from people") for _ in range(2))
        assert DIGEST not in str(first)
        assert {row[0] for row in first}.isdisjoint(row[0] for row in second)


@contextmanager
def masked(site: Site, mask: Any) -> Iterator[None]:
    """What has the tag Masked is masked for the officer."""
    fields = {"mask": mask, "name": "Masked for a while"}
    made = create(site.door, "/policies", policy({"role": "officer"}, {"tag": "Masked"}, "mask", **fields))
    yield
    assert site.door.http.delete(f"/policies/{made['id']}").is_success


def test_a_table_of_250_columns_is_masked_column_by_column(site: Site, tagged: Tag) -> None:
    tagged(WIDE_SECRET, "PII")
    expected: list[int | None] = [*range(len(WIDE))]
    assert site.both(OFFICER, "select * from wide") == [expected]
    expected[WIDE.index(WIDE_SECRET.rpartition(".")[2])] = None  # an integer cannot show four characters
    assert site.both(ANALYST, "select * from wide") == [expected]


def test_a_column_that_is_masked_cannot_be_renamed(site: Site, tagged: Tag) -> None:
    """Under its new name it would have no tag."""
    renamed = "alter table wide rename column c7 to plain"
    create(site.door, "/policies", policy({"role": "analyst"}, {"asset": WIDE_TABLE}, actions=["WRITE", "DELETE"]))
    tagged(WIDE_SECRET, "PII")
    site.refused_by_both(ANALYST, renamed)
    site.refused_by_both(ANALYST, "alter table wide rename to made")


def test_the_log_of_decisions_has_what_trino_asked(site: Site) -> None:
    door = site.door
    assert door.http.put("/settings", json={"decision_log": "all"}).is_success
    try:
        site.batched.refusal(STRANGER, EMAILS)
        until(lambda: bool(door.http.get("/policy/decisions", params={"principal": STRANGER}).json()["items"]), 30)
    finally:
        assert door.http.put("/settings", json={"decision_log": "off"}).is_success


def test_a_revoked_key_opens_nothing(site: Site) -> None:
    assert site.batched.query(OFFICER, "select count(*) from people") == [[2]]
    (key,) = site.door.token_ids("trino-0")
    assert revoke_token(site.door.stack.database, key)
    until(lambda: not answers(site.batched), 5)
    assert "401" in site.batched.refusal(OFFICER, EMAILS)


def test_without_lily_a_query_fails(site: Site) -> None:
    assert site.single.query(OFFICER, EMAILS) == CLEAR
    site.stop_lily()
    for user in (ANALYST, OFFICER, ROOT, STRANGER):
        assert "OPA" in site.single.refusal(user, EMAILS)


def answers(server: Trino) -> bool:
    try:
        return bool(server.query(OFFICER, EMAILS))
    except trino.exceptions.TrinoQueryError:
        return False
