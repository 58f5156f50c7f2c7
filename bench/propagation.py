"""Propagation: derived tags stored per second, against the bare recursive query and networkx with an INSERT each.

Propagation is called directly, on a connection of the pipeline's role, with the one tagged asset marked; the clock
covers its whole transaction, with the outbox and the receipt. The graph is a tree with ten children per asset and a
tenth more edges across. The other sides (`bare_reach.py`) have the same PostgreSQL and the same edges, run in the
same round and store less. A retraction removes the tag from the root again. Bytes are what the table of derived tags
and its indexes grew by: when one of many assets upstream of the root is tagged, and when all of them are, a tenth of
them at a time. The chain, the hub and the bytes are measured once.
"""

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

from bench import graphs
from bench.bare_reach import BareReach, graph_of
from bench.findings import BenchError, Finding, Outcome, Round, at_least, at_most, column, ratios
from bench.graphs import Link
from bench.run import Run
from bench.tenants import BenchTenant, tenant
from lily.embedded.bootstrap import url_for_role
from lily.embedded.state import load
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.store.postgres.propagation.propagator import Propagator

ROLE = "lily_pipeline"
PATIENCE_MS = 300_000  # of one statement
BATCHES = 10  # in which the many origins come
HUB_EDGES = 20  # added one by one, each a propagation of its own


class Tree(NamedTuple):
    root: str
    below: int
    links: Sequence[Link]


class Stage(NamedTuple):
    tenant: BenchTenant
    propagator: Propagator
    bare: BareReach


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    with _stage(run) as stage:
        small, large = (_tree(run, stage, count) for count in (sizes.reached, sizes.reached_many))
        _travel(stage, small)  # once before it counts
        rounds = [_round(run, stage, small, large) for _ in run.rounds()]
        rounds[0] |= _bytes(run, stage, large) | _chain(run, stage) | _hub(run, stage)
    detail: dict[str, float] = {"assets": sizes.reached, "many_assets": sizes.reached_many, "origins": sizes.origins}
    return Outcome(_findings(rounds, run), rounds, detail)


@contextmanager
def _stage(run: Run) -> Iterator[Stage]:
    stack = run.stack
    url = url_for_role(stack.database_url, ROLE, load(stack.data_dir).passwords[ROLE])
    limit = quote(f"-c statement_timeout={PATIENCE_MS}")
    with tenant(stack, "propagation") as made:
        propagator, bare = Propagator(f"{url}{'&' if '?' in url else '?'}options={limit}"), BareReach(made)
        try:
            yield Stage(made, propagator, bare)
        finally:
            propagator.close()
            bare.close()


def _tree(run: Run, stage: Stage, count: int) -> Tree:
    run.say(f"a tree of {count:,}")
    names, links = graphs.tree(f"tree{count}", count)
    graphs.load(stage.tenant, names, links)
    return Tree(names[0], count, links)


def _round(run: Run, stage: Stage, small: Tree, large: Tree) -> Round:
    found: Round = {}
    for name, tree in (("few", small), ("many", large)):
        run.say(f"{tree.below:,} reached, and back")
        told = _travel(stage, tree)
        run.say(f"the recursive query, {tree.below:,}")
        bare = _complete(tree, *stage.bare.recursive(tree.root))
        found |= {f"{name}_stored": told["stored"], f"{name}_retracted": told["retracted"], f"{name}_bare": bare}
    run.say("networkx and an INSERT each")
    each = stage.bare.insert_each(graph_of(stage.tenant, small.links), small.root)
    return found | {"few_each": _complete(small, *each)}


def _travel(stage: Stage, tree: Tree) -> Round:
    """Derived tags stored a second, and retracted a second."""
    stage.tenant.stack.settle()  # the relay has published what came before
    stage.tenant.stack.database.execute("vacuum analyze derived_tags")
    graphs.tag(stage.tenant, [tree.root])
    stored = _marked(stage, tree.root)
    graphs.untag(stage.tenant, [tree.root])
    retracted = _marked(stage, tree.root)
    return {"stored": _complete(tree, *stored), "retracted": _complete(tree, *retracted)}


def _marked(stage: Stage, *names: str) -> tuple[int, float]:
    """How many assets propagation reached from the marked ones, and how many a second."""
    marks = Marks(assets=[AssetMark(stage.tenant.id(name), number) for number, name in enumerate(names, 1)])
    began = time.perf_counter()
    reached = stage.propagator.propagate(stage.tenant.name, marks).reached
    return reached, reached / (time.perf_counter() - began)


def _complete(tree: Tree, reached: int, rate: float) -> float:
    """The rate. Raises BenchError unless everything below the root was reached."""
    if reached != tree.below:
        raise BenchError(f"{reached:,} of {tree.below:,} assets were reached")
    return rate


def _bytes(run: Run, stage: Stage, tree: Tree) -> Round:
    count = run.sizes.origins
    origins = [f"origins.o{number}" for number in range(count)]
    graphs.load(stage.tenant, origins, [(origin, tree.root) for origin in origins])
    share = max(count // BATCHES, 1)
    batches = [origins[start : start + share] for start in range(0, count, share)]
    run.say("bytes with one origin")
    one = _stored_by(stage, [origins[:1]])
    run.say(f"bytes with {count:,} origins")
    return {"bytes_one_origin": one, "bytes_many_origins": _stored_by(stage, batches)}


def _stored_by(stage: Stage, batches: Sequence[Sequence[str]]) -> int:
    """The bytes that derived tags grew by when these origins were tagged, batch by batch."""
    before = _size(stage)
    for batch in batches:
        graphs.tag(stage.tenant, batch)
        _marked(stage, *batch)
    grown = _size(stage, compacted=False) - before
    everyone = [origin for batch in batches for origin in batch]
    graphs.untag(stage.tenant, everyone)
    _marked(stage, *everyone)
    return grown


def _size(stage: Stage, *, compacted: bool = True) -> int:
    database = stage.tenant.stack.database
    if compacted:
        database.execute("vacuum full derived_tags")
    row = database.execute("select pg_total_relation_size('derived_tags')").fetchone()
    assert row
    return int(row[0])


def _chain(run: Run, stage: Stage) -> Round:
    length = run.sizes.chain
    run.say(f"a chain of {length:,}")
    names = [f"chain.c{number}" for number in range(length + 1)]
    links = list(pairwise(names))
    graphs.load(stage.tenant, names, links)
    told = _travel(stage, Tree(names[0], length, links))
    return {"chain_seconds": length / told["stored"], "chain_retraction_seconds": length / told["retracted"]}


def _hub(run: Run, stage: Stage) -> Round:
    """What one more edge from a tagged hub takes, and one more into it."""
    children = run.sizes.hub
    run.say(f"a hub of {children:,}")
    below = [f"hub.h{number}" for number in range(children)]
    others = [f"beside.b{number}" for number in range(2 * HUB_EDGES)]
    graphs.load(stage.tenant, ["hub", *below], [("hub", name) for name in below])
    graphs.load(stage.tenant, others, [], in_graph=False)
    graphs.tag(stage.tenant, ["hub"])
    _marked(stage, "hub")
    leaving = [_edge_added(stage, ("hub", name), 1) for name in others[:HUB_EDGES]]
    entering = [_edge_added(stage, (name, "hub"), 0) for name in others[HUB_EDGES:]]
    return {"hub_edge_from_ms": statistics.median(leaving), "hub_edge_into_ms": statistics.median(entering)}


def _edge_added(stage: Stage, edge: Link, reaches: int) -> float:
    graphs.link(stage.tenant, [edge])
    marks = Marks(edges=[EdgeMark(stage.tenant.id(edge[0]), stage.tenant.id(edge[1]), 1)])
    began = time.perf_counter()
    reached = stage.propagator.propagate(stage.tenant.name, marks).reached
    if reached != reaches:
        raise BenchError(f"one more edge at the hub reached {reached} assets instead of {reaches}")
    return (time.perf_counter() - began) * 1000


def _findings(rounds: list[Round], run: Run) -> list[Finding]:
    sizes, found = run.sizes, list[Finding]()
    for name, count in (("few", sizes.reached), ("many", sizes.reached_many)):
        what, bare = f"derived tags stored, {count:,} reached", ratios(rounds, f"{name}_stored", f"{name}_bare")
        found += [
            Finding(what=what, against="the bare recursive query with INSERT … SELECT", goal=at_least(1), values=bare),
            Finding(what=what, unit="/s", values=column(rounds, f"{name}_stored")),
            Finding(what=f"the same, retracted, {count:,}", unit="/s", values=column(rounds, f"{name}_retracted")),
        ]
    each = ratios(rounds, "few_stored", "few_each")
    what = f"derived tags stored, {sizes.reached:,} reached"
    networkx = Finding(what=what, against="networkx descendants + one INSERT each", goal=at_least(20), values=each)
    return [networkx, *found, *_single_findings(rounds[:1], run)]


def _single_findings(once: list[Round], run: Run) -> list[Finding]:
    sizes = run.sizes
    bytes_of = f"bytes of derived tags, {sizes.origins:,} origins over {sizes.reached_many:,} assets"
    grown = ratios(once, "bytes_many_origins", "bytes_one_origin")
    chain, hub = f"a tag along a chain of {sizes.chain:,}", f"a tagged hub of {sizes.hub:,}"
    return [
        Finding(what=bytes_of, against="1 origin", goal=at_most(1.5), values=grown),
        Finding(what=chain, unit="s", values=column(once, "chain_seconds")),
        Finding(what=f"{chain}, retracted", unit="s", values=column(once, "chain_retraction_seconds")),
        Finding(what=f"one more edge from {hub}", unit="ms", values=column(once, "hub_edge_from_ms")),
        Finding(what=f"one more edge into {hub}", unit="ms", values=column(once, "hub_edge_into_ms")),
    ]
