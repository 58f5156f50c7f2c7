"""The jobs that claim edges of a lineage graph."""

from typing import Any

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Call
from lily.model.clock import stamp
from lily.store.postgres.runs.reader import EdgeJob, jobs_of_edges


async def add_jobs(call: Call, edges: list[dict[str, Any]]) -> None:
    """Adds `jobs` to each edge, without those that a policy denies to the caller."""
    keys = [(edge["from"], edge["to"], edge["relationship_type"]) for edge in edges]
    found = await jobs_of_edges(call.services.database, call.tenant, keys)
    denied = await denied_references(call, "READ", {job.job_id for jobs in found.values() for job in jobs})
    for number, edge in enumerate(edges):
        edge["jobs"] = [_shown(job) for job in found.get(number, ()) if job.job_id not in denied]


def _shown(job: EdgeJob) -> dict[str, Any]:
    last = None
    if job.started_at is not None:
        ended = None if job.ended_at is None else stamp(job.ended_at)
        last = {"run_id": job.run, "state": job.state, "started_at": stamp(job.started_at), "ended_at": ended}
    return {"job_id": job.job_id, "qualified_name": job.qualified_name, "last_run": last}
