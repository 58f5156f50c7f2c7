"""The two tables of the lake.

`events` is the archive: every event of both lanes exactly as in Kafka, identified by topic, partition and offset.
`batch` numbers the commits of the lake query. A record that states all columns of a table is one row, with an id that
follows from their common prefix (`group_id`).

`assets` holds the state of every asset in pieces: each batch appends one row per asset that it mentions, with the state
made of that batch's events alone (lily.model.states). Rows of one asset merge in any order: readers merge what they
find, and compaction merges rows for good. A *run* is a set of rows written together: one batch, or several after
compaction.

Both are partitioned by tenant and by a bucket of the column `place`, and sorted by id. `place` holds the id's first 16
bits, which all columns of a database table share (decision D16), so each run has them in one file.
"""

from typing import Final

CATALOG: Final = "lake"
NAMESPACE: Final = "lily"
EVENTS: Final = "events"
ASSETS: Final = "assets"
ID_PREFIX_DIGITS: Final = 4  # hexadecimal

# In the summary of a snapshot of `events`: the number of its batch, and the next offset of each Kafka partition.
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
    # A look-up reads whole row groups: small ones make it fast, and cost a few per cent of the size.
    "write.parquet.row-group-size-bytes": str(2 << 20),
    "write.distribution-mode": "hash",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    "write.metadata.metrics.default": "none",
    "commit.retry.num-retries": "20",
}
# Look-ups prune by these columns; statistics of the long JSON columns would only make files and manifests larger.
STATISTICS_COLUMNS: Final = {
    EVENTS: ("tenant", "id", "place", "batch", "topic", "partition", "offset", "received"),
    ASSETS: ("tenant", "id", "place", "run", "parent", "entity_type"),
}


def identifier(table: str) -> str:
    return f"{CATALOG}.{NAMESPACE}.{table}"


def id_prefix(asset_id: str) -> str:
    return asset_id[:ID_PREFIX_DIGITS]


def group_id(asset_id: str) -> str:
    """The id under which `events` keeps records about several assets with this one's prefix. No asset has it: it is not
    a UUID of version 8."""
    return f"{id_prefix(asset_id)}0000-0000-0000-0000-000000000000"


def ids_of_row(row_id: str) -> tuple[str, str]:
    """The first and the last id that the record of a row of `events` can be about."""
    if row_id != group_id(row_id):
        return row_id, row_id
    prefix = id_prefix(row_id)
    return row_id, f"{prefix}ffff-ffff-ffff-ffff-ffffffffffff"


def definitions(buckets: int) -> list[str]:
    """Spark SQL that creates what is missing. The number of buckets applies to new tables only."""
    statements = [f"create namespace if not exists {CATALOG}.{NAMESPACE}"]
    for table, columns in _COLUMNS.items():
        metrics = {f"write.metadata.metrics.column.{column}": "full" for column in STATISTICS_COLUMNS[table]}
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in {**_PROPERTIES, **metrics}.items())
        partitions = _PARTITIONS[table].format(buckets=buckets)
        created = f"create table if not exists {identifier(table)} ({columns}\n) using iceberg"
        statements += [
            f"{created} partitioned by ({partitions}) tblproperties ({properties})",
            f"alter table {identifier(table)} write distributed by partition locally ordered by tenant, id",
        ]
    return statements
