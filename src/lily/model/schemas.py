"""The JSON Schemas that Lily publishes, for request bodies and for events.

They are documentation: `lily.model.statements` validates. A schema cannot express every check (bytes of UTF-8, Unicode
categories, times in the future), so a document that conforms to its schema may still be refused, with the reason.
"""

from typing import Any, Final

from lily.model.assets import ENTITY_TYPES, LAYERS
from lily.model.changes import KINDS, PROMOTED
from lily.model.columns import COLUMNS_STATED, MAX_COLUMNS
from lily.model.edges import (
    EDGE_CHANGED,
    EDGE_LAYERS,
    EDGE_OPERATIONS,
    EDGE_STATED,
    EDGES_CLAIMED,
    MAX_CLAIMS,
    MAX_RUN,
    MAX_TYPE,
    RUN_STATES,
)
from lily.model.envelopes import MAX_EVENT_ID, SPEC_VERSION
from lily.model.events import ASSET_CHANGED, ASSET_STATED
from lily.model.releases import RELEASE_KINDS
from lily.model.run_queries import MAX_TEXT as MAX_QUERY
from lily.model.statements import OPERATIONS
from lily.model.table_changes import MAX_SCOPE, MAX_TABLES
from lily.model.usage import MAX_EVENT_ID as MAX_USAGE_ID
from lily.model.usage import MAX_QUERIES, USAGE_REPORTED
from lily.model.values import MAX_ATTRIBUTES, MAX_ITEMS, MAX_KEY, MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG, MAX_TEXT

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NO_CONTROLS = r"^[^\u0000-\u001f\u007f-\u009f]*[^\u0000-\u0020\u007f-\u00a0][^\u0000-\u001f\u007f-\u009f]*$"


def object_schema(required: list[str], properties: Schema, **more: Any) -> Schema:
    return {"type": "object", "required": required, "properties": properties, **more}


def name_schema(limit: int = MAX_NAME) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": limit, "pattern": _NO_CONTROLS}


def _optional(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _list(items: Schema) -> Schema:
    return {"type": ["array", "null"], "items": items, "maxItems": MAX_ITEMS}


_TIME: Final[Schema] = {"type": "string", "format": "date-time"}
_TEXT: Final[Schema] = {"type": "string"}
_BOOLEAN: Final[Schema] = {"type": "boolean"}

ATTRIBUTES: Final[Schema] = {
    "type": "object",
    "description": "An absent attribute is not stated; null clears it. Other attributes may hold any JSON.",
    "maxProperties": MAX_ATTRIBUTES,
    "propertyNames": {"minLength": 1, "maxLength": MAX_KEY, "pattern": r"^[^$\u0000-\u001f][^\u0000-\u001f]*$"},
    "properties": {
        "name": _optional(name_schema()),
        "qualified_name": _optional(name_schema(MAX_QUALIFIED_NAME)),
        "description": {"type": ["string", "null"], "maxLength": MAX_TEXT},
        "owner": _optional(name_schema()),
        "created_by": _optional(name_schema()),
        "data_source": _optional(name_schema()),
        "external_id": _optional(name_schema()),
        "parent": _optional(name_schema(MAX_QUALIFIED_NAME)),
        "tags": _list(name_schema(MAX_TAG)),
        "business_terms": _list(name_schema()),
    },
}

INGEST_BODY: Final[Schema] = object_schema(
    ["entity_type", "attributes"],
    {
        "entity_type": {"type": "string", "enum": sorted(ENTITY_TYPES)},
        "attributes": {
            **ATTRIBUTES,
            "required": ["name"],
            "properties": {**ATTRIBUTES["properties"], "name": name_schema()},
        },
        "operation": {"type": ["string", "null"], "enum": ["upsert", "delete", None]},
        "time": _optional(
            {**_TIME, "description": "when the source recorded the change; by default the time of the request"}
        ),
        "tenant_id": {"type": ["string", "null"], "description": "optional; must be the token's tenant"},
    },
    additionalProperties=False,
)

UPDATE_BODY: Final[Schema] = object_schema(
    ["attributes"], {"attributes": {**ATTRIBUTES, "minProperties": 1}}, additionalProperties=False
)

MAX_USAGE_EVENTS: Final = 10_000

_USAGE: Final[Schema] = {
    "asset_id": {**name_schema(MAX_QUALIFIED_NAME), "description": "the id or the qualified name"},
    "query_count": {"type": "integer", "minimum": 0, "maximum": MAX_QUERIES},
    "event_id": {
        **name_schema(MAX_USAGE_ID),
        "description": "of the events of an asset with the same id, the first one counts",
    },
}

USAGE_BODY: Final[Schema] = object_schema(
    ["events"],
    {
        "events": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_USAGE_EVENTS,
            "items": object_schema(
                ["asset_id", "query_count"],
                {
                    **_USAGE,
                    "event_id": _optional(_USAGE["event_id"]),
                    "timestamp": _optional(
                        {**_TIME, "description": "when the queries ran; by default the time of the request"}
                    ),
                },
                additionalProperties=False,
            ),
        }
    },
    additionalProperties=False,
)

ERROR: Final[Schema] = object_schema(
    ["errors"],
    {
        "errors": {
            "type": "array",
            "items": object_schema(
                ["code", "description", "entity"], {"code": _TEXT, "description": _TEXT, "entity": _TEXT}
            ),
        }
    },
)


def event_schema(type_: str, data: Schema) -> Schema:
    """A CloudEvent with the extension attribute `tenantid`."""
    token = {"type": "string", "minLength": 1, "maxLength": MAX_EVENT_ID}
    return object_schema(
        ["specversion", "id", "source", "type", "time", "tenantid", "data"],
        {
            "specversion": {"const": SPEC_VERSION},
            "id": token,
            "source": {"type": "string", "format": "uri-reference"},
            "type": {"const": type_},
            "time": _TIME,
            "tenantid": token,
            "subject": {"type": "string", "format": "uuid"},
            "datacontenttype": {"const": "application/json"},
            "correlationid": {"type": "string"},
            "traceparent": {"type": "string"},
            "data": data,
            "authority": {"type": "string"},
        },
    )


ASSET_EVENT: Final[Schema] = event_schema(
    ASSET_STATED,
    object_schema(
        ["layer", "operation", "qualified_name"],
        {
            "layer": {"enum": list(LAYERS)},
            "operation": {"enum": list(OPERATIONS)},
            "qualified_name": name_schema(MAX_QUALIFIED_NAME),
            "entity_type": {"enum": sorted(ENTITY_TYPES)},
            "attributes": ATTRIBUTES,
            "tag": name_schema(MAX_TAG),
            "by": name_schema(),
            "release": object_schema(
                ["kind"],
                {"kind": {"enum": list(RELEASE_KINDS)}, "key": _TEXT},
                description="what ended and is no longer held; only with authority",
            ),
        },
    ),
)

COLUMNS_EVENT: Final[Schema] = event_schema(
    COLUMNS_STATED,
    object_schema(
        ["parent", "columns"],
        {
            "parent": name_schema(MAX_QUALIFIED_NAME),
            "columns": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": MAX_COLUMNS,
                "propertyNames": name_schema(),
                "additionalProperties": {"type": "object"},
            },
            "by": name_schema(),
        },
    ),
)

CHANGE_EVENT: Final[Schema] = event_schema(
    ASSET_CHANGED,
    object_schema(
        ["metadata_id", "entity_type", "qualified_name", "layer", "version", "change", "changed", "position"],
        {
            "metadata_id": {"type": "string", "format": "uuid"},
            "entity_type": {"type": ["string", "null"]},
            "qualified_name": _TEXT,
            "layer": {"enum": list(LAYERS)},
            "version": {"type": "integer"},
            "change": {"enum": [*KINDS, PROMOTED]},
            "changed": {
                "type": "object",
                "additionalProperties": object_schema(["from", "to"], {"from": {}, "to": {}}),
            },
            "tags": object_schema(
                ["added", "removed"],
                {"added": {"type": "array", "items": _TEXT}, "removed": {"type": "array", "items": _TEXT}},
            ),
            "causes": {
                "type": "array",
                "items": object_schema(["id", "time"], {"id": _TEXT, "time": _TIME, "by": _TEXT}),
            },
            "position": {"type": "integer"},
        },
    ),
)

_ID: Final[Schema] = {"type": "string", "format": "uuid"}
_FLAG: Final[Schema] = {"type": ["boolean", "null"], "description": "absent: not stated; null: cleared"}

_NAMES: Final[Schema] = {
    "type": "array",
    "maxItems": 2 * MAX_CLAIMS,
    "items": name_schema(MAX_QUALIFIED_NAME),
    "description": "qualified names of the ends that were named so",
}

EDGE_EVENT: Final[Schema] = event_schema(
    EDGE_STATED,
    object_schema(
        ["layer", "operation", "from", "to", "relationship_type"],
        {
            "layer": {"enum": list(EDGE_LAYERS)},
            "operation": {"enum": list(EDGE_OPERATIONS)},
            "from": _ID,
            "to": _ID,
            "relationship_type": name_schema(MAX_TYPE),
            "propagates": _FLAG,
            "masking": _FLAG,
            "names": _NAMES,
            "by": name_schema(),
            "authorised": {"const": True},
        },
    ),
)

_IDS: Final[Schema] = {"type": "array", "maxItems": MAX_CLAIMS, "items": _ID}

_SENDER: Final[Schema] = {
    "type": "array",
    "description": "user, groups, scraper group: absent if no policy restricts the caller",
    "prefixItems": [_TEXT, {"type": "array", "items": _TEXT}, _TEXT],
    "minItems": 3,
    "maxItems": 3,
}

CLAIMS_EVENT: Final[Schema] = event_schema(
    EDGES_CLAIMED,
    object_schema(
        ["job", "run", "complete", "edges"],
        {
            "job": _ID,
            "run": {"type": "string", "minLength": 1, "maxLength": MAX_RUN},
            "complete": {
                "type": "boolean",
                "description": "the run has ended; its claims replace those of earlier runs",
            },
            "edges": {
                "type": "array",
                "maxItems": MAX_CLAIMS,
                "items": {
                    "type": "array",
                    "description": "from, to, relationship type, masking",
                    "prefixItems": [_ID, _ID, {"type": "string", "minLength": 1, "maxLength": MAX_TYPE}, _BOOLEAN],
                    "minItems": 4,
                    "maxItems": 4,
                },
            },
            "released": {
                "type": "array",
                "maxItems": MAX_CLAIMS,
                "description": "from, to and type of edges whose end is confirmed; alone, and only with authority",
                "items": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3},
            },
            "inputs": {**_IDS, "description": "datasets that the run read"},
            "outputs": {**_IDS, "description": "datasets that the run wrote"},
            "state": {"enum": list(RUN_STATES)},
            "facets": {"type": "object", "description": "facets of the run that are kept as they came, by place"},
            "schemas": {
                "type": "array",
                "maxItems": MAX_CLAIMS,
                "items": {
                    "type": "array",
                    "description": "dataset, scope in which a newer schema replaces it, names of columns",
                    "prefixItems": [
                        _ID,
                        {"type": "string", "minLength": 1, "maxLength": MAX_SCOPE},
                        {"type": "object", "description": "by qualified name", "additionalProperties": _TEXT},
                    ],
                    "minItems": 3,
                    "maxItems": 3,
                },
            },
            "query": {
                "type": "array",
                "description": "text, dialect, namespace, qualified names by name, target, complete, sender, expands, "
                "columns",
                "prefixItems": [
                    {"type": "string", "maxLength": MAX_QUERY},
                    _TEXT,
                    _TEXT,
                    {"type": "object", "additionalProperties": _TEXT},
                    _TEXT,
                    _BOOLEAN,
                    {**_SENDER, "type": ["array", "null"]},
                    {"type": "boolean", "description": "whether the caller may read what `*` stands for; absent: yes"},
                    {
                        "type": "object",
                        "description": "sources of columns that hold if the query is not understood",
                        "additionalProperties": {"type": "array", "items": _TEXT},
                    },
                ],
                "minItems": 6,
                "maxItems": 9,
            },
            "names": _NAMES,
            "tables": object_schema(
                [],
                {
                    "renamed": {
                        "type": "array",
                        "maxItems": MAX_TABLES,
                        "items": {
                            "type": "array",
                            "description": "the old name, and the name under which its content is found now",
                            "items": name_schema(MAX_QUALIFIED_NAME),
                            "minItems": 2,
                            "maxItems": 2,
                        },
                    },
                    "dropped": {
                        "type": "array",
                        "maxItems": MAX_TABLES,
                        "items": name_schema(MAX_QUALIFIED_NAME),
                        "description": "deleted as far as the caller may delete them",
                    },
                    "own_only": {
                        "type": "boolean",
                        "description": "the caller lacks `metadata:write`: it deletes only what nobody else has stated",
                    },
                    "sender": _SENDER,
                    "scope": {
                        "type": "string",
                        "maxLength": MAX_SCOPE,
                        "description": "of schemas that the caller writes; moved columns are one of the new name",
                    },
                },
            ),
            "explained": {**_IDS, "description": "assets whose sources are stated in full, even if there are none"},
            "by": _TEXT,
            "authorised": {"const": True},
        },
    ),
)

USAGE_EVENT: Final[Schema] = event_schema(USAGE_REPORTED, object_schema(["asset_id", "query_count"], _USAGE))

_EDGE_STATE: Final[Schema] = object_schema(
    ["propagates", "masking", "is_deleted"], dict.fromkeys(("propagates", "masking", "is_deleted"), _BOOLEAN)
)

EDGE_CHANGE_EVENT: Final[Schema] = event_schema(
    EDGE_CHANGED,
    object_schema(
        ["from", "to", "relationship_type", "change", "before", "after", "causes", "position"],
        {
            "from": _ID,
            "to": _ID,
            "relationship_type": _TEXT,
            "change": {"enum": ["created", "updated", "deleted", "restored"]},
            "before": {"anyOf": [_EDGE_STATE, {"type": "null"}]},
            "after": _EDGE_STATE,
            "causes": {
                "type": "array",
                "items": object_schema(["id", "time"], {"id": _TEXT, "time": _TIME, "by": _TEXT}),
            },
            "position": {"type": "integer"},
        },
    ),
)


def published(schemas: dict[str, Schema]) -> dict[str, Schema]:
    """By name, as documents that stand alone."""
    return {name: {"$schema": _DIALECT, "title": name, **schema} for name, schema in schemas.items()}


SCHEMAS: Final[dict[str, Schema]] = published(
    {
        "asset-event": ASSET_EVENT,
        "change-event": CHANGE_EVENT,
        "claims-event": CLAIMS_EVENT,
        "columns-event": COLUMNS_EVENT,
        "edge-change-event": EDGE_CHANGE_EVENT,
        "edge-event": EDGE_EVENT,
        "error": ERROR,
        "ingest-body": INGEST_BODY,
        "update-body": UPDATE_BODY,
        "usage-body": USAGE_BODY,
        "usage-event": USAGE_EVENT,
    }
)
