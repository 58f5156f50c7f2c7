"""Spark's OpenLineage listener sends two jobs to Lily, of which the second reads what the first writes."""

import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from lily.embedded.java import find_java
from tests.contract.door import Door, client
from tests.engines.download import jar
from tests.engines.producers.environments import produce
from tests.engines.producers.graph import expect, expect_tagged, sources
from tests.shared_stack import Stack

pytestmark = pytest.mark.engines

JOBS = Path(__file__).parent / "producers" / "spark_jobs"
LISTENER = "io.openlineage.spark.agent.OpenLineageSparkListener"
CUSTOMERS, BY_EMAIL, BY_HASH = "default.customers", "default.customers_by_email", "default.customers_by_hash"


@dataclass(frozen=True)
class Shop:
    door: Door
    place: Path

    @property
    def csv(self) -> str:
        return self.place.joinpath("customers.csv").as_uri()

    def location(self, table: str) -> str:
        """The other name of a table."""
        return self.place.joinpath("warehouse", table.removeprefix("default.")).as_uri()

    def submit(self, job: str, *words: str) -> None:
        metastore = f"jdbc:derby:;databaseName={self.place}/metastore;create=true"
        settings = {
            "spark.extraListeners": LISTENER,
            "spark.openlineage.namespace": "shop",
            "spark.openlineage.transport.type": "http",
            "spark.openlineage.transport.url": self.door.stack.url,
            "spark.openlineage.transport.auth.type": "api_key",
            "spark.openlineage.transport.auth.apiKey": self.door.token,
            "spark.sql.warehouse.dir": str(self.place / "warehouse"),
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
        }
        options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        submit = Path(sysconfig.get_path("scripts")) / "spark-submit"
        # spark-submit looks for the package with this Python, else with the first on the PATH.
        variables = {"JAVA_HOME": str(find_java().resolve().parent.parent), "PYSPARK_PYTHON": sys.executable}
        command: list[str | Path] = [
            submit,
            "--master",
            "local[1]",
            "--jars",
            jar("openlineage-spark"),
            *options,
            JOBS / job,
            *words,
        ]
        produce(command, self.place, variables)


@pytest.fixture(scope="module")
def shop(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    tenant, token = make_tenant()
    place = tmp_path_factory.mktemp("spark")
    place.joinpath("customers.csv").write_text("id,email,country\n1,ada@example.org,GB\n2,grace@example.org,US\n")
    with client(stack, token) as http:
        made = Shop(Door(stack, tenant, token, http), place)
        made.submit("load_customers.py", made.csv)
        made.submit("count_customers.py")
        yield made


def _expect_graph(shop: Shop) -> None:
    """`count(*)` has no source; the email that rows are grouped by is not content of the result."""
    expect(
        shop.door,
        {
            CUSTOMERS: {shop.csv},
            f"{CUSTOMERS}.id": {f"{shop.csv}.id"},
            f"{CUSTOMERS}.email": {f"{shop.csv}.email"},
            f"{CUSTOMERS}.country": {f"{shop.csv}.country"},
            f"{CUSTOMERS}.email_hash": {f"{shop.csv}.email"},
            BY_EMAIL: {CUSTOMERS},
            f"{BY_EMAIL}.email": {f"{CUSTOMERS}.email"},
            f"{BY_EMAIL}.country": {f"{CUSTOMERS}.country"},
            BY_HASH: {CUSTOMERS},
            f"{BY_HASH}.email_hash": {f"{CUSTOMERS}.email_hash"},
        },
    )


def test_every_column_of_every_table_has_its_sources_and_no_others(shop: Shop) -> None:
    _expect_graph(shop)


def test_the_columns_that_rows_are_grouped_by_influence_the_result(shop: Shop) -> None:
    _expect_graph(shop)
    assert sources(shop.door, [BY_HASH], "influences") == {BY_HASH: {f"{CUSTOMERS}.email", f"{CUSTOMERS}.email_hash"}}


def test_the_probe_of_the_header_leaves_no_column_behind(shop: Shop) -> None:
    """Spark reads a CSV file as text first, and reports one column `value` of it."""
    _expect_graph(shop)
    children = shop.door.http.get("/metadata", params={"parent": shop.csv}).json()["items"]
    assert {child["attributes"]["name"] for child in children} == {"id", "email", "country"}


def test_pii_reaches_the_columns_that_show_it_and_not_the_hash(shop: Shop) -> None:
    _expect_graph(shop)
    shop.door.change("POST", f"/metadata/{quote(shop.csv, safe='')}.email/tags", {"tag": "PII"})
    tables = [CUSTOMERS, BY_EMAIL]
    names = [f"{name}.email" for table in tables for name in (table, shop.location(table))]
    expect_tagged(shop.door, "PII", {f"{shop.csv}.email", *names})
