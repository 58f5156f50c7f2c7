"""The request bodies of every call but the ingest calls."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from lily.intake.sql.dialects import KNOWN as DIALECTS
from lily.lineage.attribute_rules import Mode
from lily.lineage.definitions import Direction, OnDelete
from lily.model.edges import MAX_TYPE
from lily.model.schemas import Schema
from lily.model.values import MAX_KEY, MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG

MAX_IDS = 1_000
MAX_EDGES = 10_000
MAX_ID = 2**53  # every JSON parser can hold it, and there will be fewer dead letters

Reference = Annotated[str, Field(min_length=1, max_length=MAX_QUALIFIED_NAME)]


class _Strict(BaseModel, extra="forbid"):
    """Refuses unknown fields: a misspelt one would otherwise be ignored."""


class UpdateBody(_Strict):
    attributes: dict[str, Any]


class TagBody(_Strict):
    tag: Annotated[str, Field(min_length=1, max_length=MAX_TAG)]


class SuppressBody(_Strict):
    reason: Annotated[str, Field(min_length=1, max_length=2_000)]


EdgeTypes = Annotated[list[str], Field(min_length=1, max_length=100)]
Depth = Annotated[int, Field(ge=1, lt=2**31)]


class _TagFields(_Strict):
    propagates: bool = False
    direction: Direction = "downstream"
    max_depth: Depth | None = None
    edge_types: EdgeTypes | None = None
    stopped_by_masking: bool = False


class DefineBody(_TagFields):
    """`max_depth` is a number of edges, null for no limit; `edge_types` are the types along which the tag propagates,
    null for all but `influences`."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_TAG)]


class RedefineBody(_TagFields):
    """An absent field stays as it is; null removes the limit."""


class DefineRuleBody(_Strict):
    """`set-if-empty` sets the attribute on assets that have none, `override` also replaces the value of their source,
    and `add` adds the items of a list. `max_depth` is a number of edges, null for no limit; `edge_types` are the types
    along which the attribute propagates, null for all but `influences`."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_TAG)]
    attribute: Annotated[str, Field(min_length=1, max_length=MAX_KEY)]
    mode: Mode
    direction: Direction = "downstream"
    max_depth: Depth | None = None
    edge_types: EdgeTypes | None = None


class RedefineRuleBody(_Strict):
    """An absent field stays as it is; null removes the limit."""

    mode: Mode = "set-if-empty"
    direction: Direction = "downstream"
    max_depth: Depth | None = None
    edge_types: EdgeTypes | None = None


class SettingsBody(_Strict):
    """An absent setting stays as it is."""

    on_delete: OnDelete = "keep"
    unknown_objects: Literal["open", "closed"] = "closed"
    decision_log: Literal["off", "sampled", "all"] = "off"
    decision_log_rate: Annotated[float, Field(gt=0, le=1)] = 0.01


class DryRunBody(_Strict):
    asset: Reference
    tag: Annotated[str, Field(min_length=1, max_length=MAX_TAG)]


class BatchGetBody(_Strict):
    ids: Annotated[list[Reference], Field(max_length=MAX_IDS)]


class ReplayBody(_Strict):
    """Either `ids` or `all`."""

    ids: Annotated[list[Annotated[int, Field(ge=1, le=MAX_ID)]], Field(max_length=MAX_IDS)] | None = None
    all: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.ids is None) == (self.all is None):
            raise ValueError("send either ids or all")
        return self


REPLAY_SCHEMA: Schema = {
    "oneOf": [
        {
            "type": "object",
            "required": ["ids"],
            "properties": {
                "ids": {
                    "type": "array",
                    "maxItems": MAX_IDS,
                    "items": {"type": "integer", "minimum": 1, "maximum": MAX_ID},
                }
            },
            "additionalProperties": False,
        },
        {
            "type": "object",
            "required": ["all"],
            "properties": {"all": {"const": True}},
            "additionalProperties": False,
        },
    ]
}


class EdgeBody(_Strict):
    """An edge has two assets and a type. An absent field stays as it is; null clears what a user set."""

    from_: Annotated[Reference, Field(alias="from")]
    to: Reference
    relationship_type: Annotated[str, Field(min_length=1, max_length=MAX_TYPE)]
    propagates: bool | None = None
    masking: bool | None = None


class EdgeNameBody(_Strict):
    from_: Annotated[Reference, Field(alias="from")]
    to: Reference
    relationship_type: Annotated[str, Field(min_length=1, max_length=MAX_TYPE)]


class EdgesBody(_Strict):
    edges: Annotated[list[EdgeBody], Field(min_length=1, max_length=MAX_EDGES)]


class EdgeNamesBody(_Strict):
    edges: Annotated[list[EdgeNameBody], Field(min_length=1, max_length=MAX_EDGES)]


def edges_schema(shape: type[BaseModel]) -> Schema:
    """The body with many edges of this shape, written out: a `$ref` would not resolve inside the OpenAPI document."""
    edges = {"type": "array", "minItems": 1, "maxItems": MAX_EDGES, "items": shape.model_json_schema()}
    return {"type": "object", "required": ["edges"], "properties": {"edges": edges}, "additionalProperties": False}


class SqlBody(_Strict):
    sql: str
    dialect: Annotated[str, Field(max_length=64, description=f"One of: {', '.join(DIALECTS)}")]
    default_database: Annotated[str, Field(max_length=MAX_NAME)] | None = None
    default_schema: Annotated[str, Field(max_length=MAX_NAME)] | None = None
    dry_run: bool = False
