"""`/jobs` and `/runs`: which job wrote something, when, and whether it failed."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.openapi.models import Example
from pydantic import TypeAdapter

from lily.api.auth.authorisation import denials, denied_references
from lily.api.calls import Call, ReadsLineage
from lily.api.http import cursors
from lily.api.http.errors import not_found
from lily.api.http.openapi.examples import JOB, RUN
from lily.api.http.openapi.responses import Job, JobRun, Json, Runs
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.reads.lineage_nodes import described
from lily.api.reads.references import find_visible, resolve
from lily.api.reads.runs import details, facets_at, summary
from lily.store.assets import StoredAsset
from lily.store.postgres.runs.reader import RunPosition, design_facets_of, find_runs, runs_of_job

router = APIRouter(tags=["lineage"])

JobId = Annotated[
    str,
    Path(
        alias="id",
        description="The job's id or its qualified name, `job:NAMESPACE/NAME`. A slash is sent as `%2F`.",
        openapi_examples={"a job": Example(value=JOB)},
    ),
]
RunIdPath = Annotated[
    str, Path(alias="id", description="The `runId` of the producer.", openapi_examples={"a run": Example(value=RUN)})
]
OfJob = Annotated[
    str | None,
    Query(description="The id or the qualified name of the job, if several have a run of that id."),
]
MAX_SAME_ID = 100  # runs of one id that are looked at
_ATTRIBUTES = ("name", "description", "owner", "owners", "job_type", "source_code_location")
POSITION: TypeAdapter[RunPosition] = TypeAdapter(RunPosition)


@router.get("/jobs/{id:text}/runs", responses={200: {"model": Runs}})
async def runs(job_id: JobId, call: ReadsLineage, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the runs of a job, the last updated first: state, times, error, parent. The newest thousand are kept."""
    job, most = await _find_job(call, job_id), checked_limit(call, limit)
    question = (call.tenant, "runs", job.id)
    after = None if cursor is None else cursors.unseal(cursor, POSITION, *question)
    found = await runs_of_job(call.services.database, call.tenant, job.id, after=after, limit=most + 1)
    page = [summary(call.tenant, run) for run in found[:most]]
    position = (page[-1]["updated_at"], page[-1]["run_id"]) if len(found) > most else None
    return Json({"items": page, "next_cursor": cursors.seal(position, *question) if position else None})


@router.get("/jobs/{id:text}", responses={200: {"model": Job}})
async def job(job_id: JobId, call: ReadsLineage) -> Json:
    """Returns a job, its last run, and the facets that events without a run have stated about it."""
    asset = await _find_job(call, job_id)
    facets = await design_facets_of(call.services.database, call.tenant, asset.id)
    last = await runs_of_job(call.services.database, call.tenant, asset.id, after=None, limit=1)
    attributes = asset.view["attributes"]
    shown = {name: attributes.get(name) for name in _ATTRIBUTES}
    return Json(
        {
            "job_id": asset.id,
            "qualified_name": asset.qualified_name,
            **shown,
            "tags": asset.view["tags"]["effective"],
            "is_deleted": asset.view["is_deleted"],
            "facets": facets_at(facets, "job:"),
            "last_run": summary(call.tenant, last[0]) if last else None,
        }
    )


@router.get("/runs/{id:text}", responses={200: {"model": JobRun}})
async def run(run_id: RunIdPath, call: ReadsLineage, job: OfJob = None) -> Json:
    """Returns one run with its datasets, and the facets that are kept as they came. If several jobs have a run of that
    id, it is the run of the job that had it first; `other_jobs` lists the others, and `job` chooses one of them."""
    job_id = None if job is None else resolve(call.tenant, job)
    runs = await find_runs(call.services.database, call.tenant, run_id, job_id, limit=MAX_SAME_ID)
    jobs = await _visible_jobs(call, [run.job_id for run in runs])
    visible = [run for run in runs if run.job_id in jobs]
    if not visible:
        raise not_found(run_id, "run")
    found, *others = visible
    datasets = {*found.inputs, *found.outputs}
    denied = await denied_references(call, "READ", datasets)
    nodes = await described(call, datasets)
    about = {"job": jobs[found.job_id], "other_jobs": [jobs[run.job_id] for run in others]}
    return Json(summary(call.tenant, found) | about | details(found, nodes, denied))


async def _visible_jobs(call: Call, job_ids: Sequence[str]) -> dict[str, str]:
    """By id, the names of those jobs that no policy denies."""
    found = await call.services.catalogue.find_many(call.tenant, list(job_ids)) if job_ids else {}
    denied = await denials(call, "READ", list(found.values()))
    return {job.id: job.qualified_name for job in found.values() if job.id not in denied}


async def _find_job(call: Call, reference: str) -> StoredAsset:
    """Raises Declined with 404 if there is no job of that id, or if a policy denies it."""
    asset = await find_visible(call, reference, "job")
    if asset.view["entity_type"] != "job":
        raise not_found(reference, "job")
    return asset
