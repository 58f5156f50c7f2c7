"""Two names of one dataset."""

from typing import Any

import pytest

from lily.intake.openlineage import Conversion, Naming
from lily.lineage.claims import merge_completions
from lily.lineage.runs import add_events
from lily.model.edges import read_claims_event
from lily.model.values import MAX_QUALIFIED_NAME
from tests.openlineage_words import DB, NOW, claims, column_lineage, converted, dataset, run_event, schema, stated

LOCATION = {"namespace": "s3://lake", "name": "db/t"}
TABLE = {"namespace": "arn:aws:glue:eu-west-1:1", "name": "table/db/t", "type": "TABLE"}


def linked(named: dict[str, Any], *identifiers: Any, **facets: Any) -> dict[str, Any]:
    return {**named, "facets": {"symlinks": {"identifiers": list(identifiers)}, **facets}}


def edges(found: Conversion) -> set[tuple[str, str, str]]:
    return set(claims(found))


def same(one: str, other: str) -> set[tuple[str, str, str]]:
    return {(one, other, "same-as"), (other, one, "same-as")}


def test_a_table_is_preferred_over_its_location_everywhere_in_the_event() -> None:
    lineage = column_lineage(y=[{**LOCATION, "field": "x"}])
    found = converted(run_event(inputs=[linked(LOCATION, TABLE)], outputs=[dataset("report", columnLineage=lineage)]))
    assert stated(found)["db.t"].statement.entity_type == "table"
    assert stated(found)["s3://lake/db/t"].statement.entity_type == "file"
    assert edges(found) == same("db.t", "s3://lake/db/t") | {
        ("db.t.x", "report.y", "derived-from"),
        ("db.t", "report", "derived-from"),
    }


def test_a_table_keeps_its_name_and_knows_its_location() -> None:
    location = {"namespace": "s3://lake", "name": "db/t", "type": "LOCATION"}
    found = converted(run_event(outputs=[linked({"namespace": DB, "name": "shop.t"}, location)]))
    assert edges(found) == same("shop.t", "s3://lake/db/t")


def test_columns_of_both_names_are_the_same_without_being_stated_twice() -> None:
    found = converted(run_event(outputs=[linked(LOCATION, TABLE, schema=schema("email"))]))
    assert sorted(stated(found)) == ["db.t", "db.t.email", "job:airflow/dag.task", "s3://lake/db/t"]
    assert found.claims is not None
    assert len(found.claims.claims) == 4


def test_columns_of_another_name_are_named_for_the_graph() -> None:
    found = converted(run_event(outputs=[linked(LOCATION, TABLE, schema=schema("email"))])).claims
    assert found is not None
    assert found.names == ("s3://lake/db/t.email",)
    both = {"namespace": "s3://lake", "name": "db/t"}
    lineage = column_lineage(x=[{**both, "field": "email"}])
    table = linked({"namespace": DB, "name": "shop.t"}, both, schema=schema("email"))
    stated_too = converted(run_event(inputs=[table], outputs=[dataset("o", columnLineage=lineage)])).claims
    assert stated_too is not None
    assert stated_too.names == ()


def test_as_many_names_travel_as_fit_into_one_event() -> None:
    many = schema(*(f"{number:0>200}" for number in range(1500)))
    found = converted(run_event(outputs=[linked(LOCATION, TABLE, schema=many)])).claims
    assert found is not None
    assert 0 < len(found.names) < 1500
    assert len(found.claims) == 3002


def test_a_column_whose_other_name_is_too_long_has_none() -> None:
    location = {"namespace": "s3://lake", "name": "d/" * ((MAX_QUALIFIED_NAME - 30) // 2) + "t"}
    found = converted(run_event(outputs=[linked(location, TABLE, schema=schema("id", "a" * 20))])).claims
    assert found is not None
    assert found.names == (f"s3://lake/{location['name']}.id",)
    assert read_claims_event(found.as_cloudevent(), received=NOW) == found


def test_a_warehouse_in_files_is_a_database() -> None:
    table = {"namespace": "file:/tmp/warehouse", "name": "default.t", "type": "TABLE"}
    found = converted(run_event(inputs=[linked({"namespace": "file", "name": "/tmp/warehouse/t"}, table)]))
    assert stated(found)["default.t"].statement.entity_type == "table"
    assert Naming({"file:/tmp/warehouse": "test"}).table("file:/tmp/warehouse", "default.t")[0] == "test.default.t"


def test_two_names_that_point_at_each_other_are_no_problem() -> None:
    a, b = {"namespace": DB, "name": "a"}, {"namespace": DB, "name": "b"}
    found = converted(run_event(inputs=[linked(a, b), linked(b, a)]))
    assert edges(found) == same("a", "b")
    assert edges(converted(run_event(inputs=[linked(a, a)]))) == set()


def test_another_name_alone_does_not_replace_the_edges_of_the_run_before() -> None:
    found = converted(run_event(inputs=[linked(LOCATION, TABLE)])).claims
    assert found is not None

    assert merge_completions({}, [found], add_events({}, [found])[0])[0] == {}


@pytest.mark.parametrize(
    "identifiers", [7, [7], [{"name": 7}], [{"namespace": "n", "name": str(n)} for n in range(99)]]
)
def test_wrong_symlinks_are_reported_and_ignored(identifiers: Any) -> None:
    broken = {**LOCATION, "facets": {"symlinks": {"identifiers": identifiers}}}
    found = converted(run_event(inputs=[broken]))
    assert found.warnings[0].entity.startswith("inputs[0].facets.symlinks.identifiers")
    assert "s3://lake/db/t" in stated(found)


def test_a_dataset_event_has_symlinks_too() -> None:
    found = converted({"eventTime": "2026-11-15T11:00:00Z", "dataset": linked(LOCATION, TABLE)})
    assert edges(found) == same("db.t", "s3://lake/db/t")
