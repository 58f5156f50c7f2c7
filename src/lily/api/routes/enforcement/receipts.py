"""`GET /enforcements`: what targets have to enforce, and what they have confirmed."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import Field, TypeAdapter

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Anyone
from lily.api.http import cursors
from lily.api.http.openapi.responses import Json
from lily.api.http.openapi.targets import Enforcements, State
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.reads.references import normal
from lily.model import ids
from lily.model.assets import tag_key
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, MAX_TAG
from lily.policy import fold
from lily.store.postgres.enforcement.receipts import Place, Wanted, read_receipts

MAX_READS = 5  # of one page, where policies deny some of the assets to the caller
_Text = Annotated[str, Field(max_length=4 * MAX_NAME)]
PLACE: TypeAdapter[Place] = TypeAdapter(tuple[_Text, _Text, _Text])

OfTarget = Annotated[str | None, Query(max_length=MAX_NAME, description="Only receipts of this target.")]
OfAsset = Annotated[
    str | None,
    Query(max_length=MAX_QUALIFIED_NAME, description="Only receipts of this asset, by id or name."),
]
OfTag = Annotated[str | None, Query(max_length=MAX_TAG, description="Only receipts of this tag, in any case.")]
InState = Annotated[State | None, Query(description="Only receipts in this state.")]

router = APIRouter(tags=["enforcement"])


@dataclass(frozen=True, slots=True)
class Filters:
    target: OfTarget = None
    asset: OfAsset = None
    tag: OfTag = None
    state: InState = None

    def wanted(self, tenant: str) -> Wanted:
        return Wanted(
            None if self.target is None else fold(normal(self.target)),
            None if self.asset is None else ids.resolve(tenant, normal(self.asset)),
            None if self.tag is None else tag_key(self.tag),
            self.state,
        )


@router.get("/enforcements", responses={200: {"model": Enforcements}})
async def enforcements(
    call: Anyone, filters: Annotated[Filters, Depends()], limit: Limit = DEFAULT, cursor: Cursor = None
) -> Json:
    """Returns the receipts of all targets: for each tag of an asset that a target has to enforce, when that was
    requested, when the target confirmed it, and when its table was last found changed by hand.

    `requested`: not yet confirmed. `confirmed`: in line. `drift`: changed by hand and not repaired yet. `failed`: the
    last attempt failed, see `error`. Receipts about assets that a policy denies to the caller are left out."""
    call.require("policy:read", "reading receipts of enforcement", "/enforcements")
    wanted = filters.wanted(call.tenant)
    question = (call.tenant, "enforcements", *(part or "" for part in wanted))
    beyond = None if cursor is None else cursors.unseal(cursor, PLACE, *question)
    size = checked_limit(call, limit)
    items: list[dict[str, Any]] = []
    for _ in range(MAX_READS):
        room = size - len(items)
        found = await read_receipts(call.services.database, call.tenant, wanted, beyond, room + 1)
        page = found[:room]
        # By name: a column that only the lake has is known as one of its table's by its name alone.
        denied = await denied_references(call, "READ", {item["qualified_name"] for item in page})
        items += [item for item in page if item["qualified_name"] not in denied]
        beyond = (page[-1]["target_key"], page[-1]["asset_id"], page[-1]["tag"]) if len(found) > room else None
        if beyond is None or len(items) == size:
            break
    more = None if beyond is None else cursors.seal(list(beyond), *question)
    rules = await call.services.tag_rules.get(call.tenant)
    shown = [{**item, "tag": rules.name(item["tag"], item["tag"])} for item in items]
    return Json({"items": [_without(item, "target_key") for item in shown], "next_cursor": more})


def _without(item: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != key}
