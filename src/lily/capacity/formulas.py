"""The plan's formulas, part by part, in the order in which they build on each other.

A line is (name, unit, formula). `demand`, `price`, the sections of the measured file, `month`, `day` and `gib` are
given; a part's own lines are named `part.line`. A *database* stands for a PostgreSQL with the topics, queries, relay
and API that serve it: a Lily of its own, because one Lily has one database.

Counts are rounded for the whole plan and not for each database, so that more load or more tenants never cost less.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartFormulas:
    """`tells` are the lines that the table shows, with the words around them."""

    name: str
    title: str
    tells: str
    lines: tuple[tuple[str, str, str], ...]


# What a part's line of this name costs in a month.
RESOURCES = {
    "vcpu": "{part}.vcpu * month.hours * price.vcpu_hour",
    "memory": "{part}.memory * month.hours * price.memory_gib_hour",
    "disk": "{part}.disk * price.block_gib_month",
    "objects": "{part}.objects * price.object_gib_month",
    "puts": "{part}.puts / 1000 * price.object_put_per_1000",
    "gets": "{part}.gets / 1000 * price.object_get_per_1000",
    "network": "{part}.network * price.zone_network_gib",
}

LOAD = PartFormulas(
    "load",
    "Load",
    "{load.hot} hot and {load.bulk} bulk events/s, {demand.reads} reads/s",
    (
        ("hot_share", "share", "shape.structural_share + (1 - shape.structural_share) * shape.tagged_share"),
        ("hot", "events/s", "demand.events * load.hot_share"),
        ("bulk", "events/s", "demand.events - load.hot"),
        ("changes", "changes/s", "load.hot * shape.changed_share"),
        ("month_events", "events/month", "demand.events * month.seconds"),
    ),
)

POSTGRES = PartFormulas(
    "postgres",
    "PostgreSQL",
    "{postgres.rows} rows ({postgres.structural_rows} structural, {postgres.tagged_rows} tagged columns) in "
    "{postgres.databases} databases of {postgres.tenants_per_database} tenants; {postgres.assets} GiB of assets, "
    "{postgres.history} GiB of history; {postgres.vcpu} vCPU, {postgres.memory} GiB memory, {postgres.disk} GiB disk "
    "with standbys",
    (
        ("structural_rows", "rows", "demand.assets * shape.structural_share"),
        ("tagged_rows", "rows", "demand.assets * (1 - shape.structural_share) * shape.tagged_share"),
        ("rows", "rows", "postgres.structural_rows + postgres.tagged_rows"),
        ("databases", "databases", "max(1, min(demand.tenants, ceil(postgres.rows / sizing.rows_per_database)))"),
        ("tenants_per_database", "tenants", "ceil(demand.tenants / postgres.databases)"),
        ("largest", "rows", "postgres.tenants_per_database * postgres.rows / demand.tenants"),
        ("assets", "GiB", "postgres.rows * bytes.postgres_asset / gib"),
        ("history", "GiB", "load.changes * bytes.postgres_change * day.seconds * shape.history_days / gib"),
        ("merge_cores", "cores", "load.hot * cpu.postgres_merge / 1e6"),
        ("read_cores", "cores", "demand.reads * (1 - shape.lake_read_share) * cpu.postgres_read / 1e6"),
        ("cores", "cores", "postgres.merge_cores + postgres.read_cores"),
        (
            "vcpu",
            "vCPU",
            (
                "sizing.postgres_copies * max(postgres.databases * sizing.postgres_vcpu_min,"
                " ceil(postgres.cores / demand.utilisation))"
            ),
        ),
        (
            "memory",
            "GiB",
            (
                "sizing.postgres_copies * max(postgres.databases * sizing.postgres_memory_min,"
                " ceil(postgres.assets * sizing.postgres_memory_share))"
            ),
        ),
        ("disk", "GiB", "sizing.postgres_copies * (postgres.assets + postgres.history) / sizing.disk_fill"),
        ("written", "bytes/s", "load.hot * bytes.postgres_asset + load.changes * bytes.postgres_change"),
        ("network", "GiB/month", "(sizing.postgres_copies - 1) * postgres.written * month.seconds / gib"),
    ),
)

KAFKA = PartFormulas(
    "kafka",
    "Kafka",
    "{kafka.brokers} brokers; {kafka.hot_partitions} partitions hot, {kafka.bulk_partitions} bulk, "
    "{kafka.change_partitions} change log; {kafka.retained} GiB retained with replicas, {kafka.disk} GiB disk",
    (
        (
            "hot_partitions",
            "partitions",
            (
                "max(postgres.databases * sizing.partitions_min,"
                " ceil(load.hot * (cpu.hot_lane + cpu.postgres_merge) / 1e6 / demand.utilisation))"
            ),
        ),
        (
            "bulk_partitions",
            "partitions",
            (
                "max(postgres.databases * sizing.partitions_min,"
                " ceil(load.bulk * cpu.lake_lane / 1e6 / demand.utilisation))"
            ),
        ),
        ("change_partitions", "partitions", "kafka.hot_partitions"),
        ("partitions", "partitions", "kafka.hot_partitions + kafka.bulk_partitions + kafka.change_partitions"),
        (
            "bytes",
            "bytes/s",
            "load.hot * bytes.kafka_hot + load.bulk * bytes.kafka_bulk + load.changes * bytes.kafka_change",
        ),
        (
            "retained",
            "GiB",
            "kafka.bytes * day.seconds * shape.kafka_retention_days * sizing.kafka_replication / gib",
        ),
        (
            "cores",
            "cores",
            "demand.events * (cpu.kafka_produce * sizing.kafka_replication + cpu.kafka_serve) / 1e6",
        ),
        ("disk", "GiB", "kafka.retained / sizing.disk_fill"),
        (
            "brokers",
            "brokers",
            (
                "max(sizing.brokers_min, ceil(kafka.cores / demand.utilisation / sizing.broker_vcpu),"
                " ceil(kafka.disk / sizing.broker_disk))"
            ),
        ),
        ("vcpu", "vCPU", "kafka.brokers * sizing.broker_vcpu"),
        ("memory", "GiB", "kafka.brokers * sizing.broker_memory"),
        (
            "network",
            "GiB/month",
            "kafka.bytes * (sizing.kafka_replication - 1 + 2 * shape.zone_share) * month.seconds / gib",
        ),
    ),
)

HOT = PartFormulas(
    "hot",
    "Spark, hot lane",
    "{hot.executors} executors of {sizing.executor_vcpu} vCPU and {postgres.databases} drivers; "
    "busy {hot.cores} cores; "
    "its partitions bound it at {hot.most} events/s",
    (
        ("cores", "cores", "load.hot * cpu.hot_lane / 1e6"),
        (
            "executors",
            "executors",
            (
                "max(postgres.databases * sizing.hot_executors_min,"
                " ceil(hot.cores / demand.utilisation / sizing.executor_vcpu))"
            ),
        ),
        ("vcpu", "vCPU", "hot.executors * sizing.executor_vcpu + postgres.databases * sizing.driver_vcpu"),
        ("memory", "GiB", "hot.executors * sizing.executor_memory + postgres.databases * sizing.driver_memory"),
        ("most", "events/s", "kafka.hot_partitions * 1e6 / (cpu.hot_lane + cpu.postgres_merge)"),
    ),
)

LAKE_LANE = PartFormulas(
    "lake_lane",
    "Spark, lake lane",
    "{lake_lane.executors} executors of {sizing.executor_vcpu} vCPU and {postgres.databases} drivers; "
    "busy {lake_lane.cores} cores",
    (
        ("cores", "cores", "demand.events * (cpu.lake_lane + cpu.lake_maintenance) / 1e6"),
        (
            "executors",
            "executors",
            (
                "max(postgres.databases * sizing.lake_executors_min,"
                " ceil(lake_lane.cores / demand.utilisation / sizing.executor_vcpu))"
            ),
        ),
        ("vcpu", "vCPU", "lake_lane.executors * sizing.executor_vcpu + postgres.databases * sizing.driver_vcpu"),
        ("memory", "GiB", "lake_lane.executors * sizing.executor_memory + postgres.databases * sizing.driver_memory"),
    ),
)

RELAY = PartFormulas(
    "relay",
    "Relay",
    "{relay.processes} processes, one at work in each database; busy {relay.cores} cores",
    (
        ("cores", "cores", "load.changes * cpu.relay / 1e6"),
        ("busiest", "cores", "relay.cores / demand.tenants * postgres.tenants_per_database"),
        ("processes", "processes", "2 * postgres.databases"),
        ("vcpu", "vCPU", "max(postgres.databases, ceil(relay.cores / demand.utilisation))"),
        ("memory", "GiB", "relay.processes * sizing.relay_memory"),
    ),
)

LAKE = PartFormulas(
    "lake",
    "Lake",
    "{lake.assets} GiB of assets in {lake.asset_files} files, {lake.events} GiB of events kept; {load.month_events} "
    "events a month in {lake.event_files} files after compaction; {lake.buckets} buckets a tenant",
    (
        ("assets", "GiB", "demand.assets * bytes.lake_asset * sizing.lake_overhead / gib"),
        ("events", "GiB", "demand.events * bytes.lake_event * day.seconds * shape.lake_event_days / gib"),
        ("objects", "GiB", "lake.assets + lake.events"),
        (
            "partitions",
            "partitions",
            "max(demand.tenants * sizing.lake_buckets_min, ceil(demand.assets / sizing.lake_assets_per_bucket))",
        ),
        ("buckets", "buckets", "ceil(lake.partitions / demand.tenants)"),
        (
            "asset_files",
            "files",
            "max(lake.partitions, ceil(lake.assets / sizing.lake_overhead * 1024 / sizing.lake_file))",
        ),
        (
            "event_files",
            "files/month",
            "max(lake.partitions, ceil(load.month_events * bytes.lake_event / gib * 1024 / sizing.lake_file))",
        ),
        (
            "commits",
            "commits/month",
            (
                "month.seconds * max(postgres.databases / sizing.lake_commit_seconds,"
                " demand.events / sizing.lake_batch_events)"
            ),
        ),
        (
            "partition_commits",
            "commits/month",
            "month.seconds * max(1 / sizing.lake_commit_seconds, demand.events / sizing.lake_batch_events)",
        ),
        (
            "puts",
            "requests/month",
            (
                "2 * min(lake.partition_commits * lake.partitions, load.month_events) * sizing.lake_rewrites"
                " + lake.commits * sizing.lake_commit_requests"
            ),
        ),
        (
            "gets",
            "requests/month",
            "demand.reads * shape.lake_read_share * shape.lake_read_requests * month.seconds + lake.puts",
        ),
    ),
)

API = PartFormulas(
    "api",
    "API",
    "{api.processes} processes of 1 vCPU; busy {api.cores} cores",
    (
        ("event_cores", "cores", "demand.events * cpu.api_event / 1e6"),
        ("read_cores", "cores", "demand.reads * cpu.api_read / 1e6"),
        ("cores", "cores", "api.event_cores + api.read_cores"),
        (
            "processes",
            "processes",
            "max(postgres.databases * sizing.api_min, ceil(api.cores / demand.utilisation))",
        ),
        ("vcpu", "vCPU", "api.processes"),
        ("memory", "GiB", "api.processes * sizing.api_memory"),
    ),
)

PARTS = (LOAD, POSTGRES, KAFKA, HOT, LAKE_LANE, RELAY, LAKE, API)

# How much a month costs more for each month of history kept beyond those above.
GROWTH = (
    "load.changes * bytes.postgres_change * month.seconds / gib"
    " * sizing.postgres_copies / sizing.disk_fill * price.block_gib_month"
    " + load.month_events * bytes.lake_event / gib * price.object_gib_month"
)
