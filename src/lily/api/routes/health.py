"""Probes: is the process alive, can it serve."""

from typing import Annotated

from fastapi import APIRouter, Depends

from lily.api.answers import Health, Json
from lily.api.calls import parts_of
from lily.api.errors import RETRY_SECONDS, problems_answer
from lily.api.parts import Parts
from lily.bus import topics
from lily.model.errors import Problem, Transient
from lily.store.postgres.progress import applied_positions

router = APIRouter(tags=["operations"])


@router.get("/health/live", responses={200: {"model": Health}})
async def live() -> Json:
    """The process answers."""
    return Json({"status": "ok"})


@router.get("/health/ready", responses={200: {"model": Health}})
async def ready(parts: Annotated[Parts, Depends(parts_of)]) -> Json:
    """The database and the log answer too."""
    problems = []
    for part, ask in (("database", applied_positions(parts.database)), ("log", parts.ends.of(topics.ASSETS))):
        try:
            await ask
        except Transient as error:
            problems.append(Problem("NOT_READY", str(error), part))
    return problems_answer(503, problems, {"Retry-After": RETRY_SECONDS}) if problems else Json({"status": "ok"})
