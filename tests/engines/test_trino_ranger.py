"""The Ranger plug-in of a real Trino downloads from Lily: what users see follows tags, policies and lineage."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trino.exceptions

from lily.store.postgres.access.administration import create_token
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
    fill_lily,
    fill_trino,
    is_denied,
)
from tests.engines.trino import DOCUMENTED, Trino, documented, running_trino, wait_for
from tests.extra_api import extra_api, until
from tests.shared_stack import Stack

pytestmark = pytest.mark.engines

PAGE = "enforce-with-ranger.md"
(ACCESS_CONTROL,) = documented(PAGE, "access-control.name=ranger")
(PLUGIN,) = documented(PAGE, "<configuration>")
SECONDS = 30  # until a plug-in that polls every second has what has changed
BOTH = "nina"  # in the groups `north` and `senior`, each with a row filter


@dataclass(frozen=True)
class Site:
    door: Door
    trino: Trino
    cache: Path  # of the plug-in
    stop_lily: Callable[[], None]

    def sees(self, user: str, sql: str, rows: list[list[Any]]) -> None:
        """At the latest when the plug-in has downloaded what has changed."""
        until(lambda: self._seen(user, sql) == rows, SECONDS)

    def refuses(self, user: str, sql: str) -> None:
        until(lambda: is_denied(str(self._seen(user, sql))), SECONDS)

    def _seen(self, user: str, sql: str) -> list[list[Any]] | str:
        try:
            return self.trino.query(user, sql)
        except trino.exceptions.TrinoQueryError as error:
            return str(error.message)


@pytest.fixture(scope="module")
def site(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    tenant, token = make_tenant()
    key, place = create_token(stack.database, tenant, ["enforce:read"]), tmp_path_factory.mktemp("trino")
    with ExitStack() as opened, ExitStack() as lily:
        api = lily.enter_context(extra_api(stack, place / "api.log"))
        address = f"{api.url}/enforce/ranger/k/{key}"
        files = PLUGIN.replace("/var/lib/trino/ranger", str(place / "cache")).replace(">10000<", ">1000<")
        (place / "ranger.xml").write_text(DOCUMENTED.sub(address, files))
        properties = ACCESS_CONTROL.replace("/etc/trino/ranger.xml", str(place / "ranger.xml"))
        groups = f"bi-team:{BY_GROUP}\nnorth:{BOTH}\nsenior:{BOTH},nora\n"
        server = opened.enter_context(running_trino(place, address, properties, groups))
        door = Door(stack, tenant, token, opened.enter_context(client(stack, token)))
        fill_lily(door)
        for name, kind in COLUMNS.items():
            door.ingest(f"{PEOPLE}.{name}", "column", parent=PEOPLE, data_type=kind)
        wait_for(server, place / "trino.log")
        until(lambda: _has_policies(server), 60)
        fill_trino(server)
        yield Site(door, server, place / "cache", lily.close)


def _has_policies(server: Trino) -> bool:
    try:
        server.query(ROOT, "show tables")
    except trino.exceptions.TrinoQueryError:
        return False
    return True


@pytest.fixture
def tagged(site: Site) -> Iterator[Callable[[str, str], None]]:
    """Tags an asset until the end of the test."""
    added: list[tuple[str, str]] = []

    def tag(asset: str, name: str) -> None:
        site.door.change("POST", f"/metadata/{asset}/tags", {"tag": name})
        added.append((asset, name))

    yield tag
    for asset, name in added:
        site.door.change("DELETE", f"/metadata/{asset}/tags/{name}")


Tag = Callable[[str, str], None]


def test_a_tag_upstream_masks_queries_and_its_removal_unmasks_them(site: Site) -> None:
    for user in (ANALYST, BY_GROUP, OFFICER):
        site.sees(user, EMAILS, CLEAR)
    site.refuses(STRANGER, EMAILS)
    site.sees(REGIONAL, EMAILS, CLEAR[:1])
    site.door.change("POST", f"/metadata/{UPSTREAM}/tags", {"tag": "PII"})
    for user in (ANALYST, BY_GROUP):
        site.sees(user, EMAILS, MASKED)
    assert site.trino.query(OFFICER, EMAILS) == CLEAR
    site.sees(REGIONAL, EMAILS, MASKED[:1])
    site.refuses(STRANGER, EMAILS)
    site.door.change("DELETE", f"/metadata/{UPSTREAM}/tags/PII")
    for user in (ANALYST, BY_GROUP, OFFICER):
        site.sees(user, EMAILS, CLEAR)
    site.sees(REGIONAL, EMAILS, CLEAR[:1])


def test_a_mask_applies_before_the_where_clause_and_to_views(site: Site, tagged: Tag) -> None:
    tagged(UPSTREAM, "PII")
    site.sees(ANALYST, EMAILS, MASKED)
    assert site.trino.query(ANALYST, "select id from people where email = 'ada@example.org'") == []
    # The columns of the views were never ingested: which of them the tag is on is not known, so all are hidden.
    for view in ("by_definer", "by_invoker"):
        emails = EMAILS.replace("people", view)
        site.sees(ANALYST, emails, [[None], [None]])
        site.sees(OFFICER, emails, CLEAR)
        site.refuses(STRANGER, emails)


def test_nothing_is_shown_of_what_may_not_be_read(site: Site, tagged: Tag) -> None:
    site.refuses(STRANGER, "select count(*) from people")
    assert site.trino.query(OFFICER, "select count(*) from people") == [[2]]
    assert ["people"] in site.trino.query(ANALYST, "show tables")
    assert ["memory"] in site.trino.query(ANALYST, "show catalogs")
    assert site.trino.query(STRANGER, "show catalogs") == []
    site.refuses(STRANGER, "select * from information_schema.columns")
    tagged(f"{PEOPLE}.pay", "Secret")
    site.refuses(ANALYST, "select pay from people")
    site.sees(ANALYST, "select id from people order by id", [[1], [2]])
    assert {row[0] for row in site.trino.query(ANALYST, "show columns from people")} == COLUMNS.keys() - {"pay"}
    described = "select column_name from information_schema.columns where table_name = 'people'"
    assert {row[0] for row in site.trino.query(ANALYST, described)} == COLUMNS.keys() - {"pay"}


def test_a_table_that_is_not_in_the_catalogue_is_denied(site: Site) -> None:
    site.trino.query(ROOT, "create table unknown_to_lily as select email from people")
    for sql in ("select * from unknown_to_lily", "select count(*) from unknown_to_lily"):
        assert is_denied(site.trino.refusal(ROOT, sql))


def test_changes_need_rights_of_their_own(site: Site, tagged: Tag) -> None:
    assert is_denied(site.trino.refusal(ANALYST, "create table elsewhere as select email from people"))
    for sql in (
        "delete from people",
        "insert into people (id) values (3)",
        "alter table people rename to made",
        "alter table people rename column email to plain",
        "drop table people",
    ):
        assert is_denied(site.trino.refusal(ANALYST, sql))
    tagged(UPSTREAM, "PII")
    site.sees(ANALYST, EMAILS, MASKED)
    site.trino.query(ANALYST, "create table made as select id, email from people")
    assert site.trino.query(ROOT, "select email from made order by id") == MASKED
    site.trino.query(ANALYST, "drop table made")


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("mask-alphanum", {"email": "xxx@xxxxxxx.xxx", "country": "xx"}),
        ("truncate-to-month", {"born": "1990-05-01", "seen": "2026-01-01 00:00:00.000 UTC"}),
        (
            {"action": "mask-to-fixed-value", "value": "7"},
            {"id": "7", "email": "7", "country": "7", "pay": "7.00"},
        ),
    ],
)
def test_a_mask_has_the_type_of_its_column_and_is_null_where_it_cannot(
    site: Site, tagged: Tag, mask: Any, expected: dict[str, Any]
) -> None:
    fields = {"mask": mask, "name": "Masked for a while"}
    made = create(site.door, "/policies", policy({"role": "officer"}, {"tag": "Masked"}, "mask", **fields))
    tagged(PEOPLE, "Masked")
    wanted = [expected.get(name) for name in COLUMNS]
    until(lambda: wanted in site.trino.query(OFFICER, EVERYTHING), SECONDS)
    assert site.door.http.delete(f"/policies/{made['id']}").is_success


def test_the_row_filters_of_all_groups_of_a_user_apply(site: Site) -> None:
    for group in ("north", "senior"):
        create(site.door, "/policies", policy({"group": group}, {"asset": "memory"}))
    filters = {"north": "country = 'FR'", "senior": "born < DATE '1985-01-01'"}
    made = [
        create(site.door, "/policies", policy({"group": group}, {"asset": PEOPLE}, "row-filter", row_filter=one))
        for group, one in filters.items()
    ]
    site.sees(BOTH, "select id from people", [[2]])
    site.sees("nora", "select id from people", [[2]])
    changed = policy({"group": "senior"}, {"asset": PEOPLE}, "row-filter", row_filter="born > DATE '1985-01-01'")
    assert site.door.http.put(f"/policies/{made[1]['id']}", json=changed).is_success
    site.sees("nora", "select id from people", [[1]])
    site.sees(BOTH, "select id from people", [])


def test_tags_reach_the_plug_in(site: Site, tagged: Tag) -> None:
    tagged(UPSTREAM, "PII")
    until(lambda: '"PII"' in (site.cache / "trino_trino_tag.json").read_text(), SECONDS)


def test_a_disabled_user_is_denied_everything(site: Site) -> None:
    assert site.door.http.post(f"/users/{OFFICER}/disable").is_success
    site.refuses(OFFICER, EMAILS)
    site.refuses(OFFICER, "select 1")
    assert site.door.http.delete(f"/users/{OFFICER}/disable").is_success
    site.sees(OFFICER, EMAILS, CLEAR)


def test_without_lily_the_last_policies_hold(site: Site, tagged: Tag) -> None:
    tagged(UPSTREAM, "PII")
    site.sees(ANALYST, EMAILS, MASKED)
    site.stop_lily()
    assert site.trino.query(ANALYST, EMAILS) == MASKED
    assert site.trino.query(OFFICER, EMAILS) == CLEAR
    assert is_denied(site.trino.refusal(STRANGER, EMAILS))
