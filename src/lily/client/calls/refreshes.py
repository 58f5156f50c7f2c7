"""Refreshes of data sources: their schedules, and the runs that scrapers take and report."""

from collections.abc import Mapping, Sequence
from typing import Any

from lily.client import parsing
from lily.client.call import Call, path
from lily.client.encoding import encoded
from lily.client.results import Page

_SCHEDULES, _RUNS = "refresh-schedules", "refresh-runs"

Object = dict[str, Any]


def refresh_schedules() -> Call[Page[Object]]:
    """Iterates over the refresh schedules, by data source."""
    return Call("GET", path(_SCHEDULES), parsing.page_of(dict))


def refresh_schedule(data_source: str) -> Call[Object]:
    """Returns one refresh schedule."""
    return Call("GET", path(_SCHEDULES, data_source), parsing.one(dict))


def set_refresh_schedule(
    data_source: str, *, every: str = "24h", timeout: str = "4h", enabled: bool = True
) -> Call[Object]:
    """Sets how often a data source is refreshed, how long a run may take, and whether it is refreshed at all. Needs the
    scope admin."""
    content = encoded({"every": every, "timeout": timeout, "enabled": enabled})
    return Call("PUT", path(_SCHEDULES, data_source), parsing.one(dict), content=content)


def reset_refresh_schedule(data_source: str) -> Call[Object]:
    """Sets a schedule back to the default. Needs the scope admin."""
    return Call("DELETE", path(_SCHEDULES, data_source), parsing.one(dict))


def request_refresh(data_source: str) -> Call[Object]:
    """Requests a refresh now, and returns the run. Raises Refused if one is not finished. Needs the scope admin."""
    # Sent twice, the second request would find the run of the first.
    return Call("POST", path(_SCHEDULES, data_source, "run"), parsing.one(dict), retryable=False)


def refresh_runs(
    *, data_source: str | None = None, state: str | None = None, page_size: int = 100
) -> Call[Page[Object]]:
    """Iterates over the runs, the newest first."""
    given = {"data_source": data_source, "state": state, "limit": str(page_size)}
    chosen = {name: value for name, value in given.items() if value is not None}
    return Call("GET", path(_RUNS), parsing.page_of(dict), chosen)


def refresh_run(run_id: str) -> Call[Object]:
    """Returns one run."""
    return Call("GET", path(_RUNS, run_id), parsing.one(dict))


def take_refresh(data_sources: Sequence[str] = (), *, wait: int | None = None) -> Call[Object]:
    """Takes the oldest run of these data sources that no scraper works on, and returns `{"run", "lease"}`: both None if
    there is none within `wait` seconds. Report its start again within two minutes to keep it."""
    content = encoded({"data_sources": list(data_sources)})
    return Call("POST", path(_RUNS, "take"), parsing.one(dict), content=content, wait=wait)


def start_refresh(run_id: str, *, lease: str | None = None) -> Call[Object]:
    """Reports that a run has started; with its lease, that it goes on."""
    return Call("POST", path(_RUNS, run_id, "start"), parsing.one(dict), content=encoded({"lease": lease}))


def finish_refresh(
    run_id: str,
    state: str,
    *,
    error: str = "",
    counts: Mapping[str, int] | None = None,
    lease: str | None = None,
) -> Call[Object]:
    """Reports that a run `succeeded` or `failed`."""
    content = encoded({"state": state, "error": error, "counts": dict(counts or {}), "lease": lease})
    return Call("POST", path(_RUNS, run_id, "finish"), parsing.one(dict), content=content)
