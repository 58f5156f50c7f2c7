"""The Python client of the API: `Lily` for ordinary code, `AsyncLily` for asynchronous code.

    with Lily() as lily:
        lily.ingest("table", {"name": "orders", "qualified_name": "shop.public.orders"}, wait=5)
        print(lily.get("shop.public.orders").attributes["name"])

It needs only httpx, orjson and websockets: no Spark, no Kafka client, no database driver.
"""

from lily.client.address import NoAddress
from lily.client.asynchronous import AsyncLily, AsyncNotifications
from lily.client.blocking import Lily, Notifications
from lily.client.errors import LilyApiError, NotAllowed, NotAuthenticated, NotFound, Refused, Unavailable, Unexpected
from lily.client.results import (
    Asset,
    AttributeRule,
    Batch,
    BulkResult,
    Cause,
    Change,
    DailyUsage,
    DeadLetter,
    Denied,
    DerivedAttribute,
    Graph,
    Health,
    ItemProblem,
    LineageTaken,
    Notification,
    Receipt,
    Related,
    Replayed,
    SqlLineage,
    Tag,
    TagDefinition,
    Tags,
    Travel,
    WouldReach,
)
from lily.client.retry import Retry
from lily.client.tls import Tls, UnusableFile

__all__ = [
    "Asset",
    "AsyncLily",
    "AsyncNotifications",
    "AttributeRule",
    "Batch",
    "BulkResult",
    "Cause",
    "Change",
    "DailyUsage",
    "DeadLetter",
    "Denied",
    "DerivedAttribute",
    "Graph",
    "Health",
    "ItemProblem",
    "Lily",
    "LilyApiError",
    "LineageTaken",
    "NoAddress",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "Notification",
    "Notifications",
    "Receipt",
    "Refused",
    "Related",
    "Replayed",
    "Retry",
    "SqlLineage",
    "Tag",
    "TagDefinition",
    "Tags",
    "Tls",
    "Travel",
    "Unavailable",
    "Unexpected",
    "UnusableFile",
    "WouldReach",
]
