"""Runs as the API shows them."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from lily.intake.openlineage.naming import job_name
from lily.model import ids
from lily.model.clock import stamp
from lily.store.postgres.graph.nodes import Node
from lily.store.postgres.runs.reader import StoredRun

Facets = Mapping[str, list[Any] | None]  # by place: the clock and the facet; None if there is none


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
    datasets = _Datasets(run.facets, nodes, denied)
    return {
        "facets": facets_at(run.facets, "run:"),
        "job_facets": facets_at(run.facets, "job:"),
        "inputs": [datasets.shown("inputs", asset) for asset in sorted(run.inputs)],
        "outputs": [datasets.shown("outputs", asset) for asset in sorted(run.outputs)],
    }


def design(facets: Facets, nodes: Mapping[str, Node], denied: Collection[str]) -> dict[str, Any]:
    """The facets of events without a run: of a dataset or a job, and of the job's datasets that have any."""
    datasets = _Datasets(facets, nodes, denied)
    return {
        "facets": facets_at(facets, "dataset:") | facets_at(facets, "job:"),
        "inputs": [datasets.shown("inputs", asset) for asset in sorted(datasets_of(facets, "inputs"))],
        "outputs": [datasets.shown("outputs", asset) for asset in sorted(datasets_of(facets, "outputs"))],
    }


def datasets_of(facets: Facets, *roles: str) -> set[str]:
    """The ids of the inputs and outputs that have facets."""
    places = (place.split(":", 2) for place in facets)
    return {place[1] for place in places if place[0] in (roles or ("inputs", "outputs"))}


def own_facets(facets: Facets) -> Facets:
    """Without those of inputs and outputs."""
    return {place: found for place, found in facets.items() if place.split(":", 1)[0] in {"dataset", "job"}}


def facets_at(facets: Facets, prefix: str) -> dict[str, Any]:
    return {
        place.removeprefix(prefix): found[1]
        for place, found in facets.items()
        if found is not None and found[1] is not None and place.startswith(prefix)
    }


class _Datasets(NamedTuple):
    facets: Facets
    nodes: Mapping[str, Node]
    denied: Collection[str]

    def shown(self, role: str, asset: str) -> dict[str, Any]:
        if asset in self.denied:
            return {"metadata_id": asset, "qualified_name": None, "facets": {}, "redacted": True}
        name, facets = self.nodes.get(asset, Node()).qualified_name, facets_at(self.facets, f"{role}:{asset}:")
        return {"metadata_id": asset, "qualified_name": name, "facets": facets, "redacted": False}


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
