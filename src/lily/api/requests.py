"""The shapes of request bodies that are not statements of a source."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, RootModel

from lily.model.values import MAX_QUALIFIED_NAME, MAX_TAG

MOST_IDS = 1_000
LARGEST_ID = 2**63 - 1  # PostgreSQL's bigint

Reference = Annotated[str, Field(min_length=1, max_length=MAX_QUALIFIED_NAME)]


class _Strict(BaseModel, extra="forbid"):
    """A field nobody knows is a typing error, and is better refused than lost."""


class UpdateBody(_Strict):
    attributes: dict[str, Any]


class TagBody(_Strict):
    tag: Annotated[str, Field(min_length=1, max_length=MAX_TAG)]


class BatchGetBody(_Strict):
    ids: Annotated[list[Reference], Field(max_length=MOST_IDS)]


class ReplayNamed(_Strict):
    ids: Annotated[list[Annotated[int, Field(ge=1, le=LARGEST_ID)]], Field(max_length=MOST_IDS)]


class ReplayAll(_Strict):
    all: Literal[True]


class ReplayBody(RootModel[ReplayNamed | ReplayAll]):
    """Either the ids, or all."""

    @property
    def ids(self) -> list[int] | None:
        return sorted(set(self.root.ids)) if isinstance(self.root, ReplayNamed) else None
