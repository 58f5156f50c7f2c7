"""`GET /metrics`: Prometheus, of this process and of the parts that have no address of their own."""

import asyncio

import httpx
from fastapi import APIRouter
from prometheus_client import generate_latest
from starlette.responses import Response

from lily.api.calls import Measures
from lily.api.services import Parts
from lily.bus import topics
from lily.bus.ends import behind
from lily.model.errors import Transient
from lily.store.postgres.progress.applied import applied_positions, backlog

PEER_SECONDS = 2.0
TEXT = "text/plain"

router = APIRouter(tags=["operations"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {TEXT: {"schema": {"type": "string"}}}, "description": "Prometheus text format"}},
)
async def metrics(call: Measures) -> Response:
    """Counters, lag and latencies; no tenant is ever named."""
    parts = call.parts
    _, peers = await asyncio.gather(_look(parts), _peers(parts))
    return Response(_joined([generate_latest(parts.watch.registry).decode(), *peers]), media_type=TEXT)


async def _look(parts: Parts) -> None:
    """Sets the gauges that have to be asked for; one that cannot be asked keeps its last value."""
    parts.watch.unconfirmed.set(len(parts.log))
    try:
        waiting = await backlog(parts.database)
        parts.watch.backlog.set(waiting.unpublished_batches)
        parts.watch.dead_letters.set(waiting.dead_letters)
        ends = await parts.ends.of(*topics.INTAKE)
        for topic, lag in behind(ends, await applied_positions(parts.database)).items():
            parts.watch.lag.labels(topic).set(lag)
    except Transient:
        parts.watch.look_errors.inc()


async def _peers(parts: Parts) -> list[str]:
    async with httpx.AsyncClient(timeout=PEER_SECONDS) as client:
        return list(await asyncio.gather(*(_fetched(parts, client, peer) for peer in parts.settings.metrics_peers)))


async def _fetched(parts: Parts, client: httpx.AsyncClient, peer: str) -> str:
    try:
        answer = await client.get(f"{peer.rstrip('/')}/metrics")
        answer.raise_for_status()
    except httpx.HTTPError:
        parts.watch.peer_errors.inc()
        return ""
    return answer.text


def _joined(texts: list[str]) -> str:
    """One text: a family that several parts report is described once, or a scraper would refuse the whole."""
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
