"""A real dbt project sends its runs to Lily: the graph is what its models do, column by column."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.contract.door import Door, client
from tests.engines.producers.environments import DBT, environment, produce
from tests.engines.producers.graph import SECONDS, Sources, expect, expect_tagged, tagged
from tests.extra_api import until
from tests.shared_stack import Stack

pytestmark = pytest.mark.engines

PROJECT = Path(__file__).parent / "producers" / "dbt_project"


def _copied(start: str, end: str, *columns: str, **renamed: str) -> Sources:
    """A table that has columns of another, some of them under another name."""
    pairs = dict.fromkeys([(column, column) for column in columns]) | dict.fromkeys(
        (old, new) for new, old in renamed.items()
    )
    return {end: {start}} | {f"{end}.{new}": {f"{start}.{old}"} for old, new in pairs}


RAW, STAGING, BETWEEN, MARTS = "shop.main_raw", "shop.main_staging", "shop.main_intermediate", "shop.main_marts"
CUSTOMERS, ORDERS, ITEMS = f"{STAGING}.stg_customers", f"{STAGING}.stg_orders", f"{BETWEEN}.int_order_items"
SPENDING, CONTACTS = f"{BETWEEN}.int_customer_spending", f"{BETWEEN}.int_customer_contacts"
HISTORY = "shop.main_snapshots.customers_history"

EXPECTED: Sources = {
    **_copied(f"{RAW}.customers", CUSTOMERS, "full_name", "email", "country", "signed_up_at", customer_id="id"),
    **_copied(f"{RAW}.orders", ORDERS, "customer_id", "product_id", "quantity", "ordered_at", "status", order_id="id"),
    **_copied(f"{RAW}.products", f"{STAGING}.stg_products", "title", "category", "price", product_id="id"),
    **_copied(f"{RAW}.payments", f"{STAGING}.stg_payments", "order_id", "method", "amount", payment_id="id"),
    **_copied(CUSTOMERS, CONTACTS, "customer_id", "country", contact="email"),
    **_copied(CUSTOMERS, HISTORY, "customer_id", "full_name", "email", "country", "signed_up_at"),
    **_copied(ORDERS, ITEMS, "order_id", "customer_id", "ordered_at", "status"),
    ITEMS: {ORDERS, f"{STAGING}.stg_products"},
    f"{ITEMS}.category": {f"{STAGING}.stg_products.category"},
    f"{ITEMS}.value": {f"{ORDERS}.quantity", f"{STAGING}.stg_products.price"},
    **_copied(ITEMS, SPENDING, "customer_id", spent="value", last_ordered_at="ordered_at"),
    **_copied(ITEMS, f"{MARTS}.category_sales", "category", "status", sales="value"),
    **_copied(f"{STAGING}.stg_payments", f"{MARTS}.payments_log", "payment_id", "order_id", "method", "amount"),
    **_copied(CUSTOMERS, f"{MARTS}.customers_360", "customer_id", "full_name", "email"),
    **_copied(SPENDING, f"{MARTS}.customers_360", "orders", "spent"),
    f"{MARTS}.customers_360": {CUSTOMERS, SPENDING},
    **_copied(CONTACTS, f"{MARTS}.mailing_list", "country", address="contact"),
    f"{MARTS}.mailing_list": {CONTACTS, SPENDING},
    f"{MARTS}.revenue_by_country": {CONTACTS, SPENDING},
    f"{MARTS}.revenue_by_country.country": {f"{CONTACTS}.country"},
    f"{MARTS}.revenue_by_country.revenue": {f"{SPENDING}.spent"},
}


@dataclass(frozen=True)
class Shop:
    door: Door
    place: Path
    commands: Path

    def dbt(self, *words: str) -> str:
        variables = {
            "OPENLINEAGE_URL": self.door.stack.url,
            "OPENLINEAGE_API_KEY": self.door.token,
            "OPENLINEAGE_NAMESPACE": "shop",
            "DBT_PROFILES_DIR": str(self.place),
            "PATH": f"{self.commands}:/usr/bin:/bin",  # the wrapper calls `dbt`
        }
        return produce([self.commands / "dbt-ol", *words], self.place, variables)

    def runs(self, model: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.door.http.get(f"/jobs/job:shop%2Fshop.{model}/runs").json()["items"]
        return found

    def has_completed(self, model: str, times: int) -> bool:
        return [run["state"] for run in self.runs(model)] == ["COMPLETE"] * times

    def completions(self, model: str) -> int:
        """How many runs of a staging model are complete."""
        return sum(run["state"] == "COMPLETE" for run in self.runs(f"main_staging.shop.{model}.build.run"))


@pytest.fixture(scope="module")
def shop(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    """The project, built once."""
    tenant, token = make_tenant()
    place = tmp_path_factory.mktemp("dbt") / "shop"
    shutil.copytree(PROJECT, place)
    with client(stack, token) as http:
        built = Shop(Door(stack, tenant, token, http), place, environment(DBT))
        assert "Emitted" in built.dbt("build")
        yield built


def test_every_column_of_every_model_has_its_sources_and_no_others(shop: Shop) -> None:
    expect(shop.door, EXPECTED)


def test_a_common_table_expression_is_not_a_table(shop: Shop) -> None:
    expect(shop.door, EXPECTED)
    for name in ("source", "renamed", "orders", "products", "contacts", "spending", "items"):
        assert shop.door.http.get(f"/metadata/{name}").status_code == 404


def test_a_second_build_changes_nothing(shop: Shop) -> None:
    """The incremental model reads itself now, and the snapshot has a row of each customer already."""
    expect(shop.door, EXPECTED)
    shop.dbt("build")
    for model in ("main_marts.shop.payments_log.build.run", "main_snapshots.shop.customers_history.build.snapshot"):
        # A run completes once its SQL is analyzed, after dbt has ended.
        until(partial(shop.has_completed, model, 2), SECONDS)
        assert {run["parent"]["job"] for run in shop.runs(model)} == {"job:shop/dbt-run-shop"}
    expect(shop.door, EXPECTED)


def test_pii_on_a_column_of_a_seed_reaches_exactly_what_shows_it(shop: Shop) -> None:
    expect(shop.door, EXPECTED)
    email = f"{RAW}.customers.email"
    shop.door.change("POST", f"/metadata/{email}/tags", {"tag": "PII"})
    shown = {
        email,
        f"{CUSTOMERS}.email",
        f"{HISTORY}.email",
        f"{CONTACTS}.contact",
        f"{MARTS}.customers_360.email",
        f"{MARTS}.mailing_list.address",
    }
    expect_tagged(shop.door, "PII", shown)
    before = shop.completions("stg_customers")
    shop.dbt("build", "--select", "stg_customers")

    def is_applied() -> bool:
        assert tagged(shop.door, "PII") == shown  # not even for a moment does the new run end an edge
        return shop.completions("stg_customers") > before

    until(is_applied, SECONDS)
