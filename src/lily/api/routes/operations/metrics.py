"""`GET /metrics`: the Prometheus metrics of this process and of its peers (`LILY_METRICS_PEERS`)."""

import asyncio

import httpx
from fastapi import APIRouter
from starlette.responses import Response

from lily.api.calls import Measures
from lily.api.services import Services
from lily.bus import topics
from lily.bus.offsets import lag_by_topic
from lily.model.errors import Transient
from lily.store.postgres.progress.applied import applied_offsets, backlog

PEER_SECONDS = 2.0
TEXT = "text/plain"

router = APIRouter(tags=["operations"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {TEXT: {"schema": {"type": "string"}}}, "description": "Prometheus text format"}},
)
async def metrics(call: Measures) -> Response:
    """Returns the metrics of all parts in the Prometheus text format. They name no tenant."""
    services = call.services
    _, peers = await asyncio.gather(_read_gauges(services), _peers(services))
    return Response(_joined([services.metrics.text(), *peers]), media_type=TEXT)


async def _read_gauges(services: Services) -> None:
    """Sets the gauges that are read on demand. One that cannot be read keeps its last value."""
    services.metrics.unconfirmed.set(len(services.log))
    try:
        waiting = await backlog(services.database)
        services.metrics.backlog.set(waiting.unpublished_batches)
        services.metrics.dead_letters.set(waiting.dead_letters)
        ends = await services.ends.of(*topics.INTAKE)
        for topic, lag in lag_by_topic(ends, await applied_offsets(services.database)).items():
            services.metrics.lag.labels(topic).set(lag)
    except Transient:
        services.metrics.look_errors.inc()


async def _peers(services: Services) -> list[str]:
    async with httpx.AsyncClient(timeout=PEER_SECONDS) as client:
        return list(
            await asyncio.gather(*(_fetched(services, client, peer) for peer in services.settings.metrics_peers))
        )


async def _fetched(services: Services, client: httpx.AsyncClient, peer: str) -> str:
    try:
        response = await client.get(f"{peer.rstrip('/')}/metrics")
        response.raise_for_status()
    except httpx.HTTPError:
        services.metrics.peer_errors.inc()
        return ""
    return response.text


def _joined(texts: list[str]) -> str:
    """One text in which each metric family is described once: a scraper refuses a repeated description."""
    described: set[str] = set()
    lines: list[str] = []
    for text in texts:
        for line in text.splitlines():
            description = " ".join(line.split(" ")[:3]) if line.startswith("# ") else None  # "# TYPE family"
            if description not in described:
                lines.append(line)
            if description is not None:
                described.add(description)
    return "\n".join(lines) + "\n"
