"""What a Ranger plug-in of Trino must know of its service before it can read policies: resources, accesses, masks."""

from typing import Any

SERVICE_TYPE, TAG_TYPE = "trino", "tag"
ACCESSES = (
    "select", "insert", "create", "drop", "delete", "use", "alter", "grant", "revoke", "show", "impersonate", "execute",
    "read_sysinfo", "write_sysinfo",
)  # fmt: skip
DATA = ("catalog", "schema", "table", "column")
_SERVICE_ID, _TAG_ID = 203, 100
_MATCHER = "org.apache.ranger.plugin.resourcematcher.RangerDefaultResourceMatcher"
_ENRICHER = "org.apache.ranger.plugin.contextenricher.RangerTagEnricher"
_RETRIEVER = "org.apache.ranger.plugin.contextenricher.RangerAdminTagRetriever"
# Each resource with the one that contains it.
_RESOURCES = (
    ("catalog", ""),
    ("schema", "catalog"),
    ("table", "schema"),
    ("column", "table"),
    ("sessionproperty", "catalog"),
    ("procedure", "schema"),
    ("schemafunction", "schema"),
    ("trinouser", ""),
    ("systemproperty", ""),
    ("queryid", ""),
    ("sysinfo", ""),
    ("role", ""),
)
# With `ignoreCase`, `ann` might call herself ANN, about whom no policy is.
_WITH_CASE = frozenset({"trinouser"})


def service_definition() -> dict[str, Any]:
    levels: dict[str, int] = {}
    for name, parent in _RESOURCES:
        levels[name] = levels.get(parent, 0) + 10
    return {
        "id": _SERVICE_ID,
        "name": SERVICE_TYPE,
        "displayName": SERVICE_TYPE,
        "isEnabled": True,
        "resources": [
            _resource(number, name, parent, levels[name]) for number, (name, parent) in enumerate(_RESOURCES, 1)
        ],
        "accessTypes": [_access(number, name) for number, name in enumerate(ACCESSES, 1)],
        "dataMaskDef": {
            "accessTypes": [_access(1, "select")],
            "resources": [_narrowed(name) for name in DATA],
            "maskTypes": [{"itemId": 1, "name": "CUSTOM", "label": "CUSTOM"}],
        },
        "rowFilterDef": {"accessTypes": [_access(1, "select")], "resources": [_narrowed(name) for name in DATA[:-1]]},
        "contextEnrichers": [],
        "policyConditions": [],
        "options": {},
    }


def tag_definition(poll_milliseconds: int) -> dict[str, Any]:
    """Without it, and without a tag policy, the plug-in does not download tags."""
    options = {"tagRetrieverClassName": _RETRIEVER, "tagRefresherPollingInterval": str(poll_milliseconds)}
    return {
        "id": _TAG_ID,
        "name": TAG_TYPE,
        "displayName": TAG_TYPE,
        "isEnabled": True,
        "resources": [_resource(1, "tag", "", 1)],
        "accessTypes": [_access(number, f"{SERVICE_TYPE}:{name}") for number, name in enumerate(ACCESSES, 1)],
        "contextEnrichers": [{"itemId": 1, "name": "TagEnricher", "enricher": _ENRICHER, "enricherOptions": options}],
        "policyConditions": [],
        "options": {},
    }


def _resource(number: int, name: str, parent: str, level: int) -> dict[str, Any]:
    return {
        "itemId": number,
        "name": name,
        "label": name,
        "type": "string",
        "level": level,
        "parent": parent,
        "mandatory": True,
        "isValidLeaf": True,
        "lookupSupported": False,
        "recursiveSupported": False,
        "excludesSupported": True,
        "matcher": _MATCHER,
        "matcherOptions": {"wildCard": "true", "ignoreCase": str(name not in _WITH_CASE).lower()},
    }


def _narrowed(name: str) -> dict[str, Any]:
    return {"name": name, "mandatory": True, "matcherOptions": {"wildCard": "true", "ignoreCase": "true"}}


def _access(number: int, name: str) -> dict[str, Any]:
    return {"itemId": number, "name": name, "label": name, "impliedGrants": []}
