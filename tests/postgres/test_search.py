"""The index of searches: it has the terms that the model has, of one tenant, and refreshes leave it alone."""

import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lily.bus import topics
from lily.lineage.tag_rules import DEFAULT_TAG_RULES
from lily.model.assets import shown_fields
from lily.model.errors import Refused
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.search_terms import name_beginning, search_terms, searched, text_terms
from lily.model.statements import read_statement
from lily.store.assets import StoredAsset
from lily.store.listing import sort_key
from lily.store.postgres.catalogue import candidates
from lily.store.postgres.catalogue import search as searches
from lily.store.postgres.catalogue.candidates import next_candidates
from lily.store.postgres.catalogue.search import Order, SearchRequest, Sorting, search
from lily.store.postgres.catalogue.words import patterns, ranks
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.postgres.migrated import Migrated

# Up to the version of Unicode that the oldest supported Python knows: later letters have no case there.
LETTERS = st.characters(max_codepoint=0x1F9FF, categories=["L", "N", "P", "S", "Z", "M"])
TEXTS = st.text(LETTERS, max_size=30) | st.sampled_from(["Order_Items", "x9 9x _9x é9x", "Straße ΣΣ İd", "w" * 70, ""])
ENTRIES = """
select tsvector_to_array(search_entries('t', %(id)s, %(name)s, %(qualified_name)s, %(owner)s,
                                        search_text(%(terms)s::jsonb::text, %(description)s)))
"""


@settings(max_examples=200)
@given(
    name=st.none() | TEXTS,
    qualified_name=TEXTS,
    by=st.none() | TEXTS,
    terms=st.none() | st.lists(TEXTS, max_size=20),
    description=st.none() | TEXTS | st.lists(TEXTS, max_size=60).map(" ".join),
)
@example(name=None, qualified_name="a", by=None, terms=None, description="1 " * 400 + "beyond")
@example(name="n" * 512, qualified_name="𐐀" * 1024, by="o" * 512, terms=["t" * 512] * 9, description="d" * 65_536)
def test_postgresql_has_the_terms_of_the_model(
    *,
    owner: psycopg.Connection,
    name: str | None,
    qualified_name: str,
    by: str | None,
    terms: list[str] | None,
    description: str | None,
) -> None:
    asset_id = uuid.UUID(int=7)
    stated: dict[str, Any] = {"id": asset_id, "name": name, "qualified_name": qualified_name, "owner": by}
    stated |= {"terms": None if terms is None else json.dumps(terms), "description": description}
    row = owner.execute(ENTRIES, stated).fetchone()
    assert row is not None
    shown = {"name": name, "owner": by, "business_terms": terms, "description": description}
    expected = {f"n{term}" for term in search_terms(f"{name or ''} {qualified_name}")}
    expected |= {f"t{term}" for term in text_terms(shown)} | {f"k{name_beginning(name or '')}"}
    assert set(row[0]) - {"t/7n", "t/7t"} == {f"t/7{entry}" for entry in expected}


def state(world: World, number: int, turn: int, name: str = "orders", **attributes: Any) -> AssetEvent:
    stated = {"name": name, "qualified_name": f"sales.{name}"} | attributes
    statement = read_statement({"entity_type": "table", "attributes": stated}, tenant=world.tenant)
    return AssetEvent(f"{turn}-{number}", f"2026-01-01T00:00:{turn:02}.000000Z", world.tenant, statement)


def write(world: World, *events: AssetEvent) -> None:
    record = Record(topics.ASSETS, 0, 0, "2026-01-02T00:00:00.000000Z", None, None)
    world.store.apply(topics.ASSETS, {}, [(record, event) for event in events], [])


def found(migrated: Migrated, world: World, q: str, **request: Any) -> list[str]:
    async def look(database: Database) -> list[str]:
        asked = SearchRequest({"q": q}, include_deleted=False, sort="qualified_name", order="asc", limit=50)
        page = await search(database, world.tenant, replace(asked, **request), DEFAULT_TAG_RULES)
        return [asset.qualified_name for asset in page.assets]

    return migrated.as_api(look)


def test_an_asset_is_found_by_description_terms_and_owner_together(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    write(world, state(world, 1, 1, description="Net of returns.", business_terms=["Revenue"], owner="alice"))
    for q in ("returns", "REVEN", "alice", "orders net", "sales revenue ali"):
        assert found(migrated, world, q) == ["sales.orders"], q
    for q in ("eturns", "orders gross", "2026"):
        assert found(migrated, world, q) == [], q


def test_a_new_description_replaces_the_words_of_the_old_one(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    write(world, state(world, 1, 1, description="Net of returns."))
    write(world, state(world, 2, 2, description="Gross."))
    assert found(migrated, world, "returns") == []
    assert found(migrated, world, "gross") == ["sales.orders"]


def test_a_huge_description_is_stored_and_found_by_its_beginning(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    letters = "".join(chr(0x20000 + number) for number in range(60_000))  # four bytes each
    write(world, state(world, 1, 1, description=f"first {letters} last", business_terms=["\U00020000" * 100] * 200))
    assert found(migrated, world, "first") == ["sales.orders"]
    assert found(migrated, world, "last") == []


def test_a_tenant_finds_its_own_assets_and_reads_no_entry_of_others(
    migrated: Migrated, make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world, other = make_world(), make_world()
    write(world, state(world, 1, 1, description="common"))
    write(other, *(state(other, number, 1, f"t{number}", description="common") for number in range(50)))
    assert found(migrated, world, "common") == ["sales.orders"]
    owner.execute("select gin_clean_pending_list('assets_by_search')")
    digit = int(world.id_of("sales.orders")[-1], 16)
    query = f"select entries_of('{world.tenant}', '@tcommon', {digit})"
    with owner.transaction():
        owner.execute("set local enable_seqscan = off")
        plan = owner.execute(
            "explain (analyze, format json) select 1 from assets where "  # noqa: S608
            f"search_entries(tenant_id, id, name, qualified_name, owner, described) @@ ({query})"
        ).fetchone()
    assert plan is not None
    assert plan[0][0]["Plan"]["Plans"][-1]["Actual Rows"] == 1


def test_refreshes_with_other_numbers_in_the_description_leave_the_indexes_alone(
    make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world = make_world()
    about = "One row an order, 1{0} rows as of 2026-01-{0:02}, by run 0ab{0}. " + "Words " * 400
    write(world, state(world, 1, 1, description=about.format(1)))
    before = owner.execute("select described from assets where tenant_id = %s", [world.tenant]).fetchone()
    write(world, state(world, 2, 2, description=about.format(2)))
    after = owner.execute("select described, version from assets where tenant_id = %s", [world.tenant]).fetchone()
    assert before is not None
    assert after == (*before, 2)


NAMES = ("order", "orders", "order items", "items", "order_x", "x")


@settings(max_examples=12)
@given(
    drawn=st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from(["order", "sales"]), st.sampled_from([None, *NAMES])),
        max_size=24,
    ),
    q=st.sampled_from(["order", "ord", "Order Items", "x", "order sales", "nothing", "!", "o" * 200]),
    limit=st.integers(1, 5),
    owner=st.sampled_from([None, "alice"]),
)
def test_pages_have_every_match_once_the_best_first(
    *,
    migrated: Migrated,
    make_world: Callable[[], World],
    drawn: list[tuple[str, str, str | None]],
    q: str,
    limit: int,
    owner: str | None,
) -> None:
    world = make_world()
    write(
        world,
        *(
            state(world, number, 1, f"{name}", qualified_name=f"{schema}.{number}", description=about, owner=by)
            for number, (name, schema, about) in enumerate(drawn)
            for by in (["alice", "bob"][number % 2],)
        ),
    )
    pages = every_page(migrated, world, {"q": q} | ({"owner": owner} if owner else {}), limit)
    prefixes = search_terms(q)
    expected = sorted(
        (searched(one.qualified_name, shown_fields(one.layers)).rank(prefixes), one.id[::-1], one.id)
        for one in every_page(migrated, world, {"owner": owner} if owner else {}, 50, sort="id")
        if prefixes and searched(one.qualified_name, shown_fields(one.layers)).match(prefixes)
    )
    assert [one.id for one in pages] == [asset_id for *_, asset_id in expected]


def every_page(
    migrated: Migrated, world: World, filters: dict[Any, str], limit: int, sort: Sorting = "rank"
) -> list[StoredAsset]:
    async def look(database: Database) -> list[StoredAsset]:
        request, assets = SearchRequest(filters, include_deleted=False, sort=sort, order="asc", limit=limit), []
        while True:
            page = await search(database, world.tenant, request, DEFAULT_TAG_RULES)
            assets += page.assets
            assert len(page.assets) == limit or page.last is None
            if page.last is None:
                return assets
            last = page.assets[-1]
            assert page.last == sort_key(last, sort, filters.get("q", ""))
            request = replace(request, after=page.last)

    return migrated.as_api(look)


@settings(max_examples=15)
@given(
    drawn=st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from(["order", "sales"]), st.sampled_from([None, *NAMES])),
        min_size=6,
        max_size=24,
    ),
    filters=st.fixed_dictionaries(
        {"q": st.sampled_from(["order", "ord", "Order Items", "x", "order sales", "nothing", None])},
        optional={
            "owner": st.sampled_from(["alice", "bob", "eve"]),
            "tag": st.sampled_from(["gold", "pii", "absent"]),
            "data_source": st.sampled_from(["a", "b"]),
        },
    ),
    order=st.sampled_from(
        [("rank", "asc"), ("rank", "asc"), ("name", "asc"), ("name", "desc"), ("created_at", "desc"), ("id", "asc")]
    ),
    few=st.sampled_from([0, 1, 3]),
    most=st.sampled_from([1, 4, 10_000]),
)
def test_pages_that_look_at_a_part_of_the_assets_have_every_match_once_in_order(
    *,
    migrated: Migrated,
    make_world: Callable[[], World],
    drawn: list[tuple[str, str, str | None]],
    filters: dict[Any, Any],
    order: tuple[Sorting, Order],
    few: int,
    most: int,
) -> None:
    """However few assets count as few, and however few a page may look at."""
    filters = {name: value for name, value in filters.items() if value is not None}
    world = make_world()
    tags = [["gold"], ["PII"], ["gold", "pii"], []]
    events = [
        state(
            world, number, number, name, qualified_name=f"{schema}.{number}", description=about,
            owner=["alice", "bob"][number % 2], tags=tags[number % 4], data_source="aab"[number % 3],
        )
        for number, (name, schema, about) in enumerate(drawn)
    ]  # fmt: skip
    write(world, *events)
    sort, direction = order if "q" in filters else ("name", order[1])
    everything = every_page(migrated, world, {}, 50, sort="id")
    prefixes = search_terms(filters.get("q", ""))
    expected = [
        one.id
        for one in everything
        if ("q" not in filters or searched(one.qualified_name, shown_fields(one.layers)).match(prefixes))
        and shown_fields(one.layers)["owner"] == filters.get("owner", shown_fields(one.layers)["owner"])
        and shown_fields(one.layers)["data_source"]
        == filters.get("data_source", shown_fields(one.layers)["data_source"])
        and ("tag" not in filters or filters["tag"] in {tag.lower() for tag in one.view["attributes"]["tags"]})
    ]
    by_id = {one.id: one for one in everything}
    key = {one: sort_key(by_id[one], sort, filters.get("q", "")) for one in by_id}
    with pytest.MonkeyPatch.context() as patched:
        for module in (candidates, searches):
            patched.setattr(module, "FEW", few)
            patched.setattr(module, "MOST", most)
        listed = ids_of_all_pages(
            migrated, world, SearchRequest(filters, include_deleted=False, sort=sort, order=direction, limit=3)
        )
    assert listed == sorted(expected, key=key.__getitem__, reverse=direction == "desc")


def ids_of_all_pages(migrated: Migrated, world: World, request: SearchRequest) -> list[str]:
    """Pages may be short, and even empty, but each goes on after the one before."""

    async def look(database: Database) -> list[str]:
        rest, ids = request, []
        for _ in range(200):
            page = await search(database, world.tenant, rest, DEFAULT_TAG_RULES)
            ids += [asset.id for asset in page.assets]
            if page.last is None:
                return ids
            rest = replace(rest, after=page.last)
        raise AssertionError("the list does not end")

    return migrated.as_api(look)


def test_the_exact_name_comes_before_names_that_begin_with_it_and_before_what_is_only_described(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    write(
        world,
        state(world, 1, 1, "returns", qualified_name="a.described", description="of a customer"),
        state(world, 2, 1, "visits", qualified_name="customer.visits"),
        state(world, 3, 1, "customer_orders", qualified_name="b.customer_orders"),
        state(world, 4, 1, "Customer", qualified_name="z.customer"),
    )
    ranked = ["z.customer", "b.customer_orders", "customer.visits", "a.described"]
    assert found(migrated, world, "customer", sort="rank") == ranked
    assert found(migrated, world, "customer") == sorted(ranked)


def test_the_best_of_a_few_candidates_come_on_the_first_page(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    names = {"of a customer": "returns", "visits": "visits", "orders": "customer_orders", "itself": "customer"}
    for number, (kind, name) in enumerate((kind, name) for kind, name in names.items() for _ in range(4)):
        place = "customer" if kind == "visits" else "z"
        described = {"description": kind} if kind == "of a customer" else {}
        write(
            world, state(world, number, 1, name, qualified_name=f"{place}.{number:02d}.{name}", owner="al", **described)
        )
    pages = every_page(migrated, world, {"q": "customer", "owner": "al"}, 3)
    found_names = [one.view["attributes"]["name"] for one in pages]
    assert found_names == [name for name in reversed(names.values()) for _ in range(4)]


def test_a_page_goes_on_although_the_asset_at_which_it_ended_has_another_rank(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    write(world, *(state(world, number, 1, f"customer_{number}") for number in range(9)))
    first = every_page(migrated, world, {"q": "customer"}, 50)
    after = sort_key(first[3], "rank", "customer")
    write(world, state(world, 1, 2, first[3].view["attributes"]["name"], qualified_name=first[3].qualified_name))
    person = {"layer": "user", "operation": "upsert", "qualified_name": first[3].qualified_name}
    statement = read_statement({**person, "attributes": {"name": "renamed"}}, tenant=world.tenant)
    write(world, AssetEvent("p", "2026-01-03T00:00:00.000000Z", world.tenant, statement))
    rest = found(migrated, world, "customer", sort="rank", after=after)
    assert rest == [one.qualified_name for one in [*first[4:], first[3]]]  # it matches by its qualified name now


def test_a_place_without_a_rank_is_refused(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world = make_world()
    for key in ("", "9a", "1", "1ab", "x"):
        with pytest.raises(Refused):
            found(migrated, world, "customer", sort="rank", after=(key, str(uuid.UUID(int=1))))


def test_a_common_word_is_looked_up_in_a_part_of_the_assets(
    migrated: Migrated, make_world: Callable[[], World], owner: psycopg.Connection
) -> None:
    world = make_world()
    write(world, *(state(world, number, 1, f"customer_{number}") for number in range(1_600)))
    owner.execute("select gin_clean_pending_list('assets_by_search')")
    read = "select sum(pg_stat_get_xact_tuples_fetched(oid)) from pg_class where oid = 'assets'::regclass"
    with psycopg.connect(migrated.owner) as connection:
        connection.execute("select set_config('lily.tenant', %s, true)", [world.tenant])
        places = """
          select count(*) from ids_by_rank(%s, '{}', %s, 1, null, 50, null, null, null, null, false, false, 1000, 10000)
        """
        assert connection.execute(places, [ranks(["customer"]), patterns(["customer"])]).fetchone() == (50,)
        row = connection.execute(read).fetchone()
    assert row is not None
    assert row[0] <= 400


@pytest.mark.parametrize("wanted", [1, 7])
def test_candidates_come_by_the_last_digit_of_the_id_and_each_once(
    migrated: Migrated, make_world: Callable[[], World], wanted: int
) -> None:
    world = make_world()
    write(world, *(state(world, number, 1, f"customer_{number}") for number in range(60)))

    async def look(database: Database) -> list[str]:
        ids: list[str] = []
        after: tuple[str, str] | None = None
        while len(ids) <= 60:
            found = await next_candidates(
                database, world.tenant, {"q": "customer"}, after, with_deleted=False, wanted=wanted
            )
            ids += found.ids
            if len(found.ids) < wanted:
                break
            after = found.last
        return ids

    ids = migrated.as_api(look)
    assert ids == sorted(ids, key=lambda one: one[::-1])
    assert len(set(ids)) == len(ids) == 60
