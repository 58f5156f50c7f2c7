"""SQL of runs, analyzed as the worker does it: what it adds to the edges and assets of a tenant."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.lineage_world import World
from tests.openlineage_words import column_lineage, dataset, field, schema
from tests.postgres.migrated import Migrated
from tests.postgres.run_queries import Runs, opened

pytestmark = pytest.mark.campaign  # it starts processes that analyze SQL

CUSTOMERS = "with source as (select * from raw.customers) select id as customer_id, email from source"


@pytest.fixture
def runs(migrated: Migrated, make_world: Callable[[], World]) -> Iterator[Runs]:
    with opened(migrated, make_world()) as made:
        yield made


STAGED = {
    ("raw.customers", "main.stg"),
    ("raw.customers.id", "main.stg.customer_id"),
    ("raw.customers.email", "main.stg.email"),
}


def test_a_staging_model_without_inputs_is_derived_from_what_its_query_reads(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    assert runs.derived() == set()
    runs.analyze()
    assert runs.derived() == STAGED
    assert runs.world.live("table") == {"main.stg", "raw.customers"}


def test_a_common_table_expression_makes_no_table(runs: Runs) -> None:
    named = column_lineage(customer_id=[field("source", "id")], email=[field("source", "email")])
    runs.take(dataset("main.stg", columnLineage=named), CUSTOMERS)
    runs.analyze()
    assert runs.derived() == STAGED
    assert runs.world.live("table") == {"main.stg", "raw.customers"}


def test_columns_that_no_edge_leads_to_are_stated(runs: Runs) -> None:
    runs.take("main.counted", "select country, count(*) as customers from raw.customers group by country")
    runs.analyze()
    assert "main.counted.customers" in runs.world.live("column")


@pytest.mark.parametrize("copy_first", [True, False])
def test_a_star_has_the_columns_that_another_query_makes_in_any_order(runs: Runs, *, copy_first: bool) -> None:
    """A snapshot of dbt is `select * from` a model of which nothing else states the columns."""
    models = [("main.stg", CUSTOMERS), ("main.history", "select * from main.stg")]
    for output, sql in reversed(models) if copy_first else models:
        runs.take(output, sql)
        runs.analyze()
    copied = {(f"main.stg{name}", f"main.history{name}") for name in ("", ".customer_id", ".email")}
    assert runs.derived() == STAGED | copied


def test_a_model_that_gets_a_column_gives_it_to_the_copies_of_it(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    runs.take("main.history", "select * from main.stg")
    runs.analyze()
    runs.take("main.stg", CUSTOMERS.replace("email", "email, country"), at="12:00", run="r2")
    runs.analyze()
    assert ("main.stg.country", "main.history.country") in runs.derived()


def test_a_new_run_replaces_the_edges_of_the_one_before_only_when_it_is_analyzed(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    runs.take("main.stg", "select id from raw.people", at="12:00", run="r2")
    assert runs.derived() == STAGED
    runs.analyze()
    assert runs.derived() == {("raw.people", "main.stg"), ("raw.people.id", "main.stg.id")}


def test_a_query_without_sources_ends_the_edges_of_the_run_before(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    runs.take("main.stg", "select 1 as id", at="12:00", run="r2", inputs=[dataset("raw.people")])
    runs.analyze()
    assert runs.derived() == set()


def test_a_query_that_is_not_understood_ends_no_edges(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    runs.take("main.stg", "selec nothing of ) this", at="12:00", run="r2", inputs=[dataset("raw.people")])
    runs.analyze()
    assert runs.derived() == STAGED | {("raw.people", "main.stg")}
    assert runs.outcomes()["not_understood"] == 1


def test_edges_that_were_assumed_give_way_to_those_of_the_query(runs: Runs) -> None:
    runs.take("main.stg", "select id from raw.people", inputs=[dataset("raw.people"), dataset("raw.lookup")])
    assert ("raw.lookup", "main.stg") in runs.derived()
    runs.analyze()
    assert runs.derived() == {("raw.people", "main.stg"), ("raw.people.id", "main.stg.id")}


def test_an_older_run_that_is_analyzed_late_changes_nothing(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS, at="12:00", run="r2")
    runs.analyze()
    runs.take("main.stg", "select id from raw.people")
    runs.analyze()
    assert runs.derived() == STAGED


def test_a_query_that_is_analyzed_twice_changes_nothing(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    before = runs.world.edges()
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    assert runs.world.edges() == before


def test_a_name_is_that_of_the_table_in_the_catalogue_whatever_its_case(runs: Runs) -> None:
    runs.world.typed("table", "RAW.Customers")
    runs.world.column("RAW.Customers.Email", "RAW.Customers")
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    assert ("RAW.Customers.Email", "main.stg.email") in runs.derived()
    assert "raw.customers" not in runs.world.live("table")


def test_a_query_writes_its_own_target(runs: Runs) -> None:
    runs.take("main.stg", "create table main.stg as (select email from raw.customers)")
    runs.analyze()
    assert runs.derived() == {("raw.customers", "main.stg"), ("raw.customers.email", "main.stg.email")}


def test_two_models_that_read_each_other_come_to_rest(runs: Runs) -> None:
    runs.take("main.a", "select *, 1 as x from main.b")
    runs.take("main.b", "select *, 2 as y from main.a")
    runs.analyze()
    assert {("main.a", "main.b"), ("main.b", "main.a")} <= runs.derived()


def test_pii_of_a_seed_reaches_the_columns_that_show_it(runs: Runs) -> None:
    runs.world.define("pii")
    runs.take("main.stg", CUSTOMERS)
    runs.take("main.mart", "with c as (select * from main.stg) select lower(email) as contact, 1 as one from c")
    runs.take("main.counts", "select count(*) as n from main.stg where email is not null")
    runs.analyze()
    runs.world.column("raw.customers.email", "raw.customers", tags=["PII"])
    runs.world.settle()
    assert runs.world.derived("pii") == {"main.stg.email", "main.mart.contact"}


def test_sql_of_the_start_is_analyzed_when_the_run_completes(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS, eventType="START")
    runs.analyze()
    assert runs.derived() == set()
    runs.complete("main.stg")
    runs.analyze()
    assert runs.derived() == STAGED


def test_sql_of_the_start_learns_from_the_completion_what_is_written(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS, eventType="START", outputs=[])
    runs.complete("main.stg", outputs=[dataset("main.stg")])
    runs.analyze()
    assert runs.derived() == STAGED


def test_sql_of_the_start_waits_until_the_catalogue_has_what_is_written(
    runs: Runs, owner: psycopg.Connection[Any]
) -> None:
    """Assets and claims are in different partitions, so the claims may be merged first."""
    runs.take("main.stg", CUSTOMERS, eventType="START", outputs=[])
    runs.complete("main.stg", outputs=[dataset("main.stg")])
    owner.execute("delete from assets where tenant_id = %s and qualified_name = 'main.stg'", [runs.world.tenant])
    job = runs.next_job()
    assert runs.run(job) is not None
    runs.world.asset("main.stg")
    assert runs.run(job) is None
    runs.read_back()
    assert runs.derived() == STAGED


def test_sql_of_the_start_replaces_the_edges_of_the_run_before_when_it_is_analyzed(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    runs.take("main.stg", "select id from raw.people", at="12:00", run="r2", eventType="START")
    runs.complete("main.stg", "13:00", "r2")
    assert runs.derived() == STAGED
    runs.analyze()
    assert runs.derived() == {("raw.people", "main.stg"), ("raw.people.id", "main.stg.id")}


def test_sql_of_the_start_that_is_not_understood_ends_no_edges(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    runs.take("main.stg", "selec nothing of ) this", at="12:00", run="r2", eventType="START")
    runs.complete("main.stg", "13:00", "r2", inputs=[dataset("raw.people")])
    runs.analyze()
    assert runs.derived() == STAGED | {("raw.people", "main.stg")}


def test_a_start_that_arrives_last_is_analyzed_too(runs: Runs) -> None:
    runs.complete("main.stg", outputs=[dataset("main.stg")])
    runs.take("main.stg", CUSTOMERS, eventType="START")
    runs.analyze()
    assert runs.derived() == STAGED


def test_sql_of_the_start_of_a_run_that_fails_makes_no_edges(runs: Runs) -> None:
    runs.take("main.stg", CUSTOMERS, eventType="START")
    runs.complete("main.stg", eventType="FAIL")
    runs.analyze()
    assert runs.derived() == set()


def test_column_lineage_of_the_completion_makes_sql_of_the_start_superfluous(runs: Runs) -> None:
    runs.take("main.stg", "select id, email from raw.customers", eventType="START")
    named = column_lineage(email=[field("raw.people", "email")])
    runs.complete("main.stg", outputs=[dataset("main.stg", columnLineage=named)])
    runs.analyze()
    assert runs.derived() == {("raw.people", "main.stg"), ("raw.people.email", "main.stg.email")}


def test_a_star_beside_columns_that_are_stated_passes_its_columns_on(runs: Runs) -> None:
    """openlineage-dbt states the column lineage of `n` alone."""
    runs.take("main.stg", CUSTOMERS)
    runs.analyze()
    named = dataset("main.wide", columnLineage=column_lineage(n=[field("main.stg", "email")]))
    runs.take(named, "select *, length(email) as n from main.stg", inputs=[dataset("main.stg")])
    runs.analyze()
    assert ("main.stg.email", "main.wide.email") in runs.derived()
    assert ("main.stg.email", "main.wide.n") in runs.derived()


def test_an_input_that_column_lineage_leaves_out_is_found_in_the_query(runs: Runs) -> None:
    named = dataset("main.wide", columnLineage=column_lineage(domain=[field("main.domains", "domain")]))
    joined = "select d.domain, c.email from main.domains d join main.customers c on c.id = d.id"
    runs.take(named, joined, inputs=[dataset("main.domains"), dataset("main.customers")])
    runs.analyze()
    assert ("main.customers.email", "main.wide.email") in runs.derived()


UNION = "select id as person, email as label from raw.people union all select booking_id, note from raw.bookings"


def of_union(**more: Any) -> dict[str, Any]:
    """openlineage-dbt takes the columns of all queries of a union for columns of the model."""
    named = column_lineage(
        person=[field("raw.people", "id")],
        label=[field("raw.people", "email")],
        booking_id=[field("raw.bookings", "booking_id")],
        note=[field("raw.bookings", "note")],
        **more,
    )
    return dataset("main.labels", columnLineage=named)


def test_a_union_has_the_columns_of_its_first_query_alone(runs: Runs) -> None:
    runs.take(of_union(), UNION, eventType="START")
    runs.take(of_union(), UNION, inputs=[dataset("raw.people"), dataset("raw.bookings")])
    assert runs.derived() == {("raw.people", "main.labels"), ("raw.bookings", "main.labels")}
    runs.analyze()
    assert runs.derived() == {
        ("raw.people", "main.labels"),
        ("raw.bookings", "main.labels"),
        ("raw.people.id", "main.labels.person"),
        ("raw.people.email", "main.labels.label"),
        ("raw.bookings.booking_id", "main.labels.person"),
        ("raw.bookings.note", "main.labels.label"),
    }
    assert not {"main.labels.note", "main.labels.booking_id"} & runs.world.live("column")


def test_a_union_that_is_not_understood_has_what_column_lineage_states(runs: Runs) -> None:
    runs.take(of_union(), UNION + " selec nothing of ) this", inputs=[dataset("raw.people"), dataset("raw.bookings")])
    runs.analyze()
    assert ("raw.people.email", "main.labels.label") in runs.derived()
    assert ("raw.bookings.note", "main.labels.note") in runs.derived()
    assert {"main.labels.label", "raw.bookings.note"} <= runs.world.live("column")
    assert runs.outcomes()["not_understood"] == 1


def test_a_union_that_is_understood_in_part_has_what_column_lineage_states_too(runs: Runs) -> None:
    runs.take(of_union(), UNION.replace("booking_id, note from raw.bookings", "b.* from raw.bookings b"))
    runs.analyze()
    assert ("raw.bookings.note", "main.labels.note") in runs.derived()
    assert ("raw.people.email", "main.labels.label") in runs.derived()


def test_the_union_of_a_run_that_failed_states_no_columns(runs: Runs) -> None:
    runs.take(of_union(), UNION, eventType="FAIL")
    assert runs.derived() == {("raw.people", "main.labels"), ("raw.bookings", "main.labels")}
    assert runs.world.live("column") == set()


def test_what_column_lineage_says_about_how_a_column_is_used_counts_beside_the_query(runs: Runs) -> None:
    hashed = [field("raw.people", "email", {"type": "DIRECT", "masking": True})]
    runs.take(of_union(hash=hashed), UNION)
    runs.analyze()
    assert runs.world.edges()["raw.people.email", "main.labels.hash", "derived-from"]["masking"]


NUMBERED = "select id, email, row_number() over (partition by email order by id) as visit from raw.people"


@pytest.mark.parametrize("starred", [True, False])
def test_a_column_that_only_partitions_a_window_influences_whatever_column_lineage_names(
    runs: Runs, *, starred: bool
) -> None:
    """openlineage-dbt names it as a source like any other."""
    runs.world.define("pii")
    runs.complete("raw.people", outputs=[dataset("raw.people", schema=schema("id", "email"))])
    people = [field("raw.people", name) for name in ("id", "email")]
    named = column_lineage(id=people[:1], email=people[1:], visit=people)
    output = dataset("main.visits", columnLineage=named, schema=schema("id", "email", "visit"))
    runs.take(output, NUMBERED.replace("id, email,", "*,", 1) if starred else NUMBERED, inputs=[dataset("raw.people")])
    runs.analyze()
    runs.world.column("raw.people.email", "raw.people", tags=["PII"])
    runs.world.settle()
    assert runs.world.derived() == {"main.visits.email"}
    assert ("raw.people.email", "main.visits.visit") not in runs.derived()
