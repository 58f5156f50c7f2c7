"""The shapes of request bodies that are not statements of a source."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from lily.model.schemas import Schema
from lily.model.values import MAX_QUALIFIED_NAME, MAX_TAG

MOST_IDS = 1_000
LARGEST_ID = 2**53  # what every JSON parser can hold, and more letters than there will be

Reference = Annotated[str, Field(min_length=1, max_length=MAX_QUALIFIED_NAME)]


class _Strict(BaseModel, extra="forbid"):
    """A field nobody knows is a typing error, and is better refused than lost."""


class UpdateBody(_Strict):
    attributes: dict[str, Any]


class TagBody(_Strict):
    tag: Annotated[str, Field(min_length=1, max_length=MAX_TAG)]


class BatchGetBody(_Strict):
    ids: Annotated[list[Reference], Field(max_length=MOST_IDS)]


class ReplayBody(_Strict):
    """Either the ids, or all."""

    ids: Annotated[list[Annotated[int, Field(ge=1, le=LARGEST_ID)]], Field(max_length=MOST_IDS)] | None = None
    all: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.ids is None) == (self.all is None):
            raise ValueError("give either ids or all")
        return self


REPLAY_SCHEMA: Schema = {
    "oneOf": [
        {
            "type": "object",
            "required": ["ids"],
            "properties": {
                "ids": {
                    "type": "array",
                    "maxItems": MOST_IDS,
                    "items": {"type": "integer", "minimum": 1, "maximum": LARGEST_ID},
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
