"""The request bodies about policies that `/docs` offers to send. They build on those of `examples.py`."""

from typing import Final

from lily.api.http.openapi.examples import ORDERS, Examples

POLICY_ID: Final = "mask-pii"
ROLE_NAME: Final = "analyst"
USER_NAME: Final = "carol"
SCRAPER_POLICY_ID: Final = "warehouse-scraper"
MAPPING_ID: Final = "trino-shop"

_MASK: Final = {
    "id": POLICY_ID,
    "name": "Analysts see masked personal data",
    "subjects": [{"role": ROLE_NAME}],
    "resources": [{"tag": "PII"}],
    "actions": ["READ"],
    "effect": "mask",
    "mask": "show-last-4",
}
POLICY: Final[Examples] = {"a mask for a tag": _MASK}
ROLE: Final[Examples] = {
    "a role that a group holds": {"name": ROLE_NAME, "inherits": ["reader"], "groups": ["bi-team"]}
}
USER: Final[Examples] = {"a user": {"name": USER_NAME, "roles": [ROLE_NAME], "groups": ["emea"]}}
SCRAPER_POLICY: Final[Examples] = {
    "tables of one source": {
        "id": SCRAPER_POLICY_ID,
        "name": "The warehouse's scraper",
        "scraper_group": "warehouse",
        "sources": ["warehouse"],
        "entity_types": ["table", "column"],
    }
}
ENGINE_MAPPING: Final[Examples] = {
    "a catalogue of Trino": {
        "id": MAPPING_ID,
        "name": "The shop in Trino",
        "data_source": "shop",
        "engine_name": "postgresql_shop.public",
        "asset_name": "shop.public",
    }
}
_CHECK: Final = {"principal": USER_NAME, "action": "READ", "asset_id": ORDERS}
CHECKS: Final[Examples] = {
    "may a user read a table": {"checks": [_CHECK]},
    "with groups and a purpose": {
        "checks": [
            {
                "principal": {"user": USER_NAME, "groups": ["auditors"]},
                "action": "READ",
                "asset_id": ORDERS,
                "context": {"purpose": "audit", "address": "10.1.2.3"},
            }
        ]
    },
}
EXPLAIN: Final[Examples] = {"why a user may read a table": _CHECK}
DRY_RUN: Final[Examples] = {
    "if the mask were a denial": {
        "policies": [{field: value for field, value in _MASK.items() if field != "mask"} | {"effect": "deny"}],
        "users": [USER_NAME],
        "assets": [ORDERS],
    },
    "if a policy were deleted": {"delete_policies": [POLICY_ID]},
}
SETTINGS: Final[Examples] = {
    "deleted assets still conduct tags": {"on_delete": "keep"},
    "log one decision in a hundred": {"decision_log": "sampled", "decision_log_rate": 0.01},
}
