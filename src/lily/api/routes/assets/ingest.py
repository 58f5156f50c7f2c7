"""`POST /ingest-metadata`: ingests one asset."""

from fastapi import APIRouter

from lily.api.calls import Writes
from lily.api.http.bodies import read_json
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_schema
from lily.api.http.openapi.responses import WRITTEN, Json
from lily.api.ingest.asset_events import source_event
from lily.api.ingest.writes import write
from lily.model.errors import Refused
from lily.model.schemas import INGEST_BODY

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest-metadata",
    status_code=202,
    responses=WRITTEN,
    openapi_extra=body_schema(INGEST_BODY, examples.INGEST),
)
async def ingest(call: Writes) -> Json:
    """Ingests one asset, as its source describes it. 202 means that it is durably in the log; with `Prefer: wait=N`,
    200 means that it can be read."""
    try:
        event = source_event(call, await read_json(call.request, call.services.settings.limits.body_bytes))
    except Refused:
        call.services.metrics.refused.inc()
        raise
    return await write(call, event)
