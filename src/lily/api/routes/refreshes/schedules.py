"""`/refresh-schedules`: how often each data source is refreshed."""

import uuid
from functools import partial
from typing import Any

from fastapi import APIRouter

from lily.api.calls import Anyone, HttpCall, Reads
from lily.api.http.bodies import read_body
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.refreshes import (
    CONFLICT,
    SCHEDULE_EXAMPLES,
    DataSource,
    ResetSchedule,
    Run,
    Schedule,
    ScheduleList,
    ScheduleSettings,
)
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import DEFAULT, Cursor, Limit, keyed_page
from lily.api.policy.administration import checked_name
from lily.api.reads.references import normal
from lily.api.refreshes.reports import found as found_run
from lily.model.durations import BadDuration, parse_duration, shown_duration
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME
from lily.store.postgres.refreshes import schedules
from lily.store.postgres.refreshes.schedules import Settings

PATH = "/refresh-schedules"
A_YEAR = 366 * 24 * 3_600
SHORTEST, LONGEST = {"every": 60, "timeout": 1}, {"every": A_YEAR, "timeout": 7 * 24 * 3_600}  # seconds

router = APIRouter(tags=["refreshes"])


@router.get(PATH, responses={200: {"model": ScheduleList}})
async def list_schedules(call: Reads, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the schedules by data source: of every data source that an asset names, and of those that were
    configured."""
    read = partial(schedules.page, call.services.database, call.tenant)
    return Json(await keyed_page(call, PATH, limit, cursor, read))


@router.get(f"{PATH}/{{data_source:segment}}", responses={200: {"model": Schedule}})
async def schedule(data_source: DataSource, call: Reads) -> Json:
    """Returns one schedule, its unfinished run and how the last one ended."""
    return Json(await _found(call, data_source))


@router.put(
    f"{PATH}/{{data_source:segment}}",
    responses={200: {"model": Schedule}},
    openapi_extra=body_model(ScheduleSettings, SCHEDULE_EXAMPLES),
)
async def configure(data_source: DataSource, call: Anyone) -> Json:
    """Sets how often a data source is refreshed, how long a run may take, and whether it is refreshed at all. The data
    source need not have assets yet. Needs the scope `admin`."""
    call.require("admin", "setting a refresh schedule", PATH)
    body = await read_body(call.request, ScheduleSettings, call.services.settings.limits.body_bytes)
    name = checked_name(data_source, "data_source", MAX_NAME)
    chosen = Settings(_seconds("every", body.every), _seconds("timeout", body.timeout), body.enabled)
    await schedules.configure(call.services.database, call.principal, name, chosen, correlation=call.correlation)
    return Json(await _found(call, name))


@router.delete(f"{PATH}/{{data_source:segment}}", responses={200: {"model": ResetSchedule}})
async def reset(data_source: DataSource, call: Anyone) -> Json:
    """Sets a schedule back to the default: every 24 hours while an asset names the data source. Needs the scope
    `admin`."""
    call.require("admin", "resetting a refresh schedule", PATH)
    name = normal(data_source)
    if not await schedules.reset(call.services.database, call.principal, name, call.correlation):
        raise not_found(data_source, "refresh schedule")
    return Json({"status": "success", "data_source": name})


@router.post(f"{PATH}/{{data_source:segment}}/run", status_code=202, responses={202: {"model": Run}, **CONFLICT})
async def request_run(data_source: DataSource, call: Anyone) -> Json:
    """Requests a refresh now, also if the schedule is switched off. 409 if a run of the data source is not finished.
    Needs the scope `admin`."""
    call.require("admin", "requesting a refresh", PATH)
    wanted = str(uuid.uuid4())
    unfinished = await schedules.request(call.services.database, call.principal, normal(data_source), wanted)
    if unfinished is None:
        raise not_found(data_source, "refresh schedule")
    if unfinished != wanted:
        described = f"the run {unfinished} of {data_source!r} is not finished; it ends by its report or its timeout"
        raise Declined(409, Problem("RUN_NOT_FINISHED", described, unfinished))
    return Json(await found_run(call, unfinished), 202)


async def _found(call: HttpCall, data_source: str) -> dict[str, Any]:
    known = await schedules.find(call.services.database, call.tenant, normal(data_source))
    if known is None:
        raise not_found(data_source, "refresh schedule")
    return known


def _seconds(field: str, text: str) -> int:
    """Raises Refused."""
    try:
        seconds = parse_duration(text)
    except BadDuration as error:
        raise Refused(Problem("INVALID_VALUE", str(error), field)) from error
    if not SHORTEST[field] <= seconds <= LONGEST[field]:
        shortest, longest = shown_duration(SHORTEST[field]), shown_duration(LONGEST[field])
        raise Refused(Problem("INVALID_VALUE", f"{field} is {text}; use {shortest} to {longest}", field))
    return seconds
