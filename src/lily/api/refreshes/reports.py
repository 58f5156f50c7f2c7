"""What scrapers take and report: runs of the data sources that they may write."""

import asyncio
import time
import uuid
from typing import Any

from lily.api.calls import HttpCall
from lily.api.http.errors import Declined, forbidden, not_found
from lily.model import clock
from lily.model.errors import Problem
from lily.model.ids import looks_like_uuid
from lily.store.postgres.refreshes import runs
from lily.store.postgres.refreshes.runs import UNFINISHED, Report

POLL_SECONDS = 1.0  # a request for a run that waits looks so often, by one index look-up

Object = dict[str, Any]


async def taken(call: HttpCall, data_sources: list[str]) -> Object:
    """Waits for a run as long as the caller prefers. Raises Declined with 403 if a scraper policy does not cover one of
    the data sources."""
    await _require_covered(call, data_sources)
    database, lease = call.services.database, str(uuid.uuid4())
    deadline = time.monotonic() + (call.wait() or 0)
    while True:
        run = await runs.take(database, call.principal, lease, data_sources or None)
        left = deadline - time.monotonic()
        if run is not None or left <= 0 or await call.request.is_disconnected():
            return {"run": run, "lease": None if run is None else lease}
        await asyncio.sleep(min(POLL_SECONDS, left))


async def started(call: HttpCall, run_id: str, lease: str | None) -> Object:
    """Raises Declined with 409 if the run is finished, or if another scraper holds it."""
    await _found(call, run_id)
    done = await runs.start(call.services.database, call.principal, run_id, lease)
    run = await _found(call, run_id)
    if not done:
        raise _conflict(run)
    return run


async def finished(call: HttpCall, run_id: str, report: Report) -> Object:
    """Raises Declined with 409 if the run had ended otherwise, or if another scraper holds it."""
    await _found(call, run_id)
    await runs.finish(call.services.database, call.principal, run_id, report)
    run = await _found(call, run_id)
    if run["state"] != report.state:  # reported twice, it is the same
        raise _conflict(run)
    return run


async def found(call: HttpCall, run_id: str) -> Object:
    """Raises Declined with 404."""
    known = await runs.find(call.services.database, call.tenant, run_id) if looks_like_uuid(run_id) else None
    if known is None:
        raise not_found(run_id, "run")
    return known


async def _found(call: HttpCall, run_id: str) -> Object:
    run = await found(call, run_id)
    await _require_covered(call, [run["data_source"]])
    return run


async def _require_covered(call: HttpCall, data_sources: list[str]) -> None:
    group = call.principal.scraper_group
    if not group:
        return
    scrapers = (await call.services.policies.get(call.tenant)).scrapers
    if not data_sources:
        raise forbidden(f"a token of the scraper group {group!r} must name the data sources", "data_sources")
    for source in data_sources:
        if not scrapers.may_refresh(group, source):
            described = f"no scraper policy of the group {group!r} covers the data source {source!r}"
            raise forbidden(f"{described}; extend one, or use another token", "data_sources")


def _conflict(run: Object) -> Declined:
    if run["state"] not in UNFINISHED:
        described = f"the run is finished: {run['state']} at {run['finished_at']}; what was ingested stays"
        return Declined(409, Problem("RUN_FINISHED", described, run["run_id"]))
    if run["deadline"] <= clock.now():
        return Declined(409, Problem("RUN_FINISHED", f"the run had to end by {run['deadline']}", run["run_id"]))
    described = f"another scraper ({run['scraper']}) holds the run; it can be taken again once its lease has ended"
    return Declined(409, Problem("RUN_HELD", described, run["run_id"]))
