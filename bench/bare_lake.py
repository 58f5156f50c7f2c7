"""The other side of the lake, a Spark process of its own: `python -m bench.bare_lake DIRECTORY`.

One Iceberg table in a catalog of plain files, one row an asset with a column a field and the clock beside them,
partitioned as Lily's are, by tenant and bucket. It says `{"ready": true}` and then, for each line on its standard input
that names a directory of Parquet files as JSON, merges their rows into the table, newest wins, and prints the seconds
that took. Otherwise Spark and Iceberg are as they come, with more heap than Lily's pipeline has.
"""

import json
import os
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from lily.embedded.jars import ensure_jars
from lily.settings import Lake

CORES = 2
HEAP = "2g"
FIELDS = (
    *("tenant", "id", "qualified_name", "entity_type", "name", "description", "data_type", "data_source", "parent"),
    "clock",
)
_TABLE = "bare.bench.assets"
_CREATE = (
    f"create table {_TABLE} ({', '.join(f'{name} string' for name in FIELDS)}) using iceberg "
    f"partitioned by (tenant, bucket({Lake().buckets}, id))"
)
_MERGE = f"""
merge into {_TABLE} as target using fresh as source on target.tenant = source.tenant and target.id = source.id
when matched and source.clock > target.clock then update set *
when not matched then insert *
"""


def main() -> None:
    spark = _session(Path(sys.argv[1]))
    spark.sql("create namespace bare.bench")
    spark.sql(_CREATE)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        began = time.perf_counter()
        spark.read.parquet(json.loads(line)).createOrReplaceTempView("fresh")
        spark.sql(_MERGE)
        print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)
    spark.stop()


def _session(directory: Path) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.jars": ",".join(map(str, sorted((ensure_jars() / "spark").glob("*.jar")))),
        "spark.local.dir": str(directory / "scratch"),
        "spark.sql.warehouse.dir": str(directory / "unused"),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.bare": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.bare.type": "hadoop",
        "spark.sql.catalog.bare.warehouse": str(directory / "warehouse"),
        "spark.driver.memory": HEAP,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(CORES),
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.appName("bench").master(f"local[{CORES}]")
    for key, value in options.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


if __name__ == "__main__":
    main()
