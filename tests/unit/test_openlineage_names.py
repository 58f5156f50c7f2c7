"""Qualified names of OpenLineage datasets, and the time of an event."""

import pytest

from lily.intake.openlineage.event_time import rfc3339
from lily.intake.openlineage.naming import Naming, job_name
from lily.model.clock import normalise_time
from lily.model.errors import Refused


@pytest.mark.parametrize(
    ("namespace", "name", "qualified_name", "kind"),
    [
        ("postgres://db.example:5432", "shop.public.orders", "shop.public.orders", "table"),
        ("trino://coordinator:8080", "hive.sales.orders", "hive.sales.orders", "table"),
        ("snowflake://org-account", "SHOP.PUBLIC.ORDERS", "SHOP.PUBLIC.ORDERS", "table"),
        ("bigquery", "project.set.orders", "project.set.orders", "table"),
        ("iceberg://warehouse", "shop/orders", "shop.orders", "table"),
        ("sqlserver://db:1433", "shop.dbo.in/out", "shop.dbo.in/out", "table"),
        ("MySQL://h:3306", "shop.orders", "shop.orders", "table"),
        ("arn:aws:glue:eu-west-1:1234", "table/shop/orders", "shop.orders", "table"),
        ("s3://bucket", "raw/orders", "s3://bucket/raw/orders", "file"),
        ("s3a://bucket/", "/raw/orders", "s3://bucket/raw/orders", "file"),
        ("gs://bucket", "raw/orders.parquet", "gs://bucket/raw/orders.parquet", "file"),
        ("file", "/tmp/orders.csv", "file:///tmp/orders.csv", "file"),
        ("hdfs://name:8020", "/data/orders", "hdfs://name:8020/data/orders", "file"),
        ("kafka://broker:9092", "orders.v1", "kafka://broker:9092/orders.v1", "topic"),
        ("food_delivery", "public.orders", "food_delivery.public.orders", "table"),
        ("foo://somewhere", "orders", "foo://somewhere/orders", "table"),
        ("", "orders", "orders", "table"),
    ],
)
def test_a_dataset_has_the_name_that_a_connector_would_give_it(
    namespace: str, name: str, qualified_name: str, kind: str
) -> None:
    named = Naming().dataset(namespace, name)
    assert (named.qualified_name, named.entity_type) == (qualified_name, kind)


@pytest.mark.parametrize(
    ("prefix", "qualified_name"),
    [
        ("", "shop.public.orders"),
        ("prod", "prod.shop.public.orders"),
        ("prod/", "prod/shop.public.orders"),
        ("keep", "postgres://db:5432/shop.public.orders"),
    ],
)
def test_a_setting_overrides_the_prefix_of_a_namespace(prefix: str, qualified_name: str) -> None:
    naming = Naming({"postgres://db:5432": prefix})
    assert naming.dataset("postgres://db:5432", "shop.public.orders").qualified_name == qualified_name
    assert naming.dataset("postgres://other:5432", "a.b.c").qualified_name == "a.b.c"


@pytest.mark.parametrize(
    ("namespace", "name", "title"),
    [
        ("bigquery", "project.set.orders", "orders"),
        ("s3://bucket", "raw/orders.parquet", "orders.parquet"),
        ("kafka://b:1", "orders.v1", "orders.v1"),
        ("s3://bucket", "/", "bucket"),
    ],
)
def test_the_title_is_the_last_part_of_the_name(namespace: str, name: str, title: str) -> None:
    assert Naming().dataset(namespace, name).title == title


def test_a_job_never_has_the_name_of_a_dataset() -> None:
    assert job_name("foo://somewhere", "orders") != Naming().dataset("foo://somewhere", "orders").qualified_name


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2026-11-15T08:36:00Z", "2026-11-15T08:36:00.000000Z"),
        ("2026-11-15T08:36:00.123456789Z", "2026-11-15T08:36:00.123456Z"),
        ("2026-11-15t08:36:00z", "2026-11-15T08:36:00.000000Z"),
        ("2026-11-15T08:36:00", "2026-11-15T08:36:00.000000Z"),
        ("2026-11-15T08:36:00.5", "2026-11-15T08:36:00.500000Z"),
        ("2026-11-15T08:36Z", "2026-11-15T08:36:00.000000Z"),
        ("2026-11-15T08:36", "2026-11-15T08:36:00.000000Z"),
        ("2026-11-15 08:36:00,25", "2026-11-15T08:36:00.250000Z"),
        ("2026-11-15T09:36:00.001+01:00[Europe/Paris]", "2026-11-15T08:36:00.001000Z"),
        ("2026-11-15T09:36:00+0100", "2026-11-15T08:36:00.000000Z"),
        ("2026-11-15T03:36:00-05", "2026-11-15T08:36:00.000000Z"),
    ],
)
def test_a_time_is_read_in_every_form_that_producers_write(given: str, meant: str) -> None:
    assert normalise_time(rfc3339(given)) == meant


@pytest.mark.parametrize("given", ["", "yesterday", "2026-13-40T00:00:00Z", "2026-11-15", "1731659760"])
def test_text_that_is_not_a_time_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        normalise_time(rfc3339(given))


@pytest.mark.parametrize("given", [None, 7, {}])
def test_a_time_must_be_a_string(given: object) -> None:
    with pytest.raises(Refused):
        rfc3339(given)
