"""Sends the statements of a run to Lily: assets with the bulk call, edges in between."""

import re
from collections.abc import Callable, Iterable, Iterator

from lily.client import BulkResult, Lily
from lily.client import Refused as RefusedByLily
from lily.connect.run import Report, Stated
from lily.model.errors import Problem
from lily.plugins import SourceEdge

EDGES = 1_000  # of one call; the API accepts 10,000
_EDGE_INDEX = re.compile(r"edges\.(\d+)(?:\.|$)")


class LilySink:
    """Repeating a run is harmless. An edge is stated as the token's user would state it."""

    def __init__(self, lily: Lily, wait: int | None = None) -> None:
        self._lily = lily
        self._wait = wait

    def send(self, stated: Iterable[Stated], report: Report, on_progress: Callable[[], None]) -> None:
        _Sending(self._lily, self._wait, report, on_progress).send(stated)


class _Sending:
    def __init__(self, lily: Lily, wait: int | None, report: Report, on_progress: Callable[[], None]) -> None:
        self._lily = lily
        self._wait = wait
        self._report = report
        self._on_progress = on_progress
        self._names: list[str] = []  # of the assets whose result is pending
        self._confirmed = 0  # assets before them
        self._seen = BulkResult()
        self._edges: list[SourceEdge] = []

    def send(self, stated: Iterable[Stated]) -> None:
        self._add(self._lily.ingest_many(self._bodies(stated), wait=self._wait, on_progress=self._add))
        self._send_edges()

    def _bodies(self, stated: Iterable[Stated]) -> Iterator[dict[str, object]]:
        for one in stated:
            if isinstance(one, SourceEdge):
                self._edges.append(one)
                if len(self._edges) >= EDGES:
                    self._send_edges()
            else:
                self._names.append(one.name)
                yield one.as_body()

    def _add(self, result: BulkResult) -> None:
        """`result` is cumulative: what is new in it concerns the pending assets."""
        self._report.accepted += result.accepted - self._seen.accepted
        self._report.rejected += result.rejected - self._seen.rejected
        for error in result.errors[len(self._seen.errors) :]:
            problem = Problem(error.code, error.description, error.entity)
            self._report.describe(problem, asset=self._names[error.row - self._confirmed - 1])
        self._seen = result
        self._confirmed += len(self._names)
        self._names = []
        self._on_progress()

    def _send_edges(self) -> None:
        edges, self._edges = self._edges, []
        while edges:
            try:
                self._lily.relate([edge.as_body() for edge in edges], wait=self._wait)
            except RefusedByLily as error:
                edges = self._without_refused(edges, error)
            else:
                self._report.edges += len(edges)
                self._on_progress()
                return

    def _without_refused(self, edges: list[SourceEdge], error: RefusedByLily) -> list[SourceEdge]:
        """Lily accepts all edges of a call or none, and names those that it refuses."""
        refused: dict[int, list[Problem]] = {}
        for problem in error.problems:
            if (found := _EDGE_INDEX.match(problem.entity)) is not None:
                refused.setdefault(int(found[1]), []).append(problem)
        if not refused:
            raise error
        for index, problems in refused.items():
            self._report.reject(*problems, asset=f"{edges[index].origin} -> {edges[index].target}")
        return [edge for index, edge in enumerate(edges) if index not in refused]


class NoSink:
    """For a dry run: everything is read and transformed, nothing is sent."""

    def send(self, stated: Iterable[Stated], report: Report, on_progress: Callable[[], None]) -> None:
        for one in stated:
            if isinstance(one, SourceEdge):
                report.edges += 1
            else:
                report.accepted += 1
            on_progress()
