"""One log line and one observation of the latency metric per request."""

import asyncio
import logging
import sys

import orjson
from prometheus_client import Histogram

from lily.model import clock


class RequestLog:
    """Logs method, route, status, time and correlation id; never a path, a query or a header, which can hold secrets.

    The lines have the format of all other log lines. They are built here because the logger would add a tenth to the
    cost of a plain read, and those of one iteration of the event loop are written together.
    """

    def __init__(self, requests: Histogram, level: str) -> None:
        self._requests = requests
        self._histograms: dict[tuple[str, str, int | str], Histogram] = {}  # cheaper than the library's look-up
        self._silent = logging.getLevelNamesMapping().get(level.upper(), logging.INFO) > logging.INFO
        self._lines: list[tuple[str, str, int | str, float, str]] = []

    def report(self, method: str, route: str, status: int | str, seconds: float, correlation: str) -> None:
        histogram = self._histograms.get((method, route, status))
        if histogram is None:
            histogram = self._histograms[method, route, status] = self._requests.labels(method, route, str(status))
        histogram.observe(seconds)
        if self._silent or route.startswith("/health/"):  # a probe every second would drown the log
            return
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._write)
        self._lines.append((method, route, status, round(seconds * 1000, 2), correlation))

    def _write(self) -> None:
        lines, self._lines, now = self._lines, [], clock.now()
        for method, route, status, ms, correlation in lines:
            line: dict[str, object] = {"event": "request", "method": method, "route": route, "status": status, "ms": ms}
            line |= {"correlation": correlation, "part": "api", "level": "info", "time": now}
            sys.stderr.buffer.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
        sys.stderr.buffer.flush()
