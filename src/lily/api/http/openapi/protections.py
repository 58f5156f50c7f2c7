"""The bodies of `/protections/pending`."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from lily.api.http.openapi.examples import Examples
from lily.lineage.pending import PendingKind

MAX_IDS = 1_000


class PendingItem(BaseModel):
    id: str
    kind: PendingKind
    from_: str | None = Field(None, alias="from", description="The start of the edge, or the parent.")
    from_name: str | None = None
    to: str | None = Field(None, description="The end of the edge.")
    to_name: str | None = None
    relationship_type: str | None = Field(None, description="Of an edge or a claim.")
    job: str | None = Field(None, description="The job that claimed the edge.")
    job_name: str | None = None
    asset: str | None = Field(None, description="The asset of the tag, the asset that was moved, or the deleted asset.")
    asset_name: str | None = None
    ended_by: str | None = Field(description="Null if the history does not go back that far; so is `ended_at`.")
    ended_at: str | None
    tags: list[str]
    keeps: list[str] = Field(description="Ids of assets that would lose one of the tags, at most 100.")
    count: int
    more: bool = Field(description="There are more than `count`.")


class PendingItems(BaseModel):
    items: list[PendingItem]
    next_cursor: str | None


class DecidedItem(BaseModel):
    id: str
    outcome: Literal["confirmed", "undone", "denied", "not_found", "needs_others", "too_early"]


class DecidedItems(BaseModel):
    items: list[DecidedItem]


class DecidedOne(BaseModel):
    status: Literal["success"]
    id: str
    outcome: Literal["confirmed", "undone"]


class PendingIdsBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=1024)]], Field(min_length=1, max_length=MAX_IDS)]


CONFIRM: Final[Examples] = {"an item of the list": {"ids": ["WyJ0YWciLCJhIiwicGlpIl0"]}}
