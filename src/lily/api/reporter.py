"""A line in the log and a measurement for every request."""

import structlog
from prometheus_client import Histogram

log = structlog.get_logger()


class Reporter:
    """Tells method, route, status, time and correlation id; never a path, a query or a header, which hold secrets."""

    def __init__(self, requests: Histogram) -> None:
        self._requests = requests
        self._kinds: dict[
            tuple[str, str, int], Histogram
        ] = {}  # a label look-up of the library costs more than a dict's

    def report(self, method: str, route: str, status: int, seconds: float, correlation: str) -> None:
        kind = self._kinds.get((method, route, status))
        if kind is None:
            kind = self._kinds[method, route, status] = self._requests.labels(method, route, str(status))
        kind.observe(seconds)
        if not route.startswith("/health/"):  # a probe every second would drown the log
            ms = round(seconds * 1000, 2)
            log.info("request", method=method, route=route, status=status, ms=ms, correlation=correlation)
