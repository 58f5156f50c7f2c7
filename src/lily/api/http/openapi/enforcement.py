"""The bodies of the routes that engines call, for the OpenAPI document."""

from typing import Annotated, Any, Final

from fastapi import Path, Query
from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from lily.api.http.openapi.responses import Errors
from lily.model.schemas import Schema
from lily.model.values import MAX_NAME
from lily.policy import MaskAction

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


MAX_FIELDS = 5_000
MAX_FIELD = MAX_NAME + 500  # characters: a nested type is long, and only its first word counts
NamespacePath = Annotated[
    str,
    Path(
        description="The namespace, its levels separated by `.` or `%1F`; begin with the catalogue if assets do.",
        openapi_examples={"a namespace": Example(value="shop.public")},
    ),
]
TablePath = Annotated[str, Path(description="The table.", openapi_examples={"a table": Example(value="customers")})]
OfUser = Annotated[
    str,
    Query(
        min_length=1,
        max_length=MAX_NAME,
        description="The user of the engine.",
        openapi_examples={"a user": Example(value="carol")},
    ),
]
InGroups = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_NAME)]] | None,
    Query(max_length=1_000, description="A group of the user, as the engine knows it."),
]
OfFields = Annotated[
    list[Annotated[str, Field(max_length=MAX_FIELD)]] | None,
    Query(
        max_length=MAX_FIELDS,
        description="A field of the table's current schema, such as `4: email: optional string`. With all of them Lily "
        "needs no field ids of its own, and decides about columns that are not in its catalogue.",
    ),
]


class Projection(BaseModel):
    """What a reader does to a field: one of the nine actions of the specification."""

    field_id: int = Field(serialization_alias="field-id", validation_alias="field-id")
    action: MaskAction


class ReadRestrictions(BaseModel):
    """As Iceberg's REST specification defines them. A missing part restricts nothing."""

    required_row_filter: dict[str, Any] | bool | None = Field(
        None, serialization_alias="required-row-filter", validation_alias="required-row-filter"
    )
    required_column_projections: list[Projection] | None = Field(
        None, serialization_alias="required-column-projections", validation_alias="required-column-projections"
    )


class ReadRestrictionsResponse(BaseModel):
    read_restrictions: ReadRestrictions = Field(
        serialization_alias="read-restrictions", validation_alias="read-restrictions"
    )


RESTRICTED: dict[int | str, dict[str, Any]] = {
    200: {"model": ReadRestrictionsResponse},
    409: {"model": Errors, "description": "A decision cannot be stated as a restriction; the table must not be read"},
}
