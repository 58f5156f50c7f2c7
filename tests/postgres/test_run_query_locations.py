"""SQL of runs whose datasets are storage locations with tables as symlinks, as Spark's listener sends them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.lineage_world import World
from tests.openlineage_words import schema
from tests.postgres.migrated import Migrated
from tests.postgres.run_queries import Edges, Runs, opened

HIVE = "hive://metastore:9083"
WAREHOUSE = "file:///wh"
GLUE = "arn:aws:glue:eu-west-1:1"
COPIED = {("lake.src", "lake.people"), ("lake.src.id", "lake.people.id"), ("lake.src.email", "lake.people.email")}


@pytest.fixture
def runs(migrated: Migrated, make_world: Callable[[], World]) -> Iterator[Runs]:
    with opened(migrated, make_world()) as made:
        yield made


def stored(location: str, namespace: str, table: str, **facets: Any) -> dict[str, Any]:
    symlinks = {"identifiers": [{"namespace": namespace, "name": table, "type": "TABLE"}]}
    return {"namespace": "s3://bucket", "name": location, "facets": {"symlinks": symlinks, **facets}}


def check(runs: Runs, expected: Edges) -> None:
    runs.analyze()
    assert runs.derived() == expected
    assert runs.world.live("table") == {name for edge in expected for name in edge if name.count(".") == 1}


@pytest.mark.parametrize("of_input", [True, False])
@pytest.mark.parametrize(
    ("namespace", "people", "src"),
    [
        (HIVE, "lake.people", "lake.src"),
        (WAREHOUSE, "lake.people", "lake.src"),
        (GLUE, "table/lake/people", "table/lake/src"),
    ],
)
@pytest.mark.parametrize(
    "sql",
    [
        "insert into lake.people select id, email from lake.src",
        "insert into people select id, email from src",
        "select id, email from src",
    ],
)
def test_sql_means_the_tables_and_not_their_locations(
    runs: Runs, sql: str, namespace: str, people: str, src: str, *, of_input: bool
) -> None:
    inputs = [stored("wh/src", namespace, src)] if of_input else []
    runs.take(stored("wh/people", namespace, people), sql, inputs=inputs)
    check(runs, COPIED)


def test_the_name_of_a_catalog_may_come_before_those_of_the_datasets(runs: Runs) -> None:
    sql = "insert into iceberg.lake.people select id, email from iceberg.lake.src"
    runs.take(stored("wh/people", HIVE, "lake.people"), sql, inputs=[stored("wh/src", HIVE, "lake.src")])
    check(runs, COPIED)


def test_pii_takes_the_path_of_the_real_tables(runs: Runs) -> None:
    runs.world.define("pii")
    runs.take(stored("wh/people", HIVE, "lake.people"), "insert into lake.people select id, email from lake.src")
    runs.take(stored("wh/copy", HIVE, "lake.copy"), "insert into lake.copy select * from lake.people", at="12:00")
    runs.analyze()
    runs.world.column("lake.src.email", "lake.src", tags=["PII"])
    runs.world.settle()
    assert runs.world.derived("pii") == {"lake.people.email", "lake.copy.email"}


def test_a_location_without_a_table_is_filled_from_tables(runs: Runs) -> None:
    written = {"namespace": "s3://bucket", "name": "out.v1/people"}
    runs.take(written, "select id, email from lake.src", inputs=[stored("wh/src", HIVE, "lake.src")])
    runs.analyze()
    assert ("lake.src.email", "s3://bucket/out.v1/people.email") in runs.derived()
    assert runs.world.live("table") == {"lake.src"}


def test_tables_of_two_catalogs_are_not_one(runs: Runs) -> None:
    inputs = [stored("wh/src", HIVE, "lake.src", schema=schema("id"))]
    sql = "select a.id, b.email from one.lake.src a join two.lake.src b on a.id = b.id"
    runs.take(stored("wh/people", HIVE, "lake.people"), sql, inputs=inputs)
    runs.analyze()
    assert ("two.lake.src.email", "lake.people.email") in runs.derived()
    assert ("lake.src.email", "lake.people.email") not in runs.derived()
