"""A small shop, and policies about it."""

from typing import Any

from lily.model.ids import asset_id
from lily.policy import Ancestor, Facts, Policy, PolicyIndex, compile_policies, parse_policy

SHOP, PUBLIC = Ancestor(asset_id("t", "shop"), "shop"), Ancestor(asset_id("t", "shop.public"), "shop.public")
ORDERS = Facts(asset_id("t", "shop.public.orders"), "shop.public.orders", "table", "warehouse", (PUBLIC, SHOP))
EMAIL = Facts(
    asset_id("t", "shop.public.orders.email"),
    "shop.public.orders.email",
    "column",
    "warehouse",
    (Ancestor(ORDERS.id, ORDERS.qualified_name), PUBLIC, SHOP),
    ("PII",),
)


def policy(policy_id: str, effect: str = "allow", **changes: Any) -> Policy:
    """Everyone may read everything, but for the changes."""
    body = {"name": policy_id, "subjects": [{"user": "*"}], "resources": [{"asset": "*"}], "actions": ["READ"]}
    return parse_policy(body | {"effect": effect} | changes, tenant="t", policy_id=policy_id)


def index(*policies: Policy, roles: Any = (), users: Any = ()) -> PolicyIndex:
    return compile_policies("t", policies, roles, users)
