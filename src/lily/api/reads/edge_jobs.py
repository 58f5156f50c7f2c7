"""The jobs that claim edges of a lineage graph, and those that write the asset around which it is."""

from collections.abc import Sequence
from typing import Any

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.api.reads.lineage_pages import LineageEdge
from lily.model.clock import stamp
from lily.store.postgres.runs.reader import EdgeJob, jobs_of_edges, jobs_writing

MAX_WRITERS = 1_000  # jobs of one dataset that are shown


async def jobs_of(call: Call, edges: Sequence[LineageEdge]) -> list[list[dict[str, Any]]]:
    """Of each edge, without those that a policy denies to the caller."""
    found = await jobs_of_edges(call.services.database, call.tenant, [edge[:3] for edge in edges])
    denied = await denied_references(call, "READ", {job.job_id for jobs in found.values() for job in jobs})
    return [[_shown(job) for job in found.get(number, ()) if job.job_id not in denied] for number in range(len(edges))]


async def writers_of(call: Call, asset_id: str) -> list[dict[str, Any]]:
    """Without those that a policy denies to the caller."""
    found = await jobs_writing(call.services.database, call.tenant, asset_id, limit=MAX_WRITERS)
    denied = await denied_references(call, "READ", {job.job_id for job in found})
    return [_shown(job) for job in found if job.job_id not in denied]


def _shown(job: EdgeJob) -> dict[str, Any]:
    last = None
    if job.started_at is not None:
        ended = None if job.ended_at is None else stamp(job.ended_at)
        last = {
            "run_id": job.run,
            "state": job.state,
            "started_at": stamp(job.started_at),
            "ended_at": ended,
            "error": job.error,
        }
    return {"job_id": job.job_id, "qualified_name": job.qualified_name, "last_run": last}
