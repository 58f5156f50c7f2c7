"""Tenant flood: a tenant's latency at 100 events/s while another one floods the hot lane, against the same alone.

The tenant that is measured sends tracers only (see `tracer.py`), 100 per second. First nothing else happens; then a
generator process sends 20,000 changes per second of another tenant into the same topic, which is more than the hot lane
takes on two cores, so its backlog grows until the window ends. Between the windows everything is applied, published and
stored in the lake. How long the rest of the flood takes after it ended is reported: if no time, it was no flood.
"""

from bench.findings import Finding, Outcome, Round, at_most, column, percentile, ratios
from bench.run import Run
from bench.stack import BenchStack
from bench.steady import steady
from bench.tenants import tenant
from bench.tracer import Tracer


def measure(run: Run) -> Outcome:
    sizes = run.sizes
    stack = run.filled(sizes.pool)
    with tenant(stack, "quiet") as made:
        run.say("warming up")
        _flooded(run, stack, made.name)
        rounds = [_round(run, stack, made.name) for _ in run.rounds(sizes.flood_rounds)]
    flood = f"while another tenant sends {sizes.tenant_flood_rate:,}/s"
    what = f"hot lane p99 of a tenant at 100 events/s {flood}"
    after = column(rounds, "flooded_applied_after")
    findings = [
        Finding(what=what, against="alone", goal=at_most(2), values=ratios(rounds, "flooded_p99", "quiet_p99")),
        Finding(what=what, unit="s", values=column(rounds, "flooded_p99")),
        Finding(what="the same: p50", unit="s", values=column(rounds, "flooded_p50")),
        Finding(what="hot lane p99 of a tenant at 100 events/s, alone", unit="s", values=column(rounds, "quiet_p99")),
        Finding(what="the end of the flood to all of it applied", unit="s", values=after),
    ]
    detail = {"flood_per_second": sizes.tenant_flood_rate, "seconds": sizes.flood_seconds, "assets": sizes.pool}
    return Outcome(findings, rounds, detail)


def _round(run: Run, stack: BenchStack, name: str) -> Round:
    stack.settle_lake()
    run.say("alone")
    alone = Tracer(stack.kafka, stack.database_url, run.sizes.flood_seconds, name).latencies()
    run.say("beside a flood")
    return {"quiet_p50": percentile(alone, 50), "quiet_p99": percentile(alone, 99), **_flooded(run, stack, name)}


def _flooded(run: Run, stack: BenchStack, name: str) -> Round:
    sizes = run.sizes
    stack.settle_lake()
    seen = steady(stack, pool=sizes.pool, rate=sizes.tenant_flood_rate, seconds=sizes.flood_seconds, traced=name)
    applied = stack.wait_applied(stack.ends())
    stack.settle()
    return {
        "flooded_p50": percentile(seen.latencies, 50),
        "flooded_p99": percentile(seen.latencies, 99),
        "flooded_worst": max(seen.latencies),
        "flooded_applied_after": applied - seen.load["ended"],
        "load": seen.load,
    }
