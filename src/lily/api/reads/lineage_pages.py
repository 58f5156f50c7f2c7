"""One page of a lineage graph: the next edges of the walk, and the assets that they are the first to reach."""

from collections.abc import Collection, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from lily.api.calls import Call
from lily.store.postgres.graph.nodes import Node, read_nodes
from lily.store.postgres.graph.traversal import GraphTraversal, TraversalDirection, columns_of, has_edges
from lily.store.postgres.sessions import Row

Direction = Literal["downstream", "upstream", "both"]
Place = tuple[int, int, str, str, str]  # which way, and the place in that walk
DEPTH, DEEPEST = 3, 10_000  # how many edges are followed if nobody says how many, and at most
MOST_EDGES = 50_000  # in one page
_WAYS: tuple[TraversalDirection, ...] = ("downstream", "upstream")


@dataclass(frozen=True, slots=True)
class Question:
    start: str
    direction: Direction
    depth: int
    remove_deleted: bool
    columns: bool
    limit: int
    after: Place | None

    @property
    def ways(self) -> list[tuple[int, TraversalDirection]]:
        return [(number, way) for number, way in enumerate(_WAYS) if self.direction in (way, "both")]


@dataclass(slots=True)
class Page:
    """Assets with their depth, edges, and where the next page goes on; None where there is none."""

    question: Question
    nodes: dict[str, int] = field(default_factory=dict)
    edges: list[dict[str, Any]] = field(default_factory=list)
    next: Place | None = None
    _told: set[str] = field(default_factory=set)  # assets, on this page or one before
    _seen: set[tuple[str, str, str]] = field(default_factory=set)  # edges, where two walks may come upon the same

    def begin(self) -> None:
        self._tell(self.question.start, 0, earlier=self.question.after is not None)

    def take(self, number: int, way: TraversalDirection, depth: int, rows: Iterable[Row]) -> bool:
        """False where the page was full before the last of the rows."""
        question, both = self.question, self.question.direction == "both"
        near, far = (depth - 1, depth) if way == "downstream" else (1 - depth, -depth)
        for here, there, kind, propagates, masking in rows:
            from_id, to_id = (here, there) if way == "downstream" else (there, here)
            if both and (from_id, to_id, kind) in self._seen:
                continue  # it lies on a circle, and the other way has told it
            place: Place = (number, depth, here, there, kind)
            earlier = question.after is not None and place <= question.after
            if not earlier:
                if len(self.edges) == question.limit:
                    return False
                self.edges.append(
                    {
                        "from": from_id,
                        "to": to_id,
                        "relationship_type": kind,
                        "propagates": propagates,
                        "masking": masking,
                    }
                )
                self.next = place
            if both:
                self._seen.add((from_id, to_id, kind))
            self._tell(here, near, earlier=earlier)
            self._tell(there, far, earlier=earlier)
        return True

    def _tell(self, asset: str, depth: int, *, earlier: bool) -> None:
        if asset not in self._told:
            self._told.add(asset)
            if not earlier:
                self.nodes[asset] = depth


async def page_of(call: Call, question: Question) -> Page:
    """Walks from the start to where the page before ended, and on until the page is full."""
    database, page = call.services.database, Page(question)
    columns = await columns_of(database, call.tenant, question.start) if question.columns else []
    page.begin()
    for number, way in question.ways:
        traversal = GraphTraversal(database, call.tenant, way, skip_deleted=question.remove_deleted)
        async with aclosing(traversal.edges({question.start, *columns}, question.depth)) as chunks:
            async for depth, rows in chunks:
                if not page.take(number, way, depth, rows):
                    return page
    page.next = None
    return page


async def described(call: Call, ids: Collection[str]) -> dict[str, Node]:
    """What is known of the assets: from PostgreSQL, and from the lake what only the lake knows, or knows better."""
    found = await read_nodes(call.services.database, call.tenant, list(ids))
    lacking = [asset for asset in ids if asset not in found or found[asset].awaits_lake]
    if lacking:
        for asset, stored in (await call.services.catalogue.find_many(call.tenant, lacking)).items():
            view = stored.view
            found[asset] = Node(
                stored.qualified_name,
                view["attributes"]["name"],
                view["entity_type"] or None,
                view["is_deleted"],
                tuple(view["attributes"]["tags"]),
            )
    return found


async def is_known(call: Call, asset: str) -> bool:
    """Whether there is such an asset, or ever was an edge of it."""
    return bool(await described(call, [asset])) or await has_edges(call.services.database, call.tenant, asset)
