"""What is known of the assets of a lineage graph."""

import asyncio
from collections.abc import Collection
from contextlib import aclosing
from itertools import islice

from lily.api.calls import Call
from lily.api.reads.lineage_pages import LineageRequest, Page, fill
from lily.lineage.tag_rules import TagRules
from lily.store.postgres.graph.nodes import Node, read_nodes, with_derived_tags
from lily.store.postgres.graph.placeholders import named_ends
from lily.store.postgres.graph.traversal import has_edges

AT_ONCE = 2_000  # nodes that are worth a query while the traversal goes on


async def described(call: Call, ids: Collection[str]) -> dict[str, Node]:
    """The known assets among these: from PostgreSQL, and from the lake those that PostgreSQL lacks or has in part. And
    the placeholders, which have a name and the tags that reach them."""
    rules = await call.services.tag_rules.get(call.tenant)
    nodes = await read_nodes(call.services.database, call.tenant, ids, rules)
    await _add_lacking(call, nodes, rules, ids)
    return nodes


async def described_page(call: Call, request: LineageRequest) -> tuple[Page, dict[str, Node]]:
    """A page, and `described` of all that it mentions. The nodes of a large graph are read while it is traversed, over
    one more connection."""
    rules, page = await call.services.tag_rules.get(call.tenant), Page(request)
    reading = _Reading(call, rules)
    try:
        async with aclosing(fill(call, page)) as parts:
            async for _ in parts:
                reading.go_on(page)
        nodes = await reading.rest(page)
    finally:
        reading.end()
    await _add_lacking(call, nodes, rules, page.assets())
    return page, nodes


async def is_known(call: Call, asset: str) -> bool:
    """Whether the asset exists, or ever had an edge."""
    return bool(await described(call, [asset])) or await has_edges(call.services.database, call.tenant, asset)


class _Reading:
    """The nodes of a page that is not yet complete, by one query at a time."""

    def __init__(self, call: Call, rules: TagRules) -> None:
        self._call, self._rules = call, rules
        self._tasks: list[asyncio.Task[dict[str, Node]]] = []
        self._begun = 0  # nodes of the page

    def go_on(self, page: Page) -> None:
        """Begins to read the new nodes, if there are many and no query is running."""
        if len(page.nodes) - self._begun >= AT_ONCE and (not self._tasks or self._tasks[-1].done()):
            new = list(islice(page.nodes, self._begun, None))
            self._begun = len(page.nodes)
            task = asyncio.create_task(self._read(new))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # another may be raised first
            self._tasks.append(task)

    async def rest(self, page: Page) -> dict[str, Node]:
        """All nodes of what the complete page mentions."""
        begun = set(islice(page.nodes, self._begun))
        nodes = await self._read([asset for asset in page.assets() if asset not in begun])
        for task in self._tasks:
            nodes |= await task
        return nodes

    def end(self) -> None:
        for task in self._tasks:
            task.cancel()  # does nothing to one that is done

    async def _read(self, assets: Collection[str]) -> dict[str, Node]:
        if not assets:
            return {}
        return await read_nodes(self._call.services.database, self._call.tenant, assets, self._rules)


async def _add_lacking(call: Call, nodes: dict[str, Node], rules: TagRules, ids: Collection[str]) -> None:
    lacking = [asset for asset in ids if asset not in nodes or nodes[asset].awaits_lake]
    if not lacking:
        return
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


async def _add_placeholders(call: Call, nodes: dict[str, Node], rules: TagRules, unknown: Collection[str]) -> None:
    names = await named_ends(call.services.database, call.tenant, unknown) if unknown else {}
    derived = await call.services.reader.derived_tags(call.tenant, rules, dict.fromkeys(names)) if names else {}
    for asset, name in names.items():
        nodes[asset] = with_derived_tags(Node(name, placeholder=True), derived[asset], rules.protective)
