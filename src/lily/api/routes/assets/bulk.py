"""`POST /ingest-metadata/bulk`: many statements in one streamed body, in any format that is installed."""

from contextlib import closing

from fastapi import APIRouter

from lily.api.auth.restrictions import restrictions_of
from lily.api.calls import Writes
from lily.api.http.bodies import require_media_type
from lily.api.http.encodings import is_gzip, refuse_longer
from lily.api.http.errors import Declined
from lily.api.http.openapi.responses import Bulk, Json
from lily.api.ingest.bulk.intake import BulkIntake
from lily.api.ingest.bulk.stream import stream
from lily.api.ingest.log_append import LogAppend
from lily.bus.producer import LogUnavailable
from lily.model.errors import Problem, Refused
from lily.plugins import installed

router = APIRouter(tags=["ingest"])


@router.post(
    "/ingest-metadata/bulk",
    status_code=202,
    responses={200: {"model": Bulk}, 202: {"model": Bulk}},
)
async def ingest_bulk(call: Writes) -> Json:
    """Ingests many assets in one body, in the format that `Content-Type` names. Each row is accepted or refused
    by itself; a row that a policy denies is an error of that row."""
    limits = call.services.settings.limits
    append = LogAppend(call, wait_for_room=True)
    await restrictions_of(call.services, call.principal)  # 503 before a row is appended if they cannot be known
    formats = installed().formats
    media_type = require_media_type(call.request, formats.media_types)
    is_gzip(call.request)  # refuses an unknown encoding before anything is read
    refuse_longer(call.request, limits.bulk_bytes)
    intake = BulkIntake(call, append)
    format_ = formats.of_media_type(media_type)
    with call.services.bulk.admit(call.tenant), closing(format_.splitter(limits.body_bytes)) as splitter:
        await stream(call, intake, splitter)
    await intake.finish()
    _raise_if_all_failed(intake)
    settlement = await append.settle()
    tally = {"accepted": intake.accepted, "rejected": intake.rejected, "errors": intake.errors}
    return Json(tally, settlement.status, settlement.headers())


def _raise_if_all_failed(intake: BulkIntake) -> None:
    if intake.accepted:
        return
    if intake.log_failed:
        raise LogUnavailable("The log did not confirm a single row in time. Send them again: repeating is harmless.")
    if intake.readable:
        return
    if isinstance(intake.stopped, Declined):
        raise intake.stopped
    if intake.rejected:
        listed = [*intake.errors[:19], *intake.errors[19:][-1:]]  # the last one says where reading stopped
        raise Refused(*(Problem(error["code"], error["description"], error["entity"]) for error in listed))
