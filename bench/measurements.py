"""All measurements, in the order they are taken: each finds the catalogue as the ones before have filled it."""

from collections.abc import Callable
from typing import NamedTuple

from bench import (
    door,
    edges,
    enforce_postgres,
    flood,
    footprint,
    growth,
    hot_lane,
    http_servers,
    lake,
    lake_reads,
    latency,
    lineage_reads,
    notifications,
    opa,
    openlineage,
    policies,
    policy_checks,
    processor,
    propagation,
    reads,
    restricted_lists,
    search,
    soak,
    sql_lineage,
    tenant_flood,
    travel,
    webhooks,
)  # fmt: skip
from bench.findings import Outcome
from bench.run import Run


class Measurement(NamedTuple):
    name: str
    about: str
    measure: Callable[[Run], Outcome]
    module: str
    by_name_only: bool = False  # not part of a run that names nothing


def _measurement(name: str, about: str, measure: Callable[[Run], Outcome]) -> Measurement:
    return Measurement(name, about, measure, measure.__module__)


MEASUREMENTS = (
    _measurement("start", "seconds from `lily up` to ready", footprint.start),
    _measurement("hot_lane", "events/s from the log to queryable, against bare COPY + merge", hot_lane.measure),
    _measurement("latency", "produced to queryable and committed to published, at a steady rate", latency.measure),
    _measurement("processor", "processor time per event, by part, at a steady rate", processor.measure),
    _measurement("reads", "point reads over HTTP against plain FastAPI; lists and searches", reads.measure),
    _measurement(
        "door", "new tables over HTTP until readable; events/s accepted, in bulk and one by one", door.measure
    ),
    _measurement("http_servers", "uvicorn against granian, one worker and two; the fast read", http_servers.measure),
    _measurement("growth", "hot lane p99 with 10 times the assets", growth.measure),
    _measurement("lake", "columns/s from the log to readable in the lake, against bare MERGE INTO", lake.measure),
    _measurement("lake_reads", "reads of columns that only the lake has, beside reads of tables", lake_reads.measure),
    _measurement("search", "searches of names, words and filters, with columns of the lake", search.measure),
    _measurement("flood", "hot lane p99 while a million columns flood the bulk lane", flood.measure),
    _measurement("tenant_flood", "hot lane p99 of a tenant while another one floods", tenant_flood.measure),
    _measurement("propagation", "derived tags stored a second, against bare SQL and networkx", propagation.measure),
    _measurement("travel", "a tag committed to 10,000 assets readable; the hot lane meanwhile", travel.measure),
    _measurement("edges", "edges/s through POST /lineage until they can be read and tags have followed", edges.measure),
    _measurement("openlineage", "OpenLineage events/s until they can be read", openlineage.measure),
    _measurement("sql_lineage", "a dbt project of 500 models in one POST /lineage/sql", sql_lineage.measure),
    _measurement("lineage_reads", "GET /lineage/{id}, also among a million others", lineage_reads.measure),
    _measurement("policies", "checks/s in process against cedarpy, decided alike; compile time", policies.measure),
    _measurement(
        "policy_checks", "checks/s over HTTP in batches; a change of policies to its effect", policy_checks.measure
    ),
    _measurement(
        "restricted_lists", "lists for a restricted user, against an unrestricted one", restricted_lists.measure
    ),
    _measurement("opa", "masks for Trino at 200 requests/s; a tag until tables downstream are masked", opa.measure),
    _measurement("notifications", "notifications/s to a local target; a target that fails", notifications.measure),
    _measurement("enforce-postgres", "10,000 columns of a PostgreSQL target brought in line", enforce_postgres.measure),
    _measurement("webhooks", "webhooks answered at 500/s, and how soon an incident is on its asset", webhooks.measure),
    _measurement("footprint", "resident memory after the load", footprint.memory),
    _measurement("idle", "CPU and memory of the idle stack", footprint.idle),
    _measurement("soak", "what grows in 45 minutes at 2,000 events/s; only if named", soak.measure)._replace(
        by_name_only=True
    ),
)
