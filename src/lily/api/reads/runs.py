"""Runs as the API shows them."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from lily.intake.openlineage.naming import job_name
from lily.model import ids
from lily.model.clock import stamp
from lily.store.postgres.graph.nodes import Node
from lily.store.postgres.runs.reader import StoredRun


def summary(tenant: str, run: StoredRun) -> dict[str, Any]:
    """What a list shows of a run: its state, its times, what went wrong, and what started it."""
    nominal, error, parent = (run.facet(f"run:{name}") or {} for name in ("nominalTime", "errorMessage", "parent"))
    return {
        "run_id": run.run,
        "job_id": run.job_id,
        "state": run.state,
        "started_at": stamp(run.started_at),
        "ended_at": _stamp(run.ended_at),
        "updated_at": stamp(run.updated_at),
        "nominal_start": nominal.get("nominalStartTime"),
        "nominal_end": nominal.get("nominalEndTime"),
        "error": {"message": error.get("message"), "stack_trace": error.get("stackTrace")} if error else None,
        "parent": _run_of(tenant, parent),
        "root": _run_of(tenant, parent.get("root")),
    }


def details(run: StoredRun, nodes: Mapping[str, Node], denied: Collection[str]) -> dict[str, Any]:
    """The kept facets of the run and of its job, and its datasets with theirs. A dataset that a policy denies to the
    caller has its id and nothing else."""
    return {
        "facets": _facets(run, "run:"),
        "job_facets": _facets(run, "job:"),
        "inputs": [_dataset(run, "inputs", asset, nodes, denied) for asset in sorted(run.inputs)],
        "outputs": [_dataset(run, "outputs", asset, nodes, denied) for asset in sorted(run.outputs)],
    }


def _dataset(
    run: StoredRun, role: str, asset: str, nodes: Mapping[str, Node], denied: Collection[str]
) -> dict[str, Any]:
    if asset in denied:
        return {"metadata_id": asset, "qualified_name": None, "facets": {}, "redacted": True}
    name, facets = nodes.get(asset, Node()).qualified_name, _facets(run, f"{role}:{asset}:")
    return {"metadata_id": asset, "qualified_name": name, "facets": facets, "redacted": False}


def _facets(run: StoredRun, prefix: str) -> dict[str, Any]:
    return {
        place.removeprefix(prefix): found[1]
        for place, found in run.facets.items()
        if found is not None and place.startswith(prefix)
    }


def _run_of(tenant: str, given: Any) -> dict[str, Any] | None:
    """The run and the job that a parent facet names, as far as it does."""
    if not isinstance(given, dict):
        return None
    run, job = given.get("run"), given.get("job")
    run_id = run.get("runId") if isinstance(run, dict) else None
    if not isinstance(run_id, str):
        return None
    match job:
        case {"namespace": str(namespace), "name": str(name)}:
            known = job_name(namespace, name)
            return {"run_id": run_id, "job_id": ids.asset_id(tenant, known), "job": known}
    return {"run_id": run_id, "job_id": None, "job": None}


def _stamp(at: datetime | None) -> str | None:
    return None if at is None else stamp(at)
