"""Jobs that read and write datasets, and their runs, as OpenLineage reports them."""

from typing import Any

from lily.client import parsing
from lily.client.call import Call, path
from lily.client.results import Page

_JOBS, _RUNS = "jobs", "runs"


def job(id_or_name: str) -> Call[dict[str, Any]]:
    """Returns a job with its last run: its state, when it ran, and why it failed if it did."""
    return Call("GET", path(_JOBS, id_or_name), parsing.one(dict))


def runs(id_or_name: str, *, page_size: int = 100) -> Call[Page[dict[str, Any]]]:
    """Iterates over the runs of a job, the last updated first."""
    return Call("GET", path(_JOBS, id_or_name, _RUNS), parsing.page_of(dict), {"limit": str(page_size)})


def facets(id_or_name: str) -> Call[dict[str, Any]]:
    """Returns the facets that events without a run have stated about a dataset or a job, kept as they came."""
    return Call("GET", path("metadata", id_or_name, "facets"), parsing.one(dict))


def run(run_id: str) -> Call[dict[str, Any]]:
    """Returns one run with its datasets, and the facets that are kept as they came."""
    return Call("GET", path(_RUNS, run_id), parsing.one(dict))
