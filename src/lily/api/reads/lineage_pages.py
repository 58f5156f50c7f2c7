"""Pages of a lineage graph: the next edges of the traversal, and the assets that these edges reach first."""

from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, cast

from lily.api.calls import Call
from lily.store.postgres.graph.traversal import GraphTraversal, TraversalDirection, columns_of
from lily.store.postgres.sessions import Row

Direction = Literal["downstream", "upstream", "both"]
LineagePosition = tuple[int, int, str, str, str]  # direction (index of _DIRECTIONS), depth, near asset, far asset, type
LineageEdge = tuple[str, str, str, bool, bool, bool]  # from, to, type, propagates, masking, assumed
DEFAULT_DEPTH, MAX_DEPTH = 3, 10_000  # edges to follow
MAX_EDGES = 50_000  # in one page
_DIRECTIONS: tuple[TraversalDirection, ...] = ("downstream", "upstream")


@dataclass(frozen=True, slots=True)
class LineageRequest:
    start: str
    direction: Direction
    depth: int
    remove_deleted: bool
    columns: bool
    limit: int
    after: LineagePosition | None

    @property
    def directions(self) -> list[tuple[int, TraversalDirection]]:
        return [(number, name) for number, name in enumerate(_DIRECTIONS) if self.direction in (name, "both")]


@dataclass(slots=True)
class Page:
    """Assets with their depth, edges, and the position after which the next page begins; None on the last page."""

    request: LineageRequest
    nodes: dict[str, int] = field(default_factory=dict)
    edges: list[LineageEdge] = field(default_factory=list)
    next: LineagePosition | None = None
    _earlier: set[str] = field(default_factory=set)  # assets that an earlier page reached
    _seen: set[tuple[str, str, str]] = field(default_factory=set)  # edges, if both directions are followed

    def begin(self) -> None:
        self._reach(self.request.start, 0, earlier=self.request.after is not None)

    def add(self, number: int, direction: TraversalDirection, depth: int, rows: list[Row]) -> bool:
        """False if the page was full before the last row."""
        request = self.request
        fits = len(self.edges) + len(rows) <= request.limit
        if rows and fits and request.after is None and request.direction == "downstream":
            self._add_all(number, depth, rows)
            return True
        return self._add_some(number, direction, depth, rows)

    def _add_all(self, number: int, depth: int, rows: Sequence[Row]) -> None:
        """As `_add_some`, if no row has to be left out: the usual case, and graphs are large."""
        self.edges += cast("Sequence[LineageEdge]", rows)
        self.next = (number, depth, *rows[-1][:3])
        nodes, near = self.nodes, depth - 1
        for row in rows:
            if row[0] not in nodes:
                nodes[row[0]] = near
            if row[1] not in nodes:
                nodes[row[1]] = depth

    def _add_some(self, number: int, direction: TraversalDirection, depth: int, rows: Iterable[Row]) -> bool:
        request, both, seen, edges = self.request, self.request.direction == "both", self._seen, self.edges
        downstream, after, limit = direction == "downstream", request.after, request.limit
        near, far = (depth - 1, depth) if downstream else (1 - depth, -depth)
        for here, there, kind, *stated in rows:
            from_id, to_id = (here, there) if downstream else (there, here)
            if both and (from_id, to_id, kind) in seen:
                continue  # it is part of a cycle, and the other direction has listed it
            earlier = after is not None and (number, depth, here, there, kind) <= after
            if not earlier:
                if len(edges) == limit:
                    return False
                edges.append((from_id, to_id, kind, *stated))
                self.next = (number, depth, here, there, kind)
            if both:
                seen.add((from_id, to_id, kind))
            self._reach(here, near, earlier=earlier)
            self._reach(there, far, earlier=earlier)
        return True

    def assets(self) -> Collection[str]:
        """All that the page mentions: an edge may lead to an asset of an earlier page."""
        if self.request.after is None:
            return self.nodes.keys()
        return {self.request.start, *self.nodes, *(end for edge in self.edges for end in edge[:2])}

    def _reach(self, asset: str, depth: int, *, earlier: bool) -> None:
        if asset in self.nodes or asset in self._earlier:
            return
        if earlier:
            self._earlier.add(asset)
        else:
            self.nodes[asset] = depth


async def page_of(call: Call, request: LineageRequest) -> Page:
    """Traverses the graph from the start, skips what earlier pages had, and stops when the page is full."""
    page = Page(request)
    async with aclosing(fill(call, page)) as parts:
        async for _ in parts:
            pass
    return page


async def fill(call: Call, page: Page) -> AsyncGenerator[None, None]:
    """As `page_of`, and yields whenever the page has got more."""
    database, request = call.services.database, page.request
    columns = await columns_of(database, call.tenant, request.start) if request.columns else []
    page.begin()
    for number, direction in request.directions:
        traversal = GraphTraversal(database, call.tenant, direction, request.limit, skip_deleted=request.remove_deleted)
        async with aclosing(traversal.edges({request.start, *columns}, request.depth)) as chunks:
            async for depth, rows in chunks:
                if not page.add(number, direction, depth, rows):
                    return
                yield
    page.next = None
