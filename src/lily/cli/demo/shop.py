"""The data of the first steps, as its sources would send it: a shop's PostgreSQL, a warehouse and a dashboard."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SHOP, WAREHOUSE, DASHBOARD = "shop", "analytics", "bi.sales_overview"
CUSTOMERS, EMAIL, ORDERS = "shop.public.customers", "shop.public.customers.email", "shop.public.orders"
REVENUE = "analytics.marts.daily_revenue"

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    data_type: str
    description: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """One table and its columns."""

    name: str
    description: str
    owner: str
    terms: tuple[str, ...]
    columns: tuple[Column, ...]


PII = ("PII",)
ID, MONEY, MOMENT, TEXT = "bigint", "numeric(12,2)", "timestamptz", "text"

PUBLIC = (
    Table(
        "customers",
        "Everyone with an account, one row per person",
        "growth",
        ("Customer",),
        (
            Column("customer_id", ID, "Assigned once, never reused"),
            Column("email", "varchar(320)", "Where order confirmations go", PII),
            Column("full_name", TEXT, "As entered by the customer", PII),
            Column("phone", "varchar(32)", "For the courier", PII),
            Column("date_of_birth", "date", "Only where the law requires it", ("PII", "GDPR")),
            Column("country", "char(2)", "ISO 3166"),
            Column("newsletter", "boolean"),
            Column("created_at", MOMENT),
        ),
    ),
    Table(
        "addresses",
        "Where parcels and invoices go",
        "logistics",
        ("Customer",),
        (
            Column("address_id", ID),
            Column("customer_id", ID),
            Column("street", TEXT, "With the house number", PII),
            Column("city", TEXT),
            Column("postal_code", "varchar(16)"),
            Column("country", "char(2)", "ISO 3166"),
        ),
    ),
    Table(
        "products",
        "All products, including discontinued ones",
        "catalogue",
        ("Product",),
        (
            Column("product_id", ID),
            Column("sku", "varchar(40)", "Printed on the shelf"),
            Column("title", TEXT),
            Column("price", MONEY, "Without tax"),
            Column("currency", "char(3)", "ISO 4217"),
            Column("discontinued", "boolean"),
        ),
    ),
    Table(
        "orders",
        "One row per order, from the moment it is placed",
        "checkout",
        ("Order",),
        (
            Column("order_id", ID),
            Column("customer_id", ID),
            Column("status", "varchar(20)", "placed, paid, shipped, returned"),
            Column("total", MONEY, "What the customer pays"),
            Column("currency", "char(3)", "ISO 4217"),
            Column("ip_address", "inet", "Kept for 30 days to detect fraud", PII),
            Column("placed_at", MOMENT),
        ),
    ),
    Table(
        "order_items",
        "The products of each order",
        "checkout",
        ("Order", "Product"),
        (
            Column("order_id", ID),
            Column("product_id", ID),
            Column("quantity", "integer"),
            Column("unit_price", MONEY),
            Column("discount", MONEY),
        ),
    ),
)
BILLING = (
    Table(
        "invoices",
        "Invoices as sent to customers",
        "finance",
        ("Revenue",),
        (
            Column("invoice_id", ID),
            Column("order_id", ID),
            Column("billing_name", TEXT, "The person or company", PII),
            Column("vat_id", "varchar(20)"),
            Column("amount", MONEY),
            Column("issued_at", MOMENT),
        ),
    ),
    Table(
        "payments",
        "Payments received",
        "finance",
        ("Revenue",),
        (
            Column("payment_id", ID),
            Column("invoice_id", ID),
            Column("method", "varchar(20)"),
            Column("iban", "varchar(34)", "Only for direct debits", PII),
            Column("amount", MONEY),
            Column("received_at", MOMENT),
        ),
    ),
)
MARTS = (
    Table(
        "customer_360",
        "Everything known about a customer, refreshed every night",
        "data-platform",
        ("Customer",),
        (
            Column("customer_id", ID),
            Column("email_hash", "char(64)"),
            Column("first_order_at", MOMENT),
            Column("orders", "integer"),
            Column("lifetime_value", MONEY, "Paid minus returned"),
            Column("segment", "varchar(20)"),
        ),
    ),
    Table(
        "daily_revenue",
        "Paid orders per day and country",
        "data-platform",
        ("Revenue",),
        (
            Column("day", "date"),
            Column("country", "char(2)"),
            Column("orders", "integer"),
            Column("gross", MONEY),
            Column("net", MONEY, "Without tax and returns"),
        ),
    ),
    Table(
        "churn_scores",
        "How likely a customer is to leave within 90 days",
        "data-science",
        ("Customer",),
        (
            Column("customer_id", ID),
            Column("score", "double precision", "From 0 (stays) to 1 (leaves)"),
            Column("model_version", "varchar(20)"),
            Column("scored_at", MOMENT),
        ),
    ),
)
FIELDS = ("Day", "Country", "Orders", "Gross revenue", "Net revenue", "Average basket", "Customers", "Churn risk")


def first_event() -> Event:
    return _event("database", SHOP, None, "The shop's own PostgreSQL", data_source=SHOP, owner="platform")


def shop_events() -> Iterator[Event]:
    """Yields all events, parents first."""
    yield first_event()
    yield from _schema(SHOP, "public", "Tables of the shop application", PUBLIC)
    yield from _schema(SHOP, "billing", "Invoices and payments", BILLING)
    yield _event("database", WAREHOUSE, None, "The data warehouse", data_source=WAREHOUSE, owner="data-platform")
    yield from _schema(WAREHOUSE, "marts", "Tables for reports", MARTS)
    yield _event(
        "dashboard",
        DASHBOARD,
        None,
        "Weekly sales figures",
        data_source="bi",
        owner="sales",
        business_terms=["Revenue"],
    )
    for title in FIELDS:
        name = f"{DASHBOARD}.{title.lower().replace(' ', '_')}"
        yield _event("bi_field", name, DASHBOARD, f"{title}, as the dashboard shows it", data_source="bi")


def _schema(database: str, name: str, description: str, tables: tuple[Table, ...]) -> Iterator[Event]:
    schema = f"{database}.{name}"
    yield _event("schema", schema, database, description, data_source=database)
    for table in tables:
        yield from _table(database, schema, table)


def _table(database: str, schema: str, table: Table) -> Iterator[Event]:
    name = f"{schema}.{table.name}"
    yield _event(
        "table",
        name,
        schema,
        table.description,
        data_source=database,
        owner=table.owner,
        business_terms=list(table.terms),
    )
    for position, column in enumerate(table.columns, start=1):
        typed = {"data_type": column.data_type, "ordinal_position": position}
        tags = {"tags": list(column.tags)} if column.tags else {}
        yield _event("column", f"{name}.{column.name}", name, column.description, data_source=database, **typed, **tags)


def _event(entity_type: str, qualified_name: str, parent: str | None, description: str, **more: Any) -> Event:
    name = qualified_name.rpartition(".")[2]
    attributes = {"name": name, "qualified_name": qualified_name, "parent": parent, "description": description, **more}
    return {"entity_type": entity_type, "attributes": {key: value for key, value in attributes.items() if value}}
