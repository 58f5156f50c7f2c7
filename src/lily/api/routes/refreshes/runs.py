"""`/refresh-runs`: refreshes that were requested, for scrapers to take and to report about."""

from fastapi import APIRouter

from lily.api.calls import Reads, Writes
from lily.api.http import cursors
from lily.api.http.bodies import read_body, read_optional_body
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.refreshes import (
    CONFLICT,
    FINISH_EXAMPLES,
    START_EXAMPLES,
    TAKE_EXAMPLES,
    Finish,
    InState,
    OfDataSource,
    Run,
    RunId,
    RunList,
    Start,
    Take,
    Taken,
)
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.reads.references import normal
from lily.api.refreshes import reports
from lily.store.postgres.refreshes import runs
from lily.store.postgres.refreshes.runs import Report, Wanted

PATH = "/refresh-runs"
START = body_model(Start, START_EXAMPLES)
START["requestBody"]["required"] = False

router = APIRouter(tags=["refreshes"])


@router.get(PATH, responses={200: {"model": RunList}})
async def list_runs(
    call: Reads, data_source: OfDataSource = None, state: InState = None, limit: Limit = DEFAULT, cursor: Cursor = None
) -> Json:
    """Returns runs, the newest first. Finished ones are kept for 90 days."""
    wanted = Wanted(None if data_source is None else normal(data_source), state)
    question = (call.tenant, PATH, *(part or "" for part in wanted))
    after = cursors.unseal_place(cursor, *question)
    size = checked_limit(call, limit)
    found = await runs.page(call.services.database, call.tenant, wanted, after, size + 1)
    last = found[size - 1] if len(found) > size else None
    more = None if last is None else cursors.seal([last["requested_at"], last["run_id"]], *question)
    return Json({"items": found[:size], "next_cursor": more})


@router.post(f"{PATH}/take", responses={200: {"model": Taken}}, openapi_extra=body_model(Take, TAKE_EXAMPLES))
async def take(call: Writes) -> Json:
    """Hands the oldest run that no scraper works on to the caller, of the data sources that it names. With `Prefer:
    wait=N` it waits so many seconds for one. The caller holds the run for two minutes; it reports the start again, with
    the lease, before they are over, and the end when it is done. A run whose lease has ended can be taken again."""
    body = await read_body(call.request, Take, call.services.settings.limits.body_bytes)
    return Json(await reports.taken(call, [normal(source) for source in body.data_sources]))


@router.get(f"{PATH}/{{run_id:segment}}", responses={200: {"model": Run}})
async def run(run_id: RunId, call: Reads) -> Json:
    """Returns one run."""
    return Json(await reports.found(call, run_id))


@router.post(f"{PATH}/{{run_id:segment}}/start", responses={200: {"model": Run}, **CONFLICT}, openapi_extra=START)
async def start(run_id: RunId, call: Writes) -> Json:
    """Reports that a scraper works on a run. With the lease of a run that was taken, that it still does."""
    body = await read_optional_body(call.request, Start, call.services.settings.limits.body_bytes)
    return Json(await reports.started(call, run_id, body.lease))


@router.post(
    f"{PATH}/{{run_id:segment}}/finish",
    responses={200: {"model": Run}, **CONFLICT},
    openapi_extra=body_model(Finish, FINISH_EXAMPLES),
)
async def finish(run_id: RunId, call: Writes) -> Json:
    """Reports the end of a run. A failure opens an incident of the kind `refresh_failed`; the next success resolves
    it. Reported twice, it is the same."""
    body = await read_body(call.request, Finish, call.services.settings.limits.body_bytes)
    report = Report(body.state, body.error, body.counts, body.lease)
    return Json(await reports.finished(call, run_id, report))
