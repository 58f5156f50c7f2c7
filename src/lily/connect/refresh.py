"""A run of a recipe that a refresh was requested for: its start and its end are reported, its lease is renewed."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from lily.client import Lily
from lily.client.errors import LilyApiError
from lily.connect.run import Report

RENEW_SECONDS = 30.0  # a lease ends after two minutes
MAX_ERROR = 2_000


class RefreshRun(NamedTuple):
    """A requested refresh. One that was taken has a lease."""

    run_id: str
    lease: str | None = None


def refresh(lily: Lily, requested: RefreshRun, work: Callable[[], Report]) -> Report:
    """Does the work as this run. Whatever ends it is reported, also an interruption. Raises LilyApiError if the run is
    finished or held by another scraper, and what the work raises."""
    lily.start_refresh(requested.run_id, lease=requested.lease)
    try:
        with _renewed(lily, requested):
            report = work()
    except BaseException as error:
        described = str(error) or type(error).__name__
        lily.finish_refresh(requested.run_id, "failed", error=described[:MAX_ERROR], lease=requested.lease)
        raise
    counts = {name: getattr(report, name) for name in ("read", "dropped", "accepted", "edges", "rejected")}
    outcome = "failed" if report.rejected else "succeeded"
    lily.finish_refresh(requested.run_id, outcome, error=_rejections(report), counts=counts, lease=requested.lease)
    return report


def _rejections(report: Report) -> str:
    """As `lily ingest` exits with an error then."""
    if not report.rejected:
        return ""
    first = report.errors[0] if report.errors else {"asset": "", "description": "", "code": ""}
    return f"{report.rejected} rejected; the first: {first['asset']}: {first['description']} ({first['code']})"[
        :MAX_ERROR
    ]


@contextmanager
def _renewed(lily: Lily, requested: RefreshRun) -> Iterator[None]:
    if requested.lease is None:
        yield
        return
    done = threading.Event()
    renewing = threading.Thread(target=_renew, args=(lily, requested, done), name="lease", daemon=True)
    renewing.start()
    try:
        yield
    finally:
        done.set()
        renewing.join()


def _renew(lily: Lily, requested: RefreshRun, done: threading.Event) -> None:
    while not done.wait(RENEW_SECONDS):
        try:
            lily.start_refresh(requested.run_id, lease=requested.lease)
        except LilyApiError:
            # A lost lease cannot be recovered and an outage may pass: either way the report at the end shows it.
            continue
