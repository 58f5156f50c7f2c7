"""The bodies of the routes that engines call, for the OpenAPI document."""

from typing import Any, Final

from pydantic import BaseModel, Field

from lily.model.schemas import Schema

_NAMED: Final[Schema] = {"type": "object"}
_RESOURCE: Final[Schema] = {
    "type": "object",
    "properties": dict.fromkeys(
        ("user", "catalog", "schema", "table", "column", "function", "catalogSessionProperty", "systemSessionProperty"),
        _NAMED,
    ),
}
_IDENTITY: Final[Schema] = {
    "type": "object",
    "required": ["user"],
    "properties": {
        "user": {"type": "string", "minLength": 1},
        "groups": {"type": "array", "items": {"type": "string", "minLength": 1}},
    },
}
_ACTION: Final[Schema] = {
    "type": "object",
    "required": ["operation"],
    "properties": {
        "operation": {"type": "string", "minLength": 1},
        "resource": _RESOURCE,
        "targetResource": _RESOURCE,
        "filterResources": {"type": "array", "items": _RESOURCE},
    },
}
OPA_REQUEST: Final[Schema] = {
    "type": "object",
    "required": ["input"],
    "properties": {
        "input": {
            "type": "object",
            "required": ["context", "action"],
            "properties": {
                "context": {"type": "object", "required": ["identity"], "properties": {"identity": _IDENTITY}},
                "action": _ACTION,
            },
        }
    },
}


def _request(operation: str, **about: Any) -> dict[str, Any]:
    context = {"identity": {"user": "carol", "groups": ["bi-team"]}, "softwareStack": {"trinoVersion": "476"}}
    return {"input": {"context": context, "action": {"operation": operation, **about}}}


_TABLE: Final = {"catalogName": "shop", "schemaName": "public", "tableName": "customers"}
_COLUMN: Final = {"column": {**_TABLE, "columnName": "email", "columnType": "varchar"}}
ALLOW: Final = _request("SelectFromColumns", resource={"table": {**_TABLE, "columns": ["id", "email"]}})
BATCH: Final = _request("FilterTables", filterResources=[{"table": _TABLE}])
ROW_FILTERS: Final = _request("GetRowFilters", resource={"table": _TABLE})
COLUMN_MASK: Final = _request("GetColumnMask", resource=_COLUMN)
BATCH_COLUMN_MASKS: Final = _request("GetColumnMask", filterResources=[_COLUMN])


class Allowed(BaseModel):
    result: bool


class Positions(BaseModel):
    result: list[int]


class Expression(BaseModel):
    expression: str


class RowFilters(BaseModel):
    result: list[Expression]


class ColumnMask(BaseModel):
    result: Expression | None


class MaskedColumn(BaseModel):
    index: int
    view_expression: Expression = Field(serialization_alias="viewExpression", validation_alias="viewExpression")


class ColumnMasks(BaseModel):
    result: list[MaskedColumn]
