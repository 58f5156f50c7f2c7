"""The request bodies that `/docs` offers to send. They build on each other: sent in order, each one works.

None of them contains null: the framework omits null values from the document.
"""

from typing import Any, Final

import orjson

Examples = dict[str, Any]

ORDERS: Final = "shop.public.orders"
DASHBOARD: Final = "bi.revenue"
TAG: Final = "Finance"
JOB: Final = "job:nightly/sales"
RUN: Final = "0190d3c4-6f8e-7c3a-9d55-0a4c8f6a1b2c"
RULE: Final = "owners"

_TABLE: Final = {
    "entity_type": "table",
    "attributes": {
        "name": "orders",
        "qualified_name": ORDERS,
        "description": "One row per order",
        "owner": "alice",
        "tags": ["PII"],
    },
}
_DASHBOARD: Final = {
    "entity_type": "dashboard",
    "attributes": {"name": "revenue", "qualified_name": DASHBOARD, "data_source": "bi"},
}
_COLUMN: Final = {
    "entity_type": "column",
    "attributes": {"name": "email", "qualified_name": f"{ORDERS}.email", "parent": ORDERS, "data_type": "text"},
}
_EDGE: Final = {"from": ORDERS, "to": DASHBOARD, "relationship_type": "used-in"}

INGEST: Final[Examples] = {"a table": _TABLE, "a dashboard": _DASHBOARD, "a column": _COLUMN}
_ROWS: Final[Examples] = {"a dashboard and a column": [_DASHBOARD, _COLUMN]}
_LINES: Final[Examples] = {
    "a dashboard and a column": "".join(orjson.dumps(row).decode() + "\n" for row in (_DASHBOARD, _COLUMN))
}
_CSV: Final[Examples] = {"a table": f"entity_type,name,qualified_name,tags\ntable,orders,{ORDERS},PII|{TAG}\n"}
_XML_ASSET: Final = f"<entity_type>table</entity_type><name>orders</name><qualified_name>{ORDERS}</qualified_name>"
_XML: Final[Examples] = {"a table": f"<assets><asset>{_XML_ASSET}<tags><tag>PII</tag></tags></asset></assets>"}
# By media type. A format that is not here, a workbook or a foreign one, has no text to show.
BULK: Final[dict[str, Examples]] = {
    "application/json": _ROWS,
    "application/x-ndjson": _LINES,
    "application/ndjson": _LINES,
    "application/jsonl": _LINES,
    "text/csv": _CSV,
    "application/xml": _XML,
    "text/xml": _XML,
}
UPDATE: Final[Examples] = {
    "a description": {"attributes": {"description": "One row per order, refunds included"}},
    "an owner and a term": {"attributes": {"owner": "bob", "business_terms": ["Order"]}},
}
BATCH_GET: Final[Examples] = {"two assets": {"ids": [ORDERS, DASHBOARD]}}
TAG_ASSET: Final[Examples] = {"a tag": {"tag": TAG}}
SUPPRESS: Final[Examples] = {"a reason": {"reason": "The dashboard shows totals only"}}
EDGES: Final[Examples] = {
    "a table feeds a dashboard": {"edges": [_EDGE]},
    "an edge that masks": {"edges": [{**_EDGE, "masking": True}]},
}
EDGE_NAMES: Final[Examples] = {"a table feeds a dashboard": {"edges": [_EDGE]}}
SQL: Final[Examples] = {
    "without storing it": {
        "sql": "create table sales as select customer, sum(total) as total from orders group by customer",
        "dialect": "postgres",
        "default_database": "shop",
        "default_schema": "public",
        "dry_run": True,
    }
}
OPENLINEAGE: Final[Examples] = {
    "a run that completed": {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T08:00:00Z",
        "producer": "https://example.org/scheduler",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "run": {"runId": RUN},
        "job": {"namespace": "nightly", "name": "sales"},
        "inputs": [{"namespace": "postgres://shop", "name": "shop.public.orders"}],
        "outputs": [{"namespace": "postgres://shop", "name": "shop.public.sales"}],
    }
}
OPENLINEAGE_BATCH: Final[Examples] = {name: [event] for name, event in OPENLINEAGE.items()}
DEFINE_TAG: Final[Examples] = {
    "a tag that propagates": {"name": TAG, "propagates": True, "max_depth": 3},
    "a tag that does not propagate": {"name": "Draft"},
}
REDEFINE_TAG: Final[Examples] = {"follow at most five edges": {"max_depth": 5}}
DRY_RUN: Final[Examples] = {"what PII would reach": {"asset": ORDERS, "tag": "PII"}}
DEFINE_RULE: Final[Examples] = {
    "owners propagate to assets without one": {"name": RULE, "attribute": "owner", "mode": "set-if-empty"},
    "terms are added": {"name": "terms", "attribute": "business_terms", "mode": "add", "max_depth": 3},
}
REDEFINE_RULE: Final[Examples] = {"replace what a source stated": {"mode": "override"}}
REPLAY: Final[Examples] = {"everything not replayed yet": {"all": True}, "by id": {"ids": [1, 2]}}
