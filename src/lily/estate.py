"""Generates a realistic metadata estate of any size, for demos, tests and benchmarks. Streamed and reproducible.

One asset in ten is structure (databases, schemas, tables, dashboards); nine are columns and dashboard fields. Parents
come before their children, and derived assets after the assets they are derived from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from random import Random
from typing import Any

from lily.model.lanes import BULK_TYPES, Lane
from lily.model.layers import TAGS

SCHEMAS_PER_DATABASE = 10
TABLES_PER_SCHEMA = 40
TABLES_PER_DASHBOARD = 10
_DATABASES = ("shop", "billing", "support", "logistics", "marketing", "analytics", "finance", "people")
_SCHEMAS = ("public", "raw", "staging", "core", "marts", "archive", "reporting", "audit", "reference", "sandbox")
_TABLES = (
    "orders",
    "customers",
    "payments",
    "shipments",
    "tickets",
    "products",
    "sessions",
    "invoices",
    "employees",
    "visits",
)
_OWNERS = ("alice", "bruno", "chen", "dana", "emeka", "farah", "gustav", "hana")
_TERMS = ("Billing", "Sales", "Logistics", "Customer", "Workforce", "Product")
_COLUMNS = (
    ("id", "bigint", None),
    ("created_at", "timestamp", None),
    ("updated_at", "timestamp", None),
    ("email", "varchar(320)", "PII"),
    ("full_name", "varchar(200)", "PII"),
    ("phone", "varchar(32)", "PII"),
    ("birth_date", "date", "GDPR"),
    ("amount", "numeric(12,2)", None),
    ("currency", "char(3)", None),
    ("status", "varchar(16)", None),
    ("country", "char(2)", None),
    ("quantity", "integer", None),
    ("is_active", "boolean", None),
    ("score", "double precision", None),
    ("payload", "jsonb", None),
)
Event = dict[str, Any]


@dataclass(frozen=True)
class Estate:
    """Exactly `assets` ingest bodies, from `events()`, and the lineage between them, from `edges()`."""

    assets: int
    seed: int = 0

    def events(self) -> Iterator[Event]:
        return islice(self._all(), self.assets)

    def edges(self) -> Iterator[Event]:
        """Yields `{from, to, relationship_type}`: tables and dashboards depend on the previous table, fields on its
        columns."""
        table, columns = "", list[str]()
        for event in self.events():
            name = event["attributes"]["qualified_name"]
            random = self._random("edge", name)
            match event["entity_type"]:
                case "table":
                    if table and random.random() < 0.7:
                        yield _edge(table, name, "derived-from")
                    table, columns = name, []
                case "column":
                    columns.append(name)
                case "dashboard":
                    yield _edge(table, name, "used-in")
                case "field":
                    yield _edge(random.choice(columns), name, "derived-from")

    def _all(self) -> Iterator[Event]:
        for number in count():
            database = f"{_DATABASES[number % len(_DATABASES)]}{number // len(_DATABASES) or ''}"
            yield _asset("database", database, None, self._random(database))
            for schema in _SCHEMAS[:SCHEMAS_PER_DATABASE]:
                yield from self._schema(database, f"{database}.{schema}")

    def _schema(self, database: str, schema: str) -> Iterator[Event]:
        yield _asset("schema", schema, database, self._random(schema))
        for number in range(TABLES_PER_SCHEMA):
            table = f"{schema}.{_TABLES[number % len(_TABLES)]}_{number}"
            yield from self._table(table, schema, database)
            if number % TABLES_PER_DASHBOARD == TABLES_PER_DASHBOARD - 1:
                yield from self._dashboard(f"{schema}.dashboard_{number}", schema, database)

    def _table(self, table: str, schema: str, database: str) -> Iterator[Event]:
        random = self._random(table)
        yield _asset("table", table, schema, random, data_source=database, rows=random.randrange(10**7))
        for position in range(random.randint(6, 13)):
            kind, data_type, tag = _COLUMNS[random.randrange(len(_COLUMNS))]
            tags = {"tags": [tag]} if tag and random.random() < 0.3 else {}
            name = f"{table}.{kind}_{position}"
            yield _asset("column", name, table, random, data_type=data_type, position=position, **tags)

    def _dashboard(self, dashboard: str, schema: str, database: str) -> Iterator[Event]:
        random = self._random(dashboard)
        yield _asset("dashboard", dashboard, schema, random, data_source=database)
        for position in range(random.randint(6, 13)):
            yield _asset("field", f"{dashboard}.field_{position}", dashboard, random, position=position)

    def _random(self, *name: str) -> Random:
        """Seeded by the asset's name alone, so that an estate is a prefix of every larger one."""
        return Random(f"{self.seed}/{'/'.join(name)}")  # noqa: S311 - not used for secrets


def lane_of_body(body: Event) -> Lane:
    """Returns the lane that bulk ingestion chooses for an asset of the estate, where every parent matches its name."""
    plain = body["entity_type"] in BULK_TYPES and not body["attributes"].get(TAGS)
    return "bulk" if plain else "hot"


def _edge(source: str, target: str, relationship_type: str) -> Event:
    return {"from": source, "to": target, "relationship_type": relationship_type}


def _asset(entity_type: str, name: str, parent: str | None, random: Random, **extra: Any) -> Event:
    attributes: dict[str, Any] = {"name": name.rpartition(".")[2], "qualified_name": name}
    if parent is not None:
        attributes["parent"] = parent
    if entity_type not in {"column", "field"}:
        attributes |= {
            "owner": random.choice(_OWNERS),
            "description": f"The {entity_type} {name}, kept by the data platform.",
            "business_terms": random.sample(_TERMS, random.randrange(3)),
        }
    return {"entity_type": entity_type, "attributes": attributes | extra}
