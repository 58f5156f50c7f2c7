"""A table, a policy for it, and usage that the policy finds too low."""

from typing import Any

from lily.model import governance
from tests.postgres.quality import Watched

ORDERS = "shop.orders"
DEVIATION = {"asset": ORDERS, "policy_type": "query_count_deviation"}
LOW = {**dict.fromkeys(range(2, 9), 100), 1: 10}


def changed(watched: Watched, name: str, *fields: str) -> dict[str, Any]:
    return governance.asset_record(watched.id_of(name), "source", fields, 1, "")
