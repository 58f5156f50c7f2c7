"""The SQL facet of OpenLineage events: when it has to explain what other facets do not. The events have the shape of
those that dbt's wrapper, Airflow and Spark's listener send."""

from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest

from lily.intake.openlineage.common_tables import CommonTables
from lily.model.edges import ClaimsEvent, read_claims_event
from lily.model.errors import Refused
from lily.model.run_queries import MAX_TEXT, QuerySender, RunQuery
from lily.model.schemas import SCHEMAS
from tests.openlineage_words import (
    DB,
    NOW,
    claims,
    column_lineage,
    converted,
    dataset,
    field,
    run_event,
    schema,
    stated,
)

STAGING = "with source as (\n    select * from raw.customers\n)\nselect id as customer_id, email from source"

PLAIN = "select id, email from raw.customers"


def job(query: Any = STAGING, **more: Any) -> dict[str, Any]:
    return {"namespace": "shop", "name": "stg_customers", "facets": {"sql": {"query": query, **more}}}


def claimed(event: dict[str, Any]) -> ClaimsEvent:
    found = converted(event).claims
    assert found is not None
    return found


def test_an_output_without_column_lineage_is_explained_by_the_query() -> None:
    event = claimed(run_event(job=job(dialect="duckdb"), outputs=[dataset("main.stg_customers")]))
    names = {"main.stg_customers": "main.stg_customers"}
    assert event.query == RunQuery(STAGING, "duckdb", DB, names, "main.stg_customers", complete=True)


def test_a_run_whose_query_waits_is_not_complete_yet() -> None:
    assert claimed(run_event(job=job(), outputs=[dataset("o")])).complete is False


def test_a_common_table_expression_is_not_a_dataset() -> None:
    named = column_lineage(customer_id=[field("source", "id")], email=[field("source", "email")])
    event = run_event(job=job(), outputs=[dataset("o", columnLineage=named)])
    found = converted(event)
    assert set(stated(found)) == {"job:shop/stg_customers", "o", "o.customer_id", "o.email"}
    assert claims(found) == {}
    assert found.claims is not None
    assert found.claims.query is not None


def test_column_lineage_of_a_common_table_expression_explains_nothing() -> None:
    sql = job("with source as (select email from raw.customers) select email from source")
    named = column_lineage(email=[field("source", "email")])
    assert claimed(run_event(job=sql, outputs=[dataset("o", columnLineage=named)])).query is not None


def test_a_common_table_expression_is_no_dataset_when_a_run_starts() -> None:
    named = column_lineage(email=[field("source", "email")])
    found = converted(run_event(eventType="START", job=job(), outputs=[dataset("o", columnLineage=named)]))
    assert "source" not in stated(found)


def test_what_column_lineage_names_beside_common_table_expressions_is_kept() -> None:
    named = column_lineage(email=[field("source", "email")], spent=[field("spending", "spent")])
    found = converted(run_event(job=job(), inputs=[dataset("spending")], outputs=[dataset("o", columnLineage=named)]))
    assert ("spending", "o", "derived-from") in claims(found)
    assert found.claims is not None
    assert found.claims.query is not None
    assert found.claims.query.columns == {"o.spent": ["spending.spent"]}


def test_an_input_that_has_the_name_of_a_common_table_expression_is_a_dataset() -> None:
    named = column_lineage(email=[field("source", "email")])
    sql = job("with source as (select email from source) select email from source")
    found = converted(run_event(job=sql, inputs=[dataset("source")], outputs=[dataset("o", columnLineage=named)]))
    assert ("source.email", "o.email", "derived-from") in claims(found)
    assert found.claims is not None
    assert found.claims.query is None


UNION = "select label from a union all select payer_email from b"


def of_union(schema: dict[str, Any], query: str | None = UNION) -> dict[str, Any]:
    """openlineage-dbt takes the columns of all queries of a union for columns of the model."""
    named = column_lineage(label=[field("a", "label")], payer_email=[field("b", "payer_email")])
    facets: dict[str, Any] = {"columnLineage": named, "schema": schema}
    own = {} if query is None else {"job": job(query)}
    return run_event(inputs=[dataset("a"), dataset("b")], outputs=[dataset("o", **facets)], **own)


def test_a_field_that_the_schema_does_not_have_is_left_to_the_query() -> None:
    found = converted(of_union({"fields": [{"name": "LABEL"}]}))
    assert "o.payer_email" not in stated(found)
    assert claims(found).keys() == {("a", "o", "derived-from"), ("b", "o", "derived-from")}
    assert found.claims is not None
    assert found.claims.query is not None
    assert found.claims.query.target == "o"
    assert found.claims.query.columns == {"o.label": ["a.label"]}
    assert found.claims.complete is False


def test_the_columns_of_a_union_are_left_to_the_query() -> None:
    found = converted(of_union({"fields": []}))
    assert {"o.label", "o.payer_email", "a.label"}.isdisjoint(stated(found))
    assert claims(found).keys() == {("a", "o", "derived-from"), ("b", "o", "derived-from")}
    assert found.claims is not None
    assert found.claims.query is not None
    assert found.claims.query.columns == {"o.label": ["a.label"], "o.payer_email": ["b.payer_email"]}
    assert found.claims.query.names == {"a": "a", "b": "b", "o": "o"}


@pytest.mark.parametrize("window", ["over (partition by email)", "OVER(order by email)", "over w", 'over "w"'])
def test_what_a_window_uses_is_left_to_the_query(window: str) -> None:
    used = [field("a", "email")]
    outputs = [dataset("o", schema=schema("n"), columnLineage=column_lineage(n=used))]
    sql = "select rank() as n from a".replace("()", f"() {window}")
    query = claimed(run_event(job=job(sql), outputs=outputs)).query
    assert query is not None
    assert query.columns == {"o.n": ["a.email"]}
    used[0]["transformations"] = [{"type": "INDIRECT", "subtype": "WINDOW"}]
    assert claimed(run_event(job=job(sql), outputs=outputs)).query is None


def test_the_columns_of_a_union_that_are_too_many_to_travel_are_stated_at_once() -> None:
    named = column_lineage(**{f"c{number}": [field("b" * 500, f"c{number}")] for number in range(600)})
    event = claimed(run_event(job=job(UNION), outputs=[dataset("o", columnLineage=named)]))
    assert len(event.claims) == 601
    assert event.query is not None
    assert event.query.columns == {}


def test_a_union_of_which_column_lineage_says_how_columns_are_used_is_not_analyzed() -> None:
    used = {"type": "DIRECT", "subtype": "IDENTITY"}
    named = column_lineage(label=[field("a", "label", used), field("b", "payer_email", used)])
    event = run_event(job=job(UNION), outputs=[dataset("o", columnLineage=named)])
    assert claimed(event).query is None
    assert ("b.payer_email", "o.label", "derived-from") in claims(converted(event))


def test_a_column_that_only_filters_for_a_field_that_is_none_influences_the_output() -> None:
    named = column_lineage(_0=[field("b", "id", {"type": "INDIRECT"})])
    facets: dict[str, Any] = {"columnLineage": named, "schema": {"fields": [{"name": "total"}]}}
    found = converted(run_event(job=job(PLAIN), inputs=[dataset("b")], outputs=[dataset("o", **facets)]))
    assert ("b.id", "o", "influences") in claims(found)
    assert found.claims is not None
    assert found.claims.query is not None


@pytest.mark.parametrize(
    "schema",
    [
        {"fields": [{"name": "label"}, {"name": "payer_email"}]},
        {"fields": [{"name": "LABEL"}, {"name": "Payer_Email"}]},
        {"fields": []},
    ],
)
def test_fields_of_the_schema_in_any_case_make_the_query_superfluous(schema: dict[str, Any]) -> None:
    found = converted(of_union(schema, query="select a.label, b.payer_email from a, b"))
    assert ("b.payer_email", "o.payer_email", "derived-from") in claims(found)
    assert found.claims is not None
    assert found.claims.query is None


def test_a_nested_field_of_a_column_of_the_schema_is_no_doubt() -> None:
    named = column_lineage(**{"address.city": [field("a", "city")]})
    facets: dict[str, Any] = {"columnLineage": named, "schema": {"fields": [{"name": "address"}]}}
    event = run_event(job=job(PLAIN), inputs=[dataset("a")], outputs=[dataset("o", **facets)])
    assert claimed(event).query is None


def test_without_a_query_a_field_that_the_schema_does_not_have_is_kept() -> None:
    found = converted(of_union({"fields": [{"name": "label"}]}, query=None))
    assert ("b.payer_email", "o.payer_email", "derived-from") in claims(found)


def test_column_lineage_makes_the_query_superfluous() -> None:
    named = column_lineage(email=[field("raw.customers", "email")])
    event = claimed(run_event(job=job(PLAIN), outputs=[dataset("o", columnLineage=named)]))
    assert event.query is None
    assert event.complete


@pytest.mark.parametrize(
    "sql",
    [
        "select *, length(country) as n from stg",
        "SELECT length(country) AS n, * FROM stg",
        "select length(country) as n, s.* from stg s",
        "select top 10 * from stg",
        "select /* all */ * from stg",
        "with renamed as (select length(country) as n, id from stg) select * from renamed",
        "select * exclude (id), length(country) as n from stg",
    ],
)
def test_column_lineage_does_not_cover_the_columns_of_a_star(sql: str) -> None:
    """openlineage-dbt states only the named columns."""
    named = column_lineage(n=[field("stg", "country")])
    event = run_event(job=job(sql), inputs=[dataset("stg")], outputs=[dataset("o", columnLineage=named)])
    found = claimed(event)
    assert found.query is not None
    assert found.query.target == "o"
    assert found.complete is False


@pytest.mark.parametrize(
    "sql", ["select count(*) as n from stg", "select a.x*2 as n from stg a", "select 2 * x as n, y from stg"]
)
def test_a_multiplication_or_a_count_is_no_star(sql: str) -> None:
    named = column_lineage(n=[field("stg", "x")])
    event = run_event(job=job(sql), inputs=[dataset("stg")], outputs=[dataset("o", columnLineage=named)])
    assert claimed(event).query is None


def test_column_lineage_does_not_cover_an_input_that_it_does_not_name() -> None:
    named = column_lineage(x=[field("a", "x")])
    outputs = [dataset("o", columnLineage=named)]
    assert claimed(run_event(job=job(PLAIN), inputs=[dataset("a")], outputs=outputs)).query is None
    assert claimed(run_event(job=job(PLAIN), inputs=[dataset("a"), dataset("b")], outputs=outputs)).query is not None


def test_column_lineage_covers_an_input_that_only_filters_and_the_output_itself() -> None:
    named = {**column_lineage(x=[field("a", "x")]), "dataset": [field("b", "id", {"type": "INDIRECT"})]}
    inputs = [dataset("a"), dataset("b"), dataset("o")]
    assert claimed(run_event(job=job(PLAIN), inputs=inputs, outputs=[dataset("o", columnLineage=named)])).query is None


def test_explicit_lineage_covers_a_star() -> None:
    explicit = {"inputs": [{"type": "DATASET", "namespace": DB, "name": "a"}]}
    outputs = [dataset("o", lineage=explicit, columnLineage=column_lineage(x=[field("a", "x")]))]
    assert claimed(run_event(job=job(), inputs=[dataset("a"), dataset("b")], outputs=outputs)).query is None


def test_explicit_lineage_makes_the_query_superfluous() -> None:
    assert claimed(run_event(job=job(), outputs=[dataset("o", lineage={"inputs": []})])).query is None


@pytest.mark.parametrize("state", ["FAIL", "ABORT"])
def test_the_query_of_a_run_that_wrote_nothing_is_not_analyzed(state: str) -> None:
    assert claimed(run_event(eventType=state, job=job(), outputs=[dataset("o")])).query is None


def test_the_query_of_a_run_that_starts_travels_with_the_event_and_completes_nothing() -> None:
    event = claimed(run_event(eventType="START", job=job(), outputs=[dataset("o")]))
    assert event.query == RunQuery(STAGING, "", DB, {"o": "o"}, "o", complete=False)
    assert event.complete is False


def test_the_query_of_a_run_that_starts_may_come_before_its_datasets() -> None:
    query = claimed(run_event(eventType="START", job=job())).query
    assert query == RunQuery(STAGING, "", "", {}, "", complete=False)


def test_a_start_that_states_its_column_lineage_has_no_query() -> None:
    named = column_lineage(email=[field("raw.customers", "email")])
    event = run_event(eventType="START", job=job(PLAIN), outputs=[dataset("o", columnLineage=named)])
    assert claimed(event).query is None


def test_a_query_between_several_outputs_has_no_target() -> None:
    query = claimed(run_event(job=job(), outputs=[dataset("o"), dataset("p")])).query
    assert query is not None
    assert query.target == ""


def test_a_query_without_outputs_names_them_itself() -> None:
    query = claimed(run_event(job=job("insert into o select * from i"), inputs=[dataset("i")])).query
    assert query is not None
    assert (query.target, query.namespace) == ("", DB)


def test_a_query_without_datasets_is_of_no_platform() -> None:
    assert claimed(run_event(job=job())).query is None


@pytest.mark.parametrize("query", [7, None, "x" * (MAX_TEXT + 1)])
def test_a_query_that_cannot_be_used_is_reported_and_spoils_its_facet_alone(query: Any) -> None:
    found = converted(run_event(job=job(query), inputs=[dataset("i")], outputs=[dataset("o")]))
    assert found.claims is not None
    assert found.claims.query is None
    assert found.claims.complete
    assert [problem.entity for problem in found.warnings if "sql" in problem.entity][:1] == ["job.facets.sql.query"]


@pytest.mark.parametrize("sender", [None, QuerySender("bob", ("etl", "ops"), ""), QuerySender("", (), "crawlers")])
def test_a_query_survives_the_log(sender: QuerySender | None) -> None:
    event = claimed(run_event(job=job(), inputs=[dataset("i")], outputs=[dataset("o")]))
    assert event.query is not None
    event = replace(event, query=event.query._replace(sender=sender))
    assert read_claims_event(event.as_cloudevent(), received=NOW) == event
    jsonschema_rs.validator_for(SCHEMAS["claims-event"]).validate(event.as_cloudevent())


@pytest.mark.parametrize(
    "query",
    [
        "select 1",
        ["select 1"],
        ["q", "", "", {"a": 1}, "", True],
        ["q", "", "", {}, "", 1],
        ["q", "", "", {}, "", True, None],
        ["q", "", "", {}, "", True, ["bob", [1], ""]],
        ["q", "", "", {}, "", True, ["bob", [], ""], "more"],
        ["q", "", "", {}, "", True, None, True, {"o.x": "a.x"}],
        ["q", "", "", {}, "", True, None, True, {"o.x": [1]}],
        ["q", "", "", {}, "", True, None, True, {}, 1],
    ],
)
def test_a_query_that_is_none_is_refused(query: Any) -> None:
    event = claimed(run_event(job=job(), outputs=[dataset("o")])).as_cloudevent()
    event["data"]["query"] = query
    with pytest.raises(Refused):
        read_claims_event(event, received=NOW)


@pytest.mark.parametrize(
    "text",
    [
        "with a as (select 1), b as (select * from a) select * from b",
        'WITH RECURSIVE a AS MATERIALIZED (select 1), "B" AS NOT MATERIALIZED (select 2) select 3',
        "with a (x, y) as (select 1, 2), `b` as(select 1) select 3",
        "insert into t with a as (select 1), [b] as (select 2) select 3",
    ],
)
def test_common_table_expressions_are_found_in_any_spelling(text: str) -> None:
    found = CommonTables(text)
    assert "a" in found
    assert "B" in found
    assert "t" not in found


def test_a_table_in_a_schema_is_never_a_common_table_expression() -> None:
    assert "raw.orders" not in CommonTables("with orders as (select * from raw.orders) select * from orders")


@pytest.mark.parametrize("sender", [None, QuerySender("bob", ("etl",), "")])
@pytest.mark.parametrize("expands", [True, False])
@pytest.mark.parametrize("columns", [{}, {"o.x": ["a.x", "b.x"]}])
def test_what_the_sender_may_read_is_kept_with_the_query(
    sender: QuerySender | None, columns: dict[str, list[str]], *, expands: bool
) -> None:
    event = claimed(run_event(job=job(), outputs=[dataset("o")]))
    assert event.query is not None
    sent = replace(event, query=event.query._replace(sender=sender, expands=expands, columns=columns))
    assert read_claims_event(sent.as_cloudevent(), received=NOW) == sent
    jsonschema_rs.validator_for(SCHEMAS["claims-event"]).validate(sent.as_cloudevent())


@pytest.mark.parametrize(("namespace", "name"), [("hive://metastore:9083", "db.t"), ("arn:aws:glue:x:1", "table/db/t")])
def test_the_query_of_a_location_is_that_of_the_table_which_is_its_symlink(namespace: str, name: str) -> None:
    symlinks = {"identifiers": [{"namespace": namespace, "name": name, "type": "TABLE"}]}
    location = {"namespace": "s3://lake", "name": "wh/t", "facets": {"symlinks": symlinks}}
    query = claimed(run_event(job=job(), outputs=[location])).query
    assert query is not None
    assert query.names == {"db.t": "db.t", "wh/t": "db.t"}
    assert query.target == "db.t"
    assert query.namespace == namespace
