"""`/health`: liveness and readiness probes."""

from collections.abc import Awaitable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends

from lily.api.calls import services_of
from lily.api.http.errors import RETRY_SECONDS, problems_response
from lily.api.http.openapi.responses import Health, Json, Readiness
from lily.api.services import Services
from lily.bus import topics
from lily.bus.offsets import lag_by_topic
from lily.model.errors import Problem, Transient
from lily.store.postgres.progress.applied import applied_offsets

T = TypeVar("T")

router = APIRouter(tags=["operations"])


@router.head("/health/live", include_in_schema=False)
@router.get("/health/live", responses={200: {"model": Health}})
async def live() -> Json:
    """Reports that the process is alive."""
    return Json({"status": "ok"})


@router.head("/health/ready", include_in_schema=False)
@router.get("/health/ready", responses={200: {"model": Readiness}})
async def ready(services: Annotated[Services, Depends(services_of)]) -> Json:
    """Reports whether the database and the log are reachable, and the lag of each topic. Lag alone does not make the
    API unready."""
    problems: list[Problem] = []
    applied = await _checked("database", applied_offsets(services.database), problems)
    ends = await _checked("log", services.ends.of(*topics.INTAKE), problems)
    if applied is None or ends is None:
        return problems_response(503, problems, {"Retry-After": RETRY_SECONDS})
    return Json({"status": "ok", "lag": lag_by_topic(ends, applied)})


async def _checked(part: str, check: Awaitable[T], problems: list[Problem]) -> T | None:
    try:
        return await check
    except Transient as error:
        problems.append(Problem("NOT_READY", str(error), part))
        return None
