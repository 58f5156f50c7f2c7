"""Assets, their tags and attributes, their history, and writes of them."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from lily.lineage.attribute_rules import Mode


class Attributes(BaseModel, extra="allow"):
    name: str | None
    qualified_name: str
    description: str | None
    owner: str | None
    created_by: str | None
    data_source: str | None
    parent: str | None
    tags: list[str]
    business_terms: list[str]


class Tags(BaseModel):
    source: list[str]
    enriched: list[str]
    user: list[str]
    propagated: list[str]
    inherited: list[str]
    effective: list[str]


class Asset(BaseModel):
    metadata_id: str
    entity_type: str
    attributes: Attributes
    tags: Tags
    at_risk: list[str]
    tenant_id: str
    version: int
    is_deleted: bool
    created_at: str
    updated_at: str
    fresh_as_of: str
    placeholder: bool | None = Field(
        None, description="true for what only edges have named: nothing else is stated about it; absent for all others"
    )


class Assets(BaseModel):
    items: list[Asset]
    next_cursor: str | None


class DeniedAsset(BaseModel):
    """`id` is the reference of the request. `policy_id` is null if no scraper policy covers the asset."""

    id: str
    policy_id: str | None
    reason: str


class Batch(BaseModel):
    items: list[Asset]
    missing: list[str]
    denied: list[DeniedAsset]
    next_cursor: None = None


class Accepted(BaseModel):
    """Durably in the log; not necessarily readable yet."""

    status: Literal["success"]
    metadata_id: str


class Applied(Accepted):
    """Readable; `superseded` if a newer event had already won."""

    superseded: bool


# Of a write of one asset: it can be read, or it is in the log.
WRITTEN: dict[int | str, dict[str, Any]] = {200: {"model": Applied}, 202: {"model": Accepted}}


class Cause(BaseModel, extra="allow"):
    id: str
    time: str
    by: str = ""


class Difference(BaseModel):
    """`from` and `to`: the value before and after, or null if there was none."""

    model_config = {"extra": "allow"}


class Change(BaseModel):
    position: int
    version: int
    layer: Literal["source", "enriched", "user"]
    change: Literal["created", "updated", "deleted", "restored", "tagged", "untagged"]
    what: dict[str, Difference]
    causes: list[Cause]
    at: str


class History(BaseModel):
    items: list[Change]
    next_cursor: str | None


class Suppression(BaseModel):
    by: str
    reason: str
    at: str
    new_origins: list[str] = Field(description="Origins added after the tag was suppressed.")


class Ending(BaseModel):
    by: str | None = Field(description="Who left the tag out; null if the history no longer has it.")
    at: str | None


class TagItem(BaseModel):
    tag: str
    layer: Literal["source", "enriched", "user", "propagated", "inherited"]
    origin: str
    path: list[str] = Field(description="Ids from the origin to the asset.")
    origin_name: str | None = Field(description="Null if it is not known, or if a policy denies it to the caller.")
    path_names: list[str | None] = Field(description="The qualified names of the path.")
    suppressed: bool
    depth: int | None = Field(None, description="Of a derived tag: the number of edges on its path.")
    suppression: Suppression | None = None
    origins: list[str] | None = Field(None, description="With `origins=true`: all origins, nearest first.")
    more: bool | None = Field(None, description="Whether there are more origins than listed.")
    held: bool = Field(False, description="It, or something on its path, ended without authority and still counts.")
    ended: Ending | None = Field(None, description="Of a tag of the asset itself that is held.")


class TagItems(BaseModel):
    items: list[TagItem]
    next_cursor: None


class AttributeItem(BaseModel):
    attribute: str
    value: Any = Field(description="For a rule with mode `add`: one item.")
    rule: str
    mode: Mode
    origin: str
    path: list[str] = Field(description="Ids from the origin to the asset.")
    depth: int = Field(description="The number of edges on the path.")


class AttributeItems(BaseModel):
    items: list[AttributeItem]
    next_cursor: None
