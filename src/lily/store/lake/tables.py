"""The two tables of the lake.

`events` is the cold storage: every event of both lanes as the log held it, once, told apart by topic, partition and
offset. `batch` numbers the commits of the lake query.

`assets` holds what the events amount to, in pieces: each batch appends one row for each asset it speaks about, the
state that its events alone make (lily.model.states). Rows of one asset join in any order, so a reader joins what it
finds, and compaction joins rows for good. A *run* is what was written together: a batch, or several after compaction.

Both are partitioned by tenant and by a bucket of the place, the first 16 bits of the id, which all columns of a table
share (decision D16), and sorted by id: the columns of one table lie in one file of each run.
"""

from typing import Final

CATALOG: Final = "lake"
NAMESPACE: Final = "lily"
EVENTS: Final = "events"
ASSETS: Final = "assets"
PLACE_DIGITS: Final = 4  # hexadecimal, of the id

# What a snapshot of `events` says of itself: the number of its batch, and the next offset of each partition.
BATCH_PROPERTY: Final = "lily.batch"
POSITIONS_PROPERTY: Final = "lily.positions"

_COLUMNS: Final = {
    EVENTS: """
        tenant    string not null,
        id        string not null,
        place     string not null,
        batch     bigint not null,
        topic     string not null,
        partition int    not null,
        offset    bigint not null,
        received  string not null,
        event     string not null""",
    ASSETS: """
        tenant          string not null,
        id              string not null,
        place           string not null,
        run             bigint not null,
        qualified_name  string not null,
        entity_type     string,
        name            string,
        parent          string,
        first           string not null,
        last            string not null,
        source          string,
        source_at       string,
        source_clocks   string,
        enriched        string,
        enriched_at     string,
        enriched_clocks string,
        user            string,
        user_at         string,
        user_clocks     string""",
}
_PARTITIONS: Final = {EVENTS: "tenant, bucket({buckets}, place)", ASSETS: "tenant, bucket({buckets}, place), run"}
_PROPERTIES: Final = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    # A look-up reads whole row groups: small ones make it quick, and cost a few per cent of the size.
    "write.parquet.row-group-size-bytes": str(2 << 20),
    "write.distribution-mode": "hash",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "write.metadata.metrics.default": "none",
    "commit.retry.num-retries": "20",
}
# Look-ups prune by these; statistics of the long JSON columns would only swell files and manifests.
COUNTED: Final = {
    EVENTS: ("tenant", "id", "place", "batch", "topic", "partition", "offset", "received"),
    ASSETS: ("tenant", "id", "place", "run", "parent", "entity_type"),
}


def identifier(table: str) -> str:
    return f"{CATALOG}.{NAMESPACE}.{table}"


def place_of(asset_id: str) -> str:
    return asset_id[:PLACE_DIGITS]


def definitions(buckets: int) -> list[str]:
    """The statements, for Spark, that create what is missing. The number of buckets counts for new tables only."""
    statements = [f"create namespace if not exists {CATALOG}.{NAMESPACE}"]
    for table, columns in _COLUMNS.items():
        metrics = {f"write.metadata.metrics.column.{column}": "full" for column in COUNTED[table]}
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in {**_PROPERTIES, **metrics}.items())
        partitions = _PARTITIONS[table].format(buckets=buckets)
        created = f"create table if not exists {identifier(table)} ({columns}\n) using iceberg"
        statements += [
            f"{created} partitioned by ({partitions}) tblproperties ({properties})",
            f"alter table {identifier(table)} write distributed by partition locally ordered by tenant, id",
        ]
    return statements
