"""`POST /enforce/opa/…`: what Trino's OPA plug-in calls, with a token in a header or with a key in the path."""

from typing import Any

from fastapi import APIRouter

from lily.api.auth.engine_keys import Engine
from lily.api.calls import Enforces, HttpCall
from lily.api.enforcement.trino import Ask, respond
from lily.api.http.bodies import JSON, read_bytes, require_media_type
from lily.api.http.openapi import enforcement as documented
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.responses import Json
from lily.api.routes.enforcement.engine_addresses import add_addresses
from lily.enforce import trino

MAX_BYTES = 16 << 20  # the most columns that a request may have, with long types

router = APIRouter(tags=["enforcement"])


async def _respond(call: HttpCall, ask: Ask) -> Json:
    require_media_type(call.request, (JSON,))
    return Json(await respond(call, await read_bytes(call.request, MAX_BYTES), ask))


def _serve(name: str, ask: Ask, example: Any, response: type, about: str) -> None:
    """One address of the plug-in."""

    async def with_header(call: Enforces) -> Json:
        return await _respond(call, ask)

    async def with_key(call: Engine) -> Json:
        return await _respond(call, ask)

    add_addresses(
        router,
        "/enforce/opa",
        name,
        with_header,
        with_key,
        methods=["POST"],
        description=about,
        responses={200: {"model": response}},
        openapi_extra=body_schema(documented.OPA_REQUEST, {name: example}),
    )


_serve(
    "allow",
    trino.allow,
    documented.ALLOW,
    documented.Allowed,
    "Whether Trino's user may do something (`opa.policy.uri`). Operations that Lily does not know are denied.",
)
_serve(
    "batch",
    trino.batch,
    documented.BATCH,
    documented.Positions,
    "Which of several objects, or columns of a table, the user may see: their positions (`opa.policy.batched-uri`).",
)
_serve(
    "row-filters",
    trino.row_filters,
    documented.ROW_FILTERS,
    documented.RowFilters,
    "The conditions that a row of the table must meet for the user to see it (`opa.policy.row-filters-uri`).",
)
_serve(
    "column-masking",
    trino.column_mask,
    documented.COLUMN_MASK,
    documented.ColumnMask,
    "What the user sees instead of a column, null if its value (`opa.policy.column-masking-uri`).",
)
_serve(
    "batch-column-masking",
    trino.batch_column_masks,
    documented.BATCH_COLUMN_MASKS,
    documented.ColumnMasks,
    "What the user sees instead of those columns of a table that are masked (`opa.policy.batch-column-masking-uri`).",
)
