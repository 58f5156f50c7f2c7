"""Pages of a lineage graph: the next edges of the traversal, and the assets that these edges reach first."""

from collections.abc import Collection, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from lily.api.calls import Call
from lily.lineage.tag_rules import TagRules
from lily.model.assets import NO_DERIVED_TAGS
from lily.store.postgres.graph.nodes import Node, read_nodes, with_derived_tags
from lily.store.postgres.graph.placeholders import named_ends
from lily.store.postgres.graph.traversal import GraphTraversal, TraversalDirection, columns_of, has_edges
from lily.store.postgres.sessions import Row

Direction = Literal["downstream", "upstream", "both"]
LineagePosition = tuple[int, int, str, str, str]  # direction (index of _DIRECTIONS), depth, near asset, far asset, type
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
    edges: list[dict[str, Any]] = field(default_factory=list)
    next: LineagePosition | None = None
    _reached: set[str] = field(default_factory=set)  # assets, on this page or one before
    _seen: set[tuple[str, str, str]] = field(default_factory=set)  # edges, if both directions are followed

    def begin(self) -> None:
        self._reach(self.request.start, 0, earlier=self.request.after is not None)

    def add(self, number: int, direction: TraversalDirection, depth: int, rows: Iterable[Row]) -> bool:
        """False if the page was full before the last row."""
        request, both = self.request, self.request.direction == "both"
        near, far = (depth - 1, depth) if direction == "downstream" else (1 - depth, -depth)
        for here, there, kind, propagates, masking, assumed in rows:
            from_id, to_id = (here, there) if direction == "downstream" else (there, here)
            if both and (from_id, to_id, kind) in self._seen:
                continue  # it is part of a cycle, and the other direction has listed it
            position: LineagePosition = (number, depth, here, there, kind)
            earlier = request.after is not None and position <= request.after
            if not earlier:
                if len(self.edges) == request.limit:
                    return False
                self.edges.append(
                    {
                        "from": from_id,
                        "to": to_id,
                        "relationship_type": kind,
                        "propagates": propagates,
                        "masking": masking,
                        "assumed": assumed,
                    }
                )
                self.next = position
            if both:
                self._seen.add((from_id, to_id, kind))
            self._reach(here, near, earlier=earlier)
            self._reach(there, far, earlier=earlier)
        return True

    def _reach(self, asset: str, depth: int, *, earlier: bool) -> None:
        if asset not in self._reached:
            self._reached.add(asset)
            if not earlier:
                self.nodes[asset] = depth


async def page_of(call: Call, request: LineageRequest) -> Page:
    """Traverses the graph from the start, skips what earlier pages had, and stops when the page is full."""
    database, page = call.services.database, Page(request)
    columns = await columns_of(database, call.tenant, request.start) if request.columns else []
    page.begin()
    for number, direction in request.directions:
        traversal = GraphTraversal(database, call.tenant, direction, skip_deleted=request.remove_deleted)
        async with aclosing(traversal.edges({request.start, *columns}, request.depth)) as chunks:
            async for depth, rows in chunks:
                if not page.add(number, direction, depth, rows):
                    return page
    page.next = None
    return page


async def described(call: Call, ids: Collection[str]) -> dict[str, Node]:
    """The known assets among these: from PostgreSQL, and from the lake those that PostgreSQL lacks or has in part. And
    the placeholders, which have a name and the tags that reach them."""
    rules = await call.services.tag_rules.get(call.tenant)
    nodes = await read_nodes(call.services.database, call.tenant, list(ids), rules.protective)
    parents = {asset: node.parent for asset, node in nodes.items() if not node.awaits_lake}
    derived = await call.services.reader.derived_tags(call.tenant, rules, parents) if parents else {}
    for asset, tags in derived.items():
        if tags is not NO_DERIVED_TAGS:  # as for nearly all
            nodes[asset] = with_derived_tags(nodes[asset], tags, rules.protective)
    lacking = [asset for asset in ids if asset not in nodes or nodes[asset].awaits_lake]
    if lacking:
        for asset, stored in (await call.services.catalogue.find_many(call.tenant, lacking)).items():
            view = stored.view
            nodes[asset] = Node(
                stored.qualified_name,
                view["attributes"]["name"],
                view["entity_type"] or None,
                view["is_deleted"],
                tuple(view["tags"]["effective"]),
                at_risk=view["at_risk"],
            )
        await _add_placeholders(call, nodes, rules, [asset for asset in lacking if asset not in nodes])
    return nodes


async def _add_placeholders(call: Call, nodes: dict[str, Node], rules: TagRules, unknown: Collection[str]) -> None:
    names = await named_ends(call.services.database, call.tenant, unknown) if unknown else {}
    derived = await call.services.reader.derived_tags(call.tenant, rules, dict.fromkeys(names)) if names else {}
    for asset, name in names.items():
        nodes[asset] = with_derived_tags(Node(name, placeholder=True), derived[asset], rules.protective)


async def is_known(call: Call, asset: str) -> bool:
    """Whether the asset exists, or ever had an edge."""
    return bool(await described(call, [asset])) or await has_edges(call.services.database, call.tenant, asset)
