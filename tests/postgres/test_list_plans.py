"""Lists by owner, source and tag, and in the order of names and creation, read what they show: an index begins with the
tenant for each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from lily.lineage.tag_rules import DEFAULT_TAG_RULES
from lily.store.postgres.catalogue import search as searching
from lily.store.postgres.catalogue.search import Order, SearchRequest, Sort
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

ASSETS, EACH = 3_000, 60
_FILL = """
insert into assets (tenant_id, id, qualified_name, source, source_at, version, created_at, updated_at)
select %s, gen_random_uuid(), 'wh.t' || n,
       jsonb_build_object('$type', 'table', 'name', 't' || n, 'owner', 'owner ' || n %% 50,
                          'data_source', 'wh ' || n %% 50,
                          'tags', case when n %% 50 = 0 then '{"rare": "Rare"}'::jsonb else '{}' end),
       '2026-01-01T00:00:00.000000Z/e', 1, now() - n * interval '1 minute', now()
from generate_series(1, %s) as n
"""
FIRST = SearchRequest({}, include_deleted=False, sort="id", order="asc", limit=10)


@pytest.fixture(scope="module")
def filled(make_world: Callable[[], World], owner: psycopg.Connection) -> Iterator[World]:
    """Among another tenant with as many."""
    world, other = make_world(), make_world()
    for tenant in (world.tenant, other.tenant):
        owner.execute(_FILL, [tenant, ASSETS])
    owner.execute("vacuum analyze assets")
    yield world
    owner.execute("delete from assets where tenant_id = any(%s)", [[world.tenant, other.tenant]])
    owner.execute("vacuum analyze assets")


@pytest.mark.parametrize(
    ("filters", "most"),
    [({"owner": "owner 7"}, EACH), ({"data_source": "wh 7"}, EACH), ({"tag": "rare"}, 3 * EACH)],
)
def test_a_list_by_a_filter_reads_what_matches(
    filled: World, migrated: Migrated, filters: Mapping[Any, str], most: int
) -> None:
    assert _read(migrated, filled, replace(FIRST, filters=filters)) <= most


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize(
    ("sort", "after"),
    [("name", "t2"), ("qualified_name", "wh.t2"), ("created_at", "2026-01-01T00:00:00.000000Z"), ("id", "")],
)
def test_a_page_in_an_order_reads_so_many_assets(
    filled: World, migrated: Migrated, sort: Sort, after: str, order: Order
) -> None:
    request = replace(FIRST, sort=sort, order=order)
    assert _read(migrated, filled, request) <= EACH
    if sort != "id":
        middle = "80000000-0000-0000-0000-000000000000"
        assert _read(migrated, filled, replace(request, after=(after, middle))) <= EACH


def _read(migrated: Migrated, world: World, request: SearchRequest) -> int:
    """The entries of indexes and rows of assets that the statement reads, as the API runs it."""
    rules = DEFAULT_TAG_RULES
    parameters = searching._parameters(request) | {"tags": rules.propagating_array, "cut": rules.cut_deleted}
    statement = searching._statement(request, rules)
    reads = (
        "select sum(pg_stat_get_xact_tuples_returned(oid)) from pg_class where oid = 'assets'::regclass "
        "or oid in (select indexrelid from pg_index where indrelid = 'assets'::regclass)"
    )
    with psycopg.connect(migrated.url_of("lily_api"), cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute("select set_config('lily.tenant', %s, true)", [world.tenant])
        assert connection.execute(statement, parameters | {"tenant": world.tenant}).fetchall() or request.after
        row = connection.execute(reads).fetchone()
    assert row is not None
    return int(row[0])
