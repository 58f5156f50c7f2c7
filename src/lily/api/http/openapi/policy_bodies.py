"""JSON Schemas of the request bodies about policies. They document; `lily.policy` validates, with better messages."""

from lily.model.schemas import Schema
from lily.model.values import MAX_ITEMS, MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG
from lily.policy import ACTIONS, EFFECTS, MASK_ACTIONS, PLANES

MAX_CHECKS = 10_000

_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_NAME}
_NAMES: Schema = {"type": "array", "items": _NAME, "maxItems": MAX_ITEMS}
_TEXT: Schema = {"type": "string"}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_TAG}
_REFERENCE: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_QUALIFIED_NAME}


def _object(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def _one_of(*fields: str) -> Schema:
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "properties": dict.fromkeys(fields, _REFERENCE),
        "additionalProperties": False,
    }


_CONDITIONS: Schema = _object(
    (),
    time=_object(
        (),
        **dict.fromkeys(("from", "to", "timezone", "not_before", "not_after"), _TEXT),
    ),
    weekdays={"type": "array", "items": {"type": "string"}, "minItems": 1},
    networks={"type": "array", "items": {"type": "string"}, "minItems": 1},
    purpose={"anyOf": [_NAME, _NAMES]},
    attributes=_object((), asset={"type": "object"}, principal={"type": "object"}),
)
POLICY: Schema = _object(
    ("name", "subjects", "resources", "actions", "effect"),
    id=_ID,
    name=_NAME,
    subjects={"type": "array", "items": _one_of("user", "group", "role"), "minItems": 1, "maxItems": MAX_ITEMS},
    resources={
        "type": "array",
        "items": _one_of("asset", "tag", "entity_type", "data_source"),
        "minItems": 1,
        "maxItems": MAX_ITEMS,
    },
    actions={"type": "array", "items": {"enum": list(ACTIONS)}, "minItems": 1},
    effect={"enum": list(EFFECTS)},
    mask={"anyOf": [{"enum": list(MASK_ACTIONS)}, _object(("action",), action={"enum": list(MASK_ACTIONS)}, value={})]},
    row_filter={"type": "string", "description": "one SQL expression over columns, in PostgreSQL's dialect"},
    conditions=_CONDITIONS,
    priority={"type": "integer"},
    applies_to={"type": "array", "items": {"enum": list(PLANES)}, "minItems": 1},
)
ROLE: Schema = _object(("name",), name=_NAME, inherits=_NAMES, groups=_NAMES)
ROLE_REPLACED: Schema = ROLE | {"required": []}
USER: Schema = _object(("name",), name=_NAME, roles=_NAMES, groups=_NAMES)
USER_REPLACED: Schema = USER | {"required": []}
SCRAPER_POLICY: Schema = _object(
    ("name", "scraper_group"),
    id=_ID,
    name=_NAME,
    scraper_group=_NAME,
    sources=_NAMES,
    entity_types=_NAMES,
    allowed_columns={"type": "array", "items": _REFERENCE},
)
ENGINE_MAPPING: Schema = _object(
    ("name", "data_source", "engine_name", "asset_name"),
    id=_ID,
    name=_NAME,
    data_source=_NAME,
    engine_name=_REFERENCE,
    asset_name=_REFERENCE,
)
PRINCIPAL: Schema = {
    "anyOf": [_NAME, _object((), user=_NAME, groups=_NAMES, roles=_NAMES, attributes={"type": "object"})]
}
_CHECK_FIELDS: dict[str, Schema] = {
    "principal": PRINCIPAL,
    "action": {"enum": list(ACTIONS)},
    "asset_id": _REFERENCE,
    "context": _object((), time={"type": "string"}, address={"type": "string"}, purpose={"type": "string"}),
    "plane": {"enum": list(PLANES), "default": "data"},
}
CHECK: Schema = _object(("principal", "action", "asset_id"), **_CHECK_FIELDS)
_TIME: Schema = {"type": "string", "format": "date-time"}
CHECKS: Schema = _object(
    ("checks",),
    checks={"type": "array", "items": CHECK, "minItems": 1, "maxItems": MAX_CHECKS},
    as_of=_TIME,
)
EXPLAIN: Schema = _object(("principal", "action", "asset_id"), **_CHECK_FIELDS, as_of=_TIME)
DRY_RUN: Schema = _object(
    (),
    policies={"type": "array", "items": POLICY, "maxItems": MAX_ITEMS},
    roles={"type": "array", "items": ROLE, "maxItems": MAX_ITEMS},
    tags={
        "type": "array",
        "items": _object(("asset",), asset=_REFERENCE, add=_NAMES, remove=_NAMES),
        "maxItems": MAX_ITEMS,
    },
    delete_policies={"type": "array", "items": _ID, "maxItems": MAX_ITEMS},
    delete_roles=_NAMES,
    users=_NAMES,
    assets={"type": "array", "items": _REFERENCE, "maxItems": MAX_ITEMS},
    actions={"type": "array", "items": {"enum": list(ACTIONS)}, "minItems": 1},
    plane={"enum": list(PLANES), "default": "data"},
    time=_TIME,
)
