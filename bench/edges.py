"""Edges: writes per second through POST /lineage, in bodies of a thousand, until readable and propagated.

Four connections send the edges of a new tree of known assets (see `propagation.py`), shuffled. The clock starts with
the first byte and stops when the pipeline has applied them all, the relay has published the changes, and propagation
has read those. First the root has no tag, so that there is nothing to propagate; then it has one, so that every edge
conducts it, and a round counts only if all assets have it.
"""

import random

import orjson

from bench import graphs
from bench.findings import BenchError, Finding, Outcome, Round, at_least, column
from bench.http_load import request, send_all
from bench.run import Run
from bench.tenants import BenchTenant, tenant
from lily.bus.topics import LINEAGE_INTAKE

CONNECTIONS = 4
BODY = 1_000
PATIENCE = 300.0
_DERIVED = "select count(*) from derived_tags where tenant_id = %s and kind = 'propagated'"
_EDGES = "select count(*) from edges where tenant_id = %s and not is_deleted"


def measure(run: Run) -> Outcome:
    count = run.sizes.edge_writes
    rounds = [_round(run) for _ in run.rounds()]
    goal, unit = at_least(15_000), "edges/s"
    what = f"POST /lineage in bodies of {BODY:,}"
    findings = [
        Finding(what=f"{what} until applied and propagated", goal=goal, unit=unit, values=column(rounds, "plain")),
        Finding(what="the same, each carrying a tag", goal=goal, unit=unit, values=column(rounds, "tagged")),
        Finding(what=f"{what} until readable", unit=unit, values=column(rounds, "plain_applied")),
        Finding(what=f"{what}: accepted", unit=unit, values=column(rounds, "plain_accepted")),
    ]
    return Outcome(findings, rounds, {"edges": count, "connections": CONNECTIONS, "edges_a_body": BODY})


def _round(run: Run) -> Round:
    found: Round = {}
    for kind in ("plain", "tagged"):
        with tenant(run.stack, "edges") as made:
            found |= {f"{kind}{name}": value for name, value in _write(run, made, tagged=kind == "tagged").items()}
    return found


def _write(run: Run, made: BenchTenant, *, tagged: bool) -> Round:
    stack = made.stack
    run.say("a tree's assets")
    below = run.sizes.edge_writes * graphs.CROSS // (graphs.CROSS + 1)
    names, links = graphs.tree("tree", below)
    graphs.load(made, names, [], in_graph=False)
    if tagged:
        graphs.tag(made, names[:1])
    random.shuffle(links)
    bodies = [_body(made, links[start : start + BODY]) for start in range(0, len(links), BODY)]
    stack.wait_travelled()
    run.say(f"{len(links):,} edges{' that carry a tag' if tagged else ''}")
    sent = send_all(stack.url, bodies, connections=CONNECTIONS, seconds=PATIENCE)
    applied = stack.wait_applied(stack.ends(LINEAGE_INTAKE), LINEAGE_INTAKE)
    travelled = stack.wait_travelled()
    _require(made, _EDGES, len(links), "edges were stored")
    _require(made, _DERIVED, below if tagged else 0, "assets have the tag")
    began, count = sent["began"], len(links)
    return {
        "": count / (travelled - began),
        "_applied": count / (applied - began),
        "_accepted": sent["per_second"] * count / len(bodies),
        "_run": sent,
    }


def _body(made: BenchTenant, links: list[graphs.Link]) -> str:
    edges = [{"from": start, "to": end, "relationship_type": graphs.TYPE} for start, end in links]
    headers = made.headers | {"content-type": "application/json"}
    return request("POST", "/lineage", headers, orjson.dumps({"edges": edges}).decode())


def _require(made: BenchTenant, query: str, wanted: int, what: str) -> None:
    row = made.stack.database.execute(query.encode(), [made.name]).fetchone()
    if row is None or row[0] != wanted:
        raise BenchError(f"{row[0] if row else 0:,} of {wanted:,} {what}")
